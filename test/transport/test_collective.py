"""mlc collective: algorithms on threads and under mpirun, their bytes counted from outside too, and ranks that fail."""

import json
import os
import re
import signal
import subprocess

import pytest

import ranks

ALGORITHMS = ("server", "colocated", "naive", "ring", "tree", "butterfly", "halving-doubling")


def expected(algorithm, n, m):
    """Bytes of all ranks for n workers."""
    if algorithm == "server":
        return 2 * n * m
    if algorithm == "naive":
        return n * (n - 1) * m
    if algorithm == "butterfly":
        return n * (n.bit_length() - 1) * m
    return 2 * (n - 1) * m


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8])
def test_threads(tools, algorithm, n):
    if algorithm == "butterfly" and n & (n - 1):
        pytest.skip("a power of two ranks")
    for m in (0, 1, 7, (1 << 20) + 3):
        done = tools.mlc("collective", f"--algorithm={algorithm}", f"--ranks={n + (algorithm == 'server')}",
                         f"--bytes={m}", "--type=u8", "--json")
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        assert told["right"] and told["workers"] == n
        assert told["total_sent_bytes"] == told["expected_bytes"] == sum(told["sent_bytes"]) == expected(algorithm, n, m)


@pytest.mark.parametrize("kind", ["f32", "f64", "f16", "bf16", "i8", "i64", "u16", "u64"])
def test_types(tools, kind):
    for algorithm in (*ALGORITHMS, "own"):
        done = tools.mlc("collective", f"--algorithm={algorithm}", f"--type={kind}", "--ranks=4", "--bytes=808",
                         "--message-bytes=16", "--repeat=3")
        assert done.returncode == 0, done.stderr
        assert "the result is right on all ranks" in done.stdout


@pytest.mark.parametrize("algorithm", (*ALGORITHMS, "own"))
def test_mpi_bytes_counted_from_outside(tools, algorithm, tmp_path):
    size = 4
    command = ranks.mpirun(tools, size)
    preload = ["-x", f"LD_PRELOAD={tools.build}/lib/libmlc_mpi_counter.so", "-x", f"MPI_COUNTER_FOLDER={tmp_path}"]
    for m in (4, 28, (1 << 20) + 12):
        arguments = ["collective", f"--algorithm={algorithm}", f"--bytes={m}", "--json"]
        done = ranks.output([*command, *preload, tools.build / "bin/mlc", *arguments])
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        counted = [tuple(map(int, (tmp_path / str(r)).read_text().split())) for r in range(size)]
        assert told["right"] and told["engine"] == "mpi" and told["ranks"] == size
        assert [b for b, _ in counted] == told["sent_bytes"]
        assert sum(n for _, n in counted) == told["sent_messages"]
        if algorithm != "own":
            n = size - (algorithm == "server")
            assert sum(b for b, _ in counted) == expected(algorithm, n, m) == told["expected_bytes"]


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_mpi_numbers_of_ranks(tools, size):
    command = [*ranks.mpirun(tools, size), tools.build / "bin/mlc", "collective", "--type=bf16", "--bytes=2002", "--json"]
    for algorithm in ("ring", "tree", "halving-doubling"):
        done = ranks.output([*command, f"--algorithm={algorithm}"])
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        assert told["right"] and told["total_sent_bytes"] == 2 * (size - 1) * 2002


def test_the_type_that_mpi_does_not_add(tools):
    command = [*ranks.mpirun(tools, 2), tools.build / "bin/mlc", "collective", "--algorithm=own", "--type=bf16"]
    done = ranks.output(command)
    assert done.returncode == 4
    assert "MPI has no sum of this type; take another algorithm than own" in done.stderr


# What runs ends by itself after this time without progress.
TIMEOUT = 2


