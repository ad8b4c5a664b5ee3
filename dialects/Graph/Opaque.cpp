//===- Opaque.cpp - Operators without a definition ------------------------===//

#include "dialects/Evaluator/Evaluator.h"
#include "dialects/Graph/OpaqueOps.h"
#include <cmath>
#include <cstring>
#include <numeric>

using namespace mlir;
using namespace mlc;
using llvm::ArrayRef;
using llvm::Expected;
using llvm::SmallVector;

//===----------------------------------------------------------------------===//
// top_k: types and kernel
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<Type>> TopKOp::inferOpaqueTypes() {
  auto type = getX().getType();
  std::optional<SmallVector<IntExpr>> dims = getDims(type);
  if (!dims)
    return emitOpError() << "requires an operand with named dims, got " << type;
  int64_t axis = getAxis();
  if (axis < 0 || axis >= type.getRank())
    return emitOpError() << "requires an axis in [0, " << type.getRank()
                         << "), got " << axis;
  if (!isa<FloatType, IntegerType>(type.getElementType()) ||
      type.getElementType().isInteger(1))
    return emitOpError() << "requires numbers, got " << type.getElementType();
  if (getK().isConstant() && getK().getConstant() < 0)
    return emitOpError() << "requires k that is not negative, got "
                         << getK().str();
  IntExpr slack = (*dims)[axis] - getK();
  if (slack.isConstant() && slack.getConstant() < 0)
    return emitOpError() << "requires k of at most " << (*dims)[axis].str()
                         << ", got " << getK().str();
  (*dims)[axis] = getK();
  return SmallVector<Type>{
      getTensorType(*dims, type.getElementType()),
      getTensorType(*dims, IntegerType::get(getContext(), 64))};
}

IntExpr TopKOp::countOperations() {
  // A heap of k takes about log2(k) steps per element; 8 is a rough estimate.
  return getNumElements(getContext(), *getDims(getX().getType())) * 8;
}

SmallVector<Requirement> TopKOp::getRequirements() {
  IntExpr extent = (*getDims(getX().getType()))[getAxis()];
  return {{getK(), ComparePredicate::LE, extent,
           "k is more than the elements along the axis"}};
}

StringRef TopKOp::getLibraryKernel() { return "topk"; }

SmallVector<IntExpr> TopKOp::getLibraryArguments() {
  return {IntExpr::constant(getContext(), getAxis()),
          IntExpr::constant(getContext(), getLargest())};
}

//===----------------------------------------------------------------------===//
// top_k: values
//===----------------------------------------------------------------------===//

/// -1, 0 or 1 for elements of a tensor with a total order (NaN is largest).
static int compareElements(const EvalTensor &x, int64_t a, int64_t b) {
  if (x.getStorage() < ElementStorage::F16) {
    int64_t left = x.getInt(a), right = x.getInt(b);
    if (x.getStorage() == ElementStorage::U64)
      return uint64_t(left) < uint64_t(right) ? -1 : left != right;
    return left < right ? -1 : left != right;
  }
  if (x.getStorage() == ElementStorage::Rational) {
    auto *data = static_cast<const Rational *>(x.getData());
    bool less = false, same = false;
    int64_t scale = x.isSplat() ? 0 : 1;
    (void)applyCompare(ComparePredicate::LT, data[a * scale], data[b * scale],
                       less);
    (void)applyCompare(ComparePredicate::EQ, data[a * scale], data[b * scale],
                       same);
    return less ? -1 : !same;
  }
  double left = x.getDouble(a), right = x.getDouble(b);
  if (std::isnan(left) || std::isnan(right))
    return int(std::isnan(left)) - int(std::isnan(right));
  return left < right ? -1 : left > right;
}

/// Sorted, equal elements by index.
static Expected<std::vector<EvalTensor>>
evaluateTopK(Operation *op, ArrayRef<EvalTensor> inputs,
             const EvalOptions &options) {
  auto top = cast<TopKOp>(op);
  if (inputs.size() != 1)
    return evalError(EvalFailure::Input, "topk of one tensor");
  if (options.domain == EvalDomain::Modular ||
      options.domain == EvalDomain::Interval)
    return evalError(EvalFailure::Unsupported, "topk needs an order");
  Expected<SmallVector<int64_t>> k =
      evaluateDims({top.getK()}, options.symbols);
  if (!k)
    return k.takeError();
  Expected<EvalTensor> x = inputs[0].expanded();
  if (!x)
    return x.takeError();
  int64_t axis = top.getAxis(), count = k->front();
  SmallVector<int64_t> dims(x->getDims());
  if (axis < 0 || axis >= x->getRank() || count < 0 || count > dims[axis])
    return evalError(EvalFailure::Requirement, "topk with k out of range");
  int64_t extent = dims[axis], inner = 1;
  for (int64_t d = axis + 1; d < x->getRank(); ++d)
    inner *= dims[d];
  dims[axis] = count;
  Expected<EvalTensor> values =
      EvalTensor::allocate(dims, x->getElementType(), options.domain);
  if (!values)
    return values.takeError();
  Expected<EvalTensor> indices = EvalTensor::allocate(
      dims, IntegerType::get(op->getContext(), 64), options.domain);
  if (!indices)
    return indices.takeError();
  unsigned size = bytesOf(x->getStorage());
  auto *from = static_cast<const char *>(x->getData());
  auto *to = static_cast<char *>(values->getMutableData());
  auto *places = static_cast<int64_t *>(indices->getMutableData());
  int64_t rows = extent ? x->getNumElements() / extent : 0;
  std::vector<int64_t> order(extent);
  for (int64_t row = 0; row < rows; ++row) {
    int64_t first = row / inner * extent * inner + row % inner;
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      int sign = compareElements(*x, first + a * inner, first + b * inner);
      return top.getLargest() ? sign > 0 : sign < 0;
    });
    for (int64_t j = 0; j < count; ++j) {
      int64_t out = row / inner * count * inner + j * inner + row % inner;
      memcpy(to + out * size, from + (first + order[j] * inner) * size, size);
      places[out] = order[j];
    }
  }
  return std::vector<EvalTensor>{std::move(*values), std::move(*indices)};
}

