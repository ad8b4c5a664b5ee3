"""Kernels of every skeleton on the emulator against NumPy: contractions."""

import re

import numpy as np
import pytest
from onnx import TensorProto

from emulated import Graph

RNG = np.random.default_rng(1)
TOLERANCES = {"f32": 1e-5, "tf32": 2e-3, "f16": 1e-2, "bf16": 1e-2, "f64": 1e-12}


@pytest.fixture(autouse=True)
def numbers():
    """Those of a test do not depend on which tests ran before it."""
    global RNG
    RNG = np.random.default_rng(1)


def normal(*shape, dtype=np.float32):
    return RNG.standard_normal(shape).astype(dtype)


class Contractions:
    """Makes cases of one type: inputs are cast to it, results to float32."""

    def __init__(self, graph, kind, skeleton):
        self.graph, self.kind, self.skeleton = graph, kind, skeleton

    def case(self, name, steps=None):
        return self.graph.case(name, self.skeleton, TOLERANCES[self.kind], steps)

    def value(self, case, array, dims=None, others=()):
        dtype = {"f64": np.float64, "f16": np.float16}.get(self.kind, np.float32)
        given = case.input(array.astype(dtype), dims, [other.astype(dtype) for other in others])
        return case.node("Cast", given, to=TensorProto.BFLOAT16) if self.kind == "bf16" else given

    def number(self, case, value):
        """A constant of this type."""
        wide = np.asarray(value, {"f64": np.float64, "f16": np.float16}.get(self.kind, np.float32))
        return case.node("Cast", wide, to=TensorProto.BFLOAT16) if self.kind == "bf16" else wide

    def result(self, case, name):
        wide = self.kind in ("f32", "tf32", "f64")
        case.output(name if wide else case.node("Cast", name, to=TensorProto.FLOAT))

    def matmul(self, name, a, b):
        case = self.case(name)
        self.result(case, case.node("MatMul", self.value(case, normal(*a)), self.value(case, normal(*b))))

    def gemm(self, name, m, k, n, **attributes):
        case = self.case(name)
        a = normal(*((k, m) if attributes.get("transA") else (m, k)))
        b = normal(*((n, k) if attributes.get("transB") else (k, n)))
        self.result(case, case.node("Gemm", self.value(case, a), self.value(case, b), **attributes))

    def conv(self, name, x, w, op="Conv", bias=False, **attributes):
        case = self.case(name)
        operands = [self.value(case, normal(*x)), self.value(case, normal(*w))]
        if bias:
            operands.append(self.value(case, normal(w[1] if op == "ConvTranspose" else w[0])))
        self.result(case, case.node(op, *operands, **attributes))


def products(make):
    for i, (m, k, n) in enumerate([(5, 8, 5), (17, 33, 65), (33, 65, 17), (65, 130, 33), (130, 17, 130)]):
        make.matmul(f"matmul{i}", (m, k), (k, n))
    make.matmul("even", (64, 64), (64, 64))
    make.matmul("batched", (3, 17, 33), (3, 33, 17))
    make.matmul("shared_right", (3, 2, 17, 16), (16, 33))
    make.matmul("shared_left", (17, 32), (3, 32, 17))
    make.matmul("crossed", (3, 1, 17, 16), (1, 2, 16, 9))
    for a in (0, 1):
        for b in (0, 1):
            make.gemm(f"gemm{a}{b}", 33, 40, 65, transA=a, transB=b)
    # Neighbours along rows and columns, by two and by eight.
    make.gemm("across", 72, 70, 136, transA=1)
    make.gemm("across_words", 34, 35, 70, transA=1)
    make.matmul("across_batch", (2, 33, 133), (2, 133, 40))
    make.gemm("by_words", 17, 34, 9, transB=1)
    make.gemm("by_elements", 17, 35, 9, transB=1)


