//===- Equations.h - Values of a rule's symbols -----------------*- C++ -*-===//
//
// Where a rule lies over a graph, dims and attributes are equations between
// the rule's expressions and the graph's, solved for the rule's symbols. Every
// engine that matches rules solves them here and asks here whether a condition
// holds.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_RULES_EQUATIONS_H
#define MLC_REWRITES_RULES_EQUATIONS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "rewrites/Rules/Bindings.h"
#include "rewrites/Rules/Rule.h"
#include "verifier/Verifier.h"

namespace mlc {

/// Equations between a rule's expressions and a graph's, solved as far as the
/// bindings allow.
class Equations {
public:
  /// Solutions are added to `bindings`.
  explicit Equations(Bindings &bindings) : bindings(bindings) {}

  void add(IntExpr pattern, IntExpr actual) {
    pending.push_back({pattern, actual});
  }

  /// Solves what can be solved; false when an equation cannot hold. Of a
  /// product of symbols that nothing else decides, all but one are 1.
  bool solve();
  bool isSolved() const { return pending.empty(); }

  /// Calls `visit` with every solution. A number that is a product of the two
  /// symbols of one of `splits`, which nothing else decides, is split in every
  /// way, at most `maxFactors`, the smallest second factors first; other
  /// products as solve() does.
  void forEachSolution(llvm::ArrayRef<Split> splits,
                       llvm::function_ref<void(const Bindings &)> visit);
  static constexpr unsigned maxFactors = 16;

private:
  enum class Outcome { Solved, Contradiction, Waiting };
  /// A symbol that may be any of the values.
  struct Choice {
    std::string symbol;
    llvm::SmallVector<int64_t> values;
  };
  Outcome step(IntExpr pattern, IntExpr actual);
  bool solveDetermined();
  std::optional<Choice> openFactor(llvm::ArrayRef<Split> splits) const;

  Bindings &bindings;
  llvm::SmallVector<std::pair<IntExpr, IntExpr>> pending;
};

/// Whether the condition holds for sure under the bindings (symbols of the
/// graph are non-negative and otherwise unknown).
bool holds(const Condition &condition, const Bindings &bindings);
/// Whether it is known to; not when the parameter has no number.
bool holds(const RealAssumption &assumption, const Bindings &bindings);
/// Whether all numbers among the bindings are what the proof assumes
/// (Rule::admits). A symbol may stand for another.
bool realsFit(const Rule &rule, const Bindings &bindings);
/// Whether every element of a literal has the property.
bool elementsAre(mlir::DenseElementsAttr elements, ElementPredicate predicate);

} // namespace mlc

#endif // MLC_REWRITES_RULES_EQUATIONS_H
