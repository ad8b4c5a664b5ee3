//===- Calls.h - How often each function was called -------------*- C++ -*-===//

#ifndef MLC_RUNTIME_EMULATOR_CALLS_H
#define MLC_RUNTIME_EMULATOR_CALLS_H

#include <cstddef>

namespace mlc::emulator {

/// Counts a call. Where MLC_EMULATOR_CALLS names a folder, the process writes
/// when it ends there, as a file with its number, a line for each function:
/// name, calls, bytes copied. The caller holds the driver's lock.
void countCall(const char *function);
/// Of a copy that has been counted.
void countBytes(const char *function, size_t bytes);

} // namespace mlc::emulator

#endif // MLC_RUNTIME_EMULATOR_CALLS_H
