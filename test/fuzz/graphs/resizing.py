"""Upsample and Resize as the ONNX standard's text has them: as in standard.py."""

import math

import numpy as np


def find(op, attributes, opset):
    """What computes a node here, or None."""
    if op == "Upsample" or (op == "Resize" and opset < 11):
        return upsample
    if op != "Resize" or not is_plain(attributes):
        return None
    return {b"nearest": nearest, b"linear": linear}.get(attributes.get("mode", b"nearest"))


def upsample(inputs, attributes, opset):
    """Before opset 11: output i stands at input i / scale."""
    x = inputs[0]
    scales = inputs[1] if len(inputs) > 1 else attributes["scales"]
    is_linear = attributes.get("mode", b"nearest") == b"linear"
    for axis, scale in enumerate(np.asarray(scales, np.float64)):
        size = x.shape[axis]
        if scale == 1:
            continue
        at = np.clip(np.arange(math.floor(size * scale)) / scale, 0, max(size - 1, 0))
        x = between(x, axis, at) if is_linear else np.take(x, np.floor(at).astype(np.int64), axis)
    return [x.astype(inputs[0].dtype)]


# Where output i stands in the input, of `size` elements, `out` results and their ratio.
PLACES = {
    "half_pixel": lambda i, size, out, scale: (i + 0.5) / scale - 0.5,
    "half_pixel_symmetric": lambda i, size, out, scale:
        (i + 0.5 - out / 2) / scale + size / 2 - 0.5 if out == size * scale else
        size / 2 * (1 - out / (size * scale)) + (i + 0.5) / scale - 0.5,
    "pytorch_half_pixel": lambda i, size, out, scale:
        (i + 0.5) / scale - 0.5 if out > 1 else i * 0.0,
    "align_corners": lambda i, size, out, scale: i * (size - 1) / (out - 1) if out > 1 else i * 0.0,
    "asymmetric": lambda i, size, out, scale: i / scale,
}
NEAREST = {
    "round_prefer_floor": lambda x: np.ceil(x - 0.5),
    "round_prefer_ceil": lambda x: np.floor(x + 0.5),
    "floor": np.floor,
    "ceil": np.ceil,
}


def is_plain(attributes):
    return attributes.get("coordinate_transformation_mode", b"").decode() != "tf_crop_and_resize" \
        and attributes.get("keep_aspect_ratio_policy", b"stretch") == b"stretch" \
        and not attributes.get("antialias") and not attributes.get("exclude_outside")


def places(inputs, attributes):
    """For each axis that changes: its number, size and where the results stand in it."""
    x = inputs[0]
    axes = [a % x.ndim for a in attributes.get("axes") or range(x.ndim)]
    given = [v if v is not None and v.size else None for v in [*inputs, None, None, None][2:4]]
    place = PLACES[attributes.get("coordinate_transformation_mode", b"half_pixel").decode()]
    for k, axis in enumerate(axes):
        size = x.shape[axis]
        scale = float(given[0][k]) if given[0] is not None else int(given[1][k]) / max(size, 1)
        out = int(given[1][k]) if given[0] is None else math.floor(size * scale)
        if out != size or scale != 1:
            yield axis, size, place(np.arange(out, dtype=np.float64), size, out, scale)


def nearest(inputs, attributes, opset):
    """Resize to the nearest neighbour. Places that are a rounding from a step may lie on either
    side of it: "drift" moves them by that."""
    x = inputs[0]
    step = NEAREST[attributes.get("nearest_mode", b"round_prefer_floor").decode()]
    for axis, size, at in places(inputs, attributes):
        at = at + attributes["drift"] * 2.0 ** -22 * (1 + np.abs(at))
        x = np.take(x, np.clip(step(at), 0, max(size - 1, 0)).astype(np.int64), axis)
    return [x]


def linear(inputs, attributes, opset):
    x = inputs[0]
    for axis, size, at in places(inputs, attributes):
        x = between(x, axis, np.clip(at, 0, max(size - 1, 0)))
    return [x.astype(inputs[0].dtype)]


def between(x, axis, at):
    """Neighbours along the axis, by how near they are."""
    low = np.floor(at).astype(np.int64)
    weight = (at - low).reshape([-1 if d == axis else 1 for d in range(x.ndim)])
    high = np.minimum(low + 1, x.shape[axis] - 1)
    return np.take(x, low, axis) * (1 - weight) + np.take(x, high, axis) * weight
