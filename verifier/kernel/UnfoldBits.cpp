//===- UnfoldBits.cpp - Floats as bits ------------------------------------===//
//
// Each bit pattern stands for a real number of its own: a finite one for the
// number that it is, but for -0, which like infinity and NaN stands for some
// other. So what selects, reads and compares cases is as ever; functions of
// floats are calls under names of which nothing is known, not even that they
// commute.
//
//===----------------------------------------------------------------------===//

#include "verifier/kernel/Unfolder.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

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
    Branch branch{variables, bounds, single(makeCall("%at", std::move(pair)))};
    llvm::append_range(branch.guards, one.guards);
    branches.push_back(std::move(branch));
  }
  // Of places that have as many numbers.
  std::string function = inOrder.str() + name(node.reduce).str() + ":" +
                         textOf(node.type) + ":" + std::to_string(place.size());
  return plain(single(makeReduce(function, std::move(branches))));
}

} // namespace mlc::kernel
