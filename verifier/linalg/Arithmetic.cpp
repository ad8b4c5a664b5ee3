//===- Arithmetic.cpp - Integers modulo 2^w and real numbers --------------===//
//
// Integers are signless: operations decide how to read them, and true is -1 as
// a signed number. A float is an interval around a real number, so there are no
// NaN or infinities: a result without a real value is no number.
//
//===----------------------------------------------------------------------===//

#include "dialects/Definition/Threefry.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "verifier/linalg/Scalars.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using llvm::APInt;
using llvm::ArrayRef;

namespace mlc::interpret {

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

using IntegerFn = APInt (*)(const APInt &, const APInt &);

static ScalarFn total(IntegerFn fn) {
  return [fn](ArrayRef<Scalar> x) {
    return Scalar::of(fn(x[0].integer, x[1].integer));
  };
}

/// Indices do not wrap.
static ScalarFn indexFunction(Operation *op, Run &run) {
  using Overflow = APInt (APInt::*)(const APInt &, bool &) const;
  auto fn = llvm::TypeSwitch<Operation *, Overflow>(op)
                .Case([](arith::AddIOp) { return &APInt::sadd_ov; })
                .Case([](arith::SubIOp) { return &APInt::ssub_ov; })
                .Case([](arith::MulIOp) { return &APInt::smul_ov; })
                .Default([](Operation *) { return nullptr; });
  if (!fn)
    return nullptr;
  return [fn, &run](ArrayRef<Scalar> x) {
    bool overflows = false;
    APInt result = (x[0].integer.*fn)(x[1].integer, overflows);
    if (overflows)
      run.open("an index is beyond 64 bits");
    return Scalar::of(result);
  };
}

/// A quotient or remainder; signed ones may overflow.
static ScalarFn quotient(IntegerFn fn, bool isSigned, bool isRest, Run &run) {
  return [=, &run](ArrayRef<Scalar> x) {
    const APInt &a = x[0].integer, &b = x[1].integer;
    bool overflows = isSigned && a.isMinSignedValue() && b.isAllOnes();
    if (b.isZero() || (overflows && !isRest)) {
      run.undefined(b.isZero() ? "an integer is divided by 0"
                               : "a quotient overflows");
      return Scalar();
    }
    // It is open whether the remainder of an overflowing division is defined.
    if (overflows) {
      run.open("a rest that may be undefined");
      return Scalar();
    }
    return Scalar::of(fn(a, b));
  };
}

static ScalarFn division(Operation *op, Run &run) {
  auto make = [&](IntegerFn fn, bool isSigned, bool isRest = false) {
    return quotient(fn, isSigned, isRest, run);
  };
  using Rounding = APInt::Rounding;
  return llvm::TypeSwitch<Operation *, ScalarFn>(op)
      .Case([&](arith::DivSIOp) {
        return make([](const APInt &a, const APInt &b) { return a.sdiv(b); },
                    true);
      })
      .Case([&](arith::DivUIOp) {
        return make([](const APInt &a, const APInt &b) { return a.udiv(b); },
                    false);
      })
      .Case([&](arith::FloorDivSIOp) {
        return make(
            [](const APInt &a, const APInt &b) {
              return llvm::APIntOps::RoundingSDiv(a, b, Rounding::DOWN);
            },
            true);
      })
      .Case([&](arith::CeilDivSIOp) {
        return make(
            [](const APInt &a, const APInt &b) {
              return llvm::APIntOps::RoundingSDiv(a, b, Rounding::UP);
            },
            true);
      })
      .Case([&](arith::CeilDivUIOp) {
        return make(
            [](const APInt &a, const APInt &b) {
              return llvm::APIntOps::RoundingUDiv(a, b, Rounding::UP);
            },
            false);
      })
      .Case([&](arith::RemSIOp) {
        return make([](const APInt &a, const APInt &b) { return a.srem(b); },
                    true, true);
      })
      .Case([&](arith::RemUIOp) {
        return make([](const APInt &a, const APInt &b) { return a.urem(b); },
                    false, true);
      })
      .Default([](Operation *) { return nullptr; });
}

static ScalarFn shift(Operation *op) {
  auto make = [](IntegerFn fn) {
    return [fn](ArrayRef<Scalar> x) {
      const APInt &by = x[1].integer;
      return by.ult(by.getBitWidth()) ? Scalar::of(fn(x[0].integer, by))
                                      : Scalar::none(Undefined::NoMeaning);
    };
  };
  return llvm::TypeSwitch<Operation *, ScalarFn>(op)
      .Case([&](arith::ShLIOp) {
        return make([](const APInt &a, const APInt &b) { return a.shl(b); });
      })
      .Case([&](arith::ShRUIOp) {
        return make([](const APInt &a, const APInt &b) { return a.lshr(b); });
      })
      .Case([&](arith::ShRSIOp) {
        return make([](const APInt &a, const APInt &b) { return a.ashr(b); });
      })
      .Default([](Operation *) { return nullptr; });
}

ScalarFn integerFunction(Operation *op, Run &run) {
  if (auto comparison = dyn_cast<arith::CmpIOp>(op))
    return [predicate = comparison.getPredicate()](ArrayRef<Scalar> x) {
      bool holds =
          arith::applyCmpPredicate(predicate, x[0].integer, x[1].integer);
      return Scalar::of(APInt(1, holds));
    };
  if (isa<math::AbsIOp>(op))
    return [](ArrayRef<Scalar> x) { return Scalar::of(x[0].integer.abs()); };
  if (isa<IndexType>(op->getResult(0).getType()))
    if (ScalarFn fn = indexFunction(op, run))
      return fn;
  if (ScalarFn fn = division(op, run))
    return fn;
  if (ScalarFn fn = shift(op))
    return fn;
  using A = const APInt &;
  if (op->getName().getStringRef() == "mlc.threefry")
    return total([](A a, A b) {
      return APInt(64, threefry(a.getZExtValue(), b.getZExtValue()));
    });
  return llvm::TypeSwitch<Operation *, ScalarFn>(op)
      .Case([](arith::AddIOp) { return total([](A a, A b) { return a + b; }); })
      .Case([](arith::SubIOp) { return total([](A a, A b) { return a - b; }); })
      .Case([](arith::MulIOp) { return total([](A a, A b) { return a * b; }); })
      .Case([](arith::AndIOp) { return total([](A a, A b) { return a & b; }); })
      .Case([](arith::OrIOp) { return total([](A a, A b) { return a | b; }); })
      .Case([](arith::XOrIOp) { return total([](A a, A b) { return a ^ b; }); })
      .Case([](arith::MaxSIOp) {
        return total([](A a, A b) { return a.sgt(b) ? a : b; });
      })
      .Case([](arith::MinSIOp) {
        return total([](A a, A b) { return a.slt(b) ? a : b; });
      })
      .Case([](arith::MaxUIOp) {
        return total([](A a, A b) { return a.ugt(b) ? a : b; });
      })
      .Case([](arith::MinUIOp) {
        return total([](A a, A b) { return a.ult(b) ? a : b; });
      })
      .Default([](Operation *) { return nullptr; });
}

//===----------------------------------------------------------------------===//
// Reals
//===----------------------------------------------------------------------===//

static Scalar valueOr(Undefined why, Interval value) {
  return why == Undefined::None ? Scalar::of(value) : Scalar::none(why);
}

static Scalar apply(UnaryFn fn, Interval a) {
  Interval out{0.0, 0.0};
  Undefined why = applyUnary(fn, a, out);
  return valueOr(why, out);
}

static Scalar apply(BinaryFn fn, Interval a, Interval b) {
  Interval out{0.0, 0.0};
  Undefined why = applyBinary(fn, a, b, out);
  return valueOr(why, out);
}

static std::optional<UnaryFn> functionOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<UnaryFn>>(op)
      .Case([](arith::NegFOp) { return UnaryFn::Neg; })
      .Case([](math::AbsFOp) { return UnaryFn::Abs; })
      .Case([](math::ExpOp) { return UnaryFn::Exp; })
      .Case([](math::LogOp) { return UnaryFn::Log; })
      .Case([](math::SqrtOp) { return UnaryFn::Sqrt; })
      .Case([](math::TanhOp) { return UnaryFn::Tanh; })
      .Case([](math::ErfOp) { return UnaryFn::Erf; })
      .Case([](math::SinOp) { return UnaryFn::Sin; })
      .Case([](math::CosOp) { return UnaryFn::Cos; })
      .Case([](math::FloorOp) { return UnaryFn::Floor; })
      .Case([](math::CeilOp) { return UnaryFn::Ceil; })
      .Case([](math::RoundEvenOp) { return UnaryFn::RoundEven; })
      .Default([](Operation *) { return std::nullopt; });
}

