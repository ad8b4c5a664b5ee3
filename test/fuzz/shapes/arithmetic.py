"""Graphs of shape arithmetic: numbers made from sizes, returned and used as sizes."""

import numpy as np

from building import BOOL, FLOAT, INT32, INT64, Builder

PAIRS = ["Add", "Sub", "Mul", "Min", "Max"]


def number(b, x, depth):
    """A vector of one integer."""
    rng = b.rng
    if depth == 0:
        return b.size(x, int(rng.integers(2))) if rng.random() < 0.75 else b.constant([int(rng.integers(-4, 9))])
    kind = rng.choice(["pair", "pair", "divide", "divide", "mod", "choose", "compare", "abs", "float", "narrow",
                       "reduce", "slice"])
    a = number(b, x, depth - 1)
    if kind == "pair":
        return b.node(str(rng.choice(PAIRS)), a, number(b, x, depth - 1))
    if kind == "divide":
        return b.node("Div", a, b.constant([int(rng.choice([2, 3, 4, -2]))]))
    if kind == "mod":
        return b.node("Mod", a, b.constant([int(rng.choice([2, 3, 4]))]))
    if kind == "choose":
        condition = b.node(str(rng.choice(["Less", "Equal", "Greater"])), a, number(b, x, depth - 1))
        if rng.random() < 0.3:
            condition = b.node("Not", condition)
        return b.node("Where", condition, a, number(b, x, depth - 1))
    if kind == "compare":
        both = b.node(str(rng.choice(["And", "Or", "Xor"])), b.node("Less", a, number(b, x, depth - 1)),
                      b.node("GreaterOrEqual", a, b.constant([int(rng.integers(0, 5))])))
        return b.node("Cast", both, to=INT64)
    if kind == "abs":
        return b.node(str(rng.choice(["Abs", "Neg"])), a)
    if kind == "float":
        real = b.node("Cast", a, to=FLOAT)
        real = b.node(str(rng.choice(["Mul", "Div"])), real, b.constant(float(rng.choice([0.5, 2.0, 4.0])), np.float32))
        return b.node("Cast", b.node(str(rng.choice(["Floor", "Ceil"])), real), to=INT64)
    if kind == "narrow":
        return b.node("Cast", b.node("Cast", a, to=INT32), to=INT64)
    several = b.node("Concat", a, number(b, x, depth - 1), b.size(x), axis=0)
    if kind == "reduce":
        if rng.random() < 0.4:
            return b.node("ReduceSum", several, b.constant([0]), keepdims=1)
        return b.node(str(rng.choice(["ReduceMax", "ReduceMin", "ReduceProd"])), several, keepdims=1)
    at = int(rng.integers(3))
    return b.node("Slice", several, b.constant([at]), b.constant([at + 1]))


def within(b, value, low, high):
    return b.node("Min", b.node("Max", value, b.constant([low])), b.constant([high]))


def use(b, x, value):
    """A tensor whose size is made from the number."""
    rng = b.rng
    kind = rng.choice(["fill", "expand", "tile", "range", "slice", "reshape", "pad", "gather"])
    if kind == "fill":
        size = within(b, value, 0, 9)
        return b.node("Cast", b.node("ConstantOfShape", size), to=FLOAT)
    if kind == "expand":
        row = b.node("ReduceMax", x, axes=[0], keepdims=1)
        return b.node("Expand", row, b.node("Concat", within(b, value, 1, 9), b.constant([1]), axis=0))
    if kind == "tile":
        return b.node("Tile", x, b.node("Concat", within(b, value, 0, 4), b.constant([1]), axis=0))
    if kind == "range":
        limit = b.node("Squeeze", within(b, value, -3, 9))
        return b.node("Cast", b.node("Range", b.constant(0), limit, b.constant(int(rng.choice([1, 2])))), to=FLOAT)
    if kind == "slice":
        return b.node("Slice", x, b.constant([0]), within(b, value, 0, 9), b.constant([0]))
    if kind == "reshape":
        # Rows of the size's own, so that every number of them fits.
        row = b.node("ReduceMax", x, axes=[0, 1], keepdims=1)
        size = within(b, value, 1, 9)
        wide = b.node("Expand", row, b.node("Concat", size, b.constant([4]), axis=0))
        return b.node("Reshape", wide, b.node("Concat", b.node("Mul", size, b.constant([2])), b.constant([-1]), axis=0))
    if kind == "pad":
        none = b.constant([0])
        return b.node("Pad", x, b.node("Concat", none, none, within(b, value, 0, 5), none, axis=0))
    return b.node("Gather", x, within(b, value, 0, 0), axis=0)


def generate(seed):
    rng = np.random.default_rng(seed)
    b = Builder(rng)
    x = b.input("x", ["n", "k"])
    value = number(b, x, int(rng.integers(1, 4)))
    if rng.random() < 0.5:
        b.output(value, INT64)
    else:
        b.output(use(b, x, value), FLOAT)
    sizes = [(1, 1), (1, 5), (5, 1), (2, 3), (7, 4), (4, 8), tuple(int(k) for k in rng.integers(1, 12, 2))]
    return b.model(), [b.feed({"n": n, "k": k}) for n, k in sizes]
