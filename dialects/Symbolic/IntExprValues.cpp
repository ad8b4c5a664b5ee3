//===- IntExprValues.cpp - Values in place of symbols ---------------------===//

#include "dialects/Symbolic/IntExpr.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"

using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc {

using Kind = IntExpr::Kind;

std::optional<int64_t> IntExpr::evaluate(
    llvm::function_ref<std::optional<int64_t>(StringRef)> valueOf) const {
  if (isConstant())
    return getConstant();
  if (getKind() == Kind::Symbol)
    return valueOf(getSymbol());
  std::optional<int64_t> result;
  for (IntExpr operand : getOperands()) {
    std::optional<int64_t> value = operand.evaluate(valueOf);
    if (!value)
      return std::nullopt;
    if (!result) {
      result = value;
      continue;
    }
    int64_t a = *result, b = *value;
    bool overflow = false;
    switch (getKind()) {
    case Kind::Add:
      overflow = llvm::AddOverflow(a, b, *result);
      break;
    case Kind::Mul:
      overflow = llvm::MulOverflow(a, b, *result);
      break;
    case Kind::FloorDiv:
    case Kind::Mod:
      if (b <= 0)
        return std::nullopt;
      result = getKind() == Kind::Mod ? llvm::mod(a, b)
                                      : llvm::divideFloorSigned(a, b);
      break;
    case Kind::Min:
      result = std::min(a, b);
      break;
    case Kind::Max:
      result = std::max(a, b);
      break;
    case Kind::Constant:
    case Kind::Symbol:
      llvm_unreachable("handled above");
    }
    if (overflow)
      return std::nullopt;
  }
  return result;
}

IntExpr
IntExpr::substitute(llvm::function_ref<IntExpr(StringRef)> replacement) const {
  if (isConstant())
    return *this;
  if (getKind() == Kind::Symbol) {
    IntExpr value = replacement(getSymbol());
    return value ? value : *this;
  }
  SmallVector<IntExpr> operands;
  for (IntExpr operand : getOperands())
    operands.push_back(operand.substitute(replacement));
  IntExpr result = operands.front();
  for (IntExpr operand : ArrayRef(operands).drop_front()) {
    switch (getKind()) {
    case Kind::Add:
      result = result + operand;
      break;
    case Kind::Mul:
      result = result * operand;
      break;
    case Kind::FloorDiv:
      result = result.floorDiv(operand);
      break;
    case Kind::Mod:
      result = result.mod(operand);
      break;
    case Kind::Min:
      result = min(result, operand);
      break;
    case Kind::Max:
      result = max(result, operand);
      break;
    case Kind::Constant:
    case Kind::Symbol:
      llvm_unreachable("handled above");
    }
  }
  return result;
}

void IntExpr::walkSymbols(llvm::function_ref<void(StringRef)> callback) const {
  if (getKind() == Kind::Symbol)
    callback(getSymbol());
  for (IntExpr operand : getOperands())
    operand.walkSymbols(callback);
}

} // namespace mlc
