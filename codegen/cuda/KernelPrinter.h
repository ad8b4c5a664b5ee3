//===- KernelPrinter.h - The function around a body -------------*- C++ -*-===//

#ifndef MLC_CODEGEN_CUDA_KERNELPRINTER_H
#define MLC_CODEGEN_CUDA_KERNELPRINTER_H

#include "codegen/cuda/Element.h"
#include "codegen/kernel/Backend.h"

namespace mlc::cuda {

struct EmitOptions {
  const Target &target;
  Precision precision = Precision::TF32;
  /// As in CodegenOptions.
  bool keepsRoundings = false;

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
  /// Bytes of workspace, which replaces scratch memory; null: none.
  IntExpr workspaceBytes = {};
  /// Tensor maps that the kernel takes first, by the names map0, map1, ...
  std::vector<KernelMap> maps = {};
  /// Minimum number of resident blocks per multiprocessor, for which the
  /// compiler may spill registers; 0: the compiler chooses.
  int64_t resident = 0;
  /// Whether it uses instructions of sm_90a (kernels/mlc_hopper.cuh).
  bool usesHopper = false;
  /// Whether the body finds a block's tasks by itself; else it runs for each.
  bool findsTasks = false;
};

/// The body of one kernel's function, which an emitter fills.
class KernelPrinter {
public:
  KernelPrinter(const Kernel &kernel, const EmitOptions &options,
                llvm::StringRef name);

  const Kernel &kernel;
  const EmitOptions options;
  std::string name;
  Code code;
  ElementPrinter printer;
  /// Text before the kernel: a skeleton.
  std::string before;

  /// Whether 32 bits hold every index: all sizes are known and far below 2^31,
  /// and none is computed from data.
  bool fitsInt() const;
  /// The parameters for inputs, outputs and symbols: "..., ".
  std::string bufferParameters() const;
  /// Assembles the translation unit.
  std::string finish(const KernelText &text);

private:
  std::string parameters(const KernelText &text) const;
};

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_KERNELPRINTER_H
