#!/usr/bin/env python3
"""Steps of pipelines replayed on ranks, beside what the simulator says.

usage: replay.py [--build build] [--ranks N ...] [--bandwidth BYTES/s] [--latency SECONDS] [--steps N] [--processes]

Without --ranks: 12 plans on two ranks whose link is throttled (MLC_LINK_BANDWIDTH), with errors and Kendall's tau of the
predicted order. With --ranks: 1F1B on so many ranks, over the engine's own links. --processes runs the ranks as
processes over Gloo. Kernels are waits, so a busy machine does little harm.
"""

import argparse
import itertools
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WIDTH = 512


def write_model(path, layers):
    """Products of equal sizes; the weights are zeros, and nobody computes."""
    nodes = [helper.make_node("MatMul", [f"x{i}", f"w{i}"], [f"x{i + 1}"], name=f"product{i}") for i in range(layers)]
    nodes.append(helper.make_node("ReduceMean", [f"x{layers}"], ["loss"], keepdims=0, name="mean"))
    weights = [numpy_helper.from_array(np.zeros((WIDTH, WIDTH), np.float32), f"w{i}") for i in range(layers)]
    graph = helper.make_graph(nodes, "products", [helper.make_tensor_value_info("x0", TensorProto.FLOAT, ["n", WIDTH])],
                              [helper.make_tensor_value_info("loss", TensorProto.FLOAT, [])], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def write_cluster(path, ranks, bandwidth, latency, throttled):
    def number(value):
        return {"value": value, "source": "tools/bench/replay.py"}
    device = {"flops_per_second": {"f32": number(1e11)}, "memory_bytes": number(4e9), "memory_bytes_per_second": number(1e10)}
    level = {"name": "link", "medium": "memory", "ranks": ranks, "latency_seconds": number(latency),
             "bytes_per_second": number(bandwidth)}
    if throttled:
        level["throttled"] = True
    path.write_text(json.dumps({"name": "link", "description": "ranks behind one link", "devices": {"core": device},
                                "nodes": [{"count": 1, "ranks": ranks, "device": "core"}], "levels": [level],
                                "engine": {"rules": "ring", "overhead_seconds": number(0)}}))


def plans():
    """12 on two ranks: schedules, micro-batches and where the model is cut."""
    for (schedule, stages), (batches, samples) in itertools.product(
            [("gpipe", 2), ("1f1b", 2), ("interleaved-1f1b", 4), ("zero-bubble", 2)], [(2, 8192), (4, 4096), (8, 2048)]):
        yield f"{schedule}, {batches} micro-batches", [f"--pipeline={schedule}", f"--stages={stages}", f"--micro-batches={batches}",
                                                       f"--batch={samples}"]


def replay(options, folder, ranks, flags, environment):
    mlc = options.build / "bin/mlc"
    command = [mlc, "simulate", folder / "m.onnx", *flags, f"--cluster={folder / 'c.json'}", "--estimate", "--replay",
               f"--replay-steps={options.steps}", "--json"]
    command = [mlc, "launch", "-n", ranks, "--", *command] if options.processes else [*command, f"--ranks={ranks}"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, env={**os.environ, **environment})
    if done.returncode:
        raise SystemExit(done.stderr)
    found = json.loads(done.stdout)
    return found["seconds"], statistics.median(found["replayed_seconds"])


def kendall(pairs):
    signs = [np.sign((a[0] - b[0]) * (a[1] - b[1])) for a, b in itertools.combinations(pairs, 2)]
    return sum(signs) / len(signs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", type=pathlib.Path)
    parser.add_argument("--ranks", type=int, nargs="+", default=[])
    parser.add_argument("--bandwidth", type=float)
    parser.add_argument("--latency", type=float)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--processes", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_model(folder / "m.onnx", 32 if options.ranks else 8)
        pairs = []
        for ranks in options.ranks or [2]:
            throttled = not options.ranks
            bandwidth, latency = options.bandwidth or (5e7 if throttled else 1e9), options.latency or (1e-2 if throttled else 1e-4)
            write_cluster(folder / "c.json", ranks, bandwidth, latency, throttled)
            environment = {"MLC_LINK_BANDWIDTH": str(bandwidth), "MLC_LINK_LATENCY": str(latency)} if throttled else {}
            some = plans() if throttled else [(f"1f1b on {ranks} ranks", [f"--stages={ranks}", "--micro-batches=8", "--batch=2048"])]
            for what, flags in some:
                predicted, measured = replay(options, folder, ranks, flags, environment)
                pairs.append((predicted, measured))
                print(f"{what:40} {predicted:8.4f} s predicted {measured:8.4f} s measured {100 * (measured / predicted - 1):+6.1f} %", flush=True)
        errors = [abs(measured / predicted - 1) for predicted, measured in pairs]
        print(f"largest error {100 * max(errors):.1f} %, mean {100 * statistics.mean(errors):.1f} %"
              + (f", Kendall's tau {kendall(pairs):.3f}" if len(pairs) > 1 else ""))


if __name__ == "__main__":
    main()
