//===- Goal.cpp - A statement to prove ------------------------------------===//

#include "verifier/read/Goal.h"
#include "llvm/ADT/STLExtras.h"

namespace mlc::verifier {

std::string describeResult(const Goal &goal, unsigned result) {
  return goal.resultNames.empty() ? "result " + std::to_string(result)
                                  : goal.resultNames[result];
}

KnownValues knownValues(const Goal &goal, const Assumptions &assumptions) {
  KnownValues known;
  known.inputs.resize(goal.before.inputs.size());
  for (auto [facts, input] : llvm::zip(known.inputs, goal.before.inputs))
    facts.type = input.elementType;
  for (const TensorAssumption &t : assumptions.tensors) {
    if (t.argument >= known.inputs.size())
      continue;
    ValueFacts &facts = known.inputs[t.argument];
    switch (t.predicate) {
    case ElementPredicate::Positive:
      facts.positive = facts.nonNegative = facts.nonZero = true;
      break;
    case ElementPredicate::NonNegative:
      facts.nonNegative = true;
      break;
    case ElementPredicate::NonZero:
      facts.nonZero = true;
      break;
    case ElementPredicate::AllEqual:
      facts.allEqual = true;
      break;
    case ElementPredicate::Finite:
    case ElementPredicate::Constant:
      break;
    }
  }
  for (const RealAssumption &r : assumptions.reals) {
    ValueFacts &facts = known.reals[r.parameter];
    bool above = r.predicate == ComparePredicate::GT;
    if (above || r.predicate == ComparePredicate::GE) {
      facts.positive |= above ? r.bound >= 0.0 : r.bound > 0.0;
      facts.nonNegative |= r.bound >= 0.0;
    }
    facts.nonZero |= facts.positive ||
                     (r.predicate == ComparePredicate::NE && r.bound == 0.0);
  }
  return known;
}

} // namespace mlc::verifier
