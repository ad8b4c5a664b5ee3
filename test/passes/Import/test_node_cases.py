"""The onnx package's node cases through the importer and the evaluator.

A case whose operator imports must give the case's results; a case that is
refused must be refused as unsupported (exit code 4), never as a bad file.
"""

import functools
import os
import pathlib
import subprocess
import sys

import numpy as np
import onnx
import pytest
from onnx.backend.test.case.node import collect_testcases

sys.path.append(str(pathlib.Path(__file__).parents[2]))
import suite  # noqa: E402

BUILD = pathlib.Path(os.environ.get("MLC_BUILD", "build"))
# The case scales by the size before rounding (2.4 of 4); ONNX Runtime, which
# mlc follows, by the size that the output has.
DIFFERENT = {"test_resize_downsample_scales_linear_align_corners"}
# Operators of training, all of whose cases must be imported.
COMPLETE = {"Adagrad", "Adam", "BatchNormalization", "Dropout", "Momentum", "NegativeLogLikelihoodLoss",
            "SoftmaxCrossEntropyLoss"}
# Their results are NumPy's random numbers.
RANDOM = {"test_training_dropout", "test_training_dropout_default", "test_training_dropout_default_mask",
          "test_training_dropout_mask"} | {"test_bernoulli" + part + expanded for part in ("", "_double", "_seed")
                                           for expanded in ("", "_expanded")}
NUMPY_TYPES = "fiub"  # bfloat16 and strings have no .npy of their own


@functools.cache
def cases():
    found = []
    for case in collect_testcases():
        # Some scalars are numbers of numpy's instead of arrays.
        case.data_sets = [[[np.asarray(v) if isinstance(v, np.generic) else v for v in part]
                           for part in data] for data in case.data_sets]
        tensors = [v for data in case.data_sets for part in data for v in part]
        plain = all(isinstance(v, np.ndarray) and v.dtype.kind in NUMPY_TYPES for v in tensors)
        if plain and case.name not in DIFFERENT | RANDOM:
            found.append(case)
    return sorted(found, key=lambda case: case.name)


def run(*arguments):
    return subprocess.run([str(a) for a in arguments], capture_output=True, text=True, timeout=120)


def freeze(model, values):
    """The model with integer inputs after the first as initializers: cases feed
    shapes and axes at run time that real models hold as constants."""
    frozen, kept = onnx.ModelProto(), []
    frozen.CopyFrom(model)
    del frozen.graph.input[:]
    for i, (info, value) in enumerate(zip(model.graph.input, values)):
        if i > 0 and (value.dtype.kind in "iub" or value.size <= 8):
            frozen.graph.initializer.append(onnx.numpy_helper.from_array(value, info.name))
        else:
            frozen.graph.input.append(info)
            kept.append(value)
    return frozen, kept


def check(case, folder):
    """'passed', 'unsupported', or what went wrong."""
    outcome = check_model(case, case.model, case.data_sets, folder)
    if outcome != "unsupported" or len(case.data_sets) != 1:
        return outcome
    inputs, outputs = case.data_sets[0]
    model, kept = freeze(case.model, inputs)
    if len(kept) == len(inputs):
        return outcome
    (folder / "frozen").mkdir()
    return check_model(case, model, [(kept, outputs)], folder / "frozen")


def check_model(case, proto, data_sets, folder):
    model = folder / "case.onnx"
    onnx.save(proto, model)
    imported = run(BUILD / "bin/mlc-translate", model)
    if imported.returncode == 4:
        return "unsupported"
    if imported.returncode != 0:
        return f"import: {imported.stderr[:300]}"
    (folder / "case.mlir").write_text(imported.stdout)
    for number, (inputs, outputs) in enumerate(data_sets):
        out = folder / f"out{number}"
        out.mkdir()
        arguments = []
        for i, value in enumerate(inputs):
            path = folder / f"in{number}_{i}.npy"
            np.save(path, value)
            arguments += ["--input", path]
        evaluated = run(BUILD / "bin/mlc-eval", folder / "case.mlir", "--output-dir", out, *arguments)
        if evaluated.returncode != 0:
            return f"evaluate: {evaluated.stderr[:300]}"
        for i, expected in enumerate(outputs):
            result = np.load(out / f"{i}.npy")
            if result.shape != expected.shape:
                return f"output {i}: shape {result.shape}, expected {expected.shape}"
            half = expected.dtype == np.float16
            try:
                np.testing.assert_allclose(result, expected, rtol=1e-2 if half else max(case.rtol, 1e-4), atol=1e-3 if half else 1e-6)
            except (AssertionError, TypeError) as error:
                return f"output {i}: " + " ".join(str(error).split())[:300]
    return "passed"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("part", range(12))
def test_node_cases(part, tmp_path):
    """Every second, or all (`./dev test --full`); those of operators of training always."""
    names = {case.name for case in suite.sample(cases(), 2)}
    chosen = [case for case in cases() if case.name in names or case.model.graph.node[0].op_type in COMPLETE]
    wrong = {}
    assert len(chosen[part::12]) > 60
    for case in chosen[part::12]:
        folder = tmp_path / case.name
        folder.mkdir()
        outcome = check(case, folder)
        if outcome not in ("passed", "unsupported"):
            wrong[case.name] = outcome
        elif outcome == "unsupported" and case.model.graph.node[0].op_type in COMPLETE:
            wrong[case.name] = outcome
    assert not wrong, "\n".join(f"{name}: {outcome}" for name, outcome in wrong.items())
