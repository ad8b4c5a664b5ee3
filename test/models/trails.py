"""The trail that mlc optimize writes into a model, taken out, put in and checked."""

import json

import onnx


def trail_of(model):
    (text,) = [p.value for p in model.metadata_props if p.key == "mlc.trail"]
    return json.loads(text)


def with_trail(model, trail):
    """A copy of `model` with another trail: JSON, or any text."""
    result = onnx.ModelProto()
    result.CopyFrom(model)
    kept = [p for p in result.metadata_props if p.key != "mlc.trail"]
    del result.metadata_props[:]
    result.metadata_props.extend(kept)
    entry = result.metadata_props.add()
    entry.key = "mlc.trail"
    entry.value = trail if isinstance(trail, str) else json.dumps(trail)
    return result


def check(tools, model, result, *flags):
    return tools.run("mlc-verify", "--trail", model, result, *flags, timeout=60)