def convolutions(make):
    make.conv("plain", (2, 8, 9, 11), (17, 8, 3, 3), pads=[1, 1, 1, 1])
    make.conv("point", (2, 33, 7, 5), (17, 33, 1, 1))
    make.conv("strided", (1, 5, 17, 13), (9, 5, 3, 3), strides=[2, 3], pads=[1, 0, 2, 1])
    make.conv("dilated", (1, 8, 17, 13), (9, 8, 3, 2), dilations=[2, 3])
    make.conv("groups", (2, 12, 9, 9), (18, 4, 3, 3), group=3, pads=[1, 1, 1, 1], bias=True)
    make.conv("line", (3, 8, 33), (17, 8, 5), pads=[2, 2], bias=True)
    make.conv("volume", (1, 4, 5, 6, 7), (8, 4, 2, 3, 2))
    make.conv("transposed", (1, 8, 7, 5), (8, 9, 3, 3), op="ConvTranspose", strides=[2, 2], pads=[1, 1, 1, 1])
    make.conv("transposed_groups", (1, 8, 7, 5), (8, 5, 2, 2), op="ConvTranspose", group=2)
    # With strides: products count where the division of an index has no remainder.
    make.conv("transposed_uneven", (2, 8, 7, 5), (8, 17, 3, 4), op="ConvTranspose", strides=[2, 3], pads=[1, 0, 2, 1],
              output_padding=[1, 2], bias=True)
    make.conv("transposed_dilated", (1, 9, 7, 5), (9, 8, 3, 3), op="ConvTranspose", strides=[3, 1], dilations=[2, 2])
    make.conv("transposed_apart", (1, 8, 9, 7), (8, 16, 1, 1), op="ConvTranspose", strides=[2, 2])
    make.conv("transposed_in_turn", (1, 33, 4, 6), (33, 8, 2, 2), op="ConvTranspose", strides=[2, 2])
    make.conv("transposed_both", (1, 8, 7, 5), (8, 16, 2, 2), op="ConvTranspose", group=2, strides=[2, 2])
    make.conv("transposed_line", (2, 8, 33), (8, 9, 4), op="ConvTranspose", strides=[2], pads=[1, 1])
    if make.kind == "bf16":
        return
    # What lies outside is no zero.
    case = make.case("bordered")
    border = case.node("Pad", make.value(case, normal(1, 8, 9, 9)), np.array([0, 0, 1, 1, 0, 0, 1, 1]),
                       make.number(case, 2))
    make.result(case, case.node("Conv", border, make.value(case, normal(9, 8, 3, 3))))


def epilogues(make):
    def one(name, finish):
        # Whatever it ends with, it is one kernel; bfloat16's casts of inputs are others.
        case = make.case(name, steps=None if make.kind == "bf16" else 1)
        product = case.node("MatMul", make.value(case, normal(33, 40)), make.value(case, normal(40, 65)))
        make.result(case, finish(case, product))

    def gelu(case, x):
        erf = case.node("Erf", case.node("Mul", x, make.number(case, 0.5 ** 0.5)))
        half = case.node("Mul", case.node("Add", erf, make.number(case, 1)), make.number(case, 0.5))
        return case.node("Mul", x, half)
    one("bias", lambda c, x: c.node("Add", x, make.value(c, normal(65))))
    one("row_bias", lambda c, x: c.node("Add", x, make.value(c, normal(33, 1))))
    one("relu", lambda c, x: c.node("Relu", c.node("Add", x, make.value(c, normal(65)))))
    one("gelu", gelu)
    one("residual", lambda c, x: c.node("Add", make.value(c, normal(33, 65)), x))
    one("scaled", lambda c, x: c.node("Mul", x, make.number(c, 0.125)))
    if make.kind in ("f32", "tf32"):
        one("narrowed", lambda c, x: c.node("Cast", c.node("Cast", x, to=TensorProto.FLOAT16), to=TensorProto.FLOAT))
        make.graph.cases[-1].tolerance = 1e-3


