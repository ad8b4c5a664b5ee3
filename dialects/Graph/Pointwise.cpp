//===- Pointwise.cpp - Definitions of element-wise operators --------------===//

#include "dialects/Graph/Pointwise.h"
#include <cmath>

using namespace mlir;
using namespace mlc;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

static bool isIn(Type type, ElementClass elements) {
  bool isBool = type.isInteger(1);
  switch (elements) {
  case ElementClass::Any:
    return true;
  case ElementClass::Number:
    return isa<FloatType>(type) || (isa<IntegerType>(type) && !isBool);
  case ElementClass::Float:
    return isa<FloatType>(type);
  case ElementClass::Integer:
    return isa<IntegerType>(type) && !isBool;
  case ElementClass::Bool:
    return isBool;
  }
  llvm_unreachable("unknown element class");
}

static StringRef text(ElementClass elements) {
  static constexpr const char *names[] = {"elements", "numbers", "floats",
                                          "integers", "bools"};
  return names[static_cast<unsigned>(elements)];
}

static RankedTensorType operandType(Operation *op, unsigned i) {
  return cast<RankedTensorType>(op->getOperand(i).getType());
}

LogicalResult mlc::checkSameRank(Operation *op) {
  for (unsigned i = 1; i < op->getNumOperands(); ++i)
    if (operandType(op, i).getRank() != operandType(op, 0).getRank())
      return op->emitOpError()
             << "requires operands of one rank, got "
             << operandType(op, 0).getRank() << " and "
             << operandType(op, i).getRank() << " - insert mlc.broadcast";
  return success();
}

LogicalResult mlc::checkPointwise(Operation *op, ElementClass elements) {
  if (failed(checkSameRank(op)))
    return failure();
  Type type = operandType(op, 0).getElementType();
  if (!isIn(type, elements))
    return op->emitOpError()
           << "requires " << text(elements) << ", got " << type;
  for (unsigned i = 1; i < op->getNumOperands(); ++i)
    if (operandType(op, i).getElementType() != type)
      return op->emitOpError()
             << "requires operands of one element type, got " << type << " and "
             << operandType(op, i).getElementType() << " - insert mlc.cast";
  return success();
}

void mlc::definePointwise(DefinitionBuilder &b, unsigned numOperands,
                          llvm::function_ref<Expr(ArrayRef<Expr>)> body) {
  for (unsigned i = 1; i < numOperands; ++i)
    for (auto [d, dim] : llvm::enumerate(b.dims(i)))
      b.require(b.dims(0)[d], ComparePredicate::EQ, dim,
                "dim " + llvm::Twine(d) + " of all operands must be equal");
  auto element = [&](ArrayRef<Expr> loops) {
    SmallVector<Expr> elements;
    for (unsigned i = 0; i < numOperands; ++i)
      elements.push_back(b.read(i, loops));
    return body(elements);
  };
  // The element type is the body's: a comparison of floats is a bool.
  SmallVector<Expr> origin(b.rank(0), b.index(0));
  Type type = element(origin)->type;
  b.result(b.stage("y", b.dims(0), type, element));
}

Expr mlc::defineClip(DefinitionBuilder &b, Expr x, RealAttr low,
                     RealAttr high) {
  Type type = x->type;
  if (low.isSymbol() || std::isfinite(low.getDouble()))
    x = binary(BinaryFn::Max, x, b.real(type, low));
  if (high.isSymbol() || std::isfinite(high.getDouble()))
    x = binary(BinaryFn::Min, x, b.real(type, high));
  return x;
}

Expr mlc::defineMod(DefinitionBuilder &b, Expr x, Expr y) {
  Expr zero = b.constantInt(x->type, 0);
  Expr rest = x - (x / y) * y;
  Expr signsDiffer =
      binary(BinaryFn::Xor, compare(ComparePredicate::LT, rest, zero),
             compare(ComparePredicate::LT, y, zero));
  Expr wrong = binary(BinaryFn::And, compare(ComparePredicate::NE, rest, zero),
                      signsDiffer);
  return select(wrong, rest + y, rest);
}
