//===- SumPlan.cpp - Which kernels are few long sums ----------------------===//

#include "codegen/cuda/Parts.h"
#include "codegen/cuda/Sums.h"
#include <numeric>

using namespace mlir;

namespace mlc::cuda {

static Type elementOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

/// Whether `value` is computed from a result of `op`.
static bool dependsOn(Value value, Operation *op) {
  Operation *producer = value.getDefiningOp();
  return producer && (producer == op ||
                      llvm::any_of(producer->getOperands(), [&](Value operand) {
                        return dependsOn(operand, op);
                      }));
}

Shape extentsOf(ArrayRef<IntExpr> shape) {
  Shape extents;
  llvm::copy_if(shape, std::back_inserter(extents),
                [](IntExpr extent) { return !extent.isConstant(1); });
  return extents;
}

Indices placeIn(ArrayRef<IntExpr> shape, ArrayRef<Index> indices) {
  Indices at;
  for (IntExpr extent : shape) {
    at.push_back(extent.isConstant(1) ? Index(0) : indices.front());
    if (!extent.isConstant(1))
      indices = indices.drop_front();
  }
  return at;
}

/// Finds which sum each element of the outputs is computed from, by printing
/// the element. False unless it is a single sum, indexed by the element's own
/// indices.
static bool findDims(const Kernel &kernel, SumGroup &group) {
  Code code;
  ElementPrinter printer(kernel, code);
  for (auto [i, input] : llvm::enumerate(kernel.inputs))
    printer.views[input] = printer.dense(input, "in" + std::to_string(i));
  for (Value result : group.op->getResults())
    printer.known[result] = "sum";
  Shape extents = extentsOf(kernel.shapeOf(kernel.outputs.front()));
  Indices at;
  for (size_t d = 0; d < extents.size(); ++d)
    at.push_back(Index("p" + std::to_string(d)));
  bool isOne = true, isRead = false;
  auto note = [&](Value, ArrayRef<Index> indices) {
    SmallVector<int> dims;
    for (const Index &index : indices) {
      auto found = llvm::find_if(
          at, [&](const Index &p) { return p.text == index.text; });
      isOne &= index.is(0) || found != at.end();
      dims.push_back(index.is(0) ? -1 : int(found - at.begin()));
    }
    isOne &= !isRead || dims == group.dims;
    group.dims = dims;
    isRead = true;
  };
  printer.onKnown = note;
  for (Value output : kernel.outputs) {
    ArrayRef<IntExpr> shape = kernel.shapeOf(output);
    if (extentsOf(shape) != extents)
      return false;
    printer.element(output, placeIn(shape, at));
  }
  return isOne && isRead && !printer.failed;
}

/// Whether neighbouring sums read neighbouring elements, or the same one.
static bool readsNeighbours(linalg::LinalgOp op) {
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (out.getNumResults() == 0)
    return false;
  unsigned last = cast<AffineDimExpr>(out.getResults().back()).getPosition();
  bool any = false;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(operand);
    if (op.getBlock()->getArgument(operand->getOperandNumber()).use_empty() ||
        !map.isFunctionOfDim(last))
      continue;
    if (!map.getResults().back().isFunctionOfDim(last))
      return false;
    any = true;
  }
  return any;
}

/// Finds how the reduction reads inputs, by printing one step.
static void findReads(const Kernel &kernel, const EmitOptions &options,
                      SumGroup &group) {
  KernelPrinter trial(kernel, options, "");
  ElementPrinter &printer = trial.printer;
  printer.isTrial = true;
  Indices loops;
  for (unsigned d = 0; d < group.op.getNumLoops(); ++d)
    loops.push_back(Index("loop" + std::to_string(d)));
  bool areAll = true;
  printer.onLoad = [&](const View &view, ArrayRef<Index> indices) {
    SumRead read{0, {}};
    areAll &=
        StringRef(view.pointer).starts_with("in") &&
        !StringRef(view.pointer).drop_front(2).getAsInteger(10, read.input);
    for (const Index &index : indices) {
      auto found = llvm::find_if(loops, [&](const Index &loop) {
        return !index.value && loop.text == index.text;
      });
      areAll &= index.value ? *index.value >= 0 : found != loops.end();
      read.dims.push_back(index.value ? -1 - *index.value
                                      : found - loops.begin());
    }
    if (!llvm::is_contained(group.reads, read))
      group.reads.push_back(read);
    return std::string();
  };
  SmallVector<std::string> sums(group.combiners.size(), "sum");
  printer.body(group.op, loops, sums);
  if (!areAll || printer.failed)
    group.reads.clear();
}

