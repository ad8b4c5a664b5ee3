"""What random graphs found, each as small as it became: results are the standard's."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from mlc_runtime import Artifact, Session, load_library


def results(tools, folder, nodes, feed, outputs, opset=17):
    """What these nodes, compiled, give for these inputs."""
    inputs = [helper.make_tensor_value_info(
        name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in feed.items()]
    graph = helper.make_graph(nodes, "found", inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, folder / "m.onnx")
    done = tools.mlc("compile", folder / "m.onnx", "-o", folder / "m.mlca")
    assert done.returncode == 0, done.stderr
    return Session(Artifact(load_library(tools.build), folder / "m.mlca"))(feed)


def output(name, type, shape):
    return helper.make_tensor_value_info(name, type, shape)


def test_large_unsigned_index_is_not_negative(tools, tmp_path):
    depth = helper.make_node("Constant", [], ["d"], value=onnx.numpy_helper.from_array(
        np.array(3, np.int64)))
    node = helper.make_node("OneHot", ["i", "d", "v"], ["y"])
    feed = {"i": np.array([2 ** 64 - 1, 1], np.uint64), "v": np.array([0, 1], np.float32)}
    (y,) = results(tools, tmp_path, [depth, node], feed, [output("y", TensorProto.FLOAT, [2, 3])])
    np.testing.assert_array_equal(y, [[0, 0, 0], [0, 1, 0]])


@pytest.mark.parametrize("type, lambd, bias, want", [
    ("int8", 0.25, 1.0, [-127, -1, 0, 0, 0, 126]),
    ("int8", 1.5, 0.0, [-128, -2, 0, 0, 0, 127]),
    ("int8", 200.0, 0.0, [0] * 6),
    ("uint8", 1.0, 1.0, [0, 1, 254, 0, 0, 1]),
])
def test_shrink_of_integers(tools, tmp_path, type, lambd, bias, want):
    x = [-128, -2, -1, 0, 1, 127] if type == "int8" else [0, 2, 255, 1, 0, 2]
    x = np.array(x, type)
    node = helper.make_node("Shrink", ["x"], ["y"], lambd=lambd, bias=bias)
    kind = helper.np_dtype_to_tensor_dtype(x.dtype)
    (y,) = results(tools, tmp_path, [node], {"x": x}, [output("y", kind, [6])])
    np.testing.assert_array_equal(y, np.array(want, type))


def test_defaults_of_attributes_are_float32(tools, tmp_path):
    """Leaving alpha out is the same as writing 0.01, which a model holds as float32."""
    x = np.array([-1.0, -3.0], np.float64)
    got = []
    for attributes in ({}, {"alpha": 0.01}):
        node = helper.make_node("LeakyRelu", ["x"], ["y"], **attributes)
        got += results(tools, tmp_path, [node], {"x": x}, [output("y", TensorProto.DOUBLE, [2])])
    np.testing.assert_array_equal(got[0], got[1])


def test_scalars_keep_their_rank(tools, tmp_path):
    node = helper.make_node("Neg", ["x"], ["y"])
    (y,) = results(tools, tmp_path, [node], {"x": np.array(2.0, np.float32)},
                   [output("y", TensorProto.FLOAT, [])])
    assert y.shape == () and y == -2
