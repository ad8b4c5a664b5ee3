//===- Prepare.cpp - Passes before rules ----------------------------------===//

#include "passes/Optimize/Prepare.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Base/Passes.h"
#include "passes/Optimize/ConstantFold.h"

void mlc::addPreparePasses(mlir::OpPassManager &pm) {
  // Folds arithmetic on constants and shapes before rules match constants.
  pm.addNestedPass<mlir::func::FuncOp>(createConstantFoldPass());
  // Merges equal subgraphs.
  pm.addPass(mlir::createCSEPass());
}

mlir::LogicalResult mlc::prepare(mlir::ModuleOp module) {
  mlir::PassManager passes(module.getContext());
  addPreparePasses(passes);
  return passes.run(module);
}
