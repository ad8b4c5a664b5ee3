"""Depthwise convolutions, convolutions of few channels a group and pooling, which share what their windows read: on the
emulator against NumPy, in both layouts, with what comes before and follows in the same kernel."""

import json
import re

import numpy as np
import onnx
import pytest
import sass
from onnx import helper, numpy_helper

from emulated import Graph, model_of, skeleton_of, sources_of

RNG = np.random.default_rng(1)


@pytest.fixture(autouse=True)
def numbers():
    """Those of a test do not depend on which tests ran before it."""
    global RNG
    RNG = np.random.default_rng(1)


def normal(*shape, dtype=np.float32):
    return RNG.standard_normal(shape).astype(dtype)


def pooled(x, kernel, how, strides=None, pads=None, dilations=None):
    """Windows of the last dims of `x`, reduced by `how` over (..., *kernel); outside is -inf, or the lowest integer."""
    n = len(kernel)
    strides, pads, dilations = strides or [1] * n, pads or [0] * 2 * n, dilations or [1] * n
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    x = np.pad(x, [(0, 0)] * (x.ndim - n) + list(zip(pads[:n], pads[n:])), constant_values=lowest)
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    windows = np.lib.stride_tricks.sliding_window_view(x, spans, tuple(range(x.ndim - n, x.ndim)))
    windows = windows[(..., *(slice(None, None, s) for s in strides), *(slice(None, None, d) for d in dilations))]
    return how(windows, tuple(range(-n, 0)))


def spills(graph):
    """Kernels that use local memory."""
    shown = json.loads(graph.tools.mlc("inspect", "--json", graph.artifact).stdout)
    return [k["symbol"] for k in shown["manifest"]["kernels"] if k["stack"] or k["spill_stores"] or k["spill_loads"]]


def test_depthwise_convolutions(graph):
    for name, shape, kernel, dtype, more in [
            ("plain", (2, 5, 9, 13), (5, 1, 3, 3), np.float32, dict(pads=[1, 1, 1, 1])),
            ("strided", (1, 7, 11, 9), (7, 1, 3, 3), np.float32, dict(pads=[1, 1, 1, 1], strides=[2, 2])),
            ("wide", (1, 3, 12, 20), (3, 1, 5, 7), np.float32, dict(dilations=[2, 1])),
            ("doubled", (2, 4, 8, 8), (8, 1, 3, 3), np.float32, dict(auto_pad="SAME_UPPER")),
            ("narrow", (2, 6, 10, 10), (6, 1, 3, 3), np.float16, dict(pads=[1, 1, 1, 1])),
            ("even", (2, 16, 14, 14), (16, 1, 3, 3), np.float16, dict(pads=[1, 1, 1, 1])),
            ("line", (2, 6, 40), (6, 1, 5), np.float32, dict(pads=[2, 2])),
            ("long", (1, 3, 9001), (3, 1, 9), np.float16, dict(pads=[4, 4], strides=[2])),
            ("volume", (1, 4, 5, 6, 7), (4, 1, 3, 2, 3), np.float32, dict(pads=[1, 0, 1, 1, 1, 1], strides=[2, 1, 1])),
            ("unpadded", (1, 5, 40, 9), (5, 1, 4, 3), np.float32, dict(strides=[3, 1])),
            # A block has a band of rows; the last one is shorter, and so are the last threads' columns.
            ("bands", (1, 2, 90, 131), (2, 1, 5, 3), np.float32, dict(pads=[3, 1, 2, 2])),
            # Threads finish elements next to each other, of long rows.
            ("doubled_wide", (1, 3, 9, 40), (6, 1, 3, 3), np.float32, dict(pads=[1, 1, 1, 1])),
            ("volume_wide", (1, 2, 5, 6, 32), (2, 1, 3, 2, 3), np.float16, dict(pads=[1, 0, 1, 1, 1, 1], strides=[2, 1, 1])),
            ("strided_bands", (1, 3, 107, 200), (3, 1, 3, 3), np.float16, dict(pads=[1, 1, 1, 1], strides=[2, 2]))]:
        case = graph.case(name, "windows", 1e-5 if dtype == np.float32 else 5e-3, steps=1)
        y = case.node("Conv", case.input(normal(*shape, dtype=dtype)), case.input(normal(*kernel, dtype=dtype)), group=shape[1], **more)
        y = case.node("Mul", y, case.input(normal(kernel[0], *[1] * (len(shape) - 2), dtype=dtype)))
        case.output(case.node("Clip", y, dtype(0), dtype(6)))
    graph.check()
    assert not spills(graph)


