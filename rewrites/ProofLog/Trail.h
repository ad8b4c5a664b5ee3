//===- Trail.h - Proofs of rewritten functions ------------------*- C++ -*-===//
//
// A search returns a trail with the rewritten function: the rules, in order and
// with their bindings, that make the result equal to the original function. A
// small checker replays it; it needs no search engine.
//
// Terms are numbered. Those of a function begin with its arguments; then come
// the results of its operators in order, each result one term. A step makes the
// results of `after`'s operators the next terms, in order, whether or not an
// equal term already exists. A step of a rule that is proved both ways makes
// terms equal, and so does congruence (the same operator, attributes and equal
// operands). For other rules `after` *refines* `before`: it is equal wherever
// that is defined. The same holds for all results of a step if a term that
// `before` matches only refines an operand.
//
// The function is the one that the search begins with: after import, constant
// folding and common-subexpression elimination.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_PROOFLOG_TRAIL_H
#define MLC_REWRITES_PROOFLOG_TRAIL_H

#include "dialects/Symbolic/Attributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Location.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <map>
#include <string>
#include <vector>

namespace mlc {

/// A result of an operator, or an argument of the function.
using TermId = unsigned;

/// An argument of a rule that neither side reads. Not ~0u, which DenseMap uses
/// as its empty key.
inline constexpr TermId noTerm = ~0u >> 1;

/// One application of a rule. Effect: `after`'s operators are built over the
/// terms of the arguments, and each result of `before` equals, or is refined
/// by, the corresponding result of `after`.
struct TrailStep {
  std::string rule, hash;
  /// The term bound to each argument of the rule.
  std::vector<TermId> arguments;
  /// The terms bound to the results of `before`'s operators, in order. Their
  /// operands match up to the equalities of earlier steps.
  std::vector<TermId> before;
  /// The value of every integer symbol, as IntExpr prints it, and of every
  /// real one, as `%.17g` does. Symbols that only `after` has are among them.
  std::map<std::string, std::string> integers, reals;
  /// Names of the model's operators that `before` matches.
  std::vector<std::string> places;
  /// Predicted gain: the time of removed operators that it matched, less the
  /// time of remaining operators that it made. The gains of all steps add up to
  /// the total gain.
  double gainSeconds = 0;

  /// `c = 64, k = 3`.
  std::string bindings() const;
};

/// The name of a model's node in the location of an operator made from it;
/// empty when there is none.
std::string placeOf(mlir::Location loc);

/// A real number as trails write it.
std::string realText(RealAttr real);

/// An operator of the result: the one that made `term` (its first result),
/// reading the terms `operands`. Each of these is an argument or a result of an
/// operator chosen before, and equals or refines the operand that `term` was
/// made with.
struct ChosenOperator {
  TermId term;
  std::vector<TermId> operands;
};

struct Trail {
  std::string function;
  std::vector<TrailStep> steps;
  /// The result's operators, in order.
  std::vector<ChosenOperator> chosen;
  /// The terms that the result returns: arguments or results of chosen
  /// operators that equal or refine what the function returned.
  std::vector<TermId> outputs;
};

/// The trails of a module's functions as one JSON array, and back. JSON form
/// of a trail:
///
///   {"function": "main",
///    "steps": [{"rule": "relu_of_relu", "hash": "…", "arguments": [0],
///               "before": [4, 5], "integers": {"a": "N"}, "reals": {},
///               "places": ["Relu_3"], "gain": 1e-06}],
///    "chosen": [[1], [2, 0, 1]],        first the term, then its operands
///    "outputs": [2]}
///
/// An argument without a term is null. Parse errors name what is missing.
llvm::json::Value toJson(llvm::ArrayRef<Trail> trails);
llvm::Expected<std::vector<Trail>> parseTrails(llvm::StringRef json);

/// The module attribute `mlc.trail`: the JSON as a string.
void setTrails(mlir::ModuleOp module, llvm::ArrayRef<Trail> trails);
/// Empty when there is none.
llvm::Expected<std::vector<Trail>> getTrails(mlir::ModuleOp module);

} // namespace mlc

#endif // MLC_REWRITES_PROOFLOG_TRAIL_H
