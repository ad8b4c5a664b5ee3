//===- Scalar.h - The normal form of one element ----------------*- C++ -*-===//
//
// An element of a tensor as a sum of terms
//
//   coefficient * sum over variables, where guards hold, of product of atoms
//
// over the inputs. An atom is an element of an input, a real parameter, an
// integer used as a number, a call of a function that is not taken apart, or a
// reduction by another monoid (maximum) over branches.
//
// Variables are symbols '%n' >= 0, each bound once on every path from the root
// (never shadowed); upper bounds are guards like any other. A term stands for 0
// where a guard fails.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_SEARCH_SCALAR_H
#define MLC_VERIFIER_SEARCH_SCALAR_H

#include "mlir/Analysis/Presburger/Fraction.h"
#include "verifier/search/Head.h"
#include "verifier/search/Index.h"
#include <functional>
#include <string>

namespace mlc::verifier {

using mlir::presburger::Fraction;

struct Atom;
using AtomRef = std::shared_ptr<const Atom>;

struct Factor {
  AtomRef atom;
  int power = 1;
};

/// Where a term's variables live.
struct Domain {
  llvm::SmallVector<IntExpr, 4> variables;
  llvm::SmallVector<Guard, 4> guards;
};

struct Term {
  Fraction coefficient{1};
  Domain domain;
  std::vector<Factor> factors;
};

struct Sum {
  std::vector<Term> terms;

  bool isZero() const { return terms.empty(); }
};

/// A part of a reduction: `value` for every point of the domain.
struct Branch {
  Domain domain;
  Sum value;
};

struct Atom {
  enum class Kind { Read, Real, Integer, Call, Reduce };
  explicit Atom(Kind kind) : kind(kind) {}

  Kind kind;
  /// Real: the parameter.
  std::string name;
  /// Call: the function; Reduce: the monoid.
  Head head;
  /// Read: the input.
  unsigned tensor = 0;
  /// Read: the indices. Integer: the one expression.
  llvm::SmallVector<IntExpr, 4> index;
  std::vector<Sum> arguments;   // Call
  std::vector<Branch> branches; // Reduce
  bool isBoolean = false;       // 0 or 1: x * x = x
};

/// The name of a real that is no parameter.
inline constexpr llvm::StringLiteral infinity = "%inf";

AtomRef makeReal(llvm::StringRef name);
AtomRef makeInteger(IntExpr expr);
AtomRef makeRead(unsigned tensor, llvm::ArrayRef<IntExpr> index,
                 bool isBoolean);
AtomRef makeCall(Head function, std::vector<Sum> arguments,
                 bool isBoolean = false);
/// A call of a function of which nothing is known but its text.
AtomRef makeUninterpreted(const llvm::Twine &function,
                          std::vector<Sum> arguments, bool isBoolean = false);

/// The number that a finite double is.
Fraction exactFraction(double value);

/// Sums.
Sum constantSum(Fraction value);
Sum atomSum(AtomRef atom, int power = 1);
Sum scaled(const Sum &sum, const Fraction &factor);
inline Sum negated(const Sum &sum) { return scaled(sum, Fraction(-1)); }
/// Where all guards hold.
Sum guarded(Sum sum, llvm::ArrayRef<Guard> guards);
/// 1 where all guards hold, else 0.
Sum indicator(llvm::ArrayRef<Guard> guards);
/// Merges like terms; counts those that vanish.
Sum add(const Sum &a, const Sum &b);
std::optional<Fraction> asConstant(const Sum &sum);
/// The one factor of a sum that is a bare atom with coefficient 1.
const Factor *asSingleFactor(const Sum &sum);

/// Replaces free symbols throughout.
Sum substitute(const Sum &sum, const Substitution &substitution);
Term substitute(const Term &term, const Substitution &substitution);
Branch substitute(const Branch &branch, const Substitution &substitution);

/// Calls `callback` for every index expression and guard inside, at any depth.
void walkIndices(const Sum &sum, llvm::function_ref<void(IntExpr)> callback);
void walkIndices(const Term &term, llvm::function_ref<void(IntExpr)> callback);
void walkIndices(const Atom &atom, llvm::function_ref<void(IntExpr)> callback);
bool mentions(const Atom &atom, IntExpr symbol);
bool mentions(const Sum &sum, IntExpr symbol);

/// Equality up to the names of bound variables and the order of terms; says no
/// more often than it must.
bool sameSum(const Sum &a, const Sum &b);
bool sameAtom(const Atom &a, const Atom &b);

/// The kind of an atom: what a partner in a proof must share.
std::string headOf(const Atom &atom);
/// The heads of a term's factors, sorted.
std::string signatureOf(const Term &term);

std::string str(const Sum &sum);
std::string str(const Term &term);
std::string str(const Atom &atom);

} // namespace mlc::verifier

#endif // MLC_VERIFIER_SEARCH_SCALAR_H
