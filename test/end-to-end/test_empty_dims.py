"""Every kind of kernel where a dim is nothing: compiled once with open dims, and run with each of
them, and all, 0."""

import mlc
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

node = helper.make_node
KINDS = {"float": TensorProto.FLOAT, "int": TensorProto.INT64, "byte": TensorProto.UINT8}
SIZES = {"N": 2, "M": 5, "K": 4, "H": 6, "W": 7, "G": 3}


def pad(value, *amounts):
    return [node("Pad", [value, "p"], ["y"])], {"p": np.array(amounts, np.int64)}


def weights(*shape):
    return np.random.default_rng(7).standard_normal(shape).astype(np.float32) / 8


def conv(weight, *behind, **attributes):
    """A convolution by `weight`, or by an input, and what is computed of its result."""
    name = "w" if isinstance(weight, str) else "constant"
    made = [node("Conv", ["x", name], ["c"], **attributes), node("Relu", ["c"], ["r"]), *behind]
    return made


MAX_POOL = node("MaxPool", ["r"], ["y"], kernel_shape=[2, 2], strides=[2, 2], pads=[1, 1, 1, 1])
LAST = node("Identity", ["r"], ["y"])

# name: nodes; inputs, each a list of dims; constants
CASES = {
    "matmul": ([node("MatMul", ["a", "b"], ["y"])], {"a": "N M K", "b": "N K G"}, {}),
    "matmul of a constant": (
        [node("MatMul", ["a", "w"], ["y"])], {"a": "N M 24"}, {"w": weights(24, 40)}),
    "matmul, padded": (
        [node("MatMul", ["a", "b"], ["c"]), *pad("c", 1, 0, 0, 2)[0]], {"a": "M K", "b": "K G"},
        pad("c", 1, 0, 0, 2)[1]),
    "matmul, transposed": (
        [node("Transpose", ["b"], ["t"], perm=[1, 0]), node("MatMul", ["a", "t"], ["y"])],
        {"a": "M K", "b": "G K"}, {}),
    "matmul of bytes": ([node("MatMulInteger", ["a", "b"], ["y"])], {"a": "byte M K", "b": "byte K G"}, {}),
    "gemm": ([node("Gemm", ["a", "b", "c"], ["y"], transB=1, alpha=0.5)],
             {"a": "M K", "b": "G K", "c": "G"}, {}),
    "outer product": ([node("MatMul", ["a", "b"], ["y"])], {"a": "M 1", "b": "1 K"}, {}),
    "attention": (
        [node("Transpose", ["b"], ["t"], perm=[0, 2, 1]), node("MatMul", ["a", "t"], ["s"]),
         node("Softmax", ["s"], ["p"], axis=-1), node("MatMul", ["p", "b"], ["y"])],
        {"a": "N M K", "b": "N H K"}, {}),
    "conv": (conv("w", LAST, pads=[1, 1, 1, 1]), {"x": "N K H W", "w": "M K 3 3"}, {}),
    "conv of one dim": (conv("w", LAST, pads=[1, 0]), {"x": "N K H", "w": "M K 2"}, {}),
    "conv, pooled": (conv("w", MAX_POOL, pads=[1, 1, 1, 1]), {"x": "N K H W", "w": "M K 3 3"}, {}),
    "conv by a constant, pooled": (
        conv(0, MAX_POOL, pads=[1, 1, 1, 1], kernel_shape=[3, 3]), {"x": "N 32 H W"},
        {"constant": weights(32, 32, 3, 3)}),
    "conv of few channels, pooled": (
        conv(0, MAX_POOL, pads=[1, 1, 1, 1], strides=[2, 2], kernel_shape=[3, 3]),
        {"x": "N 3 H W"}, {"constant": weights(16, 3, 3, 3)}),
    "winograd": (
        [*conv(0, pads=[1, 1, 1, 1], kernel_shape=[3, 3]),
         node("Conv", ["r", "constant"], ["y"], pads=[1, 1, 1, 1], kernel_shape=[3, 3])],
        {"x": "N 64 H 56"}, {"constant": weights(64, 64, 3, 3)}),
    "conv of groups": (
        conv(0, MAX_POOL, pads=[1, 1, 1, 1], group=2, kernel_shape=[3, 3]), {"x": "N 32 H W"},
        {"constant": weights(32, 16, 3, 3)}),
    "depthwise": (
        conv(0, MAX_POOL, pads=[1, 1, 1, 1], group=16, kernel_shape=[3, 3]), {"x": "N 16 H W"},
        {"constant": weights(16, 1, 3, 3)}),
    "transposed conv": (
        [node("ConvTranspose", ["x", "w"], ["y"], strides=[2, 1])], {"x": "N K H W", "w": "K M 3 2"}, {}),
    "pools": (
        [node("MaxPool", ["x"], ["y"], kernel_shape=[2, 3], pads=[1, 1, 1, 1]),
         node("AveragePool", ["x"], ["z"], kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 0])],
        {"x": "N K H W"}, {}),
    "global pools": (
        [node("GlobalAveragePool", ["x"], ["y"]), node("GlobalMaxPool", ["x"], ["z"])],
        {"x": "N K H 5"}, {}),
    "sums": (
        [node("ReduceSum", ["x", "axes"], ["y"]), node("ReduceProd", ["x"], ["z"], axes=[0, 2]),
         node("ReduceL2", ["x"], ["u"], axes=[0]), node("ReduceSumSquare", ["x"], ["v"], axes=[2])],
        {"x": "N M K"}, {"axes": np.array([1], np.int64)}),
    "softmax": ([node("Softmax", ["x"], ["y"], axis=1), node("LogSoftmax", ["x"], ["z"], axis=2)],
                {"x": "N M K"}, {}),
    "normalization": (
        [node("LayerNormalization", ["x", "s", "s"], ["y"], axis=-1),
         node("InstanceNormalization", ["x", "t", "t"], ["z"])],
        {"x": "N M K", "s": "K", "t": "M"}, {}),
    "arithmetic": (
        [node("Add", ["a", "b"], ["c"]), node("Exp", ["c"], ["d"]), node("Mul", ["d", "e"], ["y"])],
        {"a": "N M K", "b": "M 1", "e": "K"}, {}),
    "movement": (
        [node("Transpose", ["x"], ["t"], perm=[2, 0, 1]), node("Concat", ["t", "z"], ["c"], axis=1),
         node("Slice", ["c", "one", "most"], ["s"]), node("Tile", ["s", "times"], ["y"])],
        {"x": "N M K", "z": "K H M"},
        {"one": np.array([1], np.int64), "most": np.array([2 ** 40], np.int64),
         "times": np.array([2, 1, 3], np.int64)}),
    "pad behind a shape": (
        [node("Mul", ["x", "f"], ["m"]), node("Reshape", ["m", "shape"], ["s"]),
         node("Pad", ["s", "p"], ["y"])], {"x": "N M K", "f": "K"},
        {"shape": np.array([0, -1], np.int64), "p": np.array([1, 2, 0, 3], np.int64)}),
    "split": ([node("Split", ["x"], ["u", "z"], axis=1), node("Add", ["u", "z"], ["y"])],
              {"x": "M 6 K"}, {}),
    "picking": (
        [node("Gather", ["x", "i"], ["y"], axis=1), node("GatherElements", ["x", "i3"], ["z"], axis=2)],
        {"x": "N 5 4", "i": "int H", "i3": "int N 5 G"}, {}),
    "scattering": (
        [node("ScatterND", ["x", "j", "u"], ["y"], reduction="add"),
         node("ScatterElements", ["x", "i", "v"], ["z"], axis=1, reduction="add")],
        {"x": "4 M", "j": "int H 1", "u": "H M", "i": "int 4 G", "v": "4 G"}, {}),
    "sorting": (
        [node("TopK", ["x", "k"], ["y", "i"], axis=1)], {"x": "N 5 K"},
        {"k": np.array([3], np.int64)}),
    "greatest": ([node("ArgMax", ["x"], ["y"], axis=1)], {"x": "N 5 K"}, {}),
    "running sum": ([node("CumSum", ["x", "axis"], ["y"])], {"x": "N M K"},
                    {"axis": np.array(1, np.int64)}),
    "resizing": (
        [node("Resize", ["x", "", "scales"], ["y"], mode="linear")], {"x": "N K H W"},
        {"scales": np.array([1, 1, 2, 1.5], np.float32)}),
    "triangle": ([node("Trilu", ["x"], ["y"])], {"x": "N M K"}, {}),
}


