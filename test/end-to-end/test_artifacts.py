"""Artifacts as their users meet them: through the C ABI and mlc run."""

import json

import graphs
import mlc
import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import numpy_helper


def compiled(tools, folder, model, *flags, name="model"):
    path = graphs.save(folder / f"{name}.onnx", model)
    artifact = folder / f"{name}.mlca"
    done = tools.mlc("compile", path, "-o", artifact, *flags)
    assert done.returncode == 0, done.stderr
    return artifact


def test_two_artifacts_in_one_process(tools, tmp_path):
    """Each runs its own code, though the loader sees both as numbered files."""
    x = np.arange(16, dtype=np.float32).reshape(2, 8) - 5
    sessions = []
    for factor in (2.0, 3.0):
        path = compiled(tools, tmp_path, graphs.scaled_relu(factor))
        sessions.append((factor, mlc.Session(mlc.load(path), threads=1)))
    for factor, session in sessions:
        assert np.array_equal(session.run({"x": x})["y"], np.maximum(x, 0) * factor)


def test_one_artifact_at_many_sizes(tools, tmp_path):
    model = graphs.small_network()
    session = mlc.Session(mlc.load(compiled(tools, tmp_path, model, "--dim=N=any", "--dim=H=any", "--dim=W=any")))
    reference = onnxruntime.InferenceSession(model.SerializeToString())
    rng = np.random.default_rng(0)
    for shape in [(1, 3, 8, 8), (2, 3, 5, 17), (1, 3, 33, 1), (0, 3, 8, 8), (3, 3, 8, 8)]:
        x = rng.standard_normal(shape).astype(np.float32)
        (got,), (want,) = session.run({"x": x}).values(), reference.run(None, {"x": x})
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-6)


def test_repeated_runs_allocate_nothing(tools, tmp_path):
    session = mlc.Session(mlc.load(compiled(tools, tmp_path, graphs.small_network())))
    session.bind({"x": np.ones((2, 3, 16, 16), np.float32)})
    session.invoke()
    before = session.allocations
    for _ in range(5):
        session.invoke()
    assert session.allocations == before


def test_run_writes_arrays_and_names(tools, tmp_path):
    artifact = compiled(tools, tmp_path, graphs.scaled_relu(2.0))
    np.save(tmp_path / "x.npy", np.ones((1, 8), np.float32))
    done = tools.mlc("run", artifact, f"--input=x={tmp_path}/x.npy", f"--output-dir={tmp_path}/out")
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "out/outputs.json").read_text()) == ["y"]
    assert np.array_equal(np.load(tmp_path / "out/0.npy"), np.full((1, 8), 2, np.float32))


@pytest.mark.parametrize("flags", [[], ["--no-rewrites"], ["--target=cpu:x86-64-v3"]])
def test_bytes_do_not_depend_on_the_run(tools, tmp_path, flags):
    """Equal over compiles, folders and thread counts."""
    seen = set()
    for i in range(3):
        folder = tmp_path / f"folder{i}"
        folder.mkdir()
        path = compiled(tools, folder, graphs.small_network(), *flags)
        seen.add(path.read_bytes())
    assert len(seen) == 1


def test_metadata_travels(tools, tmp_path):
    model = graphs.scaled_relu(1.0)
    onnx.helper.set_model_props(model, {"character": "a\nb\nß", "author": "x"})
    artifact = mlc.load(compiled(tools, tmp_path, model))
    assert artifact.metadata["character"] == "a\nb\nß"
    assert "nobody" not in artifact.metadata


def test_batch_norm_is_folded(tools, tmp_path):
    artifact = mlc.load(compiled(tools, tmp_path, graphs.small_network()))
    (trail,) = artifact.manifest["trail"]
    assert any("BatchNormalization_1" in step["places"] for step in trail["steps"])
    plain = mlc.load(compiled(tools, tmp_path, graphs.small_network(), "--no-rewrites", name="plain"))
    assert not plain.manifest.get("trail")
    x = np.random.default_rng(1).standard_normal((2, 3, 16, 16)).astype(np.float32)
    results = [a(x) for a in (artifact, plain)]
    np.testing.assert_allclose(*results, rtol=0, atol=1e-5)


def test_inspect_lists_images_and_what_steps_say(tools, tmp_path):
    artifact = compiled(tools, tmp_path, graphs.scaled_relu(2.0), "--target=cpu:x86-64-v3")
    shown = json.loads(tools.mlc("inspect", artifact, "--json").stdout)
    assert shown["images"] == [{"kind": "elf", "target": "x86-64-v3", "bytes": shown["code_bytes"]}]
    (step,) = shown["steps"]
    assert step["text"].startswith("kernel ") and ", tasks " in step["text"]
    text = tools.mlc("inspect", artifact).stdout
    assert "(elf for x86-64-v3)" in text
    assert f"launch {step['name']} ({step['text']})" in text


@pytest.mark.parametrize("transposed", [0, 1])
def test_one_repeated_number_is_not_written_out(tools, tmp_path, transposed):
    """Neither in the artifact nor, where it is a weight of 400 MB, refused."""
    def made(rows, columns):
        shape = [columns, rows] if transposed else [rows, columns]
        number = numpy_helper.from_array(np.array([0.25], np.float32))
        nodes = [("ConstantOfShape", ["shape"], ["w"], {"value": number}),
                 ("Gemm", ["x", "w"], ["y"], {"transB": transposed})]
        results = [("y", [1, columns]), ("w", shape)]
        return graphs.model(nodes, [("x", [1, rows])], results, {"shape": np.array(shape, np.int64)})

    for rows in (600, 25088):
        artifact = compiled(tools, tmp_path, made(rows, 4096), name=str(rows))
        assert artifact.stat().st_size < 64 << 10
    x = np.random.default_rng(0).standard_normal((1, 600)).astype(np.float32)
    y, w = mlc.load(tmp_path / "600.mlca")(x)
    np.testing.assert_allclose(y, np.full((1, 4096), x.sum() / 4), rtol=1e-4)
    assert w.size == 600 * 4096 and (w == 0.25).all()
