"""mlc plan --planner=bayes: how copies exchange their gradients."""

import json

import pytest

from test_model_plans import write_cluster, write_model


def plan(tools, *flags):
    done = tools.mlc("plan", *flags, "--loss=mse", "--planner=bayes", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("latency, bandwidth", [(1e-4, 1e9), (3e-6, 3e7)])
def test_25_samples_are_near_the_best_of_all(tools, tmp_path, latency, bandwidth):
    model = write_model(tmp_path / "m.onnx", sizes=(64, 128, 64, 32, 128, 64))
    flags = [model, "--cluster", write_cluster(tmp_path / "c.json", 1e9, latency, bandwidth), "--samples=64", "--micro-batches=1", "--optimizer=adam"]
    every = plan(tools, *flags, "--budget=100000")
    best = every["best"]["seconds"]
    assert len(every["tried"]) == every["there_are"] > 300
    assert best == min(one["seconds"] for one in every["tried"])
    for seed in range(3):
        found = plan(tools, *flags, "--budget=25", f"--seed={seed}")
        assert len(found["tried"]) == 25
        assert found["best"]["seconds"] <= 1.05 * best
        # Plain data parallelism is tried first.
        assert found["tried"][0]["bucket_bytes"] == 25 << 20 and found["tried"][0]["seconds"] == every["tried"][0]["seconds"]


def test_the_plan_is_carried_out_and_the_seed_decides(tools, tmp_path):
    import numpy as np

    model = write_model(tmp_path / "m.onnx")
    flags = [model, "--cluster", write_cluster(tmp_path / "c.json", 1e9, 1e-5, 1e8), "--samples=32", "--ranks=4"]
    for name in ("a", "b"):
        found = plan(tools, *flags, "--seed=5", "-o", tmp_path / f"{name}.json")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    other = plan(tools, *flags, "--seed=6")
    assert found["tried"] != other["tried"]
    best, train = found["best"], [model, "--loss=mse", "--plan", tmp_path / "a.json", f"--batch={found['best']['batch']}"]
    checked = tools.mlc("check-plan", tmp_path / "a.json", model, "--loss=mse", f"--batch={best['batch']}")
    assert checked.returncode == 0, checked.stderr
    simulated = tools.mlc("simulate", *train, "--json")
    assert json.loads(simulated.stdout)["seconds"] == best["seconds"], simulated.stderr
    rng = np.random.default_rng(2)
    np.savez(tmp_path / "d.npz", x0=rng.standard_normal((64, 64)).astype(np.float32), target=rng.standard_normal((64, 64)).astype(np.float32))
    done = tools.mlc("train", *train, "--ranks=4", "--steps=2", f"--data={tmp_path / 'd.npz'}", "-o", tmp_path / "t.onnx")
    assert done.returncode == 0, done.stderr


def test_pipelines_are_tried_where_schedules_are_named(tools, tmp_path):
    model = write_model(tmp_path / "m.onnx", sizes=(512,) * 9)
    flags = [model, "--cluster", write_cluster(tmp_path / "c.json", 1e9, 1e-6, 1e7), "--samples=16", "--ranks=4"]
    found = plan(tools, *flags, "--schedules=1f1b,interleaved-1f1b", "-o", tmp_path / "p.json")
    # Slow links carry activations rather than gradients.
    assert found["best"]["stages"] > 1
    assert len({one["schedule"] for one in found["tried"]}) > 1
    checked = tools.mlc("check-plan", tmp_path / "p.json", model, "--loss=mse", f"--batch={found['best']['batch']}")
    assert checked.returncode == 0, checked.stderr


def test_memory_is_kept(tools, tmp_path):
    """Of one rank's states, which ZeRO splits, a device has a third."""
    model = write_model(tmp_path / "m.onnx", sizes=(512,) * 9)
    cluster = write_cluster(tmp_path / "c.json", 14e6)
    found = plan(tools, model, "--cluster", cluster, "--samples=16", "--ranks=8", "--optimizer=adam")
    assert not found["tried"][0]["fits"] and found["best"]["fits"] and found["best"]["zero"] >= 1
    done = tools.mlc("plan", model, "--loss=mse", "--planner=bayes", "--cluster", write_cluster(tmp_path / "d.json", 1e6), "--samples=16", "--budget=12", "-o", tmp_path / "p.json")
    assert done.returncode == 9 and "no plan fits" in done.stderr and not (tmp_path / "p.json").exists()


@pytest.mark.parametrize("flags, message", [
    (["--planner=bayes"], "the batch is open; give --samples"),
    (["--planner=bayes", "--samples=4"], "4 samples are too few for 8 ranks"),
    (["--planner=bayes", "--samples=8", "--micro-batches=3"], "--samples=8 is no multiple of 3 micro-batches"),
    (["--planner=bayes", "--samples=64", "--budget=257"], "plans; give 1 to 256, or as many as there are"),
    (["--planner=bayes", "--samples=64", "--blocks=3"], "--blocks is of the other planners"),
    (["--planner=bayes", "--samples=64", "--mesh=data=8"], "--mesh is of --planner=shardings"),
    (["--samples=64", "--seed=3"], "--seed is of --planner=mcmc, bayes,"),
])
def test_errors_say_what_to_do(tools, tmp_path, flags, message):
    done = tools.mlc("plan", write_model(tmp_path / "m.onnx"), "--loss=mse", "--cluster", write_cluster(tmp_path / "c.json", 1e9), *flags)
    assert done.returncode == 2 and message in done.stderr, done.stderr
