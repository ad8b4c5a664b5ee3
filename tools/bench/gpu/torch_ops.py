"""Operators of graphs by PyTorch: its own operator wherever there is one. They
read no sizes of tensors, so that torch.fx can trace them."""

import torch
import torch.nn.functional as F


def padding(attributes):
    """What a window takes, and the pads for F.pad if they are not symmetric."""
    top, left, bottom, right = attributes.get("pads", [0, 0, 0, 0])
    if (top, left) == (bottom, right):
        return (top, left), None
    return (0, 0), (left, right, top, bottom)


def convolve(x, attributes):
    pads, before = padding(attributes)
    data = F.pad(x[0], before) if before else x[0]
    return F.conv2d(data, *x[1:], stride=tuple(attributes.get("strides", [1, 1])), padding=pads,
                    groups=attributes.get("group", 1))


def pool(kind, x, attributes):
    pads, before = padding(attributes)
    assert not before, "symmetric pads only"
    window = attributes["kernel_shape"], attributes["strides"], pads
    return F.max_pool2d(x, *window) if kind == "MaxPool" else F.avg_pool2d(x, *window, count_include_pad=False)


def axes_of(x, attributes):
    return tuple(x[1] if len(x) > 1 else attributes["axes"])


def sliced(x, begins, ends, axes):
    for begin, end, axis in zip(begins, ends, axes):
        x = x.narrow(axis, begin, end - begin)
    return x


def parts(x, sizes, axis):
    return [x.narrow(axis, sum(sizes[:index]), size) for index, size in enumerate(sizes)]


TABLE = {
    "Add": lambda x, a: x[0] + x[1], "Sub": lambda x, a: x[0] - x[1], "Mul": lambda x, a: x[0] * x[1],
    "Div": lambda x, a: x[0] / x[1], "MatMul": lambda x, a: torch.matmul(x[0], x[1]), "Relu": lambda x, a: torch.relu(x[0]),
    "Tanh": lambda x, a: torch.tanh(x[0]), "Sigmoid": lambda x, a: torch.sigmoid(x[0]), "Erf": lambda x, a: torch.erf(x[0]),
    "Sqrt": lambda x, a: torch.sqrt(x[0]), "Neg": lambda x, a: -x[0], "Exp": lambda x, a: torch.exp(x[0]),
    "Gelu": lambda x, a: F.gelu(x[0]), "Conv": convolve, "Clip": lambda x, a: x[0].clamp(x[1], x[2]),
    "MaxPool": lambda x, a: pool("MaxPool", x[0], a), "AveragePool": lambda x, a: pool("AveragePool", x[0], a),
    "GlobalAveragePool": lambda x, a: x[0].mean((2, 3), keepdim=True), "Flatten": lambda x, a: x[0].flatten(1),
    "BatchNormalization": lambda x, a: F.batch_norm(x[0], x[3], x[4], x[1], x[2], eps=a["epsilon"]),
    "ReduceMean": lambda x, a: x[0].mean(axes_of(x, a), keepdim=bool(a.get("keepdims", 1))),
    "ReduceSum": lambda x, a: x[0].sum(axes_of(x, a), keepdim=bool(a.get("keepdims", 1))),
    "Concat": lambda x, a: torch.cat(x, a["axis"]), "Split": lambda x, a: parts(x[0], x[1], a["axis"]),
    "Transpose": lambda x, a: x[0].permute(a["perm"]), "Reshape": lambda x, a: x[0].reshape(x[1]),
    "Expand": lambda x, a: x[0].expand(x[1]), "Slice": lambda x, a: sliced(*x),
    "Softmax": lambda x, a: torch.softmax(x[0], a.get("axis", -1)),
    "LayerNormalization": lambda x, a: F.layer_norm(x[0], tuple(x[1].shape), x[1], x[2], a.get("epsilon", 1e-5)),
    "Linear": lambda x, a: torch.addmm(x[2], x[0], x[1]),
}


def run(op, x, attributes):
    return TABLE[op](x, attributes)
