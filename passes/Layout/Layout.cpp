//===- Layout.cpp - Blocked layouts and packed weights --------------------===//

#include "passes/Layout/Layout.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassRegistry.h"
#include "passes/Form.h"
#include "passes/Layout/Blocking.h"

using namespace mlir;
using namespace mlc;

/// Erases operators without users, users before producers.
static void eraseDead(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (op.use_empty() && !op.hasTrait<OpTrait::IsTerminator>() &&
        isa_and_nonnull<MlcDialect>(op.getDialect()))
      op.erase();
}

static void blockFunction(func::FuncOp function, const LayoutOptions &options) {
  OpBuilder builder(function.getContext());
  Blocking blocking(builder, options.block);
  Block &block = function.getBody().front();
  widenConvolutions(blocking, builder, block);
  for (Operation &op : llvm::make_early_inc_range(block)) {
    // What is known at compile time is packed where it is used.
    if (op.getNumOperands() > 0 && isCompileTime(op.getOperand(0)) &&
        llvm::all_of(op.getOperands(),
                     [](Value v) { return isCompileTime(v); }) &&
        !isa<BroadcastOp>(op))
      continue;
    builder.setInsertionPoint(&op);
    Twin twin;
    if (auto conv = dyn_cast<ConvOp>(op))
      twin = blockConvolution(blocking, conv);
    else
      twin = blockOther(blocking, &op);
    if (!twin)
      continue;
    if (Value plain = blocking.unpack(op.getLoc(), twin)) {
      op.getResult(0).replaceAllUsesWith(plain);
      op.erase();
    }
  }
  eraseDead(block);
}

LogicalResult mlc::assignLayout(ModuleOp module, LayoutOptions options) {
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal())
      blockFunction(function, options);
  return success();
}

namespace {
struct LayoutPass : PassWrapper<LayoutPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LayoutPass)
  LayoutPass() = default;
  explicit LayoutPass(LayoutOptions options) : options(options) {}
  StringRef getArgument() const override { return "mlc-assign-layout"; }
  StringRef getDescription() const override {
    return "put convolutions and what lies between them on blocked channels";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<MlcDialect>();
  }
  void runOnOperation() override {
    if (failed(requireForm(*this, getOperation(), Form::Graph)) ||
        failed(assignLayout(getOperation(), options)))
      signalPassFailure();
  }
  LayoutOptions options;
};
} // namespace

std::unique_ptr<Pass> mlc::createLayoutPass(LayoutOptions options) {
  return std::make_unique<LayoutPass>(options);
}

void mlc::registerLayoutPass() {
  registerPass([] { return createLayoutPass(); });
}
