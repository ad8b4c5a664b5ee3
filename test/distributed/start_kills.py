"""Kills ranks while they start, and has the others name the one that is dead, and no other.

    .venv/bin/python test/distributed/start_kills.py --build build --count 60

Ranks are started by their environment alone, so that nobody but they tell what has happened. Each that is not the victim has to end
within the timeout and eight seconds of the signal, with a message that names the victim. What is wrong is printed, and is the exit code."""

import argparse
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "models"))
import graphs

TIMEOUT, SIZE = 5, 3
BLAMED = r"rank {}(?: has (?:died|not come|stopped|ended|gone|sent)|, which)"


def write(folder):
    """A network that takes a while to compile."""
    rng = np.random.default_rng(0)
    weights = {f"w{i}": rng.normal(size=(24, 24)).astype(np.float32) for i in range(4)}
    nodes = [node for i in range(4) for node in (("MatMul", [f"x{i}" if i else "x", f"w{i}"], [f"m{i}"], {}),
                                                 ("Tanh", [f"m{i}"], [f"x{i + 1}" if i < 3 else "y"], {}))]
    onnx.save(graphs.model(nodes, [("x", ["N", 24])], [("y", ["N", 24])], weights), folder / "m.onnx")
    np.savez(folder / "d.npz", x=rng.normal(size=(12, 24)).astype(np.float32), target=rng.normal(size=(12, 24)).astype(np.float32))
    return ["train", folder / "m.onnx", "--loss=mse", f"--data={folder / 'd.npz'}", "--batch=12", "--steps=100000000", "--threads=1",
            "--log-every=100000000", f"--timeout={TIMEOUT}", "--engine=gloo", "-o", folder / "o.onnx"]


def start(build, arguments, size=SIZE):
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    world = {"WORLD_SIZE": str(size), "LOCAL_WORLD_SIZE": str(size), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    return [subprocess.Popen([build / "bin/mlc", *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                             env={**os.environ, **world, "RANK": str(rank), "LOCAL_RANK": str(rank)}) for rank in range(size)]


def have_met(processes):
    """Whether all have the memory that they share; they compile then."""
    try:
        return all("/mlc-" in pathlib.Path(f"/proc/{one.pid}/maps").read_text() for one in processes)
    except OSError:
        return False


def kill(processes, victim):
    """Kills a rank; what the others say of it, and what is wrong with that."""
    os.kill(processes[victim].pid, signal.SIGKILL)
    told, wrong, begin = [], [], time.monotonic()
    for rank, process in enumerate(processes):
        if rank == victim:
            continue
        try:
            _, errors = process.communicate(timeout=max(0.1, begin + TIMEOUT + 8 - time.monotonic()))
        except subprocess.TimeoutExpired:
            wrong.append(f"rank {rank} goes on")
            continue
        told.append(errors)
        others = [r for r in range(len(processes)) if r != victim and re.search(BLAMED.format(r), errors)]
        if process.returncode == 0 or not re.search(BLAMED.format(victim), errors) and not re.search(rf"(see whether|because of) rank {victim}\b", errors):
            wrong.append(f"rank {rank} ends with {process.returncode}, and does not name rank {victim}:\n{errors}")
        elif others:
            wrong.append(f"rank {rank} blames rank {others[0]}:\n{errors}")
    return told, wrong


def end(processes):
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.wait()


def once(build, arguments, victim, delay):
    """Kills it after so many seconds, or when all have met where that is None; what is wrong."""
    processes = start(build, arguments)
    try:
        last = time.monotonic() + (60 if delay is None else delay)
        while time.monotonic() < last and not (delay is None and have_met(processes)):
            time.sleep(0.01)
        return kill(processes, victim)[1]
    finally:
        end(processes)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=3, help="a rank is killed within")
    options = parser.parse_args()
    generator, failures = random.Random(options.seed), 0
    with tempfile.TemporaryDirectory() as folder:
        arguments = write(pathlib.Path(folder))
        for i in range(options.count):
            victim, delay = generator.randrange(SIZE), generator.random() * options.seconds
            wrong = once(options.build.resolve(), arguments, victim, delay if i % 4 else None)
            failures += bool(wrong)
            print(f"{i}: rank {victim} " + (f"after {delay:.2f} s" if i % 4 else "when all have met")
                  + "".join(f"\n    {text}" for text in wrong), flush=True)
    print(f"{options.count} ranks were killed; {failures} times something was wrong")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
