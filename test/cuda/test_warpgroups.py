"""Contractions by warpgroups of sm_90a (kernels/wgmma.cuh) on the emulator against NumPy."""

import os
import re

import numpy as np
import pytest
from onnx import TensorProto

from emulated import Graph

TOLERANCES = {"f16": 1e-2, "bf16": 1e-2, "tf32": 2e-3, "int8": 0}
# Tiles of rows x columns by warpgroups that multiply.
TILES = {(128, 256, 2), (128, 192, 2), (128, 128, 2), (128, 64, 2), (64, 128, 1), (64, 64, 1)}


class Products:
    """Makes cases of one type in a graph: factors of it, results of float32 (int32 of bytes)."""

    def __init__(self, tools, folder, kind, *flags):
        self.graph, self.kind = Graph(tools, folder, *flags, target="cuda:sm_90a"), kind
        self.rng = np.random.default_rng(1)

    def case(self, name, steps=None):
        return self.graph.case(name, "wgmma", TOLERANCES[self.kind], steps)

    def numbers(self, *dims):
        if self.kind == "int8":
            return self.rng.integers(-128, 128, dims).astype(np.int8)
        return self.rng.standard_normal(dims).astype(np.float16 if self.kind == "f16" else np.float32)

    def value(self, case, array, dims=None, others=()):
        given = case.input(array, dims, others)
        return case.node("Cast", given, to=TensorProto.BFLOAT16) if self.kind == "bf16" else given

    def factor(self, case, dims, turned, sizes=({},)):
        """A factor of `dims`; if `turned`, the input has the last two exchanged. Dims that are text are open: runs
        have the `sizes`."""
        stored = [*dims[:-2], dims[-1], dims[-2]] if turned else list(dims)
        arrays = [self.numbers(*(size.get(d, d) for d in stored)) for size in sizes]
        given = self.value(case, arrays[0], stored, arrays[1:])
        order = [*range(len(dims) - 2), len(dims) - 1, len(dims) - 2]
        return case.node("Transpose", given, perm=order) if turned else given

    def multiply(self, case, a, b):
        return case.node("MatMulInteger" if self.kind == "int8" else "MatMul", a, b)

    def result(self, case, name):
        case.output(case.node("Cast", name, to=TensorProto.FLOAT) if self.kind in ("f16", "bf16") else name)

    def product(self, name, a, b, turned=(False, False), sizes=({},)):
        """`a` and `b` are the dims of factors that MatMul takes."""
        case = self.case(name)
        self.result(case, self.multiply(case, self.factor(case, a, turned[0], sizes), self.factor(case, b, turned[1], sizes)))

    def calls(self):
        """{case: (tile, how A comes, how B comes)}"""
        found = {}
        for case in self.graph.cases:
            for kernel in self.graph.kernels[case.name]:
                text = self.graph.sources.get(kernel, "")
                if call := re.search(r"^ +Warpgroups<(\d+), (\d+), (\d+),", text, re.MULTILINE):
                    sources = re.findall(r"typedef (\w+)<\d+, (?:CopyMode::)?(\w+), [^;]*> Tile[AB];", text)
                    found[case.name] = (tuple(map(int, call.groups())), *sources)
        return found


# A, B: turned or not. Other types than those of 16 bits lie along K.
WAYS = {"f16": [(False, False), (False, True), (True, False), (True, True)], "bf16": [(False, False), (True, True)],
        "tf32": [(False, True)], "int8": [(False, True)]}
WORD = {"f16": 2, "bf16": 2, "tf32": 4, "int8": 1}


