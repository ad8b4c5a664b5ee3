//===- FormAlongK.h - Factors whose neighbours lie along K ------*- C++ -*-===//
//
// The form "along-k" of a factor (exec.inverse_transform) has its elements in
// the order of the loops of a contraction, those of K last.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CUDA_FORMALONGK_H
#define MLC_CODEGEN_CUDA_FORMALONGK_H

#include "codegen/kernel/Contraction.h"

namespace mlc::cuda {

/// The begin of its name; extents and strides of the loops follow.
inline constexpr llvm::StringLiteral formAlongK = "along-k";

/// The loops that move along `access`, those of K last. The last moves fastest
/// in the form.
llvm::SmallVector<unsigned> loopsOfForm(const Contraction &c,
                                        const Access &access);
/// The access to the form instead of the original.
Access accessToForm(const Contraction &c, const Access &access);
/// Gives the factors of `c` that have the form the strides of it.
void takeFormAlongK(Contraction &c);

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_FORMALONGK_H
