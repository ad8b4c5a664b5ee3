//===- Fusion.h - What may run as one loop-group kernel ---------*- C++ -*-===//

#ifndef MLC_CODEGEN_CPU_FUSION_H
#define MLC_CODEGEN_CPU_FUSION_H

#include "mlir/IR/Operation.h"

namespace mlc::cpu {

/// Whether `op` may join `group`, ops of one block in program order that are
/// a loop group already (or none yet). `op` may be a consumer, a producer or
/// a sibling of the group's ops; the ops are looked at where they stand, so
/// that results used by others count as outputs of the kernel.
///
/// Any group without contraction runs correctly as one kernel; this says when
/// that is also a good idea:
///  - every op is one that code generation knows (linalg without contraction,
///    tensor.pad/concat/insert_slice/extract_slice/expand_shape/collapse_shape/
///    cast, constants), and all stand in one block;
///  - a result that is read elsewhere is written once, in full;
///  - the intermediates of one task fit the L2 cache (unknown dims are taken
///    to be 64), because they live in per-thread scratch;
///  - the group stays small enough (24 ops with loops) to compile fast and to
///    keep what it stores in the first-level cache;
///  - joining leaves enough independent tasks: not fewer than either part has
///    alone, or 16, unless the whole is small.
bool canJoinLoopGroup(llvm::ArrayRef<mlir::Operation *> group,
                      mlir::Operation *op);

} // namespace mlc::cpu

#endif // MLC_CODEGEN_CPU_FUSION_H
