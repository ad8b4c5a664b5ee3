//===- Blocking.h - Plain values and their blocked forms --------*- C++ -*-===//

#ifndef MLC_PASSES_LAYOUT_BLOCKING_H
#define MLC_PASSES_LAYOUT_BLOCKING_H

#include "codegen/kernel/Backend.h"
#include "dialects/Graph/ConvolutionOps.h"
#include "dialects/Graph/MovementOps.h"
#include "dialects/Graph/PoolingOps.h"
#include "dialects/Graph/ReductionOps.h"
#include "dialects/Interfaces/CompileTime.h"
#include "llvm/ADT/DenseMap.h"

namespace mlc {

/// A tensor [n, c, s...] kept as [n, blocks, s..., block].
struct Blocked {
  mlir::Value value;
  int64_t channels = 0;
  /// 1 wherever blocks do not straddle groups.
  int64_t groups = 1;
  /// Filled lanes may hold infinities or NaN, which even a weight of zero does
  /// not silence.
  bool isDirty = false;

  explicit operator bool() const { return value != nullptr; }
};

/// Builds operators and knows which plain values have a blocked form.
class Blocking {
public:
  /// `layout` has blocks.
  Blocking(mlir::OpBuilder &builder, const ConvolutionLayout &layout)
      : builder(builder), layout(layout), block(layout.block) {}

  const ConvolutionLayout &getLayout() const { return layout; }
  int64_t getBlock() const { return block; }
  mlir::MLIRContext *getContext() const { return builder.getContext(); }

  /// The blocked form of `plain` if there is one.
  Blocked lookup(mlir::Value plain) const { return blockedForms.lookup(plain); }

  /// The blocked form of `plain` with blocks that do not straddle `groups`,
  /// packed when there is none; `clean`: its filled lanes are finite. Null when
  /// the channels are not known.
  Blocked get(mlir::Location loc, mlir::Value plain, int64_t groups,
              bool clean);

  /// The plain tensor of `form`, which is registered under it.
  mlir::Value unpack(mlir::Location loc, Blocked form);

  /// An operator of the mlc dialect; null when it is not well formed.
  mlir::Value create(mlir::Location loc, llvm::StringRef name,
                     mlir::ValueRange operands,
                     llvm::ArrayRef<mlir::NamedAttribute> attributes = {});
  template <typename Op>
  mlir::Value create(mlir::Location loc, mlir::ValueRange operands,
                     llvm::ArrayRef<mlir::NamedAttribute> attributes = {}) {
    return create(loc, Op::getOperationName(), operands, attributes);
  }

  mlir::NamedAttribute dims(llvm::StringRef name,
                            llvm::ArrayRef<IntExpr> values) const;
  mlir::NamedAttribute dims(llvm::StringRef name,
                            llvm::ArrayRef<int64_t> values) const;
  mlir::NamedAttribute i64(llvm::StringRef name, int64_t value) const;
  IntExpr integer(int64_t value) const {
    return IntExpr::constant(getContext(), value);
  }
  mlir::Value reshape(mlir::Location loc, mlir::Value x,
                      llvm::ArrayRef<IntExpr> to);
  /// A border of zeros.
  mlir::Value pad(mlir::Location loc, mlir::Value x,
                  llvm::ArrayRef<IntExpr> low, llvm::ArrayRef<IntExpr> high);

private:
  mlir::OpBuilder &builder;
  ConvolutionLayout layout;
  int64_t block;
  llvm::DenseMap<mlir::Value, Blocked> blockedForms;
};

/// Dims of a value of the mlc dialect.
llvm::SmallVector<IntExpr> sizesOf(mlir::Value value);

/// Makes convolutions of small floats with constant weights in `block` ones of
/// float32 between casts.
void widenConvolutions(Blocking &blocking, mlir::OpBuilder &builder,
                       mlir::Block &block);

/// The blocked result of a convolution whose weights have known sizes; null
/// when it stays as it is. Weights that are no constant are packed by each run,
/// where that pays.
Blocked blockConvolution(Blocking &blocking, ConvOp conv);

/// The blocked result of an operator some of whose operands have blocked forms;
/// null when it cannot work on them.
Blocked blockOther(Blocking &blocking, mlir::Operation *op);

} // namespace mlc

#endif // MLC_PASSES_LAYOUT_BLOCKING_H
