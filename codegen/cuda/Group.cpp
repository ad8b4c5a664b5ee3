//===- Group.cpp - Kernels without a contraction as CUDA C++ --------------===//

#include "codegen/cuda/Group.h"

using namespace mlir;

namespace mlc::cuda {

static Type elementOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

//===----------------------------------------------------------------------===//
// Choice of the skeleton
//===----------------------------------------------------------------------===//

SmallVector<linalg::LinalgOp> reductionsOf(const Kernel &kernel) {
  SmallVector<linalg::LinalgOp> found;
  for (Operation *op : kernel.ops)
    if (auto linalg = dyn_cast<linalg::LinalgOp>(op))
      if (linalg.getNumReductionLoops() > 0)
        found.push_back(linalg);
  return found;
}

bool isShort(const Kernel &kernel, linalg::LinalgOp op) {
  IntExpr steps = IntExpr::constant(kernel.context(), 1);
  SmallVector<unsigned> dims;
  op.getReductionDims(dims);
  SmallVector<IntExpr> extents = loopSizes(kernel, op);
  for (unsigned dim : dims)
    steps = steps * extents[dim];
  std::optional<int64_t> count = steps.asConstant();
  return count && *count <= shortReduction;
}

/// Whether `op` has one element per index of the shared dims.
static bool isOneElement(const Kernel &kernel, const LoopGroup &plan,
                         Operation *op) {
  Value result = op->getResult(0);
  Binding binding = plan.bindings.lookup(result);
  for (auto [d, extent] : llvm::enumerate(kernel.shapeOf(result)))
    if (!(d < binding.size() && binding[d] >= 0) && !extent.isConstant(1))
      return false;
  return true;
}

/// Whether each index of the shared dims is little work for one thread: one
/// element of every tensor, from short reductions. This covers a depthwise
/// convolution and the operations fused after it.
static bool isLittle(const Kernel &kernel, const LoopGroup &plan) {
  return llvm::all_of(kernel.ops, [&](Operation *op) {
    if (llvm::none_of(op->getResults(), [&](Value result) {
          return plan.bindings.contains(result);
        }))
      return true; // computed where it is read
    auto linalg = dyn_cast<linalg::LinalgOp>(op);
    bool isReduction = linalg && linalg.getNumReductionLoops() > 0;
    return isOneElement(kernel, plan, op) &&
           (!isReduction || isShort(kernel, linalg));
  });
}

bool acceptsColumns(const Kernel &kernel, const EmitOptions &) {
  LoopGroup plan(kernel, Repeats::BySteps);
  if (!plan.tiled || plan.shared.back().isConstant(1))
    return false;
  return isLittle(kernel, plan) ||
         llvm::all_of(reductionsOf(kernel), [&](linalg::LinalgOp op) {
           return reducesAcrossLanes(op);
         });
}

//===----------------------------------------------------------------------===//
// Storage
//===----------------------------------------------------------------------===//

GroupPrinter::GroupPrinter(KernelPrinter &to, bool perThread)
    : plan(to.kernel, Repeats::BySteps), kernel(to.kernel), printer(to.printer),
      code(to.code), perThread(perThread) {
  plan.recomputeBeyond(sharedLimit / (perThread ? threads : 1));
}

void GroupPrinter::place(KernelText &text) {
  MLIRContext *ctx = kernel.context();
  for (auto [i, output] : llvm::enumerate(kernel.outputs))
    if (!printer.views.contains(output))
      printer.views[output] = printer.dense(output, "out" + std::to_string(i));

  SmallVector<std::pair<Value, IntExpr>> places;
  IntExpr bytes = IntExpr::constant(ctx, 0);
  for (Value value : plan.stored) {
    auto bound = plan.bindings.find(value);
    if (bound == plan.bindings.end())
      continue;
    Shape extents(kernel.shapeOf(value));
    for (auto [extent, id] : llvm::zip_equal(extents, bound->second))
      if (id >= 0)
        extent = IntExpr::constant(ctx, 1);
    View view;
    view.element = elementOf(value);
    int64_t copies = perThread ? threads : 1;
    view.offset = perThread ? Index("Index(threadIdx.x)") : Index(0);
    for (auto [stride, id] :
         llvm::zip_equal(rowMajorStrides(extents, ctx), bound->second))
      view.strides.push_back(id >= 0 ? Index(0)
                                     : printer.size(stride * copies));
    view.pointer = "stored" + std::to_string(places.size());
    printer.views[value] = view;
    places.push_back({value, bytes});
    IntExpr size =
        elementCount(extents, ctx) * (copies * storageBytes(view.element));
    bytes = bytes + size.ceilDiv(16) * 16;
  }
  std::optional<int64_t> known = bytes.asConstant();
  bool fits = known && *known <= sharedLimit;
  text.sharedBytes = exchangeBytes = perThread ? 0 : 1024;
  text.scratchBytes = fits ? IntExpr::constant(ctx, 0) : bytes;
  for (auto [value, at] : places) {
    std::string type = storageType(elementOf(value));
    std::string base = fits
                           ? "sharedMemory() + " + std::to_string(exchangeBytes)
                           : "scratch + blockIdx.x * stride";
    printer.head.line(type + " *" + printer.views[value].pointer +
                      " = reinterpret_cast<" + type + " *>(" + base + " + " +
                      printer.size(at).text + ");");
  }
  if (fits)
    text.sharedBytes += *known;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void GroupPrinter::sync() {
  if (!perThread)
    code.line("syncBlock();");
  written.clear();
  hasExchanged = false;
}

/// Whether `op` has a single element per task, which thread 0 writes.
bool GroupPrinter::isOneElement(Operation *op) const {
  return cuda::isOneElement(kernel, plan, op);
}

/// Whether all threads of the block, or of a warp, share a sum of `op`.
bool GroupPrinter::isTeamReduction(Operation *op) const {
  auto linalg = dyn_cast<linalg::LinalgOp>(op);
  return linalg && linalg.getNumReductionLoops() > 0 &&
         !combinersOf(linalg).empty() &&
         (isOneElement(op) || !isShort(kernel, linalg));
}

/// Whether `op` loads a value that `isSought`, directly or through operands
/// that are computed where they are read.
bool GroupPrinter::reads(Operation *op,
                         function_ref<bool(Value)> isSought) const {
  auto readsValue = [&](Value value) {
    if (printer.views.contains(value))
      return isSought(value);
    Operation *producer = value.getDefiningOp();
    return producer && reads(producer, isSought);
  };
  bool found = llvm::any_of(op->getOperands(), readsValue);
  for (Region &region : op->getRegions())
    region.walk([&](tensor::ExtractOp extract) {
      found |= readsValue(extract.getTensor());
    });
  return found;
}

/// Whether `op` needs a barrier: it reads what another thread has written
/// since the last one. Thread 0 sees what it wrote itself.
bool GroupPrinter::needsSync(Operation *op) const {
  bool isTeam = isTeamReduction(op);
  if (isTeam && isOneElement(op) && hasExchanged)
    return true;
  bool byFirst = !isTeam && isOneElement(op);
  return reads(op, [&](Value value) {
    return written.contains(value) && !(byFirst && value.getDefiningOp() &&
                                        isOneElement(value.getDefiningOp()));
  });
}

void GroupPrinter::forEach(ArrayRef<IntExpr> extents,
                           function_ref<void(ArrayRef<Index>)> inside) {
  IntExpr count = elementCount(extents, kernel.context());
  if (count.isConstant(1) && perThread)
    return inside(Indices(extents.size(), Index(0)));
  std::string name = code.fresh("p");
  std::string begin = perThread ? "0" : "threadIdx.x";
  std::string step = perThread ? "1" : "blockDim.x";
  code.block("for (Index " + name + " = " + begin + "; " + name + " < " +
                 printer.size(count).text + "; " + name + " += " + step + ")",
             [&] { inside(printer.unflatten(Index(name), extents)); });
}

void GroupPrinter::printGroup(ArrayRef<Index> at) {
  shared.assign(at.begin(), at.end());
  for (Operation *op : kernel.ops)
    if (llvm::any_of(op->getResults(), [&](Value result) {
          return plan.bindings.contains(result);
        })) {
      if (needsSync(op))
        sync();
      print(op);
      written.insert_range(op->getResults());
    }
  // Inputs that are returned, and tensors that are returned twice.
  for (auto [i, output] : llvm::enumerate(kernel.outputs)) {
    std::string pointer = "out" + std::to_string(i);
    if (printer.views[output].pointer != pointer) {
      if (written.contains(output))
        sync();
      printCopy(output, printer.dense(output, pointer),
                plan.bindings.lookup(output));
    }
  }
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

void GroupPrinter::print(Operation *op) {
  if (auto linalg = dyn_cast<linalg::LinalgOp>(op))
    return printLinalg(linalg);
  Value value = op->getResult(0);
  // Without its view, the value is computed instead of read.
  View view = printer.views[value];
  printer.views.erase(value);
  printCopy(value, view, plan.bindings.lookup(value));
  printer.views[value] = view;
}

void GroupPrinter::printCopy(Value value, const View &view,
                             const Binding &binding) {
  Indices at;
  SmallVector<unsigned> free;
  SmallVector<IntExpr> extents;
  for (auto [d, extent] : llvm::enumerate(kernel.shapeOf(value))) {
    int id = d < binding.size() ? binding[d] : -1;
    at.push_back(id >= 0 ? shared[id] : Index(0));
    if (id < 0) {
      free.push_back(d);
      extents.push_back(extent);
    }
  }
  forEach(extents, [&](ArrayRef<Index> inner) {
    for (auto [d, index] : llvm::zip_equal(free, inner))
      at[d] = index;
    printer.store(view, at, printer.element(value, at));
  });
}

void GroupPrinter::storeResults(linalg::LinalgOp op, ArrayRef<Index> loops,
                                ArrayRef<std::string> values) {
  for (auto [i, result] : llvm::enumerate(op->getResults()))
    if (plan.bindings.contains(result)) {
      AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(i));
      printer.store(printer.views[result], printer.evaluate(map, loops),
                    values[i]);
    }
}

void GroupPrinter::printLinalg(linalg::LinalgOp op) {
  SmallVector<IntExpr> sizes = loopSizes(kernel, op);
  Binding binding = plan.loopBinding(op);
  Indices loops(op.getNumLoops(), Index(0));
  SmallVector<unsigned> free;
  for (auto [d, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
    if (binding[d] >= 0)
      loops[d] = shared[binding[d]];
    else if (kind != utils::IteratorType::reduction)
      free.push_back(d);
  }
  if (op.getNumReductionLoops() > 0)
    return printReduction(op, loops, free);
  SmallVector<IntExpr> extents;
  for (unsigned d : free)
    extents.push_back(sizes[d]);
  forEach(extents, [&](ArrayRef<Index> inner) {
    for (auto [d, index] : llvm::zip_equal(free, inner))
      loops[d] = index;
    storeResults(op, loops, printer.body(op, loops, {}));
  });
}

SmallVector<Operation *> combinersOf(linalg::LinalgOp op) {
  SmallVector<Operation *> found;
  Block *block = op.getBlock();
  for (auto [i, yielded] :
       llvm::enumerate(block->getTerminator()->getOperands())) {
    BlockArgument accumulator = block->getArgument(op.getNumDpsInputs() + i);
    Operation *combine = yielded.getDefiningOp();
    if (!combine || combine->getBlock() != block || !accumulator.hasOneUse() ||
        *accumulator.user_begin() != combine || !neutral(combine))
      return {};
    found.push_back(combine);
  }
  return found;
}

void GroupPrinter::printReduction(linalg::LinalgOp op, Indices loops,
                                  ArrayRef<unsigned> free) {
  SmallVector<IntExpr> sizes = loopSizes(kernel, op);
  SmallVector<IntExpr> extents;
  for (unsigned d : free)
    extents.push_back(sizes[d]);
  auto set = [&](ArrayRef<Index> inner) {
    for (auto [d, index] : llvm::zip_equal(free, inner))
      loops[d] = index;
  };
  IntExpr count = elementCount(extents, kernel.context());
  if (perThread || combinersOf(op).empty() ||
      (isShort(kernel, op) && !count.isConstant(1)))
    return forEach(extents, [&](ArrayRef<Index> inner) {
      set(inner);
      storeResults(op, loops, printer.reduce(op, loops));
    });
  if (count.isConstant(1)) {
    set(Indices(free.size(), Index(0)));
    return reduceByTeam(op, loops, "threadIdx.x", "blockDim.x");
  }
  // A warp for each.
  std::string name = code.fresh("p");
  code.block("for (Index " + name + " = threadIdx.x / 32; " + name + " < " +
                 printer.size(count).text + "; " + name +
                 " += blockDim.x / 32)",
             [&] {
               set(printer.unflatten(Index(name), extents));
               reduceByTeam(op, loops, "threadIdx.x % 32", "32");
             });
}

//===----------------------------------------------------------------------===//
// Reductions by several threads
//===----------------------------------------------------------------------===//

void GroupPrinter::reduceByTeam(linalg::LinalgOp op, Indices loops,
                                StringRef rank, StringRef team) {
  SmallVector<Operation *> combiners = combinersOf(op);
  SmallVector<unsigned> dims;
  op.getReductionDims(dims);
  SmallVector<IntExpr> sizes = loopSizes(kernel, op), extents;
  for (unsigned d : dims)
    extents.push_back(sizes[d]);
  SmallVector<std::string> partials;
  for (auto [combine, result] : llvm::zip_equal(combiners, op->getResults())) {
    partials.push_back(code.fresh("sum"));
    code.line(computeType(elementOf(result)) + " " + partials.back() + " = " +
              *neutral(combine) + ";");
  }
  std::string name = code.fresh("k");
  IntExpr count = elementCount(extents, kernel.context());
  code.block("for (Index " + name + " = " + rank + "; " + name + " < " +
                 printer.size(count).text + "; " + name + " += " + team + ")",
             [&] {
               Indices inner = printer.unflatten(Index(name), extents);
               for (auto [d, index] : llvm::zip_equal(dims, inner))
                 loops[d] = index;
               SmallVector<std::string> next =
                   printer.body(op, loops, partials);
               for (auto [partial, value] : llvm::zip_equal(partials, next))
                 code.line(partial + " = " + value + ";");
             });
  for (unsigned d : dims)
    loops[d] = Index(0);
  combineAcross(op, partials, team != "32");
  code.block("if (" + rank + " == 0)", [&] {
    SmallVector<std::string> values;
    for (auto [i, start] : llvm::enumerate(printer.initials(op, loops)))
      values.push_back(printer.compute(combiners[i], {start, partials[i]}));
    storeResults(op, loops, values);
  });
}

std::string exchanged(Type type, const std::string &name) {
  std::string own = computeType(type);
  bool isNarrow = type.isInteger() && type.getIntOrFloatBitWidth() < 32;
  return isNarrow ? own + "(shuffleXor(int(" + name + "), distance))"
                  : "shuffleXor(" + name + ", distance)";
}

/// Combines the partial results of a warp in lane 0, or those of the block in
/// thread 0. The order is the same in every run.
void GroupPrinter::combineAcross(linalg::LinalgOp op,
                                 ArrayRef<std::string> partials, bool byBlock) {
  SmallVector<Operation *> combiners = combinersOf(op);
  auto combine = [&](unsigned i, const std::string &other) {
    std::string value =
        code.define(computeType(elementOf(op->getResult(i))), "t", other);
    code.line(partials[i] + " = " +
              printer.compute(combiners[i], {partials[i], value}) + ";");
  };
  code.block("for (int distance = 16; distance > 0; distance /= 2)", [&] {
    for (auto [i, partial] : llvm::enumerate(partials))
      combine(i, exchanged(elementOf(op->getResult(i)), partial));
  });
  if (!byBlock)
    return;
  hasExchanged = true;
  // Each result has its own slot if there is room for all.
  constexpr int64_t room = 32 * 8;
  bool fits = int64_t(partials.size()) * room <= exchangeBytes;
  SmallVector<std::string> memories;
  auto exchange = [&](unsigned i) {
    std::string type = computeType(elementOf(op->getResult(i)));
    memories.push_back(code.fresh("warps"));
    code.line(type + " *" + memories[i] + " = reinterpret_cast<" + type +
              " *>(sharedMemory()" +
              (fits && i ? " + " + std::to_string(i * room) : "") + ");");
    code.block("if (threadIdx.x % 32 == 0)", [&] {
      code.line(memories[i] + "[threadIdx.x / 32] = " + partials[i] + ";");
    });
  };
  auto collect = [&](unsigned i) {
    code.block("if (threadIdx.x == 0)", [&] {
      code.block("for (int warp = 1; warp < blockDim.x / 32; ++warp)",
                 [&] { combine(i, memories[i] + "[warp]"); });
    });
  };
  for (unsigned i = 0; i < partials.size(); ++i) {
    exchange(i);
    if (fits)
      continue;
    code.line("syncBlock();");
    collect(i);
    code.line("syncBlock();");
  }
  if (!fits)
    return;
  code.line("syncBlock();");
  for (unsigned i = 0; i < partials.size(); ++i)
    collect(i);
}

//===----------------------------------------------------------------------===//
// A block or a thread per index of the shared dims
//===----------------------------------------------------------------------===//

/// The number of threads that the largest operation of a task keeps busy.
static int64_t chooseBlock(const Kernel &kernel, const LoopGroup &plan) {
  int64_t most = 1;
  for (Operation *op : kernel.ops) {
    auto linalg = dyn_cast<linalg::LinalgOp>(op);
    if (!linalg)
      continue;
    IntExpr steps = IntExpr::constant(kernel.context(), 1);
    Binding binding = plan.loopBinding(linalg);
    for (auto [extent, id] :
         llvm::zip_equal(loopSizes(kernel, linalg), binding))
      if (id < 0 && extent)
        steps = steps * extent;
    most = std::max(most, steps.asConstant().value_or(threads));
  }
  return std::min<int64_t>(threads, llvm::alignTo(most, 32));
}

FailureOr<KernelText> emitRows(KernelPrinter &to) {
  GroupPrinter group(to, /*perThread=*/false);
  KernelText text;
  group.place(text);
  text.block = chooseBlock(to.kernel, group.plan);
  text.tasks = elementCount(group.plan.shared, to.kernel.context());
  std::string flat = to.code.define("Index", "row", "Index(task)");
  // All threads must have read the previous task's data in shared or scratch
  // memory.
  to.code.line("if (task != blockIdx.x)");
  to.code.line("  syncBlock();");
  group.printGroup(to.printer.unflatten(Index(flat), group.plan.shared));
  return text;
}

FailureOr<KernelText> emitColumns(KernelPrinter &to) {
  GroupPrinter group(to, /*perThread=*/true);
  KernelText text;
  group.place(text);
  text.block = threads;
  IntExpr count = elementCount(group.plan.shared, to.kernel.context());
  text.tasks = count.ceilDiv(threads);
  std::string flat = to.code.define("Index", "flat",
                                    "Index(task) * " + std::to_string(threads) +
                                        " + Index(threadIdx.x)");
  to.code.block("if (" + flat + " < " + to.printer.size(count).text + ")", [&] {
    group.printGroup(to.printer.unflatten(Index(flat), group.plan.shared));
  });
  return text;
}

} // namespace mlc::cuda
