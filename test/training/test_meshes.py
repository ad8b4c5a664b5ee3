"""Meshes of training: a batch, stages and weights split over ranks train as one rank does."""

import json
import re
import shutil

import numpy as np
import pytest
from mesh_matrix import SHARDS, flags_of
from test_stages import arguments, farthest, in_doubles, losses, train

NETWORK = ["--clip-norm=0.5", "--loss-scale=8"]


def is_step(one, many, tolerance=1e-5):
    """Whether losses and states are those of one rank, and nothing is allocated in the steady state."""
    np.testing.assert_allclose(losses(many[0]), losses(one[0]), rtol=tolerance)
    assert "; 0 allocations after the first step" in many[2]
    assert farthest(one[1], many[1]) < tolerance


@pytest.mark.parametrize("name, mesh, more", [
    # A batch of 9 in parts of 5 and 4; the default takes as many ranks for stages as there are.
    ("mlp", None, ["--stages=2", "--ranks=4"]),
    ("mlp", None, ["--stages=3", "--ranks=6", "--zero=2", "--pipeline=zero-bubble", "--bucket-bytes=64", "--groups=2"]),
    ("mlp", "data=3,stage=2", ["--stages=4", "--zero=3", "--algorithm=ring"]),
    ("mlp", "data=2,stage=2", ["--stages=2", "--zero=1", "--pipeline=chimera"]),
    ("unet", "data=2,stage=2", ["--stages=2", "--zero=3"]),
    ("lstm", "data=2,stage=2", ["--stages=2", "--zero=2"]),
    # Neighbouring ranks share the samples of a stage.
    ("mlp", "stage=2,data=3", ["--stages=4", "--zero=3", "--algorithm=ring"]),
    ("unet", "stage=3,data=2", ["--stages=3", "--zero=1"]),
    # One stage after the other on each rank.
    ("mlp", "data=2", ["--stages=3", "--zero=3"]),
])
def test_a_split_batch(tools, tmp_path, name, mesh, more):
    flags = arguments(tmp_path, name, "--micro-batches=4", *NETWORK)
    one = train(tools, tmp_path, "one", *flags)
    if mesh:
        ranks = np.prod([int(n) for n in re.findall(r"=(\d+)", mesh)])
        more = [*more, f"--mesh={mesh}", f"--ranks={ranks}"]
    is_step(one, train(tools, tmp_path, "many", *flags, *more))


@pytest.mark.parametrize("schedule, zero, tensor", [
    ("1f1b", 0, 2), ("interleaved-1f1b", 1, 1), ("zero-bubble", 2, 2), ("chimera", 3, 2), ("gpipe", 3, 1),
])
def test_schedules_beside_zero_and_tensors(tools, tmp_path, schedule, zero, tensor):
    """Eight ranks; `mesh_matrix.py` runs all combinations."""
    flags = arguments(tmp_path, "gpt", *NETWORK)
    one = train(tools, tmp_path, "one", *flags, "--micro-batches=4")
    is_step(one, train(tools, tmp_path, "many", *flags, *flags_of(schedule, zero, tensor)))


def states_of(run):
    return [int(n) for n in re.findall(r"(\d+) bytes of states", run[2])]


@pytest.mark.parametrize("schedule", ["pipedream", "pipedream-2bw", "ampnet"])
def test_asynchronous_schedules(tools, tmp_path, schedule):
    """Copies of the pipeline update together; versions of weights are split as the weights are."""
    update = [] if schedule == "pipedream" else ["--update-every=2"]
    flags = arguments(tmp_path, "mlp", "--micro-batches=8", "--stages=2", f"--pipeline={schedule}", *update)
    one = train(tools, tmp_path, "one", *flags, "--ranks=2")
    is_step(one, train(tools, tmp_path, "copies", *flags, "--ranks=4"))
    split = ["--shard=first.weight=-,tensor", "--shard=first.bias=tensor", "--shard=second.weight=tensor"]
    whole = states_of(one)
    for more, share in ((["--ranks=4", "--zero=3"], 0.51), (["--mesh=data=1,stage=2,tensor=2", "--ranks=4", *split], 0.75),
                        (["--mesh=data=2,stage=2,tensor=2", "--ranks=8", *split, "--zero=3"], 0.4)):
        many = train(tools, tmp_path, "many", *flags, *more)
        is_step(one, many)
        # Each rank has its part of all versions.
        states = states_of(many)
        assert max(states) < share * max(whole), (states, whole)
    half = train(tools, tmp_path, "half", *flags, *more, "--steps=2")
    done = tools.mlc("train", *flags, "--ranks=2", "--resume", f"--checkpoint={tmp_path / 'half.npz'}", "--log-every=1")
    assert done.returncode == 0, done.stderr
    np.testing.assert_allclose(losses(re.findall(r"^step .*$", done.stdout, re.M)), losses(one[0])[len(half[0]):], rtol=1e-5)


