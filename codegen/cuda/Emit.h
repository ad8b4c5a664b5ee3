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

/// A kernel as text, and how it is launched; sizes are expressions of the
/// kernel's symbols.
struct KernelText {
  /// One translation unit; the kernel has the requested name.
  std::string source;
  /// The emitter that wrote it.
  llvm::StringRef skeleton;
  IntExpr tasks, scratchBytes;
  /// Threads of a block, and bytes of its shared memory.
  int64_t block = 256, sharedBytes = 0;
  /// Bytes of joint memory, which replaces scratch memory; null: none.
  IntExpr jointBytes = {};
  /// Minimum number of resident blocks per multiprocessor, for which the
  /// compiler may spill registers; 0: the compiler chooses.
  int64_t resident = 0;
};

/// Prints `kernel` under the name `name`, with the first emitter that accepts
/// it (a table in Emit.cpp); the last accepts all. Emits an error on the
/// kernel's function if something in it cannot be printed.
mlir::FailureOr<KernelText> emitKernel(const Kernel &kernel,
                                       const EmitOptions &options,
                                       llvm::StringRef name);

/// The body of one kernel's function, which an emitter fills.
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
  /// and none is computed from data.
  bool fitsInt() const;
  /// Assembles the translation unit.
  std::string finish(const KernelText &text);

private:
  std::string parameters() const;
};

// The emitters. Each emits an error and fails if it cannot emit the kernel.
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
