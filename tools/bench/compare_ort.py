"""Latencies of mlc and ONNX Runtime, interleaved in one process.

usage: ./dev bench [--json FILE] [--runs N] [--threads N] [NAME...]

Each model is compiled for fixed dims. Runs of mlc and of ONNX Runtime take
turns, so that both meet the same machine; the median counts. With two threads
the speed-up is set against that of a loop that computes only, measured just
before and after, because hosts sometimes give two cores the speed of one.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test" / "models"), str(ROOT / "tools" / "python")]
import catalog  # noqa: E402
import chains  # noqa: E402
import inputs  # noqa: E402
import mlc_runtime  # noqa: E402
from turns import onnxruntime_session, take_turns  # noqa: E402


def chain_model(folder):
    path = pathlib.Path(folder) / "softmax-chain.onnx"
    onnx.save(chains.softmax_chain(2000, 1000), path)
    return catalog.Model("2,000 softmax", path, [[(1000,)]], lambda shape, seed:
                         np.random.default_rng(seed).standard_normal(shape))


def measured_models(cache, folder):
    """(model, input shapes) of what is measured."""
    rec, magika = (next(catalog.models(cache, [name]), None) for name in ("PP-OCRv6 rec", "Magika"))
    for name in ("resnet50", "squeezenet"):
        path = catalog.light_seeded(name, cache)
        yield catalog.Model(name, path, [[(1, 3, 224, 224)]], inputs.picture)
    for model in (rec, magika):
        if model:
            yield model
    yield chain_model(folder)


def compute_scaling(seconds=0.3):
    """How much faster two processes compute than one: a loop without memory
    traffic, counted for a while alone and then twice at once."""
    loop = ("import time\nx=0\nn=0\nend=time.perf_counter()+%r\n"
            "while time.perf_counter()<end:\n for i in range(2000): x=(x*3+i)&65535\n n+=1\nprint(n)"
            % seconds)

    def counts(how_many):
        running = [subprocess.Popen([sys.executable, "-S", "-c", loop], stdout=subprocess.PIPE)
                   for _ in range(how_many)]
        return sum(int(p.communicate()[0]) for p in running)

    return counts(2) / counts(1)


class Bench:
    def __init__(self, build, folder, runs):
        self.build, self.folder, self.runs = pathlib.Path(build), pathlib.Path(folder), runs
        self.library = mlc_runtime.load_library(build)

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
        return mlc_runtime.Artifact(self.library, path), time.perf_counter() - start

    def measure(self, model, artifact, threads):
        arrays = catalog.feed(model, model.cases[0], "random")
        session = mlc_runtime.Session(artifact, threads=threads)
        session.bind(arrays)
        reference = onnxruntime_session(model.path, threads)
        return take_turns([session.run, lambda: reference.run(None, arrays)], self.runs)

    def rows(self, model, threads):
        artifact, seconds = self.compile(model)
        one = self.measure(model, artifact, 1)
        row = {"model": model.name, "size": model.cases[0], "compile_s": seconds,
               "mlc": one[0], "onnxruntime": one[1],
               "ratio": one[0]["median_ms"] / one[1]["median_ms"]}
        if threads > 1:
            before = compute_scaling()
            both = self.measure(model, artifact, 2)
            after = compute_scaling()
            row["threads2"] = {
                "mlc": both[0], "onnxruntime": both[1],
                "scaling": one[0]["median_ms"] / both[0]["median_ms"],
                "onnxruntime_scaling": one[1]["median_ms"] / both[1]["median_ms"],
                "compute_scaling": [before, after],
            }
            row["threads2"]["share"] = row["threads2"]["scaling"] / max(1.0, (before + after) / 2)
        return row


def print_rows(rows):
    print(f"{'model':16} {'mlc':>10} {'ORT':>10} {'ratio':>6} {'compile':>8}   two threads: "
          f"{'mlc':>6} {'ORT':>6} {'loop':>12} {'share':>6}")
    for row in rows:
        line = (f"{row['model']:16} {row['mlc']['median_ms']:7.2f} ms "
                f"{row['onnxruntime']['median_ms']:7.2f} ms {row['ratio']:6.2f} {row['compile_s']:6.1f} s")
        two = row.get("threads2")
        if two:
            before, after = two["compute_scaling"]
            line += (f"                {two['scaling']:5.2f}× {two['onnxruntime_scaling']:5.2f}× "
                     f"{before:5.2f}/{after:.2f}× {two['share']:6.0%}")
        print(line)


def main():
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__.split("\n\n")[0])
    parser.add_argument("--build", default=ROOT / "build", help=argparse.SUPPRESS)
    parser.add_argument("--json", metavar="FILE", help="write the figures there as well")
    parser.add_argument("--runs", type=int, default=20, help="timed runs of each (20)")
    parser.add_argument("--threads", type=int, default=2, choices=(1, 2),
                        help="2 measures the scaling on two threads as well (default)")
    parser.add_argument("names", nargs="*", help="only models whose name contains one of these")
    options = parser.parse_args()
    cache = pathlib.Path(options.build) / "models"
    cache.mkdir(parents=True, exist_ok=True)
    threads = min(options.threads, len(os.sched_getaffinity(0)))
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options.build, folder, options.runs)
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
