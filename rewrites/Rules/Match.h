//===- Match.h - Finding and applying a rule in a graph ---------*- C++ -*-===//
//
// A rule matches where its `before` graph lies in the model with some binding
// of its symbols: dims of arguments and attributes are equations between the
// rule's expressions and the model's, solved for the rule's symbols. Several
// results make a multi-output pattern; its parts are found through the values
// that they share.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_RULES_MATCH_H
#define MLC_REWRITES_RULES_MATCH_H

#include "mlir/IR/PatternMatch.h"
#include "rewrites/Rules/Equations.h"
#include "rewrites/Rules/Rule.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace mlc {

struct Match : Bindings {
  Rule *rule = nullptr;
  /// Values of `before` (arguments and results of its operators) in the model.
  llvm::DenseMap<mlir::Value, mlir::Value> values;
  /// The model's operators in `before`'s order.
  llvm::SmallVector<mlir::Operation *> operations;
};

/// Matches of `rule` in which `root` is the operator that gives `before`'s
/// first result, at most `limit` of them, in a fixed order. Only those whose
/// condition holds and whose inner values are not used outside.
llvm::SmallVector<Match, 1> findMatches(Rule &rule, mlir::Operation *root,
                                        unsigned limit = 8);

/// Builds `after` where `match` lies and returns its results; leaves the
/// matched operators in place. Fails, with nothing left behind, when an
/// operator of `after` cannot be built or a result's type is another.
mlir::FailureOr<llvm::SmallVector<mlir::Value>>
buildAfter(const Match &match, mlir::OpBuilder &builder,
           llvm::SmallVectorImpl<mlir::Operation *> &created);

} // namespace mlc

#endif // MLC_REWRITES_RULES_MATCH_H
