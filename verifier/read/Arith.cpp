//===- Arith.cpp - Floats, comparisons and conversions --------------------===//

#include "verifier/read/Arith.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using llvm::ArrayRef;

namespace mlc::verifier {

bool isScalarType(Type type) {
  if (type.isF16() || type.isBF16() || type.isF32() || type.isF64())
    return true;
  return isa<IndexType>(type) ||
         (type.isSignlessInteger() &&
          llvm::is_contained({1u, 8u, 16u, 32u, 64u},
                             type.getIntOrFloatBitWidth()));
}

Expr numberOf(Type type, Attribute value) {
  ExprNode node(Expr::Kind::Constant, type);
  if (auto number = dyn_cast<FloatAttr>(value))
    node.number = number.getValueAsDouble();
  else if (type.isInteger(1))
    node.integerNumber = cast<IntegerAttr>(value).getValue().getZExtValue();
  else
    node.integerNumber = cast<IntegerAttr>(value).getValue().getSExtValue();
  return Expr(std::make_shared<const ExprNode>(std::move(node)));
}

bool hasPromises(Operation *op) {
  return llvm::any_of(op->getAttrDictionary(), [](NamedAttribute attribute) {
    Attribute value = attribute.getValue();
    if (auto flags = dyn_cast<arith::FastMathFlagsAttr>(value))
      return flags.getValue() != arith::FastMathFlags::none;
    if (auto flags = dyn_cast<arith::IntegerOverflowFlagsAttr>(value))
      return flags.getValue() != arith::IntegerOverflowFlags::none;
    // The enumeration attribute is stored as an i32.
    if (attribute.getName() == "roundingmode")
      return value !=
             arith::RoundingModeAttr::get(value.getContext(),
                                          arith::RoundingMode::to_nearest_even);
    return isa<UnitAttr>(value); // exact, nneg
  });
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

static Expr negation(Expr truth) { return unary(UnaryFn::Not, truth); }

static Expr isNaN(Expr x) { return compare(ComparePredicate::NE, x, x); }

static Expr comparedFloats(arith::CmpFPredicate predicate, Expr a, Expr b) {
  using P = arith::CmpFPredicate;
  auto with = [&](ComparePredicate p) { return compare(p, a, b); };
  Expr unordered = binary(BinaryFn::Or, isNaN(a), isNaN(b));
  switch (predicate) {
  case P::OEQ:
    return with(ComparePredicate::EQ);
  case P::OGT:
    return with(ComparePredicate::GT);
  case P::OGE:
    return with(ComparePredicate::GE);
  case P::OLT:
    return with(ComparePredicate::LT);
  case P::OLE:
    return with(ComparePredicate::LE);
  case P::UNE:
    return with(ComparePredicate::NE);
  case P::UGT:
    return negation(with(ComparePredicate::LE));
  case P::UGE:
    return negation(with(ComparePredicate::LT));
  case P::ULT:
    return negation(with(ComparePredicate::GE));
  case P::ULE:
    return negation(with(ComparePredicate::GT));
  case P::UEQ:
    return binary(BinaryFn::Or, unordered, with(ComparePredicate::EQ));
  case P::ONE:
    return binary(BinaryFn::And, negation(unordered),
                  with(ComparePredicate::NE));
  case P::ORD:
    return negation(unordered);
  case P::UNO:
    return unordered;
  case P::AlwaysFalse:
  case P::AlwaysTrue:
    return Expr(); // folds to a constant
  }
  llvm_unreachable("unknown predicate");
}

static Expr comparedIntegers(arith::CmpIPredicate predicate, Expr a, Expr b) {
  using P = arith::CmpIPredicate;
  bool isSigned = false;
  ComparePredicate p = ComparePredicate::EQ;
  switch (predicate) {
  case P::eq:
    return compare(ComparePredicate::EQ, a, b);
  case P::ne:
    return compare(ComparePredicate::NE, a, b);
  case P::slt:
    isSigned = true;
    [[fallthrough]];
  case P::ult:
    p = ComparePredicate::LT;
    break;
  case P::sle:
    isSigned = true;
    [[fallthrough]];
  case P::ule:
    p = ComparePredicate::LE;
    break;
  case P::sgt:
    isSigned = true;
    [[fallthrough]];
  case P::ugt:
    p = ComparePredicate::GT;
    break;
  case P::sge:
    isSigned = true;
    [[fallthrough]];
  case P::uge:
    p = ComparePredicate::GE;
    break;
  }
  // Truth values are 0 and 1 here, and 0 and -1 as signed numbers.
  if (a->type.isInteger(1))
    return isSigned ? compare(p, b, a) : compare(p, a, b);
  return isSigned ? compare(p, a, b) : compare(p, asUnsigned(a), asUnsigned(b));
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

static Expr zeroOf(Type type) {
  Builder builder(type.getContext());
  return numberOf(type, builder.getZeroAttr(type));
}

/// The number of a type that a signed true converts to.
static Expr minusOne(Type type) {
  if (isa<FloatType>(type))
    return numberOf(type, FloatAttr::get(type, -1.0));
  return numberOf(type, IntegerAttr::get(type, -1));
}

static Expr lowestBit(Expr x) {
  Expr one = numberOf(x->type, IntegerAttr::get(x->type, 1));
  return compare(ComparePredicate::NE, binary(BinaryFn::And, x, one),
                 zeroOf(x->type));
}

Expr convertedElement(Operation *op, Expr x) {
  Type from = x->type, to = op->getResult(0).getType();
  bool fromBool = from.isInteger(1), toBool = to.isInteger(1);
  auto isSigned = [&] {
    return fromBool ? select(x, minusOne(to), zeroOf(to)) : cast(x, to);
  };
  auto isUnsigned = [&] { return cast(fromBool ? x : asUnsigned(x), to); };
  return llvm::TypeSwitch<Operation *, Expr>(op)
      .Case<arith::ExtFOp, arith::TruncFOp>([&](auto) { return cast(x, to); })
      .Case<arith::ExtSIOp, arith::SIToFPOp>([&](auto) { return isSigned(); })
      .Case<arith::ExtUIOp, arith::UIToFPOp>([&](auto) { return isUnsigned(); })
      .Case(
          [&](arith::TruncIOp) { return toBool ? lowestBit(x) : cast(x, to); })
      .Case([&](arith::IndexCastOp) {
        return toBool ? lowestBit(x) : isSigned();
      })
      .Case([&](arith::IndexCastUIOp) {
        if (toBool)
          return lowestBit(x);
        return isa<IndexType>(to) ? isUnsigned() : cast(x, to);
      })
      .Case([&](arith::FPToSIOp) { return toBool ? Expr() : cast(x, to); })
      .Case([&](arith::FPToUIOp) {
        if (toBool)
          return Expr();
        auto integer =
            IntegerType::get(op->getContext(), to.getIntOrFloatBitWidth(),
                             IntegerType::Unsigned);
        return cast(cast(x, integer), to);
      })
      .Default([](Operation *) { return Expr(); });
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

/// Returns the other operand if one is NaN.
static Expr ofNumbers(BinaryFn fn, Expr a, Expr b) {
  return select(isNaN(a), b, select(isNaN(b), a, binary(fn, a, b)));
}

static Expr floatElement(Operation *op, ArrayRef<Expr> x) {
  if (std::optional<UnaryFn> fn =
          unaryOfOperation(op->getName().getStringRef()))
    return unary(*fn, x[0]);
  auto two = [&](BinaryFn fn) { return binary(fn, x[0], x[1]); };
  return llvm::TypeSwitch<Operation *, Expr>(op)
      .Case([&](arith::AddFOp) { return two(BinaryFn::Add); })
      .Case([&](arith::SubFOp) { return two(BinaryFn::Sub); })
      .Case([&](arith::MulFOp) { return two(BinaryFn::Mul); })
      .Case([&](arith::DivFOp) { return two(BinaryFn::Div); })
      .Case([&](arith::MaximumFOp) { return two(BinaryFn::Max); })
      .Case([&](arith::MinimumFOp) { return two(BinaryFn::Min); })
      .Case([&](arith::MaxNumFOp) {
        return ofNumbers(BinaryFn::Max, x[0], x[1]);
      })
      .Case([&](arith::MinNumFOp) {
        return ofNumbers(BinaryFn::Min, x[0], x[1]);
      })
      .Case([&](math::RsqrtOp) {
        return unary(UnaryFn::Reciprocal, unary(UnaryFn::Sqrt, x[0]));
      })
      .Case([&](math::PowFOp) { return two(BinaryFn::Pow); })
      .Case([&](math::FmaOp) { return x[0] * x[1] + x[2]; })
      .Default([](Operation *) { return Expr(); });
}

Expr elementOf(Operation *op, ArrayRef<Expr> operands) {
  bool isScalar = op->getNumResults() == 1 &&
                  isScalarType(op->getResult(0).getType()) &&
                  llvm::all_of(op->getOperandTypes(), isScalarType);
  if (!isScalar || hasPromises(op))
    return Expr();
  if (auto number = dyn_cast<arith::ConstantOp>(op))
    return numberOf(number.getType(), number.getValue());
  if (auto choice = dyn_cast<arith::SelectOp>(op))
    return mlc::select(operands[0], operands[1], operands[2]);
  if (auto o = dyn_cast<arith::CmpFOp>(op))
    return comparedFloats(o.getPredicate(), operands[0], operands[1]);
  if (auto o = dyn_cast<arith::CmpIOp>(op))
    return comparedIntegers(o.getPredicate(), operands[0], operands[1]);
  if (operands.size() == 1)
    if (Expr converted = convertedElement(op, operands[0]))
      return converted;
  return isa<FloatType>(op->getResult(0).getType())
             ? floatElement(op, operands)
             : integerElement(op, operands);
}

} // namespace mlc::verifier
