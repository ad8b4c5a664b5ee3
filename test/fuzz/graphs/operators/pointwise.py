"""Element-wise operators, comparisons, casts and activations."""

import elements
from builder import Skip
from dims import broadcast, count
from operators.table import composite, operator


def unary(b, op, **attributes):
    x = b.take(elements.allowed(op, b.opset))
    return b.emit(op, [x], [(x.type, x.shape)], **attributes)


@operator("Abs", "Neg", "Relu", "Sign", weight=0.8)
@operator("Ceil", "Floor", "Round", weight=0.6)
@operator("Exp", "Log", "Sqrt", "Reciprocal", "Sigmoid", "Tanh", "Erf", weight=0.7)
@operator("Sin", "Cos", "Tan", "Sinh", "Cosh", weight=0.4)
@operator("Softplus", "Softsign", "HardSwish", "Mish", "Not", weight=0.5)
def plain_unary(b, op):
    return unary(b, op)


@operator("LeakyRelu", "Elu", "Celu", "ThresholdedRelu", weight=0.4)
def with_alpha(b, op):
    return unary(b, op, alpha=b.pick([None, 0.1, 0.5, 1.0, 2.0]))


@operator("Selu", weight=0.4)
def selu(b, op):
    return unary(b, op, alpha=b.pick([None, 1.5]), gamma=b.pick([None, 1.25]))


@operator("HardSigmoid", weight=0.4)
def hard_sigmoid(b, op):
    return unary(b, op, alpha=b.pick([None, 0.3]), beta=b.pick([None, 0.25]))


@operator("Shrink", weight=0.4)
def shrink(b, op):
    x = b.take(elements.allowed(op, b.opset))
    whole = not elements.is_float(x.type)
    return b.emit(op, [x], [(x.type, x.shape)], bias=b.pick([None, 1.0] if whole else [None, 0.5]),
                  lambd=b.pick([None, 1.0, 0.25]))


@operator("Gelu", weight=0.6)
def gelu(b, op):
    return unary(b, op, approximate=b.pick([None, "none", "tanh"]))


@operator("Swish", weight=0.6)
def swish(b, op):
    return unary(b, op, alpha=b.pick([None, 0.5, 1.0]))


@operator("IsNaN", weight=0.5)
def is_nan(b, op):
    x = b.take(elements.allowed(op, b.opset))
    return b.emit(op, [x], [("bool", x.shape)])


@operator("IsInf", weight=0.5)
def is_inf(b, op):
    x = b.take(elements.allowed(op, b.opset))
    return b.emit(op, [x], [("bool", x.shape)], detect_negative=b.pick([None, 0, 1]),
                  detect_positive=b.pick([None, 0, 1]))


def two(b, op, limits=None):
    """A value and one that broadcasts with it, in either order."""
    x = b.take(elements.allowed(op, b.opset))
    y = b.partner(x.type, x.shape, limits=limits)
    shape = broadcast(x.shape, y.shape)
    if shape is None:
        raise Skip
    return x, y, shape


@operator("Add", "Sub", "Mul", weight=1.6)
@operator("And", "Or", "Xor", weight=0.6)
def binary(b, op):
    x, y, shape = two(b, op)
    pair = [x, y] if b.chance(0.6) else [y, x]
    return b.emit(op, pair, [(x.type, shape)])


@operator("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", weight=0.8)
def compare(b, op):
    x, y, shape = two(b, op)
    pair = [x, y] if b.chance(0.6) else [y, x]
    return b.emit(op, pair, [("bool", shape)])


@operator("Div", weight=1.2)
def div(b, op):
    x = b.take(elements.allowed(op, b.opset))
    # Integers are not divided by 0, nor the least by -1.
    limits = None if elements.is_float(x.type) else (1, 9)
    y = b.partner(x.type, x.shape, limits=limits)
    shape = broadcast(x.shape, y.shape)
    pair = [y, x] if limits is None and b.chance(0.4) else [x, y]
    return b.emit(op, pair, [(x.type, shape)])


@operator("Mod", weight=0.6)
def mod(b, op):
    x = b.take(elements.INTEGERS, where=lambda v: v.type in elements.allowed(op, b.opset))
    low = -9 if x.type in elements.SIGNED and b.chance(0.4) else 1
    y = b.partner(x.type, x.shape, limits=(low, -2) if low < 0 else (1, 9))
    return b.emit(op, [x, y], [(x.type, broadcast(x.shape, y.shape))],
                  fmod=b.pick([None, 0, 1]))


