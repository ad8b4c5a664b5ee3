"""Latencies of mlc and ONNX Runtime, interleaved in one process.

usage: ./dev bench [--json FILE] [--runs N] [--threads N] [--clock wall|cpu] [NAME...]

Each model is compiled for fixed dims. Runs of mlc and of ONNX Runtime, on one
thread and on two, take turns, so that all meet the same machine; the median
counts. The speed-up by a second thread is set against that of a loop that
computes only, which takes its turn with them: hosts sometimes give two cores
the speed of one. So does a cache line that goes from one thread to the other and
back: hosts also move the two cores farther apart, and then what one thread
writes and the other reads takes longer, which the loop does not show.
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

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test" / "models"), str(ROOT / "runtime" / "python")]
import catalog  # noqa: E402
import chains  # noqa: E402
import inputs  # noqa: E402
import mlc  # noqa: E402
from turns import CLOCKS, onnxruntime_session, take_turns  # noqa: E402


def chain_model(folder):
    path = pathlib.Path(folder) / "softmax-chain.onnx"
    onnx.save(chains.softmax_chain(2000, 1000), path)
    return catalog.Model("2,000 softmax", path, [[(1000,)]], lambda shape, seed:
                         np.random.default_rng(seed).standard_normal(shape))


def measured_models(cache, folder):
    """(model, input shapes) of what is measured."""
    rec, magika = (next(catalog.models(cache, [name]), None) for name in ("PP-OCRv6 rec", "Magika"))
    for name in ("resnet50", "squeezenet", "shufflenet"):
        path = catalog.light_seeded(name, cache)
        yield catalog.Model(name, path, [[(1, 3, 224, 224)]], inputs.picture)
    for name in ("resnet50", "squeezenet", "shufflenet", "densenet121"):
        path = catalog.light_half(name, cache)
        yield catalog.Model(f"{name} f16", path, [[(1, 3, 224, 224)]], inputs.picture)
    for model in (rec, magika):
        if model:
            yield model
    yield chain_model(folder)


class ComputeLoop:
    """A loop that computes only, as dense as kernels do, on some cores at once."""

    def __init__(self, build, cores, milliseconds=100):
        self.command, self.cores = [build / "bin/mlc-bench-loop", str(milliseconds)], cores

    def __call__(self):
        running = [subprocess.Popen(self.command) for _ in range(self.cores)]
        if any(process.wait() for process in running):
            raise RuntimeError("mlc-bench-loop failed")


class RoundTrip:
    """How long a cache line takes from one thread to another and back."""

    def __init__(self, build):
        self.command, self.nanoseconds = [build / "bin/mlc-bench-loop", "--round-trip"], []

    def __call__(self):
        self.nanoseconds.append(int(subprocess.run(self.command, check=True, capture_output=True).stdout))


class Bench:
    def __init__(self, build, folder, runs, clock):
        self.build, self.folder = pathlib.Path(build), pathlib.Path(folder)
        self.runs, self.clock = runs, clock
        os.environ["MLC_BUILD"] = str(build)

    def compile(self, model):
        """The artifact for the model's first sizes, and the seconds taken."""
        path = self.folder / "model.mlca"
        flags = []
        graph = onnx.load(model.path, load_external_data=False).graph
        fed = catalog.fed_inputs(onnx.ModelProto(graph=graph))
        for value, shape in zip(fed, model.cases[0]):
            for dim, size in zip(value.type.tensor_type.shape.dim, shape):
                if dim.dim_param:
                    flags.append(f"--dim={dim.dim_param}={size}")
        start = time.perf_counter()
        subprocess.run([self.build / "bin/mlc", "compile", model.path, "-o", path, *flags], check=True)
        return mlc.load(path), time.perf_counter() - start

    def calls(self, model, artifact, threads):
        """mlc's inference and ONNX Runtime's."""
        arrays = catalog.feed(model, model.cases[0], "random")
        session = mlc.Session(artifact, threads=threads)
        session.bind(arrays)
        reference = onnxruntime_session(model.path, threads)
        return [session.invoke, lambda: reference.run(None, arrays)]

    def rows(self, model, threads):
        artifact, seconds = self.compile(model)
        calls = self.calls(model, artifact, 1)
        if threads > 1:
            calls += self.calls(model, artifact, 2) + [ComputeLoop(self.build, n) for n in (1, 2)]
            round_trip = RoundTrip(self.build)
            calls.append(round_trip)
        # Threads that have slept through the others' turns take long to wake.
        times = take_turns(calls, self.runs, clock=self.clock, in_a_row=5, lead_ms=100)
        medians = [t["median_ms"] for t in times]
        row = {"model": model.name, "size": model.cases[0], "compile_s": seconds,
               "mlc": times[0], "onnxruntime": times[1], "ratio": medians[0] / medians[1]}
        if threads > 1:
            row["threads2"] = {
                "mlc": times[2], "onnxruntime": times[3],
                "scaling": medians[0] / medians[2],
                "onnxruntime_scaling": medians[1] / medians[3],
                "compute_scaling": 2 * medians[4] / medians[5],
                "round_trip_ns": statistics.median(round_trip.nanoseconds),
            }
            row["threads2"]["share"] = row["threads2"]["scaling"] / row["threads2"]["compute_scaling"]
        return row


def print_rows(rows):
    print(f"{'model':16} {'mlc':>10} {'ORT':>10} {'ratio':>6} {'compile':>8}   two threads: "
          f"{'mlc':>6} {'ORT':>6} {'loop':>6} {'share':>6} {'round trip':>11}")
    for row in rows:
        line = (f"{row['model']:16} {row['mlc']['median_ms']:7.2f} ms "
                f"{row['onnxruntime']['median_ms']:7.2f} ms {row['ratio']:6.2f} {row['compile_s']:6.1f} s")
        two = row.get("threads2")
        if two:
            line += (f"                {two['scaling']:5.2f}× {two['onnxruntime_scaling']:5.2f}× "
                     f"{two['compute_scaling']:5.2f}× {two['share']:6.0%} {two['round_trip_ns']:8.0f} ns")
        print(line)


def main():
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__.split("\n\n")[0])
    parser.add_argument("--build", default=ROOT / "build", help=argparse.SUPPRESS)
    parser.add_argument("--json", metavar="FILE", help="write the figures there as well")
    parser.add_argument("--runs", type=int, default=20, help="timed runs of each (20)")
    parser.add_argument("--threads", type=int, default=2, choices=(1, 2),
                        help="2 measures the scaling on two threads as well (default)")
    parser.add_argument("--clock", choices=sorted(CLOCKS), default="wall",
                        help="what is timed (wall); cpu on a machine that others use, with --threads 1")
    parser.add_argument("names", nargs="*", help="only models whose name contains one of these")
    options = parser.parse_args()
    if options.clock == "cpu" and options.threads != 1:
        parser.error("--clock cpu counts the time of all threads; give --threads 1")
    cache = pathlib.Path(options.build) / "models"
    cache.mkdir(parents=True, exist_ok=True)
    threads = min(options.threads, len(os.sched_getaffinity(0)))
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options.build, folder, options.runs, CLOCKS[options.clock])
        for model in measured_models(cache, folder):
            if options.names and not any(n.lower() in model.name.lower() for n in options.names):
                continue
            rows.append(bench.rows(model, threads))
            print_rows(rows[-1:])
    print()
    print_rows(rows)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rows, indent=1) + "\n")
    return 0 if rows else 2


if __name__ == "__main__":
    sys.exit(main())
