//===- Kernel.h - A kernel function as code generation sees it --*- C++ -*-===//
//
// Reads a `func.func` with `mlc.kernel` (seam 3 of docs/Architecture.md): its
// inputs, outputs, tensor operations in order, and the shape of every tensor
// value as IntExprs over the kernel's symbols. Every tensor at the boundary is
// dense row-major, so strides follow from shapes.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_KERNEL_KERNEL_H
#define MLC_CODEGEN_KERNEL_KERNEL_H

#include "dialects/Symbolic/IntExpr.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include <string>

namespace mlc {

using Shape = llvm::SmallVector<IntExpr, 6>;

/// Row-major strides, in elements, of a dense tensor of `shape`.
Shape rowMajorStrides(llvm::ArrayRef<IntExpr> shape, mlir::MLIRContext *ctx);

/// Number of elements of `shape` (1 for a scalar).
IntExpr elementCount(llvm::ArrayRef<IntExpr> shape, mlir::MLIRContext *ctx);

/// `expr` over `dims` and `symbols`; null if it needs one that is null.
IntExpr fromAffine(mlir::AffineExpr expr, llvm::ArrayRef<IntExpr> dims,
                   llvm::ArrayRef<IntExpr> symbols);

/// A kernel read and checked. Values and operations belong to the function.
class Kernel {
public:
  /// Reads `function`. Emits an error on it and fails if it is not a kernel as
  /// seam 3 describes (a shape that is no IntExpr of the symbols, an operation
  /// that code generation does not know).
  static mlir::FailureOr<Kernel> read(mlir::func::FuncOp function);

  /// The kernel that `ops`, in program order, would be if they were outlined
  /// from the function in which they stand: used to decide whether that pays.
  /// A size that is no expression of the function's `mlc.symbols`, or not seen
  /// to be, becomes a symbol with an arbitrary name. Fails
  /// (without error) if an op is not known.
  static mlir::FailureOr<Kernel> preview(llvm::ArrayRef<mlir::Operation *> ops);

  mlir::func::FuncOp function;
  /// Tensor arguments, in order, and the values returned, in order.
  llvm::SmallVector<mlir::Value> inputs, outputs;
  /// Names of the symbols, and the index arguments that carry them.
  llvm::SmallVector<std::string> symbols;
  llvm::SmallVector<mlir::Value> symbolValues;
  /// Operations with tensor results, in program order.
  llvm::SmallVector<mlir::Operation *> ops;
  /// The first contraction (LinalgOp with a multiply-add over a reduction dim
  /// of two or more operands), or null for a loop group.
  mlir::Operation *anchor = nullptr;
  /// The body runs this often, each time with the kernel's only result in the
  /// place of input `repeated` (`mlc.repeat`).
  int64_t repeats = 1;
  unsigned repeated = 0;
  /// The numbers of results of the kernels that it was made of
  /// (`mlc.siblings`, codegen/kernel/Siblings.h); none if it is one.
  llvm::SmallVector<int64_t> siblings;

  mlir::MLIRContext *context() const;
  bool isInput(mlir::Value tensor) const { return inputSet.contains(tensor); }
  /// Shape of any tensor value of the body.
  llvm::ArrayRef<IntExpr> shapeOf(mlir::Value tensor) const;
  /// An index value of the body (outside linalg regions) as an expression of
  /// the symbols; null if it is none.
  IntExpr asExpr(mlir::Value index) const;
  /// The same for an attribute-or-value of a mixed operand list.
  IntExpr asExpr(mlir::OpFoldResult index) const;

private:
  mlir::LogicalResult readSignature();
  mlir::LogicalResult readBody();
  mlir::LogicalResult readRepeats();
  mlir::LogicalResult readSiblings();
  mlir::LogicalResult readShape(mlir::Operation *op);
  bool computeShape(mlir::Operation *op, Shape &shape);
  void previewSymbols(mlir::func::FuncOp outside);
  Shape shapeOutside(mlir::Value value);
  void previewInput(mlir::Value value);

  IntExpr unknown(mlir::Value index) const;

  mlir::MLIRContext *ctx = nullptr;
  llvm::DenseMap<mlir::Value, Shape> shapes;
  llvm::DenseSet<mlir::Value> inputSet;
  /// Previews name sizes that they cannot express.
  bool isPreview = false;
  mutable llvm::DenseMap<mlir::Value, IntExpr> unknowns;
};

/// The one input that `op` copies to its output, element for element, and how
/// the output's dims index it; nullopt if it does anything else.
std::optional<mlir::AffineMap> getMovement(mlir::linalg::GenericOp op);

/// Whether `op` multiplies and accumulates over a reduction dim: the ops that
/// the contraction emitter anchors a kernel on.
bool isContraction(mlir::Operation *op);

/// Operations of the kernel's contractions: two for each multiply-add of their
/// definitions. Null if it has none.
IntExpr countProducts(const Kernel &kernel);

} // namespace mlc

#endif // MLC_CODEGEN_KERNEL_KERNEL_H
