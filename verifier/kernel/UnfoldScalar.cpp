//===- UnfoldScalar.cpp - Operations on elements --------------------------===//

#include "dialects/Definition/GuardedProduct.h"
#include "verifier/kernel/Unfolder.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using llvm::ArrayRef;

namespace mlc::kernel {

/// A function or monoid of a type's elements: with the type, where these are no
/// reals.
template <class Function> static Head of(Function function, mlir::Type type) {
  return isFloat(type) ? Head(function) : Head(function, type);
}

Sum inverse(const Sum &truth) {
  return add(constant(Rational(1)), scaled(truth, Rational(-1)));
}

Rational exactly(double value) {
  int exponent = 0;
  auto digits =
      static_cast<int64_t>(std::ldexp(std::frexp(value, &exponent), 53));
  exponent -= 53;
  llvm::DynamicAPInt power(1);
  for (int i = 0; i < std::abs(exponent); ++i)
    power = power * llvm::DynamicAPInt(2);
  llvm::DynamicAPInt number(digits);
  return mlir::presburger::reduce(exponent >= 0 ? Rational(number * power)
                                                : Rational(number, power));
}

//===----------------------------------------------------------------------===//
// Scalar expressions
//===----------------------------------------------------------------------===//

Value Unfolder::unfold(const Expr &expr, const Scope &scope) {
  constexpr unsigned maxDepth = 1000;
  constexpr size_t maxWork = 1000000;
  if (!failure.empty())
    return plain({});
  if (depth >= maxDepth || work >= maxWork * effort)
    return fail("an element takes too many operations");
  ++depth;
  Value value = unfoldNode(*expr, scope);
  --depth;
  for (const Case &one : value)
    work += one.guards.size() + sizeOf(one.value);
  return value;
}

Value Unfolder::unfoldConstant(const ExprNode &node) {
  auto type = mlir::dyn_cast<mlir::FloatType>(node.type);
  if (!type)
    return plain(constant(Rational(node.integerNumber)));
  bool isSpecial = std::isnan(node.number) || node.number == 0.0;
  if (assumptions.isLiteral && isSpecial)
    return unfoldBits(node);
  llvm::APFloat number(node.number);
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  bool losesInfo, hasSign = llvm::APFloat::semanticsHasSignedRepr(semantics) &&
                            llvm::APFloat::semanticsHasZero(semantics);
  if (!hasSign && !(node.number > 0.0))
    return fail("a constant is no number of its type");
  number.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  if (number.isNaN())
    return fail("a constant is no number");
  if (number.isInfinity())
    return plain(scaled(single(makeParameter(infinityName)),
                        Rational(number.isNegative() ? -1 : 1)));
  number.convert(llvm::APFloat::IEEEdouble(),
                 llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return plain(constant(exactly(number.convertToDouble())));
}

Value Unfolder::unfoldNode(const ExprNode &node, const Scope &scope) {
  if (std::optional<Integer> index = integer(node, scope))
    return plain(single(makeNumber(*index)));
  if (std::optional<Formula> truth = formula(node, scope))
    return {Case{{*truth}, constant(Rational(1))},
            Case{{Formula::negation(*truth)}, {}}};
  switch (node.kind) {
  case Expr::Kind::Loop:
  case Expr::Kind::Int:
    llvm_unreachable("an integer");
  case Expr::Kind::Constant:
    return unfoldConstant(node);
  case Expr::Kind::Param:
    return node.operands.empty() ? plain(single(makeParameter(node.parameter)))
                                 : unfoldUnwritten(node, scope);
  case Expr::Kind::Read:
    return unfoldRead(node, scope);
  case Expr::Kind::Unary:
    return unfoldUnary(node, scope);
  case Expr::Kind::Binary:
    return unfoldBinary(node, scope);
  case Expr::Kind::Compare:
    return unfoldCompare(node, scope);
  case Expr::Kind::Select:
    return unfoldSelect(node, scope);
  case Expr::Kind::Cast:
    return unfoldCast(node, scope);
  case Expr::Kind::Reduce:
    return unfoldReduce(node, scope);
  }
  llvm_unreachable("unknown expression");
}

/// An element that nobody has written.
Value Unfolder::unfoldUnwritten(const ExprNode &node, const Scope &scope) {
  std::vector<Value> indices;
  for (const Expr &index : node.operands)
    indices.push_back(unfold(index, scope));
  return call(Head::unwritten(node.parameter), indices, isTruth(node.type));
}

Value Unfolder::unfoldUnary(const ExprNode &node, const Scope &scope) {
  Value x = unfold(node.operands[0], scope);
  if (node.unary == UnaryFn::Neg && !isTruth(node.type) && !isBits(node.type))
    return apply({x},
                 [](ArrayRef<Sum> s) { return scaled(s[0], Rational(-1)); });
  if (isTruth(node.type) &&
      (node.unary == UnaryFn::Neg || node.unary == UnaryFn::Abs))
    return x;                     // modulo 2
  if (node.unary == UnaryFn::Not) // ~x = -x - 1 modulo 2^w
    return apply({x}, [&](ArrayRef<Sum> s) {
      return add(constant(Rational(isTruth(node.type) ? 1 : -1)),
                 scaled(s[0], Rational(-1)));
    });
  if (isBits(node.type))
    return apply({x}, [&](ArrayRef<Sum> s) { return functionOfBits(node, s); });
  return call(of(node.unary, node.type), {x}, isTruth(node.type));
}

/// Truth values: arithmetic is modulo 2.
Value Unfolder::unfoldTruth(const ExprNode &node, const Value &a,
                            const Value &b) {
  bool isBoth = node.binary == BinaryFn::And || node.binary == BinaryFn::Min ||
                node.binary == BinaryFn::Mul;
  bool isEither = node.binary == BinaryFn::Or || node.binary == BinaryFn::Max;
  return apply({a, b}, [&](ArrayRef<Sum> x) {
    Sum both = multiply(x[0], x[1]);
    if (isBoth)
      return both;
    return add(add(x[0], x[1]), scaled(both, Rational(isEither ? -1 : -2)));
  });
}

static bool isZero(const Value &value) {
  return llvm::all_of(value, [](const Case &one) { return one.value.empty(); });
}

std::optional<Rational> Unfolder::exponentOf(const Value &exponent,
                                             mlir::Type type) const {
  std::optional<Rational> number = exponent.size() == 1 && !isBits(type)
                                       ? asConstant(exponent.front().value)
                                       : std::nullopt;
  constexpr int most = 16;
  if (!number || abs(*number) > Rational(most) ||
      (*number + *number).den != llvm::DynamicAPInt(1))
    return std::nullopt;
  bool isNatural =
      number->den == llvm::DynamicAPInt(1) && *number >= Rational(0);
  return isFloat(type) || isNatural ? number : std::nullopt;
}

std::optional<Rational> Unfolder::exponentOf(const ExprNode &node,
                                             const Scope &scope) {
  return exponentOf(unfold(node.operands[1], scope), node.type);
}

/// x^(k/2) for whole k: products of x or of its root, or of their inverses.
std::optional<Value> Unfolder::unfoldPower(const Value &a, const Value &b,
                                           mlir::Type type) {
  // What products of sums come to grows fast.
  constexpr int mostOfSums = 4, mostHalves = 3;
  std::optional<Rational> exponent = exponentOf(b, type);
  if (!exponent)
    return std::nullopt;
  bool isOfSums =
      llvm::any_of(a, [](const Case &one) { return one.value.size() > 1; });
  bool isWhole = exponent->den == llvm::DynamicAPInt(1),
       isNegative = *exponent < Rational(0);
  int count = std::abs(static_cast<int>(
      static_cast<int64_t>((isWhole ? *exponent : *exponent + *exponent).num)));
  // A root, or an inverse, is one factor.
  if ((isWhole && !isNegative && isOfSums && count > mostOfSums) ||
      (!isWhole && count > mostHalves))
    return std::nullopt;
  Value base = a;
  if (!isWhole)
    base = call(UnaryFn::Sqrt, {a}, false);
  if (isNegative)
    base = call(UnaryFn::Reciprocal, {base}, false);
  return apply({base}, [&](ArrayRef<Sum> x) {
    Sum product = constant(Rational(1));
    for (int i = 0; i < count; ++i)
      product = multiply(product, x[0]);
    return product;
  });
}

Value Unfolder::unfoldBinary(const ExprNode &node, const Scope &scope) {
  Value a = unfold(node.operands[0], scope);
  Value b = unfold(node.operands[1], scope);
  bool isReal = isFloat(node.type);
  auto isOneOf = [&](std::initializer_list<BinaryFn> functions) {
    return llvm::is_contained(functions, node.binary);
  };
  if (isTruth(node.type) && !isOneOf({BinaryFn::Div, BinaryFn::FloorDiv,
                                      BinaryFn::Mod, BinaryFn::Pow}))
    return unfoldTruth(node, a, b);
  if (isBits(node.type))
    return apply({a, b},
                 [&](ArrayRef<Sum> x) { return functionOfBits(node, x); });
  switch (node.binary) {
  case BinaryFn::Add:
    return apply({a, b}, [](ArrayRef<Sum> x) { return add(x[0], x[1]); });
  case BinaryFn::Sub:
    return apply({a, b}, [](ArrayRef<Sum> x) {
      return add(x[0], scaled(x[1], Rational(-1)));
    });
  case BinaryFn::Mul:
    // Outside of its tensor one of them may be 0.
    dropsTerms |= isReal && isZero(a) != isZero(b);
    return apply({a, b}, [&](ArrayRef<Sum> x) { return multiply(x[0], x[1]); });
  case BinaryFn::Div:
    if (!isReal)
      break;
    dropsTerms |= isZero(a);
    return apply({a, b}, [&](ArrayRef<Sum> x) {
      return multiply(x[0], single(makeCall(UnaryFn::Reciprocal, {x[1]})));
    });
  case BinaryFn::Max:
  case BinaryFn::Min: {
    // Of reals, a minimum is the maximum of the negatives.
    bool isMirrored = isReal && node.binary == BinaryFn::Min;
    Rational sign(isMirrored ? -1 : 1);
    Head::Kind kind = isReal || node.binary == BinaryFn::Max ? Head::Kind::Max
                                                             : Head::Kind::Min;
    Head monoid = of(kind, node.type);
    return apply({a, b}, [&](ArrayRef<Sum> x) {
      return scaled(single(makeReduce(monoid, {{{}, {}, scaled(x[0], sign)},
                                               {{}, {}, scaled(x[1], sign)}})),
                    sign);
    });
  }
  case BinaryFn::Pow:
    if (std::optional<Value> known = unfoldPower(a, b, node.type))
      return *known;
    break;
  case BinaryFn::FloorDiv:
  case BinaryFn::Mod:
  case BinaryFn::And:
  case BinaryFn::Or:
  case BinaryFn::Xor:
  case BinaryFn::Threefry:
    break;
  }
  return call(of(node.binary, node.type), {a, b}, isTruth(node.type));
}

Value Unfolder::unfoldCompare(const ExprNode &node, const Scope &scope) {
  // a > b is b < a; a <= b is not b < a.
  ComparePredicate predicate = node.predicate;
  bool isEquality =
      predicate == ComparePredicate::EQ || predicate == ComparePredicate::NE;
  bool isReversed =
      predicate == ComparePredicate::GT || predicate == ComparePredicate::LE;
  bool isNegated = predicate == ComparePredicate::NE ||
                   predicate == ComparePredicate::LE ||
                   predicate == ComparePredicate::GE;
  Value a = unfold(node.operands[isReversed], scope),
        b = unfold(node.operands[!isReversed], scope);
  mlir::Type type = node.operands[0]->type;
  // NaN makes a < b and not (b <= a) differ, so nothing is rearranged.
  if (isBits(type))
    return call(Head::compare(node.predicate, type),
                isReversed ? ArrayRef<Value>{b, a} : ArrayRef<Value>{a, b},
                true);
  Value result;
  if (isTruth(type)) {
    result = apply({a, b}, [&](ArrayRef<Sum> x) {
      Sum both = multiply(x[0], x[1]);
      if (!isEquality)
        return add(x[1], scaled(both, Rational(-1)));
      return inverse(add(add(x[0], x[1]), scaled(both, Rational(-2))));
    });
  } else if (widthOf(type) && !isEquality) {
    // Residues have no difference whose sign is their order.
    result = call(of(Head::Kind::Less, type), {a, b}, /*truth=*/true);
  } else {
    Head function(isEquality ? Head::Kind::Zero : Head::Kind::Positive,
                  widthOf(type) ? type : mlir::Type());
    result = apply({a, b}, [&](ArrayRef<Sum> x) {
      return single(
          makeCall(function, {add(x[1], scaled(x[0], Rational(-1)))}, true));
    });
  }
  if (!isNegated)
    return result;
  return apply({result}, [](ArrayRef<Sum> x) { return inverse(x[0]); });
}

Value Unfolder::unfoldSelect(const ExprNode &node, const Scope &scope) {
  // Functions have some value where they are undefined, and that times 0 is 0.
  if (Expr product = asGuardedProduct(node); product && !isBits(node.type))
    return unfold(product, scope);
  Value condition = unfold(node.operands[0], scope);
  Value result;
  for (const Case &one : condition) {
    Scope local = scope;
    llvm::append_range(local.guards, one.guards);
    std::optional<Rational> known = asConstant(one.value);
    Value value;
    if (known) {
      value = unfold(node.operands[*known == Rational(0) ? 2 : 1], local);
    } else {
      Value yes = unfold(node.operands[1], local),
            no = unfold(node.operands[2], local);
      value = apply({plain(one.value), yes, no}, [&](ArrayRef<Sum> x) {
        return add(multiply(x[0], x[1]), multiply(inverse(x[0]), x[2]));
      });
    }
    for (Case &part : value) {
      llvm::append_range(part.guards, one.guards);
      result.push_back(std::move(part));
    }
  }
  return result;
}

/// Of what is added up there is a sum.
static Head::Kind monoidOf(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Sum:
    break;
  case ReduceKind::Prod:
    return Head::Kind::Prod;
  case ReduceKind::Max:
    return Head::Kind::Max;
  case ReduceKind::Min:
    return Head::Kind::Min;
  case ReduceKind::Any:
    return Head::Kind::Any;
  case ReduceKind::All:
    return Head::Kind::All;
  }
  llvm_unreachable("no monoid");
}

static Head::Kind monoidOfTruths(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Sum:
    return Head::Kind::Parity;
  case ReduceKind::Max:
  case ReduceKind::Any:
    return Head::Kind::Any;
  case ReduceKind::Prod:
  case ReduceKind::Min:
  case ReduceKind::All:
    return Head::Kind::All;
  }
  llvm_unreachable("unknown reduction");
}

