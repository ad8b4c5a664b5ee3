"""Losses of labels, and operators with an index for each element.

Their weights are 0: they stand where --only asks for them, and the graphs of all other seeds stay what they were."""

import elements
from builder import Skip
from dims import dim
from operators.table import operator


def indices(b, size, shape, type="int64", low=0):
    """Places along a dim; `low`: whether some count from its end."""
    if size.smallest == 0:
        raise Skip
    return b.fresh(type, shape, [(-n if low else 0, n - 1) for n in size.sizes])


@operator("SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss", weight=0)
def loss(b, op):
    x = b.take(elements.allowed(op, b.opset), low=2)
    if any(size.smallest == 0 for size in x.shape):
        raise Skip
    reduction = b.pick([None, "none", "sum", "mean"])
    shape = [x.shape[0], *x.shape[2:]]
    inputs = [x, indices(b, x.shape[1], shape, b.pick(["int32", "int64"]))]
    if b.chance(0.5):
        inputs.append(b.fresh(x.type, [x.shape[1]], limits=(0.5, 2.0)))
    return b.emit(op, inputs, [(x.type, shape if reduction == "none" else [])], reduction=reduction)


@operator("GatherElements", weight=0)
def gather_elements(b, op):
    x = b.take(elements.allowed(op, b.opset), low=1)
    axis, written = b.axis(x.rank)
    shape = list(x.shape)
    shape[axis] = dim(b.rng.randint(1, 4))
    picked = indices(b, x.shape[axis], shape, low=b.chance(0.5))
    return b.emit(op, [x, picked], [(x.type, shape)], axis=written)


@operator("GatherND", weight=0)
def gather_nd(b, op):
    x = b.take(elements.allowed(op, b.opset), low=1)
    count = dim(b.rng.randint(1, 4))
    picked = indices(b, x.shape[0], [count, dim(1)], low=b.chance(0.5))
    return b.emit(op, [x, picked], [(x.type, [count, *x.shape[1:]])])


def numbers(b, op):
    if b.opset < 16:
        raise Skip
    return [t for t in elements.allowed(op, b.opset) if t != "bool"]


@operator("ScatterElements", weight=0)
def scatter_elements(b, op):
    x = b.take(numbers(b, op), low=1)
    axis, written = b.axis(x.rank)
    shape = list(x.shape)
    shape[axis] = dim(b.rng.randint(1, 4))
    picked = indices(b, x.shape[axis], shape, low=b.chance(0.5))
    return b.emit(op, [x, picked, b.fresh(x.type, shape)], [(x.type, x.shape)], axis=written, reduction="add")


@operator("ScatterND", weight=0)
def scatter_nd(b, op):
    x = b.take(numbers(b, op), low=1)
    count = dim(b.rng.randint(1, 4))
    picked = indices(b, x.shape[0], [count, dim(1)], low=b.chance(0.5))
    updates = b.fresh(x.type, [count, *x.shape[1:]])
    return b.emit(op, [x, picked, updates], [(x.type, x.shape)], reduction="add")


@operator("Compress", weight=0)
def compress(b, op):
    x = b.take(elements.allowed(op, b.opset), low=1)
    axis, written = b.axis(x.rank)
    taken = [b.chance(0.5) for _ in range(b.rng.randint(0, x.shape[axis].smallest))]
    shape = list(x.shape)
    shape[axis] = dim(sum(taken))
    return b.emit(op, [x, b.list(taken, "bool")], [(x.type, shape)], axis=written)


@operator("NonZero", weight=0)
def non_zero(b, op):
    x = b.fresh(b.type_of(elements.allowed(op, b.opset)), [b.rng.randint(0, 3) for _ in range(b.rng.randint(1, 3))],
                constant=True)
    return b.emit(op, [x], [("int64", [x.rank, int((x.constant != 0).sum())])])


@operator("Einsum", weight=0)
def einsum(b, op):
    x = b.take(elements.allowed(op, b.opset), low=2, high=2)
    y = b.fresh(x.type, [x.shape[1], dim(b.rng.randint(1, 4))])
    return b.emit(op, [x, y], [(x.type, [x.shape[0], y.shape[1]])], equation="ij,jk->ik")


@operator("QuantizeLinear", weight=0)
def quantize(b, op):
    x = b.take(["float32"])
    return b.emit(op, [x, b.scalar(b.pick([0.5, 0.25, 3.0]), "float32"), b.scalar(b.rng.randint(0, 255), "uint8")],
                  [("uint8", x.shape)])


@operator("DequantizeLinear", weight=0)
def dequantize(b, op):
    x = b.take(["uint8", "int8"])
    return b.emit(op, [x, b.scalar(b.pick([0.5, 0.25, 3.0]), "float32"), b.scalar(b.rng.randint(0, 100), x.type)],
                  [("float32", x.shape)])


@operator("DynamicQuantizeLinear", weight=0)
def quantize_by_range(b, op):
    x = b.take(["float32"])
    return b.emit(op, [x], [("uint8", x.shape), ("float32", []), ("uint8", [])])
