"""mlc check-plan: what is wrong with a plan, with file, key and remedy, before anything runs."""

import json
import time

import pytest

import trained

PLAN = {"mesh": {"data": 1, "stage": 2}, "micro_batches": 4, "schedule": "1f1b", "stages": [{"until": "relu_2_0"}, {}]}


@pytest.fixture
def model(tmp_path):
    path, *flags = [str(a) for a in trained.write(tmp_path, "mlp") if "--input" not in str(a)]
    return path, flags


def check(tools, tmp_path, plan, *flags):
    (tmp_path / "p.json").write_text(plan if isinstance(plan, str) else json.dumps(plan))
    begin = time.monotonic()
    done = tools.mlc("check-plan", tmp_path / "p.json", *flags)
    assert time.monotonic() - begin < 10  # a second, but for what else the machine does
    return done


def refused(tools, tmp_path, plan, *flags):
    done = check(tools, tmp_path, plan, *flags)
    assert done.returncode in (2, 3, 9) and not done.stdout, done.stderr
    return done.stderr


def test_what_is_right(tools, tmp_path, model):
    path, flags = model
    assert "2 ranks, 2 stages, 4 micro-batches; no model is compared" in check(tools, tmp_path, PLAN).stdout
    assert "memory is not compared" in check(tools, tmp_path, PLAN, path, "--cluster=cluster:this-machine").stdout
    done = check(tools, tmp_path, {**PLAN, "cluster": "cluster:this-machine"}, path, *flags)
    assert "nothing is wrong" in done.stdout and "bytes at most" in done.stdout, done.stderr
    # Ranks that share a stage; without a mesh these are all.
    shared = {"micro_batches": 4, "stages": [{"until": "relu_2_0", "ranks": "0-2"}, {"ranks": "3"}]}
    done = check(tools, tmp_path, {**shared, "cluster": "cluster:this-machine"}, path, *flags)
    assert "4 ranks, 2 stages, 4 micro-batches" in done.stdout and "bytes at most" in done.stdout, done.stderr
    # Plans of models, and of training without stages.
    assert "4 ranks" in check(tools, tmp_path, {"mesh": {"a": 4}, "shard": {"x": "a"}}, path).stdout
    assert "2 ranks" in check(tools, tmp_path, {"mesh": {"data": 2}, "zero": 1}, path, "--batch=9").stdout


def test_what_simulate_saves(tools, tmp_path, model):
    path, flags = model
    done = tools.mlc("simulate", path, *flags, "--stages=2", "--ranks=2", "--micro-batches=4", "--cluster=cluster:k80-4",
                     f"--save-plan={tmp_path / 'q.json'}", "--json", "--estimate")
    assert done.returncode == 0, done.stderr
    plan = json.loads((tmp_path / "q.json").read_text())
    assert plan["cluster"] == "cluster:k80-4" and plan["model"]["file"] == path and len(plan["model"]["blake3"]) == 64
    assert abs(plan["predicted"]["seconds"] - json.loads(done.stdout)["seconds"]) < 1e-12
    assert 0 < plan["predicted"]["bound"] <= plan["predicted"]["seconds"]
    # The plan says all that flags said, and the cluster.
    again = tools.mlc("simulate", path, *flags, f"--plan={tmp_path / 'q.json'}", "--json", "--estimate")
    assert again.returncode == 0 and again.stdout == done.stdout, again.stderr
    assert "nothing is wrong" in check(tools, tmp_path, plan, *flags).stdout
    # Another model, or another cluster.
    other, *_ = trained.write(tmp_path, "gpt")
    for command in (["check-plan", tmp_path / "q.json", other], ["simulate", other, f"--plan={tmp_path / 'q.json'}", "--loss=cross-entropy", "--class-axis=-1"]):
        done = tools.mlc(*command)
        assert done.returncode == 3 and "is another model than the plan is for" in done.stderr, done.stderr
    error = refused(tools, tmp_path, plan, "--cluster=cluster:p3.16xlarge")
    assert '"cluster": "cluster:k80-4", and --cluster is cluster:p3.16xlarge; leave --cluster out' in error