@operator("Pow", weight=0.6)
def power(b, op):
    x = b.take(elements.allowed(op, b.opset))
    types = elements.allowed(op, b.opset, 1)
    kind = x.type if b.opset < 12 or b.chance(0.6) else b.pick(types)
    if not elements.is_float(x.type) or b.chance(0.5):
        # Powers of integers are compiled for these exponents.
        y = b.scalar(b.pick([1, 2] if not elements.is_float(x.type) else [0, 1, 2, 3]), kind)
    else:
        y = b.partner(kind, x.shape, limits=(0, 4) if kind in elements.INTEGERS else None)
    return b.emit(op, [x, y], [(x.type, broadcast(x.shape, y.shape))])


@operator("Sum", "Mean", "Min", "Max", weight=0.7)
def variadic(b, op):
    x = b.take(elements.allowed(op, b.opset))
    operands, shape = [x], x.shape
    for _ in range(b.pick([0, 1, 1, 2, 3])):
        operands.append(b.partner(x.type, shape))
        shape = broadcast(shape, operands[-1].shape)
        if shape is None:
            raise Skip
    b.rng.shuffle(operands)
    return b.emit(op, operands, [(x.type, shape)])


@operator("Where", weight=2.0)
def where(b, op):
    condition = b.take(["bool"]) if b.chance(0.7) else None
    if condition is None:
        x = b.take(elements.allowed(op, b.opset, 1))
        condition = b.partner("bool", x.shape)
    else:
        x = b.partner(b.type_of(elements.allowed(op, b.opset, 1)), condition.shape)
    shape = broadcast(condition.shape, x.shape)
    y = b.partner(x.type, shape)
    shape = broadcast(shape, y.shape)
    if shape is None:
        raise Skip
    pair = [x, y] if b.chance(0.5) else [y, x]
    return b.emit(op, [condition, *pair], [(x.type, shape)])


@operator("Cast", weight=2.0)
def cast(b, op):
    x = b.take(elements.allowed(op, b.opset))
    to = b.type_of(t for t in elements.allowed(op, b.opset) if t != x.type)
    return b.emit(op, [x], [(to, x.shape)], to=elements.proto_type(to))


@operator("CastLike", weight=0.8)
def cast_like(b, op):
    x = b.take(elements.allowed(op, b.opset))
    like = b.take(elements.allowed(op, b.opset, 1))
    return b.emit(op, [x, like], [(like.type, x.shape)])


@operator("Clip", weight=0.9)
def clip(b, op):
    x = b.take(elements.allowed(op, b.opset))
    if b.opset < 11:
        return b.emit(op, [x], [(x.type, x.shape)], min=b.pick([None, -1.0, 0.0]),
                      max=b.pick([None, 0.5, 1.5]))
    if elements.is_float(x.type):
        low, high = b.pick([-1.5, 0.0, 0.25]), b.pick([0.5, 6.0, float("inf")])
    else:
        least, most = elements.integer_bounds(x.type)
        low = b.pick([least, max(least, -2), 0])
        high = b.pick([most, most - 1, 3])
    bound = [b.scalar(n, x.type) if b.chance(0.7) else None for n in (low, high)]
    if b.chance(0.2):
        bound = [b.fresh(x.type, [], constant=False) if v and b.chance(0.5) else v for v in bound]
    return b.emit(op, [x, *bound], [(x.type, x.shape)])


@operator("PRelu", weight=0.6)
def prelu(b, op):
    x = b.take(elements.allowed(op, b.opset), low=1)
    slope = b.partner(x.type, x.shape, one_way=True)
    return b.emit(op, [x, slope], [(x.type, x.shape)])


@composite
def cast_chain(b):
    """Types change two or three times around a value."""
    x = b.take()
    for _ in range(b.pick([2, 3])):
        to = b.type_of(t for t in elements.allowed("Cast", b.opset) if t != x.type)
        (x,) = b.emit("Cast", [x], [(to, x.shape)], to=elements.proto_type(to))


@composite
def masked(b):
    """A comparison chooses between a value and another."""
    x = b.take(elements.allowed("Greater", b.opset))
    if b.opset < 9 or count(x.shape).largest == 0:
        raise Skip
    y = b.partner(x.type, x.shape, one_way=True)
    (mask,) = b.emit(b.pick(["Greater", "Less"]), [x, y], [("bool", x.shape)])
    if b.chance(0.3):
        (mask,) = b.emit("Not", [mask], [("bool", mask.shape)])
    other = b.partner(x.type, x.shape, one_way=True)
    pair = [x, other] if b.chance(0.5) else [other, x]
    b.emit("Where", [mask, *pair], [(x.type, x.shape)])
