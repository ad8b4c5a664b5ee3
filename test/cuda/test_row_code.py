"""The machine code of rows, transposes and broadcasts: how they reach memory, and how often a block waits for all its threads."""

import collections
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest
from onnx import TensorProto

from emulated import Graph

NVDISASM = next(pathlib.Path(sys.prefix).glob("lib/python*/site-packages/nvidia/*/bin/nvdisasm"), None)
pytestmark = pytest.mark.skipif(NVDISASM is None, reason="nvdisasm is not installed")


def instructions(graph, case):
    """{instruction: how often it stands in the code of the case's last kernel}"""
    folder = graph.folder / "kernels"
    done = graph.tools.mlc("inspect", graph.artifact, f"--extract={folder}")
    assert done.returncode == 0, done.stderr
    cubin = folder / f"{graph.kernels[case.name][-1]}.cubin"
    text = subprocess.run([NVDISASM, "-c", cubin], capture_output=True, text=True, check=True).stdout
    names = re.findall(r"^\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+ )?([A-Z][A-Z0-9_.]*)", text, re.MULTILINE)
    return collections.Counter(name.removesuffix(".CONSTANT") for name in names)


def accesses(found):
    """Those to global memory, with their numbers; nothing may go by way of the stack."""
    assert not any(name.startswith(("LDL", "STL")) for name in found), found
    return {name: n for name, n in found.items() if name.startswith(("LDG", "STG"))}


def barriers(found):
    return sum(n for name, n in found.items() if name.startswith("BAR.SYNC"))


@pytest.fixture
def graph(tools, tmp_path):
    return Graph(tools, tmp_path, target="cuda:sm_90")


def zeros(*shape, dtype=np.float32):
    return np.zeros(shape, dtype)


@pytest.mark.parametrize("dtype, each", [(np.float32, 8), (np.float16, 4)])
def test_a_warp_for_each_row(graph, dtype, each):
    softmax = graph.case("softmax", "warps", steps=1)
    softmax.output(softmax.node("Softmax", softmax.input(zeros(8192, 1024, dtype=dtype)), axis=-1))
    assert not graph.compile().misplaced()
    found = instructions(graph, softmax)
    assert accesses(found) == {"LDG.E.128": each, "STG.E.128": each}
    assert barriers(found) == 0 and found["SHFL.BFLY"] == 10


def test_several_warps_for_each_row(graph):
    """One barrier for each reduction."""
    case = graph.case("norm", "warps", steps=1)
    case.output(case.node("LayerNormalization", case.input(zeros(1000, 4096)), case.input(zeros(4096)),
                          case.input(zeros(4096))))
    assert not graph.compile().misplaced()
    found = instructions(graph, case)
    reads = accesses(found)
    assert set(reads) == {"LDG.E.128", "STG.E.128"} and reads["LDG.E.128"] == 3 * reads["STG.E.128"]
    assert barriers(found) == 2


@pytest.mark.parametrize("kind", [TensorProto.FLOAT16, TensorProto.BFLOAT16])
def test_narrow_rows(graph, kind):
    """Residual and norm; scale and bias come as vectors too."""
    case = graph.case("norm", "warps")
    x, y, scale, bias = (case.node("Cast", case.input(zeros(*shape)), to=kind)
                         for shape in ((4096, 1024), (4096, 1024), (1024,), (1024,)))
    total = case.node("Add", x, y)
    for result in (case.node("LayerNormalization", total, scale, bias), total):
        case.output(case.node("Cast", result, to=TensorProto.FLOAT))
    assert not graph.compile().misplaced()
    found = instructions(graph, case)
    assert set(accesses(found)) == {"LDG.E.128", "STG.E.128"} and barriers(found) == 0


def test_rows_of_odd_length(graph):
    """What cannot be vectors is at least neighbours, and the row is read once."""
    case = graph.case("odd", "warps", steps=1)
    case.output(case.node("Softmax", case.input(zeros(8192, 333)), axis=-1))
    assert not graph.compile().misplaced()
    found = instructions(graph, case)
    assert accesses(found) == {"LDG.E": 11, "STG.E": 11} and barriers(found) == 0


def test_chains(graph):
    """Rows stay in registers."""
    case = graph.case("chain", "warps", steps=1)
    value = case.input(zeros(1000, 1000))
    for _ in range(100):
        value = case.node("Softmax", value, axis=-1)
    case.output(value)
    assert not graph.compile().misplaced()
    found = instructions(graph, case)
    assert accesses(found) == {"LDG.E.128": 8, "STG.E.128": 8} and barriers(found) == 0


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_a_row_by_a_matrix(graph, dtype):
    """Eight vectors of the matrix are on their way at a time; sums of other blocks come by words."""
    case = graph.case("product", "sums", steps=1)
    case.output(case.node("MatMul", case.input(zeros(1, 4096, dtype=dtype)), case.input(zeros(4096, 4096, dtype=dtype))))
    case = graph.case("columns", "sums", steps=1)
    case.output(case.node("ReduceSum", case.input(zeros(16384, 1024, dtype=dtype)), np.array([0])))
    assert not graph.compile().misplaced()
    for case, each in zip(graph.cases, (8, 0)):
        found = accesses(instructions(graph, case))
        assert found["LDG.E.128"] == 8 and found.get("LDG.E.U16", each) == each, found


def test_long_rows(graph):
    """A row of odd length is read by vectors that are aligned in memory, and by edges."""
    for dtype in (np.float16, np.float32):
        case = graph.case(f"softmax{np.dtype(dtype).itemsize}", "rows", steps=1)
        case.output(case.node("Softmax", case.input(zeros(1024, 50257, dtype=dtype)), axis=-1))
    assert not graph.compile().misplaced()
    for case in graph.cases:
        found = instructions(graph, case)
        reads = accesses(found)
        assert "LDGSTS.E.BYPASS.128" in found or reads.get("LDG.E.128"), found
        assert sum(n for name, n in reads.items() if not name.endswith("128")) <= 4, reads


@pytest.mark.parametrize("dtype, wanted", [(np.float16, {"LDG.E.128": 2, "STG.E.128": 2}),
                                           (np.uint8, {"LDG.E.128": 4, "STG.E.64": 8}),
                                           (np.float32, {"LDG.E.128": 4, "STG.E.128": 4})])
def test_narrow_transposes(graph, dtype, wanted):
    case = graph.case("turn", "transpose", steps=1)
    case.output(case.node("Transpose", case.input(zeros(2048, 1024, dtype=dtype)), perm=[1, 0]))
    assert not graph.compile().misplaced()
    found = instructions(graph, case)
    assert accesses(found) == wanted and barriers(found) == 2
    # Tiles are read and written by words.
    assert not any(name.startswith(("LDS.U", "LDS.S", "STS.U")) for name in found), found


def test_broadcasts(graph):
    case = graph.case("bias", "elementwise", steps=1)
    x = case.node("Mul", case.input(zeros(4096, 1024)), case.input(zeros(4096, 1)))
    case.output(case.node("Add", x, case.input(zeros(1024))))
    assert not graph.compile().misplaced()
    assert accesses(instructions(graph, case)) == {"LDG.E.128": 2, "LDG.E": 1, "STG.E.128": 1}
