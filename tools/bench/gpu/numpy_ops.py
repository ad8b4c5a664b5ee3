"""Operators of graphs by NumPy, for machines without PyTorch: slow, for small sizes."""

import math

import numpy as np


def windows(x, kernel, attributes, fill):
    """[n, c, h, w, kh, kw]: a window for each place of the output."""
    top, left, bottom, right = attributes.get("pads", [0, 0, 0, 0])
    x = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)), constant_values=fill)
    high, wide = attributes.get("strides", [1, 1])
    return np.lib.stride_tricks.sliding_window_view(x, tuple(kernel), (2, 3))[:, :, ::high, ::wide]


def convolve(x, attributes):
    data, weight = x[:2]
    groups = attributes.get("group", 1)
    seen = windows(data, weight.shape[2:], attributes, 0)
    parts = [np.einsum("nchwij,ocij->nohw", s, w, optimize=True)
             for s, w in zip(np.split(seen, groups, 1), np.split(weight, groups))]
    made = np.concatenate(parts, 1)
    return made + x[2].reshape(1, -1, 1, 1) if len(x) > 2 else made


def average(x, attributes):
    kernel = attributes["kernel_shape"]
    count = windows(np.ones_like(x), kernel, attributes, 0).sum((4, 5))
    return windows(x, kernel, attributes, 0).sum((4, 5)) / count


def normalize(x, attributes):
    data, scale, bias = x
    axes = tuple(range(data.ndim - scale.ndim, data.ndim))
    off = data - data.mean(axes, keepdims=True)
    return off / np.sqrt((off * off).mean(axes, keepdims=True) + attributes.get("epsilon", 1e-5)) * scale + bias


def batch_norm(x, attributes):
    data, scale, bias, mean, variance = x
    channels = [v.reshape(1, -1, 1, 1) for v in (scale / np.sqrt(variance + attributes["epsilon"]), mean, bias)]
    return (data - channels[1]) * channels[0] + channels[2]


def softmax(x, attributes):
    axis = attributes.get("axis", -1)
    e = np.exp(x[0] - x[0].max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def axes_of(x, attributes):
    return tuple(x[1] if len(x) > 1 else attributes["axes"])


def sliced(x, begins, ends, axes):
    for begin, end, axis in zip(begins, ends, axes):
        x = np.take(x, range(begin, end), axis)
    return x


erf = np.vectorize(math.erf, otypes=[np.float64])

TABLE = {
    "Add": lambda x, a: x[0] + x[1], "Sub": lambda x, a: x[0] - x[1], "Mul": lambda x, a: x[0] * x[1],
    "Div": lambda x, a: x[0] / x[1], "MatMul": lambda x, a: x[0] @ x[1], "Relu": lambda x, a: np.maximum(x[0], 0),
    "Tanh": lambda x, a: np.tanh(x[0]), "Sigmoid": lambda x, a: 1 / (1 + np.exp(-x[0])), "Erf": lambda x, a: erf(x[0]),
    "Sqrt": lambda x, a: np.sqrt(x[0]), "Neg": lambda x, a: -x[0], "Exp": lambda x, a: np.exp(x[0]),
    "Gelu": lambda x, a: x[0] * (1 + erf(x[0] / math.sqrt(2))) / 2, "Conv": convolve,
    "Clip": lambda x, a: np.clip(x[0], x[1], x[2]),
    "MaxPool": lambda x, a: windows(x[0], a["kernel_shape"], a, -np.inf).max((4, 5)),
    "AveragePool": lambda x, a: average(x[0], a), "GlobalAveragePool": lambda x, a: x[0].mean((2, 3), keepdims=True),
    "Flatten": lambda x, a: x[0].reshape(len(x[0]), -1), "BatchNormalization": batch_norm,
    "ReduceMean": lambda x, a: x[0].mean(axes_of(x, a), keepdims=bool(a.get("keepdims", 1))),
    "ReduceSum": lambda x, a: x[0].sum(axes_of(x, a), keepdims=bool(a.get("keepdims", 1))),
    "Concat": lambda x, a: np.concatenate(x, a["axis"]),
    "Split": lambda x, a: np.split(x[0], np.cumsum(x[1])[:-1], a["axis"]),
    "Transpose": lambda x, a: x[0].transpose(a["perm"]), "Reshape": lambda x, a: x[0].reshape(x[1]),
    "Expand": lambda x, a: np.broadcast_to(x[0], x[1]), "Slice": lambda x, a: sliced(*x), "Softmax": softmax,
    "LayerNormalization": normalize,
}


def run(op, x, attributes):
    return TABLE[op](x, attributes)
