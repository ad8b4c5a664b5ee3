//===- ElaborateSplits.cpp - Sums in parts --------------------------------===//
//
// Splits a sum at the border of another sum of the same elements, and then
// splits off the border itself: if one sum has i < j, the part i = j of a
// square.
//
//===----------------------------------------------------------------------===//

#include "verifier/search/Elaborate.h"
#include "llvm/ADT/STLExtras.h"

using llvm::ArrayRef;
using namespace mlc::kernel;

namespace mlc::elaborate {

/// The parts of a condition that are no conjunctions.
static void partsOf(const Formula &formula, std::vector<Formula> &out) {
  if (formula.kind() == Formula::Kind::All)
    for (const Formula &part : formula.parts())
      partsOf(part, out);
  else
    out.push_back(formula);
}

/// A condition of `other` that holds for some but not all elements of `term`.
std::optional<Formula> Elaborator::borderOf(const Context &context,
                                            const Term &term,
                                            const Term &other) {
  std::optional<Member> member = align(context, other, term);
  if (!member)
    return std::nullopt;
  Context inside = opened(context, term);
  Bindings map;
  for (auto [variable, integer] : llvm::zip(other.variables, member->sigma)) {
    Integer there = integer;
    if (!fillSlots(there, inside.scope))
      return std::nullopt;
    map.insert({variable, there});
  }
  std::vector<Formula> parts;
  for (const Formula &guard : other.guards)
    partsOf(substitute(guard, map), parts);
  for (const Formula &part : parts)
    if (!decider.holds(inside.known, part) &&
        !decider.holds(inside.known, Formula::negation(part)))
      return part;
  return std::nullopt;
}

/// Splits a term; the last part is where the condition does not hold.
bool Elaborator::splitTerm(const Context &context, unsigned t,
                           const Formula &formula, Sum &sum,
                           std::vector<Step> &steps) {
  // A step gives variables new names: slots are those of the term.
  Context inside = opened(context, sum[t]);
  bool isInScope = true;
  Formula slots = mapIntegers(formula, [&](const Integer &integer) {
    std::optional<Integer> placed = toSlots(integer, inside.scope);
    isInScope = isInScope && placed;
    return placed.value_or(Integer(0));
  });
  Step step{.kind = Step::Kind::Split, .term = t, .formula = slots};
  if (!isInScope || !checker.apply(step, context, sum))
    return false;
  steps.push_back(std::move(step));
  return true;
}

std::optional<Zero> Elaborator::bySplitting(const Context &context,
                                            const Sum &sum, unsigned width) {
  constexpr unsigned mostSplits = 6;
  constexpr size_t mostTerms = 12;
  if (numSplits >= mostSplits || sum.size() > mostTerms)
    return std::nullopt;
  for (unsigned t = 0; t < sum.size(); ++t)
    for (unsigned other = 0; other < sum.size(); ++other) {
      if (t == other || sum[t].variables.empty() ||
          sum[t].variables.size() != sum[other].variables.size() ||
          signatureOf(sum[t]) != signatureOf(sum[other]))
        continue;
      std::optional<Formula> border = borderOf(context, sum[t], sum[other]);
      Sum next = sum;
      std::vector<Step> steps;
      if (!border || !splitTerm(context, t, *border, next, steps))
        continue;
      ++numSplits;
      // The border itself, if it is one of two sides.
      if (border->kind() == Formula::Kind::NotNegative) {
        Bindings names;
        for (auto [from, to] :
             llvm::zip(sum[t].variables, next.back().variables))
          names.insert({from, Integer::variable(to)});
        Formula equal = substitute(Formula::zero(border->integer() + 1), names);
        splitTerm(context, next.size() - 1, equal, next, steps);
      }
      std::optional<Zero> then = resolve(context, next, width);
      if (then)
        then->steps.insert(then->steps.begin(), steps.begin(), steps.end());
      return then;
    }
  return std::nullopt;
}

} // namespace mlc::elaborate
