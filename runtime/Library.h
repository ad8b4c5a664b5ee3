//===- Library.h - Kernels of the runtime for opaque operators --*- C++ -*-===//
//
// Operators without a definition (top-k), and those whose definition does more
// work than needed (scatter-add), run here. A step of kind Library names a
// kernel by its key.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_LIBRARY_H
#define MLC_RUNTIME_LIBRARY_H

#include "runtime/Program.h"
#include "runtime/ThreadPool.h"

namespace mlc::runtime {

/// An operand of a library call. `data` is set for run() only.
struct LibraryOperand {
  DType type = DType::F32;
  size_t rank = 0;
  const int64_t *dims = nullptr;
  void *data = nullptr;
};

struct LibraryCall {
  const LibraryOperand *inputs = nullptr;
  size_t numInputs = 0;
  const LibraryOperand *outputs = nullptr;
  size_t numOutputs = 0;
  const int64_t *args = nullptr;
  size_t numArgs = 0;
};

struct LibraryKernel {
  const char *key = nullptr;
  /// Checks operands and arguments once per set of dims, so that run() cannot
  /// fail.
  Status (*check)(const LibraryCall &call) = nullptr;
  /// Bytes of scratch per thread of a call that passed the check.
  uint64_t (*scratch)(const LibraryCall &call) = nullptr;
  /// How many independent tasks.
  int64_t (*tasks)(const LibraryCall &call) = nullptr;
  void (*run)(const LibraryCall &call, int64_t begin, int64_t end,
              void *scratch) = nullptr;
};

/// The kernel named `key`, or null. The families' tables (LibraryFamilies.h)
/// say what each computes.
const LibraryKernel *findLibraryKernel(const std::string &key);

} // namespace mlc::runtime

#endif // MLC_RUNTIME_LIBRARY_H
