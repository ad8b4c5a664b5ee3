//===- Views.cpp - Tensors in other tensors' memory -----------------------===//

#include "passes/Fuse/Views.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc {

int64_t elementBytes(Type element) {
  return (element.getIntOrFloatBitWidth() + 7) / 8;
}

static bool isAligned(IntExpr elements, Type element) {
  constexpr int64_t alignment = 64;
  return (elements * elementBytes(element))
             .exactDiv(IntExpr::constant(elements.getContext(), alignment)) !=
         std::nullopt;
}

/// The element offset of a box at `offsets` with these `sizes` in a tensor with
/// dims `whole`, if the box is contiguous: there is a dim below which it is
/// whole, and above which it is one row.
static std::optional<IntExpr> getOffset(ArrayRef<IntExpr> whole,
                                        ArrayRef<IntExpr> offsets,
                                        ArrayRef<IntExpr> sizes,
                                        MLIRContext *context) {
  IntExpr offset = IntExpr::constant(context, 0);
  IntExpr stride = IntExpr::constant(context, 1);
  bool isPartial = false;
  for (size_t d = whole.size(); d-- > 0;) {
    if (isPartial && !sizes[d].isConstant(1))
      return std::nullopt;
    isPartial |= sizes[d] != whole[d];
    offset = offset + offsets[d] * stride;
    stride = stride * whole[d];
  }
  return offset;
}

template <typename SliceOp>
static std::optional<IntExpr> getOffset(SliceOp slice, Value whole,
                                        const ShapeTable &shapes) {
  for (OpFoldResult stride : slice.getMixedStrides())
    if (!isConstantIntValue(stride, 1))
      return std::nullopt;
  SmallVector<IntExpr> offsets, sizes;
  for (OpFoldResult offset : slice.getMixedOffsets())
    offsets.push_back(shapes.asExpr(offset));
  for (OpFoldResult size : slice.getMixedSizes())
    sizes.push_back(shapes.asExpr(size));
  std::optional<IntExpr> offset =
      getOffset(shapes.of(whole), offsets, sizes, slice->getContext());
  Type element = cast<RankedTensorType>(whole.getType()).getElementType();
  if (!offset || !isAligned(*offset, element))
    return std::nullopt;
  return offset;
}

std::optional<View> getView(Value value, const ShapeTable &shapes) {
  Operation *op = value.getDefiningOp();
  IntExpr zero = IntExpr::constant(value.getContext(), 0);
  if (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp,
                      tensor::CastOp, UnrealizedConversionCastOp>(op))
    return View{op->getOperand(0), zero};
  if (auto slice = dyn_cast_or_null<tensor::ExtractSliceOp>(op))
    if (std::optional<IntExpr> offset =
            getOffset(slice, slice.getSource(), shapes))
      return View{slice.getSource(), *offset};
  return std::nullopt;
}

std::optional<InPlaceConcat> getInPlaceConcat(tensor::InsertSliceOp last,
                                              const ShapeTable &shapes) {
  InPlaceConcat concat;
  for (auto insert = last; insert;) {
    if (insert.getSourceType().getRank() != insert.getDestType().getRank())
      return std::nullopt;
    std::optional<IntExpr> offset = getOffset(insert, insert.getDest(), shapes);
    if (!offset)
      return std::nullopt;
    concat.pieces.push_back({insert.getSource(), *offset});
    Operation *dest = insert.getDest().getDefiningOp();
    insert = dyn_cast_or_null<tensor::InsertSliceOp>(dest);
    if (!insert && !isa_and_nonnull<tensor::EmptyOp>(dest))
      return std::nullopt;
    if (insert && !insert->hasOneUse())
      return std::nullopt;
  }
  std::reverse(concat.pieces.begin(), concat.pieces.end());
  return concat;
}

} // namespace mlc
