//===- Arithmetic.cpp - Symbolic dims as ONNX nodes -----------------------===//
//
// Every integer is an int64 tensor of one element; vectors are concatenations.
//
//===----------------------------------------------------------------------===//

#include "passes/Export/Exporter.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc {

std::string Exporter::shapeOfSymbol(StringRef symbol) {
  for (BlockArgument argument : main.getArguments())
    for (auto [d, dim] : llvm::enumerate(dimsOf(argument)))
      if (dim.getKind() == IntExpr::Kind::Symbol && dim.getSymbol() == symbol)
        return node(nullptr, "Shape", {nameOf(argument)})
            .set("start", int64_t(d))
            .set("end", int64_t(d) + 1)
            .output();
  fail(currentOp, "no input has the dim '" + symbol + "'");
  return "";
}

std::string Exporter::computeInteger(IntExpr value) {
  using Kind = IntExpr::Kind;
  if (value.isConstant())
    return integers({value.getConstant()});
  if (value.getKind() == Kind::Symbol)
    return shapeOfSymbol(value.getSymbol());
  ArrayRef<IntExpr> operands = value.getOperands();
  if (value.getKind() == Kind::FloorDiv) {
    // ONNX division truncates, and its Mod has the divisor's sign.
    std::string a = integer(operands[0]), b = integer(operands[1]);
    if (!operands[0].isKnownNonNegative()) {
      std::string rest = node(nullptr, "Mod", {a, b}).output();
      a = node(nullptr, "Sub", {a, rest}).output();
    }
    return node(nullptr, "Div", {a, b}).output();
  }
  StringRef op = value.getKind() == Kind::Add   ? "Add"
                 : value.getKind() == Kind::Mul ? "Mul"
                 : value.getKind() == Kind::Mod ? "Mod"
                 : value.getKind() == Kind::Min ? "Min"
                                                : "Max";
  std::string result = integer(operands.front());
  for (IntExpr operand : operands.drop_front())
    result = node(nullptr, op, {result, integer(operand)}).output();
  return result;
}

std::string Exporter::integer(IntExpr value) {
  if (auto found = integerNames.find(value); found != integerNames.end())
    return found->second;
  std::string name = computeInteger(value);
  integerNames[value] = name;
  return name;
}

std::string Exporter::vector(ArrayRef<IntExpr> values) {
  SmallVector<std::string> parts;
  for (size_t i = 0; i < values.size();) {
    SmallVector<int64_t> constants;
    for (; i < values.size() && values[i].isConstant(); ++i)
      constants.push_back(values[i].getConstant());
    if (!constants.empty())
      parts.push_back(integers(constants));
    if (i < values.size())
      parts.push_back(integer(values[i++]));
  }
  if (parts.empty())
    return integers({});
  if (parts.size() == 1)
    return parts.front();
  return node(nullptr, "Concat", parts).set("axis", int64_t(0)).output();
}

} // namespace mlc
