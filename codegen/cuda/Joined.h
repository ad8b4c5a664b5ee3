//===- Joined.h - Kernels that share a launch -------------------*- C++ -*-===//
//
// Contractions by warpgroups that read a common tensor may be one launch
// (mlc.siblings): each has some of its blocks. The text of each is a function
// in a namespace of its own.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CUDA_JOINED_H
#define MLC_CODEGEN_CUDA_JOINED_H

#include "codegen/cuda/KernelPrinter.h"

namespace mlc::cuda {

/// The skeleton's text, which comes before what printGroups() prints.
std::string skeletonOfGroups();
/// Prints the problem of a contraction, and the body that computes it by
/// warpgroups. `sharesTiles`: several blocks may share a tile along K. `first`,
/// `blocks`: expressions of the number of this block, and of how many there
/// are.
mlir::FailureOr<KernelText> printGroups(KernelPrinter &to, bool sharesTiles,
                                        llvm::StringRef first,
                                        llvm::StringRef blocks);
/// Whether warpgroups compute all of the kernels with the same tiles, and one
/// launch is estimated to take no longer.
bool canJoinGroups(llvm::ArrayRef<const Kernel *> kernels,
                   const EmitOptions &options);

bool acceptsJoined(const Kernel &kernel, const EmitOptions &options);
mlir::FailureOr<KernelText> emitJoined(KernelPrinter &to);

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_JOINED_H
