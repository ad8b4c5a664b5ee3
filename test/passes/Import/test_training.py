"""Losses, optimizers and normalization in training: what the onnx package's cases (test_node_cases.py) leave open."""

import os
import pathlib
import subprocess

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

BUILD = pathlib.Path(os.environ.get("MLC_BUILD", "build"))
TRAINING = "ai.onnx.preview.training"
BAD = 3


def translated(folder, op, arrays, outputs, opset=21, domain="", dims=None, constants=(), **attributes):
    """mlc-translate's end for one node of these {name: array}, each in `dims` by its shape there."""
    def info(name, array):
        shape = (dims or {}).get(name, array.shape)
        return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), shape)
    node = helper.make_node(op, list(arrays), outputs, "node", domain=domain, **attributes)
    held = [numpy_helper.from_array(arrays[name], name) for name in constants]
    graph = helper.make_graph([node], "g", [info(n, a) for n, a in arrays.items() if n not in constants],
                              [helper.make_empty_tensor_value_info(name) for name in outputs], held)
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid(TRAINING, 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), folder / "m.onnx")
    return subprocess.run([BUILD / "bin/mlc-translate", folder / "m.onnx"], capture_output=True, text=True)


def evaluated(folder, op, arrays, outputs, symbols=(), constants=(), **more):
    done = translated(folder, op, arrays, outputs, constants=constants, **more)
    assert done.returncode == 0, done.stderr
    (folder / "m.mlir").write_text(done.stdout)
    command = [BUILD / "bin/mlc-eval", folder / "m.mlir", "--output-dir", folder / "out"]
    for name, array in arrays.items():
        if name not in constants:
            np.save(folder / f"{name}.npy", array)
            command += ["--input", folder / f"{name}.npy"]
    done = subprocess.run([*command, *symbols], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [np.load(folder / "out" / f"{i}.npy") for i in range(len(outputs))]


def refused(folder, text, *arguments, **more):
    done = translated(folder, *arguments, **more)
    assert done.returncode == BAD and text in done.stderr, done.stderr


rng = np.random.default_rng(3)


def normal(*dims, dtype=np.float32):
    return rng.normal(size=dims).astype(dtype)


def log_softmax(x):
    x = x.astype(np.float64)
    x = x - x.max(1, keepdims=True)
    return x - np.log(np.exp(x).sum(1, keepdims=True))


# ---------------------------------------------------------------------------
# Losses
# ---------------------------------------------------------------------------


@pytest.mark.parametrize("labels", [np.int32, np.int64])
@pytest.mark.parametrize("scores", [np.float16, np.float32, np.float64])
def test_types_of_a_loss(labels, scores, tmp_path):
    x, t = normal(3, 5, 2, dtype=scores), rng.integers(0, 5, (3, 2)).astype(labels)
    loss, logs = evaluated(tmp_path, "SoftmaxCrossEntropyLoss", {"x": x, "t": t}, ["l", "p"], reduction="none")
    want = log_softmax(x)
    assert loss.dtype == scores and logs.dtype == scores
    tolerance = {np.float16: 2e-3, np.float32: 1e-6, np.float64: 1e-14}[scores]
    np.testing.assert_allclose(logs, want, rtol=tolerance, atol=tolerance)
    picked = -np.take_along_axis(want, t[:, None].astype(np.int64), 1)[:, 0]
    np.testing.assert_allclose(loss, picked, rtol=tolerance, atol=tolerance)


def test_large_scores_do_not_overflow(tmp_path):
    x, t = np.float32([[1e4, -1e4], [3e38, 3e38]]), np.int64([1, 0])
    (loss,) = evaluated(tmp_path, "SoftmaxCrossEntropyLoss", {"x": x, "t": t}, ["l"], reduction="none")
    np.testing.assert_allclose(loss, [2e4, np.log(2)], rtol=1e-6)


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
def test_labels_out_of_range_cost_and_weigh_nothing(reduction, tmp_path):
    """ONNX leaves them open; nothing outside of the tensors is read."""
    x, w = normal(6, 3), np.float32([1, 2, 4])
    t = np.int64([0, 3, -1, 2, 2**40, -100])
    for ignored in (None, -1, 0, -(2**40)):
        more = {} if ignored is None else {"ignore_index": ignored}
        (loss,) = evaluated(tmp_path, "NegativeLogLikelihoodLoss", {"x": x, "t": t, "w": w}, ["l"],
                            reduction=reduction, **more)
        counts = (t >= 0) & (t < 3) & (t != ignored)
        safe = np.where(counts, t, 0)
        weights = np.where(counts, w[safe], 0)
        losses = -x[np.arange(6), safe] * weights
        want = {"none": losses, "sum": losses.sum(), "mean": losses.sum() / weights.sum()}[reduction]
        np.testing.assert_allclose(loss, want, rtol=1e-6)


def test_infinite_logarithms_where_ignored(tmp_path):
    x = np.float32([[0, -np.inf], [-1, -2]])
    (loss,) = evaluated(tmp_path, "NegativeLogLikelihoodLoss", {"x": x, "t": np.int64([1, 0])}, ["l"],
                        ignore_index=1)
    assert loss == 1


def test_loss_of_open_dims(tmp_path):
    x, t = normal(4, 3, 5), rng.integers(0, 3, (4, 5))
    (loss,) = evaluated(tmp_path, "SoftmaxCrossEntropyLoss", {"x": x, "t": t}, ["l"],
                        dims={"x": ["N", 3, "D"], "t": ["N", "D"]}, symbols=["--symbol=N=4", "--symbol=D=5"])
    want = -np.take_along_axis(log_softmax(x), t[:, None], 1).mean()
    np.testing.assert_allclose(loss, want, rtol=1e-6)


def test_losses_that_are_refused(tmp_path):
    x, t = normal(3, 5), np.zeros(3, np.int64)
    for op in ("SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss"):
        refused(tmp_path, "reduction none, sum or mean", op, {"x": x, "t": t}, ["l"], reduction="max")
        refused(tmp_path, "labels of one dim less", op, {"x": x, "t": t[:, None]}, ["l"])
        refused(tmp_path, "the scores' dims but for the classes", op, {"x": x, "t": t[:2]}, ["l"])
        refused(tmp_path, "one weight for each class", op, {"x": x, "t": t, "w": normal(4)}, ["l"])
        refused(tmp_path, "labels of integers", op, {"x": x, "t": normal(3)}, ["l"])


# ---------------------------------------------------------------------------
# Optimizers
# ---------------------------------------------------------------------------


def adam(r, t, x, g, v, h, alpha, beta, epsilon, before, after):
    g = before * x + g
    v, h = alpha * v + (1 - alpha) * g, beta * h + (1 - beta) * g * g
    if t > 0:
        r = r * np.sqrt(1 - beta**t) / (1 - alpha**t)
    return (1 - after) * (x - r * v / (np.sqrt(h) + epsilon)), v, h


@pytest.mark.parametrize("step", [0, 1, 2, 1000])
def test_adam_keeps_its_digits(step, tmp_path):
    """At the first steps 1 - 0.999^t has three digits of 0.999 as float32 left."""
    numbers = [np.float64(np.float32(v)) for v in (0.9, 0.999, 1e-6, 0.01, 0.001)]
    arrays = {"r": np.float32(0.1), "t": np.int64(step), "x": normal(7), "g": normal(7), "v": normal(7),
              "h": normal(7) ** 2}
    names = ["alpha", "beta", "epsilon", "norm_coefficient", "norm_coefficient_post"]
    got = evaluated(tmp_path, "Adam", {k: np.asarray(a) for k, a in arrays.items()}, ["y", "v1", "h1"],
                    domain=TRAINING, **dict(zip(names, numbers)))
    want = adam(*[np.float64(a) for a in arrays.values()], *numbers)
    for result, expected in zip(got, want):
        np.testing.assert_allclose(result, expected, rtol=2e-6, atol=1e-6)


def test_optimizers_that_are_refused(tmp_path):
    r, t, x = np.float32(0.1), np.int64(1), normal(3)
    base = {"r": np.asarray(r), "t": np.asarray(t), "x": x, "g": x}
    more = {"domain": TRAINING}
    refused(tmp_path, "requires 4 inputs for each tensor", "Adam", {**base, "v": x, "h": x, "i": x}, ["y"], **more)
    refused(tmp_path, "must have its dims", "Adagrad", {**base, "h": normal(4)}, ["y"], **more)
    refused(tmp_path, "its type and rank", "Adagrad", {**base, "h": normal(3, 1)}, ["y"], **more)
    refused(tmp_path, "a scalar rate", "Adagrad", {**base, "r": normal(2), "h": x}, ["y"], **more)
    refused(tmp_path, "the attribute 'mode'", "Momentum", {**base, "v": x}, ["y"], alpha=0.9, beta=1.0,
            norm_coefficient=0.0, **more)
    refused(tmp_path, "mode standard or nesterov", "Momentum", {**base, "v": x}, ["y"], alpha=0.9, beta=1.0,
            norm_coefficient=0.0, mode="heavy", **more)


# ---------------------------------------------------------------------------
# Batch normalization
# ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_statistics_of_a_batch(kind, tmp_path):
    """Far from zero, where a mean of squares less a square of means has no digits; float16 sums that overflow."""
    x = (normal(16, 3, 9, 9) + 300).astype(kind)
    arrays = {"x": x, "s": normal(3), "b": normal(3), "m": normal(3), "v": normal(3) ** 2}
    y, mean, variance = evaluated(tmp_path, "BatchNormalization", arrays, ["y", "m1", "v1"], training_mode=1,
                                  momentum=0.75)
    x = x.astype(np.float64)
    axes, each = (0, 2, 3), (slice(None), None, None)
    want = (x - x.mean(axes)[each]) / np.sqrt(x.var(axes)[each] + 1e-5) * arrays["s"][each] + arrays["b"][each]
    assert y.dtype == kind and mean.dtype == np.float32
    np.testing.assert_allclose(y, want, rtol=2e-3, atol=2e-3)
    np.testing.assert_allclose(mean, 0.75 * arrays["m"] + 0.25 * x.mean(axes), rtol=1e-5)
    np.testing.assert_allclose(variance, 0.75 * arrays["v"] + 0.25 * x.var(axes), rtol=1e-4)
