//===- ArithInteger.cpp - Arithmetic on integers --------------------------===//

#include "dialects/Graph/RandomOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "verifier/read/Arith.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using llvm::ArrayRef;

namespace mlc::verifier {

static unsigned widthOf(Type type) {
  return isa<IndexType>(type) ? 64 : type.getIntOrFloatBitWidth();
}

Expr asUnsigned(Expr x) {
  return cast(x, IntegerType::get(x->type.getContext(), widthOf(x->type),
                                  IntegerType::Unsigned));
}

/// A number of the type of `like`.
static Expr number(Expr like, int64_t value) {
  ExprNode node(Expr::Kind::Constant, like->type);
  node.integerNumber = value;
  if (isa<IndexType>(like->type)) {
    node.kind = Expr::Kind::Int;
    node.integer = IntExpr::constant(like->type.getContext(), value);
  }
  return Expr(std::make_shared<const ExprNode>(std::move(node)));
}

static std::optional<int64_t> asNumber(Expr x) {
  if (x->kind == Expr::Kind::Constant)
    return x->integerNumber;
  if (x->kind == Expr::Kind::Int)
    return x->integer.asConstant();
  std::optional<int64_t> inner;
  if (x->kind == Expr::Kind::Cast && !isa<FloatType>(x->operands[0]->type))
    inner = asNumber(x->operands[0]);
  return inner ? std::optional(llvm::SignExtend64(*inner, widthOf(x->type)))
               : std::nullopt;
}

static int64_t leastOf(Type type) {
  return static_cast<int64_t>(uint64_t(1) << 63) >> (64 - widthOf(type));
}

/// The divisor, or 0 if the quotient overflows the type. Indices stay far from
/// the limits of their type.
static Expr divisorOf(Expr x, Expr y) {
  std::optional<int64_t> known = asNumber(y);
  if ((known && *known != -1) || isa<IndexType>(x->type))
    return y;
  Expr overflows =
      compare(ComparePredicate::EQ, x, number(x, leastOf(x->type)));
  if (!known)
    overflows = binary(BinaryFn::And, overflows,
                       compare(ComparePredicate::EQ, y, number(y, -1)));
  return select(overflows, number(y, 0), y);
}

/// Whether a definition can divide with rounding down: only indices, by
/// divisors that are not negative.
static bool canRoundDown(Expr by) {
  if (!isa<IndexType>(by->type) || by->kind == Expr::Kind::Loop)
    return true;
  return by->kind == Expr::Kind::Int && by->integer.isKnownNonNegative();
}

/// Rounded up: one more than rounded down if there is a remainder.
static Expr roundedUp(Expr quotient, Expr x, Expr y) {
  Expr isExact = compare(ComparePredicate::EQ, quotient * y, x);
  return quotient + select(isExact, number(x, 0), number(x, 1));
}

static Expr restOf(Expr x, Expr y) {
  return x - binary(BinaryFn::Div, x, y) * y;
}

/// Shifts by a number that is less than the width.
static Expr shifted(Operation *op, Expr x, Expr by) {
  std::optional<int64_t> amount = asNumber(by);
  int64_t last = widthOf(x->type) - 1;
  if (!amount || *amount < 0 || *amount > last || isa<IndexType>(x->type))
    return Expr();
  // 2^(w-1) is the least number.
  auto power = [&](Expr like) {
    bool isLast = *amount == last && !like->type.isUnsignedInteger();
    return number(like, isLast ? leastOf(x->type)
                               : static_cast<int64_t>(uint64_t(1) << *amount));
  };
  if (isa<arith::ShLIOp>(op))
    return x * power(x);
  if (isa<arith::ShRUIOp>(op))
    return cast(binary(BinaryFn::Div, asUnsigned(x), power(asUnsigned(x))),
                x->type);
  if (*amount < last)
    return binary(BinaryFn::FloorDiv, x, power(x));
  return select(compare(ComparePredicate::LT, x, number(x, 0)), number(x, -1),
                number(x, 0));
}

/// On truth values, where true is -1 as a signed number.
static Expr booleanElement(Operation *op, ArrayRef<Expr> x) {
  std::optional<BinaryFn> fn =
      llvm::TypeSwitch<Operation *, std::optional<BinaryFn>>(op)
          .Case<arith::AddIOp, arith::SubIOp, arith::XOrIOp>(
              [](auto) { return BinaryFn::Xor; })
          .Case<arith::MulIOp, arith::AndIOp, arith::MaxSIOp, arith::MinUIOp>(
              [](auto) { return BinaryFn::And; })
          .Case<arith::OrIOp, arith::MinSIOp, arith::MaxUIOp>(
              [](auto) { return BinaryFn::Or; })
          .Default([](Operation *) { return std::nullopt; });
  return fn ? binary(*fn, x[0], x[1]) : Expr();
}

Expr integerElement(Operation *op, ArrayRef<Expr> x) {
  Type type = op->getResult(0).getType();
  if (isa<math::AbsIOp>(op))
    return type.isInteger(1) ? x[0] : unary(UnaryFn::Abs, x[0]);
  if (x.size() != 2)
    return Expr();
  if (type.isInteger(1))
    return booleanElement(op, x);
  auto two = [&](BinaryFn fn) { return binary(fn, x[0], x[1]); };
  auto onUnsigned = [&](BinaryFn fn) {
    return cast(binary(fn, asUnsigned(x[0]), asUnsigned(x[1])), type);
  };
  return llvm::TypeSwitch<Operation *, Expr>(op)
      .Case([&](arith::AddIOp) { return two(BinaryFn::Add); })
      .Case([&](arith::SubIOp) { return two(BinaryFn::Sub); })
      .Case([&](arith::MulIOp) { return two(BinaryFn::Mul); })
      .Case([&](arith::AndIOp) { return two(BinaryFn::And); })
      .Case([&](arith::OrIOp) { return two(BinaryFn::Or); })
      .Case([&](arith::XOrIOp) { return two(BinaryFn::Xor); })
      .Case([&](arith::MaxSIOp) { return two(BinaryFn::Max); })
      .Case([&](arith::MinSIOp) { return two(BinaryFn::Min); })
      .Case([&](arith::MaxUIOp) { return onUnsigned(BinaryFn::Max); })
      .Case([&](arith::MinUIOp) { return onUnsigned(BinaryFn::Min); })
      .Case([&](arith::DivSIOp) {
        return binary(BinaryFn::Div, x[0], divisorOf(x[0], x[1]));
      })
      .Case([&](arith::DivUIOp) { return onUnsigned(BinaryFn::Div); })
      .Case([&](ThreefryOp) { return two(BinaryFn::Threefry); })
      .Case([&](arith::FloorDivSIOp) {
        if (!canRoundDown(x[1]))
          return Expr();
        return binary(BinaryFn::FloorDiv, x[0], divisorOf(x[0], x[1]));
      })
      .Case([&](arith::CeilDivSIOp) {
        if (!canRoundDown(x[1]))
          return Expr();
        Expr by = divisorOf(x[0], x[1]);
        return roundedUp(binary(BinaryFn::FloorDiv, x[0], by), x[0], by);
      })
      .Case([&](arith::CeilDivUIOp) {
        Expr a = asUnsigned(x[0]), b = asUnsigned(x[1]);
        return cast(roundedUp(binary(BinaryFn::Div, a, b), a, b), type);
      })
      .Case([&](arith::RemUIOp) {
        return cast(restOf(asUnsigned(x[0]), asUnsigned(x[1])), type);
      })
      .Case([&](arith::RemSIOp) {
        // It is open whether the remainder of an overflowing division is
        // defined.
        std::optional<int64_t> by = asNumber(x[1]);
        return by && *by != -1 ? restOf(x[0], x[1]) : Expr();
      })
      .Case<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(
          [&](auto) { return shifted(op, x[0], x[1]); })
      .Default([](Operation *) { return Expr(); });
}

} // namespace mlc::verifier
