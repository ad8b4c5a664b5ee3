"""Convolution and pooling as the ONNX standard's text has them: as in standard.py."""

import math

import numpy as np

from implemented import implements


def taps(x, kernel, strides, dilations, results):
    """A view of x [n, c, spatial...] as [n, c, results..., kernel...]."""
    shape = x.shape[:2] + tuple(results) + tuple(kernel)
    spatial = x.strides[2:]
    steps = x.strides[:2] + tuple(s * k for s, k in zip(spatial, strides)) + \
        tuple(s * d for s, d in zip(spatial, dilations))
    return np.lib.stride_tricks.as_strided(x, shape, steps, writeable=False)


def window(x, attributes, kernel, ceil=False):
    """(kernel, strides, dilations, pads before, pads behind, result sizes)."""
    rank = x.ndim - 2
    strides = attributes.get("strides") or [1] * rank
    dilations = attributes.get("dilations") or [1] * rank
    pads = attributes.get("pads") or [0] * (2 * rank)
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    before, behind = list(pads[:rank]), list(pads[rank:])
    auto = attributes.get("auto_pad", b"NOTSET").decode()
    results = []
    for i, size in enumerate(x.shape[2:]):
        if auto.startswith("SAME"):
            result = -(-size // strides[i])
            total = max((result - 1) * strides[i] + spans[i] - size, 0)
            before[i] = total // 2 if auto == "SAME_UPPER" else total - total // 2
            behind[i] = total - before[i]
        else:
            room = size + before[i] + behind[i] - spans[i]
            result = (-(-room // strides[i]) if ceil else room // strides[i]) + 1
            if ceil and (result - 1) * strides[i] >= size + before[i]:
                result -= 1  # a window that would start in the padding behind
        results.append(result)
    return kernel, strides, dilations, before, behind, results


def padded(x, w, value):
    kernel, strides, dilations, before, behind, results = w
    pads = [(0, 0), (0, 0)]
    for i, size in enumerate(x.shape[2:]):
        reach = (results[i] - 1) * strides[i] + (kernel[i] - 1) * dilations[i] + 1
        pads.append((before[i], max(behind[i], reach - size - before[i])))
    return np.pad(x, pads, constant_values=value)


def product(a, b):
    """BLAS leaves out the products of some zeros, which are not 0 beside infinity."""
    if a.dtype.kind != "f" or (np.isfinite(a).all() and np.isfinite(b).all()):
        return np.matmul(a, b)
    left, right = (a[None] if a.ndim == 1 else a), (b[:, None] if b.ndim == 1 else b)
    y = np.einsum("...ij,...jk->...ik", left, right)
    y = y[..., 0, :] if a.ndim == 1 else y
    return y[..., 0] if b.ndim == 1 else y


@implements("Conv")
def conv(inputs, attributes, opset):
    x, weight = inputs[:2]
    groups = attributes.get("group", 1)
    kernel = weight.shape[2:]
    w = window(x, attributes, kernel)
    view = taps(padded(x, w, 0), kernel, w[1], w[2], w[5])
    n, c = x.shape[:2]
    m = weight.shape[0]
    rank = x.ndim - 2
    # [g, n * results, c/g * kernel] times [g, c/g * kernel, m/g]
    view = view.reshape(n, groups, c // groups, *view.shape[2:])
    order = [1, 0, *range(3, 3 + rank), 2, *range(3 + rank, 3 + 2 * rank)]
    columns = view.transpose(order).reshape(groups, n * math.prod(w[5]), -1)
    rows = weight.reshape(groups, m // groups, -1).transpose(0, 2, 1)
    y = product(columns, rows).reshape(groups, n, math.prod(w[5]), m // groups)
    y = y.transpose(1, 0, 3, 2).reshape(n, m, *w[5])
    if len(inputs) > 2 and inputs[2] is not None:
        y = y + inputs[2].reshape(-1, *[1] * rank)
    return [y]


@implements("ConvTranspose")
def conv_transpose(inputs, attributes, opset):
    x, weight = inputs[:2]
    rank, groups = x.ndim - 2, attributes.get("group", 1)
    kernel = weight.shape[2:]
    strides = attributes.get("strides") or [1] * rank
    dilations = attributes.get("dilations") or [1] * rank
    more = attributes.get("output_padding") or [0] * rank
    pads = attributes.get("pads") or [0] * (2 * rank)
    auto = attributes.get("auto_pad", b"NOTSET").decode()
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    whole = [(s - 1) * t + span + m for s, t, span, m in zip(x.shape[2:], strides, spans, more)]
    target = attributes.get("output_shape")
    if target is None and auto.startswith("SAME"):
        target = [s * t for s, t in zip(x.shape[2:], strides)]
    if auto == "VALID":
        pads = [0] * (2 * rank)
    if target is not None:
        totals = [w - t for w, t in zip(whole, target[-rank:])]
        first = [t // 2 if auto == "SAME_UPPER" else t - t // 2 for t in totals]
        pads = first + [t - f for t, f in zip(totals, first)]
    n, c = x.shape[:2]
    features = weight.shape[1]
    y = np.zeros((n, groups, features, *whole))
    parts = x.reshape(n, groups, c // groups, *x.shape[2:])
    weights = weight.reshape(groups, c // groups, features, *kernel)
    for tap in np.ndindex(*kernel):
        at = tuple(slice(k * d, k * d + (s - 1) * t + 1, t)
                   for k, d, s, t in zip(tap, dilations, x.shape[2:], strides))
        product = np.einsum("ngc...,gcm->ngm...", parts, weights[(..., *tap)])
        y[(slice(None),) * 3 + at] += product
    y = y.reshape(n, groups * features, *whole)
    y = y[(slice(None), slice(None), *[slice(max(a, 0), w - max(b, 0))
                                       for a, b, w in zip(pads[:rank], pads[rank:], whole)])]
    grown = [(max(-a, 0), max(-b, 0)) for a, b in zip(pads[:rank], pads[rank:])]
    y = np.pad(y, [(0, 0), (0, 0), *grown])
    if len(inputs) > 2 and inputs[2] is not None:
        y = y + inputs[2].reshape(-1, *[1] * rank)
    return [y]


@implements("MaxPool")
def max_pool(inputs, attributes, opset):
    (x,) = inputs
    w = window(x, attributes, attributes["kernel_shape"], bool(attributes.get("ceil_mode")))
    least = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    view = taps(padded(x, w, least), w[0], w[1], w[2], w[5])
    return [view.max(axis=tuple(range(x.ndim, view.ndim)))]


@implements("AveragePool")
def average_pool(inputs, attributes, opset):
    (x,) = inputs
    w = window(x, attributes, attributes["kernel_shape"], bool(attributes.get("ceil_mode")))
    view = taps(padded(x, w, 0), w[0], w[1], w[2], w[5])
    last = tuple(range(x.ndim, view.ndim))
    inside = np.ones((1, 1, *x.shape[2:]))
    if attributes.get("count_include_pad"):
        inside = np.pad(inside, [(0, 0), (0, 0), *zip(w[3], w[4])], constant_values=1)
        w = (*w[:3], [0] * len(w[3]), [0] * len(w[4]), w[5])
    counts = taps(padded(inside, w, 0), w[0], w[1], w[2], w[5]).sum(axis=last)
    return [view.sum(axis=last) / counts]


@implements("GlobalMaxPool")
def global_max_pool(inputs, attributes, opset):
    return [inputs[0].max(axis=tuple(range(2, inputs[0].ndim)), keepdims=True)]


@implements("GlobalAveragePool")
def global_average_pool(inputs, attributes, opset):
    return [inputs[0].mean(axis=tuple(range(2, inputs[0].ndim)), keepdims=True)]
