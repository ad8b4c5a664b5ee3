"""Stages of different meshes: one splits its samples over ranks over which another splits weights."""

import json
import re

import numpy as np
import pytest

from test_stages import arguments, farthest, in_doubles, losses, train

NETWORK = ["--clip-norm=0.5", "--loss-scale=8"]
SPLIT = {"*.q.weight": "-,tensor", "*.k.weight": "-,tensor", "*.v.weight": "-,tensor", "*.out.weight": "tensor",
         "*.up.weight": "-,tensor", "*.up.bias": "tensor", "*.down.weight": "tensor"}
MLP = {"second.weight": "-,tensor", "second.bias": "tensor", "third.weight": "tensor"}
PART, WHOLE = {"data": 2}, {"data": 1, "tensor": 2}  # of a stage on two ranks


def written(folder, meshes, shard, data=1, batches=4, **more):
    """A plan whose stages have these meshes, with `data` copies of the pipeline."""
    stages = [{**(stage if isinstance(stage, dict) else {}), "mesh": {**mesh, "data": data * mesh["data"]}} for stage, mesh in meshes]
    plan = {"mesh": {"data": data, "stage": len(stages), "tensor": 2}, "micro_batches": batches, "shard": shard, "stages": stages, **more}
    (folder / "plan.json").write_text(json.dumps(plan))
    return [f"--plan={folder / 'plan.json'}", f"--ranks={2 * data * len(stages)}"]


def is_step(one, many, tolerance=1e-5):
    np.testing.assert_allclose(losses(many[0]), losses(one[0]), rtol=tolerance)
    assert "; 0 allocations after the first step" in many[2]
    assert farthest(one[1], many[1]) < tolerance


@pytest.mark.parametrize("meshes, more", [
    ([PART, WHOLE], {}),
    ([WHOLE, PART], {"schedule": "gpipe"}),
    # The batch of 2 in parts of 1; tied weights of a part and a whole; weights gathered for each micro-batch.
    ([PART, WHOLE, PART], {"schedule": "zero-bubble"}),
])
def test_attention(tools, tmp_path, meshes, more):
    flags = arguments(tmp_path, "gpt", *NETWORK)
    one = train(tools, tmp_path, "one", *flags, "--micro-batches=4")
    is_step(one, train(tools, tmp_path, "many", *flags, *written(tmp_path, [(None, mesh) for mesh in meshes], SPLIT, **more)))


@pytest.mark.parametrize("meshes, more", [([PART, WHOLE], {"zero": 2}), ([WHOLE, PART], {"zero": 3})])
def test_beside_copies_and_zero(tools, tmp_path, meshes, more):
    """A batch of 9 in parts of 3 and 2; eight ranks."""
    flags = arguments(tmp_path, "mlp", *NETWORK)
    one = train(tools, tmp_path, "one", *flags, "--micro-batches=4")
    stages = [({"until": "relu_2_0"}, meshes[0]), (None, meshes[1])]
    is_step(one, train(tools, tmp_path, "many", *flags, *written(tmp_path, stages, MLP, data=2, **more)))


def test_beside_versions_and_replicas(tools, tmp_path):
    flags = arguments(tmp_path, "mlp")
    one = train(tools, tmp_path, "one", *flags, "--micro-batches=8", "--stage-ends=relu_2_0", "--pipeline=pipedream", "--ranks=2")
    stages = [({"until": "relu_2_0"}, PART), (None, WHOLE)]
    is_step(one, train(tools, tmp_path, "many", *flags, *written(tmp_path, stages, MLP, batches=8, schedule="pipedream")))
    one = train(tools, tmp_path, "one", *flags, "--micro-batches=5")
    plan = json.loads((tmp_path / "plan.json").read_text())
    plan |= {"micro_batches": 5, "schedule": "1f1b", "mesh": {"data": 1, "stage": 3, "tensor": 2}}
    for stage, ranks in zip(plan["stages"], ("0-1", "2")):
        stage["ranks"] = ranks
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    is_step(one, train(tools, tmp_path, "many", *flags, f"--plan={tmp_path / 'plan.json'}", "--ranks=6"))


def test_in_doubles(tools, tmp_path):
    flags = arguments(tmp_path, "gpt", "--clip-norm=0.5")
    in_doubles(tmp_path, flags)
    one = train(tools, tmp_path, "one", *flags, "--micro-batches=4")
    many = train(tools, tmp_path, "many", *flags, *written(tmp_path, [(None, PART), (None, WHOLE)], SPLIT))
    assert farthest(one[1], many[1]) < 1e-11


def entry(text, name):
    return text.split(f'func.func @"{name}"')[1].split("func.func")[0]


