//===- Elementwise.cpp - A thread for each element ------------------------===//

#include "codegen/cuda/DeviceHeader.h"
#include "codegen/cuda/Group.h"
#include "codegen/cuda/Reads.h"

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

/// Elements below which single threads are better than vectors.
constexpr int64_t many = 1 << 14;

/// Whether every thread may compute neighbours: all tensors are read and
/// written in order, and there are many elements.
static bool suitsVectors(const Kernel &kernel) {
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

//===----------------------------------------------------------------------===//
// Vectors beside operands with fewer dims
//===----------------------------------------------------------------------===//

namespace {
/// Vectors along the last dims of the outputs, `run`, in which no operand
/// changes otherwise than by neighbours.
struct BroadcastPlan {
  SmallVector<int> run, others;
  int64_t length = 0, width = 1;
  /// Reads that come as vectors; all others have one element for a run.
  SmallVector<Read> vectors;
};
} // namespace

/// Extends the run to dims in front of it while it stays one for all reads.
static void extendRun(BroadcastPlan &plan, ArrayRef<Read> reads) {
  while (!plan.others.empty()) {
    int next = plan.others.back();
    for (const Read &read : reads) {
      SmallVector<int> moving = read.moving();
      const int *at = llvm::find(moving, plan.run.front());
      if (at == moving.end() ? llvm::is_contained(moving, next)
                             : at == moving.begin() || at[-1] != next)
        return;
    }
    plan.run.insert(plan.run.begin(), next);
    plan.others.pop_back();
  }
}

static std::optional<BroadcastPlan> planBroadcast(const Kernel &kernel,
                                                  const EmitOptions &options) {
  ArrayRef<IntExpr> shape = kernel.shapeOf(kernel.outputs.front());
  std::optional<int64_t> count =
      elementCount(shape, kernel.context()).asConstant();
  if ((count && *count < many) || !reductionsOf(kernel).empty() ||
      llvm::any_of(kernel.outputs, [&](Value output) {
        return kernel.shapeOf(output) != shape;
      }))
    return std::nullopt;
  BroadcastPlan plan;
  for (auto [d, extent] : llvm::enumerate(shape))
    if (!extent.isConstant(1))
      plan.others.push_back(int(d));
  bool areAll = false;
  SmallVector<Read> reads = findReads(kernel, options, areAll);
  if (plan.others.empty() || !areAll)
    return std::nullopt;
  plan.run = {plan.others.pop_back_val()};
  int64_t widest = 1;
  for (Value output : kernel.outputs)
    widest = std::max(widest, storageBytes(elementOf(output)));
  for (const Read &read : reads) {
    SmallVector<int> moving = read.moving();
    if (!llvm::is_contained(moving, plan.run.back()))
      continue;
    if (moving.back() != plan.run.back())
      return std::nullopt;
    plan.vectors.push_back(read);
    widest =
        std::max(widest, storageBytes(elementOf(kernel.inputs[read.input])));
  }
  extendRun(plan, reads);
  plan.length = product(kernel, plan.run).asConstant().value_or(1);
  for (plan.width = 16 / widest; plan.length % plan.width != 0;)
    plan.width /= 2;
  return plan.width > 1 ? std::optional(plan) : std::nullopt;
}

namespace {
class BroadcastPrinter {
public:
  BroadcastPrinter(KernelPrinter &to, const BroadcastPlan &plan)
      : to(to), kernel(to.kernel), printer(to.printer), code(to.code),
        plan(plan), shape(kernel.shapeOf(kernel.outputs.front())),
        places(shape.size(), Index(0)), width(std::to_string(plan.width)) {}

  KernelText print();

private:
  void place(const Index &flat, ArrayRef<int> dims);
  void loadVectors(const Index &inner);
  void computeVectors(const Index &inner);

  KernelPrinter &to;
  const Kernel &kernel;
  ElementPrinter &printer;
  Code &code;
  const BroadcastPlan &plan;
  ArrayRef<IntExpr> shape;
  Indices places;
  std::string width;
};
} // namespace

void BroadcastPrinter::place(const Index &flat, ArrayRef<int> dims) {
  SmallVector<IntExpr> extents;
  for (int d : dims)
    extents.push_back(shape[d]);
  for (auto [d, index] :
       llvm::zip_equal(dims, printer.unflatten(flat, extents)))
    places[d] = index;
}

void BroadcastPrinter::loadVectors(const Index &inner) {
  for (auto [i, read] : llvm::enumerate(plan.vectors)) {
    Value input = kernel.inputs[read.input];
    Index at = inner;
    for (auto [dim, stride] :
         llvm::zip_equal(read.dims, printer.views[input].strides))
      if (dim >= 0 && !llvm::is_contained(plan.run, dim))
        at = printer.add(at, printer.mul(places[dim], stride));
    code.line("const Vector<" + storageType(elementOf(input)) + ", " + width +
              "> v" + std::to_string(i) + " = loadVector<" + width + ">(in" +
              std::to_string(read.input) + " + " + at.text + ");");
  }
}

void BroadcastPrinter::computeVectors(const Index &inner) {
  printer.onLoad = [&](const View &view, ArrayRef<Index> indices) {
    std::optional<Read> read = readAt(kernel, view, indices, places);
    auto found = read ? llvm::find(plan.vectors, *read) : plan.vectors.end();
    return found == plan.vectors.end()
               ? std::string()
               : "v" + std::to_string(found - plan.vectors.begin()) + ".at[e]";
  };
  code.line("#pragma unroll");
  code.block("for (int e = 0; e < " + width + "; ++e)", [&] {
    place(Index("(" + inner.text + " + e)"), plan.run);
    for (auto [i, output] : llvm::enumerate(kernel.outputs))
      code.line("r" + std::to_string(i) + ".at[e] = " +
                toStorage(elementOf(output), printer.element(output, places)) +
                ";");
  });
  printer.onLoad = nullptr;
}

KernelText BroadcastPrinter::print() {
  IntExpr count = elementCount(shape, kernel.context());
  KernelText text;
  text.block = threads;
  text.scratchBytes = IntExpr::constant(kernel.context(), 0);
  text.tasks = count.ceilDiv(threads * plan.width);
  to.before = skeletonText("vector.cuh").str();
  Index first(code.define("Index", "first",
                          "(Index(task) * " + std::to_string(threads) +
                              " + Index(threadIdx.x)) * " + width));
  code.block("if (" + first.text + " < " + printer.size(count).text + ")", [&] {
    Index length(plan.length);
    Index inner = plan.others.empty() ? first : printer.mod(first, length);
    if (!plan.others.empty())
      place(printer.div(first, length), plan.others);
    loadVectors(inner);
    for (auto [i, output] : llvm::enumerate(kernel.outputs))
      code.line("Vector<" + storageType(elementOf(output)) + ", " + width +
                "> r" + std::to_string(i) + ";");
    computeVectors(inner);
    for (size_t i = 0; i < kernel.outputs.size(); ++i)
      code.line("storeVector<" + width + ">(out" + std::to_string(i) + " + " +
                first.text + ", r" + std::to_string(i) + ");");
  });
  return text;
}

FailureOr<KernelText> emitElementwise(KernelPrinter &to) {
  const Kernel &kernel = to.kernel;
  if (suitsVectors(kernel))
    return emitVectors(to);
  if (std::optional<BroadcastPlan> plan = planBroadcast(kernel, to.options))
    return BroadcastPrinter(to, *plan).print();
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