@pytest.mark.parametrize("name", ["gpt", "translator"])
@pytest.mark.parametrize("zero", [0, 3])
def test_weights_are_split_over_a_second_axis(tools, tmp_path, name, zero):
    """Without stages, too: columns and rows of weights as in Megatron-LM."""
    flags = arguments(tmp_path, name, *NETWORK, "--accumulate=2")
    one = train(tools, tmp_path, "one", *flags)
    many = train(tools, tmp_path, "many", *flags, "--mesh=data=2,tensor=2", "--ranks=4", f"--zero={zero}", *SHARDS)
    is_step(one, many)
    whole = 3 * sum(value.nbytes for key, value in one[1].items() if key.startswith("weight/"))
    states = [int(n) for n in re.findall(r"(\d+) bytes of states", many[2])]
    assert len(states) == 4 and max(states) < (0.45 if zero else 0.85) * whole


def test_a_mesh_in_doubles(tools, tmp_path):
    """Only the order of additions differs."""
    flags = arguments(tmp_path, "gpt", "--micro-batches=4", "--clip-norm=0.5")
    in_doubles(tmp_path, flags)
    one = train(tools, tmp_path, "one", *flags)
    many = train(tools, tmp_path, "many", *flags, "--stages=2", "--mesh=data=2,stage=2,tensor=2", "--ranks=8", "--zero=3", *SHARDS)
    assert farthest(one[1], many[1]) < 1e-11


def test_each_rank_has_its_part_of_its_stage(tools, tmp_path):
    flags = arguments(tmp_path, "mlp", "--micro-batches=4", "--stages=2", "--ranks=4", "--zero=3")
    states = [int(n) for n in re.findall(r"(\d+) bytes of states", train(tools, tmp_path, "many", *flags)[2])]
    done = train(tools, tmp_path, "one", *arguments(tmp_path, "mlp", "--micro-batches=4"))
    assert len(states) == 4 and sum(states) == 3 * sum(v.nbytes for k, v in done[1].items() if k.startswith("weight/"))


def test_processes_and_resuming(tools, tmp_path):
    """Processes over Gloo have the bits of threads; a run goes on on another mesh; held-out losses are of all ranks."""
    flags = arguments(tmp_path, "gpt", "--micro-batches=2", "--stages=2", "--evaluate-every=2", f"--evaluate={tmp_path / 'd.npz'}")
    mesh = ["--mesh=data=2,stage=2", "--zero=2", "--algorithm=ring"]
    threads = train(tools, tmp_path, "threads", *flags, *mesh, "--ranks=4")
    processes = train(tools, tmp_path, "processes", *flags, *mesh, launched=[4])
    assert threads[0] == processes[0]
    assert all(np.array_equal(threads[1][key], processes[1][key]) for key in threads[1])
    held = re.findall(r"held-out loss (\S+)", threads[2])
    assert held and held == re.findall(r"held-out loss (\S+)", processes[2])
    one = train(tools, tmp_path, "one", *flags)
    np.testing.assert_allclose([float(x) for x in held], [float(x) for x in re.findall(r"held-out loss (\S+)", one[2])], rtol=1e-5)
    train(tools, tmp_path, "half", *flags, *mesh, "--ranks=4", "--steps=2")
    shutil.copy(tmp_path / "half.npz", tmp_path / "kept.npz")
    done = tools.mlc("train", *flags, "--mesh=data=1,stage=2,tensor=2", "--ranks=4", *SHARDS, "--resume", f"--checkpoint={tmp_path / 'kept.npz'}")
    assert done.returncode == 0, done.stderr
    with np.load(tmp_path / "kept.npz") as resumed:
        assert farthest(one[1], {key: resumed[key] for key in resumed}) < 2e-5


