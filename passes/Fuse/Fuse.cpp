//===- Fuse.cpp - Kernels and the program that runs them ------------------===//

#include "passes/Fuse/Fuse.h"
#include "passes/Base/Form.h"
#include "passes/Fuse/ExecBuilder.h"
#include "passes/Fuse/Prepare.h"

using namespace mlir;
using llvm::SmallVector;

namespace mlc {

#define GEN_PASS_DEF_FUSEPASS
#include "passes/Base/Passes.h.inc"

LogicalResult fuse(ModuleOp module, const CodeTarget &target) {
  auto function = module.lookupSymbol<func::FuncOp>("main");
  if (!function || !llvm::hasSingleElement(function.getBody()))
    return module.emitError("needs a function @main of one block");
  prepareForFusion(function, *target.backend);
  FailureOr<ShapeTable> shapes = ShapeTable::build(function);
  if (failed(shapes))
    return failure();
  Grouping grouping(function, *shapes, target);
  FailureOr<SmallVector<unsigned>> order = grouping.schedule();
  if (failed(order))
    return function.emitError("its kernels depend on each other in a circle");
  if (failed(ExecBuilder(module, function, grouping).build(*order)))
    return failure();
  function.erase();
  return success();
}

namespace {
struct FusePass : impl::FusePassBase<FusePass> {
  using FusePassBase::FusePassBase;
  explicit FusePass(const CodeTarget &target) : given(target) {}

  void runOnOperation() override {
    if (failed(requireForm(*this, getOperation(), Form::Lowered)))
      return signalPassFailure();
    FailureOr<CodeTarget> target =
        findCodeTarget(getOperation(), given, targetName);
    if (failed(target) || failed(fuse(getOperation(), *target)))
      signalPassFailure();
  }

  std::optional<CodeTarget> given;
};
} // namespace

std::unique_ptr<Pass> createFusePass(const CodeTarget &target) {
  return std::make_unique<FusePass>(target);
}

} // namespace mlc
