"""A row added to a product of matrices is written as the Gemm that it is."""

import numpy as np
import onnx
import onnxruntime
import pytest

import graphs

PRODUCT = ("MatMul", ["x", "w"], ["p"], {})


def exported(tools, folder, nodes, bias, x=(4, 3), w=(3, 5), outputs=()):
    """The operators written for `nodes`, which compute y of x, w and c and were
    found to give the same results as before."""
    rng = np.random.default_rng(0)
    weights = {name: rng.standard_normal(shape).astype(np.float32) for name, shape in (("w", w), ("c", bias))}
    y = list(np.broadcast_shapes((*x[:-1], w[-1]), bias))
    model = graphs.model(nodes, [("x", list(x))], [("y", y), *outputs], weights)
    path, result = folder / "m.onnx", folder / "o.onnx"
    graphs.save(path, model)
    done = tools.run("mlc-translate", path, "-o", result)
    assert done.returncode == 0, done.stderr
    made = onnx.load(result)
    onnx.checker.check_model(made, full_check=True)
    feed = {"x": rng.standard_normal(x).astype(np.float32)}
    runs = [onnxruntime.InferenceSession(str(p), providers=["CPUExecutionProvider"]).run(None, feed)
            for p in (path, result)]
    for want, got in zip(*runs, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    return [node.op_type for node in made.graph.node]


@pytest.mark.parametrize("nodes", [
    [PRODUCT, ("Add", ["p", "c"], ["y"], {})],
    [PRODUCT, ("Add", ["c", "p"], ["y"], {})],
    [("Gemm", ["x", "w", "c"], ["y"], {})],
], ids=["left", "right", "gemm"])
@pytest.mark.parametrize("bias", [(5,), (1, 5)], ids=str)
def test_gemm(tools, tmp_path, nodes, bias):
    assert exported(tools, tmp_path, nodes, bias) == ["Gemm"]


ADD = ("Add", ["p", "c"], ["y"], {})


@pytest.mark.parametrize("arguments", [
    {"bias": (4, 1)},
    {"bias": (4, 5)},
    {"bias": (1,)},
    {"bias": (5,), "x": (2, 4, 3)},
    {"bias": (2, 1, 5)},
    {"bias": (5,), "more": [("Relu", ["p"], ["z"], {})], "outputs": [("z", [4, 5])]},
], ids=["column", "matrix", "number", "batch", "of a batch", "another reader"])
def test_no_gemm(tools, tmp_path, arguments):
    more = arguments.pop("more", [])
    operators = exported(tools, tmp_path, [PRODUCT, ADD, *more], **arguments)
    assert "MatMul" in operators and "Gemm" not in operators


def test_one_row(tools, tmp_path):
    assert exported(tools, tmp_path, [PRODUCT, ADD], (5,), x=(1, 3)) == ["Gemm"]


def test_zero_size(tools, tmp_path):
    assert exported(tools, tmp_path, [PRODUCT, ADD], (5,), x=(0, 3)) == ["Gemm"]
    assert exported(tools, tmp_path, [PRODUCT, ADD], (5,), x=(4, 0), w=(0, 5))[-1] == "Gemm"
