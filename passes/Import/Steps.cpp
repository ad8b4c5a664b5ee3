//===- Steps.cpp - Steps that handlers share ------------------------------===//

#include "dialects/Evaluator/SymbolicNumber.h"
#include "dialects/Graph/ModelOps.h"
#include "dialects/Graph/MovementOps.h"
#include "dialects/Graph/PointwiseOps.h"
#include "dialects/Graph/ReductionOps.h"
#include "passes/Import/Handlers.h"
#include "llvm/ADT/SetVector.h"
#include <cmath>

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::Twine;

namespace mlc {

/// Casts inputs of small floats to float32 for the handler, and its float32
/// outputs back to the inputs' type.
static LogicalResult importInSingle(const OperatorEntry &entry, Node &n) {
  Type single = n.builder().getF32Type(), small;
  std::vector<Tensor> wide;
  wide.reserve(n.inputs.size());
  for (Tensor *&input : n.inputs) {
    if (!input || !(input->elementType.isF16() || input->elementType.isBF16()))
      continue;
    small = input->elementType;
    Tensor tensor;
    tensor.dims = input->dims;
    tensor.elementType = single;
    tensor.value = n.cast(n.materialize(*input), single);
    if (!tensor.value)
      return failure();
    wide.push_back(std::move(tensor));
    input = &wide.back();
  }
  if (failed(entry.handler(n)))
    return failure();
  for (auto [i, output] : llvm::enumerate(n.outputs)) {
    // The mean and deviation of a layer norm, after its result, are float32.
    bool isStatistic = i > 0 && entry.name == "LayerNormalization";
    if (small && !isStatistic && output && output->elementType == single)
      if (failed(n.result(i, n.cast(n.materialize(*output), small))))
        return failure();
  }
  return success();
}

static bool isComposed(StringRef name) {
  static constexpr StringLiteral names[] = {
      "Celu",
      "Cosh",
      "Elu",
      "Gelu",
      "HardSigmoid", // its factors are always float32
      "HardSwish",
      "LeakyRelu",
      "Mean",
      "Mish",
      "Selu",
      "Shrink",
      "Sinh",
      "Softplus",
      "Softsign",
      "Swish",
      "Tan",
      "ReduceL1",
      "ReduceL2",
      "ReduceLogSum",
      "ReduceLogSumExp",
      "ReduceSumSquare",
      "GroupNormalization",
      "InstanceNormalization",
      "LayerNormalization",
      "LpNormalization",
      "MeanVarianceNormalization",
      "NegativeLogLikelihoodLoss",
      "RMSNormalization",
      "SoftmaxCrossEntropyLoss",
  };
  return llvm::is_contained(names, name);
}

const OperatorEntry *findOperator(StringRef domain, StringRef name) {
  for (ArrayRef<OperatorEntry> family :
       {pointwiseOperators(), activationOperators(), contractionOperators(),
        quantizationOperators(), convolutionOperators(), poolingOperators(),
        reductionOperators(), normalizationOperators(), movementOperators(),
        slicingOperators(), shapeOperators(), resizeOperators(),
        lossOperators(), optimizerOperators(), randomOperators(),
        scatteringOperators()})
    for (const OperatorEntry &entry : family)
      if (entry.name == name && entry.domain == domain)
        return &entry;
  return nullptr;
}

LogicalResult importWith(const OperatorEntry &entry, Node &node) {
  return isComposed(entry.name) ? importInSingle(entry, node)
                                : entry.handler(node);
}

Value Node::constant(ElementsAttr value) { return op<ConstantOp>(value); }

Value Node::scalarConstant(Type type, double value) {
  auto tensor = RankedTensorType::get({}, type);
  if (isa<FloatType>(type))
    return constant(
        DenseElementsAttr::get(tensor, builder().getFloatAttr(type, value)));
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || value != std::floor(value) ||
      std::abs(value) > double(int64_t(1) << 53)) {
    (void)invalid("uses a number that its tensors' type cannot hold");
    return {};
  }
  APInt bits(64, int64_t(value), /*isSigned=*/true);
  return constant(DenseElementsAttr::get(
      tensor, Attribute(IntegerAttr::get(
                  integer, bits.sextOrTrunc(integer.getWidth())))));
}