@pytest.mark.parametrize("change, problem", [
    ({"stages": [{"until": "relu_2"}, {}]}, "\"stages\": stage 0 is until 'relu_2', which is no node of .*; did you mean 'relu_2_0'"),
    ({"stages": [{"until": "tanh_5_0"}, {"until": "relu_2_0"}, {}], "mesh": {"data": 1, "stage": 3}},
     "stage 1 is until 'relu_2_0', which does not come after 'tanh_5_0'.* in a circle"),
    ({"stages": [{"until": "relu_2_0", "rank": "0"}, {}]}, 'stage 0 has "rank", which is no key of a stage; there are until, ranks'),
    ({"stages": [{"until": "relu_2_0", "ranks": "0"}, {}]}, 'stages name "ranks", and not all do'),
    ({"stages": [{"until": "relu_2_0", "ranks": "0"}, {"ranks": "0"}], "schedule": "chimera"}, "rank 1 has no stage; name it"),
    ({"stages": [{"until": "relu_2_0", "ranks": "0,0"}, {"ranks": "1"}]}, "rank 0 is there twice"),
    ({"stages": [{"until": "relu_2_0", "ranks": "0-1"}, {"ranks": "0"}]}, 'rank 0 is in the "ranks" of stages 0 and 1, and the schedule gives it one'),
    ({"stages": [{"until": "relu_2_0", "ranks": "0"}, {"ranks": ""}]}, 'expected ranks, as "0-3,6", not ""'),
    ({"stages": [{"until": "relu_2_0", "ranks": "0-1"}, {"ranks": "3"}], "mesh": {"data": 1, "stage": 4}}, "rank 2 has no stage; name it"),
    ({"stages": [{"until": "relu_2_0", "ranks": "0-4"}, {"ranks": "5"}], "mesh": {"data": 1, "stage": 6}}, "5 ranks share the micro-batches of a stage"),
    ({"stages": [{"until": "relu_2_0", "ranks": "0-2"}, {"ranks": "3"}], "mesh": {"data": 1, "stage": 4}, "schedule": "zero-bubble"},
     "zero-bubble has no replicas of stages"),
    ({"stages": [{"until": "relu_2_0", "ranks": "1"}, {"ranks": "0"}], "schedule": "chimera"},
     'stage 0 is on "ranks": "1", and the schedule runs it on 0-1'),
    ({"stages": [{"until": "relu_2_0", "ranks": "0"}, {"ranks": "1-2"}]}, "stage 1 is on rank 2, and the mesh has 2"),
    ({"stages": [{"until": "relu_2_0", "ranks": "x"}, {"ranks": "1"}]}, 'expected ranks, as "0-3,6", not "x"'),
    ({"micro_batches": 10**9}, "a step averages the gradients of 1 to"),
    ({"micro_batches": 4, "accumulate": 5}, "accumulate and micro_batches say the same, and differ"),
    ({"schedule": "interleaved-1f1b", "stages": 4, "micro_batches": 5}, "5"),
    ({"schedul": "1f1b"}, '"schedul": is no key of a plan; there are mesh, .*, micro_batches, .*, model, cluster'),
    ({"schedule": "none.csv"}, "none.csv"),
    ({"cluster": "none.json"}, "none.json: cannot be read"),
    ({"cluster": ""}, '"cluster": expected a file, or cluster:NAME'),
    ({"cluster": "cluster:k80-4", "mesh": {"data": 1, "stage": 5}, "stages": 5, "micro_batches": 5}, "has 4 ranks, and the plan 5"),
    ({"model": {"file": "m.onnx", "blake3": "00"}}, '"model": "blake3": expected 64 hexadecimal digits'),
    ({"model": {"hash": "00"}}, '"hash" is no key of a model; there are file, blake3'),
    ({"model": {"file": "m.onnx", "blake3": 64 * "0"}}, "is another model than the plan is for"),
    ({"predicted": {"second": 1}}, '"predicted": "second" is no key of a prediction'),
    ({"predicted": {"seconds": -1}}, "expected seconds from 0 on"),
    ({"mesh": {"data": 4, "stage": 2}}, "a batch of 3 has no sample for each of 4 ranks"),
    ({"shard": {"first.wei": "data"}}, "'first.wei' is no input, weight, output or node of .*; did you mean 'first.weight'"),
])
def test_what_is_wrong(tools, tmp_path, model, change, problem):
    import re
    error = refused(tools, tmp_path, {**PLAN, **change}, model[0], "--batch=3")
    assert re.search(problem, error), error
    assert str(tmp_path) in error or "none" in error or "cluster:" in error


def test_files_that_are_no_plan(tools, tmp_path):
    text = json.dumps(PLAN)
    for end in range(len(text)):
        assert "p.json: line 1, column" in refused(tools, tmp_path, text[:end]) if end % 7 == 0 else True
    assert "a plan is a JSON object" in refused(tools, tmp_path, "[]")
    assert "no file; give a plan" in tools.mlc("check-plan").stderr


def test_clusters(tools, tmp_path, model):
    path, flags = model
    cluster = json.loads((tools.source / "simulator/cluster/machines/this-machine.json").read_text())
    level = cluster["levels"][0]
    level["bytes_per_second"]["value"] = {key: 0 for key in level["bytes_per_second"]["value"]} \
        if isinstance(level["bytes_per_second"]["value"], dict) else 0
    (tmp_path / "zero.json").write_text(json.dumps(cluster))
    error = refused(tools, tmp_path, PLAN, f"--cluster={tmp_path / 'zero.json'}")
    assert "zero.json" in error and "bytes_per_second" in error
    cluster = json.loads((tools.source / "simulator/cluster/machines/this-machine.json").read_text())
    for device in cluster["devices"].values():
        device["memory_bytes"]["value"] = 1000
    (tmp_path / "small.json").write_text(json.dumps(cluster))
    error = refused(tools, tmp_path, PLAN, path, *flags, f"--cluster={tmp_path / 'small.json'}")
    assert "rank 0, " in error and "bytes too many for the 1000 of its device" in error
