//===- StoredForms.h - Values and their stored forms ------------*- C++ -*-===//

#ifndef MLC_PASSES_LAYOUT_STOREDFORMS_H
#define MLC_PASSES_LAYOUT_STOREDFORMS_H

#include "codegen/kernel/Backend.h"
#include "dialects/Graph/ConvolutionOps.h"
#include "dialects/Graph/LayoutOps.h"
#include "dialects/Graph/MovementOps.h"
#include "dialects/Interfaces/CompileTime.h"
#include "llvm/ADT/DenseMap.h"

namespace mlc {

/// A tensor [n, c, s...] as it is kept for convolutions.
struct StoredForm {
  mlir::Value value;
  LayoutAttr layout;
  /// Fills may hold infinities or NaN, which even a weight of zero does not
  /// silence.
  bool isDirty = false;

  explicit operator bool() const { return value != nullptr; }
  int64_t groups() const {
    const DimSplit *split = layout.getSplit(1);
    return split ? split->groups : 1;
  }
};

/// Builds operators and knows which plain values have a stored form.
class StoredForms {
public:
  StoredForms(mlir::OpBuilder &builder, const ConvolutionLayout &layout)
      : builder(builder), wanted(layout) {}

  const ConvolutionLayout &getLayout() const { return wanted; }
  /// Channels in a block; 0 where channels are last.
  int64_t getBlock() const { return wanted.block; }
  mlir::MLIRContext *getContext() const { return builder.getContext(); }

  /// How a tensor with these dims is kept, its blocks not across `groups`.
  /// Precondition: two dims or more, known channels, of which groups are equal
  /// parts.
  LayoutAttr layoutOf(llvm::ArrayRef<IntExpr> dims, int64_t groups) const;

  /// The stored form of `plain` if there is one.
  StoredForm lookup(mlir::Value plain) const { return forms.lookup(plain); }

  /// The stored form of `plain` with blocks that are not across `groups`,
  /// packed when there is none; `clean`: its fills are finite. Null when the
  /// channels are not known, or there are no pixels.
  StoredForm get(mlir::Location loc, mlir::Value plain, int64_t groups,
                 bool clean);

  /// The plain tensor of `form`, which is registered under it.
  mlir::Value unpack(mlir::Location loc, const StoredForm &form);

  /// `x` in another layout, by a pad, a reshape and a transpose: for weights,
  /// of which these are folded.
  mlir::Value rearrange(mlir::Location loc, mlir::Value x, LayoutAttr layout);

  /// An operator of the mlc dialect, by its operands and attributes as they are
  /// declared; null when it is not well formed.
  template <typename Op, typename... Args>
  mlir::Value create(mlir::Location loc, Args &&...args) {
    mlir::FailureOr<Op> op =
        createOp<Op>(builder, loc, std::forward<Args>(args)...);
    return mlir::failed(op) ? mlir::Value() : op->getResult();
  }
  /// The same operator on other operands.
  mlir::Value createLike(mlir::Operation *op, mlir::ValueRange operands);
  /// The operator called `name` on stored operands; `layouts`: theirs and the
  /// result's.
  mlir::Value layOut(mlir::Location loc, llvm::StringRef name,
                     mlir::ValueRange operands, mlir::DictionaryAttr attributes,
                     llvm::ArrayRef<LayoutAttr> layouts);

  DimsAttr dims(llvm::ArrayRef<IntExpr> values) const {
    return DimsAttr::get(getContext(), values);
  }
  IntExpr integer(int64_t value) const {
    return IntExpr::constant(getContext(), value);
  }
  mlir::Value reshape(mlir::Location loc, mlir::Value x,
                      llvm::ArrayRef<IntExpr> to);
  /// A border of zeros.
  mlir::Value pad(mlir::Location loc, mlir::Value x,
                  llvm::ArrayRef<IntExpr> low, llvm::ArrayRef<IntExpr> high);
  /// The same, if need be that which another reader of `x` has made before.
  mlir::Value padOnce(mlir::Location loc, mlir::Value x,
                      llvm::ArrayRef<IntExpr> low,
                      llvm::ArrayRef<IntExpr> high);

private:
  mlir::OpBuilder &builder;
  ConvolutionLayout wanted;
  llvm::DenseMap<mlir::Value, StoredForm> forms;
};

/// Dims of a value of the mlc dialect.
llvm::SmallVector<IntExpr> sizesOf(mlir::Value value);

/// Makes convolutions of small floats with constant weights in `block` ones of
/// float32 between casts.
void widenConvolutions(StoredForms &forms, mlir::OpBuilder &builder,
                       mlir::Block &block);

/// The stored result of a convolution whose weights have known sizes; null when
/// it stays as it is. Weights that are no constant are packed by each run,
/// where that pays.
StoredForm layOutConvolution(StoredForms &forms, ConvOp conv);

/// The stored result of a transposed convolution that is a convolution: of
/// stride 1. Null when it stays as it is.
StoredForm layOutTransposedConvolution(StoredForms &forms, ConvTransposeOp op);

/// Where `conv` is of two transposes, as the gradient of a convolution's
/// weights is, puts one of stored tensors in its place; false where it is none.
bool layOutWeightGradient(StoredForms &forms, ConvOp conv);

/// The stored result of an operator some of whose operands have stored forms;
/// null when it cannot work on them.
StoredForm layOutOperator(StoredForms &forms, mlir::Operation *op);

} // namespace mlc

#endif // MLC_PASSES_LAYOUT_STOREDFORMS_H
