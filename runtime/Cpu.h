//===- Cpu.h - What this CPU can run ----------------------------*- C++ -*-===//

#ifndef MLC_RUNTIME_CPU_H
#define MLC_RUNTIME_CPU_H

#include <string>
#include <vector>

namespace mlc::runtime {

/// Whether this CPU and its operating system have `feature`, an LLVM feature
/// name ("avx2", "avx512bw", "amx-tile") or a level ("x86-64-v3"). False for
/// unknown names.
bool cpuHas(const std::string &feature);

/// The subset of `features` that this CPU lacks.
std::vector<std::string>
missingFeatures(const std::vector<std::string> &features);

/// "x86-64-v4", "x86-64-v3", "x86-64-v2" or "x86-64".
std::string cpuLevel();

/// Cores that this process may run on, at least 1.
unsigned usableCores();

} // namespace mlc::runtime

#endif // MLC_RUNTIME_CPU_H
