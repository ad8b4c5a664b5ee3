"""The onnx package's node cases through compiled code: compile, run, compare.

The same cases that the importer's tests evaluate (test/passes/Import), and the
same rule: a case is right or refused as unsupported, nothing between. The
target and the device are the caller's.
"""

import os
import pathlib
import subprocess
import sys

import node_case_rule
import numpy as np
import onnx

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "passes/Import"))
from test_node_cases import cases, freeze  # noqa: E402,F401

MLC = pathlib.Path(os.environ.get("MLC_BUILD", "build")) / "bin/mlc"


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
        if wrong := node_case_rule.wrong(case.name, case.rtol, i, result, expected):
            return wrong
    return None


def compile_case(proto, folder, target):
    """The artifact, and what went wrong or None."""
    folder.mkdir()
    model, artifact = folder / "case.onnx", folder / "case.mlca"
    onnx.save(proto, model)
    compiled = run(MLC, "compile", model, "-o", artifact, "--target", target, "--precision=ieee")
    if compiled.returncode == 4:
        return artifact, "unsupported"
    return artifact, f"compile: {compiled.stderr[-300:]}" if compiled.returncode else None


def check(case, proto, data_sets, folder, target, device):
    """'passed', 'unsupported', or what went wrong."""
    artifact, failure = compile_case(proto, folder, target)
    if failure:
        return failure
    names = [info.name for info in proto.graph.input]
    for number, (inputs, outputs) in enumerate(data_sets):
        place = folder / f"set{number}"
        place.mkdir()
        wrong = differences(case, inputs, outputs, names, artifact, place, device)
        if wrong:
            return wrong
    return "passed"


def forms(case):
    """(name, model, data sets) of a case, and with shapes and axes as constants where that is another."""
    found = [(case.name, case.model, case.data_sets)]
    if len(case.data_sets) == 1:
        inputs, outputs = case.data_sets[0]
        model, kept = freeze(case.model, inputs)
        if len(kept) != len(inputs):
            found.append((case.name + "_frozen", model, [(kept, outputs)]))
    return found


def outcome(case, folder, target="cpu", device="cpu"):
    """As check, with shapes and axes as constants where that is what it takes."""
    for name, model, data_sets in forms(case):
        result = check(case, model, data_sets, folder / name, target, device)
        if result != "unsupported":
            break
    return result
