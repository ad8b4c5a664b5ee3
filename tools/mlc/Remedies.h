//===- Remedies.h - How remedies of errors are followed ---------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_REMEDIES_H
#define MLC_TOOLS_MLC_REMEDIES_H

#include "passes/Base/Remedy.h"

namespace mlc::cli {

/// By a flag: "give --dim N=SIZE". Where the Python package has started this
/// process (it sets MLC_SPELLING=keywords), by an argument of its functions:
/// "give dims={'N': SIZE}".
std::string describeRemedy(const Remedy &remedy);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_REMEDIES_H
