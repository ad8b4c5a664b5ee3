//===- Element.h - One element of a tensor as CUDA C++ ----------*- C++ -*-===//
//
// Prints the expression of one element of a kernel's tensor at given indices.
// Tensors in memory are read; others are computed where they are read, through
// views, pads (a bounds check), concatenations and the regions of linalg ops.
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
#include <set>

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

/// A tensor in memory: element `offset + Σ stride[d] * i_d` of `pointer`.
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
  /// Tensors in memory. All others are computed where they are read.
  llvm::DenseMap<mlir::Value, View> views;
  /// Tensors whose only element that is read has this expression. `onKnown` is
  /// called with the indices of each such read.
  llvm::DenseMap<mlir::Value, std::string> known;
  llvm::function_ref<void(mlir::Value, llvm::ArrayRef<Index>)> onKnown;
  /// Definitions of sizes and addresses that do not change in the kernel,
  /// printed before its body. Tensor constants are printed before the kernel.
  Code head;
  std::string constants;

  /// The value of `expr`, computed once at the head of the kernel.
  Index size(IntExpr expr);
  /// A dense view of `tensor` at `pointer`.
  View dense(mlir::Value tensor, std::string pointer);

  std::string element(mlir::Value tensor, llvm::ArrayRef<Index> indices);
  /// Computes the region of `op` at one iteration of its loops. `accumulators`
  /// are the current values of its outputs; if empty, these are read.
  llvm::SmallVector<std::string> body(mlir::linalg::LinalgOp op,
                                      llvm::ArrayRef<Index> loops,
                                      llvm::ArrayRef<std::string> accumulators);
  /// The same with given values of all operands, including outputs.
  llvm::SmallVector<std::string> apply(mlir::linalg::LinalgOp op,
                                       llvm::ArrayRef<std::string> operands);
  /// The initial values of the outputs of `op`.
  llvm::SmallVector<std::string> initials(mlir::linalg::LinalgOp op,
                                          llvm::ArrayRef<Index> loops);
  /// Runs all reductions of `op` in order, at one iteration of its other loops.
  llvm::SmallVector<std::string> reduce(mlir::linalg::LinalgOp op,
                                        Indices loops);
  void store(const View &view, llvm::ArrayRef<Index> indices,
             const std::string &value);
  std::string load(const View &view, llvm::ArrayRef<Index> indices);

  // Arithmetic on indices; constants are folded.
  Index add(const Index &x, const Index &y);
  Index sub(const Index &x, const Index &y);
  Index mul(const Index &x, const Index &y);
  /// Quotient and remainder; `x` is not negative.
  Index div(const Index &x, const Index &y);
  Index mod(const Index &x, const Index &y);
  Index evaluate(mlir::AffineExpr expr, llvm::ArrayRef<Index> dims,
                 llvm::ArrayRef<Index> symbols = {});
  Indices evaluate(mlir::AffineMap map, llvm::ArrayRef<Index> loops);
  /// The indices of element `flat` of a row-major tensor of `shape`.
  Indices unflatten(Index flat, llvm::ArrayRef<IntExpr> shape);

  /// The value of `op` of arith or math.
  std::string compute(mlir::Operation *op,
                      llvm::ArrayRef<std::string> operands);
  /// Reports that `op` cannot be printed.
  void fail(mlir::Operation *op, const llvm::Twine &why);
  bool failed = false;
  /// Whether 16-bit floats are rounded wherever the model does so, not only
  /// where they are stored.
  bool keepsRoundings = true;
  /// Names of values that are the same for many elements, if these are to be
  /// divided by means of a reciprocal; compute() adds what follows from them.
  std::optional<std::set<std::string>> uniform;
  /// The text is discarded, and errors are not reported.
  bool isTrial = false;
  /// Called for each read; returns another expression for the stored element,
  /// or "" to read it from memory.
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
  /// Adds `low <= index < high` to the condition unless it is known to hold.
  void require(std::string &condition, const Index &index, const Index &low,
               const Index &high);

  bool isUniform(llvm::StringRef operand) const;
  std::string withoutCancellation(mlir::Operation *op,
                                  llvm::ArrayRef<std::string> operands);

  std::map<std::string, std::string> sizes;
  /// Names that hold an exponential, an error function or a sum with 1, with
  /// the operand: what withoutCancellation() looks for.
  std::map<std::string, std::string> exponentials, errorFunctions, onePlus;
};

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_ELEMENT_H
