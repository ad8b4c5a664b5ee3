//===- Emit.h - From kernels to CUDA C++ ------------------------*- C++ -*-===//

#ifndef MLC_CODEGEN_CUDA_EMIT_H
#define MLC_CODEGEN_CUDA_EMIT_H

#include "codegen/cuda/Element.h"
#include "codegen/kernel/Backend.h"

namespace mlc::cuda {

struct EmitOptions {
  const Target &target;
  Precision precision = Precision::TF32;

  /// The architecture as a number: 80 for sm_80, 90 for sm_90a.
  int arch() const;
};

/// A kernel as text, and how it is launched; sizes are of its own symbols.
struct KernelText {
  /// One translation unit with the kernel called as it was asked for.
  std::string source;
  /// Which of the emitters wrote it.
  llvm::StringRef skeleton;
  IntExpr tasks, scratchBytes;
  /// Threads of a block, and bytes of its shared memory.
  int64_t block = 256, sharedBytes = 0;
  /// Bytes of joint memory, which takes the place of scratch memory; null:
  /// none.
  IntExpr jointBytes = {};
  /// Blocks that a multiprocessor is to hold, for which registers may be
  /// spilled; 0: as many as the compiler thinks.
  int64_t resident = 0;
};

/// The text of `kernel`, called `name`: by the first of the
/// emitters (a table in Emit.cpp) that takes it; the last takes all. Emits an
/// error on the kernel's function where it has something that cannot be
/// printed.
mlir::FailureOr<KernelText> emitKernel(const Kernel &kernel,
                                       const EmitOptions &options,
                                       llvm::StringRef name);

/// What an emitter fills: the body of one kernel's function.
class KernelPrinter {
public:
  KernelPrinter(const Kernel &kernel, const EmitOptions &options,
                llvm::StringRef name);

  const Kernel &kernel;
  const EmitOptions &options;
  std::string name;
  Code code;
  ElementPrinter printer;
  /// Text before the kernel: a skeleton.
  std::string before;

  /// Whether 32 bits hold every index: all sizes are known and far below 2^31,
  /// and none is made of data.
  bool fitsInt() const;
  /// Puts the whole together.
  std::string finish(const KernelText &text);

private:
  std::string parameters() const;
};

// The emitters. Each emits an error and fails where it cannot.
mlir::FailureOr<KernelText> emitElementwise(KernelPrinter &);
mlir::FailureOr<KernelText> emitSums(KernelPrinter &);
mlir::FailureOr<KernelText> emitRows(KernelPrinter &);
mlir::FailureOr<KernelText> emitColumns(KernelPrinter &);

/// Text in, machine code out: compiles every kernel of `module` and fills the
/// images of the artifact.
mlir::FailureOr<CompiledKernels> compileKernels(mlir::ModuleOp module,
                                                const Target &target,
                                                const CodegenOptions &options);

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_EMIT_H
