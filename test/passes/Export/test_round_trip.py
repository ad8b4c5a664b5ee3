"""Models through import and export: ONNX Runtime must compute the same.

Each model is read with its dims open, written as ONNX again, checked by the
onnx package, and run beside the original at every case's sizes.
"""

import os
import pathlib
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "models"))
import catalog  # noqa: E402

BUILD = pathlib.Path(os.environ.get("MLC_BUILD", "build"))
NAMES = (
    [name for name, *_ in catalog.TRAINED]
    + [f"{kind} {name}" for name in catalog.LIGHT for kind in ("light", "seeded")]
    + [name for name, *_ in catalog.EXTRA]
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("models")


def round_trip(model, target):
    done = subprocess.run(
        [BUILD / "bin/mlc-translate", model, "-o", target], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr


def session(path):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", NAMES)
def test_round_trip(name, folder):
    found = [m for m in catalog.models(folder, [name]) if m.name == name]
    if not found:
        pytest.skip("the model is not here")
    model, target = found[0], folder / "out.onnx"
    round_trip(model.path, target)
    exported, original = onnx.load(target), onnx.load(model.path)
    onnx.checker.check_model(exported, full_check=True)
    assert [i.name for i in exported.graph.input] == [i.name for i in catalog.fed_inputs(original)]
    assert [o.name for o in exported.graph.output] == [o.name for o in original.graph.output]
    assert {p.key: p.value for p in exported.metadata_props} == {p.key: p.value for p in original.metadata_props}
    before, after = session(model.path), session(target)
    for case in model.cases:
        feed = catalog.feed(model, case, "random")
        for expected, result in zip(before.run(None, feed), after.run(None, feed)):
            assert result.shape == expected.shape and result.dtype == expected.dtype
            scale = max(np.abs(expected).max(), 1e-30)
            error = np.abs(result - expected).max()
            # A sigmoid that is nearly 0 everywhere has steps of 1e-7.
            assert error <= max(model.tolerance * scale, 1e-6)


@pytest.mark.parametrize("mode", ["CRD", "DCR"])
def test_depth_to_space_keeps_its_name(tmp_path, mode):
    """Three operators of the graph dialect are one ONNX node again."""
    node = onnx.helper.make_node("DepthToSpace", ["x"], ["y"], blocksize=2, mode=mode)
    info = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [node], "shuffle", [info("x", onnx.TensorProto.FLOAT, ["n", 12, "h", "w"])],
        [info("y", onnx.TensorProto.FLOAT, ["n", 3, "p", "q"])])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, tmp_path / "in.onnx")
    round_trip(tmp_path / "in.onnx", tmp_path / "out.onnx")
    exported = onnx.load(tmp_path / "out.onnx")
    assert [n.op_type for n in exported.graph.node] == ["DepthToSpace"]
    x = np.random.default_rng(1).standard_normal((2, 12, 3, 5)).astype(np.float32)
    want, got = (session(tmp_path / f).run(None, {"x": x})[0] for f in ("in.onnx", "out.onnx"))
    np.testing.assert_array_equal(want, got)
