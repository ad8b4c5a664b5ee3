//===- Cases.cpp - Cases of what is known of sizes ------------------------===//

#include "verifier/kernel/Cases.h"
#include "llvm/ADT/STLExtras.h"

namespace mlc::kernel {

namespace {

/// Checks one case, in which `known` holds.
class CaseChecker {
public:
  CaseChecker(llvm::ArrayRef<Formula> known, const SizeCase &one,
              Decider &decider)
      : one(one), decider(decider), given(known) {
    llvm::append_range(given, one.where);
  }

  std::string whyNot() {
    for (const SizeCase::Quotient &quotient : one.quotients) {
      Integer value =
          Integer::apply(Integer::Kind::FloorDivide, inSizes(quotient.over),
                         inSizes(quotient.under));
      // Another size of this name would be one with it.
      if (!isNew(quotient.name) || quotients.count(quotient.name))
        return "'" + quotient.name + "' is no new size";
      // Sizes are not negative.
      if (!follows(Formula::notNegative(value)))
        return "the quotient '" + quotient.name + "' may be negative";
      quotients.emplace(quotient.name, value);
    }
    std::vector<Formula> equations;
    for (const SizeCase::Solved &solved : one.solved) {
      equations.push_back(
          Formula::equal(Integer::size(solved.name), inSizes(solved.value)));
      if (!isOfStatement(solved.name) || !follows(equations.back()))
        return "'" + solved.name + "' may be another number";
    }
    llvm::append_range(given, equations);
    for (const Formula &formula : one.known)
      if (!follows(mapIntegers(formula,
                               [&](const Integer &i) { return inSizes(i); })))
        return "what a case knows may not hold";
    return "";
  }

private:
  /// With quotients of sizes in place of their names.
  Integer inSizes(const Integer &integer) const {
    return mapLeaves(integer, [&](const Integer &leaf) {
      if (leaf.kind() != Integer::Kind::Size)
        return leaf;
      auto it = quotients.find(leaf.name());
      return it == quotients.end() ? leaf : it->second;
    });
  }

  bool follows(const Formula &formula) {
    return largestIn(formula) <= largestInteger &&
           decider.holds(given, formula);
  }

  /// Functions have no sizes of such names, nor has what is assumed of them.
  static bool isNew(llvm::StringRef name) {
    return name.starts_with("%quotient");
  }
  /// Names that begin with '%' stand for all values of something, but for dims
  /// of arguments that have no name.
  static bool isOfStatement(llvm::StringRef name) {
    return !name.starts_with("%") || name.starts_with("%arg");
  }

  const SizeCase &one;
  Decider &decider;
  std::vector<Formula> given;
  std::map<std::string, Integer, std::less<>> quotients;
};

} // namespace

std::string whyNoCases(llvm::ArrayRef<Formula> known,
                       llvm::ArrayRef<SizeCase> cases, Decider &decider) {
  std::vector<Formula> any;
  for (const SizeCase &one : cases)
    any.push_back(Formula::all(one.where));
  // One case alone is quicker seen part by part.
  if (!decider.holds(known, any.size() == 1 ? any.front() : Formula::any(any)))
    return "the cases may leave something out";
  for (const SizeCase &one : cases)
    if (std::string why = CaseChecker(known, one, decider).whyNot();
        !why.empty())
      return why;
  return "";
}

} // namespace mlc::kernel
