//===- KernelPrinter.h - The function around a body -------------*- C++ -*-===//

#ifndef MLC_CODEGEN_CUDA_KERNELPRINTER_H
#define MLC_CODEGEN_CUDA_KERNELPRINTER_H

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

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_KERNELPRINTER_H
