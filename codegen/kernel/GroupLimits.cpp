//===- GroupLimits.cpp - Limits of loop groups ----------------------------===//

#include "codegen/kernel/GroupLimits.h"
#include "codegen/kernel/LoopGroup.h"

using namespace mlir;

namespace mlc {

static int64_t estimate(IntExpr expr) {
  static constexpr int64_t unknownDim = 64;
  return expr
      .evaluate([](StringRef) { return std::optional<int64_t>(unknownDim); })
      .value_or(std::numeric_limits<int64_t>::max());
}

/// Bytes of an element; bools take one.
static int64_t bytesOf(Value tensor) {
  return llvm::divideCeil(cast<RankedTensorType>(tensor.getType())
                              .getElementType()
                              .getIntOrFloatBitWidth(),
                          8);
}

namespace {
/// How a set of ops would run as one kernel.
struct GroupEstimate {
  bool possible = false, hasColumns = false;
  int64_t tasks = 0, scratchBytes = 0, elements = 0;
  /// The most steps of any operation, over all tasks.
  int64_t steps = 0;
};
} // namespace

static int64_t estimateSteps(const Kernel &kernel, linalg::LinalgOp op) {
  int64_t steps = 1;
  for (IntExpr extent : loopSizes(kernel, op))
    if (extent)
      steps = llvm::SaturatingMultiply<uint64_t>(
          steps, std::max<int64_t>(estimate(extent), 1));
  return std::min<uint64_t>(steps, std::numeric_limits<int64_t>::max());
}

/// How many tasks could share each sum, if the group has one reduction and no
/// output larger than its result.
static int64_t estimateSharing(const Kernel &kernel) {
  linalg::LinalgOp reduction;
  for (Operation *op : kernel.ops)
    if (auto linalg = dyn_cast<linalg::LinalgOp>(op);
        linalg && linalg.getNumReductionLoops() > 0) {
      if (reduction)
        return 1;
      reduction = linalg;
    }
  if (!reduction)
    return 1;
  IntExpr count =
      elementCount(kernel.shapeOf(reduction->getResult(0)), kernel.context());
  for (Value output : kernel.outputs)
    if (elementCount(kernel.shapeOf(output), kernel.context()) != count)
      return 1;
  return std::max<int64_t>(estimateSteps(kernel, reduction) /
                               std::max<int64_t>(estimate(count), 1),
                           1);
}

static GroupEstimate estimateGroup(ArrayRef<Operation *> ops,
                                   const GroupLimits &limits) {
  GroupEstimate found;
  FailureOr<Kernel> kernel = Kernel::preview(ops);
  if (failed(kernel) || kernel->anchor)
    return found;
  LoopGroup plan(*kernel, limits.repeats);
  if (limits.recomputeBeyond)
    plan.recomputeBeyond(limits.recomputeBeyond);
  if (limits.boundsScratch && !plan.isScratchBounded())
    plan.recomputeBeyond(0);
  if (limits.boundsScratch && !plan.isScratchBounded())
    return found;
  found.possible = true;
  found.tasks = 1;
  // The possible number of tasks, which may exceed the actual one.
  for (IntExpr size : plan.shared)
    found.tasks = llvm::SaturatingMultiply<uint64_t>(
        found.tasks, std::max<int64_t>(estimate(size), 1));
  found.hasColumns = plan.tiled && !plan.shared.back().isConstant(1) &&
                     llvm::all_of(kernel->ops, [](Operation *op) {
                       auto linalg = dyn_cast<linalg::LinalgOp>(op);
                       return !linalg || linalg.getNumReductionLoops() == 0 ||
                              reducesAcrossLanes(linalg);
                     });
  if (limits.sharesSums)
    found.tasks = llvm::SaturatingMultiply<uint64_t>(found.tasks,
                                                     estimateSharing(*kernel));
  for (Value value : plan.stored)
    if (plan.bindings.contains(value))
      found.scratchBytes += estimate(elementCount(plan.scratchExtents(value),
                                                  kernel->context())) *
                            bytesOf(value);
  for (Operation *op : kernel->ops)
    if (auto linalg = dyn_cast<linalg::LinalgOp>(op))
      found.steps = std::max(found.steps, estimateSteps(*kernel, linalg));
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

bool canJoinLoopGroup(ArrayRef<Operation *> group, Operation *op,
                      const GroupLimits &limits) {
  if (llvm::count_if(group, countsAsWork) >= limits.operations)
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
  GroupEstimate joined = estimateGroup(all, limits);
  if (!joined.possible || joined.scratchBytes > limits.scratchBytes)
    return false;
  int64_t taskSteps = joined.steps / std::max<int64_t>(joined.tasks, 1);
  bool isSmall =
      taskSteps < (joined.hasColumns ? limits.columnSteps : limits.taskSteps);
  if (group.empty() || joined.elements <= limits.smallElements || isSmall ||
      joined.tasks >= limits.tasks)
    return true;
  return joined.tasks >= estimateGroup(group, limits).tasks &&
         joined.tasks >= estimateGroup(ArrayRef(op), limits).tasks;
}

} // namespace mlc
