"""Kills ranks of pipelines while they train, resumes, and compares the end with that of a run without interruption.

    .venv/bin/python test/training/pipeline_kills.py --build build --count 100

Each of the other ranks has to end within the timeout and eight seconds, with a message that names the victim; those that wait for what a
stage sends say what that is. What is wrong is printed, and is the exit code."""

import argparse
import pathlib
import random
import re
import shutil
import sys
import tempfile
import time

import numpy as np

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / folder) for folder in ("distributed", "models", ".")]
import start_kills
import trained

SCHEDULES = [("1f1b", 3, 3), ("gpipe", 2, 2), ("interleaved-1f1b", 2, 4), ("chimera", 4, 4), ("zero-bubble", 3, 3)]
ACTION = re.compile(r"\d+(?:F|B|I|W|NORM|STEP)/[^']* of micro-batch \d+|\d+(?:NORM|STEP)/|gradient/|weight ")


def arguments(folder, schedule, stages, steps):
    model, *flags = [str(a) for a in trained.write(folder, "gpt") if "--input" not in str(a)]
    _, inputs, _ = trained.build("gpt")
    np.savez(folder / "d.npz", **trained.samples(inputs))
    return ["train", model, *flags, f"--data={folder / 'd.npz'}", f"--steps={steps}", "--optimizer=adamw", "--learning-rate=0.001",
            "--seed=3", "--micro-batches=4", f"--stages={stages}", f"--pipeline={schedule}", "--clip-norm=1", "--threads=1",
            f"--timeout={start_kills.TIMEOUT}", "--engine=gloo", "--checkpoint-every=10", "--log-every=100000000"]


def states(path):
    with np.load(path) as file:
        return {key: file[key].tobytes() for key in file if key != "settings"}


def finish(processes, seconds=300):
    """Waits for all; whether they have done all steps."""
    try:
        for process in processes:
            process.communicate(timeout=seconds)
        return all(process.returncode == 0 for process in processes)
    finally:
        start_kills.end(processes)


def interrupt(build, flags, size, checkpoint, victim, delay, waits):
    """One run until it is killed or done: (whether it is done, what is wrong, what the others say). With `waits` the delay begins
    when the run has written a checkpoint."""
    resume = ["--resume"] if checkpoint.exists() else []
    before = checkpoint.stat().st_mtime_ns if resume else 0
    processes = start_kills.start(build, [*flags, *resume, f"--checkpoint={checkpoint}"], size)

    def has_written():
        return checkpoint.exists() and checkpoint.stat().st_mtime_ns != before
    try:
        last = None if waits else time.monotonic() + delay
        while (last is None or time.monotonic() < last) and all(process.poll() is None for process in processes):
            if last is None and has_written():
                last = time.monotonic() + delay / 10
            time.sleep(0.005)
        if any(process.poll() is not None for process in processes):
            return finish(processes), [], []
        told, wrong = start_kills.kill(processes, victim)
        return False, wrong, told
    finally:
        start_kills.end(processes)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=4, help="a rank is killed within")
    options = parser.parse_args()
    generator, build = random.Random(options.seed), options.build.resolve()
    kills = failures = runs = named = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        expected = {}
        while kills < options.count:
            schedule, size, stages = SCHEDULES[runs % len(SCHEDULES)]
            flags = arguments(folder, schedule, stages, options.steps)
            if schedule not in expected:
                whole = folder / "whole.npz"
                assert finish(start_kills.start(build, [*flags, f"--checkpoint={whole}"], size)), schedule
                expected[schedule] = states(whole)
                whole.unlink()
            checkpoint, is_done, before = folder / "c.npz", False, kills
            checkpoint.unlink(missing_ok=True)
            while not is_done:
                # The last run is not killed again, nor one that has been killed ten times.
                is_left = kills < options.count and kills - before < 10
                victim, delay = generator.randrange(size), 0.3 + generator.random() * options.seconds if is_left else 1e9
                is_done, wrong, told = interrupt(build, flags, size, checkpoint, victim, delay, is_left and generator.random() < 0.7)
                kills += not is_done
                named += any(ACTION.search(text) for text in told)
                failures += bool(wrong)
                for text in wrong:
                    print(f"    {text}", flush=True)
            is_same = states(checkpoint) == expected[schedule]
            failures += not is_same
            runs += 1
            print(f"{schedule} on {size} ranks: {kills - before} kills, {'the same bits' if is_same else 'OTHER BITS'}", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{kills} ranks were killed in {runs} runs; {named} times others named an action; {failures} times something was wrong")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
