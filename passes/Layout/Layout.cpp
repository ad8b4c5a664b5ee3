//===- Layout.cpp - Blocked layouts and packed weights --------------------===//

#include "passes/Layout/Layout.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Base/Form.h"
#include "passes/Layout/StoredForms.h"

using namespace mlir;
using namespace mlc;

/// Erases operators without users, users before producers.
static void eraseDead(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (op.use_empty() && !op.hasTrait<OpTrait::IsTerminator>() &&
        isa_and_nonnull<MlcDialect>(op.getDialect()))
      op.erase();
}

static void layOutFunction(func::FuncOp function,
                           const ConvolutionLayout &layout) {
  OpBuilder builder(function.getContext());
  StoredForms forms(builder, layout);
  Block &block = function.getBody().front();
  widenConvolutions(forms, builder, block);
  for (Operation &op : llvm::make_early_inc_range(block)) {
    // Compile-time values are packed where they are used.
    if (op.getNumOperands() > 0 && isCompileTime(op.getOperand(0)) &&
        llvm::all_of(op.getOperands(),
                     [](Value v) { return isCompileTime(v); }) &&
        !isa<BroadcastOp>(op))
      continue;
    builder.setInsertionPoint(&op);
    auto conv = dyn_cast<ConvOp>(op);
    if (conv && layOutWeightGradient(forms, conv)) {
      op.erase();
      continue;
    }
    auto transposed = dyn_cast<ConvTransposeOp>(op);
    StoredForm form = conv ? layOutConvolution(forms, conv)
                      : transposed
                          ? layOutTransposedConvolution(forms, transposed)
                          : layOutOperator(forms, &op);
    if (!form)
      continue;
    if (Value plain = forms.unpack(op.getLoc(), form)) {
      op.getResult(0).replaceAllUsesWith(plain);
      op.erase();
    }
  }
  eraseDead(block);
}

void mlc::assignLayout(ModuleOp module, const ConvolutionLayout &layout) {
  if (layout.block == 0 && !layout.channelsLast)
    return;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal())
      layOutFunction(function, layout);
}

namespace mlc {
#define GEN_PASS_DEF_LAYOUTPASS
#include "passes/Base/Passes.h.inc"
} // namespace mlc

namespace {
struct LayoutPass : mlc::impl::LayoutPassBase<LayoutPass> {
  using LayoutPassBase::LayoutPassBase;
  explicit LayoutPass(const CodeTarget &target) : given(target) {}

  void runOnOperation() override {
    if (failed(requireForm(*this, getOperation(), Form::Graph)))
      return signalPassFailure();
    FailureOr<CodeTarget> target =
        findCodeTarget(getOperation(), given, targetName);
    if (failed(target))
      return signalPassFailure();
    ConvolutionLayout layout =
        target->backend->getConvolutionLayout(target->target);
    if (channelsLast && block > 0) {
      getOperation().emitError("channels are last or in blocks, not both");
      return signalPassFailure();
    }
    if (block < -1 || block > 4096) {
      getOperation().emitError() << "a block of " << block.getValue()
                                 << " channels; give 1 to 4096, or 0";
      return signalPassFailure();
    }
    if (block >= 0)
      layout = {.block = block};
    if (channelsLast)
      layout = {.channelsLast = true};
    assignLayout(getOperation(), layout);
  }

  std::optional<CodeTarget> given;
};
} // namespace

std::unique_ptr<Pass> mlc::createLayoutPass(const CodeTarget &target) {
  return std::make_unique<LayoutPass>(target);
}
