//===- ContractionPlan.h - Contractions as register-tiled loops -*- C++ -*-===//
//
// A kernel with a contraction is compiled in three steps:
//
//   matchContraction   linalg on tensors  →  Contraction (codegen/kernel)
//   planContraction    Contraction × target  →  ContractionPlan: roles of the
//                      dims, register tile, blocking, packing, tasks
//   emitContraction    both  →  scf/vector/memref/arith in the kernel's body
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CPU_CONTRACTIONPLAN_H
#define MLC_CODEGEN_CPU_CONTRACTIONPLAN_H

#include "codegen/cpu/Body.h"
#include "codegen/kernel/Contraction.h"

namespace mlc::cpu {

/// Register tile, blocking and tasks of one contraction.
struct ContractionPlan {
  /// Roles of loop dims (indices into Contraction::dims, -1 for none).
  int vectorDim = -1;           ///< unit stride in W and the output
  int vectorOuter = -1;         ///< steps over blocks of vectorDim
  int tileDim = -1;             ///< positions of a register tile, absent from W
  int rowDim = -1;              ///< rows of a task's block
  llvm::SmallVector<int> outer; ///< remaining parallel dims, one index a task
  llvm::SmallVector<int> reduction;
  bool xVector = false; ///< the vector dim is in X too (depthwise)
  bool dot = false;     ///< vectors run along the reduction; no vector dim
  bool flat = false;    ///< tiles span rows; every tile has code of its own

  int64_t lanes = 1;    ///< elements of a vector
  int64_t dotLanes = 1; ///< the same along the reduction
  int64_t vectors = 1;  ///< vectors of a full tile
  int64_t rows = 1;     ///< positions of a full tile
  int64_t unroll = 1;
  bool opaqueSteps = false; ///< see MicroKernel
  bool packX = false, packW = false;
  int64_t chunk = 0;       ///< reduction steps of a pass, 0 for all at once
  int64_t rowBlock = 1;    ///< rows (or tiles, without rowDim) of a task
  int64_t vectorBlock = 1; ///< full tiles in vector direction of a task
  int64_t prefetch = 0;    ///< steps to prefetch W ahead, 0 for none
  bool swapped = false;    ///< the factors trade places

  IntExpr groups, rowBlocks, vectorBlocks;
  IntExpr interior; ///< groups · blocks of each: the tasks that compute
  IntExpr tasks;    ///< the same, or one that only pads
  int64_t scratchBytes = 0;
};

/// Chooses how to compute `c`; may swap its factors. Always succeeds: where no
/// dim can be vectorized it plans vectors of one element.
ContractionPlan planContraction(Contraction &c, const Target &target);

/// Emits the tasks [body.begin, body.end) of `c`.
void emitContraction(KernelBody &body, const Contraction &c,
                     const ContractionPlan &plan);

/// The emitter of kernels with a contraction, for the table in Emit.cpp.
bool acceptsContraction(const Kernel &kernel, const Target &target);
mlir::FailureOr<EmittedKernel> emitContractionKernel(KernelBody &body);

} // namespace mlc::cpu

#endif // MLC_CODEGEN_CPU_CONTRACTIONPLAN_H
