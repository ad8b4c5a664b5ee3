"""Quantized numbers, beside ONNX Runtime without optimizations."""

import graphs
import mlc
import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto

rng = np.random.default_rng(6)


def check(tools, folder, model, arrays, atol=0.0):
    path = graphs.save(folder / "m.onnx", model)
    done = tools.mlc("compile", path, "-o", folder / "m.mlca")
    assert done.returncode == 0, done.stderr
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    for got, want in zip(mlc.load(folder / "m.mlca").run(arrays).values(), session.run(None, arrays), strict=True):
        assert got.dtype == want.dtype and got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=0, atol=atol)


@pytest.mark.parametrize("kind", [np.int8, np.uint8])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_there_and_back(kind, axis, tools, tmp_path):
    """Numbers beyond the steps saturate, halves go to the even one."""
    count = {None: (), 0: 3, 1: 8}[axis]
    scale = (2.0 ** rng.integers(-3, 1, count)).astype("f")
    zero = rng.integers(0, 9, count).astype(kind)
    attributes = {} if axis is None else {"axis": axis}
    x = np.round(rng.normal(size=(3, 8)) * 60, 1).astype("f")
    x[0, :3] = [1e9, -1e9, 2.5]
    check(tools, tmp_path, graphs.model(
        [("QuantizeLinear", ["x", "s", "z"], ["q"], attributes), ("DequantizeLinear", ["q", "s", "z"], ["y"], attributes)],
        [("x", ["N", 8] if axis != 0 else [3, 8])],
        [("q", ["N", 8], TensorProto.INT8 if kind is np.int8 else TensorProto.UINT8), ("y", ["N", 8])],
        {"s": scale, "z": zero}), {"x": x})


def test_without_zero_points(tools, tmp_path):
    weights = {"s": np.float32(0.5), "w": rng.integers(-127, 128, (8, 4)).astype(np.int8)}
    check(tools, tmp_path, graphs.model(
        [("QuantizeLinear", ["x", "s"], ["q"], {}), ("DequantizeLinear", ["q", "s"], ["d"], {}),
         ("DequantizeLinear", ["w", "s"], ["v"], {}), ("MatMul", ["d", "v"], ["y"], {})],
        [("x", [3, 8])], [("q", [3, 8], TensorProto.UINT8), ("y", [3, 4])], weights),
        {"x": rng.normal(size=(3, 8)).astype("f") * 8}, atol=1e-3)


@pytest.mark.parametrize("values", ["mixed", "positive", "zero"])
def test_dynamic(values, tools, tmp_path):
    x = rng.normal(size=(3, 8)).astype("f")
    x = {"mixed": x, "positive": np.abs(x) + 1, "zero": x * 0}[values]
    byte = TensorProto.UINT8
    check(tools, tmp_path, graphs.model(
        [("DynamicQuantizeLinear", ["x"], ["q", "s", "z"], {})],
        [("x", ["N", 8])], [("q", ["N", 8], byte), ("s", []), ("z", [], byte)]), {"x": x}, atol=1e-7)


def test_blocks_are_refused(tools, tmp_path):
    model = graphs.model([("DequantizeLinear", ["w", "s"], ["y"], {"block_size": 2, "axis": 0})], [("x", [4])], [("y", [4, 3])],
                         {"w": np.ones((4, 3), np.int8), "s": np.ones((2, 3), np.float32)}, opset=21)
    done = tools.mlc("compile", graphs.save(tmp_path / "m.onnx", model), "-o", tmp_path / "m.mlca")
    assert done.returncode == 4 and "blocks of a scale each" in done.stderr, done.stderr
