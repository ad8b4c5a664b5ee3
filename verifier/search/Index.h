//===- Index.h - Facts about integers, and what follows cheaply -*- C++ -*-===//
//
// Facts are a conjunction of guards; `Facts::proves` is a quick, incomplete,
// syntactic prover that the normal form leans on, so that Z3 sees only what is
// hard.
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

#endif // MLC_VERIFIER_SEARCH_INDEX_H
