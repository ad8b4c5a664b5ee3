//===- Concatenations.cpp - Pieces written in place -----------------------===//

#include "dialects/Definition/OpInterfaces.h"
#include "passes/Fuse/Collectives.h"
#include "passes/Fuse/Grouping.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc {

/// A piece is written in place by the kernel that makes it. It is copied if
/// there is none, or if the value has another place already.
static bool canBePlaced(Value piece, const ShapeTable &shapes,
                        llvm::DenseSet<Value> &placed) {
  while (std::optional<View> view = getView(piece, shapes)) {
    if (!view->offset.isConstant(0) ||
        piece.getDefiningOp<tensor::ExtractSliceOp>() ||
        piece.getDefiningOp<UnrealizedConversionCastOp>())
      return false;
    piece = view->source;
  }
  Operation *op = piece.getDefiningOp();
  // A collective's result has exclusive memory.
  return op && isWork(op) && !isCollective(op) && placed.insert(piece).second;
}

static Value copyTensor(Value value, ShapeTable &shapes, Operation *before) {
  OpBuilder b(before);
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<OpFoldResult> sizes;
  auto insert = cast<tensor::InsertSliceOp>(before);
  sizes = insert.getMixedSizes();
  Value init = tensor::EmptyOp::create(b, before->getLoc(), sizes,
                                       type.getElementType());
  shapes.set(init, SmallVector<IntExpr>(shapes.of(value)));
  AffineMap map = b.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> parallel(type.getRank(),
                                            utils::IteratorType::parallel);
  Value copy =
      linalg::GenericOp::create(
          b, before->getLoc(), TypeRange{init.getType()}, ValueRange{value},
          ValueRange{init}, ArrayRef<AffineMap>{map, map}, parallel,
          [](OpBuilder &body, Location loc, ValueRange args) {
            linalg::YieldOp::create(body, loc, args[0]);
          })
          .getResult(0);
  shapes.set(copy, SmallVector<IntExpr>(shapes.of(value)));
  return copy;
}

void Grouping::placeConcatenations(func::FuncOp function) {
  llvm::DenseSet<Value> placed;
  SmallVector<tensor::InsertSliceOp> lasts;
  for (auto insert : function.getOps<tensor::InsertSliceOp>())
    if (!insert->hasOneUse() ||
        !isa<tensor::InsertSliceOp>(*insert->user_begin()) ||
        cast<tensor::InsertSliceOp>(*insert->user_begin()).getDest() !=
            insert.getResult())
      lasts.push_back(insert);
  for (tensor::InsertSliceOp last : lasts) {
    std::optional<InPlaceConcat> concat = getInPlaceConcat(last, shapes);
    if (!concat)
      continue;
    auto insert = last;
    for (InPlaceConcat::Piece &piece : llvm::reverse(concat->pieces)) {
      placedInserts.insert(insert);
      if (!canBePlaced(piece.value, shapes, placed)) {
        piece.value = copyTensor(piece.value, shapes, insert);
        insert.getSourceMutable().assign(piece.value);
        placed.insert(piece.value);
      }
      insert = insert.getDest().getDefiningOp<tensor::InsertSliceOp>();
    }
    inPlaceConcats[last.getResult()] = *concat;
  }
}

} // namespace mlc
