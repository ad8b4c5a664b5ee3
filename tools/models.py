"""Compiles every model, compares with ONNX Runtime and prints one table.

usage: ./dev models [--json FILE] [--sizes open|fixed|both] [--optimize] [NAME...]

Each model is compiled once with its dims left open, and that one artifact is
run at two sizes of every open dim; then once more for each fixed size. Inputs
are random and such as the model sees in use. `error` is the largest difference
over all runs, relative to the output's largest magnitude; `arena` the planned
memory beside the lower bound that no plan can go below. --optimize adds a row per
model for what `mlc optimize` writes: checked by ONNX, run by ONNX Runtime, and
timed there beside the original.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
import onnxruntime

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "test" / "models"), str(ROOT / "runtime" / "python")]
import catalog  # noqa: E402
import mlc  # noqa: E402


def relative_error(got, want):
    """Largest difference relative to the largest magnitude; shapes and kinds
    of not-a-number must agree."""
    if got.shape != want.shape:
        return float("inf")
    got, want = got.astype(np.float64), want.astype(np.float64)
    if not np.array_equal(np.isfinite(got), np.isfinite(want)):
        return float("inf")
    finite = np.isfinite(want)
    if not finite.any():
        return 0.0
    scale = np.abs(want[finite]).max()
    return float(np.abs(got[finite] - want[finite]).max() / (scale or 1.0))


def alternating(first, second, runs):
    """Median times of two calls that take turns."""
    times = ([], [])
    for i in range(runs + 1):
        for call, kept in zip((first, second), times):
            start = time.perf_counter()
            call()
            if i:
                kept.append((time.perf_counter() - start) * 1e3)
    return [statistics.median(t) for t in times]


class Harness:
    def __init__(self, build, folder, runs):
        self.mlc = pathlib.Path(build) / "bin" / "mlc"
        os.environ["MLC_BUILD"] = str(build)
        self.folder = pathlib.Path(folder)
        self.runs = runs

    def compile(self, model, dims):
        """The artifact of `model` with the given dims, and the seconds taken."""
        path = self.folder / "model.mlca"
        flags = [f"--dim={name}={value}" for name, value in dims.items()]
        start = time.perf_counter()
        done = subprocess.run([self.mlc, "compile", model.path, "-o", path, *flags],
                              capture_output=True, text=True)
        if done.returncode:
            first = (done.stderr.strip() or "no message").splitlines()[0]
            raise RuntimeError(f"exit {done.returncode}: {first[:200]}")
        seconds = time.perf_counter() - start
        return mlc.load(path), seconds

    def run(self, artifact, reference, model, case):
        """Compares one size; returns a row's figures."""
        session = mlc.Session(artifact, threads=1)
        error = 0.0
        for kind in ("random", "real"):
            arrays = catalog.feed(model, case, kind)
            want = reference.run(None, arrays)
            got = list(session.run(arrays).values())
            error = max([error] + [relative_error(g, w) for g, w in zip(got, want, strict=True)])
        memory = session.memory
        ours, theirs = alternating(session.invoke, lambda: reference.run(None, arrays), self.runs)
        return {
            "size": ", ".join("×".join(map(str, shape)) for shape in case),
            "error": error,
            "arena_bytes": memory.arena_bytes,
            "arena_lower_bound_bytes": memory.lower_bound_bytes,
            "median_ms": ours,
            "onnxruntime_ms": theirs,
        }


    def optimize(self, model, reference, options):
        """A row about the model as `mlc optimize` writes it."""
        path = self.folder / "optimized.onnx"
        done = subprocess.run([self.mlc, "optimize", model.path, "-o", path],
                              capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"optimize: exit {done.returncode}: {done.stderr.strip()[:200]}")
        onnx.checker.check_model(str(path), full_check=True)
        optimized = onnxruntime.InferenceSession(
            str(path), options, providers=["CPUExecutionProvider"])
        error = 0.0
        for case in model.cases:
            arrays = catalog.feed(model, case, "random")
            pairs = zip(optimized.run(None, arrays), reference.run(None, arrays), strict=True)
            error = max([error] + [relative_error(g, w) for g, w in pairs])
        ours, theirs = alternating(
            lambda: optimized.run(None, arrays), lambda: reference.run(None, arrays), 2 * self.runs)
        return {"dims": "ONNX", "size": "×".join(map(str, case[0])), "error": error,
                "median_ms": ours, "onnxruntime_ms": theirs, "compile_s": 0.0}


