//===- StoredForms.h - Values and their stored forms ------------*- C++ -*-===//

#ifndef MLC_PASSES_LAYOUT_STOREDFORMS_H
#define MLC_PASSES_LAYOUT_STOREDFORMS_H

#include "codegen/kernel/Backend.h"
#include "dialects/Graph/ConvolutionOps.h"
#include "dialects/Graph/LayoutOps.h"
#include "dialects/Graph/MovementOps.h"
#include "dialects/Module/CompileTime.h"
#include "llvm/ADT/DenseMap.h"

namespace mlc {

/// A tensor [n, c, s...] as it is stored for convolutions.
struct StoredForm {
  mlir::Value value;
  LayoutAttr layout;
  /// Fills may hold infinities or NaN; even a weight of zero keeps these.
  bool isDirty = false;

  explicit operator bool() const { return value != nullptr; }
  int64_t groups() const {
    const DimSplit *split = layout.getSplit(1);
    return split ? split->groups : 1;
  }
};

/// Builds operators and tracks which plain values have a stored form.
class StoredForms {
public:
  StoredForms(mlir::OpBuilder &builder, const ConvolutionLayout &layout)
      : builder(builder), wanted(layout) {}

  const ConvolutionLayout &getLayout() const { return wanted; }
  bool areChannelsLast() const { return wanted.channelsLast; }
  /// Channels per block; 0 if channels are last.
  int64_t getBlock() const { return wanted.block; }
  mlir::MLIRContext *getContext() const { return builder.getContext(); }

  /// The layout of a tensor with these dims; its blocks do not cross `groups`.
  /// Precondition: at least two dims, and known channels that the groups divide
  /// equally.
  LayoutAttr layoutOf(llvm::ArrayRef<IntExpr> dims, int64_t groups) const;

  /// The stored form of `plain`, if there is one.
  StoredForm lookup(mlir::Value plain) const { return forms.lookup(plain); }

  /// The stored form of `plain` with blocks that do not cross `groups`, packed
  /// if there is none. `clean`: its fills are finite. Null if the channels are
  /// not known, or if there are no pixels.
  StoredForm get(mlir::Location loc, mlir::Value plain, int64_t groups,
                 bool clean);

  /// The stored form of the value that `transpose` moves, if the result has the
  /// same elements in the same order.
  StoredForm lookupTransposed(TransposeOp transpose) const;

  /// The plain tensor of `form`, which is registered under it.
  mlir::Value unpack(mlir::Location loc, const StoredForm &form);

  /// `x` in another layout, by a pad, a reshape and a transpose: for weights,
  /// where these are folded.
  mlir::Value rearrange(mlir::Location loc, mlir::Value x, LayoutAttr layout);

  /// An mlc operator, from its operands and attributes in the order of its
  /// declaration; null if it is not well formed.
  template <typename Op, typename... Args>
  mlir::Value create(mlir::Location loc, Args &&...args) {
    mlir::FailureOr<Op> op =
        createOp<Op>(builder, loc, std::forward<Args>(args)...);
    return mlir::failed(op) ? mlir::Value() : op->getResult();
  }
  /// The same operator on other operands.
  mlir::Value createLike(mlir::Operation *op, mlir::ValueRange operands);
  /// The operator called `name` on stored operands; `layouts` are those of its
  /// operands and result.
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
  /// The same, but reuses the pad that another reader of `x` has made.
  mlir::Value padOnce(mlir::Location loc, mlir::Value x,
                      llvm::ArrayRef<IntExpr> low,
                      llvm::ArrayRef<IntExpr> high);

private:
  mlir::OpBuilder &builder;
  ConvolutionLayout wanted;
  llvm::DenseMap<mlir::Value, StoredForm> forms;
};

/// Float16 or bfloat16.
bool isSmallFloat(mlir::Type element);

/// Dims of a value of the mlc dialect.
llvm::SmallVector<IntExpr> sizesOf(mlir::Value value);

/// Turns convolutions of small floats with constant weights in `block` into
/// float32 ones between casts.
void widenConvolutions(StoredForms &forms, mlir::OpBuilder &builder,
                       mlir::Block &block);

/// Turns batch norms with constant parameters into a factor and a summand for
/// each channel, which constant folding evaluates.
void scaleBatchNorms(StoredForms &forms, mlir::OpBuilder &builder,
                     mlir::Block &block);

/// The stored result of a convolution whose weights have known sizes; null if
/// it stays as it is. Weights that are not constant are packed in each run, if
/// that pays.
StoredForm layOutConvolution(StoredForms &forms, ConvOp conv);

/// The stored result of a transposed convolution that is a convolution, because
/// its stride is 1. Null if it stays as it is.
StoredForm layOutTransposedConvolution(StoredForms &forms, ConvTransposeOp op);

/// Replaces `conv` by a convolution of stored tensors if it is one of two
/// transposes, like the gradient of a convolution's weights; false if it is
/// not.
bool layOutWeightGradient(StoredForms &forms, ConvOp conv);

/// The stored result of an operator with stored operands; null if it cannot
/// work on them.
StoredForm layOutOperator(StoredForms &forms, mlir::Operation *op);

} // namespace mlc

#endif // MLC_PASSES_LAYOUT_STOREDFORMS_H
