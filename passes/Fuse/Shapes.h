//===- Shapes.h - Dims of every tensor of a lowered function ----*- C++ -*-===//

#ifndef MLC_PASSES_FUSE_SHAPES_H
#define MLC_PASSES_FUSE_SHAPES_H

#include "codegen/kernel/Kernel.h"
#include "dialects/Symbolic/IntExpr.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlc {

/// Reads the sizes in a function as mlc-lower-to-linalg writes it: index
/// arguments are the function's `mlc.symbols`, index values are arithmetic on
/// them, and every tensor's dims follow.
class ShapeTable {
public:
  /// Emits an error if a shape is not an expression of the symbols.
  static mlir::FailureOr<ShapeTable> build(mlir::func::FuncOp function);

  llvm::ArrayRef<IntExpr> of(mlir::Value tensor) const {
    return shapes.at(tensor);
  }
  bool contains(mlir::Value tensor) const { return shapes.contains(tensor); }
  void set(mlir::Value tensor, llvm::ArrayRef<IntExpr> dims) {
    shapes[tensor] = Shape(dims);
  }
  /// The index value as an expression; null if it is none.
  IntExpr asExpr(mlir::Value index) const { return indices.lookup(index); }
  IntExpr asExpr(mlir::OpFoldResult index) const;

private:
  explicit ShapeTable(mlir::MLIRContext *context) : context(context) {}

  mlir::LogicalResult readArguments(mlir::func::FuncOp function);
  mlir::LogicalResult readOp(mlir::Operation *op);
  IntExpr indexOf(mlir::Operation *op) const;
  IntExpr affineOf(mlir::AffineMap map, mlir::ValueRange operands) const;
  /// Nothing if it is not known.
  std::optional<Shape> shapeOf(mlir::Operation *op);
  std::optional<Shape> mixed(llvm::ArrayRef<mlir::OpFoldResult> sizes) const;

  mlir::MLIRContext *context;
  llvm::DenseMap<mlir::Value, Shape> shapes;
  llvm::DenseMap<mlir::Value, IntExpr> indices;
};

} // namespace mlc

#endif // MLC_PASSES_FUSE_SHAPES_H
