"""Rows that blocks have, which begin at any element of memory, on the emulator against NumPy in double."""

import numpy as np
import pytest

RNG = np.random.default_rng(1)
TOLERANCES = {np.float32: 1e-5, np.float16: 2e-3}


@pytest.fixture(autouse=True)
def numbers():
    """Those of a test do not depend on which tests ran before it."""
    global RNG
    RNG = np.random.default_rng(1)


def normal(*shape, dtype=np.float32):
    return RNG.standard_normal(shape).astype(dtype)


def source(graph, case):
    return graph.sources[graph.kernels[case.name][-1]]


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_softmax(graph, dtype):
    """Rows in shared memory and longer ones; each begins elsewhere in a vector."""
    for length in (16384 + 1, 17000, 20003):
        case = graph.case(f"near{length}", "rows", TOLERANCES[dtype], steps=1)
        case.output(case.node("Softmax", case.input(normal(5, length, dtype=dtype)), axis=-1))
    case = graph.case("far", "rows", TOLERANCES[dtype], steps=1)
    case.output(case.node("Softmax", case.input(normal(18, 60001, dtype=dtype)), axis=-1))
    graph.check()
    for case in graph.cases:
        assert ("row.bring<true>" in source(graph, case)) == (case.name != "far")


def test_operands(graph):
    """Operands of columns lie otherwise than rows; a sum is read again and returned; several dims make a row."""
    case = graph.case("norm", "rows", 1e-5, steps=1)
    case.output(case.node("LayerNormalization", case.input(normal(3, 17001)), case.input(normal(17001)),
                          case.input(normal(17001))))
    case = graph.case("residual", "rows", 1e-5, steps=1)
    total = case.node("Add", case.input(normal(3, 17001)), case.input(normal(3, 17001)))
    case.output(case.node("Softmax", total, axis=-1))
    case.output(total)
    case = graph.case("instance", "rows", 1e-5, steps=1)
    case.output(case.node("InstanceNormalization", case.input(normal(2, 3, 131, 133)), case.input(normal(3)),
                          case.input(normal(3))))
    case = graph.case("types", "rows", 1e-2)
    scaled = case.node("Mul", case.input(normal(3, 17001, dtype=np.float16)), case.input(normal(17001, dtype=np.float16)))
    case.output(case.node("Softmax", case.node("Cast", scaled, to=1), axis=-1))
    graph.check()


def test_special_numbers(graph):
    special = np.full((4, 17001), -np.inf, np.float32)
    special[0, 3], special[1, -1], special[2, 9000] = np.nan, np.inf, 1
    case = graph.case("special", "rows", 1e-5, steps=1)
    case.output(case.node("Softmax", case.input(special), axis=-1))
    graph.check()


def test_quotients(graph):
    """By a reciprocal, whatever its size; with --fp=strict they are those of IEEE."""
    sizes = 10.0 ** np.arange(-40, 38, 3)
    value = (RNG.uniform(0.5, 1, (len(sizes), 64)) * sizes[:, None]).astype(np.float32)
    case = graph.case("sizes", "warps", 3e-7, steps=1)
    x = case.input(value)
    case.output(case.node("Div", x, case.node("ReduceMax", x, np.array([1]))))
    graph.check()
    assert "divided(" in source(graph, case)
    graph.flags.append("--fp=strict")
    case.tolerance = 0
    case.expected[case.outputs[0]] = value / value.max(axis=1, keepdims=True)
    graph.check()
    assert "divided(" not in source(graph, case)


def test_the_same_bytes_in_any_order(graph):
    case = graph.case("softmax", "rows", steps=1)
    case.output(case.node("Softmax", case.input(normal(3, 17001)), axis=-1))
    inputs = graph.compile().cases[0].values()
    first, *others = [graph.run(inputs, seed) for seed in (0, 5, 77)]
    for name, value in first.items():
        assert all(value.tobytes() == other[name].tobytes() for other in others), name