@pytest.mark.parametrize("victim, how", [(0, signal.SIGSTOP), (2, signal.SIGSTOP), (1, signal.SIGKILL), (3, signal.SIGKILL)])
def test_a_rank_that_stops_or_dies_is_named_by_all_others(tools, victim, how):
    algorithm = ALGORITHMS[victim + 1]
    command = [*ranks.mpirun(tools, 4), str(tools.build / "bin/mlc"), "collective", "--repeat=100000000",
               f"--timeout={TIMEOUT}", f"--algorithm={algorithm}", "--bytes=4096"]
    code, errors, left = ranks.disturb(command, 4, "OMPI_COMM_WORLD_RANK", victim, how)
    assert code not in (0, None) and left == []
    for rank in set(range(4)) - {victim}:
        told = re.search(rf"mlc: error: rank {rank}: collective \d+ \(all-reduce {algorithm} of 1024 f32\): (.*)", errors)
        assert told and f"rank {victim}" in told.group(1), errors


@pytest.mark.parametrize("algorithm", (*ALGORITHMS, "own"))
def test_gloo(tools, algorithm):
    for m in (0, 4, 28, (1 << 20) + 12):
        done = ranks.output([*ranks.over_gloo(tools, 4), f"--algorithm={algorithm}", f"--bytes={m}", "--repeat=3", "--json"])
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        assert told["right"] and told["engine"] == "gloo" and told["ranks"] == 4
        if algorithm != "own":
            assert told["total_sent_bytes"] == 3 * expected(algorithm, told["workers"], m)


@pytest.mark.parametrize("victim, how", [(0, signal.SIGSTOP), (1, signal.SIGKILL)])
def test_gloo_s_ranks_that_stop_or_die(tools, victim, how):
    command = [*ranks.over_gloo(tools, 3), "--repeat=100000000", f"--timeout={TIMEOUT}", "--bytes=4096"]
    code, errors, left = ranks.disturb(command, 3, "RANK", victim, how)
    assert code not in (0, None) and left == []
    for rank in set(range(3)) - {victim}:
        told = re.search(rf"mlc: error: rank {rank}: collective \d+ \(all-reduce ring of 1024 f32\): (.*)", errors)
        assert told and f"rank {victim}" in told.group(1), errors


