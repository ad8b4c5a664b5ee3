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
  bool possible = false, hasRows = false;
  int64_t tasks = 0, scratchBytes = 0, elements = 0;
  /// The threads of all tasks, and the steps of one, of all operations
  /// together.
  int64_t threads = 0, steps = 0;
};
} // namespace

static int64_t multiply(int64_t x, int64_t y) {
  return std::min<uint64_t>(llvm::SaturatingMultiply<uint64_t>(x, y),
                            std::numeric_limits<int64_t>::max());
}

static int64_t countPlaces(const Kernel &kernel, ArrayRef<IntExpr> extents) {
  int64_t product = 1;
  for (IntExpr extent : extents)
    if (extent)
      product = multiply(product, std::max<int64_t>(estimate(extent), 1));
  return product;
}

/// The steps of `op`, over all tasks: of its loops, or one for each element
/// that it puts somewhere.
static int64_t countSteps(const Kernel &kernel, Operation *op) {
  if (auto linalg = dyn_cast<linalg::LinalgOp>(op))
    return countPlaces(kernel, loopSizes(kernel, linalg));
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return countPlaces(kernel, kernel.shapeOf(insert.getSource()));
  return isa<tensor::PadOp>(op)
             ? countPlaces(kernel, kernel.shapeOf(op->getResult(0)))
             : 0;
}

static bool reduces(Operation *op) {
  auto linalg = dyn_cast<linalg::LinalgOp>(op);
  return linalg && linalg.getNumReductionLoops() > 0;
}

/// The steps of each sum of `op`.
static int64_t countTerms(const Kernel &kernel, Operation *op) {
  return countSteps(kernel, op) /
         countPlaces(kernel, kernel.shapeOf(op->getResult(0)));
}

/// Whether neighbouring threads could have neighbours along the last dim of all
/// outputs, each with all operations.
static bool hasColumns(const Kernel &kernel, const LoopGroup &plan) {
  return plan.tiled && !plan.shared.back().isConstant(1) &&
         llvm::all_of(kernel.ops, [](Operation *op) {
           return !reduces(op) ||
                  reducesAcrossLanes(cast<linalg::LinalgOp>(op));
         });
}

/// Whether neighbours along the last dim of the result of `op` read
/// neighbouring elements, or the same one.
static bool keepsNeighbours(Operation *op) {
  auto linalg = dyn_cast<linalg::LinalgOp>(op);
  if (!linalg)
    return true;
  AffineMap out = linalg.getMatchingIndexingMap(linalg.getDpsInitOperand(0));
  if (out.getNumResults() == 0)
    return true;
  auto last = dyn_cast<AffineDimExpr>(out.getResults().back());
  return last &&
         llvm::all_of(linalg.getDpsInputOperands(), [&](OpOperand *operand) {
           AffineMap map = linalg.getMatchingIndexingMap(operand);
           return !map.isFunctionOfDim(last.getPosition()) ||
                  map.getResults().back().isFunctionOfDim(last.getPosition());
         });
}

/// Whether a thread would compute an element of each output by itself. Several
/// outputs have the same order of dims, so that none is written or read across
/// memory.
static bool hasThreads(const Kernel &kernel, const LoopGroup &plan,
                       const GroupLimits &limits) {
  bool isOne = kernel.outputs.size() == 1;
  return plan.stored.empty() && llvm::all_of(kernel.ops, [&](Operation *op) {
           if (!reduces(op))
             return isOne || keepsNeighbours(op);
           return isOne && (reducesAcrossLanes(cast<linalg::LinalgOp>(op)) ||
                            countTerms(kernel, op) <= limits.shortReduction);
         });
}

/// How many tasks could share each sum, if the group has one reduction, and
/// each element of the outputs is computed from one sum.
static int64_t estimateSharing(const Kernel &kernel,
                               const GroupLimits &limits) {
  Operation *reduction = nullptr;
  for (Operation *op : kernel.ops)
    if (reduces(op)) {
      if (reduction)
        return 1;
      reduction = op;
    }
  if (!reduction)
    return 1;
  IntExpr sums =
      elementCount(kernel.shapeOf(reduction->getResult(0)), kernel.context());
  llvm::DenseSet<Value> dependent;
  for (Operation *op : kernel.ops)
    if (op == reduction || llvm::any_of(op->getOperands(), [&](Value operand) {
          return dependent.contains(operand);
        }))
      dependent.insert_range(op->getResults());
  for (Value output : kernel.outputs)
    if (elementCount(kernel.shapeOf(output), kernel.context()) != sums ||
        !dependent.contains(output))
      return 1;
  int64_t terms = countTerms(kernel, reduction);
  return terms > limits.shortReduction ? terms : 1;
}

/// Sets the tasks and threads of a group, and the steps that these take.
static void estimateThreads(GroupEstimate &found, const Kernel &kernel,
                            const LoopGroup &plan, const GroupLimits &limits) {
  // The possible number of tasks, which may exceed the actual one.
  found.tasks = countPlaces(kernel, plan.shared);
  if (!limits.taskThreads)
    return;
  found.threads = found.tasks;
  if (hasThreads(kernel, plan, limits)) {
    for (Value output : kernel.outputs)
      found.threads =
          std::max(found.threads, countPlaces(kernel, kernel.shapeOf(output)));
  } else if (!hasColumns(kernel, plan)) {
    found.hasRows = true;
    found.threads = multiply(found.tasks, limits.taskThreads);
  }
  found.threads = multiply(found.threads, estimateSharing(kernel, limits));
  int64_t useful = std::clamp<int64_t>(found.threads, 1, limits.fullThreads);
  for (Operation *op : kernel.ops)
    found.steps += llvm::divideCeil(countSteps(kernel, op), useful);
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
  estimateThreads(found, *kernel, plan, limits);
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
  if (group.empty() || joined.elements <= limits.smallElements)
    return true;
  if (!limits.taskThreads)
    return joined.tasks >= limits.tasks ||
           (joined.tasks >= estimateGroup(group, limits).tasks &&
            joined.tasks >= estimateGroup(ArrayRef(op), limits).tasks);
  if (joined.threads >= limits.fullThreads)
    return true;
  return joined.steps - estimateGroup(group, limits).steps -
             estimateGroup(ArrayRef(op), limits).steps <=
         (joined.hasRows ? limits.rowSteps : limits.columnSteps);
}

} // namespace mlc
