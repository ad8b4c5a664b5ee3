//===- Check.h - The proof checker ------------------------------*- C++ -*-===//
//
// The kernel's judge. A sum that it says is 0 is 0 for all integers that the
// context admits and all values of inputs, parameters and functions.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_KERNEL_CHECK_H
#define MLC_VERIFIER_KERNEL_CHECK_H

#include "verifier/kernel/Decide.h"
#include "verifier/kernel/Proof.h"
#include "verifier/kernel/Unfold.h"

namespace mlc::kernel {

/// A value that is positive, or not negative. What it mentions is in scope.
struct Known {
  bool isPositive;
  Sum value;
};

/// What is in scope, and what is known of it.
struct Context {
  std::vector<Integer> scope; // variables
  std::vector<Formula> known;
  std::vector<Known> values = {};
  /// Truth values, and whether each is 1 or 0. What they mention is in scope.
  std::vector<std::pair<FactorRef, bool>> truths = {};

  void bind(llvm::ArrayRef<Variable> variables) {
    for (Variable variable : variables)
      scope.push_back(Integer::variable(variable));
  }
  void assume(llvm::ArrayRef<Formula> formulas) {
    known.insert(known.end(), formulas.begin(), formulas.end());
  }
};

/// Where a term's variables are in scope and its guards hold.
Context opened(const Context &context, const Term &term);

/// What is 1 where a term counts, by its factors but for two.
std::vector<Sum> pathOf(const Term &term, unsigned first, unsigned second);

/// With what is known of values where all of `path` are 1.
Context alongPath(const Context &context, llvm::ArrayRef<Sum> path);

/// The factors of a term that are no numbers, and the product of those that
/// are.
struct Product {
  std::vector<FactorRef> factors;
  Integer number = 1;
};
Product productOf(const Term &term);

/// Whether it is a sum of finitely many whole numbers.
bool isWhole(const Sum &sum);

/// With the bounds of a function, whatever it is applied to.
Context noted(const Context &context, const Factor &function);
/// The sum where a truth value, which mentions nothing that is bound in it, is
/// 1 or 0.
Sum withTruth(const Sum &sum, const Factor &truth, bool isOne);

/// With all truth values that are known.
Sum withTruths(const Context &context, Sum sum);

/// Whether a number that is larger than all others occurs.
bool mentionsInfinity(const Sum &sum);

/// A term that is a logarithm, or minus one.
struct Logarithm {
  Sum argument;
  bool isPlus;
};
/// Those of a sum, in order; the other terms go to `rest`.
std::vector<Logarithm> logarithmsOf(const Sum &sum, Sum &rest);

/// A reduction's branches as a sum of calls of their values.
Sum branchesAsTerms(const Factor &reduction);

class Checker {
public:
  Checker(Decider &decider, Names &names, const Assumptions &assumptions,
          llvm::ArrayRef<Need> given)
      : decider(decider), names(names), assumptions(assumptions), given(given) {
  }

