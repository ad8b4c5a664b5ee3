"""Stages on different numbers of ranks: these share a stage's micro-batches, as PipeDream's replicas do."""

import json
import re
import shutil
import subprocess

import delayed
import mlc
import numpy as np
import pytest

import test_asynchronous
from rank_threads import on_threads
from test_asynchronous import assert_equal, plan, samples, steps_of
from test_stages import arguments, farthest, in_doubles, losses, train

NETWORK = ["--clip-norm=0.5", "--loss-scale=8"]


def counts(replicas):
    return [int(one) for one in replicas.split(",")]


def flags_of(folder, name, replicas, batches=7, more=()):
    """An odd number of micro-batches: some ranks of a stage have one less."""
    return arguments(folder, name, f"--micro-batches={batches}", f"--stages={len(counts(replicas))}", *more)


def shared(replicas):
    return [f"--replicas={replicas}", f"--ranks={sum(counts(replicas))}"]


@pytest.mark.parametrize("name, replicas", [("mlp", "3,1"), ("gpt", "2,1,1"), ("gpt", "1,3"), ("unet", "2,2"), ("gpt", "3,1")])
def test_a_step_is_that_of_one_rank(tools, tmp_path, name, replicas):
    """Skip connections, tied weights, norms and loss scales included; only the order of additions differs."""
    flags = flags_of(tmp_path, name, replicas, more=NETWORK)
    one = train(tools, tmp_path, "one", *flags)
    found = {}
    for schedule in ("1f1b", "gpipe"):
        many = train(tools, tmp_path, schedule, *flags, *shared(replicas), f"--pipeline={schedule}")
        np.testing.assert_allclose(losses(many[0]), losses(one[0]), rtol=1e-6)
        assert farthest(one[1], many[1]) < 1e-5
        assert "; 0 allocations after the first step" in many[2]
        found[schedule] = many
    # The ranks of a stage add the same gradients in the same order.
    assert found["1f1b"][0] == found["gpipe"][0]
    assert all(np.array_equal(value, found["gpipe"][1][key]) for key, value in found["1f1b"][1].items() if key != "settings")


def test_in_doubles(tools, tmp_path):
    flags = flags_of(tmp_path, "gpt", "2,3", more=["--clip-norm=0.5"])
    in_doubles(tmp_path, flags)
    one = train(tools, tmp_path, "one", *flags)
    many = train(tools, tmp_path, "many", *flags, *shared("2,3"))
    assert farthest(one[1], many[1]) < 1e-12


