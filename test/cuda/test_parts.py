"""Sums that several blocks share, on the emulator against NumPy: of every type, of open and empty sizes, the same
bytes whichever block comes last."""

import numpy as np
import pytest
from onnx import TensorProto

from emulated import Graph
from test_kernels import Contractions, normal

KINDS = ["tf32", "f16", "bf16", "f32", "f64"]


def graph_of(tools, folder, kind):
    precise = kind in ("f32", "f64")
    graph = Graph(tools, folder, *["--precision=ieee"] * precise)
    return graph, Contractions(graph, kind, "tiles" if precise else "tensor")


def shared_by(graph):
    """{case: whether blocks share sums in one of its kernels}"""
    return {case.name: any("isLastOf(" in graph.sources[k] and "parts() const {\n    return 1;" not in graph.sources[k]
                           for k in graph.kernels[case.name]) for case in graph.cases}


@pytest.mark.parametrize("kind", KINDS)
def test_contractions(tools, tmp_path, kind):
    graph, make = graph_of(tools, tmp_path, kind)
    for i, (m, k, n) in enumerate([(5, 1031, 9), (49, 515, 70), (33, 512, 65), (7, 2048, 1000)]):
        make.matmul(f"matmul{i}", (m, k), (k, n))
    make.matmul("batched", (3, 17, 533), (3, 533, 17))
    make.gemm("turned", 17, 600, 33, transB=1)
    make.conv("conv", (1, 64, 7, 7), (65, 64, 3, 3), pads=[1, 1, 1, 1], bias=True)
    make.conv("point", (2, 515, 7, 5), (33, 515, 1, 1))
    case = make.case("steps", steps=None if kind == "bf16" else 1)
    product = case.node("MatMul", make.value(case, normal(9, 700)), make.value(case, normal(700, 40)))
    total = case.node("Relu", case.node("Add", product, make.value(case, normal(40))))
    make.result(case, case.node("Add", total, make.value(case, normal(9, 40))))
    a, b = normal(9, 700), normal(700, 33)
    a[3, 5], a[7, 699], a[8, 0], b[300, 4], b[0, 11] = np.nan, np.inf, -np.inf, np.nan, np.inf
    case = make.case("special")
    make.result(case, case.node("MatMul", make.value(case, a), make.value(case, b)))
    graph.check()
    assert all(shared_by(graph).values())


@pytest.mark.parametrize("kind", ["tf32", "f16", "f32"])
def test_open_sizes(tools, tmp_path, kind):
    """One kernel shares a tile among as many blocks as its sizes want."""
    graph, make = graph_of(tools, tmp_path, kind)
    case = make.case("open")
    runs = [(33, 515), (5, 2000), (300, 700), (40, 100), (0, 900), (7, 0)]
    a, *others = [normal(m, k) for m, k in runs]
    b, *columns = [normal(k, 9 + k % 7) for m, k in runs]
    make.result(case, case.node("MatMul", make.value(case, a, ["M", "K"], others),
                                make.value(case, b, ["K", "N"], columns)))
    case = make.case("rows")
    a, *others = [normal(m, 640) for m in (33, 0, 1, 130, 500, 9)]
    make.result(case, case.node("MatMul", make.value(case, a, ["R", 640], others), make.value(case, normal(640, 65))))
    graph.check()


def test_integers(tools, tmp_path):
    graph, rng = Graph(tools, tmp_path), np.random.default_rng(1)
    for name, left in (("unsigned", np.uint8), ("signed", np.int8)):
        case = graph.case(name, None, 0)
        a = case.input(rng.integers(0, 100, (17, 1100)).astype(left))
        case.output(case.node("MatMulInteger", a, case.input(rng.integers(-100, 100, (1100, 33)).astype(np.int8))))
    a, b = (rng.integers(-2**20, 2**20, shape) for shape in ((17, 600), (600, 33)))
    case = graph.case("long", "tiles", 0)
    case.output(case.node("MatMul", case.input(a), case.input(b)), a @ b)
    graph.check()
    assert all(shared_by(graph).values())


def test_the_same_bytes_in_any_order(tools, tmp_path):
    graph, make = graph_of(tools, tmp_path, "tf32")
    make.matmul("product", (33, 1500), (1500, 70))
    graph.compile()
    case = graph.cases[0]
    first = graph.run(case.values())
    for seed in range(1, 6):
        again = graph.run(case.values(), seed)
        assert all(first[name].tobytes() == again[name].tobytes() for name in first)


def test_what_fills_the_gpu_is_not_shared(tools, tmp_path):
    graph, make = graph_of(tools, tmp_path, "tf32")
    make.matmul("wide", (300, 512), (512, 900))
    make.matmul("shallow", (33, 130), (130, 65))
    graph.compile()
    assert not any(shared_by(graph).values())
