"""Convolutions, pools and resampling."""

import elements
from builder import Skip
from dims import count, dim
from operators.table import composite, operator


def picture(b, types):
    """A value with batch, channels and one to three spatial dims."""
    def shape():
        spatial = b.pick([1, 2, 2, 2, 3])
        sizes = [b.size() if spatial < 3 else dim(b.pick([1, 2, 3, 4])) for _ in range(spatial)]
        return b.pick([dim(1), dim(2), b.size()]), b.size(), *sizes
    x = b.take(types, 3, 5, shape=shape)
    if count(x.shape).smallest == 0:
        raise Skip
    return x


class Window:
    """Attributes of a window that fits in every world, and the sizes it makes."""

    def __init__(self, b, x, kernel=None, pooling=False):
        rank = x.rank - 2
        sizes = x.shape[2:]
        self.kernel = kernel or [b.rng.randint(1, 3) for _ in range(rank)]
        self.strides = [b.pick([1, 1, 2, 3]) for _ in range(rank)] if b.chance(0.5) else None
        dilates = not pooling or b.opset >= (19 if pooling == "AveragePool" else 10)
        self.dilations = [b.pick([1, 1, 2]) for _ in range(rank)] \
            if dilates and b.chance(0.3) else None
        strides, dilations = self.strides or [1] * rank, self.dilations or [1] * rank
        spans = [(k - 1) * d + 1 for k, d in zip(self.kernel, dilations)]
        self.pads = self.auto_pad = self.ceil_mode = None
        before = after = [dim(0)] * rank
        how = b.rng.random()
        if how < 0.25:
            self.auto_pad = b.pick(["SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"])
        elif how < 0.65:
            limits = [k - 1 if pooling else k for k in self.kernel]
            self.pads = [b.rng.randint(0, limit) for limit in limits + limits]
            before, after = ([dim(p) for p in part]
                             for part in (self.pads[:rank], self.pads[rank:]))
        if pooling and b.opset >= 10 and b.chance(0.4) and self.auto_pad is None:
            self.ceil_mode = b.pick([0, 1])
        self.results = []
        for d in range(rank):
            if self.auto_pad in ("SAME_UPPER", "SAME_LOWER"):
                self.results.append(sizes[d].ceil_div(strides[d]))
                continue
            room = sizes[d] + before[d] + after[d] - spans[d]
            if room.smallest < 0:
                raise Skip
            result = room // strides[d] + 1
            if self.ceil_mode:
                # A window that would start in the padding behind does not count.
                result = (room.ceil_div(strides[d]) + 1).at_most(
                    (sizes[d] + before[d]).ceil_div(strides[d]))
            self.results.append(result)

    def attributes(self):
        return {"strides": self.strides, "dilations": self.dilations, "pads": self.pads,
                "auto_pad": self.auto_pad}


def groups_of(b, channels):
    if channels.open or b.chance(0.6):
        return 1
    size = channels.sizes[0]
    return b.pick([g for g in range(1, size + 1) if size % g == 0])


