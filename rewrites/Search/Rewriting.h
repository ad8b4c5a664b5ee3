//===- Rewriting.h - A function that rules change step by step --*- C++ -*-===//
//
// Shared by engines that change a function in place: builds the other side of a
// match to price it, commits it, and keeps the trail.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_SEARCH_REWRITING_H
#define MLC_REWRITES_SEARCH_REWRITING_H

#include "mlir/IR/IRMapping.h"
#include "rewrites/Cost/Cost.h"
#include "rewrites/ProofLog/Trail.h"
#include "rewrites/Rules/Match.h"
#include "llvm/ADT/SetVector.h"

namespace mlc {

/// Whether both sides of a rule have the same operators, by name and
/// attributes, on the same types, or only a single kind of operator: regrouping
/// a sum or a concatenation. Such a rule makes nothing cheaper, and a chain of
/// n operators has more orders than any search can visit.
bool onlyReorders(Rule &rule);

/// Whether a rule only moves a slice from one side of an operator to the other:
/// rows of a product are a product of rows. After a merge of products it leads
/// back to the separate ones, and to all partial merges.
bool onlyMovesSlice(Rule &rule);

/// Whether engines search with the rule: it does neither of the above. Other
/// rules serve to derive rules from one another.
bool isForSearch(Rule &rule);

/// Rules that are applicable under `fp`, have no free symbols and are for
/// search, by the name of the operator that gives `before`'s first result.
llvm::StringMap<llvm::SmallVector<Rule *>> rulesByRoot(RuleSet &rules,
                                                       FpMode fp);

/// The other side of a match, built next to it.
struct Attempt {
  /// In order; null if an equal operator already exists.
  llvm::SmallVector<mlir::Operation *> built;
  /// The new ones.
  llvm::SmallVector<mlir::Operation *> created;
  llvm::SmallVector<mlir::Value> results;
  double gainSeconds = 0; ///< predicted; negative: it costs more
};

class Rewriting {
public:
  /// Starts the trail of `function`.
  explicit Rewriting(mlir::func::FuncOp function);
  /// The same state for `function`, a copy that was made with `mapping`.
  Rewriting(const Rewriting &other, mlir::func::FuncOp function,
            const mlir::IRMapping &mapping);

  mlir::func::FuncOp getFunction() const { return function; }
  const Trail &getTrail() const { return trail; }

  /// Builds `after`; nullopt if that fails or would make a cycle. The caller
  /// undoes or commits it before the next attempt.
  std::optional<Attempt> attempt(const Match &match, const CostModel &cost);
  void undo(const Attempt &attempt);

  /// Operators that the step removed, and those that it made or whose
  /// neighbours it changed.
  struct Effect {
    llvm::SmallVector<mlir::Operation *> erased; ///< dangling
    llvm::SetVector<mlir::Operation *> affected;
  };
  Effect commit(const Match &match, const Attempt &attempt);

  /// Ends the trail with the current content of the function.
  Trail finish();

private:
  void addTerms(mlir::Operation *op);
  mlir::Operation *equalOf(mlir::Operation *op) const;
  void shareEqual(Attempt &attempt);
  void record(const Match &match, const Attempt &attempt);

  mlir::func::FuncOp function;
  Trail trail;
  llvm::DenseMap<mlir::Value, TermId> terms;
  TermId numTerms = 0;
  /// Operators that read a value that only refines an operand of their term.
  llvm::DenseSet<mlir::Operation *> refined;
};

/// A match in the function that another was copied to with `mapping`.
Match mapped(const Match &match, const mlir::IRMapping &mapping);

} // namespace mlc

#endif // MLC_REWRITES_SEARCH_REWRITING_H
