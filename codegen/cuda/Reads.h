//===- Reads.h - How elementwise kernels read their inputs ------*- C++ -*-===//

#ifndef MLC_CODEGEN_CUDA_READS_H
#define MLC_CODEGEN_CUDA_READS_H

#include "codegen/cuda/KernelPrinter.h"

namespace mlc::cuda {

/// How elements of an input are read: for each of its dims the output's dim
/// that indexes it, or -1 if the dim has size 1.
struct Read {
  unsigned input;
  llvm::SmallVector<int> dims;

  bool operator==(const Read &other) const {
    return input == other.input && dims == other.dims;
  }
  /// Only the output's dims, the fastest last.
  llvm::SmallVector<int> moving() const {
    return llvm::filter_to_vector(dims, [](int d) { return d >= 0; });
  }
};

/// The read at `indices`, if each of these is one of the output's `places` and
/// covers a whole dim.
std::optional<Read> readAt(const Kernel &kernel, const View &view,
                           llvm::ArrayRef<Index> indices,
                           llvm::ArrayRef<Index> places);

/// All such reads of the kernel, in order; `areAll` says whether there are no
/// others. The outputs have the same shape.
llvm::SmallVector<Read> findReads(const Kernel &kernel,
                                  const EmitOptions &options, bool &areAll);

/// The number of elements along these dims of the output.
IntExpr product(const Kernel &kernel, llvm::ArrayRef<int> dims);

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_READS_H
