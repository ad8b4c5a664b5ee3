//===- InPlace.h - Outputs that may overwrite inputs ------------*- C++ -*-===//

#ifndef MLC_CODEGEN_KERNEL_INPLACE_H
#define MLC_CODEGEN_KERNEL_INPLACE_H

#include "codegen/kernel/LoopGroup.h"

namespace mlc {

/// Pairs (input, output) of a group that an emitter runs operation by
/// operation, as the plan's bindings say, one index of the shared dims or one
/// tile at a time: element i of the output may overwrite element i of the
/// input, because all its readers run before that in the same step. Several
/// pairs of one group may be used together, if no input and no output is in two
/// of these.
llvm::SmallVector<std::pair<unsigned, unsigned>>
findInPlace(const LoopGroup &plan);

/// The same for the epilogue of a kernel's contraction, which an emitter
/// evaluates for an element of all outputs before it writes any of these.
llvm::SmallVector<std::pair<unsigned, unsigned>>
findInPlaceBehind(const Kernel &kernel);

} // namespace mlc

#endif // MLC_CODEGEN_KERNEL_INPLACE_H
