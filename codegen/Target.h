//===- Target.h - What code is generated for --------------------*- C++ -*-===//
//
// A target is data: tiling, the cost model and LLVM's set-up read these numbers
// and nothing else about the machine. The two CPU levels are fixed tables, so
// that code made for a level is the same on every machine that makes it.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_TARGET_H
#define MLC_CODEGEN_TARGET_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>

namespace mlc {

/// One target. Sizes in bytes, rates per core, times in nanoseconds.
struct Target {
  /// How it is written after `--target=` (never `cpu`, which resolves to one
  /// of the levels): `cpu:x86-64-v3`.
  std::string name;
  /// LLVM's words for it.
  std::string triple, cpu, features;

  /// Native vector width and how many such registers there are.
  unsigned vectorBits = 0;
  unsigned vectorRegisters = 0;
  /// Whether any lane of a load or store can be masked at no cost.
  bool hasMaskRegisters = false;

  int64_t cacheLineBytes = 64;
  int64_t l1Bytes = 0, l2Bytes = 0, l3Bytes = 0;

  /// float32 operations per cycle with fused multiply-add, and the clock.
  double flopsPerCycle = 0, gigahertz = 0;
  /// Streaming bandwidth of one core from memory and from the L2 cache (GB/s).
  double memoryBandwidth = 0, cacheBandwidth = 0;
  /// Fixed price of one kernel launch.
  double launchNanoseconds = 0;

  /// Lanes of a native vector of elements of `bits` bits.
  unsigned lanes(unsigned bits) const { return vectorBits / bits; }
  /// float32 peak of one core, in operations per second.
  double peakFlops() const { return flopsPerCycle * gigahertz * 1e9; }
};

/// The names that parseTarget accepts, in the order in which help lists them.
llvm::ArrayRef<llvm::StringRef> knownTargets();

/// The target called `name`. `cpu` is the highest level that this machine
/// has, and nothing else about the machine. Errors: an unknown name (lists
/// the known ones); `cpu` on a machine below x86-64-v3.
llvm::Expected<Target> parseTarget(llvm::StringRef name);

} // namespace mlc

#endif // MLC_CODEGEN_TARGET_H