def test_engines_and_resuming(tools, tmp_path):
    """Processes over Gloo and MPI have the bits of threads; a run goes on as it was, and on other ranks."""
    flags = flags_of(tmp_path, "gpt", "2,1", more=["--evaluate-every=2", f"--evaluate={tmp_path / 'd.npz'}"])
    threads = train(tools, tmp_path, "threads", *flags, *shared("2,1"))
    held = re.findall(r"held-out loss (\S+)", threads[2])
    launchers = [["launch", "-n", "3", "--"]]
    mlc_command = tools.build / "bin/mlc"
    commands = [[mlc_command, *launchers[0], mlc_command]]
    if (tools.build / "lib/libmlc_engine_mpi.so").exists():
        commands.append(["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "3", mlc_command])
    for command in commands:
        out = tmp_path / "processes.npz"
        out.unlink(missing_ok=True)
        done = subprocess.run([*map(str, command), "train", *flags, "--replicas=2,1", f"--checkpoint={out}", "--log-every=1"], capture_output=True,
                              text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        assert re.findall(r"held-out loss (\S+)", done.stdout) == held
        with np.load(out) as file:
            assert all(np.array_equal(threads[1][key], file[key]) for key in file if key != "settings")
    half = train(tools, tmp_path, "half", *flags, *shared("2,1"), "--steps=2")
    assert half[0] == threads[0][:len(half[0])]
    for where, tolerance in ((shared("2,1"), 0), (["--ranks=2"], 1e-5)):
        shutil.copy(tmp_path / "half.npz", tmp_path / "kept.npz")
        done = tools.mlc("train", *flags, *where, "--resume", f"--checkpoint={tmp_path / 'kept.npz'}")
        assert done.returncode == 0, done.stderr
        with np.load(tmp_path / "kept.npz") as resumed:
            assert farthest(threads[1], {key: resumed[key] for key in resumed}) <= tolerance


def test_beside_a_split_batch_and_zero(tools, tmp_path):
    """Copies of a pipeline with replicas: the samples of a micro-batch are split over "data", micro-batches over replicas."""
    flags = flags_of(tmp_path, "mlp", "2,1", more=NETWORK)
    one = train(tools, tmp_path, "one", *flags)
    many = train(tools, tmp_path, "many", *flags, "--mesh=data=2,stage=3", "--replicas=2,1", "--ranks=6", "--zero=2")
    np.testing.assert_allclose(losses(many[0]), losses(one[0]), rtol=1e-5)
    assert farthest(one[1], many[1]) < 1e-5
    done = tools.mlc("train", *flags, *shared("2,1"), "--zero=1", f"--checkpoint={tmp_path / 'c.npz'}")
    assert done.returncode == 2 and "ZeRO" in done.stderr, done.stderr


def test_plans(tools, tmp_path):
    """A plan names the ranks of stages, in any order; without a mesh these are all."""
    flags = arguments(tmp_path, "mlp")
    given = ["--stages=2", "--replicas=2,1", "--micro-batches=4"]
    done = tools.mlc("train", *flags, *given, "--print-plan")
    stages = [{"ranks": "0-1"}, {"ranks": "2"}]
    assert json.loads(done.stdout) == {"mesh": {"data": 1, "stage": 3}, "accumulate": 4, "stages": stages}
    one = train(tools, tmp_path, "one", *flags, *given, "--ranks=3")
    for places, mesh in ((stages, None), ([{"ranks": "0,2"}, {"ranks": "1"}], None), (stages, {"data": 1, "stage": 3})):
        text = {"micro_batches": 4, "schedule": "1f1b", "stages": places, **({"mesh": mesh} if mesh else {})}
        (tmp_path / "plan.json").write_text(json.dumps(text))
        other = train(tools, tmp_path, "other", *flags, f"--plan={tmp_path / 'plan.json'}", "--ranks=3")
        assert one[0] == other[0] and all(np.array_equal(one[1][key], other[1][key]) for key in one[1] if key != "settings")
        states = [int(n) for n in re.findall(r"(\d+) bytes of states", other[2])]
        first, second = [[i for i, stage in enumerate(places) if str(rank) in stage["ranks"].replace("0-1", "0,1").split(",")] == [0] for rank in range(3)], states
        assert len({state for state, is_first in zip(second, first) if is_first}) == 1


def assert_updates(tools, folder, replicas, schedule, every, versions):
    """Stages of the numpy reference have updates of their own sizes."""
    data = samples(np.float64)
    stages = len(replicas)
    places, rank = [], 0
    for count in replicas:
        places.append(",".join(str(rank + i) for i in range(count)))
        rank += count
    own = plan(stages, schedule, **({"update_every": every[0]} if schedule == "pipedream-2bw" else {}))
    own["mesh"]["stage"] = rank
    for stage, ranks in zip(own["stages"], places):
        stage["ranks"] = ranks
    found = test_asynchronous.train(tools, folder, stages, own, data, optimizer="adam", ranks=rank)
    wanted = delayed.run(delayed.weights(), steps_of(data), stages, delayed.Optimizer("adam", test_asynchronous.RATE), versions,
                         every=lambda stage: every[stage])
    assert_equal(found, wanted, 1e-10)


@pytest.mark.parametrize("replicas", [[3, 1], [1, 3], [2, 2], [2, 1, 1]])
def test_pipedream(tools, tmp_path, replicas):
    """An update of a stage has a gradient of each of its ranks; F reads the newest version, and B the same."""
    flying = [-(-sum(replicas[stage:]) // replicas[stage]) for stage in range(len(replicas))]
    assert_updates(tools, tmp_path, replicas, "pipedream", replicas,
                   lambda stage, k: max(0, k // replicas[stage] - flying[stage] + 1))


@pytest.mark.parametrize("replicas, every", [([3, 1], 4), ([1, 2], 3), ([2, 1, 1], 6)])
def test_pipedream_2bw(tools, tmp_path, replicas, every):
    assert_updates(tools, tmp_path, replicas, "pipedream-2bw", [every] * len(replicas), delayed.two_buffered(every))


@pytest.mark.parametrize("schedule", [["--pipeline=pipedream"], ["--pipeline=pipedream-2bw", "--update-every=3"]],
                         ids=["pipedream", "pipedream-2bw"])
def test_asynchronous_runs(tools, tmp_path, schedule):
    """Labels that do not count, processes and resumed runs."""
    flags = [flag for flag in test_asynchronous.command_line(tmp_path, "--stage-ends=h1", *schedule) if flag != "--micro-batches=8"]
    flags += ["--micro-batches=6", "--replicas=3,1"]
    whole = test_asynchronous.run(tools, tmp_path, *flags, "--ranks=4")
    assert "; 0 allocations after the first step" in whole[2]
    states = [int(n) for n in re.findall(r"(\d+) bytes of states", whole[2])]
    assert len(states) == 4 and len(set(states[:3])) == 1
    launcher = [tools.build / "bin/mlc", "launch", "-n", "4", "--"]
    assert test_asynchronous.same(whole, test_asynchronous.run(tools, tmp_path, *flags, launcher=launcher))
    test_asynchronous.run(tools, tmp_path, *flags, "--ranks=4", "--steps=2")
    assert test_asynchronous.same((whole[0][2:], whole[1]), test_asynchronous.run(tools, tmp_path, *flags, "--ranks=4", "--resume"))
    if "--pipeline=pipedream" in schedule:
        done = tools.mlc(*flags, "--ranks=4", "--pipeline=1f1b", "--resume", f"--checkpoint={tmp_path / 'c.npz'}")
        assert done.returncode != 0 and "2, 6 updates of a step" in done.stderr, done.stderr


def test_keyword_arguments():
    data = samples(np.float32)
    batches = [{"x": x, "target": t} for x, t in zip(data[0][0], data[1][0])]

    def losses_of(count, **more):
        def work(rank):
            trainer = mlc.Trainer(test_asynchronous.model(np.float32), loss="mse", learning_rate=0.01, ranks=rank, accumulate=len(batches),
                                  stages=2, **more)
            return [trainer.step(batches) for _ in range(2)]
        return on_threads(count, work)

    found = losses_of(3, replicas=[2, 1])
    assert found[0] == found[1] == found[2]
    np.testing.assert_allclose(found[0], losses_of(2)[0], rtol=1e-6)


@pytest.mark.parametrize("flags, problem", [
    (["--stages=2", "--ranks=4", "--replicas=3,0"], "--replicas=3,0: expected the ranks of each stage, as 3,1"),
    (["--stages=2", "--ranks=4", "--replicas="], "--replicas=: expected the ranks of each stage"),
    (["--stages=3", "--ranks=4", "--replicas=3,1"], "--replicas=3,1 is of 2 stages, and there are 3; give a number of ranks for each"),
    (["--ranks=4", "--replicas=3,1"], "--replicas=3,1 is of 2 stages, and there is 1"),
    (["--stages=2", "--ranks=3", "--replicas=3,1"], "--replicas=3,1 is of 4 ranks, and there are 3; "),
    (["--stages=2", "--replicas=3,1"], "--replicas=3,1 is of 4 ranks, and there is 1; "),
    (["--stages=2", "--ranks=6", "--mesh=data=2,stage=3", "--replicas=1,1"], "--mesh=data=2,stage=3 has 3 ranks for stages, and --replicas names 2; give stage=2"),
    (["--stages=2", "--ranks=4", "--replicas=3,1", "--pipeline=zero-bubble"], "zero-bubble has no replicas of stages; give gpipe, 1f1b"),
    (["--stages=2", "--ranks=4", "--replicas=3,1", "--micro-batches=2"], "3 ranks share the micro-batches of a stage, and only 2 get one"),
    (["--stages=2", "--ranks=4", "--replicas=3,1", "--micro-batches=4", "--pipeline=pipedream"], "3 do not divide 4 micro-batches"),
])
def test_wrong_flags(tools, tmp_path, flags, problem):
    done = tools.mlc("train", *arguments(tmp_path, "mlp"), *flags, f"--checkpoint={tmp_path / 'c.npz'}")
    assert done.returncode == 2 and problem in done.stderr, done.stderr
    assert not (tmp_path / "c.npz").exists()
