#!/usr/bin/env python3
"""Constants fitted to a random fifth of vTrain's iterations, and the errors on the others, for several seeds.

usage: iterations.py [--build build] [--seeds 10] [--cluster cluster:a100-800g]
"""

import argparse
import json
import pathlib
import subprocess

MEASURED = pathlib.Path(__file__).resolve().parents[2] / "test/simulator/vtrain"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--cluster", default="cluster:a100-800g")
    options = parser.parse_args()
    print("| seed | one node: error | tau | several: error | tau | choice |\n|---|---|---|---|---|---|")
    rows = []
    for seed in range(options.seeds):
        said = json.loads(subprocess.run(
            [options.build / "bin/mlc", "calibrate", f"--cluster={options.cluster}", f"--seed={seed}", "--json",
             *(f"--iterations={MEASURED}/iterations_{kind}_node.csv" for kind in ("single", "multi"))],
            capture_output=True, text=True, check=True).stdout)
        rows.append([said["one_node"]["mean_error"] * 100, said["one_node"]["kendall_tau"],
                     said["several_nodes"]["mean_error"] * 100, said["several_nodes"]["kendall_tau"],
                     said["choice"]["mean_loss"] * 100])
        print(line(seed, rows[-1]))
    print(line("mean", [sum(column) / len(rows) for column in zip(*rows)]))


def line(name, row):
    return f"| {name} | {row[0]:.1f} % | {row[1]:.3f} | {row[2]:.1f} % | {row[3]:.3f} | {row[4]:.1f} % |"


if __name__ == "__main__":
    main()
