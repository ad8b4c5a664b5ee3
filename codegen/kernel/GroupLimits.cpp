//===- GroupLimits.cpp - What may run as one loop group -------------------===//

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
  bool possible = false;
  int64_t tasks = 0, scratchBytes = 0, elements = 0;
};
} // namespace

/// Among how many tasks each sum could be shared, where the group has one
/// reduction and nothing that is larger than its result.
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
  SmallVector<unsigned> dims;
  reduction.getReductionDims(dims);
  SmallVector<IntExpr> sizes = loopSizes(kernel, reduction);
  int64_t steps = 1;
  for (unsigned d : dims)
    steps = llvm::SaturatingMultiply<uint64_t>(
        steps, std::max<int64_t>(estimate(sizes[d]), 1));
  return steps;
}

static GroupEstimate estimateGroup(ArrayRef<Operation *> ops,
                                   const GroupLimits &limits) {
  GroupEstimate found;
  FailureOr<Kernel> kernel = Kernel::preview(ops);
  if (failed(kernel) || kernel->anchor)
    return found;
  LoopGroup plan(*kernel);
  if (limits.recomputeBeyond)
    plan.recomputeBeyond(limits.recomputeBeyond);
  found.possible = true;
  found.tasks = 1;
  // Tasks as far as they could be split, not as far as they will be.
  for (IntExpr size : plan.shared)
    found.tasks = llvm::SaturatingMultiply<uint64_t>(
        found.tasks, std::max<int64_t>(estimate(size), 1));
  if (limits.sharesSums)
    found.tasks = llvm::SaturatingMultiply<uint64_t>(found.tasks,
                                                     estimateSharing(*kernel));
  for (Value value : plan.stored)
    if (plan.bindings.contains(value))
      found.scratchBytes += estimate(elementCount(plan.scratchExtents(value),
                                                  kernel->context())) *
                            bytesOf(value);
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
  int64_t taskElements = joined.elements / std::max<int64_t>(joined.tasks, 1);
  if (group.empty() || joined.elements <= limits.smallElements ||
      taskElements < limits.taskElements || joined.tasks >= limits.tasks)
    return true;
  return joined.tasks >= estimateGroup(group, limits).tasks &&
         joined.tasks >= estimateGroup(ArrayRef(op), limits).tasks;
}

} // namespace mlc
