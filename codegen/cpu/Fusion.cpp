//===- Fusion.cpp - Limits of fusion into one kernel ----------------------===//

#include "codegen/cpu/Fusion.h"
#include "codegen/kernel/GroupLimits.h"

using namespace mlir;

namespace mlc::cpu {

/// A factor that is not read along vectors is packed again in every loop that
/// repeats it. From this many loops on that costs too much: a convolution would
/// pack its weights for each image.
static constexpr unsigned mostPacks = 3;

bool canJoinLoopGroup(ArrayRef<Operation *> group, Operation *op) {
  return mlc::canJoinLoopGroup(group, op,
                               {.operations = 24,
                                .scratchBytes = 256 << 10,
                                .boundsScratch = true,
                                .tasks = 16,
                                .smallElements = 1 << 14});
}

bool canPadResult(linalg::LinalgOp anchor, tensor::PadOp pad) {
  ArrayRef<int64_t> low = pad.getStaticLow(), high = pad.getStaticHigh();
  AffineMap out = anchor.getMatchingIndexingMap(anchor.getDpsInitOperand(0));
  if (out.getNumResults() < 2 || (low.back() == 0 && high.back() == 0))
    return true;
  ArrayRef<AffineExpr> rows = out.getResults().take_back(2);
  return llvm::none_of(anchor.getDpsInputOperands(), [&](OpOperand *factor) {
    ArrayRef<AffineExpr> read =
        anchor.getMatchingIndexingMap(factor).getResults();
    return read.size() >= 2 && read.take_back(2) == rows;
  });
}

/// The number of parallel loops of more than one step that read the same
/// elements of an operand in each step.
static unsigned countRepeats(linalg::GenericOp consumer, AffineMap operand) {
  unsigned repeats = 0;
  for (auto [d, extent] : llvm::enumerate(consumer.getStaticLoopRanges()))
    repeats +=
        extent != 1 &&
        consumer.getIteratorTypesArray()[d] == utils::IteratorType::parallel &&
        !operand.isFunctionOfDim(d);
  return repeats;
}

bool canReadThrough(linalg::GenericOp consumer, AffineMap before,
                    AffineMap movement, AffineMap after) {
  AffineMap out =
      consumer.getMatchingIndexingMap(consumer.getDpsInitOperand(0));
  if (out.getNumResults() == 0)
    return true;
  auto inner = dyn_cast<AffineDimExpr>(out.getResults().back());
  auto runsAlong = [&](AffineMap map) {
    return map.getNumResults() > 0 &&
           map.getResults().back().isFunctionOfDim(inner.getPosition());
  };
  if (!inner || !runsAlong(before) || runsAlong(after))
    return true;
  bool divides = false;
  movement.walkExprs([&](AffineExpr expr) {
    divides |= expr.getKind() == AffineExprKind::Mod ||
               expr.getKind() == AffineExprKind::FloorDiv;
  });
  return !divides && countRepeats(consumer, before) < mostPacks;
}

} // namespace mlc::cpu