Value Node::reshape(Value value, ArrayRef<IntExpr> dims) {
  if (!value || ArrayRef<IntExpr>(dimsOf(value)) == dims)
    return value;
  // A constant can be reshaped directly.
  auto literal = value.getDefiningOp<ConstantOp>();
  DimsAttr target = DimsAttr::get(context(), dims);
  std::optional<SmallVector<int64_t>> shape = target.asConstants();
  if (literal && shape) {
    ElementsAttr elements = literal.getValue();
    if (countElements(*shape) == elements.getNumElements()) {
      Value result = constant(reshapeElements(elements, *shape));
      // The original has no other use if it was made for this node.
      return result;
    }
  }
  IntExpr before = getNumElements(context(), dimsOf(value));
  IntExpr after = getNumElements(context(), dims);
  IntExpr difference = before - after;
  if (difference.isConstant() && !difference.isConstant(0)) {
    (void)invalid("cannot reshape " + Twine(before.str()) + " elements to " +
                  after.str());
    return {};
  }
  return op<ReshapeOp>(value, target);
}

IntExpr Node::divided(IntExpr dim, IntExpr by, const Twine &message) {
  if (std::optional<IntExpr> exact = dim.exactDiv(by))
    return *exact;
  IntExpr quotient = dim.floorDiv(by);
  requireEqual(quotient * by, dim, message);
  return quotient;
}

Value Node::transpose(Value value, ArrayRef<int64_t> order) {
  bool isIdentity = true;
  for (auto [i, from] : llvm::enumerate(order))
    isIdentity &= int64_t(i) == from;
  return isIdentity ? value : op<TransposeOp>(value, order);
}

Value Node::cast(Value value, Type type) {
  if (!value || elementTypeOf(value) == type)
    return value;
  return op<CastOp>(value, type);
}

/// Whether `dim` is 1 and `other` is not for some sizes above 0. Tries a few
/// sizes; with many symbols only dims that are single symbols count.
static bool isOneBesideOther(IntExpr dim, IntExpr other) {
  llvm::SetVector<StringRef> symbols;
  for (IntExpr expr : {dim, other})
    expr.walkSymbols([&](StringRef symbol) { symbols.insert(symbol); });
  static constexpr int64_t largest[] = {1, 256, 16, 6, 4};
  if (symbols.size() >= std::size(largest))
    return dim.getKind() == IntExpr::Kind::Symbol ||
           dim.getKind() == IntExpr::Kind::Max;
  SmallVector<int64_t> sizes(symbols.size(), 1);
  auto valueOf = [&](StringRef symbol) -> std::optional<int64_t> {
    return sizes[llvm::find(symbols, symbol) - symbols.begin()];
  };
  auto next = [&] {
    for (int64_t &size : sizes) {
      if (++size <= largest[sizes.size()])
        return true;
      size = 1;
    }
    return false;
  };
  do {
    std::optional<int64_t> one = dim.evaluate(valueOf),
                           rest = other.evaluate(valueOf);
    if (one == 1 && rest && *rest >= 0 && *rest != 1)
      return true;
  } while (next());
  return false;
}

/// Whether `dim`, beside `other`, is broadcast if it is 1 at run time. That
/// costs every run, and models do not broadcast feature maps unless an operator
/// (`isMeant`) says so: windows give 1 only for the smallest inputs.
bool Node::yields(IntExpr dim, IntExpr other, bool isMeant) {
  std::optional<int64_t> low = dim.lowerBound(), high = dim.upperBound();
  if ((low && *low > 1) || (high && *high < 1))
    return false;
  if (other.isConstant())
    return true;
  bool isOwn = dim.getKind() == IntExpr::Kind::Symbol;
  if (!isMeant && (state.windowDims.contains(dim) ||
                   (!isOwn && state.windowDims.contains(other))))
    return false;
  return isOneBesideOther(dim, other);
}

/// The dim that ONNX broadcasts `a` and `b` to.
IntExpr Node::broadcastDim(IntExpr a, IntExpr b, bool isMeant) {
  if (a == b || b.isConstant(1))
    return a;
  if (a.isConstant(1))
    return b;
  bool aYields = yields(a, b, isMeant), bYields = yields(b, a, isMeant);
  if (!aYields && !bYields) {
    requireEqual(a, b, "tensors cannot be broadcast together");
    return b.isConstant() ? b : a;
  }
  if (!aYields || !bYields)
    return aYields ? b : a; // and `broadcast` checks the other
  // They are equal, or the smaller is 1. ONNX broadcasts 0 and 1 to 0: computed
  // if sizes above 0 can give 0, refused if only sizes of 0 do.
  IntExpr large = IntExpr::max(a, b), small = IntExpr::min(a, b);
  if (!isUsuallyNonNegative(small - 1))
    return large * IntExpr::min(small, integer(1)); // `broadcast` checks both
  requireEqual((large - small) * (small - 1), integer(0),
               "the dims " + Twine(a.str()) + " and " + b.str() +
                   " must be equal, or one be 1, to be broadcast");
  return large;
}

