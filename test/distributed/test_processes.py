"""Ranks that are processes, over the engines that are installed, and ranks that fail."""

import os
import re
import signal
import subprocess
import time

import numpy as np
import onnx
import pytest

import start_kills
from networks import Trained, difference, train, write

LAUNCHERS = {"gloo": ("libmlc_engine_gloo.so", lambda mlc, ranks: [mlc, "launch", "-n", str(ranks)]),
             "mpi": ("libmlc_engine_mpi.so",
                     lambda mlc, ranks: ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(ranks)])}
STEPS = 5


def command(tools, engine, ranks, *arguments):
    library, launcher = LAUNCHERS[engine]
    if not (tools.build / "lib" / library).exists():
        pytest.skip(f"there is no engine {engine}")
    mlc = str(tools.build / "bin/mlc")
    return [*launcher(mlc, ranks), mlc, "train", *map(str, arguments), "--threads=1"]


def launch(*arguments, **options):
    return subprocess.run(command(*arguments), capture_output=True, text=True, timeout=300, **options)


@pytest.mark.parametrize("engine", LAUNCHERS)
@pytest.mark.parametrize("stage", [0, 3])
def test_processes_train_as_threads_do(tools, tmp_path, engine, stage):
    arguments = [*write(tmp_path, "mlp"), "--optimizer=adamw", "--batch=9", f"--steps={STEPS}", f"--zero={stage}",
                 "--algorithm=ring"]
    threads = train(tools, arguments, tmp_path / "threads.npz", "--ranks=3")
    out = tmp_path / "processes.npz"
    done = launch(tools, engine, 3, *arguments, f"--checkpoint={out}")
    assert done.returncode == 0, done.stderr
    processes = Trained(done, out)
    assert processes.bits() == threads.bits() and list(processes.losses) == list(threads.losses)
    assert processes.sent == threads.sent


@pytest.mark.parametrize("engine", LAUNCHERS)
def test_the_engines_own_sums(tools, tmp_path, engine):
    arguments = [*write(tmp_path, "mlp", "float64"), "--optimizer=adamw", "--batch=8", f"--steps={STEPS}"]
    one = train(tools, arguments, tmp_path / "one.npz")
    out = tmp_path / "processes.npz"
    done = launch(tools, engine, 2, *arguments, f"--checkpoint={out}")
    assert done.returncode == 0, done.stderr
    many = Trained(done, out)
    many.losses = one.losses
    assert difference(many, one) <= 1e-12


