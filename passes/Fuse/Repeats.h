//===- Repeats.h - Chains of equal launches ---------------------*- C++ -*-===//

#ifndef MLC_PASSES_FUSE_REPEATS_H
#define MLC_PASSES_FUSE_REPEATS_H

#include "codegen/Backends.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlc {

/// Makes one launch of each chain of launches that run the same kernel on the
/// result of the one before and on otherwise the same operands, if nothing else
/// reads what is in between and the back end can repeat the kernel
/// (Backend::canRepeat).
void repeatLaunches(mlir::ModuleOp module, const CodeTarget &target);

} // namespace mlc

#endif // MLC_PASSES_FUSE_REPEATS_H
