//===- Opaque.cpp - Opaque operators as CUDA C++ --------------------------===//

#include "codegen/cuda/Opaque.h"
#include "codegen/cuda/DeviceHeader.h"
#include "dialects/Definition/OpInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace mlc::cuda {

//===----------------------------------------------------------------------===//
// The k best elements of rows
//===----------------------------------------------------------------------===//

/// Maximum bytes of shared memory for sorting, and bytes for the votes of warps
/// (kernels/topk.cuh).
constexpr int64_t sortedBytes = 32 * 1024, votesBytes = 128;

/// Threads that share a row: a pair of elements for each, within bounds.
static int64_t chooseThreads(IntExpr extent) {
  constexpr int64_t least = 32, most = 512;
  std::optional<int64_t> count = extent.asConstant();
  if (!count)
    return most;
  return std::clamp(int64_t(llvm::PowerOf2Ceil(uint64_t(*count))) / 2, least,
                    most);
}

/// Bytes of scratch: two copies of the ranked row if it exceeds `capacity` and
/// k exceeds half of it, else none. kernels/topk.cuh decides by the same sizes
/// at run time.
static IntExpr scratchOf(IntExpr extent, IntExpr k, int64_t capacity,
                         int64_t itemBytes) {
  IntExpr none = IntExpr::constant(extent.getContext(), 0);
  IntExpr one = IntExpr::constant(extent.getContext(), 1);
  auto isAtMost = [](IntExpr value, int64_t bound) {
    std::optional<int64_t> known = value.asConstant();
    return known && *known <= bound;
  };
  if (isAtMost(extent, capacity) || isAtMost(k, capacity / 2))
    return none;
  IntExpr isLong = IntExpr::min(extent.floorDiv(capacity + 1), one);
  return isLong * extent * (2 * itemBytes);
}

/// A block selects and sorts the k largest or smallest elements of one row.
static FailureOr<KernelText> emitTopK(KernelPrinter &to, OpaqueOpInterface op) {
  const Kernel &kernel = to.kernel;
  Value x = op->getOperand(0);
  ArrayRef<IntExpr> shape = kernel.shapeOf(x);
  auto arguments = op.getLibraryArguments();
  int64_t axis = arguments[0].getConstant();
  bool isLargest = arguments[1].getConstant() != 0;
  Type element = cast<RankedTensorType>(x.getType()).getElementType();
  IntExpr extent = shape[axis];
  IntExpr k = kernel.shapeOf(op->getResult(0))[axis];
  IntExpr outer = elementCount(shape.take_front(axis), kernel.context());
  IntExpr inner = elementCount(shape.drop_front(axis + 1), kernel.context());

  // A word holds a key or an index; an index takes 64 bits if sizes are open.
  bool isWide = storageBytes(element) == 8 || !to.fitsInt();
  int64_t itemBytes = isWide ? 16 : 8;
  int64_t capacity = std::clamp<int64_t>(
      llvm::PowerOf2Ceil(extent.asConstant().value_or(INT32_MAX)), 32,
      sortedBytes / itemBytes);
  KernelText text;
  text.block = chooseThreads(extent);
  text.sharedBytes = votesBytes + capacity * itemBytes;
  text.tasks = outer * inner;
  text.scratchBytes = scratchOf(extent, k, capacity, itemBytes);
  to.before = skeletonText("topk.cuh").str();

  auto outputOf = [&](unsigned result) {
    auto found = llvm::find(kernel.outputs, op->getResult(result));
    return found == kernel.outputs.end()
               ? std::string("nullptr")
               : "out" + std::to_string(found - kernel.outputs.begin());
  };
  auto size = [&](IntExpr value) { return to.printer.size(value).text; };
  to.code.line("typedef TopK<" + storageType(element) + ", " +
               (isWide ? "uint64_t" : "uint32_t") + ", " +
               std::to_string(text.block) + ", " + std::to_string(capacity) +
               ", " + (isLargest ? "true" : "false") + "> Selection;");
  to.code.line("Selection{in0, " + outputOf(0) + ", " + outputOf(1) + ", " +
               size(extent) + ", " + size(k) + ", " + size(inner) +
               "}.run(Index(task), scratch + blockIdx.x * stride);");
  return text;
}

//===----------------------------------------------------------------------===//
// Slices combined by indices
//===----------------------------------------------------------------------===//

/// Threads of a block, and maximum bytes of shared memory for their sums.
constexpr int64_t scatterThreads = 128, sumBytes = 32 * 1024;

/// The type that elements are combined in. Integers that are not compared are
/// unsigned, so that they wrap.
static std::string combinedType(Type element, StringRef combiner) {
  if (isa<FloatType>(element) || combiner == "Larger" || combiner == "Smaller")
    return storageType(element);
  return "uint" + std::to_string(element.getIntOrFloatBitWidth()) + "_t";
}

/// The power of two that covers `size`, at most `most`; `most` if the size is
/// open.
static int64_t powerFor(IntExpr size, int64_t most) {
  std::optional<int64_t> known = size.asConstant();
  if (!known || *known >= most)
    return most;
  return int64_t(llvm::PowerOf2Ceil(uint64_t(std::max<int64_t>(*known, 1))));
}

