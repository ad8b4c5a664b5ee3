#!/usr/bin/env python3
"""FlexFlow's six networks on its two clusters: samples on all devices, mlc's search, and the best of several random walks.

usage: flexflow.py [--build build] [--networks NAME,...] [--clusters NAME,...] [--chains 5] [--proposals 200000]

Seconds are those that a core computed; a line says `slower` where the search is not as good as the best walk, or as samples.
"""

import argparse
import json
import pathlib
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "test/planner"))

import flexflow_networks  # noqa: E402


def plan(options, model, axis, cluster, *flags):
    """What was found first, what samples on all ranks take, and the seconds that a core computed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    said = json.loads(subprocess.run(
        [options.build / "bin/mlc", "plan", model, "--loss=cross-entropy", f"--class-axis={axis}", f"--cluster=cluster:{cluster}", "--json",
         *flags], capture_output=True, text=True, check=True).stdout)
    return *said["plans"][:2], resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def row(options, folder, name, cluster):
    write, batch, axis = flexflow_networks.NETWORKS[name]
    model = folder / f"{name}.onnx"
    if not model.exists():
        write(model, batch)
    best, samples, seconds = plan(options, model, axis, cluster, "--planner=soap")
    walks = [plan(options, model, axis, cluster, "--planner=mcmc", f"--seed={seed}", f"--budget={options.proposals}")
             for seed in range(options.chains)]
    walk, _, _ = min(walks, key=lambda one: one[0]["seconds"])
    slower = best["seconds"] > min(walk["seconds"], samples["seconds"])
    return (f"| {name} | {cluster} | {samples['seconds'] * 1e3:.1f} ms | {best['seconds'] * 1e3:.1f} ms | {walk['seconds'] * 1e3:.1f} ms "
            f"| {samples['received_bytes'] * 1e-9:.2f} GB | {best['received_bytes'] * 1e-9:.2f} GB | {walk['received_bytes'] * 1e-9:.2f} GB "
            f"| {seconds:.0f} s | {sum(one[2] for one in walks):.0f} s |{' slower' if slower else ''}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", type=pathlib.Path)
    parser.add_argument("--networks", default=",".join(flexflow_networks.NETWORKS))
    parser.add_argument("--clusters", default="flexflow-p100,flexflow-k80")
    parser.add_argument("--chains", type=int, default=5)
    parser.add_argument("--proposals", type=int, default=200_000)
    options = parser.parse_args()
    print("| network | cluster | samples | search | walks | received: samples | search | walks | search | walks |\n" + "|---" * 10 + "|")
    with tempfile.TemporaryDirectory() as folder:
        for cluster in options.clusters.split(","):
            for name in options.networks.split(","):
                print(row(options, pathlib.Path(folder), name, cluster), flush=True)


if __name__ == "__main__":
    main()
