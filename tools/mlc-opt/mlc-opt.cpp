//===- mlc-opt.cpp - Runs mlc's passes on MLIR files ----------------------===//

#include "dialects/Rule/Rule.h"
#include "dialects/Symbolic/Attributes.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "passes/Pipeline.h"
#include "tools/CommandLine.h"

int main(int argc, char **argv) {
  mlc::startTool();
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  registry.insert<mlc::MlcDialect, mlc::rule::RuleDialect>();
  mlc::registerCompilerDialects(registry);
  mlir::registerAllPasses();
  mlc::registerPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "mlc's optimizer driver\n", registry));
}
