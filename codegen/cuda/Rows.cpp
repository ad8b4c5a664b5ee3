//===- Rows.cpp - Rows in registers ---------------------------------------===//

#include "codegen/cuda/Rows.h"
#include "codegen/cuda/DeviceHeader.h"

using namespace mlir;

namespace mlc::cuda {

static Type elementOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

/// Whether `type` is a 16-bit float, which is computed as float.
static bool isNarrow(Type type) { return type.isF16() || type.isBF16(); }

RowPrinter::RowPrinter(KernelPrinter &to, RowPlan &plan)
    : to(to), kernel(to.kernel), printer(to.printer), code(to.code), plan(plan),
      isTrial(to.printer.isTrial) {
  printer.keepsRoundings = to.options.keepsRoundings;
  if (!printer.keepsRoundings)
    printer.uniform.emplace();
}

//===----------------------------------------------------------------------===//
// Registers and memory
//===----------------------------------------------------------------------===//

/// Gives stored values and outputs names of registers.
void RowPrinter::placeValues() {
  for (Operation *op : kernel.ops)
    for (Value result : op->getResults())
      if (plan.group.bindings.contains(result)) {
        View view;
        view.pointer = (plan.isLong(result) ? "row" : "one") +
                       std::to_string(registers.size());
        view.offset = Index(0);
        view.element = elementOf(result);
        // What there is once for a row is rounded once, but not packed.
        if (!plan.isLong(result) && isNarrow(view.element))
          view.element = Float32Type::get(kernel.context());
        view.strides.assign(kernel.shapeOf(result).size(), Index(0));
        registers[view.pointer] = result;
        printer.views[result] = view;
      }
  printer.onLoad = [&](const View &view, ArrayRef<Index> indices) {
    return readRegisters(view, indices);
  };
}

/// The expression of a stored element that the thread has in registers; "" for
/// others.
std::string RowPrinter::readRegisters(const View &view,
                                      ArrayRef<Index> indices) {
  if (auto found = registers.find(view.pointer); found != registers.end()) {
    Value value = found->second;
    if (!plan.isLong(value))
      return view.pointer;
    // A thread has its own elements only.
    Indices at = placeOf(value);
    for (auto [index, own, extent] :
         llvm::zip_equal(indices, at, kernel.shapeOf(value)))
      if (!extent.isConstant(1) && index.text != own.text)
        printer.failed = true;
    return ofValue(view.pointer);
  }
  std::optional<RowRead> read = match(view, indices);
  if (!read) {
    if (isTrial && StringRef(view.pointer).starts_with("in"))
      for (auto [i, input] : llvm::enumerate(kernel.inputs))
        if (view.pointer == "in" + std::to_string(i))
          plan.readsElsewhere.insert(input);
    return "";
  }
  SmallVector<RowRead> &reads = plan.reads[current];
  if (isTrial && !llvm::is_contained(reads, *read))
    reads.push_back(*read);
  auto kept = llvm::find(plan.kept, *read);
  if (kept != plan.kept.end())
    return ofKept(kept - plan.kept.begin());
  return "y" + std::to_string(llvm::find(reads, *read) - reads.begin()) +
         ".at[e]";
}

std::string RowPrinter::vectorOf(Type element) const {
  return "Vector<" + storageType(element) + ", " + std::to_string(plan.width) +
         ">";
}

/// Loads what many operations read, all of it before anything waits for it.
void RowPrinter::loadKept() {
  std::string width = std::to_string(plan.width);
  for (auto [i, read] : llvm::enumerate(plan.kept)) {
    std::string name = "x" + std::to_string(i);
    code.line(vectorOf(elementOf(kernel.inputs[read.input])) + " " + name +
              "[Row::vectors];");
    Index base = baseOf(read);
    code.line("#pragma unroll");
    code.line("for (int v = 0; v < Row::vectors; ++v)");
    code.line("  if (Row::has(v))");
    code.line("    " + name + "[v] = loadVector<" + width + ">(in" +
              std::to_string(read.input) + " + " + base.text +
              " + Row::at(v));");
  }
}

/// The indices of `value` at the shared indices and the row's places.
Indices RowPrinter::placeOf(Value value) const {
  Indices at;
  size_t next = 0;
  for (auto [extent, id] :
       llvm::zip_equal(kernel.shapeOf(value), plan.group.bindings.at(value))) {
    if (id >= 0)
      at.push_back(shared[id]);
    else if (extent.isConstant(1) || places.empty())
      at.push_back(Index(0));
    else
      at.push_back(places[next++]);
  }
  return at;
}

Index RowPrinter::baseOfOutput(size_t i) {
  Value output = kernel.outputs[i];
  Index base(0);
  for (auto [stride, id] : llvm::zip_equal(printer.dense(output, "").strides,
                                           plan.group.bindings.at(output)))
    if (id >= 0)
      base = printer.add(base, printer.mul(shared[id], stride));
  return base;
}

void RowPrinter::storeVectors(Value value, const std::string &name) {
  for (auto [i, output] : llvm::enumerate(kernel.outputs)) {
    if (output != value)
      continue;
    code.line((plan.rows() > 1 ? "if (isRow) storeVector<" : "storeVector<") +
              std::to_string(plan.width) + ">(out" + std::to_string(i) + " + " +
              baseOfOutput(i).text + " + Row::at(v), " + name + "[v]);");
  }
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// Prints the loops over the thread's elements around `inside`.
void RowPrinter::forEach(Operation *op, ValueRange results,
                         function_ref<SmallVector<std::string>()> compute) {
  std::string width = std::to_string(plan.width);
  SmallVector<Value> kept = llvm::filter_to_vector(results, [&](Value result) {
    return plan.group.bindings.contains(result);
  });
  for (Value result : kept)
    code.line(vectorOf(elementOf(result)) + " " +
              printer.views[result].pointer + "[Row::vectors];");
  auto elements = [&] {
    for (auto [i, read] : llvm::enumerate(plan.reads[op]))
      if (!llvm::is_contained(plan.kept, read))
        code.line("const " + vectorOf(elementOf(kernel.inputs[read.input])) +
                  " y" + std::to_string(i) + " = loadVector<" + width + ">(in" +
                  std::to_string(read.input) + " + " + baseOf(read).text +
                  " + Row::at(v));");
    code.line("#pragma unroll");
    code.block("for (int e = 0; e < " + width + "; ++e)", [&] {
      places = printer.unflatten(Index("(Row::at(v) + e)"), plan.extents);
      SmallVector<std::string> values = compute();
      for (auto [result, value] : llvm::zip(results, values))
        if (plan.group.bindings.contains(result))
          code.line(printer.views[result].pointer +
                    "[v].at[e] = " + toStorage(elementOf(result), value) + ";");
      places.clear();
    });
    for (Value result : kept)
      if (!plan.repeated)
        storeVectors(result, printer.views[result].pointer);
  };
  code.line("#pragma unroll");
  code.block("for (int v = 0; v < Row::vectors; ++v)",
             [&] { code.block("if (Row::has(v))", elements); });
}

void RowPrinter::define(ValueRange results, ArrayRef<std::string> values) {
  for (auto [result, value] : llvm::zip_equal(results, values)) {
    if (!plan.group.bindings.contains(result))
      continue;
    Type element = elementOf(result);
    std::string stored = toStorage(element, value);
    if (isNarrow(element))
      stored = fromStorage(element, stored);
    code.line("const " + storageType(printer.views[result].element) + " " +
              printer.views[result].pointer + " = " + stored + ";");
    if (printer.uniform)
      printer.uniform->insert(printer.views[result].pointer);
    for (auto [i, output] : llvm::enumerate(kernel.outputs))
      if (output == result)
        code.block("if (isFirst)", [&, i = i] {
          printer.store(printer.dense(result, "out" + std::to_string(i)),
                        placeOf(result), value);
        });
  }
}

void RowPrinter::print(Operation *op) {
  current = op;
  if (auto linalg = dyn_cast<linalg::LinalgOp>(op))
    return printLinalg(linalg);
  printCopy(op);
}

void RowPrinter::printCopy(Operation *op) {
  Value value = op->getResult(0);
  // Without its view, the value is computed instead of read.
  View view = printer.views[value];
  auto compute = [&] {
    printer.views.erase(value);
    std::string text = printer.element(value, placeOf(value));
    printer.views[value] = view;
    return SmallVector<std::string>{text};
  };
  if (plan.isLong(value))
    forEach(op, op->getResults(), compute);
  else
    define(op->getResults(), compute());
}

/// Sets the loops that run along the row, of reductions or of others.
void RowPrinter::setLoops(linalg::LinalgOp op, Indices &loops,
                          bool reductions) {
  for (auto [d, place] : llvm::zip_equal(plan.loopsOf(op, reductions), places))
    loops[d] = place;
}

void RowPrinter::printLinalg(linalg::LinalgOp op) {
  Indices loops(op.getNumLoops(), Index(0));
  for (auto [d, id] : llvm::enumerate(plan.group.loopBinding(op)))
    if (id >= 0)
      loops[d] = shared[id];
  if (plan.isTeamReduction(op))
    return reduceByTeam(op, loops);
  auto compute = [&] {
    return op.getNumReductionLoops() > 0 ? printer.reduce(op, loops)
                                         : printer.body(op, loops, {});
  };
  if (plan.loopsOf(op, /*reductions=*/false).empty())
    return define(op->getResults(), compute());
  forEach(op, op->getResults(), [&] {
    setLoops(op, loops, /*reductions=*/false);
    // What a result's map says must be the thread's own place.
    for (auto [i, result] : llvm::enumerate(op->getResults()))
      if (plan.group.bindings.contains(result)) {
        AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(i));
        readRegisters(printer.views[result], printer.evaluate(map, loops));
      }
    return compute();
  });
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

void RowPrinter::reduceByTeam(linalg::LinalgOp op, Indices loops) {
  SmallVector<Operation *> combiners = combinersOf(op);
  SmallVector<std::string> partials;
  for (auto [combine, result] : llvm::zip_equal(combiners, op->getResults())) {
    partials.push_back(code.fresh("sum"));
    code.line(computeType(elementOf(result)) + " " + partials.back() + " = " +
              *neutral(combine) + ";");
  }
  forEach(op, {}, [&] {
    Indices inner = loops;
    setLoops(op, inner, /*reductions=*/true);
    SmallVector<std::string> next = printer.body(op, inner, partials);
    for (auto [partial, value] : llvm::zip_equal(partials, next))
      code.line(partial + " = " + value + ";");
    return SmallVector<std::string>();
  });
  combineAcross(op, partials);
  SmallVector<std::string> values;
  for (auto [i, start] : llvm::enumerate(printer.initials(op, loops)))
    values.push_back(printer.compute(combiners[i], {start, partials[i]}));
  define(op->getResults(), values);
}

/// Combines the partial results of a team in each of its threads. The order is
/// the same in every run.
void RowPrinter::combineAcross(linalg::LinalgOp op,
                               ArrayRef<std::string> partials) {
  SmallVector<Operation *> combiners = combinersOf(op);
  auto combine = [&](unsigned i, const std::string &other) {
    std::string value =
        code.define(computeType(elementOf(op->getResult(i))), "t", other);
    code.line(partials[i] + " = " +
              printer.compute(combiners[i], {partials[i], value}) + ";");
  };
  int64_t lanes = std::min<int64_t>(plan.team, 32), warps = plan.team / 32;
  if (lanes > 1) {
    code.line("#pragma unroll");
    code.block("for (int distance = " + std::to_string(lanes / 2) +
                   "; distance > 0; distance /= 2)",
               [&] {
                 for (auto [i, partial] : llvm::enumerate(partials))
                   combine(i, exchanged(elementOf(op->getResult(i)), partial));
               });
  }
  if (warps <= 1)
    return;
  SmallVector<std::string> memories;
  for (auto [i, partial] : llvm::enumerate(partials)) {
    std::string type = computeType(elementOf(op->getResult(i)));
    memories.push_back(code.fresh("warps"));
    code.line(type + " *" + memories[i] + " = reinterpret_cast<" + type +
              " *>(sharedMemory() + turn + " +
              std::to_string(i * 8 * plan.block() / 32) + ");");
    code.line("if (threadIdx.x % 32 == 0) " + memories[i] +
              "[threadIdx.x / 32] = " + partial + ";");
  }
  code.line("syncBlock();");
  // The next exchange does not wait until all have read this one.
  code.line("turn = otherTurn - turn;");
  for (auto [i, partial] : llvm::enumerate(partials))
    code.line(partial + " = " + memories[i] + "[firstWarp];");
  code.line("#pragma unroll");
  code.block("for (int warp = 1; warp < " + std::to_string(warps) + "; ++warp)",
             [&] {
               for (size_t i = 0; i < partials.size(); ++i)
                 combine(i, memories[i] + "[firstWarp + warp]");
             });
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

/// Sets `shared` to the indices of the team's row.
void RowPrinter::printRow() {
  std::string team = std::to_string(plan.team);
  std::string rows = std::to_string(plan.rows());
  row = Index(code.define("Index", "r",
                          plan.rows() == 1
                              ? "Index(task)"
                              : "Index(task) * " + rows +
                                    " + Index(threadIdx.x) / " + team));
  std::string isFirst = "threadIdx.x % " + team + " == 0";
  if (plan.rows() > 1) {
    // Threads without a row compute the last one once more, since all lanes of
    // a warp exchange values.
    Index count =
        printer.size(elementCount(plan.group.shared, kernel.context()));
    code.line("const bool isRow = " + row.text + " < " + count.text + ";");
    row = Index(code.define(
        "Index", "r", "isRow ? " + row.text + " : " + count.text + " - 1"));
    isFirst = "isRow && " + isFirst;
  }
  if (llvm::any_of(kernel.outputs,
                   [&](Value output) { return !plan.isLong(output); }))
    code.line("const bool isFirst = " + isFirst + ";");
  shared = printer.unflatten(row, plan.group.shared);
}

/// Memory in which the warps of a team exchange values, twice, so that one
/// exchange can begin while another is read.
void RowPrinter::placeExchanges(KernelText &text) {
  size_t most = 0;
  for (Operation *op : kernel.ops)
    if (auto linalg = dyn_cast<linalg::LinalgOp>(op))
      if (plan.isTeamReduction(linalg))
        most = std::max<size_t>(most, op->getNumResults());
  if (plan.team <= 32 || most == 0)
    return;
  int64_t bytes = most * 8 * plan.block() / 32;
  text.sharedBytes = 2 * bytes;
  printer.head.line("const int otherTurn = " + std::to_string(bytes) + ";");
  printer.head.line("int turn = 0;");
  printer.head.line("const int firstWarp = int(threadIdx.x) / " +
                    std::to_string(plan.team) + " * " +
                    std::to_string(plan.team / 32) + ";");
}

/// A result takes the place of the input, in registers; the last is stored.
void RowPrinter::repeat(function_ref<void()> printAll) {
  Value output = kernel.outputs.front();
  std::string count = std::to_string(kernel.repeats);
  auto forVectors = [&](function_ref<void()> inside) {
    code.line("#pragma unroll");
    code.block("for (int v = 0; v < Row::vectors; ++v)",
               [&] { code.block("if (Row::has(v))", inside); });
  };
  code.line("#pragma unroll 1");
  code.block("for (int repeat = 0; repeat < " + count + "; ++repeat)", [&] {
    printAll();
    // The repeated input is the first that is kept.
    forVectors([&] {
      code.line("x0[v] = " + printer.views[output].pointer + "[v];");
    });
  });
  forVectors([&] { storeVectors(output, "x0"); });
}

void RowPrinter::printOperations() {
  for (Operation *op : plan.runOps())
    print(op);
}

KernelText RowPrinter::print() {
  KernelText text;
  MLIRContext *ctx = kernel.context();
  text.block = plan.block();
  text.scratchBytes = IntExpr::constant(ctx, 0);
  text.tasks = elementCount(plan.group.shared, ctx).ceilDiv(plan.rows());
  placeValues();
  to.before = (skeletonText("vector.cuh") + skeletonText("rows.cuh") +
               "typedef RowOf<" + std::to_string(plan.team) + ", " +
               std::to_string(plan.width) + ", " + std::to_string(plan.length) +
               "> Row;\n")
                  .str();
  placeExchanges(text);
  printRow();
  loadKept();
  if (plan.repeated)
    repeat([&] { printOperations(); });
  else
    printOperations();
  printer.onLoad = nullptr;
  return text;
}

bool acceptsWarps(const Kernel &kernel, const EmitOptions &options) {
  return planRows(kernel, options).has_value();
}

FailureOr<KernelText> emitWarps(KernelPrinter &to) {
  std::optional<RowPlan> plan = planRows(to.kernel, to.options);
  if (!plan)
    return failure();
  return RowPrinter(to, *plan).print();
}

} // namespace mlc::cuda