static std::optional<BinaryFn> functionOfTwo(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<BinaryFn>>(op)
      .Case([](arith::AddFOp) { return BinaryFn::Add; })
      .Case([](arith::SubFOp) { return BinaryFn::Sub; })
      .Case([](arith::MulFOp) { return BinaryFn::Mul; })
      .Case([](arith::DivFOp) { return BinaryFn::Div; })
      .Case<arith::MaximumFOp, arith::MaxNumFOp>(
          [](auto) { return BinaryFn::Max; })
      .Case<arith::MinimumFOp, arith::MinNumFOp>(
          [](auto) { return BinaryFn::Min; })
      .Case([](math::PowFOp) { return BinaryFn::Pow; })
      .Default([](Operation *) { return std::nullopt; });
}

/// A comparison of numbers; null if it only tests for NaN.
static ScalarFn comparison(arith::CmpFPredicate predicate) {
  using P = arith::CmpFPredicate;
  auto with = [](ComparePredicate p) -> ScalarFn {
    return [p](ArrayRef<Scalar> x) {
      bool holds = false;
      Undefined why = applyCompare(p, x[0].real, x[1].real, holds);
      return why == Undefined::None ? Scalar::of(APInt(1, holds))
                                    : Scalar::none(why);
    };
  };
  auto always = [](bool holds) -> ScalarFn {
    return [holds](ArrayRef<Scalar>) { return Scalar::of(APInt(1, holds)); };
  };
  switch (predicate) {
  case P::OEQ:
  case P::UEQ:
    return with(ComparePredicate::EQ);
  case P::ONE:
  case P::UNE:
    return with(ComparePredicate::NE);
  case P::OLT:
  case P::ULT:
    return with(ComparePredicate::LT);
  case P::OLE:
  case P::ULE:
    return with(ComparePredicate::LE);
  case P::OGT:
  case P::UGT:
    return with(ComparePredicate::GT);
  case P::OGE:
  case P::UGE:
    return with(ComparePredicate::GE);
  case P::ORD:
  case P::AlwaysTrue:
    return always(true);
  case P::UNO:
  case P::AlwaysFalse:
    return always(false);
  }
  llvm_unreachable("unknown predicate");
}