def test_plans(tools, tmp_path):
    flags = arguments(tmp_path, "gpt")
    given = ["--stages=2", "--micro-batches=2", "--mesh=data=2,stage=2,tensor=2", "--zero=1", "--shard=*.up.weight=-,tensor"]
    done = tools.mlc("train", *flags, *given, "--print-plan")
    assert json.loads(done.stdout) == {"mesh": {"data": 2, "stage": 2, "tensor": 2}, "shard": {"*.up.weight": "-,tensor"}, "zero": 1,
                                       "accumulate": 2, "stages": 2}
    (tmp_path / "plan.json").write_text(done.stdout)
    assert tools.mlc("train", flags[0], f"--plan={tmp_path / 'plan.json'}", "--print-plan").stdout == done.stdout
    one = train(tools, tmp_path, "one", *flags, *given, "--ranks=8")
    other = train(tools, tmp_path, "other", *flags, f"--plan={tmp_path / 'plan.json'}", "--ranks=8")
    assert one[0] == other[0]

    def error(plan):
        (tmp_path / "wrong.json").write_text(json.dumps(plan))
        done = tools.mlc("train", *flags, f"--plan={tmp_path / 'wrong.json'}", f"--checkpoint={tmp_path / 'c.npz'}")
        assert done.returncode == 3 and "wrong.json" in done.stderr, done.stderr
        return done.stderr

    assert 'training has the axis "data" first' in error({"mesh": {"tensor": 2, "data": 2}})
    assert 'the axis "stage" comes directly before or after "data"' in error({"mesh": {"data": 2, "tensor": 2, "stage": 2}})
    assert "the axis 'tensor' splits nothing; name weights in \"shard\"" in error({"mesh": {"data": 2, "tensor": 2}})
    assert "so the axis stage is not taken for 'embedding'" in error(
        {"mesh": {"data": 1, "stage": 2}, "stages": 2, "shard": {"embedding": "stage"}})
    assert "the axis data splits samples" in error({"mesh": {"data": 2}, "shard": {"embedding": "-,data"}})
    assert "4 ranks for 2 stages; each rank has a stage at least" in error({"mesh": {"data": 1, "stage": 4}, "stages": 2})
    assert 'ZeRO splits states over ranks of "data", and there is one' in error(
        {"mesh": {"data": 1, "tensor": 2}, "shard": {"embedding": "-,tensor"}, "zero": 1})


@pytest.mark.parametrize("flags, problem", [
    (["--stages=2", "--ranks=3"], "3 ranks for 2 stages; each rank has a stage at least, and a multiple of the ranks can split the batch too"),
    (["--stages=2", "--ranks=4", "--algorithm=server"], "stages are not taken beside a parameter server"),
    (["--mesh=data=2,stage=2", "--stages=2"], "--mesh=data=2,stage=2 is of 4 ranks, and there is 1; start it with mlc launch -n 4, or give --ranks=4"),
    (["--mesh=data=2,stage=2", "--ranks=4"], "a schedule is of several stages, and there is one"),
    (["--mesh=stage=2", "--stages=2", "--ranks=2"], 'training has the axis "data" first'),
    (["--mesh=data", "--ranks=2"], "expected AXIS=N,..."),
    (["--shard=first.weight=tensor"], "there is none; give --mesh=data=N,AXIS=N"),
    (["--mesh=data=2,tensor=2", "--ranks=4", "--shard=first.weight=model"], "'model' is no axis of the mesh"),
    (["--mesh=data=1,tensor=2", "--ranks=2", "--shard=frist.weight=tensor"],
     "no trained weight, input or node is called 'frist.weight'; did you mean 'first.weight'?"),
    (["--mesh=data=1,tensor=2", "--ranks=2", "--shard=first.bias=-,tensor"], "has 1 dims, and the sharding of 'first.bias' says how 2 are split"),
    (["--mesh=data=16", "--ranks=16"], "a batch of 9 samples is not one for 16 ranks"),
])
def test_wrong_flags(tools, tmp_path, flags, problem):
    done = tools.mlc("train", *arguments(tmp_path, "mlp"), *flags, f"--checkpoint={tmp_path / 'c.npz'}")
    assert done.returncode in (2, 4) and problem in done.stderr, done.stderr
    assert not (tmp_path / "c.npz").exists()


def test_slices_in_copies(tools, tmp_path):
    """TeraPipe beside a split batch and split weights."""
    flags = arguments(tmp_path, "gpt", *NETWORK, "--micro-batches=2")
    one = train(tools, tmp_path, "one", *flags)
    is_step(one, train(tools, tmp_path, "many", *flags, "--stages=2", "--ranks=4", "--zero=3", "--pipeline=terapipe", "--slices=3"))
