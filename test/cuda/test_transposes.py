"""Elementwise kernels by vectors: transposes through tiles, and operands with fewer dims, on the emulator against NumPy."""

import re

import numpy as np
import pytest
from onnx import TensorProto

RNG = np.random.default_rng(1)


@pytest.fixture(autouse=True)
def numbers():
    """Those of a test do not depend on which tests ran before it."""
    global RNG
    RNG = np.random.default_rng(1)


def normal(*shape, dtype=np.float32):
    return RNG.standard_normal(shape).astype(dtype)


def ints(*values):
    return np.array(values, np.int64)


def add(graph, name, skeleton, *arrays, **attributes):
    case = graph.case(name, skeleton, 0)
    case.output(case.node("Transpose", *(case.input(a) for a in arrays), **attributes))


def test_transposes(graph):
    """By way of tiles; what has few rows or columns goes without."""
    for i, (shape, perm) in enumerate([((17, 33), (1, 0)), ((65, 130), (1, 0)), ((3, 16, 70), (0, 2, 1)),
                                       ((3, 20, 65), (2, 0, 1)), ((20, 3, 40), (2, 1, 0)), ((2, 20, 5, 9), (0, 2, 3, 1)),
                                       ((2, 5, 9, 20), (0, 3, 1, 2)), ((5, 7, 3, 6), (2, 3, 0, 1)),
                                       ((20, 3, 2, 17, 4), (3, 4, 1, 2, 0)), ((1, 33, 1, 40), (3, 0, 1, 2))]):
        add(graph, f"turned{i}", "transpose", normal(*shape), perm=perm)
    for dtype in (bool, np.int8, np.uint8, np.int16, np.float16, np.int64, np.float64):
        add(graph, f"turned_{np.dtype(dtype).name}", "transpose", (normal(3, 70, 133) * 50).astype(dtype),
            perm=(0, 2, 1))
    for i, (shape, perm) in enumerate([((3, 65), (1, 0)), ((2, 3, 9, 9), (0, 2, 3, 1)), ((0, 5), (1, 0))]):
        add(graph, f"few{i}", "elementwise" if 0 not in shape else None, normal(*shape), perm=perm)
    graph.check()


def test_words(graph):
    """Of float32, with vectors of each width on both sides; large tiles where there are many."""
    for i, shape in enumerate([(64, 64), (133, 136), (36, 66), (33, 1027 * 36), (1028, 1092)]):
        add(graph, f"turned{i}", "transpose", normal(*shape), perm=(1, 0))
    graph.check()
    kinds = [re.search(r"WordTile<float, (\d+)> tile0.*?bring<256, (\d+)>.*?  storeVector<(\d+)>",
                       graph.sources[graph.kernels[c.name][0]], re.DOTALL).groups() for c in graph.cases]
    assert kinds == [("32", "4", "4"), ("32", "4", "1"), ("32", "2", "4"), ("64", "4", "1"), ("64", "4", "4")]


def test_narrow_transposes(graph):
    """Tiles of words, with vectors of each width on both sides; what has no whole words goes by elements."""
    for dtype in (np.float16, np.uint8):
        for i, (shape, perm) in enumerate([((64, 64), (1, 0)), ((200, 136), (1, 0)), ((20, 68), (1, 0)),
                                           ((3, 66, 132), (0, 2, 1)), ((2, 6, 4, 40), (0, 3, 1, 2)),
                                           ((33, 3, 2, 16), (2, 3, 1, 0)), ((17, 130), (1, 0)), ((134, 65), (1, 0))]):
            case = graph.case(f"turned{i}_{np.dtype(dtype).name}", "transpose", 0, steps=1)
            value = (normal(*shape) * 50 + 99).astype(dtype)
            case.output(case.node("Transpose", case.input(value), perm=perm), value.transpose(perm))
    case = graph.case("steps", "transpose", 2e-3, steps=1)
    x, y, z = (case.input(normal(*shape, dtype=np.float16)) for shape in ((72, 40), (72, 40), (40, 72)))
    x, y = (case.node("Transpose", v, perm=[1, 0]) for v in (x, y))
    case.output(case.node("Relu", case.node("Add", case.node("Mul", x, y), z)))
    case = graph.case("wider", "transpose", 1e-6, steps=1)
    x = case.node("Transpose", case.input(normal(72, 40, dtype=np.float16)), perm=[1, 0])
    case.output(case.node("Exp", case.node("Cast", x, to=TensorProto.FLOAT)))
    case = graph.case("mixed", "transpose", 2e-3, steps=1)
    x, y = (case.node("Transpose", case.input(v), perm=[1, 0])
            for v in (RNG.random((72, 40)) < 0.5, normal(72, 40, dtype=np.float16)))
    case.output(case.node("Where", x, y, np.float16(2)))
    graph.check()
    sources = {c.name: graph.sources[graph.kernels[c.name][0]] for c in graph.cases}
    widths = {n: (*re.findall(r"bring<256, (\d+)>", s)[:1], *re.findall(r"  storeVector<(\d+)>", s)) for n, s in sources.items()}
    assert widths["turned1_float16"] == widths["steps"] == ("8", "8") and widths["turned1_uint8"] == ("8", "8")
    assert widths["turned2_float16"] == ("4", "4") and widths["turned0_uint8"] == ("16", "8")
    assert widths["turned3_float16"] == ("4", "2") and widths["turned6_float16"] == ("2", "1")
    assert widths["wider"] == ("8", "4")
    assert widths["turned6_uint8"] == widths["turned7_float16"] == widths["mixed"] == ()