def test_groups_of_few_channels(graph):
    """`tiles` and `tensor` would waste most of a tile."""
    for name, shape, kernel, groups, dtype, more in [
            ("four", (2, 12, 9, 7), (6, 4, 3, 3), 3, np.float32, dict(pads=[1, 1, 1, 1])),
            ("three", (1, 15, 8, 11), (10, 3, 3, 3), 5, np.float16, dict(strides=[2, 1])),
            ("two", (3, 8, 10), (12, 2, 3), 4, np.float32, dict(pads=[2, 0], dilations=[2])),
            ("points", (2, 6, 7, 5), (9, 2, 1, 1), 3, np.float32, {}),
            ("bands", (1, 4, 80, 101), (4, 2, 3, 3), 2, np.float32, dict(pads=[1, 1, 1, 1]))]:
        case = graph.case(name, "windows", 1e-5 if dtype == np.float32 else 5e-3, steps=1)
        y = case.node("Conv", case.input(normal(*shape, dtype=dtype)), normal(*kernel, dtype=dtype), normal(kernel[0], dtype=dtype),
                      group=groups, **more)
        case.output(case.node("Relu", y))
    graph.check()


def test_what_lies_around(graph):
    """Steps before the windows, a residual of the same tensor, several results, bfloat16."""
    for i, shape in enumerate([(2, 6, 9, 7), (2, 8, 12, 16)]):
        case = graph.case(f"around{i}", "windows", 1e-5)
        x = case.input(normal(*shape))
        y = case.node("Conv", case.node("Relu", x), normal(shape[1], 1, 3, 3), normal(shape[1]), group=shape[1], pads=[1, 1, 1, 1])
        y = case.node("Add", y, x)
        case.output(y)
        case.output(case.node("Sigmoid", y))
        case = graph.case(f"scaled{i}", "windows", 1e-5, steps=1)
        x = case.node("Mul", case.input(normal(*shape)), normal(shape[1], 1, 1))
        case.output(case.node("MaxPool", x, kernel_shape=[2, 3], pads=[0, 1, 1, 1]))
    x = normal(2, 8, 9, 12)
    case = graph.case("bf16", None, 3e-2)
    wide = [case.node("Cast", a if isinstance(a, str) else case.input(a), to=onnx.TensorProto.BFLOAT16)
            for a in (x, normal(8, 1, 3, 3))]
    y = case.node("Conv", *wide, group=8, pads=[1, 1, 1, 1])
    case.output(case.node("Cast", y, to=onnx.TensorProto.FLOAT))
    graph.check()
    assert "windows" in [skeleton_of(graph.sources[k]) for k in graph.kernels["bf16"]]


POOLS = [((2, 3, 13, 11), dict(kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])),
         ((2, 8, 12, 16), dict(kernel_shape=[2, 2], strides=[2, 2])),
         ((1, 3, 20, 9), dict(kernel_shape=[5, 2], dilations=[2, 3], pads=[3, 0, 4, 1])),
         ((1, 2, 101, 90), dict(kernel_shape=[3, 3], strides=[1, 2], pads=[2, 1, 0, 1])),
         ((2, 4, 50), dict(kernel_shape=[4], strides=[3], pads=[2, 3]))]


