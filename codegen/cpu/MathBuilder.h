//===- MathBuilder.h - Readable arithmetic on values ------------*- C++ -*-===//

#ifndef MLC_CODEGEN_CPU_MATHBUILDER_H
#define MLC_CODEGEN_CPU_MATHBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlc::cpu {

/// Builds arithmetic on values of one floating-point type, f32 or f64 or a
/// vector of it, and on integers of the same width and shape.
class MathBuilder {
public:
  using Value = mlir::Value;

  MathBuilder(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type)
      : b(builder), loc(loc), type(type),
        isF64(mlir::getElementTypeOrSelf(type).isF64()) {}

  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Type type;
  bool isF64;

  mlir::Type withElement(mlir::Type element) const {
    if (auto vector = mlir::dyn_cast<mlir::VectorType>(type))
      return mlir::VectorType::get(vector.getShape(), element);
    return element;
  }
  mlir::Type intType() const {
    return withElement(isF64 ? b.getI64Type() : b.getI32Type());
  }

  Value constant(double value) {
    return splat(type, b.getFloatAttr(mlir::getElementTypeOrSelf(type), value));
  }
  Value integer(int64_t value) {
    mlir::Type wide = intType();
    return splat(wide,
                 b.getIntegerAttr(mlir::getElementTypeOrSelf(wide), value));
  }
  Value infinity() { return constant(std::numeric_limits<double>::infinity()); }
  Value nan() { return constant(std::numeric_limits<double>::quiet_NaN()); }

  Value add(Value x, Value y) {
    return mlir::arith::AddFOp::create(b, loc, x, y);
  }
  Value sub(Value x, Value y) {
    return mlir::arith::SubFOp::create(b, loc, x, y);
  }
  Value mul(Value x, Value y) {
    return mlir::arith::MulFOp::create(b, loc, x, y);
  }
  Value div(Value x, Value y) {
    return mlir::arith::DivFOp::create(b, loc, x, y);
  }
  Value add(Value x, double y) { return add(x, constant(y)); }
  Value sub(Value x, double y) { return sub(x, constant(y)); }
  Value mul(Value x, double y) { return mul(x, constant(y)); }
  /// x * y + z, rounded once.
  Value fma(Value x, Value y, Value z) {
    return mlir::math::FmaOp::create(b, loc, x, y, z);
  }
  Value fma(Value x, double y, Value z) { return fma(x, constant(y), z); }
  Value abs(Value x) { return mlir::math::AbsFOp::create(b, loc, x); }
  Value neg(Value x) { return mlir::arith::NegFOp::create(b, loc, x); }
  Value copySign(Value magnitude, Value sign) {
    return mlir::math::CopySignOp::create(b, loc, magnitude, sign);
  }

  using Predicate = mlir::arith::CmpFPredicate;
  Value compare(Predicate predicate, Value x, Value y) {
    return mlir::arith::CmpFOp::create(b, loc, predicate, x, y);
  }
  Value compare(Predicate predicate, Value x, double y) {
    return compare(predicate, x, constant(y));
  }
  Value select(Value condition, Value x, Value y) {
    return mlir::arith::SelectOp::create(b, loc, condition, x, y);
  }
  /// x clamped to [low, high]; NaN stays.
  Value clamp(Value x, double low, double high) {
    x = select(compare(Predicate::OLT, x, low), constant(low), x);
    return select(compare(Predicate::OGT, x, high), constant(high), x);
  }

  /// `value`, or x if x is a zero, whose sign a sum would lose.
  Value keepZero(Value x, Value value) {
    return select(compare(Predicate::OEQ, x, 0.0), x, value);
  }

  Value bits(Value x) {
    return mlir::arith::BitcastOp::create(b, loc, intType(), x);
  }
  Value fromBits(Value x) {
    return mlir::arith::BitcastOp::create(b, loc, type, x);
  }
  template <typename Op> Value integerOp(Value x, Value y) {
    return Op::create(b, loc, x, y);
  }
  template <typename Op> Value integerOp(Value x, int64_t y) {
    return Op::create(b, loc, x, integer(y));
  }

  /// c[0] + c[1] x + ... by Horner's rule.
  Value polynomial(Value x, llvm::ArrayRef<double> c) {
    Value result = constant(c.back());
    for (double coefficient : llvm::reverse(c.drop_back()))
      result = fma(result, x, constant(coefficient));
    return result;
  }

private:
  Value splat(mlir::Type wanted, mlir::TypedAttr value) {
    if (auto vector = mlir::dyn_cast<mlir::VectorType>(wanted))
      value = mlir::DenseElementsAttr::get(vector, mlir::Attribute(value));
    return mlir::arith::ConstantOp::create(b, loc, value);
  }
};

} // namespace mlc::cpu

#endif // MLC_CODEGEN_CPU_MATHBUILDER_H
