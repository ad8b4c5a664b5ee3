//===- Random.cpp - Definitions of random numbers -------------------------===//

#include "dialects/Graph/RandomOps.h"
#include <cmath>

using namespace mlir;
using namespace mlc;
using llvm::ArrayRef;

LogicalResult RandomUniformOp::checkOperands() {
  auto step = getStep().getType();
  if (step.getRank() != 0 || !step.getElementType().isUnsignedInteger(64))
    return emitOpError() << "requires a scalar step of ui64, got " << step;
  if (!isa<FloatType>(getType()))
    return emitOpError() << "requires a float type, got " << getType();
  for (IntExpr dim : getDims())
    if (dim.isConstant() && dim.getConstant() < 0)
      return emitOpError() << "requires dims that are not negative, got "
                           << dim.str();
  return success();
}

void RandomUniformOp::define(DefinitionBuilder &b) {
  MLIRContext *context = b.getContext();
  Type word = IntegerType::get(context, 64);
  Type natural = IntegerType::get(context, 64, IntegerType::Unsigned);
  auto type = cast<FloatType>(getType());
  // As many bits as the type's significand: they and their quotient are exact.
  unsigned digits = type.getFPMantissaWidth();
  Type whole = IntegerType::get(context, digits < 32 ? 32 : 64);
  ArrayRef<IntExpr> dims = getDims().getDims();
  b.result(b.stage("y", dims, type, [&](ArrayRef<Expr> i) {
    // Keys of successive steps are far apart, even if seeds are close.
    Expr key = b.constantInt(word, getSeed()) +
               mlc::cast(b.read(0, {}), word) *
                   b.constantInt(word, 0x9E3779B97F4A7C15);
    Expr place = b.index(0);
    for (auto [dim, loop] : llvm::zip(dims, i))
      place = place * dim + loop;
    Expr bits = binary(BinaryFn::Threefry, key, mlc::cast(place, word));
    Expr top = mlc::cast(bits, natural) /
               b.constantInt(natural, int64_t(1) << (64 - digits));
    return mlc::cast(mlc::cast(top, whole), type) *
           b.constant(type, std::ldexp(1.0, -int(digits)));
  }));
}
