//===- Fusion.cpp - What may run as one kernel ----------------------------===//

#include "codegen/cpu/Fusion.h"
#include "codegen/kernel/GroupLimits.h"

using namespace mlir;

namespace mlc::cpu {

bool canJoinLoopGroup(ArrayRef<Operation *> group, Operation *op) {
  return mlc::canJoinLoopGroup(group, op,
                               {.operations = 24,
                                .scratchBytes = 256 << 10,
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

bool canReadThrough(linalg::GenericOp consumer, AffineMap before,
                    AffineMap movement, AffineMap after) {
  bool divides = false;
  movement.walkExprs([&](AffineExpr expr) {
    divides |= expr.getKind() == AffineExprKind::Mod ||
               expr.getKind() == AffineExprKind::FloorDiv;
  });
  AffineMap out =
      consumer.getMatchingIndexingMap(consumer.getDpsInitOperand(0));
  if (!divides || out.getNumResults() == 0)
    return true;
  auto inner = dyn_cast<AffineDimExpr>(out.getResults().back());
  auto runsAlong = [&](AffineMap map) {
    return map.getResults().back().isFunctionOfDim(inner.getPosition());
  };
  return !inner || !runsAlong(before) || runsAlong(after);
}

} // namespace mlc::cpu
