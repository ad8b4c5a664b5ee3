//===- Layout.cpp - Blocked layouts and packed weights --------------------===//

#include "passes/Layout/Layout.h"
#include "passes/Base/Form.h"
#include "passes/Layout/Regions.h"

using namespace mlir;
using namespace mlc;
using llvm::SmallVector;

/// Erases operators without users, users before producers.
static void eraseDead(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (op.use_empty() && !op.hasTrait<OpTrait::IsTerminator>() &&
        isa_and_nonnull<MlcDialect>(op.getDialect()))
      op.erase();
}

SmallVector<Value> mlc::layOutFunction(func::FuncOp function,
                                       const ConvolutionLayout &layout,
                                       std::optional<llvm::BitVector> chosen) {
  OpBuilder builder(function.getContext());
  StoredForms forms(builder, layout);
  Block &block = function.getBody().front();
  if (layout.channelsLast)
    scaleBatchNorms(forms, builder, block);
  else
    widenConvolutions(forms, builder, block);
  SmallVector<Value> results;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    // Compile-time values are packed where they are used.
    if (op.getNumOperands() > 0 && isCompileTime(op.getOperand(0)) &&
        llvm::all_of(op.getOperands(),
                     [](Value v) { return isCompileTime(v); }) &&
        !isa<BroadcastOp>(op))
      continue;
    builder.setInsertionPoint(&op);
    auto transpose = dyn_cast<TransposeOp>(op);
    if (StoredForm form =
            transpose ? forms.lookupTransposed(transpose) : StoredForm()) {
      transpose.getResult().replaceAllUsesWith(form.value);
      continue;
    }
    auto conv = dyn_cast<ConvOp>(op);
    if (conv) {
      results.emplace_back();
      if (chosen && !chosen->test(results.size() - 1))
        continue;
    }
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
      if (conv)
        results.back() = form.value;
    }
  }
  eraseDead(block);
  return results;
}

static void layOutFunctions(ModuleOp module,
                            llvm::function_ref<void(func::FuncOp)> layOut) {
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal())
      layOut(function);
}

void mlc::assignLayout(ModuleOp module, const ConvolutionLayout &layout) {
  if (layout.block == 0 && !layout.channelsLast)
    return;
  layOutFunctions(
      module, [&](func::FuncOp function) { layOutFunction(function, layout); });
}

namespace mlc {
#define GEN_PASS_DEF_LAYOUTPASS
#include "passes/Base/Passes.h.inc"
} // namespace mlc

namespace {
struct LayoutPass : mlc::impl::LayoutPassBase<LayoutPass> {
  using LayoutPassBase::LayoutPassBase;
  LayoutPass(const CodeTarget &target, Precision precision)
      : given(target), precision(precision) {}

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
      return assignLayout(getOperation(), {.channelsLast = true});
    if (!layout.channelsLast)
      return assignLayout(getOperation(), layout);
    layOutFunctions(getOperation(), [&](func::FuncOp function) {
      // Trials refer to results, so none may be dead.
      eraseDead(function.getBody().front());
      ChosenConvolutions found =
          chooseConvolutions(function, *target, precision);
      layOutFunction(function, found.layout, found.chosen);
    });
  }

  std::optional<CodeTarget> given;
  Precision precision = Precision::TF32;
};
} // namespace

std::unique_ptr<Pass> mlc::createLayoutPass(const CodeTarget &target,
                                            Precision precision) {
  return std::make_unique<LayoutPass>(target, precision);
}
