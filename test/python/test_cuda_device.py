"""The emulator as a device of the Python package."""

import numpy as np
import mlc
import onnx
from onnx import TensorProto as T
from onnx import helper


def test_runs_of_two_sizes_allocate_once(tmp_path):
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["p"]), helper.make_node("Relu", ["p"], ["y"])], "g",
        [helper.make_tensor_value_info("x", T.FLOAT, ["N", 20])], [helper.make_tensor_value_info("y", T.FLOAT, ["N", 9])],
        [helper.make_tensor("w", T.FLOAT, [20, 9], np.random.default_rng(0).standard_normal(180))])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), tmp_path / "m.onnx")
    weights = onnx.numpy_helper.to_array(graph.initializer[0])
    model = mlc.compile(tmp_path / "m.onnx", target="cuda:sm_80")
    assert model.manifest["precision"] == "tf32" and model.manifest["kernels"]
    session = model.session(device="emulator")
    seen = {}
    for n in (5, 70, 5, 5, 5, 70, 70, 5):
        x = np.random.default_rng(n).standard_normal((n, 20)).astype(np.float32)
        (y,) = session.run([x]).values()
        want = np.maximum(x.astype(np.float64) @ weights, 0)
        assert np.linalg.norm(y - want) <= 2e-3 * np.linalg.norm(want)
        # Bit for bit what it was, recorded or not.
        assert np.array_equal(seen.setdefault(n, y), y)
    settled = session.allocations
    for n in (5, 5, 5):
        session.run([np.zeros((n, 20), np.float32)])
    assert session.allocations == settled
