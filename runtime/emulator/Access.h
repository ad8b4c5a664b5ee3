//===- Access.h - Every load and store of a kernel is looked at -*- C++ -*-===//

#ifndef MLC_RUNTIME_EMULATOR_ACCESS_H
#define MLC_RUNTIME_EMULATOR_ACCESS_H

#include "runtime/emulator/Shadow.h"

#include <cstddef>
#include <cstdint>

namespace mlc::emulator {

/// Checks a read or write of the running thread, and remembers it. `align` is a
/// power of two that the address must be a multiple of; `who` is the thread's,
/// perhaps with more lanes of its warp.
void checkAccess(uintptr_t address, size_t bytes, size_t align, bool isWrite,
                 const void *at, Who who);

/// The same of a write of whole words that comes later; until it does, nobody
/// may touch them.
void beginCopy(uintptr_t to, unsigned bytes, const void *at);
void endCopy(uintptr_t to, unsigned bytes, const void *at);

} // namespace mlc::emulator

#endif // MLC_RUNTIME_EMULATOR_ACCESS_H
