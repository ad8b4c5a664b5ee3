//===- TransformConstants.h - Constants in another form ---------*- C++ -*-===//

#ifndef MLC_PASSES_FUSE_TRANSFORMCONSTANTS_H
#define MLC_PASSES_FUSE_TRANSFORMCONSTANTS_H

#include "passes/Base/Passes.h"

namespace mlc {

/// `mlc-transform-constants`: if the back end has a faster algorithm for a
/// kernel (Backend::findTransform; Winograd for 3×3 convolutions on CPUs,
/// another order of elements for products on GPUs), an argument of the kernel
/// takes that algorithm's form (exec.inverse_transform), and so do the
/// constants in its launches. A kernel is left alone unless every launch passes
/// it a constant that has such a form.
std::unique_ptr<mlir::Pass>
createTransformConstantsPass(const CodeTarget &target,
                             Precision precision = Precision::TF32);
void transformConstants(mlir::ModuleOp module, const CodeTarget &target,
                        Precision precision);

} // namespace mlc

#endif // MLC_PASSES_FUSE_TRANSFORMCONSTANTS_H
