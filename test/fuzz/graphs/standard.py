"""Operators as the ONNX standard's text has them, in numpy, where onnx's reference implementation
refuses valid nodes, is wrong (docs/Judges.md) or slow. Each takes a node's inputs, its attributes
(and as "element" the type of its result) and the opset, and returns the results."""

import math

import numpy as np
import onnx

import elements
import resizing
from implemented import IMPLEMENTED, implements
from windows import product

# Attributes are float32, and so are their defaults.
EPSILON, ALPHA = float(np.float32(1e-5)), float(np.float32(1e-4))


def find(op, attributes, opset):
    """What computes a node here, or None."""
    return resizing.find(op, attributes, opset) or IMPLEMENTED.get(op)


#--- Along axes

def rows(x, attributes, opset):
    """x as ONNX has it before opset 13, a matrix; and the axis."""
    if opset >= 13:
        return x, attributes.get("axis", -1)
    axis = attributes.get("axis", 1)
    axis += x.ndim if axis < 0 else 0
    return x.reshape(math.prod(x.shape[:axis]), math.prod(x.shape[axis:])), 1


@implements("Softmax")
def softmax(inputs, attributes, opset):
    x, axis = rows(inputs[0], attributes, opset)
    e = np.exp(x - x.max(axis=axis, keepdims=True, initial=-np.inf))
    return [(e / e.sum(axis=axis, keepdims=True)).reshape(inputs[0].shape)]


@implements("LogSoftmax")
def log_softmax(inputs, attributes, opset):
    x, axis = rows(inputs[0], attributes, opset)
    shifted = x - x.max(axis=axis, keepdims=True, initial=-np.inf)
    log = np.log(np.exp(shifted).sum(axis=axis, keepdims=True))
    return [(shifted - log).reshape(inputs[0].shape)]


@implements("Hardmax")
def hardmax(inputs, attributes, opset):
    x, axis = rows(inputs[0], attributes, opset)
    y = np.zeros_like(x)
    np.put_along_axis(y, np.expand_dims(np.argmax(x, axis=axis), axis), 1, axis)
    return [y.reshape(inputs[0].shape)]


def arg_of(find):
    def make(inputs, attributes, opset):
        x, axis = inputs[0], attributes.get("axis", 0)
        if attributes.get("select_last_index", 0):
            at = x.shape[axis] - 1 - find(np.flip(x, axis), axis=axis)
        else:
            at = find(x, axis=axis)
        return [np.expand_dims(at, axis) if attributes.get("keepdims", 1) else at]
    return make


IMPLEMENTED["ArgMax"], IMPLEMENTED["ArgMin"] = arg_of(np.argmax), arg_of(np.argmin)


def reduction(compute):
    def make(inputs, attributes, opset):
        x = inputs[0]
        axes = attributes.get("axes")
        if len(inputs) > 1 and inputs[1] is not None:
            axes = [int(a) for a in inputs[1]]
        if not axes:
            if attributes.get("noop_with_empty_axes", 0):
                axes = []
            else:
                axes = range(x.ndim)
        return [np.asarray(compute(x, tuple(axes), bool(attributes.get("keepdims", 1))))]
    return make


def whole(compute):
    """The same of integers, in double, cut to an integer at the end."""
    def make(x, axes, keep):
        if x.dtype.kind == "f":
            return compute(x, axes, keep)
        with np.errstate(all="ignore"):
            result = np.trunc(compute(x.astype(np.float64), axes, keep))
        return result.astype(x.dtype)
    return make


