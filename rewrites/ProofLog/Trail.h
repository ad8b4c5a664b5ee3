//===- Trail.h - Proof that the rewritten is the model ----------*- C++ -*-===//
//
// A search hands back, beside the rewritten function, a trail: which rules, in
// which order, bound to what, make the result equal to the function that the
// search was given. A small checker replays it; it needs no search engine.
//
// Terms are numbered. Those of a function begin with its arguments; then come
// the results of its operators in order, each result one term. A step makes
// the results of `after`'s operators the next terms, in order, whether or not
// an equal term stands there already. Two terms are equal when a step of a rule
// that is proved both ways says so, or when congruence does (the same operator,
// attributes and equal operands). Of other rules `after` *refines* `before`: it
// is equal wherever that is defined. So do all results of a step whose `before`
// lies over what only refines an operand.
//
// The function is the one that the search begins with: after import, constant
// folding and common-subexpression elimination.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_PROOFLOG_TRAIL_H
#define MLC_REWRITES_PROOFLOG_TRAIL_H

#include "dialects/Interfaces/Attributes.h"
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

/// An argument of a rule that neither side reads. Not ~0u, with which a
/// DenseMap marks what is free.
inline constexpr TermId noTerm = ~0u >> 1;

/// One application of a rule. Effect: `after`'s operators are built over the
/// terms of the arguments, and each result of `before` equals, or is refined
/// by, the result of `after` at its place.
struct TrailStep {
  std::string rule, hash;
  /// What stands for each argument of the rule.
  std::vector<TermId> arguments;
  /// What stands for the results of `before`'s operators, in order. Their
  /// operands match up to what the steps before this one say.
  std::vector<TermId> before;
  /// The value of every integer symbol, as IntExpr prints it, and of every
  /// real one, as `%.17g` does. Symbols that only `after` has are among them.
  std::map<std::string, std::string> integers, reals;
  /// Names of the model's operators that `before` lies over.
  std::vector<std::string> places;
  /// Predicted: what the operators that it lay over and that are gone took,
  /// less what those take that it made and that are there in the end. The
  /// gains of all steps add up to what the whole takes less.
  double gainSeconds = 0;

  /// `c = 64, k = 3`.
  std::string bindings() const;
};

/// The name of a model's node in the location of an operator made from it;
/// empty when there is none.
std::string placeOf(mlir::Location loc);

/// A real number as trails write it.
std::string realText(RealAttr real);

/// An operator of the result: that of `term` (its first result), reading the
/// terms `operands`, each of which is an argument or a result of an operator
/// chosen before it, and equals or refines the operand that `term` was made
/// with.
struct ChosenOperator {
  TermId term;
  std::vector<TermId> operands;
};

struct Trail {
  std::string function;
  std::vector<TrailStep> steps;
  /// The result's operators in the order in which they stand.
  std::vector<ChosenOperator> chosen;
  /// What the result returns: arguments or results of chosen operators, which
  /// equal or refine what the function returned.
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
/// An argument without a term is null. Errors of parsing name what is missing.
llvm::json::Value toJson(llvm::ArrayRef<Trail> trails);
llvm::Expected<std::vector<Trail>> parseTrails(llvm::StringRef json);

/// The module attribute `mlc.trail`: the JSON as a string.
void setTrails(mlir::ModuleOp module, llvm::ArrayRef<Trail> trails);
/// Empty when there is none.
llvm::Expected<std::vector<Trail>> getTrails(mlir::ModuleOp module);

} // namespace mlc

#endif // MLC_REWRITES_PROOFLOG_TRAIL_H