def split(dims):
    """The element type and the dims."""
    words = dims.split()
    return (words[0], words[1:]) if words[0] in KINDS else ("float", words)


def make(nodes, inputs, constants):
    ports = []
    for name, dims in inputs.items():
        kind, words = split(dims)
        ports.append(helper.make_tensor_value_info(
            name, KINDS[kind], [int(word) if word.isdigit() else word for word in words]))
    read = {name for one in nodes for name in one.input}
    made = [name for one in nodes for name in one.output if name not in read]
    graph = helper.make_graph(
        nodes, "empty", ports, [onnx.ValueInfoProto(name=name) for name in made],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True)
    types = {port.name: port for port in [*inferred.graph.value_info, *inferred.graph.output]}
    del model.graph.output[:]
    model.graph.output.extend(types[name] for name in made)
    return model


def feed_of(inputs, sizes):
    numbers = np.random.default_rng(3)
    feed = {}
    for name, dims in inputs.items():
        kind, words = split(dims)
        shape = [int(word) if word.isdigit() else sizes[word] for word in words]
        array = numbers.standard_normal(shape) if kind == "float" else numbers.integers(0, 4, shape)
        feed[name] = array.astype(helper.tensor_dtype_to_np_dtype(KINDS[kind]))
    return feed


class Judge:
    """mlc's evaluator on the graph as imported: it has no kernels."""

    def __init__(self, tools, folder, model):
        self.tools, self.folder, self.model = tools, folder, model
        done = tools.mlc("compile", folder / "m.onnx", "--no-rewrites", "--compile-to=import",
                         "-o", folder / "m.mlir")
        assert done.returncode == 0, done.stderr

    def run(self, feed):
        """The results, or None where the model is not valid for these sizes."""
        inputs = []
        for name, array in feed.items():
            np.save(self.folder / f"{name}.npy", array)
            inputs.append(f"--input={self.folder / name}.npy")
        done = self.tools.run("mlc-eval", self.folder / "m.mlir", *inputs,
                              f"--output-dir={self.folder / 'want'}")
        if done.returncode != 0:
            return None
        return [np.load(self.folder / f"want/{i}.npy") for i in range(len(self.model.graph.output))]


