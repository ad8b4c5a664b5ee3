//===- Sums.cpp - Few long sums -------------------------------------------===//
//
// A group with one reduction that has few but long sums: several blocks share
// each sum, and the last of them computes the elements that depend on it. Where
// neighbouring sums read neighbours, a warp reads 32 of them at a time.
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/DeviceHeader.h"
#include "codegen/cuda/Group.h"
#include "codegen/cuda/Parts.h"

using namespace mlir;

namespace mlc::cuda {

static Type elementOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

namespace {

/// A group of sums; each element of the outputs depends on one of them.
struct SumGroup {
  linalg::LinalgOp op;
  SmallVector<Operation *> combiners;
  /// For each dim of the sums the dim of the outputs that indexes it (not
  /// counting dims of size 1), or -1 if its index is 0.
  SmallVector<int> dims;
  IntExpr count, k;
  /// Sums of a block.
  int64_t width = 1;
  IntExpr parts;
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

/// Whether the sums are few and long enough to be shared; sets how.
static bool chooseSharing(SumGroup &group, const EmitOptions &options) {
  // A part with fewer terms per thread is hardly worth its partial sums, and
  // the threads of the last block read a few parts each.
  constexpr int64_t worth = 16, most = 256;
  const Target &target = options.target;
  bool hasNeighbours = readsNeighbours(group.op);
  group.width = hasNeighbours ? 32 : 1;
  group.parts = chooseParts(group.count.ceilDiv(group.width), group.k,
                            worth * threads / group.width, most, target);
  if (!group.parts.isConstant(1))
    return true;
  // Otherwise this pays only if one thread per sum gives too few threads.
  std::optional<int64_t> count = group.count.asConstant();
  return hasNeighbours && (!count || *count < 2 * threads * target.cost.units);
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
      !chooseSharing(group, options) || !findDims(kernel, group))
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
  void printLoop(Indices loops, const Index &part);
  void printRest(Indices loops, ArrayRef<Index> at);
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

/// Adds up the thread's share of the block's part.
void SumPrinter::printLoop(Indices loops, const Index &part) {
  SmallVector<unsigned> dims;
  group.op.getReductionDims(dims);
  SmallVector<IntExpr> sizes = loopSizes(kernel, group.op), extents;
  for (unsigned d : dims)
    extents.push_back(sizes[d]);
  Index each =
      printer.size(group.k.ceilDiv(group.parts)); // parts are at least one
  std::string first =
      code.define("Index", "first", part.text + " * " + each.text);
  printer.helpers.need("minimum");
  std::string end = code.define("Index", "end",
                                "minimum<Index>(" + first + " + " + each.text +
                                    ", " + printer.size(group.k).text + ")");
  std::string w = std::to_string(group.width), k = code.fresh("k");
  std::string step = std::to_string(threads / group.width);
  code.block("for (Index " + k + " = " + first + " + Index(threadIdx.x) / " +
                 w + "; " + k + " < " + end + "; " + k + " += " + step + ")",
             [&] {
               for (auto [d, index] :
                    llvm::zip_equal(dims, printer.unflatten(Index(k), extents)))
                 loops[d] = index;
               SmallVector<std::string> sums;
               for (unsigned i = 0; i < group.combiners.size(); ++i)
                 sums.push_back("sums." + member(i));
               for (auto [sum, value] :
                    llvm::zip_equal(sums, printer.body(group.op, loops, sums)))
                 code.line(sum + " = " + value + ";");
             });
}

/// Prints the elements that depend on the sum.
void SumPrinter::printRest(Indices loops, ArrayRef<Index> at) {
  for (auto [i, start] : llvm::enumerate(printer.initials(group.op, loops)))
    printer.known[group.op->getResult(i)] =
        printer.compute(group.combiners[i], {start, "sums." + member(i)});
  for (auto [i, output] : llvm::enumerate(kernel.outputs)) {
    Indices place = placeIn(kernel.shapeOf(output), at);
    printer.store(printer.dense(output, "out" + std::to_string(i)), place,
                  printer.element(output, place));
  }
}

KernelText SumPrinter::print() {
  KernelText text;
  int64_t width = group.width;
  std::string w = std::to_string(width), none;
  for (Operation *op : group.combiners)
    none += (none.empty() ? "" : ", ") + *neutral(op);
  to.before =
      (skeletonText("parts.cuh") + printStruct() + skeletonText("sums.cuh"))
          .str();
  text.block = threads;
  text.resident = 4;
  text.scratchBytes = IntExpr::constant(kernel.context(), 0);
  IntExpr shares = group.count.ceilDiv(width);
  text.tasks = shares * group.parts;
  // No member of the struct takes more than eight bytes.
  int64_t bytes = 8 * group.combiners.size() * width;
  text.sharedBytes = threads / 32 * bytes;
  if (!group.parts.isConstant(1))
    text.workspaceBytes = workspaceBytes(shares, group.parts, bytes);

  // All threads must have read the previous task's data in shared memory.
  code.line("if (task != blockIdx.x)");
  code.line("  syncBlock();");
  Index parts = printer.size(group.parts), count = printer.size(group.count);
  std::string neighbour =
      width == 1 ? "" : " * " + w + " + Index(threadIdx.x) % " + w;
  std::string sum = code.define("Index", "sum",
                                "Index(task / " + parts.text + ")" + neighbour);
  Index part(code.define("Index", "part", "Index(task % " + parts.text + ")"));
  Indices at = printer.unflatten(
      Index(sum), extentsOf(kernel.shapeOf(kernel.outputs.front())));
  Indices loops(group.op.getNumLoops(), Index(0));
  AffineMap map =
      group.op.getMatchingIndexingMap(group.op.getDpsInitOperand(0));
  for (auto [expr, dim] : llvm::zip_equal(map.getResults(), group.dims))
    loops[cast<AffineDimExpr>(expr).getPosition()] =
        dim < 0 ? Index(0) : at[dim];
  code.line("const Sums none = {" + none + "};");
  code.line("Sums sums = none;");
  code.block("if (" + sum + " < " + count.text + ")",
             [&] { printLoop(loops, part); });
  code.line("if (!addUp<" + std::to_string(threads) + ", " + w +
            ">(sums, none, int(" + parts.text + "), scratch, task))");
  code.line("  continue;");
  code.block("if (threadIdx.x < " + w + " && " + sum + " < " + count.text + ")",
             [&] { printRest(loops, at); });
  return text;
}

FailureOr<KernelText> emitSums(KernelPrinter &to) {
  FailureOr<SumGroup> group = matchSums(to.kernel, to.options);
  if (failed(group))
    return failure();
  return SumPrinter(to, *group).print();
}

} // namespace mlc::cuda
