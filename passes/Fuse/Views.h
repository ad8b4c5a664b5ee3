//===- Views.h - Tensors that are other tensors' memory ---------*- C++ -*-===//

#ifndef MLC_PASSES_FUSE_VIEWS_H
#define MLC_PASSES_FUSE_VIEWS_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Fuse/Shapes.h"

namespace mlc {

/// A tensor as a run of bytes in another one.
struct View {
  mlir::Value source;
  /// Where it begins, in elements; a multiple of 64 bytes.
  IntExpr offset;
};

/// What `value` is a view of, one step up: reshapes, casts, and slices whose
/// elements lie together. Nothing where it has memory of its own.
std::optional<View> getView(mlir::Value value, const ShapeTable &shapes);

/// A concatenation whose pieces lie one after another in its memory: the last
/// insert_slice of the chain that makes it.
struct InPlaceConcat {
  struct Piece {
    mlir::Value value;
    IntExpr offset; // in elements; a multiple of 64 bytes
  };
  llvm::SmallVector<Piece> pieces;
};

/// The pieces of the insert_slice chain that ends in `last`, which starts from
/// an empty tensor; nothing where a piece is scattered or not aligned.
std::optional<InPlaceConcat> getInPlaceConcat(mlir::tensor::InsertSliceOp last,
                                              const ShapeTable &shapes);

/// Bytes that an element takes in memory: bool is one byte.
int64_t elementBytes(mlir::Type element);

} // namespace mlc

#endif // MLC_PASSES_FUSE_VIEWS_H
