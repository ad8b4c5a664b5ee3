"""Numbers that an attack from outside found wrong, and what may not be in an artifact."""

import os

import numpy as np
import onnx
import pytest
from onnx import TensorProto as T
from onnx import helper


def run(tools, folder, nodes, x, kind):
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", kind, list(x.shape))],
                              [helper.make_tensor_value_info("y", T.FLOAT, list(x.shape))])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), folder / "m.onnx")
    np.save(folder / "x.npy", x)
    done = tools.mlc("compile", folder / "m.onnx", "-o", folder / "m.mlca", "--target=cuda:sm_80")
    assert done.returncode == 0, done.stderr
    done = tools.mlc("run", folder / "m.mlca", "--device=emulator", "--input", f"x={folder / 'x.npy'}",
                     "--output-dir", folder / "out")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return np.load(folder / "out/0.npy")


@pytest.mark.parametrize("dtype, kind", [(np.int64, T.INT64), (np.int32, T.INT32), (np.uint32, T.UINT32)])
def test_integers_are_rounded_to_float16(tools, tmp_path, dtype, kind):
    x = np.array([2049, 70000, 65519, 65520, 16777217, 3], dtype)
    y = run(tools, tmp_path, [helper.make_node("Cast", ["x"], ["h"], to=T.FLOAT16),
                              helper.make_node("Cast", ["h"], ["y"], to=T.FLOAT)], x, kind)
    np.testing.assert_array_equal(y, [2048, np.inf, 65504, np.inf, np.inf, 3])


def test_integers_are_rounded_to_bfloat16(tools, tmp_path):
    y = run(tools, tmp_path, [helper.make_node("Cast", ["x"], ["h"], to=T.BFLOAT16),
                              helper.make_node("Cast", ["h"], ["y"], to=T.FLOAT)], np.array([257, 255, -257]), T.INT64)
    np.testing.assert_array_equal(y, [256, 255, -256])


@pytest.mark.parametrize("op, want", [
    ("Softplus", lambda x: np.log1p(np.exp(x))), ("Elu", np.expm1), ("Selu", lambda x: 1.75809934 * np.expm1(x))])
def test_small_values_keep_their_digits(tools, tmp_path, op, want):
    x = np.array([-60, -20, -15, -1e-3, -1e-6], np.float32)
    y = run(tools, tmp_path, [helper.make_node(op, ["x"], ["y"])], x, T.FLOAT)
    np.testing.assert_allclose(y, want(x.astype(np.float64)), rtol=2e-6)


def test_artifacts_do_not_tell_where_they_were_made(tools, tmp_path):
    """Neither the cache nor the current folder is in the bytes."""
    graph = helper.make_graph([helper.make_node("Sin", ["x"], ["y"])], "g",
                              [helper.make_tensor_value_info("x", T.FLOAT, [9])],
                              [helper.make_tensor_value_info("y", T.FLOAT, [9])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), tmp_path / "m.onnx")
    made = []
    for name, cache in (("first folder", "off"), ("second", tmp_path / "cache"), ("third", tmp_path / "cache")):
        (tmp_path / name).mkdir()
        done = tools.run("mlc", "compile", tmp_path / "m.onnx", "-o", tmp_path / "m.mlca", "--target=cuda:sm_80",
                         cwd=tmp_path / name, env={**os.environ, "MLC_CACHE": str(cache)})
        assert done.returncode == 0, done.stderr
        made.append((tmp_path / "m.mlca").read_bytes())
        assert name.encode() not in made[-1]
    assert made[0] == made[1] == made[2]
