//===- PointwiseOps.cpp - Operators that no table defines -----------------===//

#include "dialects/Graph/PointwiseOps.h"

using namespace mlir;
using namespace mlc;
using llvm::ArrayRef;

static Type elementType(Operation *op, unsigned i) {
  return cast<RankedTensorType>(op->getOperand(i).getType()).getElementType();
}

LogicalResult CompareOp::checkOperands() {
  return checkPointwise(*this, ElementClass::Any);
}

void CompareOp::define(DefinitionBuilder &b) {
  ComparePredicate predicate = getPredicate();
  definePointwise(
      b, 2, [&](ArrayRef<Expr> x) { return compare(predicate, x[0], x[1]); });
}

LogicalResult SelectOp::checkOperands() {
  if (failed(checkSameRank(*this)))
    return failure();
  if (!elementType(*this, 0).isInteger(1))
    return emitOpError() << "requires a condition of i1, got "
                         << elementType(*this, 0);
  if (elementType(*this, 1) != elementType(*this, 2))
    return emitOpError() << "requires both choices of one element type, got "
                         << elementType(*this, 1) << " and "
                         << elementType(*this, 2);
  return success();
}

void SelectOp::define(DefinitionBuilder &b) {
  definePointwise(
      b, 3, [&](ArrayRef<Expr> x) { return mlc::select(x[0], x[1], x[2]); });
}

LogicalResult CastOp::checkOperands() {
  if (!isa<FloatType, IntegerType>(getTo()))
    return emitOpError() << "requires a float or integer type, got " << getTo();
  return success();
}

void CastOp::define(DefinitionBuilder &b) {
  definePointwise(b, 1, [&](ArrayRef<Expr> x) {
    if (getTo().isInteger(1) && !x[0]->type.isInteger(1))
      return compare(ComparePredicate::NE, x[0], b.constant(x[0]->type, 0));
    return mlc::cast(x[0], getTo());
  });
}
