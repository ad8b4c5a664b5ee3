"""Networks of convolutions with channels last (passes/Layout), as GPU kernels on the emulator.

Each begins with an image of three channels, n c h w, and ends in one channel, which is the same in either layout. So no
transpose is needed, and the layout pays however small the network is.
"""

import json
import re

import numpy as np
import pytest

# How a contraction's factors come where both have neighbours along K.
BY_VECTORS = "CopyMode::Vectors, true, CopyMode::Vectors, true>"
KINDS = {"f32": (np.float32, 2e-3), "f16": (np.float16, 8e-3)}


class Networks:
    """Cases of a graph. `kind`: of all tensors."""

    def __init__(self, graph, kind):
        self.graph, (self.type, self.tolerance) = graph, KINDS[kind]
        self.rng = np.random.default_rng(3)

    def normal(self, *shape):
        return self.rng.standard_normal(shape).astype(self.type)

    def conv(self, case, x, channels, features, kernel=3, **more):
        groups = more.get("group", 1)
        depth = channels // groups * kernel * kernel
        w = (self.normal(features, channels // groups, kernel, kernel) / np.sqrt(depth)).astype(self.type)
        return case.node("Conv", x, w, self.normal(features), **{"pads": [kernel // 2] * 4, **more})

    def add(self, name, middle, features=16, image=(2, 3, 13, 11), dims=None, others=()):
        """`middle(case, x)`: from 16 channels to `features`."""
        case = self.graph.case(name, None, self.tolerance)
        x = case.input(self.normal(*image), dims, [self.normal(*shape) for shape in others])
        x = case.node("Relu", self.conv(case, x, 3, 16))
        # Its factors come by vectors in this layout alone.
        x = case.node("Relu", self.conv(case, x, 16, 16))
        case.output(self.conv(case, middle(case, x), features, 1, 1))

    def convolutions(self):
        def one(name, *arguments, features=16, **more):
            self.add(name, lambda case, x: case.node("Relu", self.conv(case, x, 16, features, *arguments, **more)), features)
        one("wide", features=24)
        one("strided", strides=[2, 2], pads=[0, 1, 2, 1])
        one("dilated", dilations=[2, 1], pads=[2, 1, 2, 1])
        one("of seven", 7, strides=[2, 1])
        one("of one", 1, features=40)
        one("one in two", 1, strides=[2, 2])
        one("in two groups", group=2)
        one("in four groups", group=4, features=32)
        one("of each channel", group=16, strides=[2, 2])
        one("of each channel twice", 5, group=16, features=32)
        self.add("odd", lambda case, x: self.conv(case, self.conv(case, x, 16, 19), 19, 21), 21)
        self.add("even", lambda case, x: self.conv(case, self.conv(case, x, 16, 18), 18, 12, 1), 12)

    def others(self):
        def node(*arguments, **more):
            return lambda case, x: case.node(*arguments[:1], x, *arguments[1:], **more)
        self.add("max pool", node("MaxPool", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]))
        self.add("average", node("AveragePool", kernel_shape=[2, 3], strides=[2, 1], pads=[1, 1, 0, 1], count_include_pad=1))
        self.add("batch norm", lambda case, x: case.node("BatchNormalization", x, *(np.abs(self.normal(16)) for _ in range(4))))
        self.add("clip", node("HardSwish"))
        self.add("per channel", lambda case, x: case.node("PRelu", x, self.normal(16, 1, 1)))
        self.add("softmax", node("Softmax", axis=1))
        self.add("pad", lambda case, x: case.node("Pad", x, np.array([0, 0, 1, 2, 0, 0, 2, 0]), self.type(0.5)))
        self.add("reflect", lambda case, x: case.node("Pad", x, np.array([0, 0, 1, 2, 0, 0, 2, 0]), mode="reflect"))
        self.add("nearest", lambda case, x: case.node("Resize", x, "", np.array([1, 1, 2, 2], np.float32), mode="nearest"))
        self.add("crop", lambda case, x: case.node("Slice", x, np.array([1, 2]), np.array([9, 9]), np.array([2, 3])))
        self.add("join", lambda case, x: case.node("Concat", x, self.conv(case, x, 16, 8, 1), axis=1), 24)
        self.add("join below", lambda case, x: case.node("Concat", x, self.conv(case, x, 16, 16), axis=2))
        self.add("parts", lambda case, x: case.node("Mul", *case.node("Split", x, outputs=2, axis=1, num_outputs=2)), 8)
        self.add("residual", lambda case, x: case.node("Relu", case.node("Add", x, self.conv(case, x, 16, 16))))

        def gate(case, x):
            few = case.node("Relu", self.conv(case, case.node("GlobalAveragePool", x), 16, 8, 1))
            return case.node("Mul", x, case.node("Sigmoid", self.conv(case, few, 8, 16, 1)))
        self.add("gate", gate)
        self.add("mean of channels", lambda case, x: case.node("Sub", x, case.node("ReduceMean", x, np.array([1]), keepdims=1)))

    def sizes(self):
        def middle(case, x):
            pooled = case.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
            return case.node("Relu", case.node("Add", pooled, self.conv(case, pooled, 16, 16)))
        self.add("images", middle, image=(3, 3, 10, 12), dims=["N", 3, 10, 12], others=[(1, 3, 10, 12), (0, 3, 10, 12)])
        self.add("sides", middle, image=(1, 3, 10, 12), dims=[1, 3, "H", "W"], others=[(1, 3, 17, 9)])
        self.add("all", middle, image=(2, 3, 8, 8), dims=["n", 3, "h", "w"], others=[(1, 3, 11, 6)])


@pytest.mark.parametrize("kind", KINDS)
def test_networks(graph, kind):
    networks = Networks(graph, kind)
    networks.convolutions()
    if kind == "f16":  # elsewhere elements of any type are alike
        networks.others()
        networks.sizes()
    graph.check()
    # The second convolution of each reads channels and weights by 16 bytes, and nothing is transposed.
    for case in graph.cases:
        sources = "".join(graph.sources[symbol] for symbol in graph.kernels[case.name] if symbol)
        assert BY_VECTORS in sources and "// Skeleton: transpose" not in sources, case.name


def compiled(tools, folder, graph, *flags):
    """The skeletons of the kernels of a model of this one case, in the order of their launches."""
    graph.compile()
    assert len(graph.cases) == 1
    steps = json.loads(tools.mlc("inspect", "--json", graph.artifact).stdout)["steps"]
    return [re.search(r"^// Skeleton: (\w+)$", graph.sources[re.match(r"kernel (\w+),", s["text"])[1]], re.MULTILINE)[1]
            for s in steps]


def test_images_that_have_their_channels_last(tools, tmp_path, graph):
    """Transposes of the model around its convolutions vanish, as those of exporters that keep channels last."""
    networks = Networks(graph, "f16")
    case = graph.case("turned", None, 8e-3)
    x = case.node("Transpose", case.input(networks.normal(8, 40, 40, 16)), perm=[0, 3, 1, 2])
    y = case.node("Relu", networks.conv(case, x, 16, 128))
    y = case.node("Relu", networks.conv(case, y, 128, 64))
    case.output(case.node("Transpose", y, perm=[0, 2, 3, 1]))
    assert compiled(tools, tmp_path, graph) == ["tensor", "tensor"]


def test_small_convolutions_stay(tools, tmp_path, graph):
    """Transposes would take more than one small convolution gains, or than none gains."""
    networks = Networks(graph, "f16")
    case = graph.case("small", None, 8e-3)
    x = case.input(networks.normal(1, 16, 14, 14))
    case.output(case.node("MaxPool", networks.conv(case, x, 16, 16), kernel_shape=[2, 2]))
    skeletons = compiled(tools, tmp_path, graph)
    assert len(skeletons) == 2 and skeletons[0] == "tensor"
    assert "CopyMode::Vectors, true, CopyMode::ElementsAcross" in "".join(graph.sources.values())


def test_weights_that_may_change_stay(tools, tmp_path, graph):
    """A parameter would be rearranged in each run."""
    networks = Networks(graph, "f32")
    networks.add("weights", lambda case, x: x)
    (case,) = graph.cases
    graph.flags += [f"--parameter={name}" for name, array in case.constants.items() if array.ndim == 4]
    graph.check()
    assert BY_VECTORS not in "".join(graph.sources.values())


def test_products_of_float32_stay(tools, tmp_path, graph):
    """With --precision=ieee no factor comes by vectors, in either layout."""
    networks = Networks(graph, "f32")
    graph.flags.append("--precision=ieee")
    networks.tolerance = 1e-5
    networks.add("ieee", lambda case, x: x)
    graph.check()
    for flags, is_last in ([], True), (["--precision=ieee"], False):
        done = tools.mlc("compile", graph.folder / "model.onnx", "--target=cuda:sm_80", *flags, "--compile-to=layout", "-o",
                         tmp_path / "layout.mlir")
        assert done.returncode == 0 and ("mlc.laid_out" in (tmp_path / "layout.mlir").read_text()) == is_last
