//===- WindowReads.h - How operands of a reduction read inputs --*- C++ -*-===//
//
// Internals of matchWindows: what an element of an operand is computed from,
// and indices as sums.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CUDA_WINDOWREADS_H
#define MLC_CODEGEN_CUDA_WINDOWREADS_H

#include "codegen/kernel/Kernel.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/MapVector.h"

namespace mlc::cuda {

/// An index of an element, over the loops of the reduction.
struct Place {
  mlir::AffineExpr index;
  bool isPadded = false;
};

/// How an operand's element reads an input.
struct TracedRead {
  unsigned input;
  llvm::SmallVector<Place> places;
};

/// Finds what an element is computed from: inputs of the kernel, through pads
/// and element-wise operations.
class ReadTracer {
public:
  explicit ReadTracer(const Kernel &kernel) : kernel(kernel) {}

  /// False if anything else is read.
  bool trace(mlir::Value tensor, llvm::ArrayRef<Place> places);
  llvm::SmallVector<TracedRead> reads;

private:
  bool traceLinalg(mlir::linalg::LinalgOp op, unsigned result,
                   llvm::ArrayRef<Place> places);
  bool tracePad(mlir::tensor::PadOp op, llvm::ArrayRef<Place> places);

  const Kernel &kernel;
};

/// Whether the body of `op` only computes with its operands and indices.
bool isPlain(mlir::linalg::LinalgOp op);

/// A sum of loops, or of loops divided by numbers, times coefficients.
struct Linear {
  llvm::MapVector<mlir::AffineExpr, IntExpr> terms;
  int64_t constant = 0;
};

/// Adds `scale` times `expr`; false if that is not linear.
bool addTo(Linear &sum, mlir::AffineExpr expr, int64_t scale);
/// The loop of a term.
unsigned loopOf(mlir::AffineExpr term);

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_WINDOWREADS_H
