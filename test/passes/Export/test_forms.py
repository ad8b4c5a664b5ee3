"""Single operators through import and export: ONNX's checker and ONNX Runtime
take what is written, and compute the same shapes and values."""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

import graphs

RNG = np.random.default_rng(5)


def run(tools, folder, made, feed):
    path, result = graphs.save(folder / "m.onnx", made), folder / "o.onnx"
    done = tools.run("mlc-translate", path, "-o", result)
    assert done.returncode == 0, done.stderr
    written = onnx.load(result)
    onnx.checker.check_model(written, full_check=True)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    sessions = [
        onnxruntime.InferenceSession(str(p), options, providers=["CPUExecutionProvider"]) for p in (path, result)
    ]
    for want, got in zip(*(s.run(None, feed) for s in sessions)):
        assert want.shape == got.shape and want.dtype == got.dtype
        np.testing.assert_allclose(got.astype(np.float64), want.astype(np.float64), rtol=1e-6)
    return written


def test_leading_ones_are_dims(tools, tmp_path):
    """[4] + [1, 4] has two dims, whichever of them brings the 1."""
    x = RNG.standard_normal(4).astype(np.float32)
    made = graphs.model([("Add", ["x", "w"], ["y"], {}), ("Sub", ["w", "x"], ["z"], {})], [("x", [4])],
                        [("y", [1, 4]), ("z", [1, 4])], {"w": np.ones((1, 4), np.float32)})
    run(tools, tmp_path, made, {"x": x})


def test_leading_ones_of_a_one_hot(tools, tmp_path):
    made = graphs.model([("OneHot", ["i", "depth", "x"], ["y"], {"axis": 0})], [("x", [2])],
                        [("y", [1, 1, 3, 1])], {"i": np.int64([[[-1], [0], [-2]]]).reshape(1, 3, 1), "depth": np.int64(1)})
    run(tools, tmp_path, made, {"x": np.float32([0.5, -2])})


@pytest.mark.parametrize("dims", [["D", 3], [4, 3]])
def test_expand_keeps_an_open_dim(dims, tools, tmp_path):
    """D may be 1 when the model runs."""
    made = graphs.model([("Expand", ["x", "shape"], ["y"], {})], [("x", dims)], [("y", [4, 3])],
                        {"shape": np.int64([4, 3])})
    run(tools, tmp_path, made, {"x": RNG.standard_normal((4, 3)).astype(np.float32)})
    if dims[0] == "D":
        run(tools, tmp_path, made, {"x": RNG.standard_normal((1, 3)).astype(np.float32)})


def test_mean_of_doubles(tools, tmp_path):
    """Runtimes have pools of floats only."""
    made = graphs.model(
        [("ReduceMean", ["x"], ["y"], {"axes": [2, 3]}), ("ReduceMax", ["x"], ["z"], {"axes": [2, 3]})],
        [("x", [1, 2, 3, 3], TensorProto.DOUBLE)],
        [("y", [1, 2, 1, 1], TensorProto.DOUBLE), ("z", [1, 2, 1, 1], TensorProto.DOUBLE)])
    written = run(tools, tmp_path, made, {"x": RNG.standard_normal((1, 2, 3, 3))})
    assert [n.op_type for n in written.graph.node] == ["ReduceMean", "ReduceMax"]


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.int16, np.uint16, np.uint64, np.float16, np.float64])
def test_triangles(dtype, tools, tmp_path):
    """Trilu is a choice between elements, of types that Where is not there for."""
    number = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    made = graphs.model([("Trilu", ["x"], ["y"], {"upper": 0})], [("x", [3, 4], number)], [("y", [3, 4], number)])
    x = (RNG.integers(0, 120, (3, 4)) % (2 if dtype is np.bool_ else 127)).astype(dtype)
    path, result = graphs.save(tmp_path / "m.onnx", made), tmp_path / "o.onnx"
    assert tools.run("mlc-translate", path, "-o", result).returncode == 0
    onnx.checker.check_model(onnx.load(result), full_check=True)
    session = onnxruntime.InferenceSession(str(result), providers=["CPUExecutionProvider"])
    (got,) = session.run(None, {"x": x})
    assert got.dtype == x.dtype
    np.testing.assert_array_equal(got, np.tril(x))


@pytest.mark.parametrize("op", ["Max", "Min"])
@pytest.mark.parametrize("dtype", [np.int16, np.uint16, np.int32])
def test_extrema(op, dtype, tools, tmp_path):
    number = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    made = graphs.model([(op, ["x", "w"], ["y"], {})], [("x", [2, 3], number)], [("y", [2, 3], number)],
                        {"w": np.array([7, 9, 60], dtype)})
    x = RNG.integers(0, 99, (2, 3)).astype(dtype)
    path, result = graphs.save(tmp_path / "m.onnx", made), tmp_path / "o.onnx"
    assert tools.run("mlc-translate", path, "-o", result).returncode == 0
    onnx.checker.check_model(onnx.load(result), full_check=True)
    session = onnxruntime.InferenceSession(str(result), providers=["CPUExecutionProvider"])
    (got,) = session.run(None, {"x": x})
    want = (np.maximum if op == "Max" else np.minimum)(x, np.array([7, 9, 60], dtype))
    assert got.dtype == x.dtype
    np.testing.assert_array_equal(got, want)


def test_header(tools, tmp_path):
    """What a model says of itself stays."""
    made = graphs.scaled_relu(2.0)
    made.doc_string, made.domain, made.model_version = "what it is for", "org.example", 7
    made.producer_name, made.producer_version = "an exporter", "1.2"
    made.graph.doc_string = "the graph"
    made.metadata_props.add(key="author", value="somebody")
    written = run(tools, tmp_path, made, {"x": RNG.standard_normal((2, 8)).astype(np.float32)})
    for field in ("doc_string", "domain", "model_version", "producer_name", "producer_version"):
        assert getattr(written, field) == getattr(made, field), field
    assert (written.graph.name, written.graph.doc_string) == (made.graph.name, "the graph")
    assert written.metadata_props == made.metadata_props
