//===- Fuse.cpp - Kernels and the program that runs them ------------------===//

#include "passes/Fuse/Fuse.h"
#include "dialects/Graph/ModelOps.h"
#include "passes/Base/Form.h"
#include "passes/Fuse/Collectives.h"
#include "passes/Fuse/ExecBuilder.h"
#include "passes/Fuse/Prepare.h"
#include "passes/Fuse/Repeats.h"

using namespace mlir;
using llvm::SmallVector;

namespace mlc {

#define GEN_PASS_DEF_FUSEPASS
#include "passes/Base/Passes.h.inc"

static LogicalResult fuse(ModuleOp module, func::FuncOp function,
                          const CodeTarget &target, Outliner::Known &kernels) {
  prepareForFusion(function, *target.backend);
  copySharedOperands(function);
  FailureOr<ShapeTable> shapes = ShapeTable::build(function);
  if (failed(shapes))
    return failure();
  Grouping grouping(function, *shapes, target);
  FailureOr<int64_t> window = getPrefetchLimit(module);
  if (failed(window))
    return failure();
  FailureOr<SmallVector<unsigned>> order = grouping.schedule(*window);
  if (failed(order))
    return function.emitError("its kernels depend on each other in a circle");
  if (failed(ExecBuilder(module, function, grouping, kernels).build(*order)))
    return failure();
  function.erase();
  return success();
}

LogicalResult fuse(ModuleOp module, const CodeTarget &target) {
  SmallVector<func::FuncOp> entries;
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic())
      entries.push_back(function);
  if (entries.empty() || !llvm::all_of(entries, [](func::FuncOp function) {
        return llvm::hasSingleElement(function.getBody());
      }))
    return module.emitError("needs public functions, of one block each");
  Outliner::Known kernels;
  for (func::FuncOp function : entries)
    if (failed(fuse(module, function, target, kernels)))
      return failure();
  repeatLaunches(module, target);
  for (auto check : llvm::make_early_inc_range(module.getOps<CheckOp>()))
    check.erase();
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
