"""Kills and stops ranks at random moments, and holds what the others do against docs/Collectives.md.

    .venv/bin/python test/transport/kills.py --build build --count 50

Each rank that is not the victim has to end within the timeout and five seconds of the signal, with a message that names its
collective and the victim (or, of a rank that the launcher has ended first, with none), one of them at least; nothing is left
running. What is wrong is printed, and is the exit code."""

import argparse
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import time

import ranks

TIMEOUT = 2
SIZE = 4
ALGORITHMS = ("colocated", "naive", "ring", "tree", "butterfly", "halving-doubling", "server", "own", "groups", "groups")
COLLECTIVES = ("all-reduce", "reduce-scatter", "all-gather", "broadcast", "all-to-all")
MESSAGE = r"mlc: error: rank {}: collective \d+(?: of group \d+)? \([^\n]*\): ([^\n]*)"


def command(build, engine, algorithm, collective):
    mlc = str(build / "bin/mlc")
    what = ["--groups=3", "--steps=100000000"] if algorithm == "groups" else [f"--algorithm={algorithm}"]
    flags = ["collective", "--repeat=100000000", f"--timeout={TIMEOUT}", *what, f"--collective={collective}", "--bytes=8192"]
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    if engine == "mpi":
        return ["mpirun", *root, "--oversubscribe", "-n", str(SIZE), mlc, *flags], "OMPI_COMM_WORLD_RANK"
    library = ["env", f"LD_LIBRARY_PATH={build}/lib/nccl"] if engine == "nccl" else []
    return [mlc, "launch", "-n", str(SIZE), "--", *library, mlc, *flags, f"--engine={engine}"], "RANK"


def have_begun(pids):
    """Ranks that have joined share memory, where they publish (MPI's window, Gloo's board); what follows is a moment later."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            maps = [pathlib.Path(f"/proc/{pid}/maps").read_text() for pid in pids.values()]
        except OSError:
            return False
        if all("/osc_" in text or "/mlc-" in text for text in maps):
            time.sleep(0.5)
            return True
        time.sleep(0.05)
    return False


def once(build, engine, random, algorithms=ALGORITHMS):
    algorithm, collective = random.choice(algorithms), random.choice(COLLECTIVES)
    if algorithm not in ("ring", "own", "groups"):
        collective = "all-reduce"  # as the others are of sums
    victim, how = random.randrange(SIZE), random.choice((signal.SIGKILL, signal.SIGSTOP))
    told = f"{engine}, {collective} {algorithm}, {how.name} of rank {victim}"
    start, variable = command(build, engine, algorithm, collective)
    process = subprocess.Popen(start, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    pids = {}
    wrong = []
    try:
        pids = ranks.ranks_of(process.pid, SIZE, variable)
        if not have_begun(pids):
            wrong.append("the ranks have not begun")
        time.sleep(2 * random.random())
        begin = time.monotonic()
        os.kill(pids[victim], how)
        others = [pid for rank, pid in pids.items() if rank != victim]
        while ranks.alive(others) and time.monotonic() < begin + TIMEOUT + 15:
            time.sleep(0.02)
        seconds = time.monotonic() - begin
        if seconds > TIMEOUT + 5:
            wrong.append(f"the others ended after {seconds:.1f} s")
        _, errors = process.communicate(timeout=60)
        named = [rank for rank in range(SIZE) if rank != victim
                 and (found := re.search(MESSAGE.format(rank), errors)) and f"rank {victim}" in found.group(1)]
        if len(named) < SIZE - 1:
            wrong.append(f"only ranks {named} have named rank {victim}:\n{errors}")
        if process.returncode == 0:
            wrong.append("the launcher ended with 0")
        end = time.monotonic() + 10
        while ranks.alive(pids.values()) and time.monotonic() < end:
            time.sleep(0.05)
        if left := ranks.alive(pids.values()):
            wrong.append(f"{len(left)} processes are left running")
        return told, seconds, wrong
    finally:
        for pid in ranks.alive(pids.values()):
            os.kill(pid, signal.SIGKILL)
        if process.poll() is None:
            process.kill()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--algorithms", default=",".join(ALGORITHMS))
    parser.add_argument("--engines", default="mpi,gloo", help="of mpi, gloo, nccl (the test's)")
    options = parser.parse_args()
    generator, slowest, failures = random.Random(options.seed), 0.0, 0
    for i in range(options.count):
        engines = options.engines.split(",")
        told, seconds, wrong = once(options.build.resolve(), engines[i % len(engines)], generator,
                                    options.algorithms.split(","))
        slowest = max(slowest, seconds)
        failures += bool(wrong)
        print(f"{i}: {told}: {seconds:.1f} s" + "".join(f"\n    {text}" for text in wrong), flush=True)
    print(f"{options.count} ranks were killed or stopped; {failures} times something was wrong; the others ended after "
          f"{slowest:.1f} s at most")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
