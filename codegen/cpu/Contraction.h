//===- Contraction.h - Contractions as register-tiled loops -----*- C++ -*-===//
//
// A kernel whose anchor multiplies and adds (convolution, depthwise
// convolution, matmul in all its layouts) goes three steps here:
//
//   matchContraction   linalg on tensors  →  Contraction: loop dims, and for
//                      every buffer an offset and one stride per loop dim
//   planContraction    Contraction × tile target  →  ContractionPlan: roles of
//                      the dims, register tile, blocking, packing, tasks
//   emitContraction    both  →  scf/vector/memref/arith in the kernel's body
//
// No step looks at operator names: a blocked convolution and a matmul differ
// in strides only. Sizes are IntExprs of the kernel's symbols, so the same code
// serves fixed and open dims.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CPU_CONTRACTION_H
#define MLC_CODEGEN_CPU_CONTRACTION_H

#include "codegen/Target.h"
#include "codegen/cpu/Emit.h"
#include "codegen/cpu/Kernel.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/SmallVector.h"
#include <vector>

namespace mlc::cpu {

/// How a loop nest touches one flat buffer: element `offset + Σ stride[d]·i_d`.
struct Access {
  /// The kernel argument that is read, or null for an output.
  mlir::Value tensor;
  mlir::Type element;
  IntExpr offset;
  llvm::SmallVector<IntExpr> strides;
};

/// One dim of the loop nest.
struct LoopDim {
  IntExpr extent;
  bool parallel = true;
};

/// A node of the element-wise expression that follows the contraction (or
/// makes its initial value). Nodes are numbered in topological order.
struct TailNode {
  enum class Kind { Accumulator, Load, Scalar, Op };
  Kind kind = Kind::Scalar;
  /// Load: index into Contraction::loads.
  unsigned load = 0;
  /// Scalar: a constant attribute of element type `element`.
  mlir::TypedAttr scalar;
  /// Op: an element-wise linalg op and the nodes of its inputs and outputs.
  mlir::linalg::LinalgOp op;
  unsigned result = 0;
  llvm::SmallVector<unsigned> operands;
  mlir::Type element;
};

/// A box of an output's buffer outside the interior, filled with a constant.
struct PaddedDim {
  IntExpr low, interior, high;
};

/// One result of the kernel.
struct ContractionOutput {
  unsigned node = 0;
  Access access;
  /// Empty without a final pad; otherwise one entry per dim of the buffer.
  llvm::SmallVector<PaddedDim> pads;
  mlir::TypedAttr padValue;
};

/// A kernel with one contraction, taken apart. Refers to the kernel's ops,
/// which must stay alive until it is emitted.
struct Contraction {
  mlir::MLIRContext *context = nullptr;
  llvm::SmallVector<LoopDim> dims;
  /// Factors of the product; `x` is broadcast over the vector dim unless that
  /// dim is in both factors.
  Access x, w;
  /// Casts of a factor before the product, first to last.
  llvm::SmallVector<mlir::Operation *> xCasts, wCasts;
  mlir::Type accumulator;
  std::vector<TailNode> nodes;
  unsigned init = 0;
  llvm::SmallVector<Access> loads;
  llvm::SmallVector<ContractionOutput> outputs;
  /// Where dims (outer, inner) were made from one dim whose extent is not a
  /// multiple of the inner one: their bound, else null.
  int splitOuter = -1, splitInner = -1;
  IntExpr splitBound;
};

/// Takes `kernel` (seam 3) apart. Fails, with the reason in `why`, if it is not
/// one contraction `acc + x·w` with linear maps, fill or element-wise init,
/// element-wise tail and final pad; the kernel is left as it is.
mlir::FailureOr<Contraction> matchContraction(const Kernel &kernel,
                                              std::string &why);

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
  IntExpr tasks; ///< groups · rowBlocks
  int64_t scratchBytes = 0;
};

/// Chooses how to compute `c`; may swap its factors. Always succeeds: where no
/// dim can be vectorized it plans vectors of one element.
ContractionPlan planContraction(Contraction &c, const Target &target);

/// Emits the tasks [body.begin, body.end) of `c`.
void emitContraction(KernelBody &body, const Contraction &c,
                     const ContractionPlan &plan);

/// The kernel's inputs that are factors of `c` and nothing else.
llvm::SmallVector<unsigned> factorsOf(const Kernel &kernel,
                                      const Contraction &c);

/// The emitter of kernels with a contraction, for the table in Emit.cpp.
bool acceptsContraction(const Kernel &kernel, const Target &target);
mlir::FailureOr<EmittedKernel> emitContractionKernel(KernelBody &body);

} // namespace mlc::cpu

#endif // MLC_CODEGEN_CPU_CONTRACTION_H
