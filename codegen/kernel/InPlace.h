//===- InPlace.h - Outputs that may overwrite inputs -----------*- C++ -*-===//

#ifndef MLC_CODEGEN_KERNEL_INPLACE_H
#define MLC_CODEGEN_KERNEL_INPLACE_H

#include "codegen/kernel/LoopGroup.h"

namespace mlc {

/// Pairs (input, output) of a flat group, which an emitter runs operation by
/// operation, piece by piece of the elements: element i of the output may take
/// the place of element i of the input, as all that read it do so before.
/// Several pairs of one group may be used together, as long as no input and no
/// output is in two of them.
llvm::SmallVector<std::pair<unsigned, unsigned>>
findInPlace(const LoopGroup &plan);

} // namespace mlc

#endif // MLC_CODEGEN_KERNEL_INPLACE_H
