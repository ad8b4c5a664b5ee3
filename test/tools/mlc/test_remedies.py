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
