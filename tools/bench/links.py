#!/usr/bin/env python3
"""Collectives behind slow links, beside what the simulator says.

usage: links.py [--build build] [--ranks 2 4] [--bytes N ...] [--bandwidth BYTES/s] [--latency SECONDS] [--repeat N]

Runs `mlc collective` on threads with --link-bandwidth and --link-latency, writes a cluster file with the same link
(throttled, docs/Clusters.md) and with the rate at which this machine adds, and compares the fastest times with those of
`mlc inspect`. It needs as many idle cores as ranks, or links that are slow beside a core.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile
import time

import numpy as np

ALGORITHMS = ["server", "colocated", "naive", "ring", "tree", "butterfly", "halving-doubling"]


def sum_rate():
    """Bytes of float32 that a thread adds in a second; the best of a few turns."""
    to, received = np.ones(1 << 22, "f4"), np.ones(1 << 22, "f4")
    best = 0.0
    for _ in range(10):
        begin = time.perf_counter()
        to += received
        best = max(best, to.nbytes / (time.perf_counter() - begin))
    return best


def cluster(ranks, bandwidth, latency, rate):
    def number(value):
        return {"value": value, "source": "tools/bench/links.py"}
    device = {"flops_per_second": {"f32": number(1e11)}, "memory_bytes": number(4e9),
              "memory_bytes_per_second": number(1e10), "sum_bytes_per_second": number(rate)}
    return {"name": "throttled", "description": "threads behind slow links", "devices": {"core": device},
            "nodes": [{"count": 1, "ranks": ranks, "device": "core"}],
            "levels": [{"name": "link", "medium": "memory", "ranks": ranks, "latency_seconds": number(latency),
                        "bytes_per_second": number(bandwidth), "throttled": True}],
            "engine": {"rules": "ring", "overhead_seconds": number(0)}}


def output(*command):
    return json.loads(subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", type=pathlib.Path)
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 3, 4])
    parser.add_argument("--bytes", type=int, nargs="+", default=[4 << 20])
    parser.add_argument("--bandwidth", type=float, default=5e6)
    parser.add_argument("--latency", type=float, default=2e-2)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    mlc = options.build / "bin/mlc"
    rate = sum_rate()
    print(f"sums: {rate:.3g} bytes/s\n| algorithm | ranks | bytes | measured (ms) | simulated (ms) | error |\n"
          "|---|---|---|---|---|---|")
    errors = []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "throttled.json"
        for ranks in options.ranks:
            path.write_text(json.dumps(cluster(ranks, options.bandwidth, options.latency, rate)))
            for size in options.bytes:
                said = output(mlc, "inspect", path, "--json", f"--ranks={ranks}", f"--bytes={size}")
                for algorithm in ALGORITHMS:
                    simulated = said["all_reduce_seconds"][algorithm].get(str(ranks))
                    if simulated is None:
                        continue
                    # One at a time: with --repeat the next one begins while a rank is still in the last.
                    measured = min(
                        output(mlc, "collective", f"--ranks={ranks}", f"--bytes={size}", "--engine=inproc",
                               f"--algorithm={algorithm}", f"--link-bandwidth={options.bandwidth}",
                               f"--link-latency={options.latency}", "--json")["seconds"] for _ in range(options.repeat))
                    error = simulated / measured - 1
                    errors.append(abs(error))
                    print(f"| {algorithm} | {ranks} | {size} | {measured * 1e3:.2f} | {simulated * 1e3:.2f} "
                          f"| {error * 100:+.1f} % |", flush=True)
    print(f"\nlargest error {max(errors) * 100:.1f} %, mean {sum(errors) / len(errors) * 100:.1f} %")


if __name__ == "__main__":
    main()