def open_dims(artifact, case):
    """{symbol: value} of the artifact's open dims at the sizes of `case`."""
    dims = {}
    for (_, _, texts), shape in zip(artifact.inputs, case):
        for text, value in zip(texts, shape):
            if not text.isdigit():
                dims[text] = value
    return dims


def rows_of(model, harness, sizes, optimize):
    """Yields a row per run: figures, or what went wrong."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    reference = onnxruntime.InferenceSession(
        str(model.path), options, providers=["CPUExecutionProvider"])
    artifact, seconds = harness.compile(model, {})
    symbols = open_dims(artifact, model.cases[0])
    if symbols:
        # The same through the command line's own words for an open dim.
        artifact, seconds = harness.compile(model, {name: "any" for name in symbols})
    if sizes != "fixed" or not symbols:
        for case in model.cases:
            yield {"dims": "open" if symbols else "fixed", "compile_s": seconds,
                   **harness.run(artifact, reference, model, case)}
    if symbols and sizes != "open":
        for case in model.cases[:1]:
            fixed, seconds = harness.compile(model, open_dims(artifact, case))
            yield {"dims": "fixed", "compile_s": seconds,
                   **harness.run(fixed, reference, model, case)}
    if optimize:
        yield harness.optimize(model, reference, options)


HEADER = ["model", "dims", "size", "error", "arena", "bound", "over", "mlc", "ORT", "ratio",
          "compile", "verdict"]


def cells(row):
    if "failure" in row:
        return [row["model"], "", "", "", "", "", "", "", "", "", "", row["failure"]]
    if "arena_bytes" not in row:
        memory = ["", "", ""]
    else:
        memory = memory_cells(row["arena_bytes"], row["arena_lower_bound_bytes"])
    return [row["model"], row["dims"], row["size"], f"{row['error']:.1e}", *memory,
            f"{row['median_ms']:.2f} ms", f"{row['onnxruntime_ms']:.2f} ms",
            f"{row['median_ms'] / row['onnxruntime_ms']:.2f}", f"{row['compile_s']:.1f} s",
            row["verdict"]]


def memory_cells(arena, bound):
    over = 100 * (arena / bound - 1) if bound else 0.0
    return [f"{arena / 2**20:.2f} MB", f"{bound / 2**20:.2f} MB", f"{over:.1f} %"]


def print_table(rows):
    table = [HEADER] + [cells(row) for row in rows]
    widths = [max(len(line[i]) for line in table) for i in range(len(HEADER) - 1)] + [0]
    for line in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())


def main():
    parser = argparse.ArgumentParser(prog="./dev models", description=__doc__.split("\n\n")[0])
    parser.add_argument("--build", default=ROOT / "build", help=argparse.SUPPRESS)
    parser.add_argument("--json", metavar="FILE", help="write the rows there as well")
    parser.add_argument("--sizes", choices=["open", "fixed", "both"], default="both")
    parser.add_argument("--optimize", action="store_true", help="a row for mlc optimize as well")
    parser.add_argument("--runs", type=int, default=5, help="timed runs per row (5)")
    parser.add_argument("names", nargs="*", help="only models whose name contains one of these")
    options = parser.parse_args()

    cache = pathlib.Path(options.build) / "models"
    cache.mkdir(parents=True, exist_ok=True)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        harness = Harness(options.build, folder, options.runs)
        for model in catalog.models(cache, options.names):
            try:
                for row in rows_of(model, harness, options.sizes, options.optimize):
                    ok = row["error"] <= model.tolerance
                    row = {"model": model.name, **row, "verdict": "ok" if ok else "DIFFERS"}
                    rows.append(row)
                    print("  ".join(cells(row)), file=sys.stderr, flush=True)
            except (RuntimeError, mlc.Error, onnx.checker.ValidationError) as failure:
                rows.append({"model": model.name, "failure": str(failure)})
                print(f"{model.name}: {failure}", file=sys.stderr, flush=True)
    print_table(rows)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rows, indent=1) + "\n")
    bad = {row["model"] for row in rows if row.get("verdict") != "ok"}
    names = {row["model"] for row in rows}
    print(f"{len(names) - len(bad)} of {len(names)} models within tolerance")
    return 5 if bad or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
