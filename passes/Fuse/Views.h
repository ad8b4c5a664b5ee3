//===- Views.h - Tensors in other tensors' memory ---------------*- C++ -*-===//

#ifndef MLC_PASSES_FUSE_VIEWS_H
#define MLC_PASSES_FUSE_VIEWS_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Fuse/Shapes.h"

namespace mlc {

/// A tensor as a contiguous range of bytes in another one.
struct View {
  mlir::Value source;
  /// Where it begins, in elements; a multiple of 64 bytes.
  IntExpr offset;
};

/// The view that `value` is, one step up: a reshape, a cast, or a contiguous
/// slice. Nothing if it has its own memory.
std::optional<View> getView(mlir::Value value, const ShapeTable &shapes);

/// A concatenation whose pieces are contiguous in its memory, named by the last
/// insert_slice of its chain.
struct InPlaceConcat {
  struct Piece {
    mlir::Value value;
    IntExpr offset; // in elements; a multiple of 64 bytes
  };
  llvm::SmallVector<Piece> pieces;
};

/// The pieces of the insert_slice chain that ends in `last`, which starts from
/// an empty tensor; nothing if a piece is scattered or not aligned.
std::optional<InPlaceConcat> getInPlaceConcat(mlir::tensor::InsertSliceOp last,
                                              const ShapeTable &shapes);

/// Bytes of an element in memory: bool takes one byte.
int64_t elementBytes(mlir::Type element);

} // namespace mlc

#endif // MLC_PASSES_FUSE_VIEWS_H
