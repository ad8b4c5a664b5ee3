"""Operators that move data: reshapes, transposes, slices, padding, gathering."""

import elements
from builder import MAX_RANK, Skip
from dims import broadcast, count, dim
from operators.table import operator


@operator("Identity", weight=0.4)
def identity(b, op):
    x = b.take(elements.allowed(op, b.opset))
    return b.emit(op, [x], [(x.type, x.shape)])


@operator("Transpose", weight=1.2)
def transpose(b, op):
    x = b.take(elements.allowed(op, b.opset), low=1)
    order = b.rng.sample(range(x.rank), x.rank)
    if b.chance(0.2):
        return b.emit(op, [x], [(x.type, x.shape[::-1])])
    return b.emit(op, [x], [(x.type, [x.shape[i] for i in order])], perm=order)


def regrouped(b, shape):
    """(written, shape) of a Reshape: dims are merged, split, kept by 0 or found by -1."""
    result, position = [], 0
    while position < len(shape):
        step = min(b.pick([1, 1, 2, 3]), len(shape) - position)
        merged = count(shape[position:position + step])
        factors = [f for f in (2, 3, 4) if not merged.open and merged.sizes[0] % f == 0]
        if step == 1:
            merged = shape[position]
        if factors and b.chance(0.3) and merged.sizes[0]:
            factor = b.pick(factors)
            result += [dim(factor), merged // factor]
        else:
            result.append(merged)
        position += step
    while b.chance(0.15) and len(result) < MAX_RANK:
        result.insert(b.rng.randint(0, len(result)), dim(1))
    written, found = [], False
    for i, d in enumerate(result):
        copied = i < len(shape) and shape[i] == d
        if copied and d.smallest > 0 and (d.open or b.chance(0.2)):
            written.append(0)
        elif d.open or (not found and b.chance(0.1)):
            if found or count(shape).smallest == 0:
                raise Skip
            written.append(-1)
            found = True
        else:
            written.append(d.sizes[0])
    return written, result


@operator("Reshape", weight=1.6)
def reshape(b, op):
    x = b.take(elements.allowed(op, b.opset))
    written, shape = regrouped(b, x.shape)
    zero = 1 if b.opset >= 14 and 0 not in written and b.chance(0.3) else None
    if zero is None and any(d.sizes[0] == 0 and not d.open for d in shape) and not all(
            w != 0 or (i < x.rank and x.shape[i] == shape[i]) for i, w in enumerate(written)):
        raise Skip
    return b.emit(op, [x, b.list(written)], [(x.type, shape)], allowzero=zero)


@operator("Flatten", weight=0.6)
def flatten(b, op):
    x = b.take(elements.allowed(op, b.opset), low=1)
    axis = b.rng.randint(0, x.rank)
    written = axis - x.rank if b.opset >= 11 and axis < x.rank and b.chance(0.4) else axis
    return b.emit(op, [x], [(x.type, [count(x.shape[:axis]), count(x.shape[axis:])])],
                  axis=None if axis == 1 and b.chance(0.3) else written)


@operator("Unsqueeze", weight=0.8)
def unsqueeze(b, op):
    x = b.take(elements.allowed(op, b.opset), high=3)
    rank = x.rank + b.pick([1, 1, 2])
    axes = sorted(b.rng.sample(range(rank), rank - x.rank))
    rest = iter(x.shape)
    shape = [dim(1) if i in axes else next(rest) for i in range(rank)]
    if b.opset >= 11:
        axes = [a - rank if b.chance(0.4) else a for a in axes]
        b.rng.shuffle(axes)
    if b.opset >= 13:
        return b.emit(op, [x, b.list(axes)], [(x.type, shape)])
    return b.emit(op, [x], [(x.type, shape)], axes=axes)


@operator("Squeeze", weight=0.8)
def squeeze(b, op):
    x = b.take(elements.allowed(op, b.opset), low=1,
               where=lambda v: any(d.is_one() for d in v.shape))
    ones = [i for i, d in enumerate(x.shape) if d.is_one()]
    if b.chance(0.2) and not x.is_open:
        shape = [d for d in x.shape if not d.is_one()]
        return b.emit(op, [x], [(x.type, shape)])
    axes = b.rng.sample(ones, b.rng.randint(1, len(ones)))
    shape = [d for i, d in enumerate(x.shape) if i not in axes]
    if b.opset >= 11:
        axes = [a - x.rank if b.chance(0.4) else a for a in axes]
    if b.opset >= 13:
        return b.emit(op, [x, b.list(axes)], [(x.type, shape)])
    return b.emit(op, [x], [(x.type, shape)], axes=axes)


@operator("Concat", weight=1.2)
def concat(b, op):
    x = b.take(elements.allowed(op, b.opset), low=1)
    axis, written = b.axis(x.rank)
    parts, total = [x], x.shape[axis]
    for _ in range(b.pick([0, 1, 1, 1, 2, 3])):
        size = b.size() if b.chance(0.6) else x.shape[axis]
        shape = [size if i == axis else d for i, d in enumerate(x.shape)]
        parts.append(b.exactly(x.type, shape))
        total = total + size
    b.rng.shuffle(parts)
    shape = [total if i == axis else d for i, d in enumerate(x.shape)]
    return b.emit(op, parts, [(x.type, shape)], axis=written)


@operator("Expand", weight=0.9)
def expand(b, op):
    x = b.take(elements.allowed(op, b.opset))
    written = []
    for d in x.shape:
        if d.is_one() and b.chance(0.6):
            written.append(b.rng.randint(1, 5))
        else:
            written.append(1 if d.open or b.chance(0.5) else d.sizes[0])
    if b.chance(0.3):
        written = written[b.rng.randint(0, len(written)):]
    elif x.rank < 4 and b.chance(0.3):
        written.insert(0, b.rng.randint(1, 4))
    return b.emit(op, [x, b.list(written)], [(x.type, broadcast(x.shape, [dim(w) for w in written]))])


@operator("Tile", weight=0.7)
def tile(b, op):
    x = b.take(elements.allowed(op, b.opset), low=1)
    repeats = [b.pick([1, 1, 2, 3]) for _ in range(x.rank)]
    return b.emit(op, [x, b.list(repeats)], [(x.type, [d * r for d, r in zip(x.shape, repeats)])])


@operator("Pad", weight=1.0)
def pad(b, op):
    x = b.take(elements.allowed(op, b.opset), low=1)
    mode = b.pick([None, "constant", "constant", "edge", "reflect"])
    axes = list(range(x.rank))
    if b.opset >= 18 and b.chance(0.4):
        axes = b.axes(x.rank)[0]
    low, high = [0] * len(axes), [0] * len(axes)
    shape = list(x.shape)
    for i, axis in enumerate(axes):
        size = x.shape[axis]
        limit = size.smallest - 1 if mode == "reflect" else 3
        if mode in ("edge", "reflect") and size.smallest < 1:
            limit = 0
        least = -(size.smallest // 3) if mode in (None, "constant") and b.chance(0.3) else 0
        low[i], high[i] = (b.rng.randint(least, max(least, min(2, limit))) for _ in range(2))
        shape[axis] = size + low[i] + high[i]
    if b.opset < 11:
        value = b.pick([None, 1.5, -2.0]) if elements.is_float(x.type) else None
        return b.emit(op, [x], [(x.type, shape)], mode=mode, pads=low + high, value=value)
    inputs = [x, b.list(low + high), None, None]
    if b.chance(0.5):
        inputs[2] = b.fresh(x.type, [], constant=True)
    if axes != list(range(x.rank)):
        inputs[3] = b.list([a - x.rank if b.chance(0.4) else a for a in axes],
                           b.pick(["int32", "int64"]))
    return b.emit(op, inputs, [(x.type, shape)], mode=mode)


@operator("DepthToSpace", "SpaceToDepth", weight=0.5)
def depth_space(b, op):
    grows = op == "DepthToSpace"
    block = b.pick([1, 2, 2, 3])
    types = elements.allowed(op, b.opset)

    def fits(v):
        return v.shape[1].divides(block * block) if grows \
            else v.shape[2].divides(block) and v.shape[3].divides(block)

    def shape():
        n, c, h, w = b.pick([dim(1), b.size()]), b.pick([1, 2, 3]), b.size(), b.size()
        return (n, dim(c * block * block), h, w) if grows else (n, dim(c), h * block, w * block)
    x = b.take(types, 4, 4, where=fits, shape=shape)
    n, c, h, w = x.shape
    mode = b.pick([None, "DCR", "CRD"]) if grows and b.opset >= 11 else None
    result = (n, c // (block * block), h * block, w * block) if grows \
        else (n, c * (block * block), h // block, w // block)
    return b.emit(op, [x], [(x.type, result)], blocksize=block, mode=mode)


def cut(b, size):
    """(start, end, step, how many) of a slice along a dim, in every world."""
    low = b.rng.randint(0, size.smallest)
    how = b.rng.random()
    if b.opset >= 10 and how < 0.25:  # backwards
        step = -b.pick([1, 1, 2])
        start = b.pick([-1, 2 ** 31, 2 ** 63 - 1])
        end = b.pick([-2 ** 63, -2 ** 31])
        return start, end, step, size.ceil_div(-step)
    step = b.pick([1, 1, 1, 2, 3]) if b.opset >= 10 else 1
    if how < 0.5:  # to the end
        return low, b.pick([2 ** 31 - 1, 2 ** 63 - 1]), step, (size - low).ceil_div(step)
    if how < 0.7:  # the last
        number = b.rng.randint(0, max(size.smallest, 1))
        if number == 0:
            return low, low, step, dim(0)
        return -number, 2 ** 63 - 1, step, size.at_most(number).ceil_div(step)
    if how < 0.8 and size.smallest > 1:  # without the last
        back = b.rng.randint(1, size.smallest - 1)
        low = b.rng.randint(0, size.smallest - back)
        return low, -back, step, (size - back - low).ceil_div(step)
    high = b.rng.randint(low, size.smallest) if b.chance(0.9) else size.largest + 3
    return low, high, step, (size.at_most(high) - low).ceil_div(step)


@operator("Slice", weight=1.6)
def slicing(b, op):
    x = b.take(elements.allowed(op, b.opset), low=1)
    axes, written = b.axes(x.rank, since=10)
    shape, cuts = list(x.shape), []
    for axis in axes:
        cuts.append(cut(b, x.shape[axis]))
        shape[axis] = cuts[-1][3]
    starts, ends, steps = ([c[i] for c in cuts] for i in range(3))
    if b.opset < 10:
        return b.emit(op, [x], [(x.type, shape)], starts=starts, ends=ends, axes=written)
    kind = "int64"
    inputs = [b.list(n, kind) for n in (starts, ends, written)]
    if any(s != 1 for s in steps) or b.chance(0.3):
        inputs.append(b.list(steps, kind))
    elif axes == list(range(len(axes))) and b.chance(0.6):
        inputs.pop()
    return b.emit(op, [x, *inputs], [(x.type, shape)])


@operator("Split", weight=1.0)
def split(b, op):
    x = b.take(elements.allowed(op, b.opset), low=1)
    axis, written = b.axis(x.rank)
    size = x.shape[axis]
    attributes, inputs = {"axis": written}, [x]
    parts = b.pick([p for p in (1, 2, 2, 3, 4) if size.divides(p)])
    sizes = [size // parts] * parts
    if not size.open and size.sizes[0] >= 2 and b.chance(0.5):
        first = b.rng.randint(0 if b.chance(0.1) else 1, size.sizes[0] - 1)
        sizes = [dim(first), dim(size.sizes[0] - first)]
        plain = [d.sizes[0] for d in sizes]
        if b.opset >= 13:
            inputs.append(b.list(plain))
        else:
            attributes["split"] = plain
    elif b.opset >= 18:
        attributes["num_outputs"] = parts
        if not size.open and parts > 1 and b.chance(0.3):
            parts = attributes["num_outputs"] = b.pick([2, 3])
            part = -(-size.sizes[0] // parts)
            sizes = [dim(part)] * (parts - 1) + [dim(size.sizes[0] - part * (parts - 1))]
            if sizes[-1].smallest < 1:
                raise Skip
    shapes = [[s if i == axis else d for i, d in enumerate(x.shape)] for s in sizes]
    return b.emit(op, inputs, [(x.type, shape) for shape in shapes], **attributes)


@operator("Gather", weight=1.2)
def gather(b, op):
    x = b.take(elements.allowed(op, b.opset), low=1)
    axis, written = b.axis(x.rank)
    size = x.shape[axis]
    if size.smallest == 0:
        raise Skip
    low = [-n if b.opset >= 11 and b.chance(0.6) else 0 for n in size.sizes]
    shape = b.shape(0, 2)
    indices = b.fresh(b.pick(["int32", "int64"]), shape,
                      [(a, n - 1) for a, n in zip(low, size.sizes)])
    result = [*x.shape[:axis], *indices.shape, *x.shape[axis + 1:]]
    return b.emit(op, [x, indices], [(x.type, result)], axis=written)
