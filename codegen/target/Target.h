//===- Target.h - Targets of code generation and costs ----------*- C++ -*-===//
//
// A target is data: tiling, the cost model and LLVM's set-up read these numbers
// and nothing else about the machine. Target files hold them (JSON,
// codegen/target/*.json, embedded; TargetFile.h has the format), with a source
// for each number of the cost model. The shipped files are fixed, so that code
// for a level is the same on every build machine.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_TARGET_TARGET_H
#define MLC_CODEGEN_TARGET_TARGET_H

#include "codegen/target/CostParameters.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <map>
#include <string>

namespace mlc {

/// One target. Sizes in bytes, rates per core.
struct Target {
  /// `cpu:x86-64-v3`; never `cpu`, which resolves to one of the levels.
  std::string name;
  /// The device in words.
  std::string description;
  /// The argument of `--target=` if that is a file.
  std::string file;

  /// LLVM's names for it; empty if code cannot be made (a target for the cost
  /// model only).
  std::string triple, cpu, features;

  /// Native vector width and number of vector registers.
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

  /// The cost model's numbers, and the source of each by its key.
  CostParameters cost;
  std::map<std::string, std::string> sources;

  /// Lanes of a native vector of elements of `bits` bits.
  unsigned lanes(unsigned bits) const { return vectorBits / bits; }
  /// Whether code can be made for it.
  bool hasCode() const { return !triple.empty(); }
  /// Whether the code is CUDA for a GPU; `cpu` is then its architecture in
  /// CUDA's notation ("sm_90a").
  bool isCuda() const { return triple == cudaTriple; }
  static constexpr const char *cudaTriple = "nvptx64-nvidia-cuda";
};

/// The names that parseTarget accepts, in the order in which help lists them.
llvm::ArrayRef<llvm::StringRef> knownTargets();

/// Whether `name` denotes a file: it ends in `.json`.
bool isTargetFile(llvm::StringRef name);

/// The target called `name`, or described by the file of that name. `cpu` is
/// the highest level that this machine has, and nothing else about the machine.
/// Errors: an unknown name (lists the known ones); `cpu` on a machine below
/// x86-64-v3; a file that cannot be read or is not a target file.
llvm::Expected<Target> parseTarget(llvm::StringRef name);

} // namespace mlc

#endif // MLC_CODEGEN_TARGET_TARGET_H
