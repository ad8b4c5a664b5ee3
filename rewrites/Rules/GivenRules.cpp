//===- GivenRules.cpp - Rules of a user's file ----------------------------===//

#include "rewrites/Rules/GivenRules.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlc;

mlir::LogicalResult GivenRules::addTo(RuleSet &rules,
                                      mlir::MLIRContext *context) const {
  const size_t first = rules.rules.size();
  if (failed(addRuleFile(rules, context, text, file)))
    return mlir::failure();
  for (Rule &rule : llvm::drop_begin(rules.rules, first))
    rule.proved = proofs.at(rule.hash);
  return mlir::success();
}

mlir::LogicalResult mlc::addRules(RuleSet &rules, mlir::MLIRContext *context,
                                  llvm::ArrayRef<GivenRules> given) {
  if (failed(addShippedRules(rules, context)))
    return mlir::failure();
  for (const GivenRules &file : given)
    if (failed(file.addTo(rules, context)))
      return mlir::failure();
  return mlir::success();
}
