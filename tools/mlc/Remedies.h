//===- Remedies.h - The text of errors' remedies ----------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_REMEDIES_H
#define MLC_TOOLS_MLC_REMEDIES_H

#include "passes/Base/Remedy.h"
#include <cstdint>

namespace mlc::cli {

/// Names a flag: "give --dim N=SIZE". If the Python package started this
/// process (it sets MLC_SPELLING=keywords), names an argument of its functions:
/// "give dims={'N': SIZE}".
std::string describeRemedy(const Remedy &remedy);

/// How to start a program on `ranks` ranks; 0: on several.
std::string describeStart(int64_t ranks);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_REMEDIES_H
