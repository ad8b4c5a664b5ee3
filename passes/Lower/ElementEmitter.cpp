//===- ElementEmitter.cpp - Scalar expressions as arith and math ----------===//

#include "passes/Lower/ElementEmitter.h"
#include "dialects/Graph/RandomOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/Lower/ElementTypes.h"

using namespace mlir;

namespace mlc {

Value ElementEmitter::emit(const Expr &expr) {
  if (Value known = values.lookup(expr))
    return known;
  Value value = build(expr);
  values[expr] = value;
  return value;
}

static std::optional<int64_t> asConstant(const Expr &expr) {
  if (expr->kind != Expr::Kind::Int)
    return std::nullopt;
  return expr->integer.asConstant();
}

Value ElementEmitter::build(const Expr &expr) {
  const ExprNode &node = *expr;
  switch (node.kind) {
  case Expr::Kind::Loop:
    return linalg::IndexOp::create(b, loc, nest.position.at(node.loop));
  case Expr::Kind::Int:
    // Constants go into the body, which is cloned and fused as a whole.
    if (std::optional<int64_t> c = node.integer.asConstant())
      return arith::ConstantIndexOp::create(b, loc, *c);
    return sizes.get(node.integer);
  case Expr::Kind::Constant:
    return constant(node);
  case Expr::Kind::Read:
    return readElement(expr);
  case Expr::Kind::Unary:
    return unary(node, emit(node.operands[0]));
  case Expr::Kind::Binary: {
    Value lhs = emit(node.operands[0]);
    return binary(node, lhs, emit(node.operands[1]));
  }
  case Expr::Kind::Compare: {
    Value lhs = emit(node.operands[0]);
    return compare(node, lhs, emit(node.operands[1]));
  }
  case Expr::Kind::Select: {
    Value condition = emit(node.operands[0]);
    Value then = emit(node.operands[1]);
    return arith::SelectOp::create(b, loc, condition, then,
                                   emit(node.operands[2]));
  }
  case Expr::Kind::Cast:
    if (std::optional<int64_t> c = asConstant(node.operands[0]))
      return number(node.type, *c);
    return cast(emit(node.operands[0]), node.operands[0]->type, node.type);
  case Expr::Kind::Param:
  case Expr::Kind::Reduce:
    break;
  }
  llvm_unreachable("parameters occur in rules only, and reductions are taken "
                   "out before");
}

Value ElementEmitter::number(Type type, int64_t value) {
  type = lowerElementType(type);
  if (isa<FloatType>(type))
    return arith::ConstantOp::create(
        b, loc, b.getFloatAttr(type, static_cast<double>(value)));
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
}

Value ElementEmitter::constant(const ExprNode &node) {
  if (isa<FloatType>(node.type))
    return arith::ConstantOp::create(b, loc,
                                     b.getFloatAttr(node.type, node.number));
  return number(node.type, node.integerNumber);
}

Value ElementEmitter::unary(const ExprNode &node, Value a) {
  StringRef operation = factsOf(node.unary).operation;
  if (isa<FloatType>(node.type) && !operation.empty())
    return b.create(loc, b.getStringAttr(operation), a, a.getType())
        ->getResult(0);
  switch (node.unary) {
  case UnaryFn::Neg:
    return arith::SubIOp::create(b, loc, number(node.type, 0), a);
  case UnaryFn::Abs:
    if (node.type.isUnsignedInteger())
      return a;
    return math::AbsIOp::create(b, loc, a);
  case UnaryFn::Reciprocal:
    return arith::DivFOp::create(b, loc, number(node.type, 1), a);
  case UnaryFn::Not:
    return arith::XOrIOp::create(b, loc, a, number(node.type, 1));
  default:
    llvm_unreachable("a function of floats is one operation");
  }
}

Value ElementEmitter::floatBinary(BinaryFn fn, Value x, Value y) {
  switch (fn) {
  case BinaryFn::Add:
    return arith::AddFOp::create(b, loc, x, y);
  case BinaryFn::Sub:
    return arith::SubFOp::create(b, loc, x, y);
  case BinaryFn::Mul:
    return arith::MulFOp::create(b, loc, x, y);
  case BinaryFn::Div:
    return arith::DivFOp::create(b, loc, x, y);
  case BinaryFn::Min:
    return arith::MinimumFOp::create(b, loc, x, y);
  case BinaryFn::Max:
    return arith::MaximumFOp::create(b, loc, x, y);
  case BinaryFn::Pow:
    return math::PowFOp::create(b, loc, x, y);
  case BinaryFn::Mod:
    return arith::RemFOp::create(b, loc, x, y);
  default:
    llvm_unreachable("not a function of floats");
  }
}

/// The machine's division traps on a zero divisor and on the one quotient that
/// overflows. Neither has a defined result, but they must not crash the
/// process.
Value ElementEmitter::truncatingDivision(Type type, Value x, Value y) {
  Value zero = number(type, 0), one = number(type, 1);
  auto equal = arith::CmpIPredicate::eq;
  Value isZero = arith::CmpIOp::create(b, loc, equal, y, zero);
  if (type.isUnsignedInteger()) {
    Value safe = arith::SelectOp::create(b, loc, isZero, one, y);
    return arith::DivUIOp::create(b, loc, x, safe);
  }
  Value isMinusOne = arith::CmpIOp::create(b, loc, equal, y, number(type, -1));
  Value traps = arith::OrIOp::create(b, loc, isZero, isMinusOne);
  Value safe = arith::SelectOp::create(b, loc, traps, one, y);
  Value quotient = arith::DivSIOp::create(b, loc, x, safe);
  Value negated = arith::SubIOp::create(b, loc, zero, x);
  return arith::SelectOp::create(b, loc, isMinusOne, negated, quotient);
}

Value ElementEmitter::integerBinary(const ExprNode &node, Value x, Value y) {
  bool isUnsigned = node.type.isUnsignedInteger();
  switch (node.binary) {
  case BinaryFn::Add:
    return arith::AddIOp::create(b, loc, x, y);
  case BinaryFn::Sub:
    return arith::SubIOp::create(b, loc, x, y);
  case BinaryFn::Mul:
    return arith::MulIOp::create(b, loc, x, y);
  case BinaryFn::Div:
    if (const ExprNode &by = *node.operands[1];
        by.kind == Expr::Kind::Constant && by.integerNumber > 0)
      return isUnsigned ? Value(arith::DivUIOp::create(b, loc, x, y))
                        : Value(arith::DivSIOp::create(b, loc, x, y));
    return truncatingDivision(node.type, x, y);
  case BinaryFn::FloorDiv:
  case BinaryFn::Mod:
    return indexDivision(node, x, y);
  case BinaryFn::Min:
    if (isUnsigned)
      return arith::MinUIOp::create(b, loc, x, y);
    return arith::MinSIOp::create(b, loc, x, y);
  case BinaryFn::Max:
    if (isUnsigned)
      return arith::MaxUIOp::create(b, loc, x, y);
    return arith::MaxSIOp::create(b, loc, x, y);
  case BinaryFn::Pow:
    return math::IPowIOp::create(b, loc, x, y);
  case BinaryFn::And:
    return arith::AndIOp::create(b, loc, x, y);
  case BinaryFn::Or:
    return arith::OrIOp::create(b, loc, x, y);
  case BinaryFn::Xor:
    return arith::XOrIOp::create(b, loc, x, y);
  case BinaryFn::Threefry:
    return ThreefryOp::create(b, loc, x.getType(), x, y);
  }
  llvm_unreachable("unknown function");
}

/// Floor division by a positive number; plain division if the dividend is known
/// not to be negative.
Value ElementEmitter::indexDivision(const ExprNode &node, Value x, Value y) {
  std::optional<AffineIndex> dividend = getAffineIndex(node.operands[0], nest);
  bool plain = dividend && dividend->lowest().isKnownNonNegative();
  bool isDiv = node.binary == BinaryFn::FloorDiv;
  if (plain && isDiv)
    return arith::DivUIOp::create(b, loc, x, y);
  if (plain)
    return arith::RemUIOp::create(b, loc, x, y);
  Value quotient = arith::FloorDivSIOp::create(b, loc, x, y);
  if (isDiv)
    return quotient;
  Value multiple = arith::MulIOp::create(b, loc, quotient, y);
  return arith::SubIOp::create(b, loc, x, multiple);
}

Value ElementEmitter::binary(const ExprNode &node, Value x, Value y) {
  if (isa<FloatType>(node.type))
    return floatBinary(node.binary, x, y);
  return integerBinary(node, x, y);
}

static arith::CmpFPredicate floatPredicate(ComparePredicate predicate) {
  switch (predicate) {
  case ComparePredicate::EQ:
    return arith::CmpFPredicate::OEQ;
  case ComparePredicate::NE:
    return arith::CmpFPredicate::UNE;
  case ComparePredicate::LT:
    return arith::CmpFPredicate::OLT;
  case ComparePredicate::LE:
    return arith::CmpFPredicate::OLE;
  case ComparePredicate::GT:
    return arith::CmpFPredicate::OGT;
  case ComparePredicate::GE:
    return arith::CmpFPredicate::OGE;
  }
  llvm_unreachable("unknown predicate");
}

static arith::CmpIPredicate integerPredicate(ComparePredicate predicate,
                                             bool isUnsigned) {
  using P = arith::CmpIPredicate;
  switch (predicate) {
  case ComparePredicate::EQ:
    return P::eq;
  case ComparePredicate::NE:
    return P::ne;
  case ComparePredicate::LT:
    return isUnsigned ? P::ult : P::slt;
  case ComparePredicate::LE:
    return isUnsigned ? P::ule : P::sle;
  case ComparePredicate::GT:
    return isUnsigned ? P::ugt : P::sgt;
  case ComparePredicate::GE:
    return isUnsigned ? P::uge : P::sge;
  }
  llvm_unreachable("unknown predicate");
}

/// Bools order as 0 < 1, whatever the sign of a one-bit integer.
static bool comparesUnsigned(Type type) {
  return type.isUnsignedInteger() || type.isInteger(1);
}

Value ElementEmitter::compare(const ExprNode &node, Value x, Value y) {
  Type type = node.operands[0]->type;
  if (isa<FloatType>(type))
    return arith::CmpFOp::create(b, loc, floatPredicate(node.predicate), x, y);
  return arith::CmpIOp::create(
      b, loc, integerPredicate(node.predicate, comparesUnsigned(type)), x, y);
}

namespace {
bool isIndex(Type type) { return isa<IndexType>(type); }
} // namespace

/// Truncates and saturates at the ends of `to`; NaN becomes 0. arith's
/// conversions are undefined there, and machines differ.
Value ElementEmitter::toInteger(Value value, FloatType from, Type to) {
  bool isUnsigned = to.isUnsignedInteger();
  unsigned width = to.getIntOrFloatBitWidth();
  auto low = isUnsigned ? llvm::APInt::getZero(width)
                        : llvm::APInt::getSignedMinValue(width),
       high = isUnsigned ? llvm::APInt::getMaxValue(width)
                         : llvm::APInt::getSignedMaxValue(width);
  if (from.getWidth() < 32) {
    from = b.getF32Type();
    value = arith::ExtFOp::create(b, loc, from, value);
  }
  auto real = [&](double x) -> Value {
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(from, x));
  };
  auto whole = [&](const llvm::APInt &x) -> Value {
    return arith::ConstantOp::create(b, loc,
                                     b.getIntegerAttr(lowerElementType(to), x));
  };
  using P = arith::CmpFPredicate;
  auto compare = [&](P predicate, Value x, Value y) -> Value {
    return arith::CmpFOp::create(b, loc, predicate, x, y);
  };
  auto select = [&](Value condition, Value then, Value otherwise) -> Value {
    return arith::SelectOp::create(b, loc, condition, then, otherwise);
  };
  auto convert = [&](Value fitting) -> Value {
    if (isUnsigned)
      return arith::FPToUIOp::create(b, loc, lowerElementType(to), fitting);
    return arith::FPToSIOp::create(b, loc, lowerElementType(to), fitting);
  };
  Value least = real(low.roundToDouble(!isUnsigned)),
        most = real(high.roundToDouble(!isUnsigned));
  // Floats that hold both ends are clamped. NaN becomes the least value.
  if (width < from.getFPMantissaWidth()) {
    Value inside = select(compare(P::OGT, value, least), value, least);
    inside = select(compare(P::OLT, inside, most), inside, most);
    if (!isUnsigned)
      inside = select(compare(P::UNO, value, value), real(0), inside);
    return convert(inside);
  }
  // For other floats `most` is rounded up: the first number that does not fit.
  Value isHigh = compare(P::OGE, value, most),
        fits = arith::AndIOp::create(b, loc, compare(P::OGE, value, least),
                                     compare(P::OLT, value, most));
  Value result = convert(select(fits, value, real(0)));
  result = select(isHigh, whole(high), result);
  if (!isUnsigned)
    result = select(compare(P::OLT, value, least), whole(low), result);
  return result;
}