def test_other_samples_on_a_rank_are_refused(tools, tmp_path):
    """Each rank reads a file of its own; that of rank 1 is another."""
    arguments = write(tmp_path, "mlp")
    data = next(a for a in arguments if str(a).startswith("--data="))
    arguments.remove(data)
    with np.load(tmp_path / "mlp.npz") as file:
        np.savez(tmp_path / "data0.npz", **file)
        np.savez(tmp_path / "data1.npz", **{**file, "x": file["x"] + 1})
    script = 'exec "$@" --data=' + str(tmp_path) + "/data$RANK.npz"
    mlc = str(tools.build / "bin/mlc")
    if not (tools.build / "lib/libmlc_engine_gloo.so").exists():
        pytest.skip("there is no engine gloo")
    done = subprocess.run([mlc, "launch", "-n", "2", "sh", "-c", script, "sh", mlc, "train", *map(str, arguments),
                           "--batch=8", f"--checkpoint={tmp_path / 'c.npz'}"],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode != 0
    assert "rank 1 has another model, other samples, another plan or other options than rank 0" in done.stderr


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
@pytest.mark.parametrize("engine", LAUNCHERS)
def test_a_rank_that_dies_or_stops_ends_all(tools, tmp_path, engine, how):
    arguments = [*write(tmp_path, "depthwise"), "--batch=8", "--learning-rate=1e-9", "--steps=100000000", f"--checkpoint={tmp_path / 'c.npz'}",
                 "--checkpoint-every=100000000", "--timeout=5"]
    run = subprocess.Popen(command(tools, engine, 2, *arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                           start_new_session=True)
    try:
        while not (line := run.stdout.readline()).startswith("step"):
            assert line or run.poll() is None, run.stderr.read()
        assert within(10, lambda: len(found(arguments[0], run.pid)) == 2)
        ranks = found(arguments[0], run.pid)
        start = time.monotonic()
        victim = rank_of(ranks[1])
        os.kill(ranks[1], how)
        # Whoever still prints is read.
        _, errors = run.communicate(timeout=60)
        assert run.returncode != 0 and time.monotonic() - start < 5 + 5 + 5, errors
        assert re.search(rf"rank {1 - victim}: collective \d+ \(all-reduce .*rank {victim} has (died|stopped in|not come|been silent)", errors), errors
        # mpirun does not wait for those that it has ended.
        assert within(5, lambda: not any(alive(pid) for pid in ranks))
    finally:
        if run.poll() is None:
            os.killpg(run.pid, signal.SIGKILL)


@pytest.mark.parametrize("victim", [0, 1])
def test_a_rank_that_dies_while_others_compile_is_named(tools, tmp_path, victim):
    """They have met, and have come to no collective; who is late is not to blame."""
    if not (tools.build / "lib/libmlc_engine_gloo.so").exists():
        pytest.skip("there is no engine gloo")
    assert start_kills.once(tools.build, start_kills.write(tmp_path), victim, None) == []


def within(seconds, condition):
    end = time.monotonic() + seconds
    while not (holds := condition()) and time.monotonic() < end:
        time.sleep(0.05)
    return holds


def found(model, launcher):
    """The ranks that train it."""
    listed = subprocess.run(["pgrep", "-f", f"mlc train {model}"], capture_output=True, text=True).stdout.split()
    return [pid for pid in map(int, listed)
            if pid != launcher and b"launch" not in cmdline(pid) and b"mpirun" not in cmdline(pid)]


def rank_of(pid):
    with open(f"/proc/{pid}/environ", "rb") as file:
        return int(re.search(rb"\0(?:OMPI_COMM_WORLD_)?RANK=(\d+)\0", b"\0" + file.read())[1])


def cmdline(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read()
    except OSError:
        return b"launch"


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_full_disk_of_rank_0_ends_all(tools, tmp_path):
    """Only rank 0 writes; it tells, and no rank is left."""
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full")
    done = tools.mlc("train", *write(tmp_path, "mlp"), "--batch=8", "--steps=3", "--ranks=2", "-o", "/dev/full",
                     f"--checkpoint={tmp_path / 'c.npz'}", timeout=120)
    assert done.returncode != 0 and done.stderr.count("mlc: error:") == 1, done.stderr


@pytest.mark.parametrize("variables", [
    {"RANK": "0", "WORLD_SIZE": "2"}, {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"},
    {"SLURM_PROCID": "0", "SLURM_NTASKS": "2", "SLURM_STEP_ID": "0"}])
def test_threads_in_each_of_several_processes_are_refused(tools, tmp_path, variables):
    """Each would train by itself, and write the same files."""
    out = tmp_path / "c.npz"
    done = subprocess.run(
        [tools.build / "bin/mlc", "train", *write(tmp_path, "mlp"), "--batch=8", "--steps=1", "--ranks=2", f"--checkpoint={out}"],
        capture_output=True, text=True, env={**os.environ, **variables}, timeout=60)
    assert done.returncode == 2 and "is one of 2 processes, and --ranks" in done.stderr
    assert not out.exists()


def test_a_script_of_slurm_may_have_threads(tools, tmp_path):
    done = subprocess.run(
        [tools.build / "bin/mlc", "train", *write(tmp_path, "mlp"), "--batch=8", "--steps=1", "--ranks=2",
         f"--checkpoint={tmp_path / 'c.npz'}"],
        capture_output=True, text=True, env={**os.environ, "SLURM_PROCID": "0", "SLURM_NTASKS": "2"}, timeout=60)
    assert done.returncode == 0, done.stderr


def test_how_many_processes(tools):
    done = tools.mlc("launch", "true")
    assert done.returncode == 2 and "give -n N" in done.stderr


def test_who_waits_in_vain_for_a_rank_to_come_ends(tools, tmp_path):
    """MPI's own start does not return then."""
    script = '[ "$OMPI_COMM_WORLD_RANK" = 1 ] && exec sleep 60; exec "$@"'
    launcher = command(tools, "mpi", 3, *write(tmp_path, "mlp"), "--batch=8", "--steps=1", f"--checkpoint={tmp_path / 'c.npz'}",
                       "--timeout=2")
    start = time.monotonic()
    at = launcher.index(str(tools.build / "bin/mlc"))
    done = subprocess.run([*launcher[:at], "sh", "-c", script, "sh", *launcher[at:]], capture_output=True, text=True, timeout=60)
    assert done.returncode != 0 and "not all ranks have come within 2 s" in done.stderr, done.stderr
    assert time.monotonic() - start < 20


@pytest.mark.parametrize("ranks,first,others", [
    (2, "--learning-rate=0.1", "--learning-rate=0.2"), (2, "--freeze=FIRST", "--freeze=SECOND"), (2, "", "--zero=2"),
    (2, "--algorithm=ring", "--algorithm=naive"), (2, "--bucket-bytes=1", ""), (3, "--algorithm=server --staleness=1", "--algorithm=server")])
def test_ranks_that_are_told_otherwise_are_refused(tools, tmp_path, ranks, first, others):
    arguments = write(tmp_path, "mlp")
    first_name, second_name = [tensor.name for tensor in onnx.load(arguments[0]).graph.initializer][:2]
    told = [flags.replace("FIRST", first_name).replace("SECOND", second_name) for flags in (first, others)]
    train_it = f'[ "$RANK" = 0 ] && exec "$@" {told[0]}; exec "$@" {told[1]}'
    mlc = tools.build / "bin/mlc"
    done = subprocess.run([mlc, "launch", "-n", str(ranks), "sh", "-c", train_it, "sh", mlc, "train", *arguments, "--batch=8",
                           "--steps=1", f"--checkpoint={tmp_path / 'c.npz'}"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "rank 1 has another model, other samples, another plan or other options" in done.stderr, done.stderr
