//===- Elementwise.cpp - A thread for each element ------------------------===//

#include "codegen/cuda/DeviceHeader.h"
#include "codegen/cuda/Group.h"

using namespace mlir;

namespace mlc::cuda {

static Type elementOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

/// Whether each element of the result of `op` should be computed by one thread.
static bool suitsThread(const Kernel &kernel, linalg::LinalgOp op) {
  return kernel.anchor == op || reducesAcrossLanes(op) || isShort(kernel, op);
}

bool acceptsElementwise(const Kernel &kernel, const EmitOptions &) {
  // Outputs of one kernel may depend on each other. A thread recomputes what it
  // reads, so that must be little.
  LoopGroup plan(kernel, Repeats::BySteps);
  auto reductions = reductionsOf(kernel);
  return plan.stored.empty() &&
         (reductions.empty() || kernel.outputs.size() == 1) &&
         llvm::all_of(reductions, [&](linalg::LinalgOp op) {
           return suitsThread(kernel, op);
         });
}

/// How many neighbours a thread of a flat group computes, in accesses of at
/// most 16 bytes.
static int64_t chooseVector(const Kernel &kernel) {
  int64_t widest = 1;
  for (ArrayRef<Value> values :
       {ArrayRef<Value>(kernel.inputs), ArrayRef<Value>(kernel.outputs)})
    for (Value value : values)
      widest = std::max(widest, storageBytes(elementOf(value)));
  return 16 / widest;
}

/// Whether every thread may compute neighbours: all tensors are read and
/// written in order, and there are many elements.
static bool suitsVectors(const Kernel &kernel) {
  constexpr int64_t many = 1 << 14;
  if (!LoopGroup(kernel, Repeats::BySteps).flat)
    return false;
  ArrayRef<IntExpr> shape = kernel.shapeOf(kernel.outputs.front());
  std::optional<int64_t> count =
      elementCount(shape, kernel.context()).asConstant();
  return !shape.empty() && (!count || *count >= many);
}

/// A flat group: each thread computes `width` neighbours.
static KernelText emitVectors(KernelPrinter &to) {
  const Kernel &kernel = to.kernel;
  ElementPrinter &printer = to.printer;
  int64_t width = chooseVector(kernel);
  std::string w = std::to_string(width);
  IntExpr count =
      elementCount(kernel.shapeOf(kernel.outputs.front()), kernel.context());
  KernelText text;
  text.block = threads;
  text.scratchBytes = IntExpr::constant(kernel.context(), 0);
  text.tasks = count.ceilDiv(threads * width);
  to.before = skeletonText("vector.cuh").str();
  Code &code = to.code;
  std::string first = code.define("Index", "first",
                                  "(Index(task) * " + std::to_string(threads) +
                                      " + Index(threadIdx.x)) * " + w);
  unsigned rank = kernel.shapeOf(kernel.outputs.front()).size();
  // Computes element `e` of what the thread has read: all indices but the last
  // are zero.
  auto compute = [&](function_ref<std::string(unsigned)> pointerOf) {
    for (auto [i, input] : llvm::enumerate(kernel.inputs)) {
      View &view = printer.views[input];
      if (view.strides.empty())
        continue; // a scalar
      view.pointer = pointerOf(i);
      view.strides.assign(rank, Index(0));
      view.strides.back() = Index(1);
    }
    Indices at(rank, Index(0));
    at.back() = Index(std::string("e"));
    SmallVector<std::string> values;
    for (Value output : kernel.outputs)
      values.push_back(
          toStorage(elementOf(output), printer.element(output, at)));
    return values;
  };
  std::string total = printer.size(count).text;
  code.block("if (" + first + " + " + w + " <= " + total + ")", [&] {
    for (auto [i, input] : llvm::enumerate(kernel.inputs))
      if (!kernel.shapeOf(input).empty())
        code.line("const Vector<" + storageType(elementOf(input)) + ", " + w +
                  "> v" + std::to_string(i) + " = loadVector<" + w + ">(in" +
                  std::to_string(i) + " + " + first + ");");
    for (auto [i, output] : llvm::enumerate(kernel.outputs))
      code.line("Vector<" + storageType(elementOf(output)) + ", " + w + "> r" +
                std::to_string(i) + ";");
    code.line("#pragma unroll");
    code.block("for (int e = 0; e < " + w + "; ++e)", [&] {
      auto values =
          compute([](unsigned i) { return "v" + std::to_string(i) + ".at"; });
      for (auto [i, value] : llvm::enumerate(values))
        code.line("r" + std::to_string(i) + ".at[e] = " + value + ";");
    });
    for (size_t i = 0; i < kernel.outputs.size(); ++i)
      code.line("storeVector<" + w + ">(out" + std::to_string(i) + " + " +
                first + ", r" + std::to_string(i) + ");");
  });
  code.block("else", [&] {
    code.block("for (Index e = " + first + "; e < " + total + "; ++e)", [&] {
      auto values =
          compute([](unsigned i) { return "in" + std::to_string(i); });
      for (auto [i, value] : llvm::enumerate(values))
        code.line("out" + std::to_string(i) + "[e] = " + value + ";");
    });
  });
  return text;
}

FailureOr<KernelText> emitElementwise(KernelPrinter &to) {
  const Kernel &kernel = to.kernel;
  if (suitsVectors(kernel))
    return emitVectors(to);
  ElementPrinter &printer = to.printer;
  KernelText text;
  text.block = threads;
  text.scratchBytes = IntExpr::constant(kernel.context(), 0);
  IntExpr most = text.scratchBytes;
  SmallVector<IntExpr> counts;
  for (Value output : kernel.outputs) {
    counts.push_back(elementCount(kernel.shapeOf(output), kernel.context()));
    most = IntExpr::max(most, counts.back());
  }
  text.tasks = most.ceilDiv(threads);
  std::string flat = to.code.define("Index", "flat",
                                    "Index(task) * " + std::to_string(threads) +
                                        " + Index(threadIdx.x)");
  for (auto [i, output] : llvm::enumerate(kernel.outputs)) {
    View view = printer.dense(output, "out" + std::to_string(i));
    to.code.block(
        "if (" + flat + " < " + printer.size(counts[i]).text + ")", [&] {
          Indices at = printer.unflatten(Index(flat), kernel.shapeOf(output));
          std::string value = printer.element(output, at);
          View linear = view;
          linear.strides = {Index(1)};
          printer.store(linear, {Index(flat)}, value);
        });
  }
  return text;
}

} // namespace mlc::cuda
