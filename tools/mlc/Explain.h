//===- Explain.h - What a search did to a model, for people -----*- C++ -*-===//
//
//   auto explanation = Explanation::make(prepared, trail, rules, cost);
//   explanation->print(os);      each step: rule, place, condition, gain; and
//                                steps that do not pay on the target
//   explanation->drawSvg(os);    both graphs, what was rewritten marked
//
// Weights and what is computed from them alone are left out of the drawings.
// Of graphs that are too large to be read only what was rewritten is drawn,
// with its neighbours, and equal parts once.
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
  /// Of the function that `trail` is about, as it stood before the search.
  /// Fails where the trail does not replay: nothing is explained that is not
  /// true. `rules` outlives the result. `cost` is what the search was led by.
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

/// The steps of a trail as text. Where `rules` knows a rule, with what it says
/// and its condition.
void printSteps(llvm::raw_ostream &os, const Trail &trail, RuleSet *rules);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_EXPLAIN_H
