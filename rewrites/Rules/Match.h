//===- Match.h - Finding and applying a rule in a graph ---------*- C++ -*-===//
//
// A rule matches where its `before` graph occurs in the model for some binding
// of its symbols: dims of arguments and attributes are equations between the
// rule's expressions and the model's, solved for the rule's symbols. A rule
// with several results is a multi-output pattern; its parts are found through
// shared values.
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

/// At most `limit` matches of `rule`, in a fixed order, in which `root` gives
/// `before`'s first result, the condition holds and inner values are not used
/// outside.
llvm::SmallVector<Match, 1> findMatches(Rule &rule, mlir::Operation *root,
                                        unsigned limit = 8);

/// Builds `after` at `match` and returns its results; leaves the matched
/// operators in place. Fails, and removes what it built, if an operator of
/// `after` cannot be built or a result has another type.
mlir::FailureOr<llvm::SmallVector<mlir::Value>>
buildAfter(const Match &match, mlir::OpBuilder &builder,
           llvm::SmallVectorImpl<mlir::Operation *> &created);

} // namespace mlc

#endif // MLC_REWRITES_RULES_MATCH_H