def test_pools(graph):
    """A maximum is NaN where any is, and nothing comes from pads."""
    for i, (shape, more) in enumerate(POOLS):
        for dtype in np.float32, np.float16, np.int8:
            x = normal(*shape).astype(dtype) if dtype != np.int8 else RNG.integers(-128, 128, shape).astype(dtype)
            if dtype != np.int8:
                x.flat[RNG.integers(0, x.size, 3)] = np.nan, -np.inf, np.inf
                x[0, 0, :4] = -np.inf  # all of a window
            case = graph.case(f"max{i}_{np.dtype(dtype).name}", "windows", 0, steps=1)
            attributes = {n: v for n, v in more.items() if n != "kernel_shape"}
            case.output(case.node("MaxPool", case.input(x), **more), pooled(x, more["kernel_shape"], np.max, **attributes))
        for counted in 0, 1:
            case = graph.case(f"mean{i}_{counted}", "windows", 1e-5, steps=1)
            case.output(case.node("AveragePool", case.input(normal(*shape)), count_include_pad=counted, **more))
    for op in "MaxPool", "AveragePool":
        case = graph.case(f"{op}_ceil", "windows", 1e-6, steps=1)
        case.output(case.node(op, case.input(normal(1, 5, 12, 9)), kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1))
    graph.check()


def test_open_sizes(graph):
    """Any number of images, none too; where a picture's size is open, each thread has an element."""
    def cases(name, skeleton, dims, shapes):
        first, *others = [normal(*shape) for shape in shapes]
        case = graph.case(f"{name}_conv", skeleton, 1e-5, steps=1)
        y = case.node("Conv", case.input(first, dims, others), normal(6, 1, 3, 3), normal(6), group=6, pads=[1, 1, 1, 1])
        case.output(case.node("Relu", y))
        case = graph.case(f"{name}_pool", skeleton, 1e-6, steps=1)
        case.output(case.node("MaxPool", case.input(first, dims, others), kernel_shape=[3, 3], strides=[2, 2]))
    cases("images", "windows", ["N", 6, 10, 9], [(3, 6, 10, 9), (0, 6, 10, 9), (1, 6, 10, 9), (50, 6, 10, 9)])
    cases("sizes", None, ["M", 6, "H", "W"], [(2, 6, 10, 9), (1, 6, 5, 12), (0, 6, 7, 7)])
    graph.check()


class ChannelsLast(Graph):
    """Every convolution and pool is computed in [n, h, w, C], whether that pays or not."""

    def compile(self):
        constants = [numpy_helper.from_array(a, n) for c in self.cases for n, a in c.constants.items()]
        inputs = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(c.inputs[n][0].dtype), c.dims[n])
                  for c in self.cases for n in c.inputs]
        outputs = [onnx.ValueInfoProto(name=n) for c in self.cases for n in c.outputs]
        whole = model_of(helper.make_graph([n for c in self.cases for n in c.nodes], "cases", inputs, outputs, constants))
        model, graph, kernels = (self.folder / name for name in ("model.onnx", "graph.mlir", "kernels.mlir"))
        onnx.save(onnx.shape_inference.infer_shapes(whole), model)

        def run(name, *arguments):
            done = self.tools.run(name, *arguments)
            assert done.returncode == 0, done.stderr
        run("mlc", "compile", model, "--no-rewrites", "--compile-to=optimize", f"--target={self.target}", "-o", graph)
        run("mlc-opt", graph, f"--mlc-assign-layout=channels-last target={self.target}", "--mlc-fold-constants",
            "--mlc-lower-to-linalg", f"--mlc-fuse=target={self.target}", "-o", kernels)
        run("mlc-translate", kernels, f"--target={self.target}", "-o", self.artifact)
        self.sources = sources_of(self.artifact)
        return self

    def check(self):
        self.compile()
        runs = max(len(arrays) for c in self.cases for arrays in c.inputs.values())
        found = [text for run in range(runs) for text in self.wrong(run)]
        assert not found, "\n".join(found)


