//===- KernelPrinter.cpp - The function around a body ---------------------===//

#include "codegen/cuda/KernelPrinter.h"
#include "codegen/kernel/LoopGroup.h"

using namespace mlir;

namespace mlc::cuda {

static Type elementOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

bool KernelPrinter::fitsInt() const {
  auto isSmall = [&](Value tensor) {
    std::optional<int64_t> count =
        elementCount(kernel.shapeOf(tensor), kernel.context()).asConstant();
    return count && *count < (int64_t(1) << 30);
  };
  if (!llvm::all_of(kernel.inputs, isSmall))
    return false;
  for (Operation *op : kernel.ops) {
    for (Value result : op->getResults())
      if (isa<RankedTensorType>(result.getType()) && !isSmall(result))
        return false;
    bool readsData = false;
    op->walk([&](Operation *inner) {
      readsData |=
          isa<tensor::ExtractOp>(inner) ||
          inner->getName().getStringRef().starts_with("arith.index_cast");
    });
    if (readsData)
      return false;
    if (auto linalg = dyn_cast<linalg::LinalgOp>(op)) {
      IntExpr all = IntExpr::constant(kernel.context(), 1);
      for (IntExpr extent : loopSizes(kernel, linalg))
        if (extent)
          all = all * extent;
      if (!all.asConstant())
        return false;
    }
  }
  return true;
}

int EmitOptions::arch() const {
  int number = 0;
  StringRef text = StringRef(target.cpu).drop_front(3);
  text.consumeInteger(10, number);
  return number;
}

KernelPrinter::KernelPrinter(const Kernel &kernel, const EmitOptions &options,
                             StringRef name)
    : kernel(kernel), options(options), name(name.str()), code(2),
      printer(kernel, code) {
  for (auto [i, input] : llvm::enumerate(kernel.inputs))
    printer.views[input] = printer.dense(input, "in" + std::to_string(i));
}

std::string KernelPrinter::parameters(const KernelText &kernelText) const {
  std::string text;
  for (size_t i = 0; i < kernelText.maps.size(); ++i)
    text += "const __grid_constant__ TensorMap map" + std::to_string(i) + ", ";
  return text + bufferParameters() +
         "long long tasks, uint8_t *scratch, long long stride";
}

std::string KernelPrinter::bufferParameters() const {
  std::string text;
  for (auto [i, input] : llvm::enumerate(kernel.inputs))
    text += "const " + storageType(elementOf(input)) + " *__restrict__ in" +
            std::to_string(i) + ", ";
  for (auto [i, output] : llvm::enumerate(kernel.outputs))
    text += storageType(elementOf(output)) + " *__restrict__ out" +
            std::to_string(i) + ", ";
  for (size_t i = 0; i < kernel.symbols.size(); ++i)
    text += "long long s" + std::to_string(i) + ", ";
  return text;
}

std::string KernelPrinter::finish(const KernelText &text) {
  // Helpers that sizes need are known only now.
  bool isInt = fitsInt();
  std::string source = "#include \"mlc_device.cuh\"\n";
  if (text.usesHopper || !text.maps.empty())
    source += "#include \"mlc_hopper.cuh\"\n";
  source += "\n";
  // In an anonymous namespace: a program's kernels all define these names.
  source += "namespace {\n\n";
  source += std::string("typedef ") + (isInt ? "int" : "long long") +
            " Index;\ntypedef unsigned " + (isInt ? "int" : "long long") +
            " UnsignedIndex;\n";
  source += printer.helpers.text() + before;
  if (!printer.constants.empty())
    source += "\n" + printer.constants;
  source += "\n} // namespace\n";
  source += ("\n// Skeleton: " + text.skeleton + "\nMLC_KERNEL(").str() + name +
            ", " + std::to_string(text.block) +
            (text.resident ? ", " + std::to_string(text.resident) : "") + ")(" +
            parameters(text) + ") {\n";
  if (options.arch() >= 90)
    source += "  waitForPriorLaunch();\n  launchNext();\n";
  source += printer.head.text();
  if (text.findsTasks)
    return source + code.text() + "}\n";
  source += "  for (long long task = blockIdx.x; task < tasks; task += "
            "gridDim.x) {\n";
  source += code.text();
  source += "  }\n}\n";
  return source;
}

} // namespace mlc::cuda
