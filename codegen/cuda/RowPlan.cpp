//===- RowPlan.cpp - Which kernels run by rows in registers ---------------===//

#include "codegen/cuda/Rows.h"

using namespace mlir;

namespace mlc::cuda {

static Type elementOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

Shape RowPlan::extentsOf(Value value) const {
  Shape found;
  for (auto [extent, id] :
       llvm::zip_equal(group.kernel.shapeOf(value), group.bindings.at(value)))
    if (id < 0 && !extent.isConstant(1))
      found.push_back(extent);
  return found;
}

SmallVector<unsigned> RowPlan::loopsOf(linalg::LinalgOp op,
                                       bool reductions) const {
  SmallVector<unsigned> found;
  SmallVector<IntExpr> sizes = loopSizes(group.kernel, op);
  Binding binding = group.loopBinding(op);
  for (auto [d, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if ((kind == utils::IteratorType::reduction) == reductions &&
        binding[d] < 0 && !(sizes[d] && sizes[d].isConstant(1)))
      found.push_back(d);
  return found;
}

static Shape sizesOf(const Kernel &kernel, linalg::LinalgOp op,
                     ArrayRef<unsigned> loops) {
  SmallVector<IntExpr> sizes = loopSizes(kernel, op);
  Shape found;
  for (unsigned d : loops)
    found.push_back(sizes[d]);
  return found;
}

bool RowPlan::isTeamReduction(linalg::LinalgOp op) const {
  if (op.getNumReductionLoops() == 0 || combinersOf(op).empty() ||
      !loopsOf(op, /*reductions=*/false).empty())
    return false;
  return sizesOf(group.kernel, op, loopsOf(op, true)) == extents;
}

SmallVector<Operation *> RowPlan::runOps() const {
  return llvm::filter_to_vector(group.kernel.ops, [&](Operation *op) {
    return llvm::any_of(op->getResults(), [&](Value result) {
      return group.bindings.contains(result);
    });
  });
}

/// Sets the extents of rows: those of the first value that has some, or of the
/// first reduction.
static void findExtents(RowPlan &plan) {
  for (Operation *op : plan.runOps()) {
    for (Value result : op->getResults())
      if (plan.extents.empty() && plan.group.bindings.contains(result))
        plan.extents = plan.extentsOf(result);
    auto linalg = dyn_cast<linalg::LinalgOp>(op);
    if (plan.extents.empty() && linalg)
      plan.extents = sizesOf(plan.group.kernel, linalg,
                             plan.loopsOf(linalg, /*reductions=*/true));
    if (!plan.extents.empty())
      return;
  }
}

/// Whether `op` has an element for each of the row's, or one that a team or
/// each thread computes.
static bool suits(const RowPlan &plan, Operation *op) {
  const Kernel &kernel = plan.group.kernel;
  for (Value result : op->getResults()) {
    if (!plan.group.bindings.contains(result))
      continue;
    Shape extents = plan.extentsOf(result);
    if (!extents.empty() && extents != plan.extents)
      return false;
  }
  auto linalg = dyn_cast<linalg::LinalgOp>(op);
  if (!linalg || plan.isTeamReduction(linalg))
    return true;
  SmallVector<unsigned> loops = plan.loopsOf(linalg, /*reductions=*/false);
  return (loops.empty() || sizesOf(kernel, linalg, loops) == plan.extents) &&
         (linalg.getNumReductionLoops() == 0 || isShort(kernel, linalg));
}

/// Whether the elements of a row of `output` are neighbours.
static bool isContiguous(const RowPlan &plan, Value output) {
  bool isRow = false;
  for (auto [extent, id] : llvm::zip_equal(plan.group.kernel.shapeOf(output),
                                           plan.group.bindings.at(output))) {
    if (extent.isConstant(1))
      continue;
    if (isRow && id >= 0)
      return false;
    isRow |= id < 0;
  }
  return true;
}

static bool findRows(RowPlan &plan, int64_t longest) {
  const Kernel &kernel = plan.group.kernel;
  llvm::DenseSet<Value> distinct;
  for (Value output : kernel.outputs)
    if (!output.getDefiningOp() || !distinct.insert(output).second ||
        !isContiguous(plan, output))
      return false;
  findExtents(plan);
  if (plan.extents.empty() || llvm::is_contained(plan.extents, IntExpr()))
    return false;
  std::optional<int64_t> length =
      elementCount(plan.extents, kernel.context()).asConstant();
  plan.length = length.value_or(0);
  return plan.length > 1 && plan.length <= longest &&
         llvm::all_of(plan.runOps(),
                      [&](Operation *op) { return suits(plan, op); });
}

//===----------------------------------------------------------------------===//
// Teams
//===----------------------------------------------------------------------===//

/// Reads of rows, which all begin early, and what is read more than once.
static void chooseKept(RowPlan &plan) {
  SmallVector<RowRead> seen;
  if (plan.repeated)
    plan.kept.push_back(*plan.repeated);
  for (auto &[op, reads] : plan.reads)
    for (const RowRead &read : reads) {
      bool again = llvm::is_contained(seen, read);
      seen.push_back(read);
      if ((again || read.dependsOnRow()) &&
          !llvm::is_contained(plan.kept, read))
        plan.kept.push_back(read);
    }
}

int64_t widestVector(const RowPlan &plan) {
  const Kernel &kernel = plan.group.kernel;
  int64_t widest = 1;
  for (const RowRead &read : plan.kept)
    widest =
        std::max(widest, storageBytes(elementOf(kernel.inputs[read.input])));
  for (Value output : kernel.outputs)
    if (plan.isLong(output))
      widest = std::max(widest, storageBytes(elementOf(output)));
  return 16 / widest;
}

/// The number of the last operation that reads `value`, directly or through
/// what is computed where it is read.
static size_t lastReader(Value value,
                         const llvm::DenseMap<Operation *, size_t> &numbers) {
  size_t last = 0;
  for (Operation *user : value.getUsers()) {
    // A region reads it for the operation around it.
    while (!numbers.contains(user) &&
           isa<linalg::LinalgOp>(user->getParentOp()))
      user = user->getParentOp();
    if (auto found = numbers.find(user); found != numbers.end())
      last = std::max(last, found->second);
    else
      for (Value result : user->getResults())
        last = std::max(last, lastReader(result, numbers));
  }
  return last;
}

bool RowPlan::isReadLater(Value value) const {
  llvm::DenseMap<Operation *, size_t> numbers;
  for (auto [i, op] : llvm::enumerate(runOps()))
    numbers[op] = i;
  return lastReader(value, numbers) > 0;
}

/// The most bytes of registers that an element of a row takes at a time.
static int64_t bytesOfElement(const RowPlan &plan) {
  const Kernel &kernel = plan.group.kernel;
  SmallVector<Operation *> ops = plan.runOps();
  llvm::DenseMap<Operation *, size_t> numbers;
  for (auto [i, op] : llvm::enumerate(ops))
    numbers[op] = i;
  SmallVector<int64_t> bytes(ops.size());
  auto live = [&](Value value, size_t first, size_t last) {
    for (size_t i = first; i <= last; ++i)
      bytes[i] += storageBytes(elementOf(value));
  };
  for (const RowRead &read : plan.kept) {
    size_t last = 0;
    for (auto &[op, reads] : plan.reads)
      if (llvm::is_contained(reads, read))
        last = std::max(last, numbers.lookup(op));
    live(kernel.inputs[read.input], 0, last);
  }
  for (auto [i, op] : llvm::enumerate(ops))
    for (Value result : op->getResults())
      if (plan.group.bindings.contains(result) && plan.isLong(result))
        live(result, i, std::max(i, lastReader(result, numbers)));
  return std::max<int64_t>(*llvm::max_element(bytes), 1);
}

/// Sets width and team. False if a row needs too many registers.
static bool chooseTeam(RowPlan &plan, const Target &target) {
  constexpr int64_t elementsOfThread = 32, bytesOfThread = 96 * 4,
                    warpsOfBlock = 16;
  plan.width = widestVector(plan);
  while (plan.length % plan.width != 0)
    plan.width /= 2;
  int64_t vectors = plan.length / plan.width;
  if (vectors < 32) {
    plan.team = llvm::PowerOf2Ceil(vectors);
    return true;
  }
  int64_t elements =
      std::min(elementsOfThread, bytesOfThread / bytesOfElement(plan));
  int64_t most = std::max<int64_t>(elements / plan.width, 1);
  int64_t warps = llvm::divideCeil(vectors, 32 * most);
  // A few rows alone do not fill the device, and more warps finish one sooner.
  IntExpr rows = elementCount(plan.group.shared, plan.group.kernel.context());
  if (std::optional<int64_t> count = rows.asConstant()) {
    int64_t wanted = 8 * target.cost.units / std::max<int64_t>(*count, 1);
    int64_t useful = std::min<int64_t>(llvm::divideCeil(vectors, 32), 8);
    warps = std::max(warps, std::min(wanted, useful));
  }
  plan.team = 32 * warps;
  return warps <= warpsOfBlock;
}

/// Sets the read of input `repeated`. False unless each of the input's elements
/// is read for the element of the result that takes its place.
static bool findRepeated(RowPlan &plan, unsigned repeated) {
  const Kernel &kernel = plan.group.kernel;
  Value input = kernel.inputs[repeated], output = kernel.outputs.front();
  if (kernel.outputs.size() != 1 || input.getType() != output.getType() ||
      kernel.shapeOf(input) != kernel.shapeOf(output) || !plan.isLong(output))
    return false;
  RowRead own{repeated, {}};
  int64_t rowDims = 0;
  for (auto [extent, id] : llvm::zip_equal(kernel.shapeOf(output),
                                           plan.group.bindings.at(output))) {
    if (extent.isConstant(1))
      own.places.push_back({RowRead::Place::Literal, 0});
    else if (id >= 0)
      own.places.push_back({RowRead::Place::Shared, id});
    else
      own.places.push_back({RowRead::Place::Row, rowDims++});
  }
  plan.repeated = own;
  return !plan.readsElsewhere.contains(input) &&
         llvm::all_of(plan.reads, [&](auto &entry) {
           return llvm::all_of(entry.second, [&](const RowRead &read) {
             return read.input != repeated || read == own;
           });
         });
}

bool planReads(RowPlan &plan, const EmitOptions &options, int64_t longest,
               std::optional<unsigned> repeated) {
  if (!findRows(plan, longest))
    return false;
  KernelPrinter trial(plan.group.kernel, options, "");
  trial.printer.isTrial = true;
  RowPrinter(trial, plan).print();
  if (trial.printer.failed || (repeated && !findRepeated(plan, *repeated)))
    return false;
  chooseKept(plan);
  return true;
}

bool canRepeatRows(const Kernel &kernel, unsigned input,
                   const EmitOptions &options) {
  return planRows(kernel, options, input).has_value();
}

std::optional<RowPlan> planRows(const Kernel &kernel,
                                const EmitOptions &options) {
  return planRows(kernel, options,
                  kernel.repeats > 1 ? std::optional(kernel.repeated)
                                     : std::nullopt);
}

std::optional<RowPlan> planRows(const Kernel &kernel,
                                const EmitOptions &options,
                                std::optional<unsigned> repeated) {
  // What threads can have in registers.
  constexpr int64_t longest = 1 << 14;
  std::optional<RowPlan> plan(std::in_place, kernel);
  if (!planReads(*plan, options, longest, repeated) ||
      !chooseTeam(*plan, options.target))
    return std::nullopt;
  return plan;
}

} // namespace mlc::cuda
