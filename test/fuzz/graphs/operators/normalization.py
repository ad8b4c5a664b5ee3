"""Normalizations, softmax, dropout."""

import elements
from builder import Skip
from dims import count, dim
from operators.table import operator


def channels_first(b, op, low=3):
    x = b.take(elements.allowed(op, b.opset), low=low, high=5)
    if count(x.shape).smallest == 0:
        raise Skip
    return x


def channel_vectors(b, x, number, size=None):
    return [b.exactly(x.type, [size or x.shape[1]]) for _ in range(number)]


@operator("Softmax", "LogSoftmax", weight=1.2)
def softmax(b, op):
    x = b.take(elements.allowed(op, b.opset), low=1)
    if count(x.shape).smallest == 0:
        raise Skip
    _, written = b.axis(x.rank)
    if b.opset < 13 and x.rank == 1:
        written = 0
    elif b.chance(0.3) and (b.opset >= 13 or x.rank > 1):
        written = None
    return b.emit(op, [x], [(x.type, x.shape)], axis=written)


@operator("Hardmax", weight=0.4)
def hardmax(b, op):
    x = b.take(elements.allowed(op, b.opset), low=1)
    if count(x.shape).smallest == 0:
        raise Skip
    # Before opset 13 dims are flattened, which mlc does not compile.
    written = b.axis(x.rank)[1] if b.opset >= 13 else x.rank - 1
    return b.emit(op, [x], [(x.type, x.shape)], axis=written)


@operator("BatchNormalization", weight=0.8)
def batch_norm(b, op):
    x = channels_first(b, op, 2)
    scale, bias, mean = channel_vectors(b, x, 3)
    variance = b.fresh(x.type, [x.shape[1]], limits=(0.1, 3.0))
    return b.emit(op, [x, scale, bias, mean, variance], [(x.type, x.shape)],
                  epsilon=b.pick([None, 0.001]), momentum=b.pick([None, 0.5]))


@operator("InstanceNormalization", weight=0.6)
def instance_norm(b, op):
    x = channels_first(b, op)
    return b.emit(op, [x, *channel_vectors(b, x, 2)], [(x.type, x.shape)],
                  epsilon=b.pick([None, 0.001]))


@operator("GroupNormalization", weight=0.6)
def group_norm(b, op):
    x = channels_first(b, op)
    channels = x.shape[1]
    groups = b.pick([g for g in range(1, 9) if channels.divides(g)])
    vectors = channel_vectors(b, x, 2, channels if b.opset >= 21 else dim(groups))
    return b.emit(op, [x, *vectors], [(x.type, x.shape)], num_groups=groups,
                  epsilon=b.pick([None, 0.001]))


@operator("LayerNormalization", "RMSNormalization", weight=0.8)
def layer_norm(b, op):
    x = b.take(elements.allowed(op, b.opset), low=1)
    if count(x.shape).smallest == 0:
        raise Skip
    axis, written = b.axis(x.rank)
    if b.chance(0.2):
        axis, written = x.rank - 1, None
    inner = x.shape[axis:]
    vectors = [b.exactly(x.type, inner) if b.chance(0.8) else b.partner(x.type, inner, one_way=True)]
    if op == "LayerNormalization" and b.chance(0.7):
        vectors.append(b.exactly(x.type, inner) if b.chance(0.8)
                       else b.partner(x.type, inner, one_way=True))
    return b.emit(op, [x, *vectors], [(x.type, x.shape)], axis=written,
                  epsilon=b.pick([None, 0.001]))


@operator("LRN", weight=0.4)
def lrn(b, op):
    x = channels_first(b, op)
    return b.emit(op, [x], [(x.type, x.shape)], size=b.pick([1, 2, 3, 4, 5]),
                  alpha=b.pick([None, 0.5]), beta=b.pick([None, 0.5]), bias=b.pick([None, 2.0]))


@operator("LpNormalization", weight=0.4)
def lp_norm(b, op):
    x = b.take(elements.allowed(op, b.opset), low=1)
    return b.emit(op, [x], [(x.type, x.shape)], axis=b.axis(x.rank, since=1)[1],
                  p=b.pick([None, 1, 2]))


@operator("MeanVarianceNormalization", weight=0.4)
def mean_variance(b, op):
    x = channels_first(b, op, 1)
    axes = None if x.rank == 4 and b.chance(0.5) else b.axes(x.rank)[1]
    return b.emit(op, [x], [(x.type, x.shape)], axes=axes)


@operator("Dropout", weight=0.4)
def dropout(b, op):
    x = b.take(elements.allowed(op, b.opset))
    results, inputs, ratio = [(x.type, x.shape)], [x], None
    if b.opset >= 12:
        if b.chance(0.5):
            inputs.append(b.scalar(0.25, b.type_of(elements.allowed(op, b.opset, 1))))
            if b.chance(0.5):
                inputs.append(b.scalar(False, "bool"))
    else:
        ratio = b.pick([None, 0.25])
    if b.opset >= 10 and b.chance(0.4):
        results.append(("bool", x.shape))
    return b.emit(op, inputs, results, ratio=ratio)