def agree(got, want, empty):
    for one, other in zip(got, want, strict=True):
        assert one.shape == other.shape, empty
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4, err_msg=str(empty))


@pytest.mark.parametrize("name", CASES)
def test_each_dim_is_nothing(tools, tmp_path, name):
    nodes, inputs, constants = CASES[name]
    model = make(nodes, inputs, constants)
    onnx.save(model, tmp_path / "m.onnx")
    done = tools.mlc("compile", tmp_path / "m.onnx", "-o", tmp_path / "m.mlca")
    assert done.returncode == 0, done.stderr
    sessions = [mlc.Session(mlc.load(tmp_path / "m.mlca"), threads=n) for n in (1, 2)]
    judge = Judge(tools, tmp_path, model)
    symbols = sorted({word for dims in inputs.values() for word in dims.split() if word in SIZES})
    for empty in [(), *((one,) for one in symbols), symbols, ()]:
        feed = feed_of(inputs, {s: 0 if s in empty else SIZES[s] for s in symbols})
        want = judge.run(feed)
        assert want is not None or empty
        if not empty:
            agree(ReferenceEvaluator(model).run(None, feed), want, empty)
        for session in sessions:
            try:
                got = list(session.run(feed).values())
            except mlc.Error as error:
                assert want is None, error
                continue
            if want is not None:
                agree(got, want, empty)
