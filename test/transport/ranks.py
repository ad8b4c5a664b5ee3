"""Ranks under mpirun, for tests: started, found, stopped and killed."""

import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

import pytest


def need(there, what, packages):
    """Skips the test, by name, where something is not installed; continuous integration has it all."""
    if not there and os.environ.get("CI"):
        pytest.fail(f"no {what}; ./dev setup installs {packages}")
    if not there:
        pytest.skip(f"no {what} here: install {packages}, and build again")


def mpirun(tools, ranks):
    """The command that starts so many."""
    there = shutil.which("mpirun") and (tools.build / "lib/libmlc_engine_mpi.so").exists()
    need(there, "MPI", "libopenmpi-dev and openmpi-bin")
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    return ["mpirun", *root, "--oversubscribe", "-n", str(ranks)]


def over_gloo(tools, ranks):
    """mlc collective on so many ranks."""
    need((tools.build / "lib/libmlc_engine_gloo.so").exists(), "Gloo", "libgloo-dev")
    mlc = str(tools.build / "bin/mlc")
    return [mlc, "launch", "-n", str(ranks), "--", mlc, "collective"]


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def tell(port, text):
    """Sends bytes to who listens there, when somebody does."""
    end = time.monotonic() + 60
    while True:
        try:
            with socket.create_connection(("127.0.0.1", port), 10) as one:
                return one.sendall(text)
        except ConnectionRefusedError:
            assert time.monotonic() < end
            time.sleep(0.05)
        except OSError:
            return None


def stat(pid):
    """State and parent; None if it is gone."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        return fields[0], int(fields[1])
    except OSError:
        return None


def variable(pid, name):
    try:
        for entry in pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
            if entry.startswith(name.encode() + b"="):
                return entry.split(b"=", 1)[1].decode()
    except OSError:
        pass
    return None


def ranks_of(parent, count, name):
    """The process of each rank, when all of the launcher's have their number."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        found = {}
        for entry in pathlib.Path("/proc").iterdir():
            if entry.name.isdigit() and (s := stat(entry.name)) and s[1] == parent:
                if (rank := variable(entry.name, name)) is not None:
                    found[int(rank)] = int(entry.name)
        if len(found) == count:
            return found
        time.sleep(0.05)
    raise AssertionError(f"{count} ranks did not start")


def alive(pids):
    return [pid for pid in pids if (s := stat(pid)) and s[0] not in "ZX"]


def output(command):
    """What it prints; what launchers of other ranks have left in the environment does not reach it."""
    clean = {k: v for k, v in os.environ.items() if k not in ("RANK", "WORLD_SIZE", "LOCAL_RANK")}
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120, env=clean)


def disturb(command, count, name, victim, how, wait=2):
    """Starts the ranks, and after `wait` seconds, in which they begin, kills or stops one of them; the exit code, stderr
    and what is left running."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    pids = {}
    try:
        pids = ranks_of(process.pid, count, name)
        time.sleep(wait)
        os.kill(pids[victim], how)
        _, errors = process.communicate(timeout=60)
        end = time.monotonic() + 20  # a process that has been killed takes a while to be gone
        while alive(pids.values()) and time.monotonic() < end:
            time.sleep(0.05)
        return process.returncode, errors, alive(pids.values())
    finally:
        for pid in alive(pids.values()):
            os.kill(pid, signal.SIGKILL)
        if process.poll() is None:
            process.kill()
