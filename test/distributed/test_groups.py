"""Round-robin groups: several collectives of a program under way at once, with the bits of one after another."""

import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest

import programs
from networks import Trained, train, write
from test_processes import LAUNCHERS, alive, command, found, launch, rank_of, within

COUNT = 3
STEPS = 4


@pytest.mark.sampled(2)
@pytest.mark.parametrize("stage, algorithm", [(0, "ring"), (1, "tree"), (2, "ring"), (3, "ring"), (0, "own")])
def test_training_has_the_bits_of_one_group(tools, tmp_path, stage, algorithm):
    """A bucket for each gradient, so that there are many. The threads' own sums are in the order of the ranks."""
    arguments = [*write(tmp_path, "mlp"), "--optimizer=adamw", "--batch=8", f"--steps={STEPS}", f"--zero={stage}",
                 f"--algorithm={algorithm}", "--bucket-bytes=1", f"--ranks={COUNT}", "--clip-norm=0.3"]
    one = train(tools, arguments, tmp_path / "one.npz")
    for groups in (2, 3):
        many = train(tools, arguments, tmp_path / f"{groups}.npz", f"--groups={groups}")
        assert many.bits() == one.bits() and list(many.losses) == list(one.losses)
        # Ranks meet before a group is made, once.
        assert all(a <= b <= a + 8 * groups for a, b in zip(one.sent, many.sent))


@pytest.mark.parametrize("engine", LAUNCHERS)
@pytest.mark.parametrize("stage", [0, 3])
def test_processes(tools, tmp_path, engine, stage):
    arguments = [*write(tmp_path, "mlp"), "--optimizer=adamw", "--batch=8", "--steps=3", f"--zero={stage}", "--algorithm=ring",
                 "--bucket-bytes=1"]
    threads = train(tools, arguments, tmp_path / "threads.npz", f"--ranks={COUNT}")
    out = tmp_path / "processes.npz"
    done = launch(tools, engine, COUNT, *arguments, "--groups=3", f"--checkpoint={out}")
    assert done.returncode == 0, done.stderr
    processes = Trained(done, out)
    assert processes.bits() == threads.bits() and list(processes.losses) == list(threads.losses)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
