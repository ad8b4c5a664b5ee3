//===- mlc-lsp-server.cpp - mlc's dialects for editors --------------------===//
//
// The language server of MLIR with mlc's dialects: errors, completion and
// definitions in .mlir files of graphs, rules and programs (docs/Embed.md).
//
//===----------------------------------------------------------------------===//

#include "dialects/Rule/Rule.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "passes/Pipeline.h"
#include "tools/CommandLine.h"

int main(int argc, char **argv) {
  mlc::startTool();
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  registry.insert<mlc::rule::RuleDialect>();
  mlc::registerCompilerDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
