//===- Normalize.h - Arithmetic on normal forms -----------------*- C++ -*-===//
//
// Operations that keep sums in normal form: products distribute, nested sums
// flatten, equations fix variables, functions that are not taken apart split
// into the cases that guards on free indices distinguish.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_SEARCH_NORMALIZE_H
#define MLC_VERIFIER_SEARCH_NORMALIZE_H

#include "verifier/Verifier.h"
#include "verifier/read/ValueFacts.h"
#include "verifier/search/Bounds.h"
#include "verifier/search/Scalar.h"

namespace mlc::verifier {

/// What is left of the work that a proof may take. Exceeding it ends the proof
/// as Unknown; never an error of the user's.
struct Budget {
  explicit Budget(const VerifierOptions &options)
      : stepsLeft(options.maxSteps) {}

  static constexpr unsigned maxTerms = 4000;
  uint64_t stepsLeft;
  uint64_t numSearched = Facts::getNumSearched();
  bool exceeded = false;

  /// Takes a step, more for many terms and for what was searched among facts
  /// since the last one.
  bool check(size_t numTerms = 0) {
    uint64_t searched = Facts::getNumSearched();
    uint64_t steps = 1 + numTerms / 8 + (searched - numSearched) / 4;
    numSearched = searched;
    stepsLeft -= std::min(steps, stepsLeft);
    if (stepsLeft == 0 || numTerms > maxTerms)
      exceeded = true;
    return !exceeded;
  }
  /// Why, where it was exceeded.
  static const char *reason() { return "out of steps or terms"; }
};

class Normalizer {
public:
  Normalizer(mlir::MLIRContext *context, KnownValues settings, Budget &budget)
      : settings(std::move(settings)), context(context), budget(budget) {}

  const KnownValues settings;

  mlir::MLIRContext *getContext() const { return context; }
  Budget &getBudget() { return budget; }
  IntExpr integer(int64_t value) const {
    return IntExpr::constant(context, value);
  }
  /// A variable that occurs nowhere.
  IntExpr freshVariable();

  Sum multiply(const Sum &a, const Sum &b);
  Sum power(const Sum &base, int exponent);
  Sum reciprocal(const Sum &x, const Facts &facts);
  /// An integer polynomial as a number.
  Sum integerSum(IntExpr expr);
  /// A call of a function that is split into cases but not taken apart.
  Sum call(const Head &function, std::vector<Sum> arguments, const Facts &facts,
           bool isBoolean = false);
  /// A function, simplified where its meaning is known.
  Sum apply(const Head &function, std::vector<Sum> arguments,
            const Facts &facts, bool isBoolean = false);
  /// A monoid over branches.
  Sum reduce(const Head &monoid, std::vector<Branch> branches,
             const Facts &facts);
  /// Sum over `variables` where guards hold.
  Sum sumOver(const Domain &domain, const Sum &body);

  /// The value of `fn` for each case of `value` that guards over free indices
  /// distinguish.
  using CaseFn = llvm::function_ref<Sum(const Sum &, const Facts &)>;
  Sum mapCases(const Sum &value, const Facts &facts, CaseFn fn);

  Sum simplify(const Sum &sum, const Facts &facts);

  /// Every bound variable, at any depth, under a new name.
  Sum freshened(const Sum &sum);
  Term freshened(const Term &term);
  Branch freshened(const Branch &branch);

  bool isNonNegative(const Sum &sum, const Facts &facts) const;
  bool isPositive(const Sum &sum, const Facts &facts) const;
  /// Wherever the value is defined.
  Bounds boundsOf(const Sum &sum, const Facts &facts) const;
  /// max(x, y, ...) of an atom max(x, y, ..., 0): the same where that is not 0.
  std::optional<Sum> withoutZero(const Atom &atom, const Facts &facts);

private:
  /// A comparison of residues.
  Sum applyInteger(const Head &function, const std::vector<Sum> &arguments,
                   const Facts &facts, bool isBoolean);
  Substitution renameVariables(Domain &domain);
  Sum multiply(const Term &a, const Term &b);
  void appendFactor(std::vector<Factor> &factors, const Factor &factor,
                    std::vector<Sum> &extra);
  Sum simplifyTerm(Term term, const Facts &facts);
  bool simplifyDomain(Term &term, const Facts &outer, Facts &inner,
                      std::vector<IntExpr> &counts);
  bool eliminateVariable(Term &term, const Facts &inner);
  bool splitDigits(Term &term, const Facts &inner);
  Sum simplifyFactor(const Factor &factor, const Facts &facts);
  bool addBranch(std::vector<Branch> &branches, Branch branch,
                 const Head &monoid, const Facts &facts);
  std::optional<Sum> absoluteProduct(const Sum &x, const Facts &facts);
  Sum magnitude(const Sum &x, const Facts &facts);
  Sum exponential(const Sum &x);
  Sum comparison(const Head &function, const Sum &x, const Facts &facts);
  Sum ofReal(UnaryFn function, const Sum &x, const Facts &facts);
  std::optional<Sum> takeMonotone(llvm::ArrayRef<Branch> branches,
                                  const Facts &facts);
  Sum reduceMax(std::vector<Branch> branches, const Facts &facts);
  int signOf(const Atom &atom, const Facts &facts) const;
  int signOfCall(const Atom &atom, const Facts &facts) const;
  Bounds boundsOf(const Atom &atom, const Facts &facts) const;
  std::optional<Sum> nonZeroForm(const Factor &factor, const Facts &facts);
  void dropDominated(std::vector<Branch> &branches, const Facts &facts);

  mlir::MLIRContext *context;
  Budget &budget;
  unsigned numVariables = 0;
};

/// Whether, of a sum and its negative, the negative is the one to write where
/// the sign can stand outside: its first term, in the order of texts, is
/// positive.
bool leadsNegative(const Sum &sum);

/// Whether some point surely lies in the domain: one whose variables are 0 or
/// what a guard says is their least.
bool isNeverEmpty(const Domain &domain, const Facts &facts);

/// How a variable is replaced by its quotient and rest by some divisor.
struct DigitSplit {
  IntExpr variable, value; // value in terms of the new variables
  IntExpr quotient, rest;
  llvm::SmallVector<Guard, 3> guards; // ranges of the new variables
};
/// A floor division inside `expr` that splitting one of `variables` resolves.
std::optional<DigitSplit> findDigitSplit(IntExpr expr,
                                         llvm::ArrayRef<IntExpr> variables,
                                         const Facts &facts, Normalizer &n);

/// d X + Y >= 0 is X >= 0 for 0 <= Y < d; the guard itself where that is not
/// known.
Guard divideGuard(const Guard &guard, IntExpr divisor, const Facts &facts);

/// gcd of the coefficients, positive; 1 for zero.
Fraction contentOf(const Sum &sum);

} // namespace mlc::verifier

#endif // MLC_VERIFIER_SEARCH_NORMALIZE_H
