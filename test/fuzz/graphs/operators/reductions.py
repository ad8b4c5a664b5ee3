"""Reductions, searches along an axis, running sums."""

import elements
from builder import Skip
from dims import count, dim
from operators.table import operator

# Of nothing, these have no value that all judges share.
NEEDS_ELEMENTS = {"ReduceMax", "ReduceMin", "ReduceMean", "ReduceLogSumExp", "ReduceLogSum"}


def without(shape, axes, keep):
    kept = [dim(1) if i in axes else d for i, d in enumerate(shape)]
    return kept if keep else [d for i, d in enumerate(kept) if i not in axes]


@operator("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", weight=0.9)
@operator("ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSum",
          "ReduceLogSumExp", weight=0.5)
def reduce(b, op):
    x = b.take(elements.allowed(op, b.opset))
    by_input = b.opset >= (13 if op == "ReduceSum" else 18)
    keep = b.pick([None, 0, 1])
    attributes, inputs = {"keepdims": keep}, [x]
    if x.rank == 0 or b.chance(0.2):
        axes = list(range(x.rank))
        if by_input and b.chance(0.3):
            attributes["noop_with_empty_axes"] = 1
            axes, keep = [], 1
        if by_input and b.chance(0.3):
            inputs.append(b.list([]))
    else:
        axes, written = b.axes(x.rank)
        if by_input:
            inputs.append(b.list(written))
        else:
            attributes["axes"] = written
    if op in NEEDS_ELEMENTS and any(x.shape[a].smallest == 0 for a in axes):
        raise Skip
    return b.emit(op, inputs, [(x.type, without(x.shape, axes, keep != 0))], **attributes)


@operator("ArgMax", "ArgMin", weight=0.7)
def arg(b, op):
    x = b.take(elements.allowed(op, b.opset), low=1)
    axis, written = b.axis(x.rank)
    if x.shape[axis].smallest == 0:
        raise Skip
    keep = b.pick([None, 0, 1])
    return b.emit(op, [x], [("int64", without(x.shape, [axis], keep != 0))], axis=written,
                  keepdims=keep, select_last_index=b.pick([None, 0, 1]) if b.opset >= 12 else None)


@operator("CumSum", weight=0.6)
def cumsum(b, op):
    x = b.take(elements.allowed(op, b.opset), low=1)
    _, written = b.axis(x.rank)
    axis = b.scalar(written, b.pick(["int32", "int64"]))
    return b.emit(op, [x, axis], [(x.type, x.shape)], exclusive=b.pick([None, 0, 1]),
                  reverse=b.pick([None, 0, 1]))


@operator("TopK", weight=0.6)
def topk(b, op):
    x = b.take(elements.allowed(op, b.opset), low=1)
    axis, written = b.axis(x.rank)
    if count(x.shape).smallest == 0:
        raise Skip
    k = b.rng.randint(1, x.shape[axis].smallest)
    shape = [dim(k) if i == axis else d for i, d in enumerate(x.shape)]
    attributes = {"axis": written}
    inputs = [x]
    if b.opset < 10:
        attributes["k"] = k
    else:
        inputs.append(b.list([k]))
    if b.opset >= 11:
        # Without sorting, the order of more than one is free.
        attributes.update(largest=b.pick([None, 0, 1]), sorted=b.pick([None, 1, 0 if k == 1 else 1]))
    return b.emit(op, inputs, [(x.type, shape), ("int64", shape)], **attributes)