Value ElementEmitter::cast(Value value, Type from, Type to) {
  if (from == to)
    return value;
  Type i64 = b.getI64Type();
  if (isIndex(from))
    return cast(arith::IndexCastOp::create(b, loc, i64, value), i64, to);
  if (isIndex(to)) {
    Value wide = cast(value, from, i64);
    return arith::IndexCastOp::create(b, loc, to, wide);
  }
  Type lowered = lowerElementType(to);
  bool unsignedFrom = comparesUnsigned(from);
  bool fromFloat = isa<FloatType>(from), toFloat = isa<FloatType>(to);
  if (to.isInteger(1)) {
    Value zero = number(from, 0);
    if (fromFloat)
      return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, value,
                                   zero);
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value, zero);
  }
  if (fromFloat && toFloat) {
    unsigned fromBits = from.getIntOrFloatBitWidth();
    unsigned toBits = to.getIntOrFloatBitWidth();
    if (fromBits < toBits)
      return arith::ExtFOp::create(b, loc, lowered, value);
    if (fromBits > toBits)
      return arith::TruncFOp::create(b, loc, lowered, value);
    // float16 and bfloat16: neither holds the other.
    Value wide = arith::ExtFOp::create(b, loc, b.getF32Type(), value);
    return arith::TruncFOp::create(b, loc, lowered, wide);
  }
  if (fromFloat)
    return toInteger(value, mlir::cast<FloatType>(from), to);
  if (toFloat) {
    if (unsignedFrom)
      return arith::UIToFPOp::create(b, loc, lowered, value);
    return arith::SIToFPOp::create(b, loc, lowered, value);
  }
  unsigned fromBits = from.getIntOrFloatBitWidth();
  unsigned toBits = to.getIntOrFloatBitWidth();
  if (fromBits == toBits)
    return value;
  if (fromBits > toBits)
    return arith::TruncIOp::create(b, loc, lowered, value);
  if (unsignedFrom)
    return arith::ExtUIOp::create(b, loc, lowered, value);
  return arith::ExtSIOp::create(b, loc, lowered, value);
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

