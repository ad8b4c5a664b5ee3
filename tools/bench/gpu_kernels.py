"""What models become on GPUs, without one: launches, kernels, registers, spills.

    python tools/bench/gpu_kernels.py [--build build] [--arch sm_80,sm_90a] [--write FILE]

Compiles the models of ./dev models and the networks of the experiments, and
prints a table in Markdown: for each the launches of a run, the kernels by
skeleton, the most registers of a thread, and those kernels that use a stack or
spill registers, which contractions and rows must not.
"""

import argparse
import collections
import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXPERIMENTS = ["resnet50", "resnext50", "resnet18-parallel", "inception-v3", "squeezenet", "vgg19", "mobilenet-v2",
               "nasnet-a", "nasrnn", "bert-base", "bert-large", "llama"]
# Skeletons whose threads keep what they work on in registers.
IN_REGISTERS = ("tensor", "tiles", "sums", "rows", "topk", "transpose")


def models(folder):
    """Names and files."""
    sys.path[:0] = [str(ROOT / "test/models"), str(ROOT / "tools/experiments")]
    import catalog
    import models as experiments
    for model in catalog.models(folder):
        yield model.name, model.path
    for name in EXPERIMENTS:
        path = folder / f"{name}.onnx"
        experiments.write(name, path)
        yield f"experiment {name}", path
        path.unlink()


def look(mlc, path, arch, folder):
    """A row of the table, or why there is none."""
    artifact = folder / "model.mlca"
    start = time.monotonic()
    done = subprocess.run([mlc, "compile", path, "-o", artifact, f"--target=cuda:{arch}"], capture_output=True, text=True,
                          env={**os.environ, "MLC_CACHE": "off"})
    seconds = time.monotonic() - start
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()[-1].removeprefix("mlc: error: ").removeprefix(f"{path}: ")
        return said.split(";")[0].split(",")[0], []
    shown = json.loads(subprocess.run([mlc, "inspect", "--json", artifact], capture_output=True, text=True,
                                      check=True).stdout)
    kernels = shown["manifest"].get("kernels", [])
    launches = sum(step["kind"] == "grid-launch" for step in shown["steps"])
    skeletons = collections.Counter(kernel["skeleton"] for kernel in kernels)
    wrong = [kernel for kernel in kernels if kernel["stack"] or kernel["spill_stores"] or kernel["spill_loads"]]
    row = [launches, len(kernels), ", ".join(f"{n} {name}" for name, n in sorted(skeletons.items())),
           max((kernel["registers"] for kernel in kernels), default=0), len(wrong), f"{seconds:.1f}"]
    return row, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--arch", default="sm_80,sm_90a")
    parser.add_argument("--write", type=pathlib.Path, help="write the page here")
    options = parser.parse_args()
    lines, spills, failed = [], [], 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for model, path in models(folder):
            for arch in options.arch.split(","):
                row, wrong = look(options.build / "bin/mlc", path, arch, folder)
                if isinstance(row, str):
                    lines.append(f"| {model} | {arch} | refused: {row} | | | | | |")
                else:
                    lines.append(f"| {model} | {arch} | " + " | ".join(map(str, row)) + " |")
                print(lines[-1], flush=True)
                for kernel in wrong:
                    failed += kernel["skeleton"] in IN_REGISTERS
                    spills.append(f"- {model}, {arch}: `{kernel['symbol']}` ({kernel['skeleton']}): stack {kernel['stack']}, "
                                  f"spilled {kernel['spill_stores']} and {kernel['spill_loads']} bytes")
    page = [
        "# Kernels for GPUs", "",
        f"Made on {datetime.date.today()} by tools/bench/gpu_kernels.py, without a GPU: what NVRTC and ptxas make of the "
        "models of `./dev models` and of the experiments. Seconds are of compiling with no kernel cached, on two cores "
        "that do other things as well.", "",
        "| model | target | launches | kernels | by skeleton | most registers | with stack or spills | seconds |",
        "|---|---|---|---|---|---|---|---|", *lines, "",
        "Kernels with a stack or spilled registers" + (":" if spills else ": none."), "", *spills]
    if options.write:
        options.write.write_text("\n".join(page).rstrip() + "\n")
    print(f"{failed} kernels of {', '.join(IN_REGISTERS)} use a stack or spill")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
