"""One model beside ONNX Runtime: what it takes must be right, what it refuses must be refused."""

import pathlib
import subprocess

import numpy as np
import onnx
import onnxruntime

import mlc

UNSUPPORTED = 4


def runtime(model):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def attempt(call):
    """(result, None) or (None, why not)."""
    try:
        return call(), None
    except Exception as error:
        return None, str(error).splitlines()[0][:300]


def difference(result, expected):
    if result.shape != expected.shape or result.dtype != expected.dtype:
        return f"{result.dtype}{list(result.shape)} instead of {expected.dtype}{list(expected.shape)}"
    if not np.allclose(result, expected, rtol=1e-5, atol=1e-5, equal_nan=True):
        return "other elements"
    return None


def sizes_of(feed):
    return {name: list(array.shape) for name, array in feed.items()}


def check(build, folder, model, feeds):
    """(counts of worlds by outcome, what is wrong or None)."""
    counts = {"right": 0, "refused by both": 0}
    judge, why = attempt(lambda: runtime(model))
    name = model.graph.output[0].name
    expected = [attempt(lambda: judge.run([name], feed)[0]) if judge else (None, why) for feed in feeds]
    path, artifact = pathlib.Path(folder) / "model.onnx", pathlib.Path(folder) / "model.mlca"
    onnx.save(model, path)
    done = subprocess.run([str(pathlib.Path(build) / "bin/mlc"), "compile", path, "-o", artifact], capture_output=True,
                          text=True, timeout=600)
    if done.returncode != 0:
        takes = [sizes_of(feed) for feed, (result, _) in zip(feeds, expected) if result is not None]
        if done.returncode < 0 or done.returncode not in (3, UNSUPPORTED) or takes:
            return counts, f"compile: exit code {done.returncode}, valid for {takes[:2]}: {done.stderr.strip()[:300]}"
        counts["refused by both"] += len(feeds)
        return counts, None
    session = mlc.Session(mlc.load(artifact), threads=1)
    for feed, (wanted, why) in zip(feeds, expected):
        result, refusal = attempt(lambda: session.run(feed)[name])
        if wanted is None and result is None:
            counts["refused by both"] += 1
        elif wanted is None:
            return counts, f"{sizes_of(feed)}: made {list(result.shape)}, where ONNX Runtime says: {why}"
        elif result is None:
            return counts, f"{sizes_of(feed)}: refused: {refusal}"
        elif text := difference(np.asarray(result), wanted):
            return counts, f"{sizes_of(feed)}: {text}"
        else:
            counts["right"] += 1
    return counts, None
