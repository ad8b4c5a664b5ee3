//===- KernelCache.h - Compiled kernels on disk -----------------*- C++ -*-===//

#ifndef MLC_CODEGEN_CUDA_KERNELCACHE_H
#define MLC_CODEGEN_CUDA_KERNELCACHE_H

#include "codegen/cuda/CompiledSource.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace mlc::cuda {

/// The cache entry of one compiled kernel: a file named after the hash of all
/// that its code depends on, in the folder cuda of $MLC_CACHE, of
/// $XDG_CACHE_HOME/mlc or of ~/.cache/mlc. `MLC_CACHE=off` turns the cache off.
/// A damaged entry counts as missing, and a folder that cannot be written is no
/// error: the cache only saves time.
class KernelCache {
public:
  /// `parts`: what the code depends on, in this order.
  explicit KernelCache(llvm::ArrayRef<llvm::StringRef> parts);

  /// Reads the entry into `made`; false if there is none.
  bool read(CompiledSource &made) const;
  void write(const CompiledSource &made) const;

private:
  /// Empty if there is no cache.
  std::string path;
};

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_KERNELCACHE_H
