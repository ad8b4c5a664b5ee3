//===- Emit.cpp - From kernels to CUDA C++ --------------------------------===//

#include "codegen/cuda/Emit.h"
#include "codegen/cuda/Contraction.h"
#include "codegen/cuda/Group.h"
#include "codegen/cuda/ScatterAdd.h"
#include "codegen/cuda/TopK.h"
#include "codegen/cuda/Transpose.h"

using namespace mlir;

namespace mlc::cuda {

//===----------------------------------------------------------------------===//
// The function around a body
//===----------------------------------------------------------------------===//

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

std::string KernelPrinter::parameters() const {
  std::string text;
  for (auto [i, input] : llvm::enumerate(kernel.inputs))
    text += "const " + storageType(elementOf(input)) + " *__restrict__ in" +
            std::to_string(i) + ", ";
  for (auto [i, output] : llvm::enumerate(kernel.outputs))
    text += storageType(elementOf(output)) + " *__restrict__ out" +
            std::to_string(i) + ", ";
  for (size_t i = 0; i < kernel.symbols.size(); ++i)
    text += "long long s" + std::to_string(i) + ", ";
  return text + "long long tasks, uint8_t *scratch, long long stride";
}

std::string KernelPrinter::finish(const KernelText &text) {
  // Helpers that sizes need are known only now.
  bool isInt = fitsInt();
  std::string source = "#include \"mlc_device.cuh\"\n\n";
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
            parameters() + ") {\n";
  source += printer.head.text();
  source += "  for (long long task = blockIdx.x; task < tasks; task += "
            "gridDim.x) {\n";
  source += code.text();
  source += "  }\n}\n";
  return source;
}

//===----------------------------------------------------------------------===//
// The emitters
//===----------------------------------------------------------------------===//

namespace {
struct Emitter {
  StringRef name;
  bool (*accepts)(const Kernel &, const EmitOptions &);
  FailureOr<KernelText> (*emit)(KernelPrinter &);
};
} // namespace

/// In order of preference.
static ArrayRef<Emitter> emitters() {
  static const Emitter table[] = {
      {"topk", acceptsTopK, emitTopK},
      {"scatter", acceptsScatterAdd, emitScatterAdd},
      {"tensor", acceptsTensor, emitTensor},
      {"tiles", acceptsTiles, emitTiles},
      {"transpose", acceptsTranspose, emitTranspose},
      {"sums", acceptsSums, emitSums},
      {"elementwise", acceptsElementwise, emitElementwise},
      {"columns", acceptsColumns, emitColumns},
      {"rows", [](const Kernel &, const EmitOptions &) { return true; },
       emitRows},
  };
  return table;
}

FailureOr<KernelText> emitKernel(const Kernel &kernel,
                                 const EmitOptions &options, StringRef name) {
  for (const Emitter &emitter : emitters()) {
    if (!emitter.accepts(kernel, options))
      continue;
    KernelPrinter printer(kernel, options, name);
    FailureOr<KernelText> text = emitter.emit(printer);
    if (failed(text) || printer.printer.failed)
      return failure();
    text->skeleton = emitter.name;
    text->source = printer.finish(*text);
    return text;
  }
  llvm_unreachable("the last emitter takes all");
}

} // namespace mlc::cuda
