//===- CausalMask.cpp - Masks that hide later positions -------------------===//

#include "passes/Stages/CausalMask.h"
#include "dialects/Graph/ModelOps.h"
#include "dialects/Graph/MovementOps.h"
#include "dialects/Graph/PointwiseOps.h"
#include "dialects/Graph/ReductionOps.h"

#include <functional>

using namespace mlir;

namespace mlc {

/// exp of a float or double below this is 0, beside anything that a network
/// has.
static constexpr double hidden = -1e8;

/// Whether `isRight` holds for all elements, with row and column, of a constant
/// that may be broadcast over other dims.
static bool
allOf(Value value, unsigned rows, unsigned columns,
      llvm::function_ref<bool(int64_t, int64_t, const APFloat *, const APInt *)>
          isRight) {
  while (auto broadcast = value.getDefiningOp<BroadcastOp>())
    value = broadcast.getX();
  auto constant = value.getDefiningOp<ConstantOp>();
  auto type = cast<RankedTensorType>(value.getType());
  if (!constant || rows >= type.getRank() || columns >= type.getRank() ||
      type.getDimSize(rows) < 2 ||
      type.getDimSize(rows) != type.getDimSize(columns))
    return false;
  auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (!elements)
    return false;
  auto stride = [&](unsigned dim) {
    int64_t size = 1;
    for (int64_t d = dim + 1; d < type.getRank(); ++d)
      size *= type.getDimSize(d);
    return size;
  };
  const int64_t rowStride = stride(rows), columnStride = stride(columns),
                size = type.getDimSize(rows);
  const bool isFloat = isa<FloatType>(type.getElementType());
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    const int64_t row = i / rowStride % size, column = i / columnStride % size;
    std::optional<APFloat> number;
    std::optional<APInt> integer;
    if (isFloat)
      number = *(elements.value_begin<APFloat>() + i);
    else
      integer = *(elements.value_begin<APInt>() + i);
    if (!isRight(row, column, number ? &*number : nullptr,
                 integer ? &*integer : nullptr))
      return false;
  }
  return true;
}

/// A number to add that hides later positions, and no position from itself.
static bool hidesByAdding(Value mask, unsigned rows, unsigned columns) {
  return allOf(
      mask, rows, columns,
      [](int64_t row, int64_t column, const APFloat *number, const APInt *) {
        if (!number || number->isNaN())
          return false;
        const bool isHidden = number->convertToDouble() <= hidden;
        return column > row ? isHidden : column < row || !isHidden;
      });
}

/// A condition under which later positions are `replacement`.
static bool hidesByChoice(SelectOp select, bool whenTrue, unsigned rows,
                          unsigned columns) {
  Value replacement = whenTrue ? select.getThen() : select.getOtherwise();
  while (auto broadcast = replacement.getDefiningOp<BroadcastOp>())
    replacement = broadcast.getX();
  auto constant = replacement.getDefiningOp<ConstantOp>();
  auto elements =
      constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : nullptr;
  if (!elements || !elements.isSplat() ||
      !isa<FloatType>(elements.getElementType()) ||
      !(elements.getSplatValue<APFloat>().convertToDouble() <= hidden))
    return false;
  return allOf(select.getCondition(), rows, columns,
               [&](int64_t row, int64_t column, const APFloat *,
                   const APInt *condition) {
                 if (!condition)
                   return false;
                 const bool isHidden = !condition->isZero() == whenTrue;
                 return column > row ? isHidden : column < row || !isHidden;
               });
}

Later laterOf(Operation *op, unsigned scores, Later later, unsigned rows,
              unsigned columns) {
  if (auto softmax = dyn_cast<SoftmaxOp>(op))
    return later == Later::Hidden && softmax.getAxis() == int64_t(columns)
               ? Later::Zero
               : Later::Mixed;
  if (later == Later::Zero)
    return isa<CastOp>(op) ? Later::Zero : Later::Mixed;
  if (later == Later::Hidden)
    return Later::Mixed;
  if (auto add = dyn_cast<AddOp>(op))
    if (hidesByAdding(add->getOperand(1 - scores), rows, columns))
      return Later::Hidden;
  if (auto select = dyn_cast<SelectOp>(op); select && scores > 0)
    if (hidesByChoice(select, /*whenTrue=*/scores == 2, rows, columns))
      return Later::Hidden;
  return Later::Unknown;
}

} // namespace mlc
