//===- DefinitionLowering.h - From a definition to linalg -------*- C++ -*-===//
//
// Writes one operator as linalg on tensors, from its definition alone:
//
//   reads with affine indices      operands with indexing maps
//   guarded reads                  tensor.pad by as much as the loops reach out
//   other reads                    tensor.extract in the body
//   a reduction                    linalg.fill and reduction iterators
//   a reduction inside another
//   expression                     a separate stage before
//   pieces                         one op each, tensor.insert_slice
//   a reinterpretation             tensor.collapse_shape, tensor.expand_shape
//   one element moved as it is     tensor.extract_slice, tensor.pad
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_LOWER_DEFINITIONLOWERING_H
#define MLC_PASSES_LOWER_DEFINITIONLOWERING_H

#include "dialects/Definition/ExprMap.h"
#include "passes/Lower/AffineIndex.h"
#include "passes/Lower/SizeValues.h"

namespace mlc {

class DefinitionLowering {
public:
  /// `operands` are the lowered operands of the operator that `definition`
  /// describes.
  DefinitionLowering(mlir::OpBuilder &builder, mlir::Location loc,
                     SizeValues &sizes, Definition definition,
                     mlir::ValueRange operands);

  /// Writes all stages; the values of the results.
  llvm::SmallVector<mlir::Value> run();

private:
  /// An operand of a linalg op: element map(loops) of the tensor is read.
  struct Access {
    mlir::Value tensor;
    mlir::AffineMap map;
  };
  struct Padding {
    llvm::SmallVector<IntExpr> low, high;
  };

  mlir::Value valueOf(TensorId tensor) const;
  /// Whether two sizes are the same number wherever the operator is defined.
  bool areEqual(IntExpr a, IntExpr b) const;

  mlir::Value lowerStage(const Stage &stage);
  mlir::Value lowerPiece(const Piece &piece, mlir::Type elementType);
  /// The box of elements that `read`, the whole body, moves; null if it is not
  /// a strided box of its tensor.
  mlir::Value lowerMove(const LoopNest &nest, const ExprNode &read);
  /// One linalg.generic; `body` may be a reduction.
  mlir::Value lowerNest(LoopNest nest, Expr body, mlir::Type elementType);

  /// `expr` with every reduction replaced by a read of a stage that holds it.
  Expr hoistReductions(const Expr &expr, llvm::ArrayRef<Loop> loops);
  Expr makeReductionStage(const Expr &reduce, llvm::ArrayRef<Loop> loops);

  /// How a Read node becomes an operand; nothing if it must be a tensor.extract
  /// in the body.
  std::optional<Access> getAccess(const ExprNode &read, const LoopNest &nest);
  std::optional<Padding> getPadding(const ExprNode &read,
                                    llvm::ArrayRef<AffineIndex> indices) const;
  mlir::Value pad(mlir::Value tensor, llvm::ArrayRef<IntExpr> dims,
                  const Padding &padding, const ExprNode &otherwise);
  mlir::Value slice(mlir::Value tensor, llvm::ArrayRef<IntExpr> offsets,
                    llvm::ArrayRef<IntExpr> dims,
                    llvm::ArrayRef<IntExpr> steps);
  /// Adds the reduction loops' extents if no operand shows them.
  void addWindow(const LoopNest &nest, unsigned numParallel,
                 llvm::SmallVectorImpl<Access> &accesses);
  /// A Constant node's number as an attribute of its lowered type.
  mlir::TypedAttr getConstantAttr(const ExprNode &node);
  mlir::Value makeInit(llvm::ArrayRef<IntExpr> dims, mlir::Type elementType);
  mlir::Value fill(llvm::ArrayRef<IntExpr> dims, mlir::TypedAttr value);

  mlir::OpBuilder &b;
  mlir::Location loc;
  SizeValues &sizes;
  Definition definition;
  llvm::SmallVector<mlir::Value> operands, stages;
};

} // namespace mlc

#endif // MLC_PASSES_LOWER_DEFINITIONLOWERING_H
