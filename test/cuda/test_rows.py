"""Rows in registers: a team of threads for each row, of every size, on the emulator against NumPy in double."""

import re

import numpy as np
import pytest
from onnx import TensorProto

RNG = np.random.default_rng(1)
TOLERANCES = {np.float32: 1e-5, np.float16: 2e-3, np.float64: 1e-13}


@pytest.fixture(autouse=True)
def numbers():
    """Those of a test do not depend on which tests ran before it."""
    global RNG
    RNG = np.random.default_rng(1)


def normal(*shape, dtype=np.float32):
    return RNG.standard_normal(shape).astype(dtype)


def softmax(graph, name, *shape, dtype=np.float32):
    case = graph.case(name, "warps", TOLERANCES[dtype], steps=1)
    case.output(case.node("Softmax", case.input(normal(*shape, dtype=dtype)), axis=-1))


def teams(graph):
    """{case: (threads of a team, elements of a vector, elements of a row)}"""
    def team(case):
        text = graph.sources[graph.kernels[case.name][0]].split("typedef RowOf<")[1].split(">")[0]
        return tuple(int(word) for word in text.split(", "))
    return {case.name: team(case) for case in graph.cases}


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64])
def test_lengths(graph, dtype):
    """Parts of a warp, a warp and several, with vectors of each width, and ends that are not full."""
    for length in (2, 3, 4, 12, 20, 31, 64, 100, 127, 129, 250, 256, 510, 1000, 1001, 2048, 4100):
        softmax(graph, f"few{length}", 5, length, dtype=dtype)
    for length in (33, 72, 1000, 1023):
        softmax(graph, f"many{length}", 451, length, dtype=dtype)
    graph.check()
    found = teams(graph)
    widths = {width for team, width, length in found.values()}
    assert widths == {1 << i for i in range({2: 4, 4: 3, 8: 2}[np.dtype(dtype).itemsize])}
    sizes = {team for team, *_ in found.values()}
    assert {1, 32} <= sizes and max(sizes) >= 256
    for name, (team, width, length) in found.items():
        assert length == int(name.lstrip("fewmany")) and length % width == 0, name


def test_longest(graph):
    softmax(graph, "long", 3, 16384)
    softmax(graph, "narrow", 2, 16384, dtype=np.float16)
    case = graph.case("longer", "rows", 1e-5, steps=1)
    case.output(case.node("Softmax", case.input(normal(2, 16385)), axis=-1))
    graph.check()


def test_open_rows(graph):
    """Threads without a row take part in the exchanges of their warp, and write nothing."""
    for length in (5, 40, 1000):
        for dtype in (np.float32, np.float16):
            case = graph.case(f"open{length}_{np.dtype(dtype).name}", "warps", TOLERANCES[dtype], steps=1)
            first, *others = [normal(rows, length, dtype=dtype) for rows in (5, 1, 0, 130)]
            case.output(case.node("LogSoftmax", case.input(first, ["N", length], others), axis=-1))
    case = graph.case("both", "warps", 1e-5)
    first, *others = [normal(*shape, 96) for shape in ((2, 3), (0, 3), (7, 1))]
    x = case.input(first, ["A", "B", 96], others)
    case.output(case.node("LayerNormalization", x, case.input(normal(96)), case.input(normal(96))))
    graph.check()


def test_special_numbers(graph):
    for dtype in (np.float32, np.float16):
        for length in (80, 1000):
            x = normal(6, length, dtype=dtype)
            x[0, 3], x[1, length - 1], x[2, 0], x[3, :], x[4, ::2] = np.nan, np.inf, -np.inf, -np.inf, np.nan
            for op in ("Softmax", "LogSoftmax"):
                case = graph.case(f"{op}{length}_{np.dtype(dtype).name}", "warps", TOLERANCES[dtype], steps=1)
                case.output(case.node(op, case.input(x), axis=-1))
            for op in ("ReduceMax", "ReduceMin", "ReduceSum"):
                case = graph.case(f"{op}{length}_{np.dtype(dtype).name}", "warps", 2e-3, steps=1)
                case.output(case.node(op, case.input(x), np.array([1])))
    graph.check()


def test_operands(graph):
    """Of columns, of rows, of both with fewer dims, of other types, and read elsewhere."""
    case = graph.case("residual", "warps", 1e-5)
    total = case.node("Add", case.input(normal(70, 768)), case.input(normal(70, 768)))
    case.output(case.node("LayerNormalization", total, case.input(normal(768)), case.input(normal(768))))
    case.output(total)
    case = graph.case("masked", "warps", 1e-5, steps=1)
    scores = case.node("Mul", case.input(normal(2, 3, 17, 36)), np.float32(0.125))
    case.output(case.node("Softmax", case.node("Add", scores, case.input(normal(2, 1, 1, 36))), axis=-1))
    case = graph.case("scaled", "warps", 1e-5, steps=1)
    x = case.node("Mul", case.input(normal(33, 200)), case.input(normal(33, 1)))
    case.output(case.node("Softmax", case.node("Add", x, case.input(normal(200))), axis=-1))
    case = graph.case("images", "warps", 1e-5)
    case.output(case.node("InstanceNormalization", case.input(normal(2, 3, 9, 12)), normal(3), normal(3)))
    case = graph.case("shifted", None, 1e-5)
    x = case.input(normal(9, 130))
    case.output(case.node("Softmax", case.node("Slice", x, np.array([0, 1]), np.array([9, 129])), axis=-1))
    case = graph.case("looked_up", None, 1e-5)
    rows = case.node("Gather", normal(50, 64), case.input(RNG.integers(0, 50, 21)))
    case.output(case.node("LayerNormalization", rows, case.input(normal(64)), case.input(normal(64))))
    case = graph.case("turned", None, 1e-5)
    x = case.node("Transpose", case.input(normal(65, 33)), perm=[1, 0])
    case.output(case.node("Softmax", x, axis=-1))
    graph.check()


