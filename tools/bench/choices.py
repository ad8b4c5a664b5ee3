"""Elimination beside HiGHS on random problems of choices (docs/Planners.md).

    .venv/bin/pip install --no-deps highspy==1.16.0
    .venv/bin/python tools/bench/choices.py [--seeds 5] [--seconds 120] [-- --reach=4 ...]

For each seed, mlc-bench-choices solves a problem of 500 nodes, 10 choices and five
rows (or as the flags behind -- say), and HiGHS the same as an integer program for
so many seconds on two threads. Printed are the costs, each one's gap, and how much
dearer than HiGHS's the elimination's choices are. Ends with 1 if they are more
than 0.5 % dearer, or if its gap is above 1 %; with 77 without highspy.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROW = re.compile(r"elimination seed (\d+): cost (\S+) bound (\S+) gap (\S+) % .* in (\S+) s")


def eliminate(flags, seed, build="build"):
    """Cost, bound and seconds of the elimination."""
    done = subprocess.run([ROOT / build / "bin/mlc-bench-choices", f"--seed={seed}", *flags],
                          capture_output=True, text=True, check=True)
    found = ROW.match(done.stdout)
    if not found:
        sys.exit(done.stdout)
    return float(found[2]), float(found[3]), float(found[5])


def solve_by_highs(flags, seed, seconds, build="build"):
    """Cost and bound that HiGHS finds within so many seconds."""
    import highspy

    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/problem.mps"
        subprocess.run([ROOT / build / "bin/mlc-bench-choices", f"--seed={seed}", *flags, f"--mps={path}"], check=True)
        highs = highspy.Highs()
        highs.silent()
        highs.setOptionValue("time_limit", float(seconds))
        highs.setOptionValue("threads", 2)
        highs.setOptionValue("mip_rel_gap", 1e-7)
        highs.readModel(path)
        highs.run()
        info = highs.getInfo()
        return info.objective_function_value, info.mip_dual_bound


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--build", default="build")
    parser.add_argument("flags", nargs="*", help="flags of mlc-bench-choices, behind --")
    args = parser.parse_args()
    try:
        import highspy  # noqa: F401
    except ImportError:
        print("highspy is not installed")
        return 77
    failed = False
    print("seed  elimination   gap %  seconds        HiGHS   gap %  dearer by %")
    for seed in range(args.seeds):
        cost, bound, seconds = eliminate(args.flags, seed, args.build)
        other, other_bound = solve_by_highs(args.flags, seed, args.seconds, args.build)
        gap = 100 * (cost - bound) / cost
        dearer = 100 * (cost / other - 1)
        failed |= gap > 1 or dearer > 0.5
        print(f"{seed:4}  {cost:11.3f}  {gap:6.3f}  {seconds:7.1f}  {other:11.3f}  "
              f"{100 * (other - other_bound) / other:6.3f}  {dearer:11.3f}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
