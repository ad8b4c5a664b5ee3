"""All of the onnx package's node cases as GPU kernels, on the emulator or a GPU.

    .venv/bin/python test/cuda/all_node_cases.py [--every N] [--target cuda:sm_80] [--device cuda] [NAME...]

prints what is not right and, last, how many are. Of the same rule as on the
CPU: right, or refused as unsupported. test_cuda_node_cases.py runs a fixed tenth in
every run of the tests; this takes all of them (half an hour on two cores).
"""

import argparse
import concurrent.futures
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "end-to-end"))
from node_cases import cases, outcome  # noqa: E402


def results(chosen, folder, target, device):
    """Name and outcome of each case, as they are done."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = {pool.submit(outcome, case, folder, target, device): case.name for case in chosen}
        for job in concurrent.futures.as_completed(jobs):
            yield jobs[job], job.result()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1, help="every N-th case (1)")
    parser.add_argument("--target", default="cuda:sm_80")
    parser.add_argument("--device", default="emulator")
    parser.add_argument("names", nargs="*", help="these cases alone")
    options = parser.parse_args()
    chosen = [case for case in cases() if case.name in options.names] if options.names else \
        list(cases())[::options.every]
    counts = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, text in results(chosen, pathlib.Path(folder), options.target, options.device):
            kind = text if text in ("passed", "unsupported") else "wrong"
            counts[kind] = counts.get(kind, 0) + 1
            if kind == "wrong":
                print(f"{name}: {text}", flush=True)
    print(", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())))
    return 1 if counts.get("wrong") else 0


if __name__ == "__main__":
    sys.exit(main())
