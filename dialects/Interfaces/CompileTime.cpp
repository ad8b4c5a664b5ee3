//===- CompileTime.cpp - What is known when a model is compiled -----------===//

#include "dialects/Interfaces/CompileTime.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

/// Chains that rules and layouts build on weights are shorter than this.
static constexpr unsigned maxDepth = 16;

static bool isKnown(Value value, unsigned depth) {
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return false;
  if (op->hasTrait<OpTrait::ConstantLike>())
    return true;
  if (!isMemoryEffectFree(op))
    return false;
  // A fill or a range of known size.
  if (op->getNumOperands() == 0)
    return cast<ShapedType>(value.getType()).hasStaticShape();
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    return isKnown(operand, depth - 1);
  });
}

bool mlc::isCompileTime(Value value) { return isKnown(value, maxDepth); }
