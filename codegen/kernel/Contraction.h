//===- Contraction.h - A kernel's contraction, taken apart ------*- C++ -*-===//
//
// A kernel whose anchor multiplies and adds (convolution, depthwise
// convolution, matmul in all its layouts), taken apart: loop dims, and for
// every buffer an offset and one stride per loop dim. Nothing here looks at
// operator names: a blocked convolution and a matmul differ in strides only.
// Sizes are IntExprs of the kernel's symbols, so the same code serves fixed and
// open dims.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_KERNEL_CONTRACTION_H
#define MLC_CODEGEN_KERNEL_CONTRACTION_H

#include "codegen/kernel/Kernel.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/SmallVector.h"
#include <vector>

namespace mlc {

/// The condition under which an access stays in its buffer: 0 <= offset + Σ
/// stride[d]·i_d < extent, at multiples of the divisor.
struct Bound {
  IntExpr offset, extent;
  llvm::SmallVector<IntExpr> strides;
  int64_t divisor = 1;
};

/// How a loop nest touches one flat buffer: element
/// `(offset + Σ stride[d]·i_d) / divisor`, which inside the bounds is exact.
struct Access {
  /// The kernel argument that is read, or null for an output. If that is the
  /// form for an algorithm (exec.inverse_transform), strides are those of the
  /// original.
  mlir::Value tensor;
  mlir::Type element;
  IntExpr offset;
  llvm::SmallVector<IntExpr> strides;
  int64_t divisor = 1;
  /// For a factor that is read through a pad or at quotients: outside the
  /// bounds it is `padValue`.
  std::vector<Bound> bounds;
  mlir::TypedAttr padValue;
};

/// One dim of the loop nest.
struct LoopDim {
  IntExpr extent;
  bool parallel = true;
};

/// A node of the element-wise expression that follows the contraction (or
/// makes its initial value). Nodes are numbered in topological order.
struct EpilogueNode {
  enum class Kind { Accumulator, Load, Scalar, Op };
  Kind kind = Kind::Scalar;
  /// Load: index into Contraction::loads.
  unsigned load = 0;
  /// Scalar: a constant attribute of element type `element`.
  mlir::TypedAttr scalar;
  /// Op: an element-wise linalg op and the nodes of its inputs and outputs (~0u
  /// for one that it does not use).
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
  std::vector<EpilogueNode> nodes;
  unsigned init = 0;
  std::vector<Access> loads;
  std::vector<ContractionOutput> outputs;
  /// The bound of the dims (outer, inner) if they split one dim whose extent is
  /// not a multiple of the inner one; else null.
  int splitOuter = -1, splitInner = -1;
  IntExpr splitBound;
};

/// Takes `kernel` (seam 3) apart. Fails, with the reason in `why`, if it is not
/// one contraction `acc + x·w` with linear maps, fill or element-wise init,
/// element-wise epilogue and final pad. The kernel is not changed. If the
/// caller reads bounds, factors may be pads of arguments, and zero where the
/// division of an index has a remainder.
mlir::FailureOr<Contraction> matchContraction(const Kernel &kernel,
                                              std::string &why,
                                              bool readsBounds = false);

/// Whether `op` adds products with a factor that is zero on a condition. It is
/// no contraction by itself (isContraction), but matchContraction may take it
/// where the caller reads bounds.
bool isGuardedContraction(mlir::Operation *op);

/// The kernel's inputs that are factors of `c` and nothing else.
llvm::SmallVector<unsigned> factorsOf(const Kernel &kernel,
                                      const Contraction &c);

/// Erases loops of one trip and joins loops that step through every buffer like
/// one, so that plans see each path through memory once.
void simplifyLoops(Contraction &c);

/// Every buffer that `c` touches.
llvm::SmallVector<Access *> accesses(Contraction &c);

} // namespace mlc

#endif // MLC_CODEGEN_KERNEL_CONTRACTION_H
