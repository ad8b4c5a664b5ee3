"""Placements on 4 K80: a language model, a translator and Inception-v3 (docs/Planners.md).

    .venv/bin/python tools/bench/placement.py [--placements 3000] [--seed 0] [--groups 12] [--networks rnn,translator,inception]

Prints, for each network, what `mlc plan --planner=reinforce --compare` simulates, and the seconds that it takes; with
--groups=12 the best of all placements of 12 groups is beside. Ends with 1 if a published sign is missing: a placement as
good as one rank, equal runs of layers, min-cut and 200 random ones; gains of Inception-v3; 5 % of the best of all.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test/planner"), str(ROOT / "test")]

import flexflow_networks as networks  # noqa: E402


def write(name, path):
    """The flags of its loss."""
    if name == "rnn":
        networks.rnnlm(path, 64, units=512, layers=2, steps=20, vocabulary=10_000)
    elif name == "translator":
        networks.nmt(path, 64, units=1024, layers=4, steps=20, vocabulary=10_000)
    else:
        networks.inception_v3(path, 32)
        return []
    return ["--class-axis=-1"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--placements", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--groups", type=int, default=0)
    parser.add_argument("--networks", default="rnn,translator,inception")
    parser.add_argument("--build", default="build")
    args = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for name in args.networks.split(","):
            path = pathlib.Path(folder) / f"{name}.onnx"
            flags = [path, "--loss=cross-entropy", *write(name, path), "--cluster=cluster:flexflow-k80", "--ranks=4", "--planner=reinforce",
                     f"--budget={args.placements}", f"--seed={args.seed}", *([f"--blocks={args.groups}"] if args.groups else [])]
            command = [ROOT / args.build / "bin/mlc", "plan", *map(str, flags), "--json"]
            begin = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            seconds = time.perf_counter() - begin
            done = subprocess.run([*command, "--compare"], capture_output=True, text=True)
            if done.returncode:
                sys.exit(done.stderr)
            found = json.loads(done.stdout)
            rows = {one["name"]: one["seconds"] for one in found["plans"]}
            best = rows["reinforce"]
            ranks = {one["rank"] for one in found["operators"]}
            print(f"{name}: {len(found['operators'])} operators in {found['groups']} groups on {len(ranks)} ranks, planned in {seconds:.0f} s")
            for row, time_taken in rows.items():
                print(f"  {row:30} {1e3 * time_taken:10.2f} ms" + ("" if time_taken < 100 else "  (too much memory)"), flush=True)
            failed |= any(best > other * (1 + 1e-9) for row, other in rows.items() if row not in ("reinforce", "list scheduling, improved", "the best of all"))
            failed |= best > 1.05 * rows.get("the best of all", best) or (name == "inception" and best >= rows["one rank"])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
