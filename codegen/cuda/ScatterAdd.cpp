//===- ScatterAdd.cpp - Slices added by indices as CUDA C++ ---------------===//

#include "codegen/cuda/ScatterAdd.h"
#include "codegen/cuda/DeviceHeader.h"
#include "dialects/Definition/OpInterfaces.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace mlc::cuda {

/// Threads of a block, and maximum bytes of shared memory for their sums.
constexpr int64_t threads = 128, sumBytes = 32 * 1024;

/// The combiner of the kernel, a type of kernels/scatter.cuh; empty for other
/// kernels.
static StringRef combinerOf(StringRef libraryKernel) {
  return llvm::StringSwitch<StringRef>(libraryKernel)
      .Case("scatter_add", "Added")
      .Case("scatter_mul", "Multiplied")
      .Case("scatter_max", "Larger")
      .Case("scatter_min", "Smaller")
      .Default("");
}

bool isScatterKernel(StringRef libraryKernel) {
  return !combinerOf(libraryKernel).empty();
}

static OpaqueOpInterface findScatterAdd(const Kernel &kernel) {
  if (kernel.ops.size() != 1)
    return {};
  auto op = dyn_cast<OpaqueOpInterface>(kernel.ops.front());
  return op && isScatterKernel(op.getLibraryKernel()) ? op
                                                      : OpaqueOpInterface();
}

bool acceptsScatterAdd(const Kernel &kernel, const EmitOptions &) {
  return bool(findScatterAdd(kernel));
}

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

FailureOr<KernelText> emitScatterAdd(KernelPrinter &to) {
  const Kernel &kernel = to.kernel;
  OpaqueOpInterface op = findScatterAdd(kernel);
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

  int64_t columns = powerFor(inner, threads), lanes = threads / columns;
  int64_t bytes =
      std::max<int64_t>(storageBytes(element), isa<FloatType>(element) ? 4 : 1);
  int64_t slots = powerFor(extent.ceilDiv(lanes),
                           std::min<int64_t>(64, sumBytes / (threads * bytes)));
  KernelText text;
  text.block = threads;
  text.sharedBytes = threads * slots * bytes;
  text.tasks = outer * extent.ceilDiv(slots * lanes) * inner.ceilDiv(columns);
  to.before = skeletonText("scatter.cuh").str();

  StringRef combiner = combinerOf(op.getLibraryKernel());
  std::string type = combinedType(element, combiner);
  auto operand = [&](unsigned i) {
    auto found = llvm::find(kernel.inputs, op->getOperand(i));
    std::string name = "in" + std::to_string(found - kernel.inputs.begin());
    return i == 1 ? name
                  : "reinterpret_cast<const " + type + " *>(" + name + ")";
  };
  auto size = [&](IntExpr value) { return to.printer.size(value).text; };
  to.code.line("typedef ScatterAdd<" + combiner.str() + ", " + type + ", " +
               storageType(pick) + ", " + std::to_string(threads) + ", " +
               std::to_string(columns) + ", " + std::to_string(slots) +
               "> Scatter;");
  to.code.line("Scatter{" + operand(0) + ", " + operand(1) + ", " + operand(2) +
               ", reinterpret_cast<" + type + " *>(out0), " + size(extent) +
               ", " + size(inner) + ", " + size(count) + ", " +
               size(arguments[1]) + ", " + size(arguments[2]) +
               "}.run(Index(task));");
  return text;
}

} // namespace mlc::cuda
