//===- Pointwise.cpp - Definitions of element-wise operators --------------===//

#include "dialects/Graph/Pointwise.h"
#include "dialects/Graph/PointwiseOps.h"
#include "llvm/ADT/StringSwitch.h"
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

static LogicalResult checkSameRank(Operation *op) {
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
  if (!operandType(*this, 0).getElementType().isInteger(1))
    return emitOpError() << "requires a condition of i1, got "
                         << operandType(*this, 0).getElementType();
  if (operandType(*this, 1).getElementType() !=
      operandType(*this, 2).getElementType())
    return emitOpError() << "requires both choices of one element type, got "
                         << operandType(*this, 1).getElementType() << " and "
                         << operandType(*this, 2).getElementType();
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
