"""Weights that are parameters: known bytes from which nothing is computed before
the model runs. Judged by ONNX Runtime, through mlc compare."""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

RNG = np.random.default_rng(11)
FLOAT = TensorProto.FLOAT


def normal(*dims):
    return (RNG.normal(size=dims) * 0.3).astype(np.float32)


def model(nodes, x, y, weights):
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", *x)], [helper.make_tensor_value_info("y", *y)],
        [numpy_helper.from_array(value, name) for name, value in weights.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def convolution(channels, outputs, kernel, size, group=1):
    half = kernel // 2
    return model([helper.make_node("Conv", ["x", "w", "b"], ["c"], pads=[half] * 4, group=group),
                  helper.make_node("Relu", ["c"], ["y"])],
                 (FLOAT, ["n", channels, size, size]), (FLOAT, ["n", outputs, size, size]),
                 {"w": normal(outputs, channels // group, kernel, kernel), "b": normal(outputs)})


def normalized():
    """A batch norm behind a convolution, into which its factors would be folded."""
    return model([helper.make_node("Conv", ["x", "w"], ["c"], pads=[1] * 4),
                  helper.make_node("BatchNormalization", ["c", "s", "b", "m", "v"], ["y"])],
                 (FLOAT, [1, 8, 9, 9]), (FLOAT, [1, 12, 9, 9]),
                 {"w": normal(12, 8, 3, 3), "s": normal(12), "b": normal(12), "m": normal(12),
                  "v": np.abs(normal(12)) + 1})


def products():
    return model([helper.make_node("MatMul", ["x", "w"], ["p"]), helper.make_node("Add", ["p", "b"], ["a"]),
                  helper.make_node("Gemm", ["a", "u"], ["y"], transB=1)],
                 (FLOAT, ["n", 33]), (FLOAT, ["n", 5]), {"w": normal(33, 17), "b": normal(17), "u": normal(5, 17)})


def table():
    return model([helper.make_node("Gather", ["w", "x"], ["g"]), helper.make_node("Mul", ["g", "b"], ["y"])],
                 (TensorProto.INT64, ["n"]), (FLOAT, ["n", 6]), {"w": normal(2, 6), "b": normal(6)})


MODELS = {
    "3x3": (convolution(24, 40, 3, 13), ["w"]),
    "3x3-both": (convolution(24, 40, 3, 13), ["w", "b"]),
    "bias": (convolution(24, 40, 3, 13), ["b"]),
    "pixel": (convolution(24, 40, 1, 1), ["w"]),
    "image": (convolution(3, 20, 5, 12), ["w", "b"]),
    "groups": (convolution(24, 36, 3, 8, group=3), ["w"]),
    "depthwise": (convolution(19, 19, 3, 8, group=19), ["w", "b"]),
    "batch-norm": (normalized(), ["s", "v"]),
    "convolution-before-norm": (normalized(), ["w"]),
    "products": (products(), ["w", "u"]),
    "table": (table(), ["w", "b"]),
}


@pytest.fixture
def saved(tmp_path):
    def save(proto):
        onnx.save(proto, tmp_path / "m.onnx")
        return tmp_path / "m.onnx"
    return save


def flags(names):
    return [f"--parameter={name}" for name in names]


@pytest.mark.parametrize("name", MODELS)
def test_a_model_with_parameters_agrees(name, saved, tools, tmp_path):
    proto, parameters = MODELS[name]
    dim = ["--dim=n=2"] if proto.graph.input[0].type.tensor_type.shape.dim[0].dim_param else []
    if name == "table":
        np.save(tmp_path / "x.npy", np.array([1, 0, -1, -2, 1], np.int64))
        dim = [f"--input=x={tmp_path / 'x.npy'}"]
    done = tools.mlc("compare", saved(proto), *flags(parameters), *dim)
    assert done.returncode == 0, done.stdout + done.stderr


def steps(tools, file, *arguments):
    artifact = file.with_suffix(".mlca")
    done = tools.mlc("compile", file, "-o", artifact, *arguments)
    assert done.returncode == 0, done.stderr
    text = tools.mlc("inspect", artifact).stdout
    return int(text.split("steps (")[1].split(")")[0]), artifact.read_bytes()


def test_only_a_parameter_is_packed_by_the_program(saved, tools):
    proto, _ = MODELS["3x3"]
    weight = numpy_helper.to_array(proto.graph.initializer[0]).tobytes()
    file = saved(proto)
    constant, packed = steps(tools, file, "--no-rewrites")
    parameter, plain = steps(tools, file, "--no-rewrites", "--parameter=w")
    assert parameter == constant + 1
    assert weight in plain and weight not in packed


def test_optimize_keeps_parameters(saved, tools, tmp_path):
    """Nothing is folded into a parameter, and the file still has it under its name."""
    proto, _ = MODELS["batch-norm"]
    out = tmp_path / "o.onnx"
    done = tools.mlc("optimize", saved(proto), "-o", out, "--parameter=w")
    assert done.returncode == 0, done.stderr
    kept = {t.name: numpy_helper.to_array(t) for t in onnx.load(out).graph.initializer}
    np.testing.assert_array_equal(kept["w"], numpy_helper.to_array(proto.graph.initializer[0]))
    x = {"x": normal(1, 8, 9, 9)}
    before, after = (onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, x)[0]
                     for path in (str(tmp_path / "m.onnx"), str(out)))
    np.testing.assert_allclose(after, before, rtol=1e-4, atol=1e-5)
    replayed = tools.run("mlc-verify", "--trail", tmp_path / "m.onnx", out, "--parameter=w")
    assert replayed.returncode == 0, replayed.stdout + replayed.stderr
    other = onnx.load(out)
    for tensor in other.graph.initializer:
        if tensor.name == "w":
            tensor.CopyFrom(numpy_helper.from_array(kept["w"] + 1, "w"))
    onnx.save(other, out)
    refused = tools.run("mlc-verify", "--trail", tmp_path / "m.onnx", out, "--parameter=w")
    assert refused.returncode == 5 and "the parameter 'w' has other elements" in refused.stderr


@pytest.mark.parametrize("name,text", [("nobody", "'nobody' is no weight of the model; it has w, b"),
                                       ("x", "'x' is no weight of the model, but an input")])
def test_a_wrong_name_is_refused(name, text, saved, tools, tmp_path):
    done = tools.mlc("compile", saved(MODELS["3x3"][0]), "-o", tmp_path / "m.mlca", f"--parameter={name}")
    assert done.returncode == 2 and text in done.stderr, done.stderr
    assert not (tmp_path / "m.mlca").exists()


def test_a_shape_cannot_be_a_parameter(saved, tools, tmp_path):
    proto = model([helper.make_node("Reshape", ["x", "s"], ["y"])], (FLOAT, [2, 6]), (FLOAT, [3, 4]),
                  {"s": np.array([3, 4], np.int64)})
    done = tools.mlc("compile", saved(proto), "-o", tmp_path / "m.mlca", "--parameter=s")
    assert done.returncode == 4 and "the target shape depends on data" in done.stderr, done.stderr


def test_an_initializer_that_is_an_input_may_be_replaced(tools, tmp_path):
    proto, x, b = products(), normal(4, 33), normal(17)
    proto.graph.input.append(helper.make_tensor_value_info("b", FLOAT, [17]))
    onnx.save(proto, tmp_path / "m.onnx")
    done = tools.mlc("compile", tmp_path / "m.onnx", "-o", tmp_path / "m.mlca")
    assert done.returncode == 0 and "'b' has a value in the file that a run may replace" in done.stderr
    judge = onnxruntime.InferenceSession(proto.SerializeToString())
    for name, array in (("x", x), ("b", b)):
        np.save(tmp_path / f"{name}.npy", array)
    for feed in ({"x": x}, {"x": x, "b": b}):
        given = [f"--input={name}={tmp_path / name}.npy" for name in feed]
        done = tools.mlc("run", tmp_path / "m.mlca", "--output-dir", tmp_path / "out", *given)
        assert done.returncode == 0, done.stderr
        np.testing.assert_allclose(np.load(tmp_path / "out/0.npy"), judge.run(None, feed)[0], rtol=1e-4, atol=1e-5)


def test_a_default_that_shapes_need_stays_constant(tools, tmp_path):
    proto = model([helper.make_node("Reshape", ["x", "s"], ["y"])], (FLOAT, ["n", 4]), (FLOAT, [2, "m"]), {"s": np.array([2, -1])})
    proto.graph.input.append(helper.make_tensor_value_info("s", TensorProto.INT64, [2]))
    onnx.save(proto, tmp_path / "m.onnx")
    done = tools.mlc("compile", tmp_path / "m.onnx", "-o", tmp_path / "m.mlca")
    assert done.returncode == 0 and "'s' has a value in the file, taken as constant" in done.stderr