def last(case, op, shape, *weights, dims=None, others=(), dtype=np.float32, residual=False, **more):
    """`op` of [n, h, w, c]."""
    back = [0, len(shape) - 1, *range(1, len(shape) - 1)]
    forth = [0, *range(2, len(shape)), 1]
    x = case.input(normal(*shape, dtype=dtype), dims, [normal(*s, dtype=dtype) for s in others])
    y = case.node(op, case.node("Transpose", x, perm=back), *weights, **more)
    if residual:
        y = case.node("Relu", case.node("Add", y, case.node("Transpose", x, perm=back)))
    case.output(case.node("Transpose", y, perm=forth))


def test_channels_last(tools, tmp_path):
    graph = ChannelsLast(tools, tmp_path)
    for name, shape, kernel, dtype, more in [
            ("plain", (2, 9, 14, 32), [3, 3], np.float32, dict(pads=[1, 1, 1, 1], residual=True)),
            ("narrow", (1, 15, 10, 24), [3, 3], np.float16, dict(pads=[1, 1, 1, 1], strides=[2, 2])),
            ("wide", (1, 20, 11, 8), [5, 2], np.float32, dict(dilations=[2, 3], pads=[3, 0, 4, 1])),
            ("many", (1, 6, 5, 272), [5, 5], np.float16, dict(pads=[2, 2, 2, 2], residual=True)),
            ("odd", (1, 9, 7, 19), [3, 3], np.float32, dict(pads=[1, 1, 1, 1])),
            ("line", (2, 50, 12), [4], np.float32, dict(pads=[2, 3], strides=[3])),
            ("unpadded", (2, 11, 9, 16), [3, 3], np.float16, dict(strides=[2, 1])),
            ("large", (8, 41, 39, 16), [3, 3], np.float16, dict(pads=[1, 1, 1, 1])),
            # A block has a compact part of the picture.
            ("compact", (2, 21, 43, 32), [3, 3], np.float32, dict(pads=[1, 1, 1, 1])),
            ("open", (2, 9, 14, 8), [3, 3], np.float32, dict(pads=[1, 1, 1, 1], dims=["N", "H", "W", 8],
                                                             others=[(1, 5, 7, 8), (0, 5, 7, 8), (3, 12, 4, 8)]))]:
        tolerance = 1e-5 if dtype == np.float32 else 5e-3
        channels = shape[-1]
        last(graph.case(f"{name}_conv", None, tolerance), "Conv", shape, normal(channels, 1, *kernel, dtype=dtype),
             normal(channels, dtype=dtype), group=channels, dtype=dtype, **more)
        more = {n: v for n, v in more.items() if n != "residual"}
        if name == "open":
            more["dims"] = ["M", "P", "Q", 8]
        if name not in ("large", "compact") and max(more.get("pads", [0])) < min(kernel):
            last(graph.case(f"{name}_max", None, 1e-6), "MaxPool", shape, kernel_shape=kernel, dtype=dtype, **more)
            if name in ("plain", "unpadded"):
                last(graph.case(f"{name}_mean", None, tolerance), "AveragePool", shape, kernel_shape=kernel, dtype=dtype, **more)
    graph.check()
    skeletons = {k: skeleton_of(s) for k, s in graph.sources.items()}
    assert list(skeletons.values()).count("windows") >= len(graph.cases) - 4, skeletons
    # Pixels are read and written by vectors of channels.
    found = [s for s in graph.sources.values() if skeleton_of(s) == "windows" and re.search(r"pixel(?:0|s\[r\]\[q\]) = loadVector(?:Or)?<[248]>", s)]
    assert len(found) >= 12
    assert any("tileColumn" in s for s in found)