def log_sum_exp(x, axes, keep):
    top = x.max(axis=axes, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    result = np.log(np.exp(x - top).sum(axis=axes, keepdims=True)) + top
    return result if keep else np.squeeze(result, axis=axes)


IMPLEMENTED["ReduceLogSumExp"] = reduction(whole(log_sum_exp))
IMPLEMENTED["ReduceLogSum"] = reduction(whole(
    lambda x, axes, keep: np.log(x.sum(axis=axes, keepdims=keep))))
IMPLEMENTED["ReduceL1"] = reduction(
    lambda x, axes, keep: np.abs(x).sum(axis=axes, keepdims=keep, dtype=x.dtype))
IMPLEMENTED["ReduceSumSquare"] = reduction(
    lambda x, axes, keep: (x * x).sum(axis=axes, keepdims=keep, dtype=x.dtype))
IMPLEMENTED["ReduceL2"] = reduction(whole(
    lambda x, axes, keep: np.sqrt((x * x).sum(axis=axes, keepdims=keep))))
IMPLEMENTED["ReduceProd"] = reduction(
    lambda x, axes, keep: x.prod(axis=axes, keepdims=keep, dtype=x.dtype))
IMPLEMENTED["ReduceSum"] = reduction(
    lambda x, axes, keep: x.sum(axis=axes, keepdims=keep, dtype=x.dtype))


@implements("LpNormalization")
def lp_normalization(inputs, attributes, opset):
    x, axis = inputs[0], attributes.get("axis", -1)
    if attributes.get("p", 2) == 1:
        norm = np.abs(x).sum(axis=axis, keepdims=True)
    else:
        norm = np.sqrt((x * x).sum(axis=axis, keepdims=True))
    return [np.where(norm == 0, 0, x / np.where(norm == 0, 1, norm))]


@implements("MeanVarianceNormalization")
def mean_variance(inputs, attributes, opset):
    x, axes = inputs[0], tuple(attributes.get("axes", [0, 2, 3]))
    centered = x - x.mean(axis=axes, keepdims=True)
    deviation = np.sqrt((centered * centered).mean(axis=axes, keepdims=True))
    return [centered / (deviation + 1e-9)]


def normalized(x, axes, epsilon, scale=1, bias=0, fold=False):
    """(x - mean) / sqrt(variance + epsilon) * scale + bias; fold: with x last."""
    mean = x.mean(axis=axes, keepdims=True)
    centered = x - mean
    variance = (centered * centered).mean(axis=axes, keepdims=True)
    epsilon = x.dtype.type(epsilon)
    if fold:
        factor = scale / np.sqrt(variance + epsilon)
        return x * factor + (bias - mean * factor)
    return centered / np.sqrt(variance + epsilon) * scale + bias


def by_channel(v, x):
    return v.reshape(-1, *[1] * (x.ndim - 2))


@implements("InstanceNormalization")
def instance_norm(inputs, attributes, opset, fold=False):
    x, scale, bias = inputs
    return [normalized(x, tuple(range(2, x.ndim)), attributes.get("epsilon", EPSILON),
                       by_channel(scale, x), by_channel(bias, x), fold)]


@implements("GroupNormalization")
def group_norm(inputs, attributes, opset, fold=False):
    x, scale, bias = inputs
    groups = attributes["num_groups"]
    split = x.reshape(x.shape[0], groups, x.shape[1] // groups, -1)
    if opset < 21:
        scale, bias = (np.repeat(v, x.shape[1] // groups) for v in (scale, bias))
    scale, bias = (v.reshape(groups, -1, 1) for v in (scale, bias))
    y = normalized(split, (2, 3), attributes.get("epsilon", EPSILON), scale, bias, fold)
    return [y.reshape(x.shape)]


@implements("LayerNormalization")
def layer_norm(inputs, attributes, opset, fold=False):
    x, scale = inputs[:2]
    axis = attributes.get("axis", -1) % x.ndim
    bias = inputs[2] if len(inputs) > 2 and inputs[2] is not None else x.dtype.type(0)
    return [normalized(x, tuple(range(axis, x.ndim)), attributes.get("epsilon", EPSILON), scale,
                       bias, fold)]


@implements("BatchNormalization")
def batch_norm(inputs, attributes, opset, fold=False):
    x = inputs[0]
    scale, bias, mean, variance = (by_channel(v, x) for v in inputs[1:])
    root = np.sqrt(variance + x.dtype.type(attributes.get("epsilon", EPSILON)))
    if fold:
        return [x * (scale / root) + (bias - mean * (scale / root))]
    return [(x - mean) / root * scale + bias]


def folded(node, opset, inputs):
    """A norm whose scale and deviation are one factor, as runtimes have it; else None."""
    if node.op_type not in ("InstanceNormalization", "GroupNormalization", "LayerNormalization",
                            "BatchNormalization"):
        return None
    attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    return IMPLEMENTED[node.op_type](inputs, attributes, opset, fold=True)


@implements("LRN")
def lrn(inputs, attributes, opset):
    (x,) = inputs
    size = attributes["size"]
    low, high = (size - 1) // 2, size - 1 - (size - 1) // 2
    squares = np.pad(x * x, [(0, 0), (low, high)] + [(0, 0)] * (x.ndim - 2))
    total = sum(squares[:, i:i + x.shape[1]] for i in range(size))
    base = attributes.get("bias", 1.0) + attributes.get("alpha", ALPHA) / size * total
    return [x / base ** attributes.get("beta", 0.75)]


#--- The rest

@implements("Softsign")
def softsign(inputs, attributes, opset):
    return [inputs[0] / (1 + np.abs(inputs[0]))]


@implements("Clip")
def clip(inputs, attributes, opset):
    """Without a bound, the largest finite number is one."""
    x, element = inputs[0], attributes["element"]
    if opset < 11 and element == "float64":
        element = "float32"  # of which the attributes are
    bounds = [attributes.get("min"), attributes.get("max")] if opset < 11 else \
        (list(inputs[1:3]) + [None, None])[:2]
    for bound, choose, sign in zip(bounds, (np.maximum, np.minimum), (-1, 1)):
        if bound is None and x.dtype.kind != "f":
            continue
        x = choose(x, sign * elements.largest(element) if bound is None else bound).astype(x.dtype)
    return [x]


@implements("Gemm")
def gemm(inputs, attributes, opset):
    a, b = inputs[:2]
    alpha, beta = attributes.get("alpha", 1.0), attributes.get("beta", 1.0)
    if a.dtype.kind != "f" and alpha == int(alpha) and beta == int(beta):
        alpha, beta = (np.array(int(v)).astype(a.dtype) for v in (alpha, beta))
    y = alpha * product(a.T if attributes.get("transA") else a,
                        b.T if attributes.get("transB") else b)
    if len(inputs) > 2 and inputs[2] is not None and beta != 0:
        y = y + beta * inputs[2]
    return [y.astype(a.dtype)]


@implements("MatMul")
def matmul(inputs, attributes, opset):
    return [product(*inputs)]


@implements("PRelu")
def prelu(inputs, attributes, opset):
    x, slope = inputs
    return [np.where(x < 0, slope * x, x).astype(x.dtype)]


@implements("Shrink")
def shrink(inputs, attributes, opset):
    (x,) = inputs
    bias, limit = attributes.get("bias", 0.0), attributes.get("lambd", 0.5)
    if x.dtype.kind != "f" and bias == int(bias):
        bias = np.array(int(bias)).astype(x.dtype)
    with np.errstate(all="ignore"):
        y = np.where(x < -limit, x + bias, np.where(x > limit, x - bias, 0))
    return [y.astype(x.dtype)]


@implements("HardSwish")
def hard_swish(inputs, attributes, opset):
    return [inputs[0] * np.clip(inputs[0] / 6 + 0.5, 0, 1)]


@implements("Erf")
def erf(inputs, attributes, opset):
    return [np.vectorize(math.erf, otypes=["d"])(inputs[0]).astype(inputs[0].dtype)]


@implements("Gelu")
def gelu(inputs, attributes, opset):
    x = inputs[0]
    if attributes.get("approximate", b"none") == b"tanh":
        return [x / (1 + np.exp(-2 * np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))]
    return [x * 0.5 * np.vectorize(math.erfc, otypes=["d"])(-x / np.sqrt(2))]


@implements("Mean")
def mean(inputs, attributes, opset):
    total = inputs[0]
    for x in inputs[1:]:
        total = total + x
    return [total / len(inputs)]


@implements("MatMulInteger")
def matmul_integer(inputs, attributes, opset):
    a, b = (x.astype(np.int32) for x in inputs[:2])
    if len(inputs) > 2 and inputs[2] is not None:
        zero = inputs[2].astype(np.int32)
        a = a - (zero.reshape(-1, 1) if zero.ndim == 1 and zero.size != 1 else zero)
    if len(inputs) > 3 and inputs[3] is not None:
        b = b - inputs[3].astype(np.int32)
    return [np.matmul(a, b)]


@implements("OneHot")
def one_hot(inputs, attributes, opset):
    indices, depth, values = inputs
    depth = int(np.asarray(depth).reshape(-1)[0])
    axis = attributes.get("axis", -1)
    at = np.trunc(indices).astype(np.int64) if indices.dtype.kind == "f" else indices
    if at.dtype == np.uint64:  # of which int64 has not all
        at = np.where(at > np.uint64(2 ** 62), np.uint64(2 ** 62), at)
    at = at.astype(np.int64)
    at = np.where(at < 0, at + depth, at)
    hot = np.expand_dims(at, axis) == np.arange(depth).reshape(
        [-1 if i == axis % (at.ndim + 1) else 1 for i in range(at.ndim + 1)])
    return [np.where(hot, values[1], values[0])]


def axes_of(inputs, attributes, opset):
    return tuple(attributes["axes"] if opset < 13 else inputs[1].tolist())


@implements("Unsqueeze")
def unsqueeze(inputs, attributes, opset):
    return [np.expand_dims(inputs[0], axes_of(inputs, attributes, opset))]


@implements("Squeeze")
def squeeze(inputs, attributes, opset):
    has_axes = "axes" in attributes if opset < 13 else len(inputs) > 1 and inputs[1] is not None
    return [np.squeeze(inputs[0], axes_of(inputs, attributes, opset) if has_axes else None)]


@implements("Pad")
def pad(inputs, attributes, opset):
    x = inputs[0]
    axes = list(range(x.ndim))
    pads, value = attributes.get("pads"), attributes.get("value", 0.0)
    if opset >= 11:
        pads = [int(p) for p in inputs[1]]
        value = inputs[2].reshape(-1)[0] if len(inputs) > 2 and inputs[2] is not None else 0
        if len(inputs) > 3 and inputs[3] is not None:
            axes = [int(a) % x.ndim for a in inputs[3]]
    widths = [(0, 0)] * x.ndim
    for i, axis in enumerate(axes):
        widths[axis] = pads[i], pads[len(axes) + i]
    x = x[tuple(slice(max(-a, 0), size - max(-b, 0)) for (a, b), size in zip(widths, x.shape))]
    widths = [(max(a, 0), max(b, 0)) for a, b in widths]
    mode = attributes.get("mode", b"constant").decode()
    if mode == "constant":
        return [np.pad(x, widths, constant_values=np.array(value).astype(x.dtype))]
    return [np.pad(x, widths, mode=mode)]
