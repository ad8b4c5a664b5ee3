"""Every collective over every engine, groups of ranks, the parameter server, and NCCL's calls against MPI's."""

import json
import os
import subprocess
import sys

import pytest

import calls
import ranks

COLLECTIVES = ("all-reduce", "reduce-scatter", "all-gather", "broadcast", "all-to-all")
ENGINES = ("inproc", "mpi", "gloo", "nccl")


def over(tools, engine, size):
    """mlc collective on so many ranks, and its environment."""
    mlc = str(tools.build / "bin/mlc")
    clean = {k: v for k, v in os.environ.items() if k not in ("RANK", "WORLD_SIZE", "LOCAL_RANK")}
    if engine == "inproc":
        return [mlc, "collective", f"--ranks={size}"], clean
    if engine == "mpi":
        return [*ranks.mpirun(tools, size), mlc, "collective"], clean
    if engine == "gloo":
        return ranks.over_gloo(tools, size), clean
    return ([mlc, "launch", "-n", str(size), "--", mlc, "collective", "--engine=nccl"],
            {**clean, "LD_LIBRARY_PATH": str(tools.build / "lib/nccl")})


def run(tools, engine, size, *flags, **environment):
    command, env = over(tools, engine, size)
    done = subprocess.run([*command, *flags, "--timeout=30"], capture_output=True, text=True, timeout=120,
                          env={**env, **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout


def told(tools, engine, size, *flags, **environment):
    found = json.loads(run(tools, engine, size, *flags, "--json", **environment))
    assert found["right"] and found["engine"] == engine and found["ranks"] == size
    return found


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("collective", COLLECTIVES)
def test_collectives(tools, engine, collective):
    for m in (0, 4800, (1 << 20) + 12) if collective != "all-to-all" else (0, 4800):
        for algorithm in ("ring", "own"):
            found = told(tools, engine, 3, f"--collective={collective}", f"--algorithm={algorithm}", f"--bytes={m}", "--repeat=2")
            if algorithm != "own":
                rounds = 2 if collective == "all-reduce" else 1
                assert found["total_sent_bytes"] == found["expected_bytes"] == 2 * rounds * 2 * m


def test_parts_that_are_not_equal(tools):
    # 7 elements of three ranks: 3, 2, 2.
    for engine in ENGINES:
        for collective in ("reduce-scatter", "all-gather"):
            told(tools, engine, 3, f"--collective={collective}", "--algorithm=own", "--bytes=28", "--repeat=20")


def test_what_is_moved_needs_no_sum(tools):
    for engine in ENGINES:
        for kind in ("bf16", "i16"):
            told(tools, engine, 2, "--collective=all-gather", "--algorithm=own", f"--type={kind}", "--bytes=10")
    assert "has no sum" in subprocess.run(
        [*over(tools, "nccl", 1)[0], "--algorithm=own", "--type=i16"], capture_output=True, text=True, timeout=60,
        env=over(tools, "nccl", 1)[1]).stderr


@pytest.mark.parametrize("engine, steps", [("inproc", 10000), ("mpi", 1000), ("gloo", 300), ("nccl", 300)])
@pytest.mark.parametrize("groups", [2, 4])
def test_groups(tools, engine, steps, groups):
    flags = [f"--groups={groups}", f"--steps={steps}", "--bytes=2000", f"--seed={groups}"]
    assert told(tools, engine, 4, *flags)["groups"] == groups
    assert "all results are right" in run(tools, engine, 3, *flags)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_parameter_server(tools, engine):
    for staleness in (0, 2):
        found = told(tools, engine, 4, "--algorithm=server", f"--staleness={staleness}", "--steps=30", "--straggle=10", "--bytes=1200")
        # N = 3 workers: rank 0 is slow, and the others are ahead as far as they may be.
        assert found["total_sent_bytes"] == found["expected_bytes"] == 30 * 2 * 3 * 1200
        assert found["largest_lead"] == staleness


def test_a_slow_link(tools):
    # A ring of four sends 2 (N - 1) / N of the elements: 0.3 s.
    assert told(tools, "inproc", 4, "--bytes=400000", "--link-bandwidth=2e6")["seconds"] > 0.29
    assert told(tools, "gloo", 4, "--bytes=400000", "--algorithm=own", MLC_LINK_BANDWIDTH="2e6")["seconds"] > 0.29


def recorded(tools, tmp_path, size, *flags):
    """What ranks of both engines call, in one form."""
    mpi, nccl = tmp_path / "mpi", tmp_path / "nccl"
    mpi.mkdir()
    nccl.mkdir()
    command, env = over(tools, "mpi", size)
    at = command.index(str(tools.build / "bin/mlc"))
    preload = ["-x", f"LD_PRELOAD={tools.build}/lib/libmlc_mpi_counter.so", "-x", f"MPI_CALLS_FOLDER={mpi}"]
    done = subprocess.run([*command[:at], *preload, *command[at:], *flags], capture_output=True, text=True, timeout=120, env=env)
    assert done.returncode == 0, done.stderr
    run(tools, "nccl", size, *flags, MLC_NCCL_RECORD=str(nccl))
    return mpi, nccl


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_nccl_is_called_as_mpi_is(tools, tmp_path, collective):
    size = 4 if collective == "all-to-all" else 3
    mpi, nccl = recorded(tools, tmp_path, size, f"--collective={collective}", "--algorithm=own", "--bytes=4016", "--repeat=2")
    found = calls.read_mpi(mpi)
    assert calls.differences(found, calls.read_nccl(nccl)) == []
    elements, parts = 1004, (335, 335, 334)
    want = {"all-reduce": ("all_reduce", "f32", (elements,), "sum"), "reduce-scatter": ("reduce_scatter", "f32", parts, "sum"),
            "all-gather": ("all_gather", "f32", parts, "-"), "broadcast": ("broadcast", "f32", (elements,), "0"),
            "all-to-all": ("all_to_all", "f32", (251,) * 8, "-")}[collective]
    for rank in range(size):
        assert found[0, rank][:2] == [want, want]


def test_a_random_sequence_on_groups_calls_the_same_and_differences_are_told(tools, tmp_path):
    mpi, nccl = recorded(tools, tmp_path, 3, "--groups=3", "--steps=200", "--bytes=2000")
    found, other = calls.read_mpi(mpi), calls.read_nccl(nccl)
    assert len(found) == 12 and sum(map(len, found.values())) > 500
    assert calls.differences(found, other) == []
    done = subprocess.run([sys.executable, calls.__file__, mpi, nccl], capture_output=True, text=True)
    assert done.stdout == "the calls are the same\n"
    lines = (nccl / "1.2").read_text().splitlines(keepends=True)
    for i, line in enumerate(lines):
        if line.startswith("ncclAllReduce"):
            (nccl / "1.2").write_text("".join([*lines[:i], line.replace("AllReduce ", "AllReduce 1"), *lines[i + 1:]]))
            break
    done = subprocess.run([sys.executable, calls.__file__, mpi, nccl], capture_output=True, text=True)
    assert done.returncode == 1 and done.stdout.startswith("communicator 1, rank 2, call ")


def test_nccl_in_the_memory_of_gpus(tools, tmp_path):
    # The emulator as the driver: the engine's streams and copies are its own.
    (tmp_path / "libcuda.so.1").symlink_to(tools.build / "bin/libmlc_emulator.so")
    command, env = over(tools, "nccl", 3)
    for collective in COLLECTIVES:
        for m in (4020, 4032) if collective != "all-to-all" else (4032,):
            found = told(tools, "nccl", 3, "--device=cuda", "--algorithm=own", f"--collective={collective}", f"--bytes={m}", "--repeat=2",
                         LD_LIBRARY_PATH=f"{env['LD_LIBRARY_PATH']}:{tmp_path}", MLC_EMULATOR_DEVICES="3")
            assert found["ranks"] == 3
    for flags in (["--algorithm=ring"], ["--algorithm=own", "--groups=2"]):
        done = subprocess.run([*command, "--device=cuda", *flags], capture_output=True, text=True, timeout=60, env=env)
        assert done.returncode == 2 and "give cuda or cuda:N, with --engine=nccl and --algorithm=own" in done.stderr
    done = subprocess.run([*command, "--device=cuda:7", "--algorithm=own"], capture_output=True, text=True, timeout=60, env=env)
    assert done.returncode == 8 and "there is no device 'cuda:7'" in done.stderr


def with_library(tools, folder):
    """One rank with the libnccl.so.2 of a folder."""
    command, env = over(tools, "nccl", 1)
    return subprocess.run([*command, "--timeout=20"], capture_output=True, text=True, timeout=120,
                          env={**env, "LD_LIBRARY_PATH": str(folder)})


def test_a_libnccl_that_is_none(tools, tmp_path):
    (tmp_path / "libnccl.so.2").write_text("no library")
    done = with_library(tools, tmp_path)
    assert done.returncode == 8 and "engine nccl: cannot load libnccl.so.2" in done.stderr.replace(f"{tmp_path}/", ""), done.stderr
    assert "add its folder to LD_LIBRARY_PATH" in done.stderr
    (tmp_path / "libnccl.so.2").unlink()
    (tmp_path / "libnccl.so.2").symlink_to(tools.build / "bin/libmlc_emulator.so")
    done = with_library(tools, tmp_path)
    assert done.returncode == 8 and "libnccl.so.2 has no function ncclGetVersion; install NCCL 2.8 or later" in done.stderr


def test_nvidia_s_library_wants_a_gpu(tools):
    if os.path.exists("/dev/nvidiactl"):
        pytest.skip("a GPU is here")
    if "libnccl.so.2" not in subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout:
        pytest.skip("no NCCL of NVIDIA's here: install libnccl2")
    done = with_library(tools, "")
    assert done.returncode == 8 and "engine nccl: ncclCommInitRank: unhandled cuda error" in done.stderr


def test_wrong_flags(tools):
    for flags, text in ((["--collective=gather"], "no collective 'gather'; there are all-reduce, reduce-scatter,"),
                        (["--collective=all-to-all", "--bytes=20"], "an all-to-all of 5 elements among 4 ranks; take a multiple"),
                        (["--steps=3"], "--steps is of --algorithm=server, or of --groups"),
                        (["--staleness=3"], "--staleness is of --algorithm=server with --steps"),
                        (["--algorithm=server", "--steps=200", "--type=u8"], "is more than u8 counts"),
                        (["--groups=65"], "--groups (up to 64) count from 0"),
                        (["--algorithm=server", "--steps=-1"], "count from 0"),
                        (["--link-latency=-1"], "are numbers from 0 on"),
                        (["--link-bandwidth=nan"], "are numbers from 0 on")):
        done = tools.mlc("collective", *flags)
        assert done.returncode == 2 and text in done.stderr, (flags, done.stderr)
    done = tools.mlc("collective", env={**os.environ, "MLC_LINK_LATENCY": "soon"})
    assert done.returncode == 2 and 'MLC_LINK_LATENCY is "soon"; give a number from 0 on' in done.stderr