@pytest.mark.parametrize("kind", WAYS)
def test_tiles(tools, tmp_path, kind):
    """Every tile, whole and ragged, with factors along K and across it; an open batch counts as large."""
    make = Products(tools, tmp_path, kind)
    long = 16 * 128 // WORD[kind]
    for m, n, k in [(128, 256, long), (104, 184, long + 8), (128, 128, 64), (160, 136, 200), (120, 40, 136), (40, 120, 136),
                    (40, 56, 144)]:
        k = max(k + -k % (16 // WORD[kind]), 128 // WORD[kind])
        for turned in WAYS[kind] if k < long else WAYS[kind][:2]:
            rows = m + (-m % 8 if turned[0] else 0)
            make.product(f"t{m}x{n}x{k}_{turned[0]:d}{turned[1]:d}", ("B", rows, k), ("B", k, n), turned, [{"B": 1}, {"B": 2}])
    make.graph.check()
    calls = make.calls()
    assert {call[0] for call in calls.values()} == TILES
    across = {(call[1][1], call[2][1]) for call in calls.values()}
    assert across == {(str(a).lower(), str(not b).lower()) for a, b in WAYS[kind]}
    assert {call[i][0] for call in calls.values() for i in (1, 2)} == {"MappedTile"}


@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_gathered(tools, tmp_path, kind):
    """What no map describes: K or rows of several loops. Threads copy it; the other factor may have a map."""
    make = Products(tools, tmp_path, kind)
    # A convolution over pictures whose channels come last.
    case = make.case("convolution")
    picture = case.node("Transpose", make.value(case, make.numbers(2, 9, 10, 72)), perm=[0, 3, 1, 2])
    weights = case.node("Transpose", make.value(case, make.numbers(72, 3, 3, 72)), perm=[0, 3, 1, 2])
    make.result(case, case.node("Transpose", case.node("Conv", picture, weights), perm=[0, 2, 3, 1]))
    # Rows are two loops, with a gap between them.
    case = make.case("rows")
    gap = case.node("Slice", make.value(case, make.numbers(5, 20, 144)), np.array([0]), np.array([17]), np.array([1]))
    make.result(case, make.multiply(case, gap, make.factor(case, (144, 72), False)))
    make.graph.check()
    calls = make.calls()
    assert {call[i][0] for call in calls.values() for i in (1, 2)} == {"GatheredTile", "MappedTile"}


@pytest.mark.parametrize("kind", ["f16", "tf32"])
def test_pixels(tools, tmp_path, kind):
    """Convolutions in n h w c by maps of pixels: strides, dilations, borders, and several images in a tile."""
    make = Products(tools, tmp_path, kind)
    for name, x, w, attributes in [
            ("border", (3, 64, 14, 13), (64, 64, 3, 3), {"pads": [1, 1, 1, 1]}),
            ("strided", (4, 64, 15, 22), (72, 64, 3, 3), {"pads": [1, 0, 2, 1], "strides": [2, 3]}),
            ("dilated", (2, 128, 16, 17), (64, 128, 3, 2), {"pads": [2, 3, 2, 3], "dilations": [2, 3]}),
            ("row", (3, 64, 12, 16), (64, 64, 1, 7), {"pads": [0, 3, 0, 3]}),
            ("small", (40, 64, 5, 5), (64, 64, 5, 5), {"pads": [2, 2, 2, 2]}),
            ("whole", (48, 64, 6, 6), (136, 64, 3, 3), {"pads": [1, 1, 1, 1]})]:
        case = make.case(name)
        dtype = np.float16 if kind == "f16" else np.float32

        def weights(*dims):
            return (make.numbers(*dims) / np.prod(dims[1:]) ** 0.5).astype(dtype)
        # From pictures of 3 channels to means: nothing is transposed.
        stem = case.node("Conv", case.input(make.numbers(x[0], 3, *x[2:])), weights(x[1], 3, 1, 1))
        done = case.node("Relu", case.node("Conv", stem, weights(*w), weights(w[0]), **attributes))
        sizes = [(x[2 + i] + attributes["pads"][i] + attributes["pads"][2 + i] - attributes.get("dilations", [1, 1])[i]
                  * (w[2 + i] - 1) - 1) // attributes.get("strides", [1, 1])[i] + 1 for i in (0, 1)]
        # Each pixel counts otherwise.
        case.output(case.node("GlobalAveragePool", case.node("Mul", done, make.numbers(1, 1, *sizes).astype(dtype))))
    make.graph.check()
    assert {call[1][0] for call in make.calls().values()} == {"MappedTile"}
    texts = [make.graph.sources[k] for kernels in make.graph.kernels.values() for k in kernels if k]
    assert sum("copyPixels(" in text for text in texts) >= 6


def test_constant_factors_of_float32(tools, tmp_path):
    """They are stored along K. Others, and those that another kernel reads, stay as they are."""
    make = Products(tools, tmp_path, "tf32")
    shared = make.numbers(72, 136)
    for name, a, b in [("plain", (72, 72), make.numbers(72, 136)), ("batch", (3, 72, 64), make.numbers(3, 64, 72)),
                       ("left", (72, 72), None), ("rows", ("M", 72), make.numbers(72, 40)), ("twice", (72, 72), shared)]:
        case = make.case(name)
        given = make.factor(case, a, False, [{"M": 72}, {"M": 3}])
        constant = make.numbers(72, 72) if b is None else b
        make.result(case, case.node("MatMul", *((given, constant) if b is not None else
                                                (constant, case.node("Transpose", given, perm=[1, 0])))))
        if name == "twice":
            make.result(case, case.node("Add", shared, case.input(make.numbers(136))))
    # The epilogue reads the original.
    case = make.graph.case("both", "tensor", TOLERANCES["tf32"])
    weights = case.constant(make.numbers(72, 72))
    make.result(case, case.node("Add", case.node("MatMul", make.factor(case, (72, 72), False), weights), weights))
    make.graph.check()
    text = tools.mlc("inspect", make.graph.artifact).stdout
    assert text.count("tf32 of operand") == 10
    ieee = Products(tools, tmp_path, "tf32", "--precision=ieee")
    ieee.result(case := ieee.graph.case("plain", "tiles", 1e-5), case.node("MatMul", case.input(make.numbers(72, 72)), shared))
    ieee.graph.check()


@pytest.mark.parametrize("kind", ["f16", "tf32"])
def test_siblings(tools, tmp_path, kind):
    """Products that read one tensor are one launch: the maps, results and operands of each are its own."""
    make = Products(tools, tmp_path, kind)
    dtype = np.float16 if kind == "f16" else np.float32
    joined = {}

    def case_of(name, kernels):
        joined[name] = kernels
        return make.graph.case(name, "joined", TOLERANCES[kind])

    def project(case, x, k, n, finish="Add"):
        product = case.node("MatMul", x, make.numbers(k, n).astype(dtype))
        return case.node(finish, product, make.numbers(n).astype(dtype))
    case = case_of("attention", 1)
    x = case.input(make.numbers(72, 136).astype(dtype))
    for finish in ("Add", "Mul", "Sub"):
        case.output(project(case, x, 136, 72, finish))
    # Of other widths, and behind another kernel; a product that reads a result of theirs is none of them.
    case = case_of("widths", 3)
    x = case.node("Softmax", case.input(make.numbers(40, 264).astype(dtype)))
    first = project(case, x, 264, 264)
    case.output(case.node("Relu", project(case, x, 264, 136)))
    case.output(project(case, x, 264, 40))
    case.output(project(case, first, 264, 40))
    # Of open sizes, and with a tensor that one of them alone reads.
    case = case_of("open", 1)
    x = case.input(make.numbers(72, 144).astype(dtype), ["M", 144], [make.numbers(m, 144).astype(dtype) for m in (0, 3, 130)])
    own = [make.numbers(m, 72).astype(dtype) for m in (72, 0, 3, 130)]
    case.output(case.node("Add", project(case, x, 144, 72), case.input(own[0], ["M", 72], own[1:])))
    for _ in range(2):
        case.output(project(case, x, 144, 72))
    make.graph.check()
    assert {name: len(set(filter(None, make.graph.kernels[name]))) for name in joined} == joined


def test_many_tasks(tools, tmp_path):
    """Blocks go on with further tiles: stages are in turn, and results are stored while factors come."""
    make = Products(tools, tmp_path, "f16")
    make.product("batch", (290, 64, 72), (72, 64))
    make.product("steps", (270, 40, 264), (270, 264, 40))
    make.graph.check()
    assert {call[0] for call in make.calls().values()} == {(64, 64, 1), (128, 64, 2)}


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_parts(tools, tmp_path, seed):
    """Blocks share tiles along K."""
    make = Products(tools, tmp_path, "f16")
    make.product("long", (70, 2056), (2056, 72))
    case = make.case("wide", steps=1)
    total = case.node("Add", make.multiply(case, make.factor(case, (128, 1544), False), make.factor(case, (1544, 136), True)),
                      make.value(case, make.numbers(136)))
    make.result(case, case.node("Gelu", total))
    make.product("batched", (5, 40, 1032), (5, 1032, 40), (True, False))
    make.graph.compile()
    assert not make.graph.misplaced()
    assert all(re.search(r"Index parts\(\) const {\n    return ([2-9]|\d\d);", text) for text in make.graph.sources.values()
               if "Warpgroups<" in text)
    assert not make.graph.wrong(seed)


@pytest.mark.parametrize("kind", ["f16", "bf16", "tf32"])
def test_epilogues(tools, tmp_path, kind):
    make = Products(tools, tmp_path, kind)
    for n in (72, 68, 66, 65):
        # Rows of B end at no multiple of 16 bytes: B lies along K.
        case = make.case(f"columns{n}")
        product = make.multiply(case, make.factor(case, (72, 136), False), make.factor(case, (136, n), True))
        total = case.node("Mul", case.node("Add", product, make.value(case, make.numbers(n))),
                          make.value(case, make.numbers(72, 1)))
        total = case.node("Relu", case.node("Add", total, make.value(case, make.numbers(72, n))))
        make.result(case, case.node("Add", total, case.node("Transpose", make.value(case, make.numbers(n, 72)), perm=[1, 0])))
    case = make.case("two")
    product = make.multiply(case, make.factor(case, (72, 64), False), make.factor(case, (64, 136), True))
    case.output(case.node("Cast", case.node("Relu", product), to=TensorProto.FLOAT))
    case.output(case.node("Cast", case.node("Neg", product), to=TensorProto.FLOAT16))
    case = make.case("turned")
    product = make.multiply(case, make.factor(case, (72, 64), False), make.factor(case, (64, 136), True))
    make.result(case, case.node("Sigmoid", case.node("Transpose", product, perm=[1, 0])))
    make.graph.check()


@pytest.mark.parametrize("kind", WAYS)
def test_open_sizes(tools, tmp_path, kind):
    """Sizes that are zero, smaller than a tile, or of several tiles."""
    make = Products(tools, tmp_path, kind)
    make.product("rows", ("M", 144), (144, 72), (False, True), [{"M": m} for m in (72, 8, 200, 0)])
    make.product("columns", (72, 144), (144, "N"), (False, True), [{"N": n} for n in (72, 8, 200, 0)])
    make.graph.check()


def test_no_terms(tools, tmp_path):
    """A sum of nothing is zero; K is known at a launch only."""
    make = Products(tools, tmp_path, "f16")
    case = make.case("none")
    a, b = (case.node("Flatten", case.input(make.numbers(72, 9, 8), [72, "K", 8], [make.numbers(72, k, 8) for k in (0, 1)]))
            for _ in range(2))
    make.result(case, case.node("Add", case.node("MatMul", a, case.node("Transpose", b, perm=[1, 0])),
                                make.value(case, make.numbers(72))))
    make.graph.check()


@pytest.mark.parametrize("kind", ["f16", "bf16", "tf32"])
def test_special_numbers(tools, tmp_path, kind):
    make = Products(tools, tmp_path, kind)
    a, b = make.numbers(72, 72), make.numbers(72, 72)
    a[3, 5], a[20, 39], a[70, 0], b[7, 64], b[0, 11], b[71, 1] = np.nan, np.inf, -np.inf, np.nan, np.inf, -np.inf
    case = make.case("matmul")
    turned = case.node("Transpose", make.value(case, b), perm=[1, 0])
    make.result(case, case.node("Relu", make.multiply(case, make.value(case, a), turned)))
    make.graph.check()


def test_roundings(tools, tmp_path):
    """Between a sum and where it is stored there are none, unless each bit is to be kept."""
    for flags, want in ((), 1), (["--fp=strict"], 0):
        make = Products(tools, tmp_path, "f16", *flags)
        case = make.graph.case("far", "wgmma", 0)
        product = case.node("MatMul", case.input(np.full((40, 64), 1 / 64, np.float16)),
                            case.input(np.ones((64, 40), np.float16)))
        far = case.input(np.full(40, 4096, np.float16))
        # As float16, 1 + 4096 is 4096.
        case.output(case.node("Sub", case.node("Add", product, far), far), np.full((40, 40), want, np.float16))
        make.graph.check()


@pytest.mark.parametrize("kind", ["f16", "bf16", "tf32"])
def test_short_sums(tools, tmp_path, kind):
    """A step of K that is mostly outside the tensors, where their maps give zeros."""
    make = Products(tools, tmp_path, kind)
    for k in (16, 24, 40, 56):
        make.product(f"k{k}", (200, k), (k, 72), (False, kind == "tf32"))
    make.graph.check()


def test_few_columns(tools, tmp_path):
    """Of many rows, so that reading them is what takes long."""
    make = Products(tools, tmp_path, "f16")
    make.product("narrow", (8449, 32), (32, 16))
    make.product("wide", (24, 32), (32, 8456))
    make.graph.check()


def test_few_blocks_share_a_tile(tools, tmp_path):
    """So many that what each adds to the last one's work is not more than it takes from all."""
    make = Products(tools, tmp_path, "f16")
    for name, k in ("short", 1024), ("long", 8192):
        make.product(name, (64, k), (k, 64))
    make.graph.check()
    shown = tools.mlc("inspect", make.graph.artifact).stdout
    tasks = [int(re.search(rf"kernel {kernel}, tasks (\d+),", shown)[1])
             for name in ("short", "long") for kernel in make.graph.kernels[name]]
    assert 1 < tasks[0] < tasks[1] <= 16, tasks


def test_what_an_epilogue_reads_is_asked_for(tools, tmp_path):
    """Operands of rows by lines of 128 bytes; operands of columns are near anyway."""
    make = Products(tools, tmp_path, "f16")
    for name, dims, lines in ("residual", (300, 200), 64), ("bias", (200,), 0):
        case = make.case(name)
        product = make.multiply(case, make.factor(case, (300, 72), False), make.factor(case, (72, 200), False))
        make.result(case, case.node("Add", product, make.value(case, make.numbers(*dims))))
        case.lines = lines
    make.graph.check()
    for case in make.graph.cases:
        text = "".join(make.graph.sources[kernel] for kernel in make.graph.kernels[case.name])
        assert f"columnsOfLine = {case.lines};" in text
        assert ("prefetchLine(in" in text) == (case.lines > 0)


def test_windows_are_copied_through_the_cache(tools, tmp_path):
    """Those of neighbouring pixels overlap; rows of a matrix and filters do not."""
    make = Products(tools, tmp_path, "f16")
    make.product("matrix", (72, 72), (72, 72))
    case = make.case("pixels")
    x = case.node("Transpose", case.input(make.numbers(2, 9, 9, 64)), perm=[0, 3, 1, 2])
    y = case.node("Conv", x, case.node("Transpose", case.input(make.numbers(72, 3, 3, 64)), perm=[0, 3, 1, 2]))
    make.result(case, case.node("Transpose", y, perm=[0, 2, 3, 1]))
    make.graph.check()
    for name, want in ("matrix", ["false", "false"]), ("pixels", ["false", "true"]):
        text = "".join(make.graph.sources[kernel] for kernel in make.graph.kernels[name])
        assert sorted(re.findall(r"readsAgain[AB] = (\w+)", text)) == want, name


def test_launches_overlap(tools, tmp_path, monkeypatch):
    """Each waits for the one in front before it touches memory."""
    monkeypatch.setenv("MLC_EMULATOR_OVERLAP", "1")
    make = Products(tools, tmp_path, "f16")
    case = make.case("chain", steps=None)
    x = make.value(case, make.numbers(72, 64))
    for _ in range(3):
        x = case.node("Softmax", make.multiply(case, x, make.factor(case, (64, 64), False)))
    make.result(case, x)
    make.graph.check()
    assert all("waitForPriorLaunch();\n  launchNext();" in source for source in make.graph.sources.values())


def test_who_else(tools, tmp_path):
    """Small or odd products, and other architectures, take other skeletons."""
    make = Products(tools, tmp_path, "f16")
    for name, a, b in [("few_rows", (32, 72), (72, 72)), ("short", (72, 8), (8, 72)), ("odd", (72, 65), (65, 72))]:
        make.product(name, a, b)
        make.graph.cases[-1].skeleton = "tensor"
    make.graph.check()
    other = Products(tools, tmp_path, "f16")
    other.graph.target = "cuda:sm_90"
    other.product("other", (72, 72), (72, 72))
    other.graph.cases[-1].skeleton = "tensor"
    other.graph.check()


@pytest.mark.parametrize("arch", ["sm_80", "sm_100"])
def test_other_gpus_are_refused(tools, tmp_path, arch):
    make = Products(tools, tmp_path, "f16")
    make.product("product", (72, 72), (72, 72))
    make.graph.compile()
    np.savez(tmp_path / "in.npz", **make.graph.cases[0].values())
    done = tools.mlc("run", make.graph.artifact, "--device", "emulator", "--input", tmp_path / "in.npz", "--output-npz",
                     tmp_path / "out.npz", env={**os.environ, "MLC_EMULATOR_ARCH": arch})
    assert done.returncode == 8 and f"compile the model again for target cuda:{arch}" in done.stderr, done.stderr
