#!/usr/bin/env python3
"""Plans of different kinds, trained over MPI behind a slow link, beside what `mlc plan` simulates.

usage: plans.py [--build build] [--ranks 4] [--bandwidth BYTES/s] [--latency SECONDS] [--steps N] [--repeat N]

A perceptron of 8 products is planned by written strategies (ZeRO-3, data parallel, Megatron-LM, equal stages) and by what
`mlc plan` finds; each plan trains on so many processes whose links are throttled (MLC_LINK_BANDWIDTH). Prints the steps
as simulated and as measured, the median of the repetitions, Kendall's tau, and how far losses are from those of one rank.
"""

import argparse
import itertools
import json
import os
import pathlib
import re
import statistics
import subprocess
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from replay import kendall, write_cluster

WIDTH, LAYERS, BATCH = 512, 8, 64
PLANS = {"zero-3": ["--strategy=zero-3"], "data-parallel": ["--strategy=data-parallel"],
         "megatron": ["--mesh=data=1,tensor={ranks}", "--strategy=gspmd", *(f"--shard=w{i}={'-,' * (i % 2 == 0)}tensor" for i in range(LAYERS))],
         "equal-stages": ["--strategy=equal-stages"], "found": []}


def write_model(folder):
    """Products of equal sizes with activations between, and samples."""
    rng = np.random.default_rng(1)
    nodes, weights, x = [], [], "x"
    for i in range(LAYERS):
        weights.append(numpy_helper.from_array((rng.standard_normal((WIDTH, WIDTH)) * np.sqrt(2 / WIDTH)).astype(np.float32), f"w{i}"))
        nodes.append(helper.make_node("MatMul", [x, f"w{i}"], [f"product{i}"], name=f"product{i}"))
        nodes.append(helper.make_node("Relu", [f"product{i}"], [f"relu{i}"], name=f"relu{i}"))
        x = f"relu{i}"
    graph = helper.make_graph(nodes, "perceptron", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", WIDTH])],
                              [helper.make_tensor_value_info(x, TensorProto.FLOAT, ["n", WIDTH])], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "m.onnx")
    samples = rng.standard_normal((BATCH, WIDTH)).astype(np.float32)
    np.savez(folder / "d.npz", x=samples, target=np.roll(samples, 1, 1))


def run(command, environment=None):
    clean = {k: v for k, v in os.environ.items() if k not in ("RANK", "WORLD_SIZE", "LOCAL_RANK")}
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, env={**clean, **(environment or {})})
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout + done.stderr


def train(options, folder, launch, *flags, environment=None):
    """Seconds of a step, and the losses. Two runs differ in steps alone, not in how they begin and end."""
    def trained(steps):
        out = run([*launch, options.build / "bin/mlc", "train", folder / "m.onnx", "--loss=mse", f"--data={folder / 'd.npz'}",
                   f"--steps={steps}", "--log-every=1", *flags, "-o", folder / "trained.onnx"], environment)
        losses = [float(line.split()[-1]) for line in re.findall(r"^step .*$", out, re.M)]
        return float(re.search(r"steps in (\S+) s", out)[1]), losses
    few, many = trained(2), trained(2 + options.steps)
    return (many[0] - few[0]) / options.steps, many[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", type=pathlib.Path)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--bandwidth", type=float, default=2e7)
    parser.add_argument("--latency", type=float, default=1e-3)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    launch = ["mpirun", *root, "--oversubscribe", "-n", options.ranks]
    throttle = {"MLC_LINK_BANDWIDTH": str(options.bandwidth), "MLC_LINK_LATENCY": str(options.latency)}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_model(folder)
        write_cluster(folder / "c.json", options.ranks, options.bandwidth, options.latency, throttled=True)
        _, alone = train(options, folder, [], f"--batch={BATCH}")
        pairs = []
        for what, flags in PLANS.items():
            plan = folder / f"{what}.json"
            flags = [flag.format(ranks=options.ranks) for flag in flags]
            found = json.loads(run([options.build / "bin/mlc", "plan", folder / "m.onnx", "--loss=mse", f"--samples={BATCH}", f"--ranks={options.ranks}",
                                    f"--cluster={folder / 'c.json'}", "--json", "-o", plan, *flags]))["plans"][0]
            times = []
            for _ in range(options.repeat):
                seconds, losses = train(options, folder, launch, f"--plan={plan}", f"--batch={found['batch']}", environment=throttle)
                times.append(seconds)
            pairs.append((found["seconds"], statistics.median(times)))
            far = max(abs(a - b) / abs(b) for a, b in itertools.zip_longest(losses, alone, fillvalue=np.nan))
            print(f"{what:14} {found['strategy'] or found['schedule']:14} {1e3 * pairs[-1][0]:8.1f} ms simulated {1e3 * pairs[-1][1]:8.1f} ms measured"
                  f"   losses within {far:.1e} of one rank", flush=True)
        print(f"Kendall's tau {kendall(pairs):.3f}")


if __name__ == "__main__":
    main()
