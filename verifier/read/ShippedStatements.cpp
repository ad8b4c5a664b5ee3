//===- ShippedStatements.cpp - Statements of the shipped rules ------------===//

#include "verifier/read/ShippedStatements.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/raw_ostream.h"

namespace mlc::verifier {

std::string hashOfStatement(mlir::func::FuncOp before,
                            mlir::func::FuncOp after) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (mlir::func::FuncOp function : {before, after}) {
    mlir::OwningOpRef<mlir::func::FuncOp> copy = function.clone();
    copy->setSymName(function == before ? "before" : "after");
    copy->print(os, mlir::OpPrintingFlags()
                        .enableDebugInfo(false)
                        .useLocalScope()
                        .printGenericOpForm());
    os << '\n';
  }
  llvm::BLAKE3 hasher;
  hasher.update(text);
  return llvm::toHex(hasher.final<16>(), /*LowerCase=*/true);
}

} // namespace mlc::verifier
