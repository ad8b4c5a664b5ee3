"""Matrix products, and what attention makes of them."""

import elements
from builder import Skip
from dims import broadcast, count, dim
from operators.table import composite, operator


def inner_size(b):
    """The summed dim: now and then long, so that how sums accumulate is seen."""
    return dim(b.rng.choice([64, 200, 1000, 2500])) if b.chance(0.05) else b.size()


def matmul(b, x, y):
    """MatMul of two values that fit."""
    left = (dim(1), *x.shape) if x.rank == 1 else x.shape
    right = (*y.shape, dim(1)) if y.rank == 1 else y.shape
    batch = broadcast(left[:-2], right[:-2])
    if batch is None:
        raise Skip
    shape = list(batch)
    shape += [left[-2]] if x.rank > 1 else []
    shape += [right[-1]] if y.rank > 1 else []
    work = count(batch) * left[-2] * left[-1] * right[-1]
    if work.largest > 300_000:
        raise Skip
    return b.emit("MatMul", [x, y], [(x.type, shape)])


@operator("MatMul", weight=3.5)
def make_matmul(b, op):
    types = elements.allowed(op, b.opset)
    x = b.take(types, low=1, shape=lambda: (*b.shape(0, 3), inner_size(b)))
    inner = x.shape[-1]
    kind = b.rng.random()
    if kind < 0.12:
        shape = [inner]
    elif kind < 0.65 or x.rank < 3:
        shape = [inner, b.size()]
    else:
        batch = [d if b.chance(0.8) else dim(1) for d in x.shape[:-2]]
        shape = [*batch[b.pick([0, 0, 1]):], inner, b.size()]
    y = b.exactly(x.type, shape)
    if x.rank > 1 and b.chance(0.25):  # the value on the right
        rows = x.shape[-2]
        y = b.exactly(x.type, [b.size(), rows])
        return matmul(b, y, x)
    return matmul(b, x, y)


@operator("Gemm", weight=2.5)
def gemm(b, op):
    a = b.take(elements.allowed(op, b.opset), 2, 2, shape=lambda: (b.size(), inner_size(b)))
    flip_a, flip_b = b.pick([None, 0, 1]), b.pick([None, 0, 1])
    rows, inner = reversed(a.shape) if flip_a else a.shape
    columns = b.size()
    other = b.exactly(a.type, [columns, inner] if flip_b else [inner, columns])
    if (rows * inner * columns).largest > 300_000:
        raise Skip
    result = (rows, columns)
    c = b.partner(a.type, result, one_way=True) if b.opset < 11 or b.chance(0.7) else None
    whole = not elements.is_float(a.type)
    scales = [None, 1.0, 2.0] if whole else [None, 1.0, 0.5, -2.0]
    return b.emit(op, [a, other, c], [(a.type, result)], transA=flip_a, transB=flip_b,
                  alpha=b.pick(scales), beta=b.pick([*scales, 0.0]))


@operator("MatMulInteger", weight=1.2)
def matmul_integer(b, op):
    x = b.take(["int8", "uint8"], low=1)
    if count(x.shape).largest > 2000:
        raise Skip
    y = b.exactly(b.pick(["int8", "uint8"]), [x.shape[-1], b.size()])
    zeros = [None, None]
    if b.chance(0.6):
        zeros[0] = b.fresh(x.type, [] if x.rank != 2 or b.chance(0.6) else [x.shape[0]])
        if b.chance(0.7):
            zeros[1] = b.fresh(y.type, [] if b.chance(0.6) else [y.shape[1]])
    shape = [*x.shape[:-1], y.shape[-1]]
    return b.emit(op, [x, y, *zeros], [("int32", shape)])


@composite
def attention(b):
    """Scores, a mask, weights, values."""
    types = [t for t in elements.allowed("MatMul", b.opset) if elements.is_float(t)]
    kind = b.type_of(types)
    batch = [b.size() for _ in range(b.pick([0, 1, 2]))]
    queries, keys, width = b.size(), b.size(), b.size()
    if keys.smallest == 0 or (count(batch) * queries * keys * width).largest > 60_000:
        raise Skip
    q = b.exactly(kind, [*batch, queries, width])
    k = b.exactly(kind, [*batch, width, keys])
    (scores,) = matmul(b, q, k)
    if b.chance(0.5):
        (scores,) = b.emit("Mul", [scores, b.scalar(0.5, kind)], [(kind, scores.shape)])
    if b.opset >= 9 and b.chance(0.6):
        mask = b.partner("bool", scores.shape, one_way=True)
        low = b.scalar(b.pick([-10000.0, -1.0, float("-inf")]), kind)
        pair = [scores, low] if b.chance(0.5) else [low, scores]
        (scores,) = b.emit("Where", [mask, *pair], [(kind, scores.shape)])
    elif b.chance(0.6):
        mask = b.partner(kind, scores.shape, one_way=True)
        (scores,) = b.emit("Add", [scores, mask], [(kind, scores.shape)])
    axis = scores.rank - 1
    (weights,) = b.emit("Softmax", [scores], [(kind, scores.shape)], axis=axis)
    if b.chance(0.7):
        matmul(b, weights, b.exactly(kind, [*batch, keys, b.size()]))


@composite
def typed_around_contraction(b):
    """Another type in front of a contraction and behind it."""
    kind = b.type_of(elements.allowed("MatMul", b.opset))
    source = b.take([t for t in elements.allowed("Cast", b.opset) if t != kind], low=2, high=4)
    (x,) = b.emit("Cast", [source], [(kind, source.shape)], to=elements.proto_type(kind))
    (product,) = matmul(b, x, b.exactly(kind, [x.shape[-1], b.size()]))
    if b.opset >= 9 and b.chance(0.5):
        bound = b.partner(kind, product.shape, one_way=True)
        b.emit(b.pick(["Less", "Greater"]), [product, bound], [("bool", product.shape)])
    else:
        to = b.type_of(t for t in elements.allowed("Cast", b.opset) if t != kind)
        b.emit("Cast", [product], [(to, product.shape)], to=elements.proto_type(to))
