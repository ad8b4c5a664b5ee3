//===- Index.h - Facts about integers, and what follows cheaply -*- C++ -*-===//
//
// Facts are a conjunction of guards; `Facts::proves` is a quick, incomplete,
// syntactic prover for the normal form, so that Z3 gets only hard queries.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_SEARCH_INDEX_H
#define MLC_VERIFIER_SEARCH_INDEX_H

#include "verifier/read/Guard.h"
#include "llvm/ADT/DenseMap.h"
#include <memory>
#include <vector>

namespace mlc::verifier {

/// A conjunction of guards. Copies are cheap enough for rules.
class Facts {
public:
  Facts() = default;

  void add(const Guard &guard);
  Facts with(llvm::ArrayRef<Guard> more) const;
  llvm::ArrayRef<Guard> getGuards() const { return guards; }

  /// Whether a short search shows that expr >= 0 follows.
  bool provesNonNegative(IntExpr expr) const;
  bool provesPositive(IntExpr expr) const {
    return provesNonNegative(expr - 1);
  }
  bool implies(const Guard &guard) const;
  bool refutes(const Guard &guard) const { return implies(guard.negated()); }

  /// An equal expression: mod becomes floordiv, quotients with a known small
  /// remainder vanish, minima and maxima are decided where possible.
  IntExpr simplify(IntExpr expr) const;
  Guard simplify(const Guard &guard) const;

  /// The work of all such queries of this thread.
  static uint64_t getNumSearched();

private:
  bool search(IntExpr expr, unsigned depth, unsigned &fuel) const;
  void addDerived(IntExpr nonNegative);
  IntExpr simplifyFloorDiv(IntExpr dividend, IntExpr divisor) const;

  /// Results of earlier queries on these guards; copies share it.
  struct Memo {
    llvm::DenseMap<mlir::Attribute, bool> nonNegative;
    llvm::DenseMap<mlir::Attribute, IntExpr> simplified;
  };

  IntExpr simplifyOperands(IntExpr expr) const;

  std::vector<Guard> guards;
  /// Expressions >= 0 that the search may use.
  std::vector<IntExpr> nonNegatives;
  std::shared_ptr<Memo> memo = std::make_shared<Memo>();
};

} // namespace mlc::verifier

#endif // MLC_VERIFIER_SEARCH_INDEX_H
