//===- Slicing.cpp - ONNX's operators that pick parts ---------------------===//

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

/// Ends far outside mean "to the end" in every exporter.
constexpr int64_t farAway = 100'000'000;

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
  } else if (std::optional<int64_t> upper = at.upperBound();
             upper && *upper <= 0) {
    // Minus a size. Of size 0 it would be the first position; to say so would
    // leave sizes that nothing can be compared with.
    if (*upper == 0)
      n.requireNonNegative(-at - 1, "a slice's bound that counts from the end "
                                    "must not be 0");
    at = at + dim;
  } else if (!at.isKnownNonNegative()) {
    n.requireNonNegative(at, "a slice's bound must not be negative");
  }
  return IntExpr::max(low, IntExpr::min(at, high));
}

/// to - from, a maximum in `from` taken apart.
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
    (void)n.unsupported("steps must be constant and not 0");
    return false;
  }
  IntExpr dim = n.dims(0)[d], zero = n.integer(0);
  bool backwards = step.getConstant() < 0;
  // Going backwards, positions run from dim - 1 down, and -1 is past the end.
  // A start before the first element is the first one either way: so ONNX and
  // ONNX Runtime have it, where numpy takes nothing. (Of no elements, -1 is.)
  IntExpr low = backwards ? n.integer(-1) : zero;
  IntExpr high = backwards ? dim - 1 : dim;
  std::optional<IntExpr> from = position(
      n, start, dim, backwards ? IntExpr::min(zero, high) : zero, high);
  std::optional<IntExpr> to = position(n, end, dim, low, high);
  if (!from || !to)
    return false;
  // dim - max(0, dim - k) is min(dim, k): sizes read well where they can.
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

/// Known elements of a vector stay known.
static LogicalResult sliced(Node &n, unsigned output, const Box &box) {
  Tensor &x = n.in(0);
  bool isFixed = x.rank() == 1 && x.numbers && box.starts[0].isConstant() &&
                 box.sizes[0].isConstant() && box.steps[0].isConstant();
  if (!isFixed)
    return n.result(output,
                    n.slice(n.value(0), box.starts, box.sizes, box.steps));
  Tensor result;
  result.dims = box.sizes;
  result.elementType = x.elementType;
  result.numbers.emplace();
  for (int64_t i = 0; i < box.sizes[0].getConstant(); ++i) {
    int64_t at = box.starts[0].getConstant() + i * box.steps[0].getConstant();
    if (at < 0 || at >= int64_t(x.numbers->size()))
      return n.invalid("the slice leaves the tensor");
    result.numbers->push_back((*x.numbers)[at]);
  }
  return n.result(output, std::move(result));
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
  return n.failed() ? failure() : sliced(n, 0, box);
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
  // Since opset 18 the last part may be smaller; before, parts are equal.
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
    // Parts are checked as a whole below, before any is used.
    IntExpr rest = dim - start;
    if (rest.isConstant() && rest.getConstant() < 0)
      return n.invalid("the parts are larger than the dim");
    if (n.failed() || (n.wants(i) && failed(sliced(n, i, box))))
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
  // One known index is a slice without that dim.
  Tensor &indices = n.in(1);
  if (indices.numbers && indices.numbers->size() == 1 && indices.rank() == 0) {
    std::optional<int64_t> index = indices.numbers->front().asConstant();
    if (index) {
      IntExpr at = *index < 0 ? dim + *index : n.integer(*index);
      n.requireNonNegative(at, "an index must lie inside the tensor");
      n.requireNonNegative(dim - 1 - at, "an index must lie inside the tensor");
      if (n.failed())
        return failure();
      Box box = wholeBox(n);
      box.starts[axis] = at;
      box.sizes[axis] = n.integer(1);
      Dims dims(n.dims(0));
      dims.erase(dims.begin() + axis);
      return n.result(n.reshape(
          n.slice(n.value(0), box.starts, box.sizes, box.steps), dims));
    }
  }
  useAsIndices(n, n.value(1), 1, dim, IndexKind::AlsoFromEnd);
  return n.result(n.op<GatherOp>({n.value(0), n.value(1)}, axis));
}

ArrayRef<OperatorEntry> slicingOperators() {
  static const OperatorEntry entries[] = {
      {"", "Gather", 2, 2, importGather},
      {"", "Slice", 1, 5, importSlice},
      {"", "Split", 1, 2, importSplit},
  };
  return entries;
}

} // namespace mlc
