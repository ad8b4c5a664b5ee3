//===- Movement.cpp - ONNX's operators that move data ---------------------===//

#include "dialects/Graph/MovementOps.h"
#include "dialects/Graph/PointwiseOps.h"
#include "passes/Import/Handlers.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::Twine;

namespace mlc {

static LogicalResult reshaped(Node &n, Dims dims) {
  return n.result(n.reshape(n.value(0), dims));
}

/// Resolves Reshape's target: 0 copies a dim, -1 is the remaining size.
static std::optional<Dims> resolveReshape(Node &n, Dims target) {
  ArrayRef<IntExpr> from = n.dims(0);
  bool copiesZero = n.opset() < 5 || !n.intAttr("allowzero", 0);
  std::optional<size_t> open;
  IntExpr known = n.integer(1);
  for (size_t i = 0; i < target.size(); ++i) {
    if (target[i].isConstant(-1)) {
      if (open) {
        (void)n.invalid("the target has more than one -1");
        return std::nullopt;
      }
      open = i;
      continue;
    }
    if (target[i].isConstant(0) && copiesZero) {
      if (i >= from.size()) {
        (void)n.invalid("the target copies dim " + Twine(i) +
                        " of an input of rank " + Twine(from.size()));
        return std::nullopt;
      }
      target[i] = from[i];
    }
    n.requireNonNegative(target[i], "a dim must not be negative");
    known = known * target[i];
    if (!isTame(known)) {
      (void)n.invalid("the target's dims are too complex");
      return std::nullopt;
    }
  }
  IntExpr total = getNumElements(n.context(), from);
  if (!open) {
    n.requireEqual(total, known, "Reshape must keep the number of elements");
    return target;
  }
  if (known.isConstant(0)) {
    (void)n.invalid("-1 is not determined where another dim is 0");
    return std::nullopt;
  }
  if (std::optional<IntExpr> exact = total.exactDiv(known)) {
    target[*open] = *exact;
  } else {
    if (!known.isKnownPositive())
      n.requireNonNegative(known - 1, "Reshape with -1 needs dims above 0");
    target[*open] = total.floorDiv(known);
    n.requireEqual(total, known * target[*open],
                   "Reshape must keep the number of elements");
  }
  return target;
}

static LogicalResult importReshape(Node &n) {
  std::optional<Dims> target;
  if (n.opset() < 5) {
    target.emplace();
    for (int64_t dim : n.intsAttr("shape"))
      target->push_back(n.integer(dim));
  } else if (n.has(1)) {
    target = n.ints(1, "the target shape");
  } else {
    return n.invalid("has no target shape");
  }
  if (!target)
    return failure();
  std::optional<Dims> dims = resolveReshape(n, *target);
  return dims && !n.failed() ? reshaped(n, *dims) : failure();
}

static LogicalResult importFlatten(Node &n) {
  int64_t axis = n.intAttr("axis", 1), rank = n.rank(0);
  if (axis < -rank || axis > rank)
    return n.invalid("axis " + Twine(axis) + " is out of range");
  axis = axis < 0 ? axis + rank : axis;
  return reshaped(n, {getNumElements(n.context(), n.dims(0).take_front(axis)),
                      getNumElements(n.context(), n.dims(0).drop_front(axis))});
}

/// Axes as an attribute, or since opset 13 as input 1.
static std::optional<SmallVector<int64_t>> axesOf(Node &n) {
  if (n.has(1))
    return n.constants(1, "axes");
  return n.intsAttr("axes");
}

static LogicalResult importUnsqueeze(Node &n) {
  std::optional<SmallVector<int64_t>> listed = axesOf(n);
  if (!listed)
    return failure();
  int64_t rank = n.rank(0) + listed->size();
  SmallVector<int64_t> axes = n.axes(*listed, rank);
  if (n.failed())
    return failure();
  Dims dims;
  size_t next = 0;
  for (int64_t d = 0; d < rank; ++d)
    dims.push_back(llvm::is_contained(axes, d) ? n.integer(1)
                                               : n.dims(0)[next++]);
  return reshaped(n, dims);
}

static LogicalResult importSqueeze(Node &n) {
  std::optional<SmallVector<int64_t>> listed = axesOf(n);
  if (!listed)
    return failure();
  SmallVector<int64_t> axes = n.axes(*listed, n.rank(0));
  bool all = listed->empty() && !n.has(1) && !n.hasAttr("axes");
  if (n.failed())
    return failure();
  Dims dims;
  for (int64_t d = 0; d < n.rank(0); ++d) {
    IntExpr dim = n.dims(0)[d];
    if (all && !dim.isConstant())
      return n.unsupported("which dims are 1 must be known, but dim " +
                               Twine(d) + " is " + dim.str(),
                           {Remedy{Remedy::Kind::FixDim}});
    if (llvm::is_contained(axes, d))
      n.requireEqual(dim, n.integer(1), "a squeezed dim must be 1");
    else if (!all || !dim.isConstant(1))
      dims.push_back(dim);
  }
  return n.failed() ? failure() : reshaped(n, dims);
}

static LogicalResult importIdentity(Node &n) {
  return n.result(0, Tensor(n.in(0)));
}

static LogicalResult importTranspose(Node &n) {
  SmallVector<int64_t> reversed;
  for (int64_t d = n.rank(0); d-- > 0;)
    reversed.push_back(d);
  SmallVector<int64_t> order = n.intsAttr("perm", reversed);
  if (int64_t(order.size()) != n.rank(0))
    return n.invalid("perm must have " + Twine(n.rank(0)) + " values");
  order = n.axes(order, n.rank(0));
  if (n.failed())
    return failure();
  return n.result(n.transpose(n.value(0), order));
}

static LogicalResult importConcat(Node &n) {
  int64_t rank = n.rank(0);
  int64_t axis = n.axis(n.intAttr("axis", 1), rank);
  if (n.failed())
    return failure();
  SmallVector<Value> values;
  for (unsigned i = 0; i < n.numInputs(); ++i) {
    if (n.rank(i) != rank || n.type(i) != n.type(0))
      return n.invalid("inputs must have one rank and element type");
    Dims dims(n.dims(0));
    dims[axis] = n.dims(i)[axis];
    for (int64_t d = 0; d < rank; ++d)
      if (d != axis)
        n.requireEqual(n.dims(i)[d], dims[d],
                       "tensors that are concatenated differ in dim " +
                           Twine(d));
    // Nothing to concatenate, but check the dims.
    if (n.failed())
      return failure();
    if (!dims[axis].isConstant(0) || n.numInputs() == 1)
      values.push_back(n.reshape(n.value(i), dims));
  }
  if (values.empty())
    values.push_back(n.value(0));
  if (values.size() == 1)
    return n.result(values.front());
  return n.result(n.op<ConcatOp>(values, axis));
}

static LogicalResult importExpand(Node &n) {
  std::optional<Dims> target = n.ints(1, "the target shape");
  if (!target)
    return failure();
  for (IntExpr dim : *target)
    n.requireNonNegative(dim, "a dim must not be negative");
  Dims dims = n.broadcastDims({n.dims(0), *target}, /*isMeant=*/true);
  for (auto [wanted, dim] :
       llvm::zip(*target, ArrayRef<IntExpr>(dims).take_back(target->size())))
    n.requireOneOr(wanted, dim);
  return n.result(n.broadcast(n.value(0), dims, /*isMeant=*/true));
}

/// Tile: each dim d repeated r times is [1, d] broadcast to [r, d].
static LogicalResult importTile(Node &n) {
  if (n.opset() < 6)
    return n.unsupported("Tile before opset 6 is not supported");
  std::optional<Dims> repeats = n.ints(1, "repeats");
  if (!repeats)
    return failure();
  if (int64_t(repeats->size()) != n.rank(0))
    return n.invalid("repeats must have " + Twine(n.rank(0)) + " values");
  Dims split, wide, merged;
  for (auto [dim, count] : llvm::zip(n.dims(0), *repeats)) {
    n.requireNonNegative(count, "a dim must not be negative");
    if (!count.isConstant(1)) {
      split.push_back(n.integer(1));
      wide.push_back(count);
    }
    split.push_back(dim);
    wide.push_back(dim);
    merged.push_back(dim * count);
  }
  return n.result(
      n.reshape(n.broadcast(n.reshape(n.value(0), split), wide), merged));
}

/// `value` padded by wrapping around in each dim.
static Value wrapped(Node &n, Value value, ArrayRef<IntExpr> low,
                     ArrayRef<IntExpr> high) {
  for (size_t d = 0; value && d < low.size(); ++d) {
    if (low[d].isConstant(0) && high[d].isConstant(0))
      continue;
    IntExpr dim = dimsOf(value)[d];
    n.requireNonNegative(dim - 1, "there must be elements to repeat");
    Value places = n.op<IotaOp>(n.dimsAttr({low[d] + dim + high[d]}), 0,
                                -low[d], n.integer(1));
    Value size =
        n.op<IntTensorOp>(n.dimsAttr({dim}), n.dimsAttr(ArrayRef<IntExpr>()));
    value = n.op<GatherOp>({value, n.pointwise<ModOp>({places, size})}, d);
  }
  return value;
}

static LogicalResult importPad(Node &n) {
  int64_t rank = n.rank(0);
  std::string asked = n.stringAttr("mode", "constant");
  std::optional<PadMode> mode = symbolizePadMode(asked);
  std::optional<Dims> pads;
  if (n.opset() < 11) {
    pads.emplace();
    for (int64_t pad : n.intsAttr(n.opset() < 2 ? "paddings" : "pads"))
      pads->push_back(n.integer(pad));
  } else if (n.has(1)) {
    pads = n.ints(1, "pads");
  }
  double with = n.floatAttr("value", 0.0);
  if (n.has(2) && mode == PadMode::Constant) {
    std::optional<double> value = n.scalar(2, "the padding value");
    if (!value)
      return failure();
    with = *value;
  }
  SmallVector<int64_t> axes;
  for (int64_t d = 0; d < rank; ++d)
    axes.push_back(d);
  if (n.has(3)) {
    std::optional<SmallVector<int64_t>> listed = n.constants(3, "axes");
    if (!listed)
      return failure();
    axes = n.axes(*listed, rank);
  }
  if (n.failed())
    return failure();
  if (!pads || pads->size() != 2 * axes.size())
    return n.invalid("pads must have two values per axis");
  bool wraps = asked == "wrap";
  if (!mode && !wraps)
    return n.unsupported("Pad with mode '" + asked + "' is not supported");
  // Negative padding crops; cropping comes first, as in ONNX Runtime.
  Dims low(rank, n.integer(0)), high = low, starts = low, sizes(n.dims(0));
  Dims steps(rank, n.integer(1));
  for (auto [i, axis] : llvm::enumerate(axes)) {
    IntExpr before = (*pads)[i], after = (*pads)[axes.size() + i];
    low[axis] = IntExpr::max(before, n.integer(0));
    high[axis] = IntExpr::max(after, n.integer(0));
    starts[axis] = low[axis] - before;
    sizes[axis] = sizes[axis] - starts[axis] - (high[axis] - after);
    n.requireNonNegative(sizes[axis], "padding cuts more than there is");
  }
  if (n.failed())
    return failure();
  Value inner = n.slice(n.value(0), starts, sizes, steps);
  if (wraps)
    return n.result(wrapped(n, inner, low, high));
  if (n.isFloat(0) || isExactInteger(with))
    return n.result(n.pad(inner, low, high, *mode, with));
  // A double cannot hold the value. Integers wrap, so differences from it work.
  Value distance = n.pointwise<SubOp>({inner, n.value(2)});
  Value padded = n.pad(distance, low, high, *mode, 0.0);
  return n.result(n.pointwise<AddOp>({padded, n.value(2)}));
}

/// Depth and space exchange blocks of size b: a transpose between reshapes.
static LogicalResult importDepthSpace(Node &n) {
  int64_t block = n.intAttr("blocksize", 0);
  if (n.rank(0) != 4 || block < 1 || block > maxRank * 1024)
    return n.invalid("requires rank 4 and a positive blocksize");
  ArrayRef<IntExpr> d = n.dims(0);
  IntExpr b = n.integer(block);
  auto divided = [&](IntExpr dim, IntExpr by) {
    return n.divided(dim, by, "a dim must be a multiple of the block size");
  };
  bool columnsFirst = n.stringAttr("mode", "DCR") == "CRD";
  if (n.opType() == "SpaceToDepth") {
    IntExpr h = divided(d[2], b), w = divided(d[3], b);
    Value x = n.reshape(n.value(0), {d[0], d[1], h, b, w, b});
    x = columnsFirst ? n.transpose(x, {0, 1, 3, 5, 2, 4})
                     : n.transpose(x, {0, 3, 5, 1, 2, 4});
    return n.result(n.reshape(x, {d[0], d[1] * b * b, h, w}));
  }
  IntExpr c = divided(d[1], b * b);
  Dims merged = {d[0], c, d[2] * b, d[3] * b};
  if (columnsFirst) {
    Value x = n.reshape(n.value(0), {d[0], c, b, b, d[2], d[3]});
    return n.result(n.reshape(n.transpose(x, {0, 1, 4, 2, 5, 3}), merged));
  }
  Value x = n.reshape(n.value(0), {d[0], b, b, c, d[2], d[3]});
  return n.result(n.reshape(n.transpose(x, {0, 3, 4, 1, 5, 2}), merged));
}

ArrayRef<OperatorEntry> movementOperators() {
  static const OperatorEntry entries[] = {
      {"", "Concat", 1, anyNumber, importConcat},
      {"", "DepthToSpace", 1, 1, importDepthSpace},
      {"", "Expand", 2, 2, importExpand},
      {"", "Flatten", 1, 1, importFlatten},
      {"", "Identity", 1, 1, importIdentity},
      {"", "Pad", 1, 4, importPad},
      {"", "Reshape", 1, 2, importReshape},
      {"", "SpaceToDepth", 1, 1, importDepthSpace},
      {"", "Squeeze", 1, 2, importSqueeze},
      {"", "Tile", 2, 2, importTile},
      {"", "Transpose", 1, 1, importTranspose},
      {"", "Unsqueeze", 1, 2, importUnsqueeze},
  };
  return entries;
}

} // namespace mlc
