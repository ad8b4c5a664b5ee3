//===- Fusion.cpp - What may run as one loop-group kernel -----------------===//

#include "codegen/cpu/Fusion.h"
#include "codegen/cpu/LoopGroup.h"
#include "codegen/cpu/Storage.h"

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
struct Outlook {
  bool possible = false;
  int64_t tasks = 0, scratchBytes = 0, elements = 0;
};
} // namespace

static Outlook lookAt(ArrayRef<Operation *> ops) {
  Outlook outlook;
  FailureOr<Kernel> kernel = Kernel::preview(ops);
  if (failed(kernel) || kernel->anchor)
    return outlook;
  LoopGroup plan(*kernel);
  outlook.possible = true;
  outlook.tasks = 1;
  // Tasks as far as they could be split, not as far as they will be.
  for (IntExpr size : plan.shared)
    outlook.tasks = llvm::SaturatingMultiply<uint64_t>(
        outlook.tasks, std::max<int64_t>(estimate(size), 1));
  for (Value value : plan.stored)
    if (plan.bindings.contains(value))
      outlook.scratchBytes +=
          estimate(
              elementCount(plan.scratchExtents(value), kernel->context())) *
          storageBytes(
              cast<RankedTensorType>(value.getType()).getElementType());
  for (Operation *op : kernel->ops)
    for (Value result : op->getResults())
      if (isa<RankedTensorType>(result.getType()))
        outlook.elements = std::max(
            outlook.elements,
            estimate(elementCount(kernel->shapeOf(result), kernel->context())));
  return outlook;
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
  Outlook joined = lookAt(all);
  if (!joined.possible || joined.scratchBytes > scratchLimit)
    return false;
  if (group.empty() || joined.elements <= smallElements ||
      joined.tasks >= enoughTasks)
    return true;
  return joined.tasks >= lookAt(group).tasks &&
         joined.tasks >= lookAt(ArrayRef(op)).tasks;
}

} // namespace mlc::cpu
