//===- Compute.cpp - The operator with an inline definition ---------------===//

#include "dialects/Definition/DefinitionText.h"
#include "dialects/Graph/ComputeOps.h"

using namespace mlir;
using namespace mlc;
using llvm::SmallVector;

static llvm::Error parseText(ComputeOp op, DefinitionBuilder &builder) {
  SmallVector<RealAttr> reals;
  for (Attribute real : op.getReals())
    reals.push_back(cast<RealAttr>(real));
  return parseDefinition(
      op.getDefinition(),
      {op.getIntegers().getDims(), reals, op.getDims().getDims(), op.getType()},
      builder);
}

LogicalResult ComputeOp::checkOperands() {
  if (!isa<FloatType, IntegerType>(getType()))
    return emitOpError() << "requires a float or integer type, got "
                         << getType();
  for (Attribute real : getReals())
    if (!isa<RealAttr>(real))
      return emitOpError() << "requires a list of #mlc.real, got " << real;
  for (IntExpr dim : getDims())
    if (dim.isConstant() && dim.getConstant() < 0)
      return emitOpError() << "requires dims that are not negative, got "
                           << dim.str();
  SmallVector<TensorShape> inputs;
  for (Value operand : getOperands()) {
    auto type = cast<RankedTensorType>(operand.getType());
    inputs.push_back({*mlc::getDims(type), type.getElementType()});
  }
  DefinitionBuilder scratch(getContext(), inputs);
  if (llvm::Error error = parseText(*this, scratch))
    return emitOpError() << "definition " << llvm::toString(std::move(error));
  return success();
}

void ComputeOp::define(DefinitionBuilder &b) {
  llvm::cantFail(parseText(*this, b), "checkOperands has parsed this text");
}
