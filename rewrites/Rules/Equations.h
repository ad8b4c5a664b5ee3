//===- Equations.h - Values of a rule's symbols -----------------*- C++ -*-===//
//
// When a rule matches a graph, dims and attributes give equations between the
// rule's expressions and the graph's, which are solved for the rule's symbols.
// Every engine solves equations and checks conditions here.
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

  /// Solves as many equations as possible; false if one cannot hold. In a
  /// product of symbols that nothing else determines, all but one become 1.
  bool solve();
  bool isSolved() const { return pending.empty(); }

  /// Calls `visit` with every solution. If a number is the product of the two
  /// symbols of one of `splits` and nothing else determines these, visits up to
  /// `maxFactors` factorizations, the smallest second factors first. Other
  /// products are solved as in solve().
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

/// Whether the condition certainly holds under the bindings (symbols of the
/// graph are non-negative and otherwise unknown).
bool holds(const Condition &condition, const Bindings &bindings);
/// Whether the assumption certainly holds; false if the parameter is not bound
/// to a number.
bool holds(const RealAssumption &assumption, const Bindings &bindings);
/// Whether all numbers among the bindings satisfy the proof's assumptions
/// (Rule::admits). A symbol may be bound to another symbol.
bool realsFit(const Rule &rule, const Bindings &bindings);
/// Whether every element of a literal has the property.
bool elementsAre(mlir::DenseElementsAttr elements, ElementPredicate predicate);

} // namespace mlc

#endif // MLC_REWRITES_RULES_EQUATIONS_H