def test_steps_around_transposes(graph):
    def turn(case, x):
        return case.node("Transpose", x, perm=[1, 0])
    case = graph.case("sum", "transpose", 1e-6, steps=1)
    x, y = case.input(normal(40, 33)), case.input(normal(33, 40))
    case.output(case.node("Relu", case.node("Add", turn(case, case.node("Tanh", x)), y)))
    case = graph.case("both", "transpose", 1e-6, steps=1)
    x, y = case.input(normal(40, 33)), case.input(normal(40, 33))
    case.output(case.node("Mul", turn(case, x), turn(case, y)))
    case = graph.case("with_itself", "transpose", 1e-6, steps=1)
    x = case.input(normal(40, 40))
    case.output(case.node("Sub", x, turn(case, x)))
    case = graph.case("mixed", "transpose", 1e-2, steps=1)
    x, y = case.input(normal(70, 65, dtype=np.float16)), case.input(normal(65, 70))
    case.output(case.node("Add", case.node("Cast", turn(case, x), to=TensorProto.FLOAT), y))
    # What does not move along both is read as it is.
    case = graph.case("rows", "transpose", 1e-6, steps=1)
    x = case.node("Add", case.input(normal(40, 33)), case.input(normal(33)))
    case.output(case.node("Mul", turn(case, x), case.input(normal(40))))
    case = graph.case("outputs", "transpose", 1e-6)
    x = turn(case, case.input(normal(40, 33)))
    case.output(case.node("Exp", x))
    case.output(case.node("Neg", x))
    # Indices that are no dim of the result are no tile's: a slice, a part of a whole, a border.
    case = graph.case("slice", None, 0)
    case.output(turn(case, case.node("Slice", case.input(normal(50, 47)), ints(3, 5), ints(40, 45), ints(0, 1))))
    case = graph.case("joined", None, 0)
    x, y = case.input(normal(40, 33)), case.input(normal(40, 20))
    case.output(case.node("Concat", turn(case, x), turn(case, y), axis=0))
    case = graph.case("bordered", None, 0)
    case.output(turn(case, case.node("Pad", case.input(normal(40, 33)), ints(1, 2, 3, 4))))
    graph.check()


def test_open_transposes(graph):
    shapes = [(3, 5, 70), (1, 1, 1), (2, 33, 32), (0, 4, 4), (1, 100, 31)]
    first, *others = (normal(*shape) for shape in shapes)
    for i, perm in enumerate([(0, 2, 1), (2, 1, 0), (1, 2, 0), (2, 0, 1)]):
        case = graph.case(f"open{i}", "transpose", 0)
        case.output(case.node("Transpose", case.input(first, ["A", "B", "C"], others), perm=perm))
    first, *others = (normal(*shape).astype(np.float16) for shape in [(70, 65), (1, 0), (64, 64), (200, 3)])
    case = graph.case("narrow", "transpose", 0)
    case.output(case.node("Transpose", case.input(first, ["M", "N"], others), perm=(1, 0)))
    graph.check()


def test_broadcasts(graph):
    """Vectors beside operands with fewer dims, of every width."""
    def one(name, width, op, *arrays, tolerance=1e-6, dims=None, others=()):
        case = graph.case(name, "elementwise", tolerance, steps=1)
        inputs = [case.input(arrays[0], dims, others), *(case.input(a) for a in arrays[1:])]
        case.output(case.node("Tanh", case.node(op, *inputs)))
        expected[name] = width
    expected = {}
    one("columns", 4, "Add", normal(128, 256), normal(256))
    one("rows", 4, "Mul", normal(128, 256), normal(128, 1))
    one("channels", 4, "Add", normal(3, 64, 14, 14), normal(64, 1, 1))
    one("apart", 4, "Add", normal(8, 1, 256), normal(1, 16, 256))
    one("between", 2, "Mul", normal(40, 30, 18), normal(40, 1, 18))
    one("narrow", 8, "Add", normal(128, 256, dtype=np.float16), normal(256, dtype=np.float16), tolerance=2e-3)
    one("open", 4, "Add", normal(3, 64, 20), normal(20), dims=["N", 64, 20], others=[normal(0, 64, 20), normal(70, 64, 20)])
    one("odd", 1, "Add", normal(129, 255), normal(255))
    graph.check()
    for name, width in expected.items():
        stores = re.findall(r"  storeVector<(\d+)>", graph.sources[graph.kernels[name][0]])
        assert stores == ([str(width)] if width > 1 else []), name