@pytest.mark.skipif(sass.NVDISASM is None, reason="nvdisasm, which shows machine code, is not installed (./dev setup)")
def test_loads_of_pixels_do_not_wait_for_each_other(tools, tmp_path):
    """Nothing of a thread uses what it has loaded before several loads more are on their way."""
    graph = ChannelsLast(tools, tmp_path, target="cuda:sm_90a")
    for stride in 1, 2:
        last(graph.case(f"strided{stride}", None, 5e-3), "Conv", (32, 56, 56, 96), normal(96, 1, 3, 3, dtype=np.float16), group=96,
             dtype=np.float16, pads=[1, 1, 1, 1], strides=[stride] * 2)
    graph.compile()
    assert tools.mlc("inspect", graph.artifact, f"--extract={tmp_path}").returncode == 0
    symbols = [k for k, s in graph.sources.items() if skeleton_of(s) == "windows"]
    assert len(symbols) == 2
    for symbol in symbols:
        ops = [op for op, _ in sass.instructions(tmp_path / f"{symbol}.cubin")]
        first = ops.index("FFMA")
        assert sum(op.startswith("LDG.E.64") for op in ops[:first]) >= 8, ops[:first]
        assert sum(op == "PRMT" for op in ops) < 16
    shown = json.loads(tools.mlc("inspect", "--json", graph.artifact).stdout)
    # Three blocks of 256 threads of a multiprocessor with 65,536 registers.
    assert all(k["registers"] <= 80 for k in shown["manifest"]["kernels"] if k["skeleton"] == "windows")


def test_small_pictures_occupy_all_multiprocessors(tools, tmp_path):
    """An H200 has 132 of them."""
    graph = ChannelsLast(tools, tmp_path, target="cuda:sm_90a")
    for size, channels, kernel in (83, 44, 5), (28, 192, 3), (14, 576, 3):
        last(graph.case(f"small{size}", None, 1e-5), "Conv", (1, size, size, channels), normal(channels, 1, kernel, kernel), group=channels,
             pads=[kernel // 2] * 4)
    graph.compile()
    shown = json.loads(tools.mlc("inspect", "--json", graph.artifact).stdout)
    skeletons = {k["symbol"]: k["skeleton"] for k in shown["manifest"]["kernels"]}
    launches = [re.match(r"kernel (\w+), tasks (\d+)", step["text"]) for step in shown["steps"]]
    tasks = [int(launch[2]) for launch in launches if launch and skeletons[launch[1]] == "windows"]
    assert len(tasks) == 3
    assert min(tasks) >= 2 * 132
    # Pixels are loaded while weights come.
    for source in graph.sources.values():
        if skeleton_of(source) == "windows":
            body = source[source.index("MLC_KERNEL"):]
            assert body.index("commitCopies") < body.index("pixels[r][q] = loadVectorOr") < body.index("waitForCopies")


def test_each_element_is_brought_once(graph):
    """What a launch asks of global memory: the tensors, the halo of bands, and edges of 16 bytes."""
    for name, dtype, shape, kernel, stride in [("conv3", np.float32, (4, 24, 14, 14), 3, 1), ("conv5", np.float16, (4, 24, 16, 16), 5, 2),
                                               ("pool3", np.float16, (4, 24, 28, 28), 3, 2), ("pool2", np.float32, (1, 9, 11, 13), 2, 2)]:
        case = graph.case(name, "windows", 1e-5 if dtype == np.float32 else 5e-3, steps=1)
        x = case.input(normal(*shape, dtype=dtype))
        more = dict(strides=[stride] * 2, pads=[(kernel - 1) // 2] * 4)
        if name.startswith("conv"):
            case.output(case.node("Conv", x, normal(shape[1], 1, kernel, kernel, dtype=dtype), group=shape[1], **more))
        else:
            case.output(case.node("MaxPool", x, kernel_shape=[kernel] * 2, **more))
    graph.compile()
    report = graph.folder / "counters.json"
    results = graph.run({n: a for c in graph.cases for n, a in c.values().items()}, MLC_EMULATOR_COUNTERS=str(report))
    counted = {k["name"]: k["figures"] for k in json.loads(report.read_text())["kernels"]}
    for case in graph.cases:
        (kernel,) = graph.kernels[case.name]
        figures = counted[kernel]
        given = sum(a.nbytes for a in (*case.values().values(), *case.constants.values()))
        assert figures["global_loads.bytes"] <= 1.1 * given, case.name
        for way in "loads", "stores":
            assert figures[f"global_{way}.sectors"] <= 1.2 * figures[f"global_{way}.ideal_sectors"] + 8, case.name
        assert figures["global_stores.bytes"] == sum(results[n].nbytes for n in case.outputs), case.name