def test_narrow_operands(graph):
    case = graph.case("f16", "warps", 1e-2)
    total = case.node("Add", *(case.input(normal(9, 776, dtype=np.float16)) for _ in range(2)))
    case.output(case.node("LayerNormalization", total, *(case.input(normal(776, dtype=np.float16)) for _ in range(2))))
    case.output(total)
    case = graph.case("bf16", "warps", 2e-2)
    x, scale, bias = (case.node("Cast", case.input(normal(*s)), to=TensorProto.BFLOAT16) for s in ((7, 1000), (1000,), (1000,)))
    normed = case.node("LayerNormalization", x, scale, bias)
    case.output(case.node("Cast", normed, to=TensorProto.FLOAT))
    case = graph.case("wide_sums", "warps", 2e-3, steps=1)
    wide = case.node("Cast", case.input(normal(9, 400, dtype=np.float16)), to=TensorProto.FLOAT)
    case.output(case.node("Cast", case.node("Softmax", wide, axis=-1), to=TensorProto.FLOAT16))
    graph.check()


def test_results_of_a_row(graph):
    """An element for each row, alone and beside whole rows."""
    for rows in (3, 300):
        case = graph.case(f"both{rows}", "warps", 1e-5)
        x = case.input(normal(rows, 516))
        most = case.node("ReduceMax", x, np.array([1]))
        case.output(most)
        case.output(case.node("Exp", case.node("Sub", x, most)))
        case = graph.case(f"length{rows}", "warps", 1e-5, steps=1)
        case.output(case.node("ReduceL2", case.input(normal(rows, 516)), np.array([1]), keepdims=0))
    graph.check()


def test_same_bytes(graph):
    """The order of warps and lanes changes no bit."""
    for length in (100, 1000, 5000):
        softmax(graph, f"softmax{length}", 9, length)
    graph.compile()
    inputs = {n: a for c in graph.cases for n, a in c.values().items()}
    first, *others = [graph.run(inputs, seed) for seed in (0, 5, 77)]
    for name, value in first.items():
        assert all(value.tobytes() == other[name].tobytes() for other in others), name


def chain(graph, name, count, array, dims=None, others=(), tolerance=1e-5, steps=None):
    """Softmaxes of softmaxes."""
    case = graph.case(name, "warps", tolerance, steps)
    value = case.input(array, dims, others)
    for _ in range(count):
        value = case.node("Softmax", value, axis=-1)
    case.output(value)
    return case


def repeats(graph, case):
    return [re.findall(r"repeat < (\d+)", graph.sources[kernel]) for kernel in graph.kernels[case.name]]


def test_a_long_chain(graph):
    """One launch, whose text does not grow with the chain."""
    case = chain(graph, "softmaxes", 2000, normal(1, 1000), steps=1)
    graph.check()
    assert repeats(graph, case) == [["1000"]]  # of two softmaxes
    assert len(graph.sources[graph.kernels[case.name][0]]) < 10000


def test_chains(graph):
    """Of several rows in a block, of an open number, of narrow elements, and with other operands."""
    cases = [chain(graph, "teams", 8, normal(37, 24), steps=1),
             chain(graph, "warps", 8, normal(451, 1000), steps=1),
             chain(graph, "open", 6, normal(5, 40), ["N", 40], [normal(1, 40), normal(0, 40), normal(70, 40)], steps=1),
             chain(graph, "narrow", 6, normal(9, 72, dtype=np.float16), tolerance=2e-3, steps=1)]
    cases.append(graph.case("normed", "warps", 1e-5, steps=1))
    value, scale, bias = (cases[-1].input(normal(*shape)) for shape in ((7, 300), (300,), (300,)))
    for _ in range(6):
        value = cases[-1].node("LayerNormalization", value, scale, bias)
    cases[-1].output(value)
    graph.check()
    for case in cases:
        assert len(repeats(graph, case)[0]) == 1, case.name


def test_what_is_no_chain(graph):
    """Somebody reads what is in between, or the other operands differ."""
    case = graph.case("read", "warps", 1e-5)
    value = case.input(normal(3, 100))
    for i in range(8):
        value = case.node("Softmax", value, axis=-1)
        if i % 2:
            case.output(value)
    case = graph.case("differ", "warps", 1e-5)
    value = case.input(normal(3, 100))
    for _ in range(6):
        value = case.node("LayerNormalization", value, case.input(normal(100)), case.input(normal(100)))
    case.output(value)
    graph.check()
    for case in graph.cases:
        assert len(graph.kernels[case.name]) > 1 and not any(repeats(graph, case)), case.name
