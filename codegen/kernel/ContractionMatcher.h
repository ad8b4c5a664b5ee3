//===- ContractionMatcher.h - From linalg to strides ------------*- C++ -*-===//
//
// Internals of matchContraction: ContractionMatch.cpp handles loops, epilogue
// and outputs; ContractionFactor.cpp handles factors.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_KERNEL_CONTRACTIONMATCHER_H
#define MLC_CODEGEN_KERNEL_CONTRACTIONMATCHER_H

#include "codegen/kernel/Contraction.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <optional>

namespace mlc {

using Exprs = llvm::SmallVector<mlir::AffineExpr>;

/// An index `value / divisor + shift`, where only exact quotients count.
struct Quotient {
  mlir::AffineExpr value;
  int64_t divisor, shift;
};

/// Adds `scale` times the linear expression `e` of loops to an access.
mlir::LogicalResult addLinear(mlir::AffineExpr e, IntExpr scale, Access &a);
/// The argument that holds a factor: the factor itself, or its transformed form
/// (exec.inverse_transform).
mlir::Value argumentOf(mlir::Value factor);

class ContractionMatcher {
public:
  ContractionMatcher(const Kernel &kernel, std::string &why, bool readsBounds)
      : kernel(kernel), why(why), readsBounds(readsBounds),
        ctx(kernel.context()) {}

  mlir::FailureOr<Contraction> run();

private:
  mlir::LogicalResult fail(const llvm::Twine &reason) {
    if (why.empty())
      why = reason.str();
    return mlir::failure();
  }
  IntExpr constant(int64_t v) { return IntExpr::constant(ctx, v); }

  mlir::LogicalResult findAnchor();
  mlir::LogicalResult matchBody();
  mlir::LogicalResult matchDims();
  mlir::LogicalResult splitDims(mlir::AffineExpr e);
  mlir::AffineExpr splitExpr(mlir::AffineExpr e);
  mlir::FailureOr<Access> access(mlir::Value tensor,
                                 llvm::ArrayRef<mlir::AffineExpr> indices,
                                 llvm::ArrayRef<IntExpr> shape,
                                 llvm::ArrayRef<IntExpr> low = {});
  mlir::AffineExpr simplify(mlir::AffineExpr e);
  mlir::LogicalResult factor(mlir::OpOperand &operand, Access &access);
  mlir::tensor::PadOp padBefore(mlir::Value factor) const;
  mlir::BlockArgument
  factorBehind(mlir::Value v, llvm::SmallVectorImpl<mlir::Operation *> &casts);
  std::optional<Quotient> quotient(mlir::OpOperand &operand,
                                   mlir::AffineExpr e);
  mlir::FailureOr<mlir::TypedAttr> outsideOf(mlir::Value factor,
                                             bool hasQuotients);
  Exprs accumulatorIndices();
  mlir::FailureOr<unsigned> node(mlir::Value v,
                                 llvm::ArrayRef<mlir::AffineExpr> indices);
  mlir::FailureOr<unsigned>
  elementWise(mlir::OpResult v, llvm::ArrayRef<mlir::AffineExpr> indices);
  mlir::LogicalResult matchOutput(mlir::Value v);
  unsigned addNode(EpilogueNode n) {
    c.nodes.push_back(std::move(n));
    return c.nodes.size() - 1;
  }

  const Kernel &kernel;
  std::string &why;
  bool readsBounds;
  mlir::MLIRContext *ctx;
  mlir::linalg::LinalgOp anchor;
  /// Extents of the anchor's own loops before a split.
  Shape extents;
  /// Split loop of the anchor: index, and its block size.
  int splitLoop = -1;
  int64_t splitSize = 0;
  unsigned loops = 0;
  /// For each factor, the remainders that must be zero; else the factor counts
  /// as zero.
  Exprs remainders[2];
  Contraction c;
};

} // namespace mlc

#endif // MLC_CODEGEN_KERNEL_CONTRACTIONMATCHER_H
