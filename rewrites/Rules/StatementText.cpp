//===- StatementText.cpp - The statement of a rule as text ----------------===//

#include "rewrites/Rules/StatementText.h"
#include "verifier/read/AssumeText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace mlc {

/// Removes attributes that only rules may have.
static void removeRuleAttributes(mlir::func::FuncOp function) {
  auto isOfRules = [](mlir::NamedAttribute attribute) {
    return attribute.getName().strref().starts_with("rule.");
  };
  for (mlir::NamedAttribute attribute :
       llvm::to_vector(function->getDiscardableAttrs()))
    if (isOfRules(attribute))
      function->removeAttr(attribute.getName());
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    for (mlir::NamedAttribute attribute : llvm::to_vector(
             mlir::function_interface_impl::getArgAttrs(function, i)))
      if (isOfRules(attribute))
        function.removeArgAttr(i, attribute.getName());
}

static std::string textOf(mlir::func::FuncOp function) {
  std::string text;
  llvm::raw_string_ostream os(text);
  function.print(os, mlir::OpPrintingFlags().printNameLocAsPrefix());
  return text;
}

std::string statementText(llvm::StringRef name, mlir::func::FuncOp before,
                          mlir::func::FuncOp after,
                          const Assumptions &assumptions) {
  std::string text;
  for (auto [function, suffix] :
       {std::pair(before, "_before"), std::pair(after, "_after")}) {
    mlir::OwningOpRef<mlir::func::FuncOp> copy = function.clone();
    copy->setSymName((name + suffix).str());
    removeRuleAttributes(*copy);
    if (!writeAssumptions(*copy,
                          function == before ? assumptions : Assumptions()))
      return {};
    text += textOf(*copy) + "\n";
  }
  return text;
}

} // namespace mlc
