"""Constants, shapes, ranges and what is made from them."""

import numpy as np
from onnx import numpy_helper

import contents
import elements
from builder import Skip
from dims import count, dim
from operators.table import composite, operator


@operator("Constant", weight=0.4)
def constant(b, op):
    kind = b.pick(["tensor", "float", "floats", "int", "ints"]) if b.opset >= 12 else "tensor"
    if kind == "tensor":
        type = b.type_of(elements.produced(op, b.opset))
        shape = [b.pick([1, 2, 3, 4]) for _ in range(b.pick([0, 1, 2]))]
        array = contents.array(type, shape, b.numbers, b.style)
        return b.emit(op, [], [(type, shape)], value=numpy_helper.from_array(array, "c"))
    numbers = [b.rng.randint(-3, 9) for _ in range(b.pick([1, 2, 4]))]
    if kind.startswith("float"):
        numbers = [n / 4 for n in numbers]
    type, many = "float32" if kind.startswith("float") else "int64", kind.endswith("s")
    return b.emit(op, [], [(type, [len(numbers)] if many else [])],
                  **{"value_" + kind: numbers if many else numbers[0]})


@operator("Shape", weight=0.6)
def shape(b, op):
    x = b.take(elements.allowed(op, b.opset))
    start = end = None
    if b.opset >= 15 and b.chance(0.4):
        start, end = b.pick([None, 0, 1, -1]), b.pick([None, 1, -1, 7])
    size = len(range(x.rank)[start:end])
    return b.emit(op, [x], [("int64", [size])], start=start, end=end)


@operator("Size", weight=0.4)
def size(b, op):
    x = b.take(elements.allowed(op, b.opset))
    return b.emit(op, [x], [("int64", [])])


def shape_vector(b, low=0, high=3):
    """A value's dims as an int64 vector: a constant, or taken from a value with open dims."""
    if b.chance(0.5):
        x = b.take(low=max(low, 1), high=high)
        (vector,) = b.emit("Shape", [x], [("int64", [x.rank])])
        return vector, x.shape
    sizes = [b.pick([0, 1, 2, 3, 5, 8]) if b.chance(0.1) else b.pick([1, 2, 3, 5, 8])
             for _ in range(b.rng.randint(max(low, 1), high))]
    return b.list(sizes), [dim(n) for n in sizes]


@operator("ConstantOfShape", weight=0.6)
def constant_of_shape(b, op):
    vector, result = shape_vector(b)
    type, value = "float32", None
    if b.chance(0.8):
        type = b.type_of(elements.produced(op, b.opset))
        value = numpy_helper.from_array(contents.array(type, [1], b.numbers, b.style), "value")
    return b.emit(op, [vector], [(type, result)], value=value)


@operator("EyeLike", weight=0.5)
def eye_like(b, op):
    x = b.take(elements.allowed(op, b.opset), 2, 2)
    to = b.type_of(elements.allowed(op, b.opset)) if b.chance(0.5) else None
    return b.emit(op, [x], [(to or x.type, x.shape)], k=b.pick([None, -1, 0, 1, 2, 20]),
                  dtype=elements.proto_type(to) if to else None)


@operator("Range", weight=0.5)
def range_(b, op):
    type = b.type_of(elements.allowed(op, b.opset))
    if b.chance(0.3) and type == "int64":
        x = b.take(low=1)
        (vector,) = b.emit("Shape", [x], [("int64", [x.rank])])
        at = b.rng.randrange(x.rank)
        (limit,) = b.emit("Gather", [vector, b.scalar(at)], [("int64", [])], axis=0)
        return b.emit(op, [b.scalar(0), limit, b.scalar(1)], [(type, [x.shape[at]])])
    start, step, number = b.rng.randint(-4, 4), b.pick([1, 1, 2, -1, -3]), b.rng.randint(0, 9)
    if elements.is_float(type) and b.chance(0.4):
        start, step = start / 4, step / 4
    limit = start + step * number
    return b.emit(op, [b.scalar(n, type) for n in (start, limit, step)], [(type, [number])])


@operator("OneHot", weight=0.6)
def one_hot(b, op):
    x = b.take([t for t in elements.allowed(op, b.opset) if t in elements.INTEGERS], high=3)
    depth = b.rng.randint(1, 6)
    axis = b.rng.randint(0, x.rank)
    written = axis - x.rank - 1 if b.chance(0.4) else axis
    type = b.type_of(elements.allowed(op, b.opset, 2))
    values = b.fresh(type, [2])
    how_many = b.scalar(depth) if b.chance(0.6) else b.list([depth])
    result = [*x.shape[:axis], dim(depth), *x.shape[axis:]]
    return b.emit(op, [x, how_many, values], [(type, result)],
                  axis=None if axis == x.rank and b.chance(0.5) else written)


@operator("Trilu", weight=0.7)
def trilu(b, op):
    x = b.take(elements.allowed(op, b.opset), low=2)
    k = b.scalar(b.pick([-3, -1, 0, 1, 2, 5, 100, -2 ** 62, 2 ** 62])) if b.chance(0.6) else None
    return b.emit(op, [x, k], [(x.type, x.shape)], upper=b.pick([None, 0, 1]))


@composite
def reshape_like(b):
    """A shape is computed from dims and used, as exporters do it."""
    x = b.take(low=2, high=4)
    if count(x.shape).smallest == 0:
        raise Skip
    (vector,) = b.emit("Shape", [x], [("int64", [x.rank])])
    keep = b.rng.randrange(x.rank)
    index = b.fresh("int64", [], array=np.array(keep))
    (kept,) = b.emit("Gather", [vector, index], [("int64", [])], axis=0)
    attributes, extra = ({"axes": [0]}, []) if b.opset < 13 else ({}, [b.list([0])])
    (kept,) = b.emit("Unsqueeze", [kept, *extra], [("int64", [1])], **attributes)
    (target,) = b.emit("Concat", [kept, b.list([-1])], [("int64", [2])], axis=0)
    rest = count([d for i, d in enumerate(x.shape) if i != keep])
    b.emit("Reshape", [x, target], [(x.type, [x.shape[keep], rest])])