  /// Whether the proof shows that `sum` is 0, modulo 2^width where width is not
  /// 0.
  bool isZero(const Context &context, const Sum &sum, unsigned width,
              const Zero &proof);
  /// Does a step; false where it is none.
  bool apply(const Step &step, const Context &context, Sum &sum);
  /// Whether a value, a residue modulo 2^width unless width is 0, is not 0, not
  /// negative or positive wherever all of `path` are 1.
  bool isShown(Need::Kind kind, unsigned width, const Context &context,
               const Sum &value, llvm::ArrayRef<Sum> path, const Shown &proof);
  /// The factor at a place (Zero), if it mentions nothing that is bound there;
  /// null otherwise.
  FactorRef factorAt(llvm::ArrayRef<std::array<unsigned, 3>> place,
                     const Sum &sum);
  /// Whether signs alone say so.
  bool isNotNegative(const Context &context, const Sum &sum);
  bool isPositive(const Context &context, const Sum &sum);
  /// The first reason why something was refused.
  const std::string &getFailure() const { return failure; }
  /// Whether some step or group has made terms come or go, which floats may
  /// notice (0 times infinity, infinity less infinity), rather than reordered
  /// them.
  bool cancelsTerms() const { return cancelled; }

private:
  bool fail(const char *reason);
  bool cancels(const Context &context, const Sum &sum, unsigned width,
               const Group &group);
  void noteCancelled(const Sum &sum, const Group &group);
  void noteCancelled(const Step &step, const Sum &sum);
  bool isMember(const Context &context, const Term &term, const Term &reference,
                const Member &member, Formula &where, Integer &weight);
  bool matches(const Context &context, const Factor &factor,
               const Factor &partner, const Match &match);
  bool covers(const Context &context, const Branch &branch,
              llvm::ArrayRef<Branch> others, llvm::ArrayRef<Cover> covers);
  bool applyTo(const Step &step, const Context &context, Sum &sum);
  bool applyInside(const Step &step, size_t depth, const Context &context,
                   Sum &sum);
  bool applyToBranches(const Step &step, const Context &inside, Factor &factor);
  bool ends(const Context &context, const Sum &sum, unsigned width,
            const Zero &proof);
  bool byTruth(const Context &context, const Sum &sum, unsigned width,
               const Zero &proof);
  bool byAbsurdity(const Context &context, const Zero &proof);
  bool byLogarithms(const Context &context, const Sum &sum, const Zero &proof);
  bool byClearing(const Context &context, const Sum &sum, const Zero &proof);
  bool multiplyInto(Sum &sum, const Sum &factor);
  bool split(const Step &step, const Context &context, Sum &sum);
  bool count(const Step &step, const Context &context, Term &term);
  bool rewrite(const Step &step, const Context &context, Term &term);
  bool unwrap(const Step &step, const Context &context, Sum &sum);
  bool flatten(const Step &step, std::vector<Branch> &branches);
  bool take(const Step &step, const Context &context, Sum &sum);
  bool takeTerm(const Step &step, std::vector<Branch> &branches, Sum &taken);
  bool takeFactor(const Step &step, const Context &inside,
                  std::vector<Branch> &branches, Sum &taken);
  bool applyFact(const Step &step, const Context &context, Sum &sum);
  bool factOfOne(const Step &step, const Context &inside, const Term &term,
                 Sum &value);
  bool factOfTwo(const Step &step, const Context &inside, const Term &term,
                 Sum &value);
  bool isNotZero(unsigned width, const Context &context, const Sum &value);
  bool isBounded(Need::Kind kind, const Context &context, const Sum &value,
                 const Shown &proof);
  bool isPositiveAt(const Context &context, const Sum &value,
                    const Shown &proof);
  bool factOfFunction(const Step &step, const Context &inside, const Term &term,
                      Sum &value);
  bool choose(const Step &step, const Context &inside, const Factor &factor,
              Sum &value);
  bool isOfSome(const Context &inside, const Branch &branch,
                llvm::ArrayRef<Integer> point);
  bool isInDomain(const ScalarFunction &facts, const Context &context,
                  const Sum &argument, llvm::ArrayRef<Sum> path,
                  const Shown &proof);
  bool takeFunction(const Step &step, const Context &inside,
                    const std::vector<Branch> &branches, Sum &value);
  bool sameOrder(const Step &step, const Context &inside, const Factor &factor,
                 llvm::ArrayRef<Sum> path, Sum &value);
  bool orderOfMaximum(const Step &step, const Context &inside,
                      const Factor &factor, Sum &value);
  bool scaleOrder(const Step &step, const Factor &factor, Sum &value);
  // Of numbers and residues (Residues.cpp).
  bool ofNumber(const Context &inside, const Factor &factor, Sum &value);
  bool ofBits(const Factor &factor, Sum &value);
  bool commute(const Factor &factor, Sum &value);
  bool lowBits(const Rational &coefficient, const Factor &factor, Sum &value);
  bool divideByOne(const Factor &factor, Sum &value);
  bool orderEnds(const Factor &factor, Sum &value);
  bool ofNothing(const Factor &factor, Sum &value);
  const Need *givenAt(const Context &context, const Shown &proof,
                      llvm::ArrayRef<Sum> path, Sum &value);
  bool isGiven(Need::Kind kind, unsigned width, const Context &context,
               const Sum &value, llvm::ArrayRef<Sum> path, const Shown &proof);
  bool isShownByTruth(Need::Kind kind, unsigned width, const Context &context,
                      const Sum &value, llvm::ArrayRef<Sum> path,
                      const Shown &proof);
  /// 2: positive, 1: not negative, 0: unknown.
  int signOf(const Context &context, const Factor &factor);
  int signOfFunction(const Context &context, UnaryFn function, const Sum &x);
  int signOfCall(const Context &context, const Factor &call);
  int signOfReduction(const Context &context, const Factor &reduction);

  Decider &decider;
  Names &names;
  const Assumptions &assumptions;
  llvm::ArrayRef<Need> given;
  std::string failure;
  unsigned depth = 0;
  bool cancelled = false;
};

} // namespace mlc::kernel

#endif // MLC_VERIFIER_KERNEL_CHECK_H
