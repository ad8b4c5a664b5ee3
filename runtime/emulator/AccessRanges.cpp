//===- AccessRanges.cpp - Checks of accesses of any size ------------------===//
//
// The functions that clang's thread sanitizer calls for ranges of bytes, and
// those that must exist and do nothing here.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Access.h"
#include "runtime/emulator/Cuda.h"

#include <cstring>

using namespace mlc::emulator;

#define MLC_HERE __builtin_return_address(0)

extern "C" {
MLC_EMULATOR_API void __tsan_init() {}
MLC_EMULATOR_API void __tsan_func_entry(void *) {}
MLC_EMULATOR_API void __tsan_func_exit() {}
MLC_EMULATOR_API void __tsan_vptr_update(void **memory, void *) {
  checkPlain(static_cast<void *>(memory), sizeof(void *), sizeof(void *), true,
             MLC_HERE);
}
MLC_EMULATOR_API void __tsan_vptr_read(void **memory) {
  checkPlain(static_cast<void *>(memory), sizeof(void *), sizeof(void *), false,
             MLC_HERE);
}
MLC_EMULATOR_API void __tsan_read_range(void *memory, size_t bytes) {
  checkPlain(memory, bytes, 1, false, MLC_HERE);
}
MLC_EMULATOR_API void __tsan_write_range(void *memory, size_t bytes) {
  checkPlain(memory, bytes, 1, true, MLC_HERE);
}

// Compilers before clang 15 call the C library's functions instead; the linker
// redirects these calls to __wrap_NAME.
#define MLC_BYTES(prefix)                                                      \
  MLC_EMULATOR_API void *prefix##memcpy(void *to, const void *from,            \
                                        size_t bytes) {                        \
    checkPlain(from, bytes, 1, false, MLC_HERE);                               \
    checkPlain(to, bytes, 1, true, MLC_HERE);                                  \
    return std::memcpy(to, from, bytes);                                       \
  }                                                                            \
  MLC_EMULATOR_API void *prefix##memmove(void *to, const void *from,           \
                                         size_t bytes) {                       \
    checkPlain(from, bytes, 1, false, MLC_HERE);                               \
    checkPlain(to, bytes, 1, true, MLC_HERE);                                  \
    return std::memmove(to, from, bytes);                                      \
  }                                                                            \
  MLC_EMULATOR_API void *prefix##memset(void *to, int value, size_t bytes) {   \
    checkPlain(to, bytes, 1, true, MLC_HERE);                                  \
    return std::memset(to, value, bytes);                                      \
  }
MLC_BYTES(__tsan_)
MLC_BYTES(__wrap_)
}
