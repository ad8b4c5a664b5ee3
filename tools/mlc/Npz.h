//===- Npz.h - Files of arrays ----------------------------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_NPZ_H
#define MLC_TOOLS_MLC_NPZ_H

#include "runtime/Npy.h"
#include "llvm/Support/Error.h"

namespace mlc::cli {

/// Writes the arrays to the .npz file atomically (OutputFile.h).
llvm::Error writeNpz(llvm::StringRef path,
                     const std::vector<runtime::NpzItem> &items);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_NPZ_H