def test_stages_send_parts(tools, tmp_path):
    """Who reads gathers: a stage sends what each rank has of its samples, forward and back."""
    flags = arguments(tmp_path, "mlp", "--no-rewrites")
    there = written(tmp_path, [({"until": "relu_2_0"}, PART), (None, WHOLE)], MLP)
    done = tools.mlc("train", *flags, *there, "--compile-to=distribute")
    assert done.returncode == 0, done.stderr
    text = done.stdout
    part = "floordiv(-1 * rank.tensor, 2) + 5, 24"
    assert "all_gather" not in entry(text, "0F") and f"{part}]>> {{mlc.name = \"0F/relu_2_0\"" in entry(text, "0F")
    assert entry(text, "1F").count("dist.all_gather") == 1 and entry(text, "1B").count("dist.reduce_scatter") == 1
    # The weights' gradients are sums over samples, and so over ranks.
    assert entry(text, "0B").count("dist.all_reduce") == 1 and "gather" not in entry(text, "0B")
    # Four messages of 5 and of 4 samples, of 24 floats, each way.
    many = train(tools, tmp_path, "many", *flags, *there)
    carried = 4 * 4 * 24
    sent = [int(n) for n in re.findall(r"(\d+) bytes sent for a step", many[2])]
    assert all(own >= carried * samples for own, samples in zip(sent, (5, 4, 5, 4)))
    back = written(tmp_path, [({"until": "relu_2_0"}, WHOLE), (None, PART)], {"first.weight": "-,tensor", "first.bias": "tensor"})
    text = tools.mlc("train", *flags, *back, "--compile-to=distribute").stdout
    # What was split by columns is split by samples, and back.
    assert "all_to_all" in entry(text, "0F") and "all_gather" not in entry(text, "1F")


def test_plans(tools, tmp_path):
    flags = arguments(tmp_path, "mlp")
    here = written(tmp_path, [({"until": "relu_2_0"}, PART), (None, WHOLE)], MLP)
    done = tools.mlc("train", *flags, here[0], "--print-plan")
    stages = [{"until": "relu_2_0", "mesh": {"data": 2}}, {"mesh": {"data": 1, "tensor": 2}}]
    assert json.loads(done.stdout)["stages"] == stages
    (tmp_path / "again.json").write_text(done.stdout)
    assert tools.mlc("train", *flags, f"--plan={tmp_path / 'again.json'}", "--print-plan").stdout == done.stdout
    # Meshes that are all the plan's are not said.
    same = written(tmp_path, [({"until": "relu_2_0"}, WHOLE), (None, WHOLE)], MLP)
    assert json.loads(tools.mlc("train", *flags, same[0], "--print-plan").stdout)["stages"] == [{"until": "relu_2_0"}, {}]
    # An axis that splits samples alone is used.
    only = written(tmp_path, [({"until": "relu_2_0"}, PART), (None, PART)], {})
    one = train(tools, tmp_path, "one", *flags, "--micro-batches=4")
    is_step(one, train(tools, tmp_path, "many", *flags, *only))


@pytest.mark.parametrize("change, problem", [
    ({"stages": [{"mesh": {"data": 3}}, {"mesh": {"data": 1, "tensor": 2}}]}, 'stage 0 has "mesh": its ranks split samples into 2: .* give "data": 2'),
    ({"stages": [{"mesh": {"data": 2, "tensor": 2}}, {"mesh": {"data": 2}}]}, 'stage 0 has "mesh": its ranks split samples into 1: .* give "data": 1'),
    ({"stages": [{"mesh": {"data": 1, "tensor": 4}}, {"mesh": {"data": 2}}]}, '"tensor" of 4 is of 2 in the plan\'s mesh'),
    ({"stages": [{"mesh": {"data": 2, "model": 2}}, {"mesh": {"data": 2}}]}, '"model" of 2 is no axis of the plan\'s mesh'),
    ({"stages": [{"mesh": {"data": 2}}, {"ranks": "1"}]}, 'stages name "ranks", and not all do'),
    ({"stages": [{"until": "relu_2_0", "mesh": {"data": 2}}, {}]}, 'stages have "mesh", and not all do'),
    ({"stages": [{"mesh": 2}, {"mesh": {"data": 2}}]}, 'stage 0 has "mesh": expected an object, {"data": RANKS}, not a number'),
    ({"stages": [{"mesh": {"data": "2"}}, {"mesh": {"data": 2}}]}, "expected a whole number of ranks, not a string"),
    ({"mesh": {"data": 1, "tensor": 2}, "stages": [{"mesh": {"data": 2}}]}, "meshes are of each of several stages"),
    ({"stages": [{"mesh": {"data": 2}}, {"mesh": {"data": 2}}], "schedule": "terapipe", "slices": 2}, "without slices"),
    ({"mesh": None, "shard": None, "stages": [{"mesh": {"data": 2}}, {"mesh": {"data": 2}}]}, 'the plan has no "mesh"; give it one'),
])
def test_wrong_plans(tools, tmp_path, change, problem):
    plan = {"mesh": {"data": 1, "stage": 2, "tensor": 2}, "micro_batches": 4, "shard": {"first.weight": "-,tensor"}, **change}
    (tmp_path / "p.json").write_text(json.dumps({key: value for key, value in plan.items() if value is not None}))
    done = tools.mlc("check-plan", tmp_path / "p.json")
    assert done.returncode == 3 and re.search(problem, done.stderr), done.stderr


def test_too_few_samples(tools, tmp_path):
    flags = arguments(tmp_path, "gpt")  # batches of 2
    done = tools.mlc("train", *flags, *written(tmp_path, [(None, PART), (None, WHOLE)], SPLIT, data=2), f"--checkpoint={tmp_path / 'c.npz'}")
    assert done.returncode != 0 and "a batch of 2 samples is not one for 4 ranks" in done.stderr, done.stderr
