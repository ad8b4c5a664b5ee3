//===- Fusion.h - Limits of fusion into one kernel --------------*- C++ -*-===//

#ifndef MLC_CODEGEN_CPU_FUSION_H
#define MLC_CODEGEN_CPU_FUSION_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlc::cpu {

/// Backend::canJoinLoopGroup. Any group without contraction runs correctly as
/// one kernel; this says when that also pays:
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

/// Backend::canPadResult: false if a factor has the same rows as the result (a
/// 1x1 convolution of plain pixels). All rows run as one loop there, which a
/// border would break up.
bool canPadResult(mlir::linalg::LinalgOp contraction, mlir::tensor::PadOp pad);

/// Backend::canReadThrough: false if vectors along the innermost dim of the
/// output would need gathers, because the movement divides indices, or would be
/// packed repeatedly, as weights for each image of a batch.
bool canReadThrough(mlir::linalg::GenericOp contraction, mlir::AffineMap before,
                    mlir::AffineMap movement, mlir::AffineMap after);

} // namespace mlc::cpu

#endif // MLC_CODEGEN_CPU_FUSION_H
