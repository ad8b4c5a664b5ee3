//===- Sum.h - Elements as the proof kernel sees them -----------*- C++ -*-===//
//
// An element is a sum of terms
//
//   coefficient * sum over variables, where all guards hold, of the product of
//   its factors
//
// A factor is an element of an input, a real parameter, an integer as a number,
// a call, or a reduction over branches. Functions are total here: 1/0 has some
// value of which nothing is known. Where one must be defined is a need, which
// Unfold.h collects.
//
// Variables take all integers; what a guard does not forbid is meant. Guards
// leave finitely many points.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_KERNEL_SUM_H
#define MLC_VERIFIER_KERNEL_SUM_H

#include "dialects/Definition/NumberTypes.h"
#include "verifier/kernel/Head.h"
#include "verifier/kernel/Integer.h"

namespace mlc::kernel {

using Rational = mlir::presburger::Fraction;

struct Factor;
using FactorRef = std::shared_ptr<const Factor>;

struct Term {
  Rational coefficient{1};
  std::vector<Variable> variables;
  std::vector<Formula> guards;
  std::vector<FactorRef> factors;
  /// Of the second of two sums whose difference this belongs to. Without
  /// meaning for values: whether a proof cancels terms of one side.
  bool isAfter = false;
};

using Sum = std::vector<Term>;

/// A part of a reduction: `value` for every point.
struct Branch {
  std::vector<Variable> variables;
  std::vector<Formula> guards;
  Sum value;
};

struct Factor {
  enum class Kind { Read, Parameter, Number, Call, Reduce };

  Kind kind;
  /// Read: the input.
  unsigned input = 0;
  std::string parameter = {};
  /// Call: the function; Reduce: the monoid.
  Head head = {};
  /// Read: where; Number: the one integer.
  std::vector<Integer> index = {};
  std::vector<Sum> arguments = {};   // Call
  std::vector<Branch> branches = {}; // Reduce
  bool isTruth = false;              // 0 or 1, so its own square
};

FactorRef makeRead(unsigned input, std::vector<Integer> index, bool isTruth);
FactorRef makeParameter(llvm::StringRef name);
FactorRef makeNumber(Integer integer);
FactorRef makeCall(Head function, std::vector<Sum> arguments,
                   bool isTruth = false);
FactorRef makeReduce(Head monoid, std::vector<Branch> branches,
                     bool isTruth = false);

Sum constant(Rational value);
Sum single(FactorRef factor);
Sum scaled(Sum sum, const Rational &factor);
Sum add(Sum a, const Sum &b);
/// a less b, whose terms are marked as the second sum's.
Sum difference(Sum a, const Sum &b);
Sum guarded(Sum sum, llvm::ArrayRef<Formula> guards);
/// The number that it is, if it is one without variables, guards and factors.
std::optional<Rational> asConstant(const Sum &sum);

/// From which type a cast is to which; nothing for others.
std::optional<std::pair<NumberType, NumberType>> castOf(const Factor &factor);
/// Whether it calls this function, of one argument.
bool isCall(const Factor &factor, const Head &function);
/// Whether it joins by this monoid.
bool isReduce(const Factor &factor, const Head &monoid);
/// The function of the reals that it calls, of one argument; nothing for
/// others.
std::optional<UnaryFn> functionOf(const Factor &factor);
/// The factor that a sum is, times a number that is not 0; null where it is no
/// such thing.
const Factor *onlyFactor(const Sum &sum);

/// Numbers the variables of a statement.
class Names {
public:
  Variable fresh() { return next++; }

private:
  Variable next = 0;
};

/// Distributes. What b binds gets new names; what it mentions of a's variables
/// is of a's.
Sum multiply(const Sum &a, const Sum &b, Names &names);
/// Replaces variables that are free; all that are bound get new names, so that
/// nothing is captured.
Sum substitute(const Sum &sum, const Bindings &values, Names &names);
FactorRef substitute(const FactorRef &factor, const Bindings &values,
                     Names &names);
/// A term's variables get new names.
Term renamed(const Term &term, Names &names);
Branch renamed(const Branch &branch, Names &names);

/// Replaces an integer wherever it stands; it holds nothing that is bound
/// there.
FactorRef replaceInteger(const FactorRef &factor, const Integer &from,
                         const Integer &to);

bool mentions(const Sum &sum, Variable variable);
bool mentions(const Factor &factor, Variable variable);

/// Equal but for the names of what is bound; order matters.
bool same(const Sum &a, const Sum &b);
bool same(const Factor &a, const Factor &b);

/// For people; of a proof, Text.h.
std::string str(const Integer &integer);
std::string str(const Formula &formula);
std::string str(const Sum &sum);

/// The largest integer in it, in nodes (Integer::treeSize).
uint64_t largestIn(const Formula &formula);
uint64_t largestIn(const Factor &factor);

/// How many terms and factors it has, at all depths.
size_t sizeOf(const Sum &sum);
/// The same with its integers and their nodes: what new names for all that it
/// binds take.
uint64_t nodesOf(const Sum &sum);

} // namespace mlc::kernel

#endif // MLC_VERIFIER_KERNEL_SUM_H