ScalarFn floatFunction(Operation *op, Run &) {
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return comparison(compare.getPredicate());
  if (std::optional<UnaryFn> fn = functionOf(op))
    return [fn = *fn](ArrayRef<Scalar> x) { return apply(fn, x[0].real); };
  if (std::optional<BinaryFn> fn = functionOfTwo(op))
    return [fn = *fn](ArrayRef<Scalar> x) {
      return apply(fn, x[0].real, x[1].real);
    };
  if (isa<math::RsqrtOp>(op))
    return [](ArrayRef<Scalar> x) {
      Scalar root = apply(UnaryFn::Sqrt, x[0].real);
      return root.isNumber()
                 ? apply(BinaryFn::Div, Interval{1.0, 1.0}, root.real)
                 : root;
    };
  if (isa<math::FmaOp>(op))
    return [](ArrayRef<Scalar> x) {
      Scalar product = apply(BinaryFn::Mul, x[0].real, x[1].real);
      return product.isNumber() ? apply(BinaryFn::Add, product.real, x[2].real)
                                : product;
    };
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

static Scalar realOf(const APInt &value, bool isSigned) {
  __int128 number = isSigned ? __int128(value.getSExtValue())
                             : __int128(value.getZExtValue());
  Interval out{0.0, 0.0};
  Undefined why = fromInt(number, out);
  return valueOr(why, out);
}

/// Rounds to a float type; a number out of its range has no value.
static Scalar rounded(Type to, Interval real) {
  Interval ends{roundToType(to, real.low), roundToType(to, real.high)};
  bool isLowBeyond = std::isfinite(real.low) && !std::isfinite(ends.low),
       isHighBeyond = std::isfinite(real.high) && !std::isfinite(ends.high);
  if (isLowBeyond || isHighBeyond)
    return Scalar::none(isLowBeyond && isHighBeyond ? Undefined::OutOfType
                                                    : Undefined::Ambiguous);
  return Scalar::of(ends);
}

/// Integers are rounded only to float types of 16 bits, which hold the fewest
/// of them; proofs ignore rounding to wider ones.
static Scalar realOf(const APInt &value, bool isSigned, Type to) {
  Scalar real = realOf(value, isSigned);
  bool isShort = to.getIntOrFloatBitWidth() <= 16;
  return real.isNumber() && isShort ? rounded(to, real.real) : real;
}

/// Truncates; a value that the type cannot hold is poison.
static Scalar integerOf(Interval real, unsigned width, bool isSigned) {
  int64_t number = 0;
  if (Undefined why = toInt(real, number); why != Undefined::None)
    return Scalar::none(why);
  bool fits =
      isSigned
          ? llvm::isIntN(width, number)
          : number >= 0 && llvm::isUIntN(width, static_cast<uint64_t>(number));
  if (!fits)
    return Scalar::none(Undefined::NoMeaning);
  return Scalar::of(APInt(width, static_cast<uint64_t>(number), isSigned));
}

ScalarFn conversion(Operation *op, Run &) {
  if (op->getNumOperands() != 1)
    return nullptr;
  Type to = op->getResult(0).getType();
  unsigned width = widthOf(to);
  return llvm::TypeSwitch<Operation *, ScalarFn>(op)
      .Case(
          [](arith::ExtFOp) { return [](ArrayRef<Scalar> x) { return x[0]; }; })
      .Case([to](arith::TruncFOp) {
        return [to](ArrayRef<Scalar> x) { return rounded(to, x[0].real); };
      })
      .Case([width](arith::ExtSIOp) {
        return [width](ArrayRef<Scalar> x) {
          return Scalar::of(x[0].integer.sext(width));
        };
      })
      .Case([width](arith::ExtUIOp) {
        return [width](ArrayRef<Scalar> x) {
          return Scalar::of(x[0].integer.zext(width));
        };
      })
      .Case([width](arith::TruncIOp) {
        return [width](ArrayRef<Scalar> x) {
          return Scalar::of(x[0].integer.trunc(width));
        };
      })
      .Case([width](arith::IndexCastOp) {
        return [width](ArrayRef<Scalar> x) {
          return Scalar::of(x[0].integer.sextOrTrunc(width));
        };
      })
      .Case([width](arith::IndexCastUIOp) {
        return [width](ArrayRef<Scalar> x) {
          return Scalar::of(x[0].integer.zextOrTrunc(width));
        };
      })
      .Case([to](arith::SIToFPOp) {
        return
            [to](ArrayRef<Scalar> x) { return realOf(x[0].integer, true, to); };
      })
      .Case([to](arith::UIToFPOp) {
        return [to](ArrayRef<Scalar> x) {
          return realOf(x[0].integer, false, to);
        };
      })
      .Case([width](arith::FPToSIOp) {
        return [width](ArrayRef<Scalar> x) {
          return integerOf(x[0].real, width, true);
        };
      })
      .Case([width](arith::FPToUIOp) {
        return [width](ArrayRef<Scalar> x) {
          return integerOf(x[0].real, width, false);
        };
      })
      .Default([](Operation *) { return nullptr; });
}

} // namespace mlc::interpret