@pytest.mark.parametrize("engine", LAUNCHERS)
def test_a_rank_that_dies_or_stops_is_named(tools, tmp_path, engine, how):
    """By all others, whichever groups they wait in, within the timeout and five seconds."""
    timeout = 3
    arguments = [*write(tmp_path, "depthwise"), "--batch=9", "--learning-rate=1e-9", "--steps=100000000", "--bucket-bytes=1",
                 f"--checkpoint={tmp_path / 'c.npz'}", "--checkpoint-every=100000000", f"--timeout={timeout}", "--groups=3"]
    run = subprocess.Popen(command(tools, engine, COUNT, *arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                           start_new_session=True)
    try:
        while not (line := run.stdout.readline()).startswith("step"):
            assert line or run.poll() is None, run.stderr.read()
        assert within(10, lambda: len(found(arguments[0], run.pid)) == COUNT)
        pids = {rank_of(pid): pid for pid in found(arguments[0], run.pid)}
        others = [pid for rank, pid in pids.items() if rank != 1]
        os.kill(pids[1], how)
        assert within(timeout + 5, lambda: not any(alive(pid) for pid in others))
        _, errors = run.communicate(timeout=60)
        assert run.returncode != 0
        for rank in (0, 2):
            told = re.search(rf"rank {rank}: collective \d+(?: of group of 'data', [123] of 3)? \(all-reduce [^\n]*?\)([^\n]*)", errors)
            assert told and re.search(r"rank 1\b", told[1]), errors
        assert within(5, lambda: not any(alive(pid) for pid in pids.values()))
    finally:
        if run.poll() is None:
            os.killpg(run.pid, signal.SIGKILL)


OTHER_GROUPS = """
import os, sys
import mlc
ranks = mlc.Ranks(groups=int(os.environ["RANK"]) + 2)
mlc.Trainer(mlc.load(sys.argv[1]), learning_rate=0.1, ranks=ranks).fit(sys.argv[2], steps=1)
"""


def test_other_numbers_of_groups_on_a_rank_are_named(tools, tmp_path):
    """Of two groups the second is made where there is one of three. `mlc train` compares plans before."""
    mlc = tools.build / "bin/mlc"

    def launched(*arguments):
        done = subprocess.run([mlc, "launch", "-n", "2", *arguments], capture_output=True, text=True, timeout=60,
                              env={**os.environ, "PYTHONPATH": str(tools.source / "runtime/python")})
        assert done.returncode != 0
        return done.stderr
    training = [*write(tmp_path, "mlp"), "--batch=8", "--bucket-bytes=1"]
    error = launched("sh", "-c", 'exec "$@" --groups=$((RANK + 2))', "sh", mlc, "train", *training, "--steps=1",
                     f"--checkpoint={tmp_path / 'c.npz'}")
    assert "rank 1 has another model, other samples, another plan or other options than rank 0" in error
    made = tools.mlc("train", *(flag for flag in training if not str(flag).startswith(("--data", "--log", "--seed"))), "--ranks=2",
                     f"--artifact={tmp_path / 'm.mlca'}")
    assert made.returncode == 0, made.stderr
    error = launched(sys.executable, "-c", OTHER_GROUPS, tmp_path / "m.mlca", tmp_path / "mlp.npz")
    assert re.search(r"rank \d: (collective \d+ \(split into groups of 'data', 2 of [23]\): rank \d is in another, split into groups of "
                     r"'data', 2 of [23]; give all ranks the same sizes and options|not all ranks make groups of 'data', 2 of [23]; give "
                     r"all the same number of groups)", error), error


def test_what_groups_cannot_be_is_refused(tools, tmp_path):
    arguments = [*write(tmp_path, "mlp"), f"--checkpoint={tmp_path / 'c.npz'}", "--batch=8"]
    for flags, message in [(["--ranks=2", "--groups=0"], "0 groups of ranks; give 1 to 64"),
                           (["--ranks=2", "--groups=65"], "65 groups of ranks; give 1 to 64"),
                           (["--groups=2"], "--groups says something of several ranks, and there is one"),
                           (["--ranks=3", "--groups=2", "--algorithm=server"], "--groups is not taken beside --algorithm=server")]:
        done = tools.mlc("train", *arguments, *flags)
        assert done.returncode == 2 and message in done.stderr, done.stderr
    for tool in (["mlc-run"], ["mlc", "run"]):
        done = tools.run(tool[0], *tool[1:], tmp_path / "none.mlca", "--groups=x")
        assert done.returncode == 2 and "groups" in done.stderr, done.stderr


def axis(count, name="data"):
    return f'axis = #dist.axis<"{name}", {count}>'


@pytest.fixture
def sums(tools, tmp_path):
    """A program of six sums over two axes, of which each kind is on each: its artifact, an input and what comes out."""
    own = programs.type_of([1, 1, 4])
    at = programs.sharding("row", "column", "")
    lines = [f'%{name}{i} = dist.all_reduce %x{i} {{{axis(2, name)}, reduction = "sum"}} : ({own}) -> {own}'
             for i in range(3) for name in ("row", "column")]
    names = [f"{name}{i}" for i in range(3) for name in ("row", "column")]
    text = programs.module({"row": 2, "column": 2}, {f"x{i}": (own, at) for i in range(3)}, {name: (own, at) for name in names},
                           [*lines, f"return {', '.join('%' + name for name in names)} : {', '.join([own] * len(names))}"])
    x = {f"x{i}": np.random.default_rng(i).standard_normal((2, 2, 4)).astype(np.float32) for i in range(3)}
    want = {f"{name}{i}": np.broadcast_to(x[f"x{i}"].sum(dim, keepdims=True), (2, 2, 4))
            for i in range(3) for dim, name in enumerate(("row", "column"))}
    return programs.compile(tools, tmp_path, text), x, want


@pytest.mark.parametrize("groups", [1, 2, 3])
def test_programs_of_two_axes(tools, tmp_path, sums, groups):
    artifact, x, want = sums
    mlc = str(tools.build / "bin/mlc")
    for start in ([], [mlc, "launch", "-n", "4"]):
        options = [f"--groups={groups}", *([] if start else ["--engine=inproc"])]
        got = programs.run(tools, tmp_path, artifact, x, start, options)
        assert all(np.array_equal(got[name], value) for name, value in want.items())


def test_the_python_package(sums):
    import threading
    import mlc
    artifact, x, want = sums
    model, got = mlc.load(artifact), {}

    def work(own):
        session = model.session(threads=1, ranks=own)
        for _ in range(2):
            got[own.rank] = session.run({name: model.part(name, value, own.rank) for name, value in x.items()})
        own.finish()
    threads = [threading.Thread(target=work, args=(own,)) for own in mlc.Ranks.threads(4, groups=2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for rank in range(4):
        for name, value in want.items():
            at = np.unravel_index(rank, (2, 2))
            np.testing.assert_array_equal(got[rank][name][0, 0], value[at])
    with pytest.raises(mlc.UsageError, match="groups: expected 1 to 64, not 0"):
        mlc.Ranks.threads(2, groups=0)
