//===- Access.h - Checks of every load and store ----------------*- C++ -*-===//

#ifndef MLC_RUNTIME_EMULATOR_ACCESS_H
#define MLC_RUNTIME_EMULATOR_ACCESS_H

#include "runtime/emulator/Order.h"

#include <cstddef>
#include <cstdint>

namespace mlc::emulator {

/// Checks a read or write of the running thread and records it. `align` is the
/// required alignment, a power of two. `who` is the thread, possibly with more
/// lanes of its warp.
void checkAccess(uintptr_t address, size_t bytes, size_t align, bool isWrite,
                 const void *at, Who who);

/// The same for the running thread, counted too.
void checkPlain(const void *memory, size_t bytes, size_t align, bool isWrite,
                const void *at);
/// The same for a load or store of 1, 2, 4, 8 or 16 aligned bytes, counted too.
void checkWide(void *memory, unsigned bytes, bool isWrite, void *at);

/// The same for work beside the threads, started where `view` was, by an actor
/// with stamp `who`. Neither address nor size need be aligned.
void checkAsync(uintptr_t address, size_t bytes, bool isWrite, const void *at,
                Who who, const View &view);

/// The same as checkAccess() for a later write of whole words by an
/// asynchronous copy; until endCopy() no thread may touch them.
void beginCopy(uintptr_t to, unsigned bytes, const void *at);
void endCopy(uintptr_t to, unsigned bytes, const void *at);

} // namespace mlc::emulator

#endif // MLC_RUNTIME_EMULATOR_ACCESS_H
