//===- DefinitionMoves.cpp - Reads that are views of a tensor -------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Lower/DefinitionLowering.h"
#include "passes/Lower/ElementTypes.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc {

/// How far the indices reach out of the tensor on both sides; nothing if the
/// out-of-range value is not a constant.
std::optional<DefinitionLowering::Padding>
DefinitionLowering::getPadding(const ExprNode &read,
                               ArrayRef<AffineIndex> indices) const {
  TensorShape shape = definition.shapeOf(read.tensor);
  IntExpr zero = IntExpr::constant(b.getContext(), 0);
  Padding padding;
  bool any = false;
  for (auto [index, dim] : llvm::zip_equal(indices, shape.dims)) {
    IntExpr low = zero, high = zero;
    if (read.guarded) {
      low = IntExpr::max(zero, -index.lowest());
      high = IntExpr::max(zero, index.highest() - (dim - 1));
    }
    any |= !low.isConstant(0) || !high.isConstant(0);
    padding.low.push_back(low);
    padding.high.push_back(high);
  }
  if (any && read.operands.back()->kind != Expr::Kind::Constant)
    return std::nullopt;
  return padding;
}

TypedAttr DefinitionLowering::getConstantAttr(const ExprNode &node) {
  Type type = lowerElementType(node.type);
  if (isa<FloatType>(type))
    return b.getFloatAttr(type, node.number);
  return b.getIntegerAttr(type, node.integerNumber);
}

static SmallVector<IntExpr> paddedDims(ArrayRef<IntExpr> dims,
                                       ArrayRef<IntExpr> low,
                                       ArrayRef<IntExpr> high) {
  SmallVector<IntExpr> result;
  for (auto [dim, before, after] : llvm::zip_equal(dims, low, high))
    result.push_back(before + dim + after);
  return result;
}

Value DefinitionLowering::pad(Value tensor, ArrayRef<IntExpr> dims,
                              const Padding &padding,
                              const ExprNode &otherwise) {
  auto isZero = [](IntExpr e) { return e.isConstant(0); };
  if (llvm::all_of(padding.low, isZero) && llvm::all_of(padding.high, isZero))
    return tensor;
  Value value = arith::ConstantOp::create(b, loc, getConstantAttr(otherwise));
  RankedTensorType type = getLoweredType(
      paddedDims(dims, padding.low, padding.high), otherwise.type);
  return tensor::PadOp::create(b, loc, type, tensor,
                               sizes.getMixed(padding.low),
                               sizes.getMixed(padding.high), value);
}

Value DefinitionLowering::slice(Value tensor, ArrayRef<IntExpr> offsets,
                                ArrayRef<IntExpr> dims,
                                ArrayRef<IntExpr> steps) {
  Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  return tensor::ExtractSliceOp::create(
      b, loc, getLoweredType(dims, element), tensor, sizes.getMixed(offsets),
      sizes.getMixed(dims), sizes.getMixed(steps));
}

