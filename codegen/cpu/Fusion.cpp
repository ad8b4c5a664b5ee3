//===- Fusion.cpp - What may run as one kernel ----------------------------===//

#include "codegen/cpu/Fusion.h"
#include "codegen/cpu/Storage.h"
#include "codegen/kernel/LoopGroup.h"

using namespace mlir;

namespace mlc::cpu {

static int64_t estimate(IntExpr expr) {
  static constexpr int64_t unknownDim = 64;
  return expr
      .evaluate([](StringRef) { return std::optional<int64_t>(unknownDim); })
      .value_or(std::numeric_limits<int64_t>::max());
}

namespace {
/// How a set of ops would run as one kernel.
struct GroupEstimate {
  bool possible = false;
  int64_t tasks = 0, scratchBytes = 0, elements = 0;
};
} // namespace

static GroupEstimate estimateGroup(ArrayRef<Operation *> ops) {
  GroupEstimate found;
  FailureOr<Kernel> kernel = Kernel::preview(ops);
  if (failed(kernel) || kernel->anchor)
    return found;
  LoopGroup plan(*kernel);
  found.possible = true;
  found.tasks = 1;
  // Tasks as far as they could be split, not as far as they will be.
  for (IntExpr size : plan.shared)
    found.tasks = llvm::SaturatingMultiply<uint64_t>(
        found.tasks, std::max<int64_t>(estimate(size), 1));
  for (Value value : plan.stored)
    if (plan.bindings.contains(value))
      found.scratchBytes +=
          estimate(
              elementCount(plan.scratchExtents(value), kernel->context())) *
          storageBytes(
              cast<RankedTensorType>(value.getType()).getElementType());
  for (Operation *op : kernel->ops)
    for (Value result : op->getResults())
      if (isa<RankedTensorType>(result.getType()))
        found.elements = std::max(
            found.elements,
            estimate(elementCount(kernel->shapeOf(result), kernel->context())));
  return found;
}

static bool countsAsWork(Operation *op) {
  return isa<linalg::LinalgOp>(op) && !isa<linalg::FillOp>(op);
}

bool canJoinLoopGroup(ArrayRef<Operation *> group, Operation *op) {
  constexpr int64_t scratchLimit = 256 << 10, enoughTasks = 16,
                    smallElements = 1 << 14, largestGroup = 24;
  if (llvm::count_if(group, countsAsWork) >= largestGroup)
    return false;
  SmallVector<Operation *> all(group);
  auto later = llvm::find_if(all, [&](Operation *member) {
    return member->getBlock() == op->getBlock() && op->isBeforeInBlock(member);
  });
  all.insert(later, op);
  if (llvm::any_of(all, [&](Operation *member) {
        return member->getBlock() != op->getBlock();
      }))
    return false;
  GroupEstimate joined = estimateGroup(all);
  if (!joined.possible || joined.scratchBytes > scratchLimit)
    return false;
  if (group.empty() || joined.elements <= smallElements ||
      joined.tasks >= enoughTasks)
    return true;
  return joined.tasks >= estimateGroup(group).tasks &&
         joined.tasks >= estimateGroup(ArrayRef(op)).tasks;
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
