"""The onnx package's node cases for a machine with a GPU that has NumPy, but neither onnx nor a compiler.

    .venv/bin/python test/cuda/packed_node_cases.py pack FILE [--every N] [--target cuda:sm_90a]     here; ten minutes
    python test/cuda/packed_node_cases.py run FILE [--device cuda] [--processes 4]                  there

`pack` compiles the cases and puts artifacts, inputs and expected outputs into FILE, a tar of some MB. `run` prints what is not right and,
last, how many are. It needs mlc's Python package (PYTHONPATH). The rule is that of all_node_cases.py. A case that ends its process, or loses
the device, is named, and the others go on in a new process.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "end-to-end"))
import node_case_rule  # noqa: E402


# ----------------------------------------------------------------------
# Where mlc was built
# ----------------------------------------------------------------------


def pack_case(case, folder, target):
    """Puts a case into the folder. 'packed', 'unsupported', or what went wrong."""
    from node_cases import compile_case, forms
    for name, model, data_sets in forms(case):
        artifact, failure = compile_case(model, folder / name, target)
        if failure is None:
            break
    else:
        return failure
    if failure:
        return failure
    (folder / name / "case.onnx").unlink()
    for number, (inputs, outputs) in enumerate(data_sets):
        arrays = {f"in{i}": value for i, value in enumerate(inputs)} | {f"out{i}": value for i, value in enumerate(outputs)}
        np.savez(folder / name / f"{number}.npz", **arrays)
    about = {"name": case.name, "rtol": case.rtol, "inputs": [info.name for info in model.graph.input]}
    (folder / name / "case.json").write_text(json.dumps(about))
    return "packed"


def pack(options):
    from node_cases import cases
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            chosen = list(cases())[::options.every]
            outcomes = list(pool.map(lambda case: pack_case(case, folder, options.target), chosen))
        with tarfile.open(options.file, "w:xz") as tar:
            for about in sorted(folder.glob("*/case.json")):
                tar.add(about.parent, about.parent.name)
    bad = [(case.name, text) for case, text in zip(chosen, outcomes) if text not in ("packed", "unsupported")]
    for name, text in bad:
        print(f"{name}: {text}")
    print(f"{options.file}: {outcomes.count('packed')} cases, {outcomes.count('unsupported')} unsupported")
    return 1 if bad else 0


# ----------------------------------------------------------------------
# Where the GPU is
# ----------------------------------------------------------------------


def check(folder, device):
    """What is wrong with a case, or 'passed'."""
    import mlc
    about = json.loads((folder / "case.json").read_text())
    session = mlc.Session(mlc.load(folder / "case.mlca"), device=device)
    for file in sorted(folder.glob("*.npz")):
        arrays = np.load(file)
        results = session.run({name: arrays[f"in{i}"] for i, name in enumerate(about["inputs"])})
        for i, port in enumerate(session.model.outputs):
            if wrong := node_case_rule.wrong(about["name"], about["rtol"], i, results[port.name], arrays[f"out{i}"]):
                return wrong
    return "passed"


def work(options):
    """Cases as lines of the input, outcomes as lines of the output."""
    import mlc
    for line in sys.stdin:
        try:
            text = check(pathlib.Path(line.strip()), options.device)
        except mlc.DeviceError as error:
            print(" ".join(str(error).split()), flush=True)
            return 3  # nothing on the device answers any more
        except Exception as error:
            text = f"{type(error).__name__}: {' '.join(str(error).split())}"
        print(text, flush=True)
    return 0


def run_some(folders, device):
    """[(name, outcome)] of cases, one after the other in a process, which is replaced when it ends."""
    process, found = None, []
    for folder in folders:
        if process is None or process.poll() is not None:
            process = subprocess.Popen([sys.executable, __file__, "work", "--device", device], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, text=True)
        try:
            process.stdin.write(f"{folder}\n")
            process.stdin.flush()
            text = process.stdout.readline().strip()
        except BrokenPipeError:
            text = ""
        if not text:
            text = f"the process ended with {process.wait()}"
        elif text != "passed":
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.2)  # one that has lost the device ends
        found.append((folder.name, text))
    if process is not None and process.poll() is None:
        process.stdin.close()
        process.wait()
    return found


def run(options):
    with tempfile.TemporaryDirectory() as scratch:
        with tarfile.open(options.file) as tar:
            tar.extractall(scratch, filter="data")
        folders = sorted(about.parent for about in pathlib.Path(scratch).glob("*/case.json"))
        with concurrent.futures.ThreadPoolExecutor(options.processes) as pool:
            parts = pool.map(lambda i: run_some(folders[i::options.processes], options.device), range(options.processes))
            found = [row for part in parts for row in part]
    counts = collections.Counter("passed" if text == "passed" else "wrong" for _, text in found)
    for name, text in sorted(found):
        if text != "passed":
            print(f"{name}: {text}")
    print(", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())))
    return 1 if counts["wrong"] or not found else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    packing = commands.add_parser("pack")
    packing.add_argument("file", type=pathlib.Path)
    packing.add_argument("--every", type=int, default=1, help="every N-th case (1)")
    packing.add_argument("--target", default="cuda:sm_90a")
    running = commands.add_parser("run")
    running.add_argument("file", type=pathlib.Path)
    running.add_argument("--device", default="cuda")
    running.add_argument("--processes", type=int, default=4)
    working = commands.add_parser("work")
    working.add_argument("--device", default="cuda")
    options = parser.parse_args()
    return {"pack": pack, "run": run, "work": work}[options.command](options)


if __name__ == "__main__":
    sys.exit(main())
