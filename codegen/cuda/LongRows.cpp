//===- LongRows.cpp - Rows that a block has -------------------------------===//

#include "codegen/cuda/LongRows.h"
#include "codegen/cuda/DeviceHeader.h"
#include "codegen/cuda/Tiles.h"

using namespace mlir;

namespace mlc::cuda {

static Type elementOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

/// Keeps what several operations read, and only that.
static void keepSharedReads(RowPlan &plan) {
  llvm::erase_if(plan.kept, [&](const RowRead &read) {
    return llvm::count_if(plan.reads, [&](auto &entry) {
             return llvm::is_contained(entry.second, read);
           }) < 2;
  });
}

/// Places what is kept and what is read later in shared memory. False if the
/// values do not fit; reads that do not fit stay in global memory.
static bool placeInMemory(RowPlan &plan, int64_t room) {
  RowPlan::InMemory &memory = plan.inMemory.emplace();
  auto place = [&](Type element) {
    int64_t at = memory.bytes;
    int64_t slots = (plan.length / plan.width + 2) * plan.width;
    memory.bytes += llvm::alignTo(slots * storageBytes(element), 16);
    return at;
  };
  for (Operation *op : plan.runOps())
    for (Value result : op->getResults())
      if (plan.group.bindings.contains(result) && plan.isLong(result) &&
          plan.isReadLater(result))
        memory.values[result] = place(elementOf(result));
  if (memory.bytes > room)
    return false;
  for (const RowRead &read : plan.kept)
    memory.kept.push_back(
        place(elementOf(plan.group.kernel.inputs[read.input])));
  if (memory.bytes > room) {
    memory.bytes = memory.kept.empty() ? memory.bytes : memory.kept.front();
    memory.kept.clear();
  }
  return true;
}

std::optional<RowPlan> planLongRows(const Kernel &kernel,
                                    const EmitOptions &options) {
  // Their places are ints.
  constexpr int64_t longest = 1 << 24, exchanges = 4 << 10;
  std::optional<RowPlan> plan(std::in_place, kernel);
  plan->group.recomputeBeyond(0);
  if (!planReads(*plan, options, longest))
    return std::nullopt;
  plan->width = widestVector(*plan);
  // Shorter rows would leave threads without work.
  if (plan->length < 512 * plan->width)
    return std::nullopt;
  keepSharedReads(*plan);
  int64_t room = sharedOfBlock(options.target) - exchanges;
  if (!placeInMemory(*plan, room))
    return std::nullopt;
  // Two blocks, of which one computes while the other waits for memory; where
  // memory is for one, that has the threads of two.
  bool isAlone = 2 * plan->inMemory->bytes > room - exchanges;
  plan->inMemory->resident = isAlone ? 1 : 2;
  plan->team = isAlone ? 1024 : 512;
  return plan;
}

//===----------------------------------------------------------------------===//
// Where elements are
//===----------------------------------------------------------------------===//

/// Whether `read` begins where the row does, counted in vectors.
bool LongRowPrinter::isAligned(const RowRead &read) const {
  if (plan.length % plan.width == 0)
    return true;
  int64_t next = 0;
  for (auto [place, extent] : llvm::zip_equal(
           read.places, kernel.shapeOf(kernel.inputs[read.input]))) {
    if (place.kind == RowRead::Place::Row || extent.isConstant(1))
      continue;
    if (place.kind != RowRead::Place::Shared || place.number != next ||
        extent != plan.group.shared[next])
      return false;
    ++next;
  }
  return next == int64_t(plan.group.shared.size());
}

bool LongRowPrinter::isAligned(Value output) const {
  // Rows of an output are all that it has, in order.
  SmallVector<int> ids;
  for (int id : plan.group.bindings.at(output))
    if (id >= 0)
      ids.push_back(id);
  return plan.length % plan.width == 0 ||
         (llvm::is_sorted(ids) && ids.size() == plan.group.shared.size());
}

std::string LongRowPrinter::ofValue(const std::string &name) const {
  return name + "[slot + e]";
}

std::string LongRowPrinter::ofKept(size_t number) const {
  return "x" + std::to_string(number) + ".at[e]";
}

std::string LongRowPrinter::pointerAt(Type element, int64_t bytes) const {
  return "reinterpret_cast<" + storageType(element) + " *>(sharedMemory() + " +
         std::to_string(exchangeBytes + bytes) + ")";
}

/// Brings what several operations read to shared memory.
void LongRowPrinter::loadKept() {
  const RowPlan::InMemory &memory = *plan.inMemory;
  code.line("const Row row(" + printer.mul(row, Index(plan.length)).text +
            ");");
  for (auto [i, at] : llvm::enumerate(memory.kept)) {
    const RowRead &read = plan.kept[i];
    code.line("row.bring<" + std::string(isAligned(read) ? "true" : "false") +
              ">(kept" + std::to_string(i) + ", in" +
              std::to_string(read.input) + " + " + baseOf(read).text + ");");
  }
  if (!memory.kept.empty()) {
    code.line("commitCopies();");
    code.line("waitForCopies<0>();");
  }
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// Loads the part's elements of all that `op` reads.
void LongRowPrinter::loadPart(Operation *op, const Part &part) {
  std::string width = std::to_string(part.width);
  for (auto [i, read] : llvm::enumerate(plan.reads[op])) {
    auto kept = llvm::find(plan.kept, read);
    std::string number = std::to_string(kept - plan.kept.begin());
    bool isKept = kept != plan.kept.end();
    std::string name = isKept ? "x" + number : "y" + std::to_string(i);
    std::string from = "loadVector<" + width + ">(kept" + number + " + slot)";
    if (!isKept || plan.inMemory->kept.empty())
      from = (isAligned(read) ? "loadVector<" : "gatherVector<") + width +
             ">(in" + std::to_string(read.input) + " + " + baseOf(read).text +
             " + " + part.at + ")";
    code.line("const auto " + name + " = " + from + ";");
  }
}

/// Stores the part's elements of `result` wherever they are needed.
void LongRowPrinter::storePart(Value result, const std::string &name,
                               const Part &part) {
  std::string width = std::to_string(part.width);
  if (plan.inMemory->values.contains(result))
    code.line("storeVector<" + width + ">(" + printer.views[result].pointer +
              " + slot, " + name + ");");
  for (auto [i, output] : llvm::enumerate(kernel.outputs))
    if (output == result)
      code.line((isAligned(output) ? "storeVector<" : "scatterVector<") +
                width + ">(out" + std::to_string(i) + " + " +
                baseOfOutput(i).text + " + " + part.at + ", " + name + ");");
}

void LongRowPrinter::printPart(Operation *op, ValueRange results,
                               function_ref<SmallVector<std::string>()> compute,
                               const Part &part) {
  code.line("const int slot = " + part.slot + ";");
  loadPart(op, part);
  std::string width = std::to_string(part.width);
  llvm::DenseMap<Value, std::string> names;
  for (Value result : results)
    if (plan.group.bindings.contains(result)) {
      names[result] = code.fresh("next");
      code.line("Vector<" + storageType(elementOf(result)) + ", " + width +
                "> " + names[result] + ";");
    }
  code.line("#pragma unroll");
  code.block("for (int e = 0; e < " + width + "; ++e)", [&] {
    places = printer.unflatten(Index("(" + part.at + " + e)"), plan.extents);
    SmallVector<std::string> values = compute();
    for (auto [result, value] : llvm::zip(results, values))
      if (names.contains(result))
        code.line(names[result] +
                  ".at[e] = " + toStorage(elementOf(result), value) + ";");
    places.clear();
  });
  for (Value result : results)
    if (names.contains(result))
      storePart(result, names[result], part);
}

void LongRowPrinter::forEach(Operation *op, ValueRange results,
                             function_ref<SmallVector<std::string>()> compute) {
  // What comes from global memory comes several vectors at a time.
  bool isNear = llvm::all_of(plan.reads[op], [&](const RowRead &read) {
    return llvm::is_contained(plan.kept, read) && !plan.inMemory->kept.empty();
  });
  code.line(isNear ? "#pragma unroll 2" : "#pragma unroll 4");
  code.block("for (int v = threadIdx.x; v < row.whole; v += " +
                 std::to_string(plan.team) + ")",
             [&] {
               printPart(op, results, compute,
                         {plan.width, "row.at(v)",
                          "v * " + std::to_string(plan.width)});
             });
  if (plan.width > 1)
    code.block("if (row.hasEdge())", [&] {
      printPart(op, results, compute, {1, "row.edge()", "Row::edgeSlot()"});
    });
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

KernelText LongRowPrinter::print() {
  KernelText text;
  MLIRContext *ctx = kernel.context();
  const RowPlan::InMemory &memory = *plan.inMemory;
  text.block = plan.block();
  text.resident = memory.resident;
  text.scratchBytes = IntExpr::constant(ctx, 0);
  text.tasks = elementCount(plan.group.shared, ctx);
  placeValues();
  to.before = (skeletonText("vector.cuh") + skeletonText("longrows.cuh") +
               "typedef LongRow<" + std::to_string(plan.team) + ", " +
               std::to_string(plan.width) + ", " + std::to_string(plan.length) +
               "> Row;\n")
                  .str();
  placeExchanges(text);
  exchangeBytes = text.sharedBytes;
  text.sharedBytes += memory.bytes;
  for (auto [i, at] : llvm::enumerate(memory.kept)) {
    Type element = elementOf(kernel.inputs[plan.kept[i].input]);
    printer.head.line(storageType(element) + " *const kept" +
                      std::to_string(i) + " = " + pointerAt(element, at) + ";");
  }
  for (Operation *op : plan.runOps())
    for (Value result : op->getResults())
      if (auto found = memory.values.find(result);
          found != memory.values.end()) {
        Type element = elementOf(result);
        printer.head.line(storageType(element) + " *const " +
                          printer.views[result].pointer + " = " +
                          pointerAt(element, found->second) + ";");
      }
  printRow();
  loadKept();
  printOperations();
  printer.onLoad = nullptr;
  return text;
}

bool acceptsLongRows(const Kernel &kernel, const EmitOptions &options) {
  return planLongRows(kernel, options).has_value();
}

FailureOr<KernelText> emitLongRows(KernelPrinter &to) {
  std::optional<RowPlan> plan = planLongRows(to.kernel, to.options);
  if (!plan)
    return failure();
  return LongRowPrinter(to, *plan).print();
}

} // namespace mlc::cuda