/// The elements of the widest vectors along `loop`: all reads that depend on it
/// have it as their last dim, and the extents are multiples.
static int64_t widestAlong(const Kernel &kernel, const SumGroup &group,
                           int loop) {
  int64_t widest = 0;
  std::optional<int64_t> extent =
      loopSizes(kernel, group.op)[loop].asConstant();
  for (const SumRead &read : group.reads) {
    int64_t uses = llvm::count(read.dims, loop);
    if (uses == 0)
      continue;
    Value input = kernel.inputs[read.input];
    std::optional<int64_t> own = kernel.shapeOf(input).back().asConstant();
    if (uses > 1 || read.dims.back() != loop || !own || !extent)
      return 1;
    widest = std::max(widest, storageBytes(elementOf(input)));
    extent = std::gcd(*extent, *own);
  }
  if (widest == 0)
    return 1;
  int64_t width = 16 / widest;
  while (*extent % width != 0)
    width /= 2;
  return width;
}

/// Chooses by which vectors threads read, and how many sums they have.
static void chooseVectors(const Kernel &kernel, SumGroup &group) {
  AffineMap out =
      group.op.getMatchingIndexingMap(group.op.getDpsInitOperand(0));
  if (!readsNeighbours(group.op)) {
    SmallVector<unsigned> dims;
    group.op.getReductionDims(dims);
    group.vectorLoop = dims.back();
    group.vector = widestAlong(kernel, group, group.vectorLoop);
    return;
  }
  // Most sums that a block has.
  constexpr int64_t most = 128;
  int last = cast<AffineDimExpr>(out.getResults().back()).getPosition();
  size_t rank = extentsOf(kernel.shapeOf(kernel.outputs.front())).size();
  group.vectorLoop = last;
  if (group.dims.back() + 1 == int64_t(rank))
    group.vector = group.each = widestAlong(kernel, group, last);
  group.lanes = std::min<int64_t>(32, most / group.each);
  if (std::optional<int64_t> count = group.count.asConstant())
    group.lanes = std::min<int64_t>(
        group.lanes, llvm::PowerOf2Ceil(llvm::divideCeil(
                         std::max<int64_t>(*count, 1), group.each)));
}

/// Whether the sums are few and long enough to be shared; sets how.
static bool chooseSharing(SumGroup &group, const EmitOptions &options) {
  // A part with fewer terms per thread is hardly worth its partial sums, and
  // the threads of the last block read a few parts each.
  constexpr int64_t worth = 16, most = 256;
  const Target &target = options.target;
  group.parts = chooseParts(group.count.ceilDiv(group.width()), group.k,
                            worth * threads / group.lanes, most, target);
  if (!group.parts.isConstant(1))
    return true;
  // Otherwise this pays only if one thread per sum gives too few threads.
  std::optional<int64_t> count = group.count.asConstant();
  return readsNeighbours(group.op) &&
         (!count || *count < 2 * threads * target.cost.units);
}

FailureOr<SumGroup> planSums(const Kernel &kernel, const EmitOptions &options) {
  SmallVector<linalg::LinalgOp> reductions = reductionsOf(kernel);
  if (reductions.size() != 1 || isShort(kernel, reductions[0]))
    return failure();
  SumGroup group;
  group.op = reductions[0];
  group.combiners = combinersOf(group.op);
  if (group.combiners.empty())
    return failure();
  AffineMap map =
      group.op.getMatchingIndexingMap(group.op.getDpsInitOperand(0));
  for (OpOperand &init : group.op.getDpsInitsMutable())
    if (AffineMap own = group.op.getMatchingIndexingMap(&init);
        own != map || !own.isProjectedPermutation())
      return failure();
  // Everything before the sums must be computed where they read it.
  LoopGroup plan(kernel, Repeats::BySteps);
  if (llvm::any_of(plan.stored,
                   [&](Value value) { return !dependsOn(value, group.op); }))
    return failure();
  group.count =
      elementCount(kernel.shapeOf(group.op->getResult(0)), kernel.context());
  group.k = IntExpr::constant(kernel.context(), 1);
  SmallVector<IntExpr> sizes = loopSizes(kernel, group.op);
  SmallVector<unsigned> dims;
  group.op.getReductionDims(dims);
  for (unsigned d : dims)
    group.k = group.k * sizes[d];
  ArrayRef<IntExpr> shape = kernel.shapeOf(kernel.outputs.front());
  if (elementCount(shape, kernel.context()) != group.count ||
      !findDims(kernel, group))
    return failure();
  findReads(kernel, options, group);
  chooseVectors(kernel, group);
  if (!chooseSharing(group, options))
    return failure();
  return group;
}

bool acceptsSums(const Kernel &kernel, const EmitOptions &options) {
  return succeeded(planSums(kernel, options));
}

} // namespace mlc::cuda
