//===- Instantiations.cpp - Kept rules on random numbers ------------------===//

#include "rewrites/Soundness/Soundness.h"
#include "verifier/Instance.h"

using namespace mlc::verifier;

namespace mlc {

namespace {

/// The most exact domain that knows every function of both sides.
EvalDomain domainFor(const Question &question) {
  for (EvalDomain domain : {EvalDomain::Modular, EvalDomain::Rational})
    if (isExactIn(question, domain))
      return domain;
  return EvalDomain::Interval;
}

std::string describe(const Instance &instance, const Comparison &difference) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const auto &[name, value] : instance.getSymbols())
    os << name << " = " << value << ", ";
  for (const auto &[name, value] : instance.getParameters())
    os << name << " = " << value << ", ";
  if (!difference.reason.empty()) {
    os << "defined before, not after: " << difference.reason;
    return text;
  }
  os << "element [";
  llvm::interleaveComma(difference.element, os);
  os << "] of result " << difference.result << ": " << difference.before
     << " before, " << difference.after << " after";
  return text;
}

} // namespace

InstantiationResult checkInstantiations(Rule &rule, unsigned count,
                                        uint64_t seed) {
  using Outcome = Comparison::Outcome;
  InstantiationResult result;
  Question question =
      makeQuestion(rule.getBefore(), rule.getAfter(), rule.assumptions);
  if (!question.failure.empty() || question.cases.empty()) {
    result.failure = question.failure.empty()
                         ? "the assumptions exclude each other"
                         : question.failure;
    return result;
  }
  Unknowns unknowns(question);
  EvalDomain domain = domainFor(question);
  bool isExact = domain != EvalDomain::Interval;
  for (uint64_t t = 0; t < 16 * uint64_t(count) && result.equal < count; ++t) {
    const Case &one = question.cases[t % question.cases.size()];
    Instance instance(question, one, rule.assumptions, seed * 1000003 + t);
    Comparison comparison;
    if (instance.drawSymbols(unknowns) && instance.drawParameters(unknowns) &&
        instance.drawTensors())
      comparison = isExact ? instance.compare(domain) : instance.compareReals();
    if (comparison.outcome == Outcome::Different) {
      result.failure = describe(instance, comparison);
      return result;
    }
    bool isEqual = comparison.outcome == Outcome::Equal;
    result.equal += isEqual;
    result.exact += isEqual && isExact;
    result.undecided += !isEqual;
  }
  return result;
}

} // namespace mlc