def test_gloo_s_ranks_that_do_not_come_or_disagree(tools):
    program = ranks.over_gloo(tools, 3)[-2]
    launch = [tools.build / "bin/mlc", "launch", "-n", "3", "--", "sh", "-c"]
    done = ranks.output([*launch, f"[ $RANK = 2 ] && exec sleep 1000; exec {program} collective --timeout={TIMEOUT}"])
    assert done.returncode == 9
    assert "engine gloo: rank 2 has not come; see whether all ranks have been started" in done.stderr
    done = ranks.output([*launch, f"unset LOCAL_WORLD_SIZE; [ $RANK = 2 ] && WORLD_SIZE=4; exec {program} collective --timeout={TIMEOUT}"])
    assert "engine gloo: WORLD_SIZE is 4 on rank 2 and 3 on rank 0; set the same on all ranks" in done.stderr
    done = ranks.output([*launch, f"RANK=$((RANK / 2)); exec {program} collective --timeout={TIMEOUT}"])
    assert "is there twice; give each process a RANK of its own" in done.stderr or "port" in done.stderr
    told = failing(tools, "--timeout=1", code=9, RANK="1", WORLD_SIZE="2", MASTER_ADDR="127.0.0.1", MASTER_PORT="1")
    assert "127.0.0.1, port 1: Connection refused; see whether rank 0 runs there" in told
    for port in ("0", "99999", "77x"):
        told = failing(tools, "--timeout=1", code=9, RANK="1", WORLD_SIZE="2", MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
        assert f'MASTER_PORT is "{port}", which is no port; give 1 to 65535' in told


def test_garbage_at_the_port_where_ranks_meet(tools):
    port = ranks.free_port()
    clean = {**os.environ, "RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    ranks.over_gloo(tools, 2)
    command = [tools.build / "bin/mlc", "collective", "--engine=gloo", "--timeout=20"]
    first = subprocess.Popen(command, env=clean, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        for text in (b"GET / HTTP/1.1\r\n\r\n", b"s" + b"\xff" * 8, b"g\x01\0\0\0", b"s\0\0\0\0\0\0\0\0" * 100, os.urandom(1 << 16)):
            ranks.tell(port, text)
        second = subprocess.run(command, env={**clean, "RANK": "1"}, capture_output=True, text=True, timeout=60)
        output, errors = first.communicate(timeout=60)
        assert first.returncode == second.returncode == 0, errors + second.stderr
        assert "the result is right on all ranks" in output
    finally:
        first.kill()


def test_ranks_that_do_different_things(tools):
    program = str(tools.build / "bin/mlc")
    command = ranks.mpirun(tools, 1)
    done = ranks.output([*command, program, "collective", "--bytes=8", ":", "-n", "1", program, "collective", "--bytes=16"])
    assert done.returncode != 0
    assert "is in another, all-reduce ring of" in done.stderr or "has given up" in done.stderr


def failing(tools, *arguments, code=2, **environment):
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_", "PMI_", "SLURM_"))
             and k not in ("RANK", "WORLD_SIZE", "LOCAL_RANK")}
    # It ends by itself; the time only ends what hangs.
    done = tools.mlc("collective", *arguments, env={**clean, **environment}, timeout=60)
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    return done.stderr


def test_wrong_flags(tools):
    assert "take halving-doubling" in failing(tools, "--algorithm=butterfly", "--ranks=6")
    assert "no algorithm 'star'; there are server, " in failing(tools, "--algorithm=star")
    assert "take colocated" in failing(tools, "--algorithm=server", "--ranks=1")
    assert "give a multiple of 4" in failing(tools, "--bytes=7")
    assert "give a multiple of 4" in failing(tools, "--bytes=-4")
    assert "has no sum" in failing(tools, "--type=bool")
    assert "has no sum" in failing(tools, "--type=complex")
    assert "takes 1 to 256" in failing(tools, "--ranks=-1")
    assert "counts from 1" in failing(tools, "--repeat=0")
    assert "--timeout" in failing(tools, "--timeout=nan")
    assert "--message-bytes=0" in failing(tools, "--message-bytes=0")
    assert "give fewer" in failing(tools, f"--bytes={1 << 60}", code=9)
    assert "engine none: cannot be loaded" in failing(tools, "--engine=none", code=8)
    assert "cannot be loaded" in failing(tools, "--engine=./nothing.so", code=8)


def test_what_launchers_say_must_agree(tools):
    assert "RANK is set and WORLD_SIZE is not; set both" in failing(tools, RANK="0")
    assert 'WORLD_SIZE is "two", which is no number' in failing(tools, RANK="0", WORLD_SIZE="two")
    assert "RANK is 2 and WORLD_SIZE is 2" in failing(tools, RANK="2", WORLD_SIZE="2")
    told = failing(tools, RANK="1", WORLD_SIZE="2", PMI_RANK="1", PMI_SIZE="3")
    assert "this is rank 1 of 3 for PMI, but rank 1 of 2 for who set WORLD_SIZE" in told
    assert "SLURM_PROCID is 9 and SLURM_NTASKS is 4" in failing(tools, SLURM_PROCID="9", SLURM_NTASKS="4")


def test_processes_that_mpirun_has_not_started(tools):
    ranks.mpirun(tools, 1)
    told = failing(tools, "--engine=mpi", RANK="0", WORLD_SIZE="2")
    assert "this is rank 0 of 1, but the launcher said rank 0 of 2; start all ranks by the engine's own launcher" in told
    assert "but Slurm has started 2; leave --ranks out" in failing(tools, "--ranks=3", SLURM_PROCID="0", SLURM_NTASKS="2")
    assert "--ranks=3, but there are 1; start as many by mpirun -n" in failing(tools, "--engine=mpi", "--ranks=3")