Value Unfolder::unfoldReduce(const ExprNode &node, const Scope &scope) {
  if (isBits(node.type))
    return reduceInOrder(node, scope);
  Scope local = scope;
  std::vector<Variable> variables;
  std::vector<Formula> bounds;
  for (const Loop &loop : node.loops) {
    variables.push_back(names.fresh());
    Integer index = Integer::variable(variables.back());
    local.loops.insert_or_assign(loop.id, index);
    bounds.push_back(Formula::inRange(index, integerOf(loop.extent)));
  }
  llvm::append_range(local.variables, variables);
  llvm::append_range(local.guards, bounds);
  Value body = unfold(node.operands[0], local);
  bool isReal = isFloat(node.type) || isIndex(node.type);
  if (node.reduce == ReduceKind::Sum && !isTruth(node.type)) {
    Sum result = guarded(sumOf(body), bounds);
    for (Term &term : result)
      term.variables.insert(term.variables.begin(), variables.begin(),
                            variables.end());
    return plain(std::move(result));
  }
  bool isMirrored = isReal && node.reduce == ReduceKind::Min;
  Rational sign(isMirrored ? -1 : 1);
  Head monoid = isTruth(node.type) ? monoidOfTruths(node.reduce)
                : isMirrored       ? Head::Kind::Max
                                   : monoidOf(node.reduce);
  if (!isReal && !isTruth(node.type))
    monoid = Head(monoid.getKind(), node.type);
  std::vector<Branch> branches;
  for (Case &one : body) {
    Branch branch{variables, bounds, scaled(std::move(one.value), sign)};
    llvm::append_range(branch.guards, one.guards);
    branches.push_back(std::move(branch));
  }
  return plain(scaled(
      single(makeReduce(monoid, std::move(branches), isTruth(node.type))),
      sign));
}

} // namespace mlc::kernel