def open_sizes(make):
    """A batch of unknown size is taken for large, and so gets large tiles."""
    for m, n in [(100, 130), (65, 130), (65, 65), (33, 70)]:
        case = make.case(f"batch{m}x{n}")
        a, b = (make.value(case, normal(2, *dims), ["B", *dims], [normal(size, *dims) for size in (3, 1)])
                for dims in ([m, 24], [24, n]))
        make.result(case, case.node("MatMul", a, b))
    case = make.case("batch_across")
    a, b = (make.value(case, normal(2, *dims), ["B", *dims], [normal(size, *dims) for size in (3, 1)])
            for dims in ([100, 72], [72, 136]))
    make.result(case, case.node("MatMul", a, b))
    case = make.case("all_open")
    a = make.value(case, normal(17, 33), ["M", "K"], [normal(70, 16), normal(0, 5), normal(3, 0)])
    b = make.value(case, normal(33, 9), ["K", "N"], [normal(16, 65), normal(5, 3), normal(0, 3)])
    make.result(case, case.node("MatMul", a, b))
    case = make.case("open_pixels")
    x = make.value(case, normal(1, 8, 9, 7), ["P", 8, "H", "W"], [normal(3, 8, 4, 17)])
    make.result(case, case.node("Conv", x, make.value(case, normal(9, 8, 3, 3)), pads=[1, 1, 1, 1]))


def special_numbers(make):
    a, b = normal(33, 40), normal(40, 65)
    a[3, 5], a[20, 39], a[32, 0], b[7, 64], b[0, 11] = np.nan, np.inf, -np.inf, np.nan, np.inf
    case = make.case("matmul")
    make.result(case, case.node("Relu", case.node("MatMul", make.value(case, a), make.value(case, b))))


WHATS = [products, convolutions, epilogues, open_sizes, special_numbers]


@pytest.mark.parametrize("what", WHATS)
@pytest.mark.parametrize("kind", ["tf32", "f16", "bf16"])
def test_tensor(tools, tmp_path, kind, what):
    graph = Graph(tools, tmp_path)
    what(Contractions(graph, kind, "tensor"))
    graph.check()
    if what is products:
        # Every way to load each factor, along K and across it.
        expected = {("Vectors", "true"), ("Words", "true"), ("VectorsAcross", "false"), ("WordsAcross", "false")}
        if kind != "tf32":
            expected |= {("Elements", "true"), ("ElementsAcross", "false")}
        calls = [[text.removeprefix("CopyMode::") for text in call] for call in graph.calls()]
        assert {(call[6], call[7]) for call in calls} == expected
        assert {(call[8], call[9]) for call in calls} == expected
    if what is open_sizes:
        assert {tuple(call[:2]) for call in graph.calls()} == {
            ("128", "128"), ("64", "128"), ("64", "64"), ("32", "64")}


@pytest.mark.parametrize("what", WHATS)
@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_tiles(tools, tmp_path, kind, what):
    graph = Graph(tools, tmp_path, "--precision=ieee")
    what(Contractions(graph, kind, "tiles"))
    graph.check()
    if what is open_sizes:
        # Indices of open sizes are long: no tiles of 128.
        assert {call[1] for call in graph.calls()} == {"64", "32"}


def test_tiles_of_large_warps(tools, tmp_path):
    """Where a block has much shared memory: whole tiles and ragged ones, with what follows. Of other types, and where B
    lies along K, warpgroups compute them."""
    graph = Graph(tools, tmp_path, target="cuda:sm_90a")
    make = Contractions(graph, "tf32", "tensor")
    for m, n in [(128, 256), (104, 208), (128, 136)]:
        case = make.case(f"tile{m}x{n}")
        a, b = (make.value(case, normal(1, *dims), ["B", *dims], [normal(2, *dims)]) for dims in ([m, 72], [72, n]))
        total = case.node("Add", case.node("MatMul", a, b), make.value(case, normal(n)))
        make.result(case, case.node("Relu", case.node("Add", total, make.value(case, normal(m, n)))))
    graph.check()
    assert {tuple(call[:4]) for call in graph.calls()} == {("128", "256", "2", "4"), ("128", "128", "2", "2")}


def widths_of(graph):
    """{case: how many columns are finished together}"""
    return {case.name: int(re.search(r"constexpr int width = (\d+)", graph.sources[graph.kernels[case.name][0]])[1])
            for case in graph.cases}


