"""mlc plan --planner=list, min-cut and reinforce: a rank for each operator."""

import json

import numpy as np
import pytest

import flexflow_networks as networks
from test_model_plans import write_cluster, write_model

FLAGS = ["--loss=cross-entropy", "--class-axis=-1", "--cluster=cluster:flexflow-k80", "--ranks=4"]


def plan(tools, *flags):
    done = tools.mlc("plan", *flags, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    return found, {one["name"]: one["seconds"] for one in found["plans"]}


def test_inception_is_placed_better_than_others_say(tools, tmp_path):
    """On four ranks Inception-v3's branches gain, as published; a cut of few bytes, equal runs and random placements do not."""
    model = networks.inception_v3(tmp_path / "m.onnx", 8, mixed=(1, 1, 1), size=139)
    flags = [model, "--loss=cross-entropy", *FLAGS[2:]]
    found, seconds = plan(tools, *flags, "--planner=reinforce", "--budget=240", "--compare", "--seed=1")
    best = found["plans"][0]["seconds"]
    for other in ("one rank", "equal runs, a layer a rank", "min-cut", "the best of 200 random ones"):
        assert best < seconds[other], other
    assert len({one["rank"] for one in found["operators"]}) > 1
    again, _ = plan(tools, *flags, "--planner=reinforce", "--budget=240", "--compare", "--seed=1")
    assert again == found
    listed, _ = plan(tools, *flags, "--planner=list")
    assert listed["plans"][0]["seconds"] < seconds["one rank"]


@pytest.mark.parametrize("planner", ["list", "reinforce"])
def test_few_groups_are_placed_as_trying_all_says(tools, tmp_path, planner):
    model = networks.nmt(tmp_path / "m.onnx", 16, units=256, layers=2, steps=3, vocabulary=1000)
    found, seconds = plan(tools, model, *FLAGS, f"--planner={planner}", "--blocks=7", "--compare", *(["--budget=240"] if planner == "reinforce" else []))
    assert found["groups"] == 7
    assert found["plans"][0]["seconds"] <= 1.05 * seconds["the best of all"]
    assert seconds["the best of all"] <= min(seconds.values()) * (1 + 1e-9)


def test_layers_of_a_small_language_model_stay_together(tools, tmp_path):
    """As published, a layer a rank is slower than one rank; the search is never slower."""
    model = networks.rnnlm(tmp_path / "m.onnx", 16, units=64, layers=2, steps=4, vocabulary=500)
    found, seconds = plan(tools, model, *FLAGS, "--planner=reinforce", "--budget=80", "--compare")
    assert seconds["one rank"] < seconds["equal runs, a layer a rank"]
    assert found["plans"][0]["seconds"] == min(seconds.values())


def test_a_plan_is_written_and_trained(tools, tmp_path):
    """A chain whose weights one rank has no memory for: a stage each."""
    model = write_model(tmp_path / "m.onnx")
    cluster = tmp_path / "c.json"
    write_cluster(cluster, 1e5)
    flags = [model, "--loss=mse", f"--cluster={cluster}", "--samples=8"]
    found, _ = plan(tools, *flags, "--ranks=2", "--planner=reinforce", "--budget=40", "-o", tmp_path / "p.json")
    written = json.loads((tmp_path / "p.json").read_text())
    ranks = [one["rank"] for one in found["operators"]]
    runs = [rank for i, rank in enumerate(ranks) if i == 0 or ranks[i - 1] != rank]
    assert [int(one["ranks"]) for one in written["stages"]] == runs and len(runs) == 2
    assert written["predicted"]["seconds"] == pytest.approx(found["plans"][0]["seconds"], rel=0.3)
    checked = tools.mlc("check-plan", tmp_path / "p.json", model, "--batch=8")
    assert checked.returncode == 0, checked.stderr
    rng = np.random.default_rng(2)
    np.savez(tmp_path / "d.npz", x0=rng.standard_normal((16, 64)).astype(np.float32), target=rng.standard_normal((16, 64)).astype(np.float32))
    common = [model, "--loss=mse", "--batch=8", "--steps=2", f"--data={tmp_path / 'd.npz'}"]
    done = tools.mlc("train", *common, "--plan", tmp_path / "p.json", "--ranks=2", f"--checkpoint={tmp_path / 'a.npz'}")
    assert done.returncode == 0, done.stderr
    done = tools.mlc("train", *common, f"--checkpoint={tmp_path / 'b.npz'}")
    assert done.returncode == 0, done.stderr
    a, b = np.load(tmp_path / "a.npz"), np.load(tmp_path / "b.npz")
    np.testing.assert_allclose(a["weight/w0"], b["weight/w0"], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("flags, code, message", [
    (["--planner=list", "--samples=8", "--seed=2"], 2, "--seed is of --planner=mcmc, bayes, min-cut and reinforce"),
    (["--planner=min-cut", "--samples=8", "--micro-batches=2"], 2, "--micro-batches is of pipelines; --planner=list, min-cut and reinforce plan none"),
    (["--planner=reinforce", "--samples=8", "--budget=0"], 2, "--budget must be 1 to"),
    (["--planner=list"], 4, "has a result whose dims are not known; fix them"),
])
def test_errors_say_what_to_do(tools, tmp_path, flags, code, message):
    done = tools.mlc("plan", write_model(tmp_path / "m.onnx"), "--loss=mse", "--ranks=2", "--cluster=cluster:flexflow-k80", *flags)
    assert done.returncode == code and message in done.stderr, done.stderr
