//===- Sums.cpp - Few long sums -------------------------------------------===//
//
// A group with one reduction that has few but long sums: several blocks share
// each sum, and the last of them computes the elements that depend on it.
// Neighbours are read by vectors: those of neighbouring sums, of which a thread
// then has several, or those along a sum. A thread asks for some steps'
// elements before it adds up the first.
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/DeviceHeader.h"
#include "codegen/cuda/Group.h"
#include "codegen/cuda/Parts.h"
#include <numeric>

using namespace mlir;

namespace mlc::cuda {

static Type elementOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

namespace {

/// A read of an input: for each of its dims the loop that indexes it, or -1 - n
/// for the literal n.
struct SumRead {
  unsigned input;
  SmallVector<int64_t> dims;
  bool operator==(const SumRead &other) const = default;
};

/// A group of sums; each element of the outputs depends on one of them.
struct SumGroup {
  linalg::LinalgOp op;
  SmallVector<Operation *> combiners;
  /// For each dim of the sums the dim of the outputs that indexes it (not
  /// counting dims of size 1), or -1 if its index is 0.
  SmallVector<int> dims;
  IntExpr count, k;
  /// All reads of the reduction; none if some are by other indices than loops.
  SmallVector<SumRead> reads;
  /// The loop along which elements come by vectors of `vector`, or -1.
  int vectorLoop = -1;
  int64_t vector = 1;
  /// Threads with neighbouring sums, and sums of each.
  int64_t lanes = 1, each = 1;
  IntExpr parts;