OpaqueEvaluator TopKOp::getEvaluator() { return evaluateTopK; }

//===----------------------------------------------------------------------===//
// top_k: ranks and gradients
//===----------------------------------------------------------------------===//

static FailureOr<TopKOp> createLike(TopKOp op, OpBuilder &builder, Value x,
                                    int64_t axis, IntExpr k) {
  return createOp<TopKOp>(builder, op.getLoc(), x, axis, k, op.getLargest(),
                          op.getSorted());
}

SmallVector<SharedDim> TopKOp::getSharedDims() {
  return getDimsBeside(*this, getAxis());
}

FailureOr<Operation *>
TopKOp::createStacked(OpBuilder &builder, ValueRange operands, unsigned count) {
  FailureOr<TopKOp> all =
      createLike(*this, builder, operands[0], getAxis() + count, getK());
  return failed(all) ? FailureOr<Operation *>(failure())
                     : FailureOr<Operation *>(*all);
}

/// The candidates per part; null if parts may have different numbers.
static IntExpr countCandidates(TopKOp op, const OpaqueSplit &split) {
  if ((split.least - op.getK()).isKnownNonNegative())
    return op.getK();
  return split.areEqual ? IntExpr::min(op.getK(), split.least) : IntExpr();
}

/// The first k of all are among the first k of each part.
SmallVector<Type> TopKOp::getCandidateTypes(const OpaqueSplit &split) {
  IntExpr count = countCandidates(*this, split);
  if (!count)
    return {};
  SmallVector<IntExpr> dims = *getDims(getX().getType());
  dims[getAxis()] = count;
  return {getTensorType(dims, getX().getType().getElementType()),
          getTensorType(dims, IntegerType::get(getContext(), 64))};
}

/// Their values, and their indices in the whole.
FailureOr<SmallVector<Value>> TopKOp::createCandidates(OpBuilder &builder,
                                                       ValueRange operands,
                                                       const OpaqueSplit &split,
                                                       EmitDefinition emit) {
  FailureOr<TopKOp> own = createLike(*this, builder, operands[0], getAxis(),
                                     countCandidates(*this, split));
  if (failed(own))
    return failure();
  TensorShape shape = shapeOf(own->getIndices());
  DefinitionBuilder b(getContext(), {shape});
  b.result(b.stage("y", shape.dims, shape.elementType, [&](ArrayRef<Expr> i) {
    return b.read(0, i) + mlc::cast(b.integer(split.begin), shape.elementType);
  }));
  FailureOr<Value> indices = emit(b.take(), own->getIndices());
  if (failed(indices))
    return failure();
  return SmallVector<Value>{own->getValues(), *indices};
}

/// Of equal candidates the lower index comes first, because the parts lie in
/// the order of the ranks.
FailureOr<SmallVector<Value>> TopKOp::chooseCandidates(OpBuilder &builder,
                                                       ValueRange candidates,
                                                       const OpaqueSplit &,
                                                       EmitDefinition emit) {
  Value values = candidates[0], indices = candidates[1];
  FailureOr<TopKOp> chosen =
      createLike(*this, builder, values, getAxis(), getK());
  if (failed(chosen))
    return failure();
  TensorShape all = shapeOf(indices), shape = shapeOf(chosen->getIndices());
  DefinitionBuilder b(getContext(), {all, shape});
  b.result(b.stage("y", shape.dims, shape.elementType, [&](ArrayRef<Expr> i) {
    SmallVector<Expr> at(i);
    at[getAxis()] = mlc::cast(b.read(1, i), IndexType::get(getContext()));
    return b.readOr(0, at, b.constantInt(shape.elementType, 0));
  }));
  FailureOr<Value> picked = emit(b.take(), {indices, chosen->getIndices()});
  if (failed(picked))
    return failure();
  return SmallVector<Value>{chosen->getValues(), *picked};
}

/// An element gets the cotangent of its position among the taken ones.
FailureOr<SmallVector<Value>>
TopKOp::createGradients(OpBuilder &, ArrayRef<Value> cotangents,
                        EmitDefinition emit) {
  Value cotangent = cotangents[0];
  if (!cotangent)
    return SmallVector<Value>();
  TensorShape all = shapeOf(getX()), taken = shapeOf(cotangent);
  TensorShape places = shapeOf(getIndices());
  unsigned axis = getAxis();
  DefinitionBuilder b(getContext(), {places, taken});
  b.result(b.stage("dx", all.dims, all.elementType, [&](ArrayRef<Expr> i) {
    return b.reduce(ReduceKind::Sum, {taken.dims[axis]}, [&](ArrayRef<Expr> k) {
      SmallVector<Expr> at(i);
      at[axis] = k[0];
      Expr isHere = compare(ComparePredicate::EQ, b.read(0, at),
                            mlc::cast(i[axis], places.elementType));
      return select(isHere, b.read(1, at), b.constant(all.elementType, 0));
    });
  }));
  FailureOr<Value> gradient = emit(b.take(), {getIndices(), cotangent});
  if (failed(gradient))
    return failure();
  return SmallVector<Value>{*gradient};
}