void Node::requireOneOr(IntExpr dim, IntExpr target) {
  if (dim.isConstant(1) || dim == target)
    return;
  requireEqual((target - dim) * (dim - 1), integer(0),
               "the dim " + Twine(dim.str()) + " must be 1 or " + target.str() +
                   " to be broadcast");
}

Dims Node::broadcastDims(ArrayRef<ArrayRef<IntExpr>> all, bool isMeant) {
  size_t rank = 0;
  for (ArrayRef<IntExpr> dims : all)
    rank = std::max(rank, dims.size());
  Dims result(rank, integer(1));
  for (ArrayRef<IntExpr> dims : all)
    for (size_t i = 0; i < dims.size(); ++i) {
      IntExpr &common = result[rank - dims.size() + i];
      common = broadcastDim(common, dims[i], isMeant);
    }
  return result;
}

Value Node::broadcast(Value value, ArrayRef<IntExpr> dims, bool isMeant) {
  if (!value || failed())
    return {};
  Dims from = dimsOf(value);
  if (from.size() > dims.size()) {
    (void)invalid("cannot broadcast rank " + Twine(from.size()) + " to rank " +
                  Twine(dims.size()));
    return {};
  }
  size_t added = dims.size() - from.size();
  Dims expanded(dims), missing(dims.size(), integer(0));
  for (size_t i = 0; i < dims.size(); ++i) {
    IntExpr dim = i < added ? integer(1) : from[i - added];
    if (dim.isConstant(1)) {
      expanded[i] = dim;
    } else if (dim != dims[i] && yields(dim, dims[i], isMeant)) {
      requireOneOr(dim, dims[i]);
      expanded[i] = dim;
      missing[i] = dims[i] - dim;
    } else {
      requireEqual(dim, dims[i], "tensors cannot be broadcast together");
    }
  }
  value = reshape(value, expanded);
  // A dim that turns out to be 1 is repeated by edge padding, because its last
  // element is its first.
  value =
      pad(value, Dims(dims.size(), integer(0)), missing, PadMode::Edge, 0.0);
  if (!value || ArrayRef<IntExpr>(dimsOf(value)) == dims)
    return value;
  return op<BroadcastOp>(value, dimsAttr(dims));
}

bool Node::broadcastTogether(llvm::MutableArrayRef<Value> values) {
  if (llvm::is_contained(values, Value()))
    return false;
  SmallVector<Dims> all;
  for (Value value : values)
    all.push_back(dimsOf(value));
  SmallVector<ArrayRef<IntExpr>> refs(all.begin(), all.end());
  Dims common = broadcastDims(refs);
  for (Value &value : values)
    value = broadcast(value, common);
  return true;
}

Value Node::compare(ComparePredicate predicate, Value a, Value b) {
  return pointwise<CompareOp>({a, b}, predicate);
}

Value Node::reduce(Reduction kind, Value value, ArrayRef<int64_t> axes) {
  if (axes.empty())
    return value;
  return op<ReduceOp>(value, kind, axes);
}

Value Node::pad(Value value, ArrayRef<IntExpr> low, ArrayRef<IntExpr> high,
                PadMode mode, double with) {
  auto isZero = [](IntExpr dim) { return dim.isConstant(0); };
  if (llvm::all_of(low, isZero) && llvm::all_of(high, isZero))
    return value;
  return op<PadOp>(value, dimsAttr(low), dimsAttr(high), mode, real(with));
}

Value Node::slice(Value value, ArrayRef<IntExpr> starts,
                  ArrayRef<IntExpr> sizes, ArrayRef<IntExpr> steps) {
  if (!value ||
      (ArrayRef<IntExpr>(dimsOf(value)) == sizes &&
       llvm::all_of(starts, [](IntExpr s) { return s.isConstant(0); })))
    return value;
  return op<SliceOp>(value, dimsAttr(starts), dimsAttr(sizes), dimsAttr(steps));
}

} // namespace mlc