Value combine(OpBuilder &b, Location loc, ReduceKind kind, Type type, Value x,
              Value y) {
  bool isFloat = isa<FloatType>(type), isUnsigned = comparesUnsigned(type);
  switch (kind) {
  case ReduceKind::Sum:
    if (isFloat)
      return arith::AddFOp::create(b, loc, x, y);
    return arith::AddIOp::create(b, loc, x, y);
  case ReduceKind::Prod:
    if (isFloat)
      return arith::MulFOp::create(b, loc, x, y);
    return arith::MulIOp::create(b, loc, x, y);
  case ReduceKind::Max:
    if (isFloat)
      return arith::MaximumFOp::create(b, loc, x, y);
    if (isUnsigned)
      return arith::MaxUIOp::create(b, loc, x, y);
    return arith::MaxSIOp::create(b, loc, x, y);
  case ReduceKind::Min:
    if (isFloat)
      return arith::MinimumFOp::create(b, loc, x, y);
    if (isUnsigned)
      return arith::MinUIOp::create(b, loc, x, y);
    return arith::MinSIOp::create(b, loc, x, y);
  case ReduceKind::Any:
    return arith::OrIOp::create(b, loc, x, y);
  case ReduceKind::All:
    return arith::AndIOp::create(b, loc, x, y);
  }
  llvm_unreachable("unknown kind");
}

