//===- Siblings.h - Launches that read the same tensor ----------*- C++ -*-===//

#ifndef MLC_PASSES_FUSE_SIBLINGS_H
#define MLC_PASSES_FUSE_SIBLINGS_H

#include "passes/Base/Passes.h"

namespace mlc {

/// `mlc-join-siblings`: makes one launch of launches that follow each other, of
/// which none depends on another, that read a common tensor, if the back end
/// says that one kernel should compute them side by side (Backend::canJoin):
/// the queries, keys and values in front of an attention on GPUs. `precision`:
/// of contractions of float32. Fails, with an error on the function, if a
/// launch's kernel is not valid.
std::unique_ptr<mlir::Pass>
createJoinSiblingsPass(const CodeTarget &target,
                       Precision precision = Precision::TF32);
mlir::LogicalResult joinSiblings(mlir::ModuleOp module,
                                 const CodeTarget &target, Precision precision);

} // namespace mlc

#endif // MLC_PASSES_FUSE_SIBLINGS_H
