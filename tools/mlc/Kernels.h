//===- Kernels.h - The kernels of an artifact, for people --------*- C++
//-*-===//

#ifndef MLC_TOOLS_MLC_KERNELS_H
#define MLC_TOOLS_MLC_KERNELS_H

#include "tools/mlc/Model.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

namespace mlc::cli {

/// Prints what the manifest says of kernels for GPUs, with their launches among
/// `steps` (as `mlc inspect --json` has them); nothing where it has none.
void printKernels(const llvm::json::Object &manifest,
                  const llvm::json::Array &steps);

/// Writes source, PTX and machine code of every kernel, and what the sources
/// include, into `folder`, which is made where it is not there.
/// Errors: an artifact without such kernels; a name that is no identifier;
/// those of writing.
llvm::Error extractKernels(const Model &model, llvm::StringRef target,
                           llvm::StringRef folder);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_KERNELS_H
