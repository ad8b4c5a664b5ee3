//===- Scatter.cpp - Slices added where indices say -----------------------===//

#include "dialects/Graph/MovementOps.h"

using namespace mlir;
using namespace mlc;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

LogicalResult ScatterAddOp::checkOperands() {
  RankedTensorType x = getX().getType(), indices = getIndices().getType(),
                   updates = getUpdates().getType();
  int64_t axis = getAxis();
  if (axis < 0 || axis >= x.getRank())
    return emitOpError() << "requires an axis in [0, " << x.getRank()
                         << "), got " << axis;
  if (!isa<IntegerType>(indices.getElementType()) ||
      indices.getElementType().isInteger(1))
    return emitOpError() << "requires integer indices, got "
                         << indices.getElementType();
  if (!isa<FloatType, IntegerType>(x.getElementType()) ||
      x.getElementType().isInteger(1))
    return emitOpError() << "requires numbers, got " << x.getElementType();
  if (updates.getElementType() != x.getElementType() ||
      updates.getRank() != x.getRank() - 1 + indices.getRank())
    return emitOpError() << "requires updates of rank "
                         << x.getRank() - 1 + indices.getRank() << " and "
                         << x.getElementType() << ", got " << updates;
  if (getReduction() == Reduction::Mean)
    return emitOpError() << "has no reduction mean";
  for (IntExpr place : {getBeginAttr(), getWholeAttr()})
    if (place && place.isConstant() && place.getConstant() < 0)
      return emitOpError() << "requires begin and whole that are not negative, "
                              "got "
                           << place.str();
  return success();
}

static std::pair<ReduceKind, BinaryFn> combinerOf(Reduction kind) {
  switch (kind) {
  case Reduction::Prod:
    return {ReduceKind::Prod, BinaryFn::Mul};
  case Reduction::Max:
    return {ReduceKind::Max, BinaryFn::Max};
  case Reduction::Min:
    return {ReduceKind::Min, BinaryFn::Min};
  default:
    return {ReduceKind::Sum, BinaryFn::Add};
  }
}

void ScatterAddOp::define(DefinitionBuilder &b) {
  unsigned axis = getAxis(), count = b.rank(1);
  ArrayRef<IntExpr> x = b.dims(0), picks = b.dims(1), updates = b.dims(2);
  SmallVector<IntExpr> expected(x.take_front(axis));
  llvm::append_range(expected, picks);
  llvm::append_range(expected, x.drop_front(axis + 1));
  for (auto [have, want] : llvm::zip_equal(updates, expected))
    b.require(have, ComparePredicate::EQ, want,
              "updates must have the indices' dims in place of the axis");
  Type type = b.elementType(0), index = IndexType::get(b.getContext());
  IntExpr begin = getBeginAttr(),
          whole = getWholeAttr() ? getWholeAttr() : x[axis];
  auto [reduce, function] = combinerOf(getReduction().value_or(Reduction::Sum));
  b.result(b.stage("y", x, type, [&](ArrayRef<Expr> i) {
    Expr row = begin ? i[axis] + begin : i[axis];
    // The neutral element; for min and max, the element itself.
    Expr neutral = reduce == ReduceKind::Sum    ? b.constant(type, 0)
                   : reduce == ReduceKind::Prod ? b.constant(type, 1)
                                                : b.read(0, i);
    auto added = [&](ArrayRef<Expr> j) {
      Expr picked = mlc::cast(b.read(1, j), index);
      Expr fromEnd = picked + b.integer(whole);
      Expr place = mlc::select(
          compare(ComparePredicate::LT, picked, b.index(0)), fromEnd, picked);
      SmallVector<Expr> at(i.take_front(axis));
      llvm::append_range(at, j);
      llvm::append_range(at, i.drop_front(axis + 1));
      return mlc::select(compare(ComparePredicate::EQ, place, row),
                         b.read(2, at), neutral);
    };
    return binary(function, b.read(0, i),
                  count ? b.reduce(reduce, picks, added) : added({}));
  }));
}

FailureOr<SmallVector<Type>> ScatterAddOp::inferOpaqueTypes() {
  FailureOr<Definition> definition = getDefinition(*this);
  if (failed(definition))
    return failure();
  return SmallVector<Type>{getTensorType(*mlc::getDims(getX().getType()),
                                         getX().getType().getElementType())};
}

IntExpr ScatterAddOp::countOperations() {
  return getNumElements(getContext(), *mlc::getDims(getX().getType())) +
         getNumElements(getContext(), *mlc::getDims(getUpdates().getType()));
}

SmallVector<Requirement> ScatterAddOp::getRequirements() {
  FailureOr<Definition> definition = getDefinition(*this);
  return failed(definition) ? SmallVector<Requirement>()
                            : std::move(definition->requirements);
}

StringRef ScatterAddOp::getLibraryKernel() {
  switch (getReduction().value_or(Reduction::Sum)) {
  case Reduction::Prod:
    return "scatter_mul";
  case Reduction::Max:
    return "scatter_max";
  case Reduction::Min:
    return "scatter_min";
  default:
    return "scatter_add";
  }
}

SmallVector<IntExpr> ScatterAddOp::getLibraryArguments() {
  IntExpr begin = getBeginAttr(), whole = getWholeAttr();
  return {IntExpr::constant(getContext(), getAxis()),
          begin ? begin : IntExpr::constant(getContext(), 0),
          whole ? whole : (*mlc::getDims(getX().getType()))[getAxis()]};
}

/// A scatter-add to a part of a table, with indices of the whole, which its
/// kernels support.
std::optional<NamedAttrList> ScatterAddOp::getAttributesOfPart(unsigned operand,
                                                               unsigned dim,
                                                               IntExpr begin) {
  if (operand != 0 || dim != getAxis())
    return std::nullopt;
  NamedAttrList attributes((*this)->getAttrs());
  IntExpr own = getBeginAttr();
  attributes.set(getBeginAttrName(), own ? own + begin : begin);
  if (!getWholeAttr())
    attributes.set(getWholeAttrName(),
                   (*mlc::getDims(getX().getType()))[getAxis()]);
  return attributes;
}

/// Sums of a whole table only; what follows from the definition reads all
/// updates for each element.
FailureOr<SmallVector<Value>>
ScatterAddOp::createGradients(OpBuilder &builder, ArrayRef<Value> cotangents,
                              EmitDefinition) {
  if (!cotangents[0] || getBeginAttr() || getWholeAttr() ||
      getReduction().value_or(Reduction::Sum) != Reduction::Sum)
    return SmallVector<Value>();
  FailureOr<GatherOp> picked = createOp<GatherOp>(
      builder, getLoc(), cotangents[0], getIndices(), getAxis());
  if (failed(picked))
    return failure();
  return SmallVector<Value>{cotangents[0], Value(), picked->getResult()};
}
