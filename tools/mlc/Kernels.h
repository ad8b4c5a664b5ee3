//===- Kernels.h - The kernels of an artifact, for people -------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_KERNELS_H
#define MLC_TOOLS_MLC_KERNELS_H

#include "tools/mlc/Model.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

namespace mlc::cli {

/// Prints the GPU kernels of the manifest, with their launches among `steps`
/// (as in `mlc inspect --json`); nothing if there are none.
void printKernels(const llvm::json::Object &manifest,
                  const llvm::json::Array &steps);

/// Writes source, PTX and machine code of every kernel, and the headers of the
/// sources, into `folder`, which is made if missing. Fails for an artifact
/// without such kernels, for names that are not identifiers, and if writing
/// fails.
llvm::Error extractKernels(const Model &model, llvm::StringRef target,
                           llvm::StringRef folder);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_KERNELS_H
