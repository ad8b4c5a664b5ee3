//===- Index.h - Facts about integers, and what follows cheaply -*- C++ -*-===//
//
// Indices, extents and guards are IntExprs over dims, attributes and variables
// (symbols whose names begin with '%'). All symbols are non-negative. Facts are
// a conjunction of guards; `Facts::proves` is a quick, incomplete, syntactic
// prover that the normal form leans on, so that Z3 sees only what is hard.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_INDEX_H
#define MLC_VERIFIER_INDEX_H

#include "dialects/Interfaces/IntExpr.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include <map>
#include <memory>
#include <vector>

namespace mlc::verifier {

/// Names that the verifier gives: dims and parameters of a question never
/// begin so (ProgramBuilder and makeQuestion refuse what does).
inline bool isOwnName(llvm::StringRef name) { return name.starts_with("%"); }

/// expr >= 0, expr == 0 or expr != 0.
struct Guard {
  enum class Kind { NonNegative, Zero, NonZero };
  Kind kind = Kind::NonNegative;
  IntExpr expr;

  static Guard nonNegative(IntExpr e) { return {Kind::NonNegative, e}; }
  static Guard zero(IntExpr e) { return {Kind::Zero, e}; }
  static Guard nonZero(IntExpr e) { return {Kind::NonZero, e}; }
  /// a < b.
  static Guard less(IntExpr a, IntExpr b) { return nonNegative(b - a - 1); }

  Guard negated() const;
  bool operator==(const Guard &other) const {
    return kind == other.kind && expr == other.expr;
  }
};

/// coefficient * product of atoms.
struct IndexMonomial {
  int64_t coefficient;
  llvm::SmallVector<IntExpr, 3> atoms;

  IntExpr toExpr(mlir::MLIRContext *context) const;
};
llvm::SmallVector<IndexMonomial, 4> monomialsOf(IntExpr expr);

bool mentions(IntExpr expr, IntExpr symbol);
inline bool mentions(const Guard &guard, IntExpr symbol) {
  return mentions(guard.expr, symbol);
}

/// Symbols to expressions, by name.
using Substitution = std::map<std::string, IntExpr>;
IntExpr substitute(IntExpr expr, const Substitution &substitution);

/// A conjunction of guards. Copies are cheap enough for rules.
class Facts {
public:
  Facts() = default;

  void add(const Guard &guard);
  Facts with(llvm::ArrayRef<Guard> more) const;
  llvm::ArrayRef<Guard> getGuards() const { return guards; }

  /// Whether expr >= 0 follows, as far as a short search sees.
  bool provesNonNegative(IntExpr expr) const;
  bool provesPositive(IntExpr expr) const {
    return provesNonNegative(expr - 1);
  }
  bool implies(const Guard &guard) const;
  bool refutes(const Guard &guard) const { return implies(guard.negated()); }

  /// An equal expression: mod becomes floordiv, quotients whose rest is known
  /// to be small vanish, minima and maxima are decided where possible.
  IntExpr simplify(IntExpr expr) const;
  Guard simplify(const Guard &guard) const;

  /// The work of all such questions that this thread has asked, counted.
  static uint64_t getNumSearched();

private:
  bool search(IntExpr expr, unsigned depth, unsigned &fuel) const;
  void addDerived(IntExpr nonNegative);
  IntExpr simplifyFloorDiv(IntExpr dividend, IntExpr divisor) const;

  /// What was asked of these guards before; copies share it.
  struct Memo {
    llvm::DenseMap<mlir::Attribute, bool> nonNegative;
    llvm::DenseMap<mlir::Attribute, IntExpr> simplified;
  };

  IntExpr simplifyOperands(IntExpr expr) const;

  std::vector<Guard> guards;
  /// What search may use: expressions that are >= 0.
  std::vector<IntExpr> nonNegatives;
  std::shared_ptr<Memo> memo = std::make_shared<Memo>();
};

} // namespace mlc::verifier

#endif // MLC_VERIFIER_INDEX_H
