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
  const char *key;
  /// Checks operands and arguments once per set of dims, so that run() cannot
  /// fail.
  Status (*check)(const LibraryCall &call);
  /// Bytes of scratch per thread of a call that passed the check.
  uint64_t (*scratch)(const LibraryCall &call);
  /// How many independent tasks.
  int64_t (*tasks)(const LibraryCall &call);
  void (*run)(const LibraryCall &call, int64_t begin, int64_t end,
              void *scratch);
};

/// The kernel named `key`, or null. The kernels, as in Library.cpp's table:
///
///   topk(X) -> (Values, Indices: i64); arguments: axis, largest (0 or 1).
///     The k = dim `axis` of Values largest (smallest) elements of X along
///     `axis`, best first, ties by the lower index; a NaN counts as larger
///     than any number. All types.
///   scatter_add(X, Indices, Updates) -> (Y); arguments: axis, begin, whole.
///     X with each slice of Updates added at its index along `axis`; slices of
///     equal index are added in order. X holds the slices from `begin` on of
///     `whole` ones: negative indices count from the end of the whole, and
///     indices outside of X are ignored. Half floats are added in float32 and
///     rounded once. All types but bool.
///   scatter_mul, scatter_max, scatter_min: the same with product, maximum and
///     minimum; NaN wins.
const LibraryKernel *findLibraryKernel(const std::string &key);

} // namespace mlc::runtime

#endif // MLC_RUNTIME_LIBRARY_H