/// Each block computes a part of the result; `combiner` is a type of
/// kernels/scatter.cuh.
static FailureOr<KernelText>
emitScatter(KernelPrinter &to, OpaqueOpInterface op, StringRef combiner) {
  const Kernel &kernel = to.kernel;
  Value x = op->getOperand(0), indices = op->getOperand(1);
  ArrayRef<IntExpr> shape = kernel.shapeOf(x);
  llvm::SmallVector<IntExpr> arguments = op.getLibraryArguments();
  int64_t axis = arguments[0].getConstant();
  Type element = cast<RankedTensorType>(x.getType()).getElementType();
  Type pick = cast<RankedTensorType>(indices.getType()).getElementType();
  IntExpr extent = shape[axis];
  IntExpr outer = elementCount(shape.take_front(axis), kernel.context());
  IntExpr inner = elementCount(shape.drop_front(axis + 1), kernel.context());
  IntExpr count = elementCount(kernel.shapeOf(indices), kernel.context());

  int64_t columns = powerFor(inner, scatterThreads),
          lanes = scatterThreads / columns;
  int64_t bytes =
      std::max<int64_t>(storageBytes(element), isa<FloatType>(element) ? 4 : 1);
  int64_t slots =
      powerFor(extent.ceilDiv(lanes),
               std::min<int64_t>(64, sumBytes / (scatterThreads * bytes)));
  KernelText text;
  text.block = scatterThreads;
  text.sharedBytes = scatterThreads * slots * bytes;
  text.tasks = outer * extent.ceilDiv(slots * lanes) * inner.ceilDiv(columns);
  to.before = skeletonText("scatter.cuh").str();

  std::string type = combinedType(element, combiner);
  auto operand = [&](unsigned i) {
    auto found = llvm::find(kernel.inputs, op->getOperand(i));
    std::string name = "in" + std::to_string(found - kernel.inputs.begin());
    return i == 1 ? name
                  : "reinterpret_cast<const " + type + " *>(" + name + ")";
  };
  auto size = [&](IntExpr value) { return to.printer.size(value).text; };
  to.code.line("typedef ScatterAdd<" + combiner.str() + ", " + type + ", " +
               storageType(pick) + ", " + std::to_string(scatterThreads) +
               ", " + std::to_string(columns) + ", " + std::to_string(slots) +
               "> Scatter;");
  to.code.line("Scatter{" + operand(0) + ", " + operand(1) + ", " + operand(2) +
               ", reinterpret_cast<" + type + " *>(out0), " + size(extent) +
               ", " + size(inner) + ", " + size(count) + ", " +
               size(arguments[1]) + ", " + size(arguments[2]) +
               "}.run(Index(task));");
  return text;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {
struct OpaqueKernel {
  StringRef libraryKernel, skeleton;
  FailureOr<KernelText> (*emit)(KernelPrinter &, OpaqueOpInterface);
};

template <const char *combiner>
FailureOr<KernelText> emitScatterOf(KernelPrinter &to, OpaqueOpInterface op) {
  return emitScatter(to, op, combiner);
}
} // namespace

static const OpaqueKernel *findOpaqueKernel(StringRef libraryKernel) {
  static constexpr char added[] = "Added", multiplied[] = "Multiplied",
                        larger[] = "Larger", smaller[] = "Smaller";
  static const OpaqueKernel table[] = {
      {"topk", "topk", emitTopK},
      {"scatter_add", "scatter", emitScatterOf<added>},
      {"scatter_mul", "scatter", emitScatterOf<multiplied>},
      {"scatter_max", "scatter", emitScatterOf<larger>},
      {"scatter_min", "scatter", emitScatterOf<smaller>},
  };
  auto *found = llvm::find_if(table, [&](const OpaqueKernel &row) {
    return row.libraryKernel == libraryKernel;
  });
  return found == std::end(table) ? nullptr : found;
}

bool hasOpaqueKernel(StringRef libraryKernel) {
  return findOpaqueKernel(libraryKernel);
}

/// The operator that the kernel consists of; null if it is another kernel.
static OpaqueOpInterface findOpaque(const Kernel &kernel) {
  return kernel.ops.size() == 1
             ? dyn_cast<OpaqueOpInterface>(kernel.ops.front())
             : OpaqueOpInterface();
}

bool acceptsOpaque(const Kernel &kernel, const EmitOptions &) {
  return bool(findOpaque(kernel));
}

FailureOr<KernelText> emitOpaque(KernelPrinter &to) {
  OpaqueOpInterface op = findOpaque(to.kernel);
  const OpaqueKernel *row = findOpaqueKernel(op.getLibraryKernel());
  assert(row && "a kernel of an operator that the back end has said it has");
  FailureOr<KernelText> text = row->emit(to, op);
  if (succeeded(text))
    text->skeleton = row->skeleton;
  return text;
}

} // namespace mlc::cuda
