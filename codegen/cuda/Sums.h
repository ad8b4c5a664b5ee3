//===- Sums.h - Few long sums -----------------------------------*- C++ -*-===//
//
// A group with one reduction that has few but long sums: several blocks share
// each sum, and the last of them computes the elements that depend on it.
// Neighbours are read by vectors: those of neighbouring sums, of which a thread
// then has several, or those along a sum. A thread asks for some steps'
// elements before it adds up the first.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CUDA_SUMS_H
#define MLC_CODEGEN_CUDA_SUMS_H

#include "codegen/cuda/Group.h"

namespace mlc::cuda {

/// A read of an input: for each of its dims the loop that indexes it, or -1 - n
/// for the literal n.
struct SumRead {
  unsigned input;
  llvm::SmallVector<int64_t> dims;
  bool operator==(const SumRead &other) const = default;
};

/// A group of sums; each element of the outputs depends on one of them.
struct SumGroup {
  mlir::linalg::LinalgOp op;
  llvm::SmallVector<mlir::Operation *> combiners;
  /// For each dim of the sums the dim of the outputs that indexes it (not
  /// counting dims of size 1), or -1 if its index is 0.
  llvm::SmallVector<int> dims;
  IntExpr count, k;
  /// All reads of the reduction; none if some are by other indices than loops.
  llvm::SmallVector<SumRead> reads;
  /// The loop along which elements come by vectors of `vector`, or -1.
  int vectorLoop = -1;
  int64_t vector = 1;
  /// Threads with neighbouring sums, and sums of each.
  int64_t lanes = 1, each = 1;
  /// Blocks that share a sum.
  IntExpr parts;

  /// Sums of a block.
  int64_t width() const { return lanes * each; }
  /// Terms of a sum in a vector.
  int64_t along() const { return vector / each; }
  /// Whether the elements of `read` come by vectors.
  bool isVector(const SumRead &read) const {
    return vector > 1 && llvm::is_contained(read.dims, vectorLoop);
  }
};

/// The plan of a kernel; fails if it has no such sums.
mlir::FailureOr<SumGroup> planSums(const Kernel &kernel,
                                   const EmitOptions &options);

/// The extents of `shape` without dims of size 1.
Shape extentsOf(llvm::ArrayRef<IntExpr> shape);
/// The indices in a tensor of `shape`, given those of dims that are not 1.
Indices placeIn(llvm::ArrayRef<IntExpr> shape, llvm::ArrayRef<Index> indices);

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_SUMS_H
