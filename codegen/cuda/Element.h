//===- Element.h - One element of a tensor as CUDA C++ ----------*- C++ -*-===//
//
// Prints what computes an element of a tensor of a kernel at given indices:
// what lies in memory is read; what does not is computed where it is read,
// through views, pads (a bounds check), concatenations and the regions of
// linalg's operations.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CUDA_ELEMENT_H
#define MLC_CODEGEN_CUDA_ELEMENT_H

#include "codegen/cuda/Code.h"
#include "codegen/cuda/Scalar.h"
#include "codegen/kernel/Kernel.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <functional>
#include <map>

namespace mlc::cuda {

/// An index: a name or a literal.
struct Index {
  std::string text;
  std::optional<int64_t> value;

  Index() = default;
  explicit Index(int64_t value);
  explicit Index(std::string name) : text(std::move(name)) {}
  bool is(int64_t wanted) const { return value == wanted; }
};

using Indices = llvm::SmallVector<Index, 6>;

/// Where a tensor lies: element `offset + Σ stride[d] * i_d` of `pointer`.
struct View {
  std::string pointer;
  Index offset;
  llvm::SmallVector<Index, 6> strides;
  mlir::Type element;
};

class ElementPrinter {
public:
  ElementPrinter(const Kernel &kernel, Code &code);

  const Kernel &kernel;
  Code &code;
  Helpers helpers;
  /// What lies in memory. Everything else is computed where it is read.
  llvm::DenseMap<mlir::Value, View> views;
  /// Tensors of which one element is known, the only one that is read; and who
  /// is told where they are read.
  llvm::DenseMap<mlir::Value, std::string> known;
  llvm::function_ref<void(mlir::Value, llvm::ArrayRef<Index>)> onKnown;
  /// Definitions of sizes and addresses that do not change in the kernel: they
  /// stand before its body; constants of tensors before the kernel.
  Code head;
  std::string constants;

  /// The value of `expr`, computed once at the head of the kernel.
  Index size(IntExpr expr);
  /// A dense view of `tensor` at `pointer`.
  View dense(mlir::Value tensor, std::string pointer);

  std::string element(mlir::Value tensor, llvm::ArrayRef<Index> indices);
  /// Computes the region of `op` at one place of its loops. `accumulators`:
  /// values of its outputs so far; empty: read.
  llvm::SmallVector<std::string> body(mlir::linalg::LinalgOp op,
                                      llvm::ArrayRef<Index> loops,
                                      llvm::ArrayRef<std::string> accumulators);
  /// The same where the values of all operands, of outputs too, are given.
  llvm::SmallVector<std::string> apply(mlir::linalg::LinalgOp op,
                                       llvm::ArrayRef<std::string> operands);
  /// What the outputs of `op` begin with.
  llvm::SmallVector<std::string> initials(mlir::linalg::LinalgOp op,
                                          llvm::ArrayRef<Index> loops);
  /// All reductions of `op` in order, at one place of its other loops.
  llvm::SmallVector<std::string> reduce(mlir::linalg::LinalgOp op,
                                        Indices loops);
  void store(const View &view, llvm::ArrayRef<Index> indices,
             const std::string &value);
  std::string load(const View &view, llvm::ArrayRef<Index> indices);

  // Arithmetic on indices; what is known is computed here.
  Index add(const Index &x, const Index &y);
  Index sub(const Index &x, const Index &y);
  Index mul(const Index &x, const Index &y);
  /// Quotient and remainder; `x` is not negative.
  Index div(const Index &x, const Index &y);
  Index mod(const Index &x, const Index &y);
  Index evaluate(mlir::AffineExpr expr, llvm::ArrayRef<Index> dims,
                 llvm::ArrayRef<Index> symbols = {});
  Indices evaluate(mlir::AffineMap map, llvm::ArrayRef<Index> loops);
  /// The place that `flat` is of a row-major tensor of `shape`.
  Indices unflatten(Index flat, llvm::ArrayRef<IntExpr> shape);

  /// The value of `op` of arith or math.
  std::string compute(mlir::Operation *op,
                      llvm::ArrayRef<std::string> operands);
  /// Reports that `op` cannot be printed.
  void fail(mlir::Operation *op, const llvm::Twine &why);
  bool failed = false;
  /// Nobody wants the text, nor to be told of what cannot be printed.
  bool isTrial = false;
  /// Asked where something is read: an expression of what is stored there, from
  /// elsewhere; "" to read it where it lies.
  std::function<std::string(const View &, llvm::ArrayRef<Index>)> onLoad;

private:
  friend class BodyPrinter;

  Index binary(const Index &x, llvm::StringRef sign, const Index &y);
  std::string sizeText(IntExpr expr);
  std::string scalar(mlir::Value value);
  std::string linalgElement(mlir::linalg::LinalgOp op, unsigned result,
                            llvm::ArrayRef<Index> indices);
  std::string pad(mlir::tensor::PadOp op, llvm::ArrayRef<Index> indices);
  std::string insert(mlir::tensor::InsertSliceOp op,
                     llvm::ArrayRef<Index> indices);
  std::string concat(mlir::tensor::ConcatOp op, llvm::ArrayRef<Index> indices);
  std::string view(mlir::Operation *op, llvm::ArrayRef<Index> indices);
  std::string extract(mlir::Value tensor, llvm::ArrayRef<Index> indices,
                      llvm::ArrayRef<bool> inBounds);
  std::string constant(mlir::arith::ConstantOp op,
                       llvm::ArrayRef<Index> indices);
  /// `inside` where `condition`, else `otherwise`.
  std::string guarded(mlir::Type element, const std::string &condition,
                      llvm::function_ref<std::string()> inside,
                      llvm::function_ref<std::string()> otherwise);
  /// Conditions `low <= index < high`, those known left out; "" for none.
  void require(std::string &condition, const Index &index, const Index &low,
               const Index &high);

  std::string withoutCancellation(mlir::Operation *op,
                                  llvm::ArrayRef<std::string> operands) const;

  std::map<std::string, std::string> sizes;
  /// Names whose values one of these operations makes of another value: what
  /// withoutCancellation() looks for.
  std::map<std::string, std::string> exponentials, errorFunctions, onePlus;
};

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_ELEMENT_H
