//===- Fuse.cpp - Kernels and the program that runs them ------------------===//

#include "passes/Fuse/Fuse.h"
#include "dialects/Exec/Exec.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/Form.h"
#include "passes/Fuse/ExecBuilder.h"
#include "passes/Fuse/Prepare.h"

using namespace mlir;
using llvm::SmallVector;

namespace mlc {

LogicalResult fuse(ModuleOp module) {
  auto function = module.lookupSymbol<func::FuncOp>("main");
  if (!function || !llvm::hasSingleElement(function.getBody()))
    return module.emitError("needs a function @main of one block");
  prepareForFusion(function);
  FailureOr<ShapeTable> shapes = ShapeTable::build(function);
  if (failed(shapes))
    return failure();
  Grouping grouping(function, *shapes);
  FailureOr<SmallVector<unsigned>> order = grouping.schedule();
  if (failed(order))
    return function.emitError("its kernels depend on each other in a circle");
  if (failed(ExecBuilder(module, function, grouping).build(*order)))
    return failure();
  function.erase();
  return success();
}

namespace {
struct FusePass : PassWrapper<FusePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FusePass)

  StringRef getArgument() const override { return "mlc-fuse"; }
  StringRef getDescription() const override {
    return "linalg on tensors to kernels and the program that runs them";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<affine::AffineDialect, arith::ArithDialect,
                    exec::ExecDialect, func::FuncDialect, linalg::LinalgDialect,
                    tensor::TensorDialect>();
  }
  void runOnOperation() override {
    if (failed(requireForm(*this, getOperation(), Form::Lowered)) ||
        failed(fuse(getOperation())))
      signalPassFailure();
  }
};
} // namespace

std::unique_ptr<Pass> createFusePass() { return std::make_unique<FusePass>(); }

void registerFusePass() { PassRegistration<FusePass>(); }

} // namespace mlc
