"""The networks of test/training with batches of any size, and runs of them on several ranks."""

import pathlib
import re
import sys

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

import trained

sys.path.append(str(pathlib.Path(__file__).parents[1]))
from suite import FULL  # noqa: E402,F401 (all networks, for longer: README.md)

FLOATS = {"float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE}


def as_type(tensor, dtype):
    value = numpy_helper.to_array(tensor)
    return numpy_helper.from_array(value.astype(dtype) if value.dtype == np.float32 else value, tensor.name)


def convert(model, dtype):
    """All floats of another type, and a first dim of inputs and outputs that is open."""
    graph = model.graph
    weights = [as_type(tensor, dtype) for tensor in graph.initializer]
    del graph.initializer[:]
    graph.initializer.extend(weights)
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                attribute.t.CopyFrom(as_type(attribute.t, dtype))
    for info in [*graph.input, *graph.output]:
        tensor = info.type.tensor_type
        if tensor.elem_type == TensorProto.FLOAT:
            tensor.elem_type = FLOATS[dtype]
        tensor.shape.dim[0].ClearField("dim_value")
        tensor.shape.dim[0].dim_param = "N"
    return model


def write(folder, name, dtype="float32", samples=48):
    """The model and its samples as files; what says of a training which they are."""
    model, inputs, flags = trained.build(name)
    onnx.save(convert(model, dtype), folder / f"{name}.onnx")
    made = {}
    for key, value in trained.samples(inputs).items():
        rng = np.random.default_rng(len(key))
        many = np.concatenate([value] * -(-samples // len(value)))[:samples]
        if many.dtype == np.float32:
            many = (many + 0.1 * rng.standard_normal(many.shape)).astype(dtype)
        made[key] = many
    np.savez(folder / f"{name}.npz", **made)
    return [folder / f"{name}.onnx", *flags, f"--data={folder / name}.npz", "--log-every=1", f"--seed={trained.SEED}"]


class Trained:
    """What a run has printed and written."""

    def __init__(self, done, checkpoint):
        self.text, self.errors = done.stdout, done.stderr
        self.losses = np.array([float(x) for x in re.findall(r"^step \d+  loss (\S+)$", done.stdout, re.M)])
        with np.load(checkpoint) as file:
            self.states = {name: file[name] for name in file if name not in ("step", "settings", "loss scale")}
        rows = re.findall(r"^rank \d+: (\d+) bytes of states, (\d+) bytes sent", done.stderr, re.M)
        self.state_bytes, self.sent = ([int(row[i]) for row in rows] for i in (0, 1))

    def bits(self):
        return {name: value.tobytes() for name, value in self.states.items()}


def train(tools, arguments, checkpoint, *more):
    done = tools.mlc("train", *arguments, "--threads=1", f"--checkpoint={checkpoint}", "--checkpoint-every=1000000", *more)
    assert done.returncode == 0, done.stderr
    return Trained(done, checkpoint)


def difference(a, b):
    """The largest one of two runs: of losses, relative to them, and of states, relative to each one's largest element.
    Those that are 0 but for rounding (of a bias before a norm) are held to a hundredth of the largest of their kind."""
    worst = np.max(np.abs(a.losses - b.losses) / np.abs(b.losses)) if len(b.losses) else 0.0
    assert a.losses.shape == b.losses.shape and a.states.keys() == b.states.keys()
    sizes = {name: np.max(np.abs(value), initial=0) for name, value in b.states.items()}
    for name, value in a.states.items():
        kind = name.split("/")[0]
        scale = max(sizes[name], 0.01 * max(size for other, size in sizes.items() if other.split("/")[0] == kind))
        if scale > 0:
            worst = max(worst, np.max(np.abs(value - b.states[name])) / scale)
    return worst
