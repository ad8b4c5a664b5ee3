//===- LibraryFamilies.h - The library's kernels by families ----*- C++ -*-===//
//
// Kernels of one family share a source, which ends with their table. The table
// says what each computes; its last entry has no key.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_LIBRARYFAMILIES_H
#define MLC_RUNTIME_LIBRARYFAMILIES_H

#include "runtime/Library.h"

namespace mlc::runtime {

extern const LibraryKernel rowKernels[], scatterKernels[];

/// The number of elements outside and inside the axis of the first input, which
/// is the first argument.
void splitAxis(const LibraryCall &call, int64_t &outer, int64_t &inner);

} // namespace mlc::runtime

#endif // MLC_RUNTIME_LIBRARYFAMILIES_H