  int64_t width() const { return lanes * each; }
  /// Whether elements come by vectors of `loop`.
  bool isVector(const SumRead &read) const {
    return vector > 1 && llvm::is_contained(read.dims, vectorLoop);
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

/// Whether `value` is computed from a result of `op`.
static bool dependsOn(Value value, Operation *op) {
  Operation *producer = value.getDefiningOp();
  return producer && (producer == op ||
                      llvm::any_of(producer->getOperands(), [&](Value operand) {
                        return dependsOn(operand, op);
                      }));
}

/// The extents of `shape` without dims of size 1.
static Shape extentsOf(ArrayRef<IntExpr> shape) {
  Shape extents;
  llvm::copy_if(shape, std::back_inserter(extents),
                [](IntExpr extent) { return !extent.isConstant(1); });
  return extents;
}

/// The indices in a tensor of `shape`, given those of dims that are not 1.
static Indices placeIn(ArrayRef<IntExpr> shape, ArrayRef<Index> indices) {
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

static FailureOr<SumGroup> matchSums(const Kernel &kernel,
                                     const EmitOptions &options) {
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
  return succeeded(matchSums(kernel, options));
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

namespace {

class SumPrinter {
public:
  SumPrinter(KernelPrinter &to, SumGroup &group)
      : to(to), kernel(to.kernel), printer(to.printer), code(to.code),
        group(group) {}
  KernelText print();

private:
  std::string printStruct();
  Indices loopsAt(ArrayRef<Index> at);
  void printLoop(Indices loops, const Index &part);
  void setStep(Indices &loops, const std::string &k);
  void loadStep(const Indices &loops);
  void addStep(Indices loops);
  void printRest(const std::string &block);
  std::string member(unsigned i) const { return "s" + std::to_string(i); }

  KernelPrinter &to;
  const Kernel &kernel;
  ElementPrinter &printer;
  Code &code;
  SumGroup &group;
};

} // namespace

/// Prints the struct of one sum per result, and how to combine two.
std::string SumPrinter::printStruct() {
  Code body(1);
  ElementPrinter combine(kernel, body);
  std::string members, exchange, results;
  for (auto [i, op] : llvm::enumerate(group.combiners)) {
    Type type = elementOf(group.op->getResult(i));
    members += "  " + computeType(type) + " " + member(i) + ";\n";
    exchange += (i ? ", " : "") + exchanged(type, "x." + member(i));
    results += (i ? ", " : "") +
               combine.compute(op, {"x." + member(i), "y." + member(i)});
  }
  printer.helpers.add(combine.helpers);
  printer.failed |= combine.failed;
  return "\n/// One sum of each kind.\nstruct Sums {\n" + members +
         "};\nMLC_DEVICE Sums exchanged(const Sums &x, int distance) {\n"
         "  return {" +
         exchange +
         "};\n}\nMLC_DEVICE Sums combined(const Sums &x, const Sums &y) {\n" +
         body.text() + "  return {" + results + "};\n}\n";
}

/// The loops of the sums at these indices of the outputs.
Indices SumPrinter::loopsAt(ArrayRef<Index> at) {
  Indices loops(group.op.getNumLoops(), Index(0));
  AffineMap map =
      group.op.getMatchingIndexingMap(group.op.getDpsInitOperand(0));
  for (auto [expr, dim] : llvm::zip_equal(map.getResults(), group.dims))
    loops[cast<AffineDimExpr>(expr).getPosition()] =
        dim < 0 ? Index(0) : at[dim];
  return loops;
}

/// Sets the loops of the reduction to step `k` of them, a vector if these are
/// along it.
void SumPrinter::setStep(Indices &loops, const std::string &k) {
  SmallVector<unsigned> dims;
  group.op.getReductionDims(dims);
  SmallVector<IntExpr> sizes = loopSizes(kernel, group.op), extents;
  int64_t along = group.vector / group.each;
  for (unsigned d : dims)
    extents.push_back(sizes[d]);
  extents.back() = extents.back().floorDiv(along);
  for (auto [d, index] :
       llvm::zip_equal(dims, printer.unflatten(Index(k), extents)))
    loops[d] = index;
  loops[dims.back()] = printer.mul(loops[dims.back()], Index(along));
}

/// Loads what a step reads.
void SumPrinter::loadStep(const Indices &loops) {
  for (auto [i, read] : llvm::enumerate(group.reads)) {
    Index at(0);
    for (auto [dim, stride] : llvm::zip_equal(
             read.dims, printer.views[kernel.inputs[read.input]].strides))
      at = printer.add(
          at, printer.mul(dim < 0 ? Index(-1 - dim) : loops[dim], stride));
    std::string width =
        group.isVector(read) ? std::to_string(group.vector) : "1";
    code.line("x" + std::to_string(i) + "[u] = loadVector<" + width + ">(in" +
              std::to_string(read.input) + " + " + at.text + ");");
  }
}

/// Adds what a step has read to the thread's sums.
void SumPrinter::addStep(Indices loops) {
  std::string vector = std::to_string(group.vector);
  Index &moving = loops[group.vectorLoop];
  if (group.vector > 1)
    moving = Index("(" + moving.text + " + e)");
  printer.onLoad = [&](const View &view, ArrayRef<Index> indices) {
    for (auto [i, read] : llvm::enumerate(group.reads)) {
      bool isThis = view.pointer == "in" + std::to_string(read.input);
      for (auto [dim, index] : llvm::zip(read.dims, indices))
        isThis &= index.text == (dim < 0 ? Index(-1 - dim) : loops[dim]).text;
      if (isThis)
        return "x" + std::to_string(i) + "[u].at[" +
               (group.isVector(read) ? "e]" : "0]");
    }
    return std::string();
  };
  code.line("#pragma unroll");
  code.block("for (int e = 0; e < " + vector + "; ++e)", [&] {
    std::string sum = group.each > 1 ? "sums[e]." : "sums[0].";
    SmallVector<std::string> sums;
    for (unsigned i = 0; i < group.combiners.size(); ++i)
      sums.push_back(sum + member(i));
    for (auto [to, value] :
         llvm::zip_equal(sums, printer.body(group.op, loops, sums)))
      code.line(to + " = " + value + ";");
  });
  printer.onLoad = nullptr;
}

/// Adds up the thread's share of the block's part.
void SumPrinter::printLoop(Indices loops, const Index &part) {
  // Steps whose elements are on their way at a time.
  constexpr int64_t together = 8;
  IntExpr steps = group.k.floorDiv(group.vector / group.each);
  Index each = printer.size(steps.ceilDiv(group.parts)); // at least one part
  std::string first =
      code.define("Index", "first", part.text + " * " + each.text);
  printer.helpers.need("minimum");
  std::string end = code.define("Index", "end",
                                "minimum<Index>(" + first + " + " + each.text +
                                    ", " + printer.size(steps).text + ")");
  std::string rows = std::to_string(threads / group.lanes);
  auto forSteps = [&](function_ref<void()> inside) {
    code.line("#pragma unroll");
    code.block("for (int u = 0; u < " + std::to_string(together) + "; ++u)",
               [&] {
                 code.line("const Index k = first + u * " + rows + ";");
                 code.block("if (k < " + end + ")", inside);
               });
  };
  code.block("for (Index first = " + first + " + Index(threadIdx.x) / " +
                 std::to_string(group.lanes) + "; first < " + end +
                 "; first += " + std::to_string(together) + " * " + rows + ")",
             [&] {
               for (auto [i, read] : llvm::enumerate(group.reads))
                 code.line(
                     "Vector<" +
                     storageType(elementOf(kernel.inputs[read.input])) + ", " +
                     std::to_string(group.isVector(read) ? group.vector : 1) +
                     "> x" + std::to_string(i) + "[" +
                     std::to_string(together) + "];");
               if (!group.reads.empty())
                 forSteps([&] {
                   setStep(loops, "k");
                   loadStep(loops);
                 });
               forSteps([&] {
                 setStep(loops, "k");
                 addStep(loops);
               });
             });
}

/// Prints the elements that depend on the sum that the thread has, in the block
/// that has all parts.
void SumPrinter::printRest(const std::string &block) {
  std::string own = code.define("Index", "sum",
                                block + " * " + std::to_string(group.width()) +
                                    " + Index(threadIdx.x)");
  ArrayRef<IntExpr> shape = kernel.shapeOf(kernel.outputs.front());
  code.block("if (threadIdx.x < " + std::to_string(group.width()) + " && " +
                 own + " < " + printer.size(group.count).text + ")",
             [&] {
               Indices at = printer.unflatten(Index(own), extentsOf(shape));
               Indices loops = loopsAt(at);
               for (auto [i, start] :
                    llvm::enumerate(printer.initials(group.op, loops)))
                 printer.known[group.op->getResult(i)] = printer.compute(
                     group.combiners[i], {start, "total." + member(i)});
               for (auto [i, output] : llvm::enumerate(kernel.outputs)) {
                 Indices place = placeIn(kernel.shapeOf(output), at);
                 printer.store(printer.dense(output, "out" + std::to_string(i)),
                               place, printer.element(output, place));
               }
             });
}

KernelText SumPrinter::print() {
  KernelText text;
  int64_t width = group.width();
  std::string none;
  for (Operation *op : group.combiners)
    none += (none.empty() ? "" : ", ") + *neutral(op);
  to.before = (skeletonText("vector.cuh") + skeletonText("parts.cuh") +
               printStruct() + skeletonText("sums.cuh"))
                  .str();
  text.block = threads;
  text.resident = 2;
  text.scratchBytes = IntExpr::constant(kernel.context(), 0);
  IntExpr shares = group.count.ceilDiv(width);
  text.tasks = shares * group.parts;
  // No member of the struct takes more than eight bytes.
  int64_t bytes = 8 * group.combiners.size();
  text.sharedBytes = std::max(threads, threads / 32 * width) * bytes;
  if (!group.parts.isConstant(1))
    text.workspaceBytes = workspaceBytes(shares, group.parts, bytes * width);

  // All threads must have read the previous task's data in shared memory.
  code.line("if (task != blockIdx.x)");
  code.line("  syncBlock();");
  Index parts = printer.size(group.parts), count = printer.size(group.count);
  std::string lanes = std::to_string(group.lanes),
              each = std::to_string(group.each);
  std::string block =
      code.define("Index", "block", "Index(task / " + parts.text + ")");
  Index part(code.define("Index", "part", "Index(task % " + parts.text + ")"));
  Index neighbour = printer.mul(
      group.lanes == 1 ? Index(0)
                       : Index("(Index(threadIdx.x) % " + lanes + ")"),
      Index(group.each));
  std::string sum = code.define("Index", "sum",
                                block + " * " + std::to_string(width) + " + " +
                                    neighbour.text);
  code.line("const Sums none = {" + none + "};");
  code.line("Sums total, sums[" + each + "];");
  code.line("for (int e = 0; e < " + each + "; ++e)");
  code.line("  sums[e] = none;");
  code.block("if (" + sum + " < " + count.text + ")", [&] {
    Indices at = printer.unflatten(
        Index(sum), extentsOf(kernel.shapeOf(kernel.outputs.front())));
    printLoop(loopsAt(at), part);
  });
  code.line("if (!addUp<" + std::to_string(threads) + ", " + lanes +
            ">(total, sums, none, int(" + parts.text + "), scratch, task))");
  code.line("  continue;");
  printRest(block);
  return text;
}

FailureOr<KernelText> emitSums(KernelPrinter &to) {
  FailureOr<SumGroup> group = matchSums(to.kernel, to.options);
  if (failed(group))
    return failure();
  return SumPrinter(to, *group).print();
}

} // namespace mlc::cuda
