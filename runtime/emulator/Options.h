//===- Options.h - The emulator's environment variables ---------*- C++ -*-===//

#ifndef MLC_RUNTIME_EMULATOR_OPTIONS_H
#define MLC_RUNTIME_EMULATOR_OPTIONS_H

#include <cstdint>
#include <string>

namespace mlc::emulator {

/// Read at each use, so that tests can change it.
bool checksOn();       ///< MLC_EMULATOR_CHECKS, default 1
uint64_t orderSeed();  ///< MLC_EMULATOR_SEED; 0: in order
bool launchBlocking(); ///< CUDA_LAUNCH_BLOCKING, as in CUDA
/// MLC_EMULATOR_OVERLAP, default 0: whether launches that may begin before the
/// one in front has ended are checked as such
bool overlapsLaunches();
/// MLC_EMULATOR_COUNTERS: where counters are written to; empty: none are kept
std::string countersFile();

/// What is wrong with a variable, and its valid values; empty if nothing is.
std::string wrongEnvironment();

/// MLC_EMULATOR_DEVICES: the number of GPUs, default 1.
unsigned deviceCount();
constexpr unsigned maxDevices = 16;

/// MLC_EMULATOR_ARCH: 90 for sm_90; 0 if it cannot be read.
unsigned architecture();
/// The most shared memory of a block on that architecture, in bytes.
unsigned maxSharedMemory();
/// The most without cuFuncSetAttribute.
constexpr unsigned defaultSharedMemory = 48 << 10;
/// The most of any architecture.
constexpr unsigned anySharedMemory = 227 << 10;

/// The error if this call of `function` shall fail, else 0. Counts the calls.
int injectedFailure(const char *function);
/// What is wrong with the text, empty if nothing is. A wrong text clears all
/// failures.
std::string setFailures(const char *text);

} // namespace mlc::emulator

#endif // MLC_RUNTIME_EMULATOR_OPTIONS_H
