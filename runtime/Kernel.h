//===- Kernel.h - The ABI of a compiled kernel ------------------*- C++ -*-===//
//
// The one function type through which the runtime enters generated code.
//
// `buffers` holds the kernel's inputs, then its outputs: dense, row-major,
// 64-byte aligned. A buffer of zero bytes still has a non-null address.
// `symbols` holds the values of the kernel's size arguments in the order in
// which the launch lists them. The call runs the independent tasks
// [begin, end) of the launch; calls for disjoint ranges run concurrently.
// `scratch` is 64-byte aligned memory of at least the launch's scratch size,
// owned by the calling thread for the length of the call, with unspecified
// contents. No byte outside the buffers may be touched: an input may be the
// user's own memory, so edges need masked loads.
//
// A kernel calls nothing outside its shared object, allocates nothing and does
// not fail: the program's checks catch all errors before the launch. It runs
// under the caller's floating-point environment (round to nearest; denormals as
// set for the session).
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_KERNEL_H
#define MLC_RUNTIME_KERNEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void (*mlc_kernel)(void *const *buffers, const int64_t *symbols,
                           int64_t begin, int64_t end, void *scratch);

#ifdef __cplusplus
}
#endif

#endif // MLC_RUNTIME_KERNEL_H
