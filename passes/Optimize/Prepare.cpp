//===- Prepare.cpp - What is done before rules ----------------------------===//

#include "passes/Optimize/Prepare.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Base/Passes.h"
#include "passes/Optimize/ConstantFold.h"

void mlc::addPreparePasses(mlir::OpPassManager &pm) {
  // Arithmetic on constants and shapes, before rules look at what is constant.
  pm.addNestedPass<mlir::func::FuncOp>(createConstantFoldPass());
  // Equal subgraphs once.
  pm.addPass(mlir::createCSEPass());
}

mlir::LogicalResult mlc::prepare(mlir::ModuleOp module) {
  mlir::PassManager passes(module.getContext());
  addPreparePasses(passes);
  return passes.run(module);
}
