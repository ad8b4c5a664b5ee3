"""What the rewrites gain: each model before and after `mlc optimize` in ONNX
Runtime, and in mlc with and without rewrites.

usage: ./dev bench-rewrites [--json FILE] [--runs N] [--clock wall|cpu] [NAME...]

Three runs take turns: the original, the rewritten model and the original once
more; the last ratio (A/A) says what the machine's noise is worth. The results
of the rewritten model are compared as well.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test" / "models"), str(ROOT / "runtime" / "python")]
import catalog  # noqa: E402
import mlc  # noqa: E402
from turns import CLOCKS, onnxruntime_session, take_turns  # noqa: E402


def ratios(calls, runs, clock=time.perf_counter):
    """Rewritten to original, and original to itself, by their medians."""
    original, rewritten, again = (t["median_ms"] for t in take_turns(calls, runs, clock=clock))
    return {"original_ms": original, "ratio": rewritten / original, "a_a": again / original}


def largest_error(got, want):
    """Relative to each output's largest magnitude."""
    return max(float(np.abs(g - w).max() / max(np.abs(w).max(), 1e-30))
               for g, w in zip(got, want, strict=True) if w.size)


class Bench:
    def __init__(self, build, folder, runs, clock=time.perf_counter, flags=()):
        """`flags`: how mlc is to search."""
        self.build, self.folder, self.runs = pathlib.Path(build), pathlib.Path(folder), runs
        self.clock, self.flags = clock, list(flags)
        os.environ["MLC_BUILD"] = str(build)

    def mlc(self, *arguments):
        subprocess.run([self.build / "bin/mlc", *map(str, arguments)], check=True,
                       stdout=subprocess.DEVNULL)

    def onnxruntime(self, path, arrays):
        rewritten = self.folder / "rewritten.onnx"
        self.mlc("optimize", path, "-o", rewritten, *self.flags)
        sessions = [onnxruntime_session(p, 1) for p in (path, rewritten, path)]
        want, got = (s.run(None, arrays) for s in sessions[:2])
        row = ratios([lambda s=s: s.run(None, arrays) for s in sessions], self.runs, self.clock)
        row["largest_error"] = largest_error(got, want)
        return row

    def native(self, path, arrays):
        plain, rewritten, again = (self.folder / f"{name}.mlca" for name in ("plain", "rewritten", "again"))
        self.mlc("compile", path, "-o", plain, "--no-rewrites")
        self.mlc("compile", path, "-o", rewritten, *self.flags)
        # A file of its own: weights that two sessions map are warm for the second.
        shutil.copyfile(plain, again)
        sessions = [mlc.Session(mlc.load(file), threads=1)
                    for file in (plain, rewritten, again)]
        want, got, _ = (list(session.run(arrays).values()) for session in sessions)
        row = ratios([session.invoke for session in sessions], self.runs, self.clock)
        row["largest_error"] = largest_error(got, want)
        return row

    def row(self, model):
        arrays = catalog.feed(model, model.cases[0], "random")
        return {"model": model.name, "onnxruntime": self.onnxruntime(model.path, arrays),
                "mlc": self.native(model.path, arrays)}


def text(row):
    theirs, ours = row["onnxruntime"], row["mlc"]
    return (f"{row['model']:28} {theirs['original_ms']:8.2f} ms {theirs['ratio']:6.3f} {theirs['a_a']:6.3f} "
            f"{theirs['largest_error']:9.1e}   {ours['original_ms']:8.2f} ms {ours['ratio']:6.3f} {ours['a_a']:6.3f}")


def main():
    parser = argparse.ArgumentParser(prog="./dev bench-rewrites", description=__doc__.split("\n\n")[0])
    parser.add_argument("--build", default=ROOT / "build", help=argparse.SUPPRESS)
    parser.add_argument("--json", metavar="FILE", help="write the figures there as well")
    parser.add_argument("--runs", type=int, default=21, help="timed runs of each (21)")
    parser.add_argument("--clock", choices=sorted(CLOCKS), default="wall",
                        help="what is timed: cpu on a machine that others use (wall)")
    parser.add_argument("names", nargs="*", help="only models whose name contains one of these")
    options = parser.parse_args()
    cache = pathlib.Path(options.build) / "models"
    cache.mkdir(parents=True, exist_ok=True)
    rows = []
    print(f"{'':28} ONNX Runtime: original, rewritten, A/A, error    mlc: --no-rewrites, with, A/A")
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options.build, folder, options.runs, CLOCKS[options.clock])
        for model in catalog.models(cache, options.names):
            rows.append(bench.row(model))
            print(text(rows[-1]), flush=True)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rows, indent=1) + "\n")
    return 0 if rows else 2


if __name__ == "__main__":
    sys.exit(main())
