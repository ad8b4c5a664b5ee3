"""The onnx package's node cases through compiled code: compile, run, compare.

The same cases that the importer's tests evaluate (test/passes/Import), and the
same rule: a case is right or refused as unsupported, nothing between. The
target and the device are the caller's.
"""

import os
import pathlib
import subprocess
import sys

import numpy as np
import onnx

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "passes/Import"))
from test_node_cases import cases, freeze  # noqa: E402,F401

MLC = pathlib.Path(os.environ.get("MLC_BUILD", "build")) / "bin/mlc"
# Its results are written with four digits.
ROUNDED = {"test_averagepool_2d_ceil_last_window_starts_on_pad"}


def run(*arguments):
    return subprocess.run([str(a) for a in arguments], capture_output=True, text=True, timeout=300)


def differences(case, inputs, outputs, names, artifact, folder, device):
    """What is wrong with the results for one data set, or None."""
    arguments = []
    for i, (name, value) in enumerate(zip(names, inputs)):
        np.save(folder / f"{i}.npy", value)
        arguments += ["--input", f"{name}={folder / f'{i}.npy'}"]
    ran = run(MLC, "run", artifact, "--output-dir", folder / "out", "--threads", "2", "--device", device,
              *arguments)
    if ran.returncode != 0:
        return f"run: {ran.stderr[:300]}"
    for i, expected in enumerate(outputs):
        result = np.load(folder / f"out/{i}.npy")
        if result.shape != expected.shape or result.dtype != expected.dtype:
            return f"output {i}: {result.dtype}{result.shape}, expected {expected.dtype}{expected.shape}"
        half = expected.dtype == np.float16
        relative = 1e-2 if half else max(case.rtol, 1e-3 if case.name in ROUNDED else 1e-4)
        try:
            np.testing.assert_allclose(result, expected, rtol=relative, atol=1e-3 if half else 1e-6)
        except (AssertionError, TypeError) as error:
            return f"output {i}: " + " ".join(str(error).split())[:300]
    return None


def check(case, proto, data_sets, folder, target, device):
    """'passed', 'unsupported', or what went wrong."""
    folder.mkdir()
    model, artifact = folder / "case.onnx", folder / "case.mlca"
    onnx.save(proto, model)
    compiled = run(MLC, "compile", model, "-o", artifact, "--target", target, "--precision=ieee")
    if compiled.returncode == 4:
        return "unsupported"
    if compiled.returncode != 0:
        return f"compile: {compiled.stderr[-300:]}"
    names = [info.name for info in proto.graph.input]
    for number, (inputs, outputs) in enumerate(data_sets):
        place = folder / f"set{number}"
        place.mkdir()
        wrong = differences(case, inputs, outputs, names, artifact, place, device)
        if wrong:
            return wrong
    return "passed"


def outcome(case, folder, target="cpu", device="cpu"):
    """As check, with shapes and axes as constants where that is what it takes."""
    result = check(case, case.model, case.data_sets, folder / case.name, target, device)
    if result != "unsupported" or len(case.data_sets) != 1:
        return result
    inputs, outputs = case.data_sets[0]
    model, kept = freeze(case.model, inputs)
    if len(kept) == len(inputs):
        return result
    return check(case, model, [(kept, outputs)], folder / (case.name + "_frozen"), target, device)
