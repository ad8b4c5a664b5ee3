//===- KernelCache.h - Compiled kernels on disk -----------------*- C++ -*-===//

#ifndef MLC_CODEGEN_CUDA_KERNELCACHE_H
#define MLC_CODEGEN_CUDA_KERNELCACHE_H

#include "codegen/cuda/CompiledSource.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace mlc::cuda {

/// The place of one compiled kernel in the cache: a file named after the hash
/// of all that its code depends on, in the folder cuda of $MLC_CACHE, of
/// $XDG_CACHE_HOME/mlc or of ~/.cache/mlc. `MLC_CACHE=off` turns the cache off.
/// An entry that is damaged counts as none, and a folder that cannot be written
/// is no error: the cache saves time and nothing else.
class KernelCache {
public:
  /// `parts`: what the code depends on, in this order.
  explicit KernelCache(llvm::ArrayRef<llvm::StringRef> parts);

  /// Whether there is an entry, and what is in it.
  bool read(CompiledSource &made) const;
  void write(const CompiledSource &made) const;

private:
  /// Empty where there is no cache.
  std::string path;
};

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_KERNELCACHE_H
