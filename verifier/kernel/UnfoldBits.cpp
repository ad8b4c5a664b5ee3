//===- UnfoldBits.cpp - Floats as bits ------------------------------------===//
//
// Each bit pattern stands for a real number of its own: a finite one for the
// number that it is, but for -0, which like infinity and NaN stands for some
// other. So what selects, reads and compares cases is as ever; functions of
// floats are calls under names of which nothing is known but what IEEE 754 says
// of all bits: + and * commute, and -(-x), x * 1, x / 1 and x - 0 are x (any
// NaN stands for any other).
//
//===----------------------------------------------------------------------===//

#include "verifier/kernel/Unfolder.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using llvm::ArrayRef;

namespace mlc::kernel {

/// A constant that is 0 or NaN.
Value Unfolder::unfoldBits(const ExprNode &node) {
  if (std::isnan(node.number))
    return plain(single(makeParameter("%nan")));
  // A parameter that equals 0 may be -0.
  if (!node.parameter.empty())
    return plain(single(makeParameter(node.parameter)));
  return std::signbit(node.number) ? plain(single(makeParameter("%minus-zero")))
                                   : plain({});
}

static std::string formOf(const Sum &sum);

/// What a factor is made of, but for indices: variables have other names
/// elsewhere.
static std::string formOf(const Factor &factor) {
  std::string form = std::to_string(static_cast<int>(factor.kind)) + ":" +
                     std::to_string(factor.input) + ":" + factor.parameter +
                     factor.head.str() + "(";
  for (const Sum &argument : factor.arguments)
    form += formOf(argument) + ",";
  for (const Branch &branch : factor.branches)
    form += formOf(branch.value) + ";";
  return form + ")";
}

static std::string formOf(const Sum &sum) {
  std::string form;
  for (const Term &term : sum) {
    form += "+";
    for (const FactorRef &factor : term.factors)
      form += formOf(*factor);
  }
  return form;
}

Sum Unfolder::functionOfBits(const ExprNode &node, ArrayRef<Sum> x) {
  if (node.kind == Expr::Kind::Unary) {
    Head function(node.unary, node.type);
    const Factor *inner = onlyFactor(x[0]);
    auto real = mlir::dyn_cast<mlir::FloatType>(node.type);
    bool hasSign = !real || llvm::APFloat::semanticsHasSignedRepr(
                                real.getFloatSemantics());
    if (node.unary == UnaryFn::Neg && hasSign && inner &&
        isCall(*inner, function) && x[0][0].coefficient == Rational(1))
      return inner->arguments[0];
    return single(makeCall(function, x.vec()));
  }
  Head function(node.binary, node.type);
  auto isOne = [](const Sum &sum) { return asConstant(sum) == Rational(1); };
  switch (node.binary) {
  case BinaryFn::Mul:
    if (isOne(x[0]))
      return x[1];
    [[fallthrough]];
  case BinaryFn::Div:
    if (isOne(x[1]))
      return x[0];
    break;
  case BinaryFn::Sub: // a sum of nothing is +0 (unfoldBits)
    if (x[1].empty())
      return x[0];
    break;
  default:
    break;
  }
  // Not maximum and minimum: of 0 and -0 code gives one or the other.
  if (node.binary != BinaryFn::Add && node.binary != BinaryFn::Mul)
    return single(makeCall(function, x.vec()));
  // In an order that both sides have, or of two values, whichever is first.
  std::string first = formOf(x[0]), second = formOf(x[1]);
  if (first != second)
    return single(makeCall(
        function, {x[first < second ? 0 : 1], x[first < second ? 1 : 0]}));
  return single(makeReduce(Head::either(node.binary, node.type),
                           {{{}, {}, x[0]}, {{}, {}, x[1]}}));
}

/// What comes of values one after another is a function of which value stands
/// where: of the set of all pairs of a place and the value there. A loop of one
/// turn does not order anything.
Value Unfolder::reduceInOrder(const ExprNode &node, const Scope &scope) {
  Scope local = scope;
  std::vector<Variable> variables;
  std::vector<Formula> bounds;
  std::vector<Sum> place;
  for (const Loop &loop : node.loops) {
    Integer index = 0;
    if (!loop.extent.isConstant(1)) {
      variables.push_back(names.fresh());
      index = Integer::variable(variables.back());
      bounds.push_back(Formula::inRange(index, integerOf(loop.extent)));
      place.push_back(single(makeNumber(index)));
    }
    local.loops.insert_or_assign(loop.id, index);
  }
  llvm::append_range(local.variables, variables);
  llvm::append_range(local.guards, bounds);
  Value body = unfold(node.operands[0], local);
  std::vector<Branch> branches;
  for (Case &one : body) {
    std::vector<Sum> pair = place;
    pair.push_back(std::move(one.value));
    Branch branch{variables, bounds,
                  single(makeCall(Head::Kind::Placed, std::move(pair)))};
    llvm::append_range(branch.guards, one.guards);
    branches.push_back(std::move(branch));
  }
  // Of places that have as many numbers.
  Head function = Head::inOrder(node.reduce, node.type, place.size());
  return plain(single(makeReduce(function, std::move(branches))));
}

} // namespace mlc::kernel
