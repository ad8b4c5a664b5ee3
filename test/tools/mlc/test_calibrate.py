"""mlc calibrate: a target file of this machine, and a timing cache of a model."""

import json
import os

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    rng = np.random.default_rng(1)
    weights = rng.uniform(-1, 1, (32, 32, 3, 3)).astype("f4")
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w"], ["y"], name="first", pads=[1, 1, 1, 1]),
         helper.make_node("Relu", ["y"], ["z"], name="second")],
        "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 32, 28, 28])],
        [helper.make_tensor_value_info("z", TensorProto.FLOAT, [1, 32, 28, 28])],
        [numpy_helper.from_array(weights, "w")])
    path = tmp_path_factory.mktemp("model") / "m.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
    return path


@pytest.fixture(scope="module")
def target(tools, tmp_path_factory):
    path = tmp_path_factory.mktemp("target") / "this.json"
    done = tools.mlc("calibrate", "-o", path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return path


def test_target_file_is_plausible(target):
    read = json.loads(target.read_text())
    cost = {key: entry["value"] for key, entry in read["cost"].items()}
    assert read["name"].startswith("cpu:x86-64-v")
    assert 5e9 < cost["contraction_flops_per_second"] < 1e12
    assert 0.05 < cost["contraction_efficiency"] <= 1
    l2, l3, memory = (rate for _, rate in cost["memory"])
    assert l2 > memory / 2 and l3 > memory / 2
    if len(os.sched_getaffinity(0)) > 1:  # no thread hears of another's work sooner
        assert 2e-8 < cost["seconds_per_kernel"] < 1e-3
    assert all(entry["source"] for entry in read["cost"].values())
    measured = [key for key, entry in read["cost"].items() if entry["source"].startswith("measured by")]
    assert len(measured) == 6


def test_target_file_is_a_target(tools, target, model, tmp_path):
    artifact = tmp_path / "m.mlca"
    done = tools.mlc("compile", model, "-o", artifact, f"--target={target}")
    assert done.returncode == 0, done.stderr
    assert tools.mlc("bench", artifact, "--runs=1").returncode == 0
    done = tools.mlc("optimize", model, "-o", tmp_path / "o.onnx", f"--target={target}")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("text, message", [
    ("", "not JSON"), ("{}", '"name"'), ('{"name": 1}', '"name": expected a text'),
    ('{"name": "a", "description": "b", "cost": []}', '"cost": expected an object')])
def test_wrong_target_files(tools, model, tmp_path, text, message):
    path = tmp_path / "t.json"
    path.write_text(text)
    done = tools.mlc("optimize", model, "-o", tmp_path / "o.onnx", f"--target={path}")
    assert done.returncode == 3
    assert message in done.stderr and done.stderr.startswith(f"mlc: error: {path}: ")


def test_gpus_are_costed_and_not_compiled(tools, model, tmp_path):
    done = tools.mlc("optimize", model, "-o", tmp_path / "o.onnx", "--target=gpu:v100")
    assert done.returncode == 0, done.stderr
    done = tools.mlc("compile", model, "-o", tmp_path / "m.mlca", "--target=gpu:v100")
    assert done.returncode == 4 and "unsupported; give a cpu or a cuda target" in done.stderr
    assert not (tmp_path / "m.mlca").exists()
    done = tools.mlc("calibrate", "--target=gpu:v100")
    assert done.returncode == 4 and done.stdout == ""


def test_timing_cache(tools, model, tmp_path):
    path = tmp_path / "timings.json"
    for _ in range(2):  # the second adds to the file
        done = tools.mlc("calibrate", model, f"--timings={path}", "--runs=3", "--json")
        assert (done.returncode, done.stderr) == (0, "")
        report = json.loads(done.stdout)
        assert report["operators"] == 1
        assert 0.05 < report["predicted_seconds"] / report["measured_seconds"] < 20
    cache = json.loads(path.read_text())
    [timing] = cache["timings"]
    assert timing["operator"].startswith("mlc.conv {") and "tensor<32x32x3x3xf32>" in timing["operator"]
    assert 1e-7 < timing["seconds"] < 1
    done = tools.mlc("optimize", model, "-o", tmp_path / "o.onnx", f"--timings={path}")
    assert done.returncode == 0, done.stderr
    done = tools.mlc("optimize", model, "-o", tmp_path / "o.onnx", f"--timings={path}", "--target=gpu:k80")
    assert done.returncode == 3 and "was measured on cpu" in done.stderr
    path.write_text('{"target": "cpu:x86-64-v3", "timings": [{"operator": "a", "seconds": -1}]}')
    done = tools.mlc("optimize", model, "-o", tmp_path / "o.onnx", f"--timings={path}")
    assert done.returncode == 3 and '"timings"[0]' in done.stderr


@pytest.mark.parametrize("arguments, message", [
    (["--runs=0"], "--runs 0"), (["--target=gpu:x"], "unknown target"), (["m.onnx"], "give both"),
    (["--timings=t.json"], "give both"), (["m.onnx", "--timings=t.json", "-o", "x.json"], "give one")])
def test_wrong_command_lines(tools, arguments, message):
    done = tools.mlc("calibrate", *arguments)
    assert done.returncode == 2 and message in done.stderr
