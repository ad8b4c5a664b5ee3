//===- Opaque.cpp - Operators without a definition ------------------------===//

#include "dialects/Graph/OpaqueOps.h"

using namespace mlir;
using namespace mlc;
using llvm::SmallVector;

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
