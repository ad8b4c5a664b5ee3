//===- Emit.cpp - From kernels to CUDA C++ --------------------------------===//

#include "codegen/cuda/Emit.h"
#include "codegen/cuda/Contraction.h"
#include "codegen/cuda/Group.h"
#include "codegen/cuda/Joined.h"
#include "codegen/cuda/Opaque.h"
#include "codegen/cuda/Transpose.h"
#include "codegen/cuda/Windows.h"

using namespace mlir;

namespace mlc::cuda {

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
      {"", acceptsOpaque, emitOpaque}, // which names the skeleton
      {"joined", acceptsJoined, emitJoined},
      {"wgmma", acceptsWarpgroups, emitWarpgroups},
      {"tensor", acceptsTensor, emitTensor},
      {"tiles", acceptsTiles, emitTiles},
      {"transpose", acceptsTranspose, emitTranspose},
      {"sums", acceptsSums, emitSums},
      {"windows", acceptsPixels, emitPixels},
      {"windows", acceptsPlanes, emitPlanes},
      {"elementwise", acceptsElementwise, emitElementwise},
      {"columns", acceptsColumns, emitColumns},
      {"warps", acceptsWarps, emitWarps},
      {"rows", acceptsLongRows, emitLongRows},
      {"rows", [](const Kernel &, const EmitOptions &) { return true; },
       emitRows},
  };
  return table;
}

FailureOr<KernelText> emitKernel(const Kernel &kernel,
                                 const EmitOptions &options, StringRef name) {
  for (const Emitter &emitter : emitters()) {
    if ((kernel.repeats > 1 && emitter.accepts != acceptsWarps) ||
        !emitter.accepts(kernel, options))
      continue;
    KernelPrinter printer(kernel, options, name);
    FailureOr<KernelText> text = emitter.emit(printer);
    if (failed(text) || printer.printer.failed)
      return failure();
    if (text->skeleton.empty())
      text->skeleton = emitter.name;
    text->source = printer.finish(*text);
    return text;
  }
  func::FuncOp(kernel.function)
      .emitError("code generation for CUDA cannot repeat it in one "
                 "launch");
  return failure();
}

} // namespace mlc::cuda
