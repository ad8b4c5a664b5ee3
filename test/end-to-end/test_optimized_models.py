"""Models that ONNX Runtime has optimized: what its optimizer writes is read."""

import graphs
import mlc
import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper

rng = np.random.default_rng(3)
ACTIVATIONS = [("Relu", {}), ("Sigmoid", {}), ("Tanh", {}), ("LeakyRelu", {"alpha": 0.3}), ("HardSigmoid", {"alpha": 0.3, "beta": 0.4})]


def result(tools, folder, path, arrays):
    done = tools.mlc("compile", path, "-o", folder / "m.mlca")
    assert done.returncode == 0, done.stderr
    return next(iter(mlc.load(folder / "m.mlca").run(arrays).values()))


def optimized(folder, model):
    """The model as ONNX Runtime would save it, and who computes what it was."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(folder / "optimized.onnx")
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return folder / "optimized.onnx", session


@pytest.mark.parametrize("kind,attributes", ACTIVATIONS)
def test_convolution_with_activation(tools, tmp_path, kind, attributes):
    weights = {"w": rng.normal(size=(6, 2, 3, 3)).astype("f"), "b": rng.normal(size=6).astype("f")}
    path, session = optimized(tmp_path, graphs.model(
        [("Conv", ["x", "w", "b"], ["c"], {"pads": [1] * 4, "group": 2}), (kind, ["c"], ["y"], attributes)],
        [("x", ["N", 4, 7, 5])], [("y", ["N", 6, 7, 5])], weights))
    assert [n.op_type for n in onnx.load(path).graph.node] == ["FusedConv"]
    x = rng.normal(size=(2, 4, 7, 5)).astype("f")
    np.testing.assert_allclose(result(tools, tmp_path, path, {"x": x}), session.run(None, {"x": x})[0], rtol=0, atol=1e-5)


def contrib(folder, op, inputs, y, **attributes):
    node = helper.make_node(op, list(inputs), ["y"], domain="com.microsoft", **attributes)
    graph = helper.make_graph([node], "g", [graphs.tensor(k, a.shape) for k, a in inputs.items()], [graphs.tensor("y", y)])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return graphs.save(folder / "m.onnx", helper.make_model(graph, opset_imports=opsets, ir_version=8))


@pytest.mark.parametrize("kind,parameters", [("", []), ("Relu", []), ("Clip", [-0.5, 0.75])])
def test_convolution_with_sum(tools, tmp_path, kind, parameters):
    inputs = {"x": (1, 2, 4, 4), "w": (3, 2, 1, 1), "b": (3,), "z": (1, 3, 4, 4)}
    inputs = {k: rng.normal(size=dims).astype("f") for k, dims in inputs.items()}
    attributes = {"activation": kind} if kind else {}
    path = contrib(tmp_path, "FusedConv", inputs, [1, 3, 4, 4], **attributes,
                   **({"activation_params": parameters} if parameters else {}))
    x, w, b, z = inputs.values()
    want = np.einsum("ncij,oc->noij", x, w[:, :, 0, 0]) + b[:, None, None] + z
    want = np.maximum(want, 0) if kind == "Relu" else np.clip(want, *parameters) if kind else want
    np.testing.assert_allclose(result(tools, tmp_path, path, inputs), want, rtol=0, atol=1e-5)


@pytest.mark.parametrize("attributes,code,text", [
    ({"activation": "Softplus"}, 4, "activation Softplus is not supported"),
    ({"activation": "Clip", "activation_params": [1.0]}, 3, "requires 2 activation_params")])
def test_other_activations_are_refused(tools, tmp_path, attributes, code, text):
    inputs = {"x": np.zeros((1, 2, 4, 4), "f"), "w": np.zeros((3, 2, 1, 1), "f")}
    done = tools.mlc("compile", contrib(tmp_path, "FusedConv", inputs, [1, 3, 4, 4], **attributes), "-o", tmp_path / "m.mlca")
    assert done.returncode == code and text in done.stderr, done.stderr


def test_gelu(tools, tmp_path):
    x = rng.normal(size=(3, 5)).astype("f") * 3
    path = contrib(tmp_path, "Gelu", {"x": x}, [3, 5])
    want = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]
    np.testing.assert_allclose(result(tools, tmp_path, path, {"x": x}), want, rtol=0, atol=1e-6)
