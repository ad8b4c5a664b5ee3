"""Errors of passes name what helps: a flag on the command line, an argument in Python."""

import json

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import mlc


def save(path, nodes, x, y, weights=()):
    """A model of one input `x`, of these dims, and one output `y`."""
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, x)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, y)], list(weights))
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return path


@pytest.fixture
def squeezed(tmp_path):
    return save(tmp_path / "squeezed.onnx", [helper.make_node("Squeeze", ["x"], ["y"], name="squeeze")], ["n", 3], ["m"])


@pytest.fixture
def dense(tmp_path):
    w = numpy_helper.from_array(np.ones((4, 4), np.float32), "w")
    return save(tmp_path / "dense.onnx", [helper.make_node("MatMul", ["x", "w"], ["y"], name="mm")], ["n", 4], ["n", 4], [w])


def failing(tools, *arguments):
    done = tools.mlc(*arguments)
    assert done.returncode != 0
    return done.stderr


def test_dims_that_a_node_uses(tools, tmp_path, squeezed):
    text = "Squeeze: which dims are 1 must be known, but dim 0 is n; fix the dims it uses by "
    assert text + "--dim NAME=SIZE" in failing(tools, "compile", squeezed, "-o", tmp_path / "a.mlca")
    with pytest.raises(mlc.UnsupportedError) as error:
        mlc.compile(squeezed)
    assert text + "dims={'NAME': SIZE}" in str(error.value) and "--" not in str(error.value)
    told = json.loads(tools.mlc("check", "--json", squeezed).stdout)
    assert told["unsupported"][0]["remedies"] == ["fix the dims it uses by --dim NAME=SIZE"]


def test_an_open_dim_that_ranks_split(tools, tmp_path, dense):
    text = "input 'x' is split along the open dim n; give "
    assert text + "--dim n=SIZE\n" in failing(tools, "compile", dense, "--mesh=a=2", "--shard=x=a", "-o", tmp_path / "a.mlca")
    with pytest.raises(mlc.Error) as error:
        mlc.compile(dense, mesh={"a": 2}, shard={"x": "a"})
    assert str(error.value).endswith(text + "dims={'n': SIZE}")


def test_what_training_may_leave_out(tools, tmp_path, dense):
    text = "trains no weight of 16 bits that could be kept beside its master; leave "
    fixed = ["train", dense, "--loss=mse", "--batch=4", "--keep-half", f"--artifact={tmp_path / 't.mlca'}"]
    assert text + "--keep-half out\n" in failing(tools, *fixed)
    with pytest.raises(mlc.UnsupportedError) as error:
        mlc.Trainer(str(dense), loss="mse", optimizer="sgd", batch=4, keep_half=True)
    assert str(error.value).endswith(text + "keep_half out")


def of_two(path, node, second, x=("N", 4)):
    """A model whose second input, of this type and these dims, decides something."""
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, x), helper.make_tensor_value_info("d", *second)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None] * len(x))])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return path


def told(tools, *arguments):
    """The one node that is refused: its reason and its remedies."""
    found = json.loads(tools.mlc("check", "--json", *arguments).stdout)["unsupported"]
    return found[0]["reason"], found[0]["remedies"]


def test_no_dim_is_to_be_fixed_where_none_is_open(tools, tmp_path):
    scales = of_two(tmp_path / "r.onnx", helper.make_node("Resize", ["x", "", "d"], ["y"]), (TensorProto.FLOAT, [4]), x=(1, 1, 4, 4))
    assert told(tools, scales)[1] == ["give it a constant"]
    mode = of_two(tmp_path / "d.onnx", helper.make_node("Dropout", ["x", "", "d"], ["y"]), (TensorProto.BOOL, []))
    assert told(tools, mode)[1] == ["give it a constant", "fix the dims it uses by --dim NAME=SIZE"]
    assert told(tools, mode, "--dim=N=4")[1] == ["give it a constant"]
    assert "--dim" not in tools.mlc("check", mode, "--dim=N=4").stdout


def test_each_refused_node_has_a_remedy(tools, tmp_path):
    """As the text does."""
    axis = of_two(tmp_path / "c.onnx", helper.make_node("CumSum", ["x", "d"], ["y"]), (TensorProto.INT64, []))
    reason, remedies = told(tools, axis)
    assert "shape" not in reason and remedies == ["have the exporter give it a constant, or end the model before it"]
    shape = of_two(tmp_path / "n.onnx", helper.make_node("Reshape", ["x", "d"], ["y"]), (TensorProto.INT64, [2]))
    none = save(tmp_path / "u.onnx", [helper.make_node("Unique", ["x"], ["y"])], [4], ["m"])
    for path in (axis, shape, none):
        (remedy,) = told(tools, path)[1]
        assert "; " + remedy in tools.mlc("check", path).stdout


def test_inputs_are_listed(tools, tmp_path, dense):
    np.save(tmp_path / "q.npy", np.ones((2, 4), np.float32))
    assert "has no input 'q'; it has x\n" in failing(tools, "compare", dense, "--dim=n=2", f"--input=q={tmp_path / 'q.npy'}")


def test_threads_are_limited_alike(tools, tmp_path, dense):
    assert tools.mlc("compile", dense, "-o", tmp_path / "a.mlca").returncode == 0
    np.save(tmp_path / "x.npy", np.ones((2, 4), np.float32))
    done = tools.mlc("run", tmp_path / "a.mlca", f"--input=x={tmp_path / 'x.npy'}", "--threads=99999")
    assert done.returncode == 2 and "99999 threads are more than 1024" in done.stderr