std::optional<DefinitionLowering::Access>
DefinitionLowering::getAccess(const ExprNode &read, const LoopNest &nest) {
  MLIRContext *context = b.getContext();
  SmallVector<AffineIndex> indices;
  for (const Expr &index : read.indices()) {
    std::optional<AffineIndex> affine = getAffineIndex(index, nest);
    if (!affine)
      return std::nullopt;
    indices.push_back(*affine);
  }
  std::optional<Padding> padding = getPadding(read, indices);
  if (!padding)
    return std::nullopt;
  SmallVector<IntExpr> dims = paddedDims(definition.shapeOf(read.tensor).dims,
                                         padding->low, padding->high);
  IntExpr zero = IntExpr::constant(context, 0);
  SmallVector<IntExpr> offsets(dims.size(), zero), sliced(dims);
  SmallVector<AffineExpr> results;
  bool needsSlice = false;
  for (auto [d, index] : llvm::enumerate(indices)) {
    IntExpr offset = index.offset + padding->low[d];
    AffineExpr expr = index.expr;
    // A loop that alone indexes a dim gives linalg the loop's extent, so the
    // dim must have that size; maps cannot have symbolic offsets.
    bool isShorter =
        index.isLoop() && offset.isConstant(0) &&
        !areEqual(dims[d],
                  nest.loops[cast<AffineDimExpr>(expr).getPosition()].extent);
    if (offset.isConstant() && !isShorter) {
      results.push_back(expr + offset.getConstant());
      continue;
    }
    if (!index.min.isConstant(0))
      return std::nullopt;
    needsSlice = true;
    offsets[d] = offset;
    // max + 1 may be negative for an empty window.
    sliced[d] = IntExpr::max(zero, index.max + 1);
    results.push_back(expr);
  }
  Value tensor = valueOf(read.tensor);
  if (read.guarded)
    tensor = pad(tensor, definition.shapeOf(read.tensor).dims, *padding,
                 *read.operands.back());
  if (needsSlice)
    tensor =
        slice(tensor, offsets, sliced,
              SmallVector<IntExpr>(dims.size(), IntExpr::constant(context, 1)));
  return Access{tensor, AffineMap::get(nest.size(), 0, results, context)};
}

/// The loop and step of an index `loop * step + offset`; step 1 and no loop
/// for a constant.
static std::optional<int64_t> getStep(const AffineIndex &index, unsigned loop) {
  if (index.isConstant())
    return 1;
  AffineExpr dim = getAffineDimExpr(loop, index.expr.getContext());
  if (index.expr == dim)
    return 1;
  auto mul = dyn_cast<AffineBinaryOpExpr>(index.expr);
  if (!mul || mul.getKind() != AffineExprKind::Mul || mul.getLHS() != dim)
    return std::nullopt;
  auto step = dyn_cast<AffineConstantExpr>(mul.getRHS());
  if (!step || step.getValue() < 1)
    return std::nullopt;
  return step.getValue();
}

Value DefinitionLowering::lowerMove(const LoopNest &nest,
                                    const ExprNode &read) {
  TensorShape shape = definition.shapeOf(read.tensor);
  if (shape.dims.size() != nest.size())
    return {};
  MLIRContext *context = b.getContext();
  SmallVector<AffineIndex> indices;
  SmallVector<IntExpr> steps;
  for (auto [d, index] : llvm::enumerate(read.indices())) {
    std::optional<AffineIndex> affine = getAffineIndex(index, nest);
    if (!affine)
      return {};
    // A constant index needs a box of extent 1 in this dim, not a broadcast.
    if (affine->isConstant() && !nest.loops[d].extent.isConstant(1))
      return {};
    std::optional<int64_t> step = getStep(*affine, d);
    if (!step)
      return {};
    indices.push_back(*affine);
    steps.push_back(IntExpr::constant(context, *step));
  }
  std::optional<Padding> padding = getPadding(read, indices);
  if (!padding)
    return {};
  SmallVector<IntExpr> dims =
      paddedDims(shape.dims, padding->low, padding->high);
  SmallVector<IntExpr> offsets, extents;
  bool isWhole = true;
  for (auto [d, index] : llvm::enumerate(indices)) {
    offsets.push_back(index.offset + padding->low[d]);
    extents.push_back(nest.loops[d].extent);
    isWhole &= offsets[d].isConstant(0) && areEqual(dims[d], extents[d]) &&
               steps[d].isConstant(1);
  }
  Value tensor = valueOf(read.tensor);
  if (read.guarded)
    tensor = pad(tensor, shape.dims, *padding, *read.operands.back());
  if (!isWhole)
    return slice(tensor, offsets, extents, steps);
  RankedTensorType type = getLoweredType(extents, read.type);
  if (tensor.getType() != type)
    tensor = tensor::CastOp::create(b, loc, type, tensor);
  return tensor;
}

} // namespace mlc
