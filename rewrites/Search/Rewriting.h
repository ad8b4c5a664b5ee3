//===- Rewriting.h - A function that rules change step by step --*- C++ -*-===//
//
// What engines share that change a function in place: building the other side
// of a match to see what it would cost, putting it in, and keeping the trail.
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

/// Whether the sides of a rule hold the same operators, by name and attributes,
/// on the same types, or are made of one operator alone: regrouping a sum or a
/// concatenation. Such a rule makes nothing cheaper, and a chain of n operators
/// has more orders than any search can look at.
bool onlyReorders(Rule &rule);

/// Whether a rule only takes a slice from one side of an operator to the other:
/// the rows of a product are a product of rows. Where products were merged, it
/// leads back to them, and to all ways to merge some of them and not others.
bool onlyMovesSlice(Rule &rule);

/// Whether engines use a rule to look for something cheaper: what does neither.
/// Others serve to prove that rules follow from one another.
bool isForSearch(Rule &rule);

/// Rules that may be applied under `fp`, leave nothing open and are for search,
/// by the name of the operator that gives `before`'s first result.
llvm::StringMap<llvm::SmallVector<Rule *>> rulesByRoot(RuleSet &rules,
                                                       FpMode fp);

/// The other side of a match, built beside it.
struct Attempt {
  /// In order; null where an equal operator stands there already.
  llvm::SmallVector<mlir::Operation *> built;
  /// Those that are new.
  llvm::SmallVector<mlir::Operation *> created;
  llvm::SmallVector<mlir::Value> results;
  double gainSeconds = 0; ///< predicted; negative: it costs more
};

class Rewriting {
public:
  /// Starts the trail of `function`.
  explicit Rewriting(mlir::func::FuncOp function);
  /// The same point of the search in `function`, a copy that was made with
  /// `mapping`.
  Rewriting(const Rewriting &other, mlir::func::FuncOp function,
            const mlir::IRMapping &mapping);

  mlir::func::FuncOp getFunction() const { return function; }
  const Trail &getTrail() const { return trail; }

  /// Builds `after`; nothing when that fails or would make a cycle. The caller
  /// undoes or commits it before the next attempt.
  std::optional<Attempt> attempt(const Match &match, const CostModel &cost);
  void undo(const Attempt &attempt);

  /// Operators that the step took away, and those that it changed the
  /// surroundings of or made.
  struct Effect {
    llvm::SmallVector<mlir::Operation *> erased; ///< dangling
    llvm::SetVector<mlir::Operation *> affected;
  };
  Effect commit(const Match &match, const Attempt &attempt);

  /// Ends the trail with what stands in the function now.
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
  /// Operators that read what only refines an operand of their term.
  llvm::DenseSet<mlir::Operation *> refined;
};

/// A match in the function that another was copied to with `mapping`.
Match mapped(const Match &match, const mlir::IRMapping &mapping);

} // namespace mlc

#endif // MLC_REWRITES_SEARCH_REWRITING_H
