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
    """By a reciprocal where they are rounded to 16 bits, whatever their size; with --fp=strict never."""
    value = (RNG.uniform(0.5, 1, (13, 64)) * 2.0 ** np.arange(-14, 12, 2)[:, None]).astype(np.float16)
    case = graph.case("sizes", "warps", 1e-3, steps=1)
    x = case.input(value)
    case.output(case.node("Div", x, case.node("ReduceMax", x, np.array([1]))))
    graph.check()
    assert "divided(" in source(graph, case)
    graph.flags.append("--fp=strict")
    graph.check()
    assert "divided(" not in source(graph, case)


def test_quotients_of_float32_are_exact(graph):
    """Other kernels may round them to integers, or compare them."""
    value = (RNG.integers(1, 9, (128, 256)) * np.float32(41)).astype(np.float32)
    value[:, 0] = 41
    case = graph.case("stored", None)
    x = case.input(value)
    quotient = case.node("Div", x, case.node("ReduceMin", x, np.array([1])))
    turned = case.node("Floor", case.node("Transpose", quotient, perm=[1, 0]))
    case.output(quotient, value / 41)
    case.output(turned, (value / 41).T)
    case.tolerance = 0
    graph.check()
    sizes = (RNG.uniform(0.5, 1, (26, 64)) * 10.0 ** np.arange(-40, 38, 3)[:, None]).astype(np.float32)
    case = graph.case("sizes", "warps", 0, steps=1)
    x = case.input(sizes)
    case.output(case.node("Div", x, case.node("ReduceMax", x, np.array([1]))), sizes / sizes.max(axis=1, keepdims=True))
    graph.check()


def test_the_same_bytes_in_any_order(graph):
    case = graph.case("softmax", "rows", steps=1)
    case.output(case.node("Softmax", case.input(normal(3, 17001)), axis=-1))
    inputs = graph.compile().cases[0].values()
    first, *others = [graph.run(inputs, seed) for seed in (0, 5, 77)]
    for name, value in first.items():
        assert all(value.tobytes() == other[name].tobytes() for other in others), name
