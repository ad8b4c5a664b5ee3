//===- TopK.cpp - The k best elements of rows as CUDA C++ -----------------===//

#include "codegen/cuda/TopK.h"
#include "codegen/cuda/DeviceHeader.h"
#include "dialects/Definition/OpInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace mlc::cuda {

/// Maximum bytes of shared memory for sorting, and bytes for the votes of warps
/// (kernels/topk.cuh).
constexpr int64_t sortedBytes = 32 * 1024, votesBytes = 128;

static OpaqueOpInterface findTopK(const Kernel &kernel) {
  if (kernel.ops.size() != 1)
    return {};
  auto op = dyn_cast<OpaqueOpInterface>(kernel.ops.front());
  return op && op.getLibraryKernel() == topKKernel ? op : OpaqueOpInterface();
}

bool acceptsTopK(const Kernel &kernel, const EmitOptions &) {
  return bool(findTopK(kernel));
}

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

FailureOr<KernelText> emitTopK(KernelPrinter &to) {
  const Kernel &kernel = to.kernel;
  OpaqueOpInterface op = findTopK(kernel);
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

} // namespace mlc::cuda
