//===- Explain.h - Explains the search on a model ---------------*- C++ -*-===//
//
//   auto explanation = Explanation::make(prepared, trail, rules, cost);
//   explanation->print(os);      each step: rule, place, condition, gain; and
//                                steps that do not pay on the target
//   explanation->drawSvg(os);    both graphs, what was rewritten marked
//
// The drawings omit weights and values computed from them alone. For graphs too
// large to read, they show only rewritten parts with their neighbours, and
// equal parts once.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_TOOLS_MLC_EXPLAIN_H
#define MLC_TOOLS_MLC_EXPLAIN_H

#include "mlir/IR/BuiltinOps.h"
#include "rewrites/ProofLog/Trail.h"
#include "rewrites/Rules/Rule.h"
#include "tools/mlc/DrawnPart.h"
#include "tools/mlc/ExplainChoices.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace mlc::cli {

class Explanation {
public:
  /// Explains `trail` on its function as it was before the search. Fails if the
  /// trail does not replay, so that no false explanation is given. `rules`
  /// outlives the result. `cost` is the cost model of the search.
  static llvm::Expected<Explanation> make(mlir::func::FuncOp before,
                                          const Trail &trail, RuleSet &rules,
                                          const CostModel &cost);

  void print(llvm::raw_ostream &os) const;
  /// One picture, all parts below one another.
  void drawSvg(llvm::raw_ostream &os) const;
  /// A page with the steps and the pictures; `title` names the model.
  void writeHtml(llvm::raw_ostream &os, llvm::StringRef title) const;

private:
  std::string captionOf(const DrawnPart &part) const;

  Trail trail;
  RuleSet *rules = nullptr; // outlives the explanation
  std::vector<Choice> choices;
  std::vector<DrawnPart> parts;
};

/// Prints the steps of a trail as text, with the statement and condition of
/// rules that `rules` knows.
void printSteps(llvm::raw_ostream &os, const Trail &trail, RuleSet *rules);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_EXPLAIN_H
