"""Ranks started by torchrun itself, by Slurm's variables, and in wrong numbers."""

import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import time

import pytest

import kills
import ranks


def clean():
    return {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_", "PMI_", "SLURM_", "MASTER_", "TORCHELASTIC_"))
            and k not in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MLC_LAUNCH")}


def torchrun():
    """The program of an installed PyTorch."""
    found = next((str(path) for path in (pathlib.Path("/tmp/torch/bin/torchrun"),) if path.exists()), shutil.which("torchrun"))
    if not found:
        pytest.skip("no torchrun here: install torch (requirements-torch.txt)")
    return found


@pytest.mark.parametrize("flags", [["--standalone"], ["--master-addr=127.0.0.1"]])
def test_torchrun(tools, flags):
    ranks.over_gloo(tools, 2)
    if flags != ["--standalone"]:
        flags = [*flags, f"--master-port={ranks.free_port()}"]
    mlc = str(tools.build / "bin/mlc")
    done = subprocess.run([torchrun(), *flags, "--nproc-per-node=3", "--no-python", mlc, "collective", "--type=bf16", "--json"],
                          capture_output=True, text=True, timeout=240, env=clean())
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["right"] and told["engine"] == "gloo" and told["ranks"] == 3


def test_nccl_under_mpirun(tools):
    # MPI says which rank it is; where to meet has to be told.
    meet = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(ranks.free_port()), "LD_LIBRARY_PATH": str(tools.build / "lib/nccl")}
    told = [word for name in meet for word in ("-x", name)]
    command = [*ranks.mpirun(tools, 3), *told, str(tools.build / "bin/mlc"), "collective", "--engine=nccl", "--algorithm=own", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env={**clean(), **meet})
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["right"] and found["engine"] == "nccl" and found["ranks"] == 3


def started_by_slurm(tools, started, told, timeout):
    """Processes as srun starts them; what each ended with, and how long that took."""
    ranks.over_gloo(tools, 2)
    command = [str(tools.build / "bin/mlc"), "collective", "--engine=gloo", f"--timeout={timeout}"]
    meet = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(ranks.free_port())}
    begin = time.monotonic()
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  env={**clean(), **meet, "SLURM_PROCID": str(rank), "SLURM_NTASKS": str(told), "SLURM_LOCALID": str(rank)})
                 for rank in range(started)]
    try:
        ended = [(*process.communicate(timeout=60), process.returncode) for process in processes]
    finally:
        for process in processes:
            process.kill()
    return ended, time.monotonic() - begin


def test_slurm(tools):
    ended, _ = started_by_slurm(tools, 3, 3, 20)
    assert [code for _, _, code in ended] == [0, 0, 0], ended
    assert "the result is right on all ranks" in ended[0][0]


def test_slurm_has_started_fewer_or_more(tools):
    ended, seconds = started_by_slurm(tools, 3, 4, 3)
    assert seconds < 5
    for _, errors, code in ended:
        assert code == 9 and re.search(r"rank 3 has not come", errors), errors
    assert "rank 3 has not come" in ended[0][1]
    assert not any(re.search(rf"rank {rank}\b.* has not come", errors) for rank, (_, errors, _) in enumerate(ended))
    ended, seconds = started_by_slurm(tools, 3, 2, 3)
    assert seconds < 5
    assert ended[2][2] == 2 and "SLURM_PROCID is 2 and SLURM_NTASKS is 2" in ended[2][1]


def test_other_numbers_than_launched(tools):
    mlc = str(tools.build / "bin/mlc")

    def launched(*command):
        begin = time.monotonic()
        done = subprocess.run([mlc, "launch", "-n", "3", "--", *command], capture_output=True, text=True, timeout=60, env=clean())
        assert time.monotonic() - begin < 30  # not the minute of a meeting that fails
        assert done.returncode != 0
        return done.stderr

    ranks.over_gloo(tools, 2)
    assert "--ranks=4, but mlc launch has started 3; leave --ranks out" in launched(mlc, "collective", "--ranks=4")
    told = launched("env", "WORLD_SIZE=5", mlc, "collective")
    assert "WORLD_SIZE is 5, but 3 processes have been started here" in told and "rank 3 to 4 cannot come" in told
    assert "RANK is 2 and WORLD_SIZE is 2" in launched("sh", "-c", f"WORLD_SIZE=2; exec {mlc} collective")
    begin = time.monotonic()
    done = subprocess.run([*ranks.mpirun(tools, 2), "-x", "RANK=0", "-x", "WORLD_SIZE=3", mlc, "collective"],
                          capture_output=True, text=True, timeout=60, env=clean())
    assert time.monotonic() - begin < 5 and done.returncode != 0
    assert "of 2 for Open MPI, but rank 0 of 3 for who set WORLD_SIZE" in done.stderr


def test_a_message_of_another_length_ends_in_good_order(tools):
    mlc = ranks.over_gloo(tools, 2)[-2]
    script = f"exec {mlc} collective --algorithm=$1 --timeout=5 --bytes=$((RANK * 400 + 400))"
    for algorithm in ("tree", "naive", "own"):
        done = subprocess.run([mlc, "launch", "-n", "2", "--", "sh", "-c", script, "sh", algorithm], capture_output=True,
                              text=True, timeout=60, env=clean())
        assert done.returncode not in (0, 134) and "terminate" not in done.stderr, done.stderr
        assert "is in another, all-reduce" in done.stderr


def test_ranks_at_random(tools):
    """A few of what kills.py does; it is for more."""
    ranks.mpirun(tools, 2)
    generator = random.Random(3)
    for engine in ("mpi", "gloo", "nccl"):
        told, _, wrong = kills.once(tools.build, engine, generator)
        assert wrong == [], told
