//===- Slicing.cpp - ONNX's operators that pick parts ---------------------===//

#include "dialects/Evaluator/SymbolicNumber.h"
#include "dialects/Graph/MovementOps.h"
#include "passes/Import/Handlers.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::Twine;

namespace mlc {

namespace {
/// A strided box.
struct Box {
  Dims starts, sizes, steps;
};
} // namespace

/// All exporters write far ends for "to the end".
constexpr int64_t farAway = 100'000'000;

/// `at`, plus `dim` if it is negative. If all sizes above 0 give one sign, that
/// sign is assumed and required: an expression that also covers sizes of 0
/// could not be compared with others. The same goes for a difference of two
/// sizes; the larger is assumed to come first.
static IntExpr positionOfUnknownSign(Node &n, IntExpr at, IntExpr dim) {
  std::optional<int64_t> low = at.lowerBound(), high = at.upperBound();
  if (high && *high < 0)
    return at + dim;
  if (isUsuallyNonNegative(-at - 1)) {
    n.requireNonNegative(-at - 1, "a slice's bound that counts from the end "
                                  "must not be 0");
    return at + dim;
  }
  if ((!low && !high) || isUsuallyNonNegative(at)) {
    n.requireNonNegative(at, "a slice's bound must not be negative");
    return at;
  }
  IntExpr isNegative =
      IntExpr::min(IntExpr::max(-at, n.integer(0)), n.integer(1));
  return at + dim * isNegative;
}

/// ONNX's position `at` along a dim: negative counts from the end, and the
/// result is clamped to [low, high].
static std::optional<IntExpr> position(Node &n, IntExpr at, IntExpr dim,
                                       IntExpr low, IntExpr high) {
  if (std::optional<int64_t> constant = at.asConstant()) {
    if (*constant >= farAway)
      return high;
    if (*constant <= -farAway)
      return low;
    if (*constant < 0)
      at = at + dim;
  } else if (!at.isKnownNonNegative()) {
    at = positionOfUnknownSign(n, at, dim);
  }
  return IntExpr::max(low, IntExpr::min(at, high));
}

/// to - from, with a maximum in `from` distributed.
static IntExpr distance(IntExpr from, IntExpr to) {
  if (from.getKind() != IntExpr::Kind::Max)
    return to - from;
  IntExpr result;
  for (IntExpr operand : from.getOperands()) {
    IntExpr piece = to - operand;
    result = result ? IntExpr::min(result, piece) : piece;
  }
  return result;
}

/// Narrows dim `d` of the box to start:end:step.
static bool narrow(Node &n, Box &box, int64_t d, IntExpr start, IntExpr end,
                   IntExpr step) {
  if (!step.isConstant() || step.isConstant(0) ||
      step.getConstant() == std::numeric_limits<int64_t>::min()) {
    (void)n.unsupported(
        "steps must be constant and not 0",
        {Remedy{Remedy::Kind::GiveConstant}, Remedy{Remedy::Kind::FixDim}});
    return false;
  }
  IntExpr dim = n.dims(0)[d], zero = n.integer(0);
  bool backwards = step.getConstant() < 0;
  // Going backwards, positions run from dim - 1 down, and -1 is past the end. A
  // start before the first element means the first one in either direction, as
  // in ONNX and ONNX Runtime; numpy takes nothing. (Without elements it is -1.)
  IntExpr low = backwards ? n.integer(-1) : zero;
  IntExpr high = backwards ? dim - 1 : dim;
  std::optional<IntExpr> from = position(
      n, start, dim, backwards ? IntExpr::min(zero, high) : zero, high);
  std::optional<IntExpr> to = position(n, end, dim, low, high);
  if (!from || !to)
    return false;
  // dim - max(0, dim - k) becomes min(dim, k), which reads better.
  IntExpr span = backwards ? *from - *to : distance(*from, *to);
  box.sizes[d] = IntExpr::max(span.ceilDiv(std::abs(step.getConstant())), zero);
  box.starts[d] = box.sizes[d].isConstant(0) ? zero : *from;
  box.steps[d] = step;
  return true;
}

static Box wholeBox(Node &n) {
  return {Dims(n.rank(0), n.integer(0)), Dims(n.dims(0)),
          Dims(n.rank(0), n.integer(1))};
}

static Value sliced(Node &n, const Box &box) {
  return n.slice(n.value(0), box.starts, box.sizes, box.steps);
}

static LogicalResult importSlice(Node &n) {
  std::optional<Dims> starts, ends, axes, steps;
  auto fromAttribute = [&](llvm::StringRef name) {
    Dims result;
    for (int64_t value : n.intsAttr(name))
      result.push_back(n.integer(value));
    return result;
  };
  if (n.opset() < 10) {
    starts = fromAttribute("starts");
    ends = fromAttribute("ends");
    axes = fromAttribute("axes");
  } else {
    if (!n.has(1) || !n.has(2))
      return n.invalid("has no starts or ends");
    starts = n.ints(1, "starts");
    ends = n.ints(2, "ends");
    axes = n.has(3) ? n.ints(3, "axes") : std::optional(Dims());
    if (n.has(4))
      steps = n.ints(4, "steps");
  }
  if (n.failed() || !starts || !ends || !axes)
    return failure();
  if (!steps)
    steps = Dims(starts->size(), n.integer(1));
  SmallVector<int64_t> listed;
  for (IntExpr axis : *axes)
    if (axis.isConstant())
      listed.push_back(axis.getConstant());
  if (axes->empty())
    for (size_t d = 0; d < starts->size(); ++d)
      listed.push_back(d);
  if (listed.size() != starts->size() || ends->size() != starts->size() ||
      steps->size() != starts->size())
    return n.invalid("starts, ends, axes and steps must have one length");
  listed = n.axes(listed, n.rank(0));
  if (n.failed())
    return failure();
  Box box = wholeBox(n);
  for (auto [i, axis] : llvm::enumerate(listed))
    if (!narrow(n, box, axis, (*starts)[i], (*ends)[i], (*steps)[i]))
      return failure();
  return n.failed() ? failure() : n.result(sliced(n, box));
}

/// The sizes of Split's outputs along a dim.
static std::optional<Dims> splitSizes(Node &n, IntExpr dim) {
  if (n.has(1))
    return n.ints(1, "split");
  Dims sizes;
  if (n.hasAttr("split")) {
    for (int64_t size : n.intsAttr("split"))
      sizes.push_back(n.integer(size));
    return sizes;
  }
  unsigned count = n.numOutputs();
  // Since opset 18 the last part may be smaller; before, all are equal.
  IntExpr part = dim.ceilDiv(count);
  IntExpr last = dim - part * int64_t(count - 1);
  if (n.opset() < 18)
    n.requireEqual(last, part, "the dim must divide into equal parts");
  n.requireNonNegative(last, "the dim has too few elements for the parts");
  sizes.assign(count - 1, part);
  sizes.push_back(last);
  return sizes;
}

static LogicalResult importSplit(Node &n) {
  int64_t axis = n.axis(n.intAttr("axis", 0), n.rank(0));
  if (n.failed() || n.numOutputs() == 0)
    return n.invalid("has no outputs");
  IntExpr dim = n.dims(0)[axis];
  std::optional<Dims> sizes = splitSizes(n, dim);
  if (!sizes || n.failed())
    return failure();
  if (sizes->size() != n.numOutputs())
    return n.invalid("has " + Twine(n.numOutputs()) + " outputs, but " +
                     Twine(sizes->size()) + " sizes");
  IntExpr start = n.integer(0);
  for (auto [i, size] : llvm::enumerate(*sizes)) {
    n.requireNonNegative(size, "a part's size must not be negative");
    Box box = wholeBox(n);
    box.starts[axis] = start;
    box.sizes[axis] = size;
    start = start + size;
    // The parts are checked together below, before any is used.
    IntExpr rest = dim - start;
    if (rest.isConstant() && rest.getConstant() < 0)
      return n.invalid("the parts are larger than the dim");
    if (n.failed() || (n.wants(i) && failed(n.result(i, sliced(n, box)))))
      return failure();
  }
  n.requireEqual(start, dim, "the parts must make up the whole dim");
  return failure(n.failed());
}

static LogicalResult importGather(Node &n) {
  int64_t axis = n.axis(n.intAttr("axis", 0), n.rank(0));
  if (n.failed())
    return failure();
  IntExpr dim = n.dims(0)[axis];
  // A single known index is a slice without that dim.
  if (n.rank(1) == 0) {
    if (std::optional<SmallVector<int64_t>> known = n.knownIntegers(1)) {
      int64_t index = known->front();
      IntExpr at = index < 0 ? dim + index : n.integer(index);
      n.requireNonNegative(at, "an index must lie inside the tensor");
      n.requireNonNegative(dim - 1 - at, "an index must lie inside the tensor");
      if (n.failed())
        return failure();
      Box box = wholeBox(n);
      box.starts[axis] = at;
      box.sizes[axis] = n.integer(1);
      Dims dims(n.dims(0));
      dims.erase(dims.begin() + axis);
      return n.result(n.reshape(sliced(n, box), dims));
    }
  }
  useAsIndices(n, n.value(1), 1, dim, IndexKind::AlsoFromEnd);
  return n.result(n.op<GatherOp>({n.value(0), n.value(1)}, axis));
}

/// The rows along an axis, or the elements, that a known condition selects.
static LogicalResult importCompress(Node &n) {
  std::optional<SmallVector<bool>> truths = n.truths(1);
  if (!truths)
    return failure();
  Value x = n.value(0);
  int64_t axis = 0;
  if (n.hasAttr("axis"))
    axis = n.axis(n.intAttr("axis", 0), n.rank(0));
  else
    x = n.reshape(x, {getNumElements(n.context(), n.dims(0))});
  if (n.failed() || n.rank(1) != 1)
    return n.invalid(
        "requires a vector of conditions and an axis of the input");
  SmallVector<int64_t> taken;
  for (auto [i, isTaken] : llvm::enumerate(*truths))
    if (isTaken)
      taken.push_back(i);
  n.requireNonNegative(dimsOf(x)[axis] - int64_t(truths->size()),
                       "there must be no more conditions than elements");
  auto type =
      RankedTensorType::get({int64_t(taken.size())}, n.builder().getI64Type());
  Value places = n.constant(DenseElementsAttr::get(type, ArrayRef(taken)));
  return n.result(n.op<GatherOp>({x, places}, axis));
}

ArrayRef<OperatorEntry> slicingOperators() {
  static const OperatorEntry entries[] = {
      {"", "Compress", 2, 2, importCompress},
      {"", "Gather", 2, 2, importGather},
      {"", "Slice", 1, 5, importSlice},
      {"", "Split", 1, 2, importSplit},
  };
  return entries;
}

} // namespace mlc
