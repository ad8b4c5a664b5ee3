//===- Sums.cpp - Few long sums as CUDA C++ -------------------------------===//

#include "codegen/cuda/Sums.h"
#include "codegen/cuda/DeviceHeader.h"
#include "codegen/cuda/Parts.h"

using namespace mlir;

namespace mlc::cuda {

static Type elementOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

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
  int64_t along = group.along();
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
  IntExpr steps = group.k.floorDiv(group.along());
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
  FailureOr<SumGroup> group = planSums(to.kernel, to.options);
  if (failed(group))
    return failure();
  return SumPrinter(to, *group).print();
}

} // namespace mlc::cuda
