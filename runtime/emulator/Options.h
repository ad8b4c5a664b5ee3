//===- Options.h - What the environment says to the emulator ----*- C++ -*-===//

#ifndef MLC_RUNTIME_EMULATOR_OPTIONS_H
#define MLC_RUNTIME_EMULATOR_OPTIONS_H

#include <cstdint>
#include <string>

namespace mlc::emulator {

/// Read again at each use, so that a test can change it.
bool checksOn();       ///< MLC_EMULATOR_CHECKS, 1 unless said
uint64_t orderSeed();  ///< MLC_EMULATOR_SEED; 0 is the plain order
bool launchBlocking(); ///< CUDA_LAUNCH_BLOCKING, as CUDA has it

/// What is wrong with a variable, and what it may be; empty if nothing is.
std::string wrongEnvironment();

/// MLC_EMULATOR_DEVICES: how many GPUs there are, 1 unless said.
unsigned deviceCount();
constexpr unsigned maxDevices = 16;

/// MLC_EMULATOR_ARCH: 90 for sm_90; 0 if it cannot be read.
unsigned architecture();
/// What a block of that architecture can have, in bytes.
unsigned maxSharedMemory();
/// What it can have without having asked by cuFuncSetAttribute.
constexpr unsigned defaultSharedMemory = 48 << 10;
/// The most that any has.
constexpr unsigned anySharedMemory = 227 << 10;

/// Whether this call of `function` is one that shall fail; 0 if not, else the
/// error. Counts the calls.
int injectedFailure(const char *function);
/// What is wrong with the text, in which case none fail; empty if nothing is.
std::string setFailures(const char *text);

} // namespace mlc::emulator

#endif // MLC_RUNTIME_EMULATOR_OPTIONS_H