static APInt integerIdentity(ReduceKind kind, Type type) {
  unsigned width = type.getIntOrFloatBitWidth();
  bool isUnsigned = comparesUnsigned(type);
  switch (kind) {
  case ReduceKind::Prod:
    return APInt(width, 1);
  case ReduceKind::All:
    return APInt::getAllOnes(width);
  case ReduceKind::Max:
    return isUnsigned ? APInt::getZero(width) : APInt::getSignedMinValue(width);
  case ReduceKind::Min:
    return isUnsigned ? APInt::getMaxValue(width)
                      : APInt::getSignedMaxValue(width);
  case ReduceKind::Sum:
  case ReduceKind::Any:
    return APInt::getZero(width);
  }
  llvm_unreachable("unknown kind");
}

TypedAttr getIdentity(ReduceKind kind, Type type) {
  auto real = dyn_cast<FloatType>(type);
  if (!real)
    return IntegerAttr::get(lowerElementType(type),
                            integerIdentity(kind, type));
  const llvm::fltSemantics &semantics = real.getFloatSemantics();
  switch (kind) {
  case ReduceKind::Prod:
    return FloatAttr::get(type, llvm::APFloat::getOne(semantics));
  case ReduceKind::Max:
  case ReduceKind::Min:
    return FloatAttr::get(
        type, llvm::APFloat::getInf(semantics, kind == ReduceKind::Max));
  default:
    return FloatAttr::get(type, llvm::APFloat::getZero(semantics));
  }
}

} // namespace mlc