@operator("Conv", weight=3.5)
def conv(b, op):
    x = picture(b, elements.allowed(op, b.opset))
    window = Window(b, x)
    channels = x.shape[1]
    groups = groups_of(b, channels)
    features = dim(groups * b.pick([1, 1, 2, 3, 4]))
    weight = [features, channels // groups, *window.kernel]
    if (count(weight) * count(window.results) * x.shape[0]).largest > 400_000:
        raise Skip
    inputs = [x, b.exactly(x.type, weight)]
    if b.chance(0.6):
        inputs.append(b.exactly(x.type, [features]))
    return b.emit(op, inputs, [(x.type, [x.shape[0], features, *window.results])],
                  kernel_shape=b.pick([None, window.kernel]), group=groups if groups > 1 else None,
                  **window.attributes())


@operator("ConvTranspose", weight=1.5)
def conv_transpose(b, op):
    x = picture(b, elements.allowed(op, b.opset))
    rank = x.rank - 2
    kernel = [b.rng.randint(1, 3) for _ in range(rank)]
    strides = [b.pick([1, 1, 2, 3]) for _ in range(rank)]
    dilations = [b.pick([1, 1, 2]) for _ in range(rank)] if b.chance(0.3) else None
    channels = x.shape[1]
    groups = groups_of(b, channels)
    features = b.pick([1, 2, 3])
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations or [1] * rank)]
    pads = output_padding = auto_pad = output_shape = None
    whole = [(n - 1) * s + span for n, s, span in zip(x.shape[2:], strides, spans)]
    how = b.rng.random()
    if how < 0.35:
        pads = [b.rng.randint(0, min(1, w.smallest // 3)) for w in whole + whole]
        whole = [w - p - q for w, p, q in zip(whole, pads[:rank], pads[rank:])]
    elif how < 0.5 and all(span >= s for span, s in zip(spans, strides)):
        auto_pad = b.pick(["SAME_UPPER", "SAME_LOWER", "VALID"])
        if auto_pad != "VALID":
            whole = [n * s for n, s in zip(x.shape[2:], strides)]
    elif how < 0.6 and not any(w.open for w in whole):
        output_shape = [max(1, w.sizes[0] - b.pick([0, 1])) for w in whole]
        whole = [dim(n) for n in output_shape]
    if auto_pad is None and output_shape is None and b.chance(0.3):
        # Below the stride, or the dilation.
        output_padding = [b.rng.randint(0, s - 1) for s in strides]
        whole = [w + p for w, p in zip(whole, output_padding)]
    weight = [channels, dim(features), *kernel]
    if any(w.smallest < 1 for w in whole) or \
            (count(weight) * count(x.shape[2:]) * x.shape[0]).largest > 300_000:
        raise Skip
    inputs = [x, b.exactly(x.type, weight)]
    if b.chance(0.5):
        inputs.append(b.exactly(x.type, [features * groups]))
    return b.emit(op, inputs, [(x.type, [x.shape[0], dim(features * groups), *whole])],
                  kernel_shape=b.pick([None, kernel]), group=groups if groups > 1 else None,
                  strides=strides, dilations=dilations, pads=pads, auto_pad=auto_pad,
                  output_padding=output_padding, output_shape=output_shape)


@operator("MaxPool", "AveragePool", weight=1.0)
def pool(b, op):
    x = picture(b, elements.allowed(op, b.opset))
    window = Window(b, x, pooling=op)
    attributes = window.attributes()
    if attributes["auto_pad"] in ("SAME_UPPER", "SAME_LOWER") and attributes["dilations"]:
        raise Skip
    if op == "AveragePool":
        attributes["count_include_pad"] = b.pick([None, 0, 1])
    elif b.opset >= 8:
        attributes["storage_order"] = b.pick([None, 0])
    return b.emit(op, [x], [(x.type, [*x.shape[:2], *window.results])],
                  kernel_shape=window.kernel, ceil_mode=window.ceil_mode, **attributes)


@operator("GlobalAveragePool", "GlobalMaxPool", weight=0.6)
def global_pool(b, op):
    x = picture(b, elements.allowed(op, b.opset))
    return b.emit(op, [x], [(x.type, [*x.shape[:2], *[dim(1)] * (x.rank - 2)])])


def whole_scale(b, x):
    """Scales of 1 for batch and channels, of halves, ones and doubles behind."""
    scales = [1.0, 1.0] + [b.pick([0.5, 1.0, 2.0, 2.0, 3.0]) for _ in range(x.rank - 2)]
    shape = [d.scaled(s) for d, s in zip(x.shape, scales)]
    if any(d.smallest < 1 for d in shape):
        raise Skip
    return scales, shape


@operator("Upsample", weight=0.8)
def upsample(b, op):
    x = picture(b, elements.allowed(op, b.opset))
    mode = b.pick([None, "nearest", "linear"])
    if mode == "linear" and (x.rank != 4 or x.type != "float32"):
        mode = "nearest"
    scales = [1.0, 1.0] + [b.pick([1.0, 2.0, 3.0]) for _ in range(x.rank - 2)]
    shape = [d.scaled(s) for d, s in zip(x.shape, scales)]
    if b.opset < 9:
        return b.emit(op, [x], [(x.type, shape)], mode=mode, scales=scales)
    return b.emit(op, [x, b.list(scales, "float32")], [(x.type, shape)], mode=mode)


@operator("Resize", weight=1.2)
def resize(b, op):
    x = picture(b, elements.allowed(op, b.opset))
    mode = b.pick([None, "nearest", "linear"])
    if mode == "linear" and not elements.is_float(x.type):
        mode = "nearest"
    if b.opset < 11:
        scales = [1.0, 1.0] + [b.pick([1.0, 2.0, 3.0]) for _ in range(x.rank - 2)]
        shape = [d.scaled(s) for d, s in zip(x.shape, scales)]
        return b.emit(op, [x, b.list(scales, "float32")], [(x.type, shape)], mode=mode)
    attributes = {"mode": mode, "coordinate_transformation_mode": b.pick(
        [None, "half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"])}
    if mode != "linear":
        attributes["nearest_mode"] = b.pick(
            [None, "round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])
    # The region of interest has no name for "none" before opset 13.
    roi = b.list([], x.type if b.opset >= 13 and x.type in ("float16", "float64") else "float32") \
        if b.opset < 13 else None
    if b.chance(0.5):
        scales, shape = whole_scale(b, x)
        if b.opset >= 18 and b.chance(0.4):
            attributes["axes"] = list(range(2, x.rank))
            scales = scales[2:]
        return b.emit(op, [x, roi, b.list(scales, "float32")], [(x.type, shape)], **attributes)
    if any(d.open for d in x.shape):
        raise Skip
    sizes = [d.sizes[0] for d in x.shape[:2]] + [b.rng.randint(1, 9) for _ in range(x.rank - 2)]
    empty = b.list([], "float32") if b.opset < 13 else None
    return b.emit(op, [x, roi, empty, b.list(sizes)], [(x.type, sizes)], **attributes)


@composite
def convolution_block(b):
    """A convolution, a norm or a residual, an activation, a pool."""
    (x,) = conv(b, "Conv")
    if b.chance(0.4):
        (x,) = b.emit("Add", [x, b.exactly(x.type, x.shape)], [(x.type, x.shape)])
    if x.type in elements.allowed("Relu", b.opset):
        (x,) = b.emit(b.pick(["Relu", "Sigmoid", "Tanh"]), [x], [(x.type, x.shape)])
    if b.chance(0.5):
        b.emit("GlobalAveragePool", [x], [(x.type, [*x.shape[:2], *[dim(1)] * (x.rank - 2)])])