@pytest.mark.parametrize("kind", ["tf32", "f16"])
def test_results_in_runs(tools, tmp_path, kind):
    """Operands of columns, of rows and of both, results of two types, whole and ragged tiles."""
    graph = Graph(tools, tmp_path)
    make = Contractions(graph, kind, "tensor")
    for n in (64, 72, 68, 66, 65):
        case = make.case(f"columns{n}")
        product = case.node("MatMul", make.value(case, normal(40, 24)), make.value(case, normal(24, n)))
        total = case.node("Mul", case.node("Add", product, make.value(case, normal(n))), make.value(case, normal(40, 1)))
        total = case.node("Add", total, make.value(case, normal(40, n)))
        case.output(case.node("Add", total, case.node("Transpose", make.value(case, normal(n, 40)), perm=[1, 0])))
    # A row is two loops, and an operand is the same in all rows.
    case = make.case("rows_of_pictures")
    product = case.node("MatMul", make.value(case, normal(3, 16, 8)), make.value(case, normal(8, 16)))
    total = case.node("Mul", product, make.value(case, normal(16, 1)))
    case.output(case.node("Add", total, make.value(case, normal(16))))
    case = make.case("two")
    product = case.node("MatMul", make.value(case, normal(33, 40)), make.value(case, normal(40, 136)))
    case.output(case.node("Cast", case.node("Relu", product), to=TensorProto.FLOAT))
    case.output(case.node("Cast", case.node("Neg", product), to=TensorProto.FLOAT16))
    # Results are cast to float32.
    make.conv("pixels", (2, 16, 4, 6), (33, 16, 1, 1), bias=True)
    make.conv("odd_pixels", (3, 16, 7, 7), (33, 16, 1, 1), bias=True)
    graph.check()
    found, wide = widths_of(graph), 8 if kind == "f16" else 4
    assert [found[f"columns{n}"] for n in (64, 72, 68, 66, 65)] == [wide, wide, 4, 2, 1]
    assert (found["pixels"], found["odd_pixels"]) == (4, 1)


def test_roundings_of_16_bits(tools, tmp_path):
    """Between a sum and where it is stored there are none, unless each bit is to be kept."""
    for flags, want in ((), 1), (["--fp=strict"], 0):
        graph = Graph(tools, tmp_path, *flags)
        case = graph.case("far", "tensor", 0)
        product = case.node("MatMul", case.input(np.full((9, 8), 0.125, np.float16)), case.input(np.ones((8, 9), np.float16)))
        far = case.input(np.full(9, 4096, np.float16))
        # As float16, 1 + 4096 is 4096.
        case.output(case.node("Sub", case.node("Add", product, far), far), np.full((9, 9), want, np.float16))
        graph.check()


def test_large_tiles(tools, tmp_path):
    graph = Graph(tools, tmp_path, "--precision=ieee")
    Contractions(graph, "f32", "tiles").matmul("batch", (110, 65, 9), (110, 9, 65))
    graph.check()
    assert {call[1] for call in graph.calls()} == {"128"}


def test_integers(tools, tmp_path):
    graph = Graph(tools, tmp_path)
    for name, left, right in [("unsigned", np.uint8, np.int8), ("signed", np.int8, np.int8)]:
        case = graph.case(f"quantized_{name}", "tiles", 0)
        a, b = (case.input(RNG.integers(-100 if t is np.int8 else 0, 100, shape).astype(t))
                for t, shape in ((left, (3, 17, 33)), (right, (33, 65))))
        case.output(case.node("MatMulInteger", a, b, np.asarray(7, left), np.asarray(-3, right)))
    for dtype in (np.int32, np.int64):
        case = graph.case(f"product_{np.dtype(dtype).name}", "tiles", 0)
        a, b = (RNG.integers(-2**20, 2**20, shape).astype(dtype) for shape in ((17, 33), (33, 65)))
        case.output(case.node("MatMul", case.input(a), case.input(b)), a @ b)
    graph.check()


def test_short_depths(tools, tmp_path):
    """Words of a few elements in k would be mostly zeros: threads do without tiles."""
    graph = Graph(tools, tmp_path)
    make = Contractions(graph, "f32", "elementwise")
    for k in (1, 3, 7):
        make.matmul(f"depth{k}", (17, k), (k, 33))
    graph.check()
