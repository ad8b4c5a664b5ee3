"""Few long sums, which blocks share, on the emulator against NumPy."""

import numpy as np
import pytest
from onnx import TensorProto

from emulated import Graph

RNG = np.random.default_rng(1)


@pytest.fixture(autouse=True)
def numbers():
    """Those of a test do not depend on which tests ran before it."""
    global RNG
    RNG = np.random.default_rng(1)


def normal(*shape, dtype=np.float32):
    return RNG.standard_normal(shape).astype(dtype)


def add(graph, name, op, value, *axes, tolerance=1e-5, **attributes):
    case = graph.case(name, "sums", tolerance, steps=1)
    case.output(case.node(op, case.input(value), np.array(axes, np.int64), **attributes))


SHAPES = [((3, 9001), (1,)), ((20011,), (0,)), ((97, 131), (0, 1)), ((2, 90, 3, 99), (1, 3)),  # a sum for a block
          ((999, 1), (0,)), ((2000, 33), (0,)), ((3, 1111, 65), (1,)), ((70, 300, 5), (0, 1))]  # neighbours


def test_reductions(graph):
    for i, (shape, axes) in enumerate(SHAPES):
        if shape != (999, 1):
            add(graph, f"sum{i}", "ReduceSum", normal(*shape), *axes, keepdims=i % 2)
        for op in ("ReduceMax", "ReduceProd", "ReduceMean"):
            add(graph, f"{op}{i}", op, RNG.uniform(0.999, 1.001, shape).astype(np.float32), *axes) \
                if op == "ReduceMax" or i in (0, 5) else None
    for op in ("ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceMin"):
        add(graph, f"rows_{op}", op, normal(2, 9000), 1)
        add(graph, f"columns_{op}", op, normal(900, 7), 0)
    graph.check()


def test_types(graph):
    for dtype, tolerance in ((np.float16, 1e-2), (np.float64, 1e-13)):
        for i, (shape, axes) in enumerate([((2, 9000), (1,)), ((1000, 33), (0,))]):
            add(graph, f"{np.dtype(dtype).name}_{i}", "ReduceSum", normal(*shape, dtype=dtype), *axes,
                tolerance=tolerance)
    for dtype in (np.int32, np.int64, np.int8, np.uint8):
        for i, (shape, axis) in enumerate([((2, 9000), 1), ((1000, 33), 0)]):
            value = RNG.integers(0, 100, shape).astype(dtype)
            for op in ("ReduceMax", "ReduceSum")[:1 + (np.dtype(dtype).itemsize > 1)]:
                case = graph.case(f"{op}_{np.dtype(dtype).name}_{i}", "sums", 0, steps=1)
                expected = getattr(np, op[6:].lower())(value, axis=axis, keepdims=True).astype(dtype)
                case.output(case.node(op, case.input(value), np.array([axis])), expected)
    graph.check()


def test_special_numbers(graph):
    for shape, axis in [((4, 9000), 1), ((1000, 4), 0)]:
        value = normal(*shape)
        for column, special in enumerate([np.nan, np.inf, -np.inf]):
            value[(column, 7777) if axis else (999 - column, column)] = special
        for op in ("ReduceSum", "ReduceMax", "ReduceMin"):
            add(graph, f"{op}{axis}", op, value, axis)
    graph.check()


def test_what_follows_a_sum(graph):
    """It is computed once, by the last block."""
    for name, shape, axis in [("rows", (3, 9000), 1), ("columns", (1500, 40), 0)]:
        case = graph.case(name, "sums", 1e-5, steps=1)
        x = case.input(normal(*shape))
        mean = case.node("ReduceMean", case.node("Mul", x, x), np.array([axis]))
        root = case.node("Sqrt", case.node("Add", mean, np.float32(1e-6)))
        case.output(case.node("Mul", root, case.input(normal(*(1 if d == axis else n for d, n in enumerate(shape))))))
    case = graph.case("norms", "sums", 1e-5, steps=1)
    x = case.input(normal(2000, 9))
    total = case.node("ReduceSum", case.node("Abs", x), np.array([0]), keepdims=0)
    case.output(total)
    case.output(case.node("Relu", case.node("Neg", total)))
    graph.check()


def test_products_of_a_row(tools, tmp_path):
    """Too few rows for tiles."""
    graph = Graph(tools, tmp_path, "--precision=ieee")
    for m, k, n in [(1, 2048, 1000), (2, 1031, 65), (4, 700, 33)]:
        case = graph.case(f"product{m}", "sums", 1e-5, steps=1)
        product = case.node("MatMul", case.input(normal(m, k)), case.input(normal(k, n)))
        case.output(case.node("Relu", case.node("Add", product, case.input(normal(n)))))
    case = graph.case("turned", "sums", 1e-5)
    case.output(case.node("Gemm", case.input(normal(1, 20000)), case.input(normal(5, 20000)), transB=1))
    graph.check()


def test_places_of_extremes(graph):
    """Two sums: the extreme, and the place of what is equal to it; the first or the last, that of NaN where there is
    one."""
    for i, (shape, axis) in enumerate([((1, 90001), 1), ((1500, 5), 0), ((3, 2000), 1), ((2, 700, 3), 1)]):
        value = RNG.integers(0, 9, shape).astype(np.float32)
        special = value.copy()
        special[tuple(n // 2 for n in shape)] = special[tuple(n - 1 for n in shape)] = np.nan
        for op in ("ArgMax", "ArgMin"):
            for last in (0, 1):
                case = graph.case(f"{op}{i}_{last}", "sums" if i < 2 else None, 0)
                for array in (value, special):
                    where = np.isnan(array) | (array == getattr(np, op[3:].lower())(array, axis=axis, keepdims=True))
                    first = np.argmax(where, axis=axis)
                    final = shape[axis] - 1 - np.argmax(np.flip(where, axis), axis=axis)
                    case.output(case.node(op, case.input(array), axis=axis, keepdims=0, select_last_index=last),
                                final if last else first)
    graph.check()


def test_open_sizes(graph):
    runs = [(3, 9001), (1, 1), (4, 0), (0, 7), (300, 40), (2, 70000)]
    for axis in (0, 1):
        case = graph.case(f"axis{axis}", "sums", 1e-5, steps=1)
        first, *others = [normal(*shape) if axis else normal(*shape[::-1]) for shape in runs]
        case.output(case.node("ReduceSum", case.input(first, ["R", "C"] if axis else ["C", "R"], others),
                              np.array([axis])))
    graph.check()


def test_the_same_bytes_in_any_order(graph):
    add(graph, "all", "ReduceSum", normal(3, 40000), 1)
    add(graph, "columns", "ReduceSum", normal(4000, 40), 0)
    graph.compile()
    inputs = {n: a for c in graph.cases for n, a in c.values().items()}
    first = graph.run(inputs)
    for seed in range(1, 6):
        again = graph.run(inputs, seed)
        assert all(first[name].tobytes() == again[name].tobytes() for name in first)


def test_a_gpu_that_is_full_shares_nothing(graph):
    for name, shape, axis in [("rows", (300, 5000), 1), ("columns", (100, 60000), 0)]:
        case = graph.case(name, None)
        case.output(case.node("ReduceSum", case.input(normal(*shape)), np.array([axis])))
    graph.compile()
    assert not any("isLastOf(" in source for source in graph.sources.values())
