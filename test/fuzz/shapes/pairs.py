"""Two tensors with open rows, made in ways of their own, and what broadcasts them together."""

import numpy as np

from building import BOOL, FLOAT, Builder  # noqa: F401

ARITHMETIC = ["Add", "Sub", "Mul", "Max", "Min", "Div"]


def bound(b, t):
    """Where a slice begins or ends: a constant, or from a size."""
    rng = b.rng
    if rng.random() < 0.6:
        return b.constant([int(rng.choice([-3, -2, -1, 0, 1, 2, 3]))])
    size = b.size(t)
    kind = rng.integers(6)
    if kind == 0:
        return b.node("Div", size, b.constant([2]))
    if kind == 1:
        return b.node("Sub", size, b.constant([int(rng.integers(1, 4))]))
    if kind == 2:
        return b.node("Sub", b.constant([1]), size)
    if kind == 3:
        return b.node("Neg", b.node("Div", size, b.constant([2])))
    if kind == 4:
        return b.node("Div", b.node("Sub", size, b.constant([5])), b.constant([2]))
    return b.node("Min", size, b.constant([int(rng.integers(1, 4))]))


def sliced(b, t):
    far = b.constant([2**62])
    step = b.constant([int(b.rng.choice([1, 1, 1, 2, -1]))])
    begin = bound(b, t) if b.rng.random() < 0.7 else b.constant([0])
    end = bound(b, t) if b.rng.random() < 0.7 else far
    return b.node("Slice", t, begin, end, b.constant([0]), step)


def halves(b, t):
    half = b.node("Div", b.size(t), b.constant([2]))
    first = b.rng.random() < 0.5
    return b.node("Slice", t, b.constant([0]) if first else half,
                  half if first else b.constant([2**62]), b.constant([0]))


def term(b, inputs, depth):
    """A tensor of open rows."""
    rng = b.rng
    t = inputs[rng.integers(len(inputs))]
    if depth == 0:
        return t
    kind = rng.choice(["plain", "slice", "slice", "slice", "half", "concat", "one", "expand", "where"])
    if kind == "slice":
        return sliced(b, term(b, inputs, depth - 1))
    if kind == "half":
        return halves(b, term(b, inputs, depth - 1))
    if kind == "concat":
        return b.node("Concat", term(b, inputs, depth - 1), term(b, inputs, depth - 1), axis=0)
    if kind == "one":
        return b.node("ReduceMax", t, axes=[0], keepdims=1)
    if kind == "expand":
        row = term(b, inputs, depth - 1)
        return b.node("Expand", row, b.node("Shape", term(b, inputs, depth - 1)))
    if kind == "where":
        a, c = term(b, inputs, depth - 1), term(b, inputs, depth - 1)
        return b.node("Where", b.node("Less", a, b.constant(0, np.float32)), a, c)
    return t


def generate(seed):
    rng = np.random.default_rng(seed)
    b = Builder(rng)
    products = rng.random() < 0.15
    inner = [3, 3] if products else [3]
    inputs = [b.input("x", ["n", *inner])]
    if rng.random() < 0.5:
        inputs.append(b.input("z", ["m", *inner]))
    first, second = term(b, inputs, 2), term(b, inputs, 2)
    if rng.random() < 0.2:  # other rows in front or behind
        first = b.node("Unsqueeze", first, b.constant([0]))
    if products:
        y = b.node("MatMul", first, second)
    else:
        kind = rng.choice(ARITHMETIC + ["Where", "Expand", "Less"])
        if kind == "Where":
            y = b.node("Where", b.node("Less", first, b.constant(0, np.float32)), first, second)
        elif kind == "Expand":
            y = b.node("Expand", first, b.node("Shape", second))
        elif kind == "Less":
            y = b.node("Cast", b.node("Less", first, second), to=FLOAT)
        else:
            y = b.node(kind, first, second)
    b.output(y, FLOAT)
    worlds = [(1, 1), (1, int(rng.integers(2, 7))), (int(rng.integers(2, 7)), 1)]
    same = int(rng.integers(2, 7))
    worlds += [(same, same), tuple(int(k) for k in rng.integers(2, 7, 2)), (2, 3), (3, 2)]
    return b.model(), [b.feed({"n": n, "m": m}) for n, m in worlds]
