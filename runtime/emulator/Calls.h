//===- Calls.h - Counts of the driver's calls -------------------*- C++ -*-===//

#ifndef MLC_RUNTIME_EMULATOR_CALLS_H
#define MLC_RUNTIME_EMULATOR_CALLS_H

#include <cstddef>

namespace mlc::emulator {

/// Counts a call. If MLC_EMULATOR_CALLS names a folder, the process writes a
/// file there at exit, named by its process id, with a line for each function:
/// name, calls, bytes copied. The caller holds the driver's lock.
void countCall(const char *function);
/// Adds the bytes of a copy whose call was counted.
void countBytes(const char *function, size_t bytes);

} // namespace mlc::emulator

#endif // MLC_RUNTIME_EMULATOR_CALLS_H
