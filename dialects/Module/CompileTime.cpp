//===- CompileTime.cpp - Values known at compile time ---------------------===//

#include "dialects/Module/CompileTime.h"
#include "dialects/Evaluator/EvaluatorTensor.h"
#include "dialects/Symbolic/Attributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <cmath>

using namespace mlir;
using namespace mlc;

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

static bool hasNoNumber(const EvalTensor &tensor) {
  int64_t count = tensor.isSplat()
                      ? std::min<int64_t>(tensor.getNumElements(), 1)
                      : tensor.getNumElements();
  if (tensor.getElementType().isF32()) { // weights, of which there are many
    const auto *elements = static_cast<const float *>(tensor.getData());
    bool found = false;
    for (int64_t i = 0; i < count; ++i) // without a branch, to vectorize
      found |= !(elements[i] - elements[i] == 0.0f);
    return found;
  }
  for (int64_t i = 0; i < count; ++i)
    if (!std::isfinite(tensor.getDouble(i)))
      return true;
  return false;
}

bool mlc::writesNoNumber(Operation *op) {
  if (op->getNumOperands() != 0)
    return false;
  return llvm::any_of(op->getAttrs(), [](NamedAttribute attribute) {
    if (auto real = dyn_cast<RealAttr>(attribute.getValue()))
      return !real.isSymbol() && !std::isfinite(real.getDouble());
    auto elements = dyn_cast<ElementsAttr>(attribute.getValue());
    if (!elements || !isa<FloatType>(elements.getElementType()))
      return false;
    llvm::Expected<EvalTensor> tensor = EvalTensor::fromAttr(elements);
    if (tensor)
      return hasNoNumber(*tensor);
    llvm::consumeError(tensor.takeError());
    return true;
  });
}
