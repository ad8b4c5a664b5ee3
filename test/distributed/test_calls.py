"""What training asks of NCCL is what it asks of MPI, call by call, on each rank."""

import os
import subprocess

import pytest

import calls
import ranks
from networks import write
from suite import sample

COUNT = 3


def record(tools, tmp_path, *flags):
    """The folders of what ranks of both engines called in a run of training."""
    mlc = str(tools.build / "bin/mlc")
    mpi, nccl = tmp_path / "mpi", tmp_path / "nccl"
    mpi.mkdir()
    nccl.mkdir()
    arguments = [mlc, "train", *map(str, write(tmp_path, "lstm")), "--threads=1", *flags]
    clean = {k: v for k, v in os.environ.items() if k not in ("RANK", "WORLD_SIZE", "LOCAL_RANK")}
    preload = ["-x", f"LD_PRELOAD={tools.build}/lib/libmlc_mpi_counter.so", "-x", f"MPI_CALLS_FOLDER={mpi}"]
    for command, env in (([*ranks.mpirun(tools, COUNT), *preload, *arguments, f"--checkpoint={tmp_path / 'mpi.npz'}"], clean),
                         ([mlc, "launch", "-n", str(COUNT), "--", *arguments, "--engine=nccl", f"--checkpoint={tmp_path / 'nccl.npz'}"],
                          {**clean, "LD_LIBRARY_PATH": str(tools.build / "lib/nccl"), "MLC_NCCL_RECORD": str(nccl)})):
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=env)
        assert done.returncode == 0, done.stderr
    return calls.read_mpi(mpi), calls.read_nccl(nccl)


@pytest.mark.parametrize("stage, batch", sample([(3, 9), (0, 8), (1, 9), (0, 9), (3, 8), (1, 8)], 6))
def test_nccl_is_called_as_mpi_is(tools, tmp_path, stage, batch):
    """Data parallelism, split optimizer states, split weights; parts of one size and of two."""
    found, other = record(tools, tmp_path, f"--zero={stage}", "--optimizer=adamw", "--steps=3", f"--batch={batch}")
    assert calls.differences(found, other) == []
    kinds = {call[0] for called in found.values() for call in called}
    assert kinds >= ({"all_reduce"} if stage == 0 else {"all_reduce", "reduce_scatter", "all_gather"})


@pytest.mark.parametrize("stages, schedule", [(3, "1f1b"), (6, "interleaved-1f1b"), (3, "zero-bubble")])
def test_messages_of_pipelines_are_those_of_mpi(tools, tmp_path, stages, schedule):
    """A communicator for each pair of ranks and each direction."""
    found, other = record(tools, tmp_path, f"--stages={stages}", "--micro-batches=3", f"--pipeline={schedule}", "--steps=2", "--batch=3")
    assert calls.differences(found, other) == []
    sent = [call for called in found.values() for call in called if call[0] == "send"]
    assert len(sent) >= 2 * 3 * 2 * 2


def test_tables_that_need_buffers_are_refused_on_nccl(tools, tmp_path):
    """NCCL's messages begin in the order of the table, and each waits for its partner."""
    table = tmp_path / "crossed.csv"
    table.write_text("0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n1RECV_F0,1F0,1B0,1SEND_B0,1RECV_F1,1F1,1B1,1SEND_B1\n")
    mlc = str(tools.build / "bin/mlc")
    clean = {k: v for k, v in os.environ.items() if k not in ("RANK", "WORLD_SIZE", "LOCAL_RANK")}
    for engine in ("gloo", "nccl"):
        done = subprocess.run([mlc, "launch", "-n", "2", "--", mlc, "train", *map(str, write(tmp_path, "mlp")), "--threads=1",
                               f"--engine={engine}", "--stages=2", "--micro-batches=2", f"--pipeline={table}", "--steps=2", "--batch=4",
                               f"--checkpoint={tmp_path / 'c.npz'}"], capture_output=True, text=True, timeout=300,
                              env={**clean, "LD_LIBRARY_PATH": str(tools.build / "lib/nccl")})
        assert (done.returncode == 0) == (engine == "gloo"), done.stderr
    assert "a deadlock" in done.stderr and "nothing is buffered" in done.stderr
