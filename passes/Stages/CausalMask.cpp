//===- CausalMask.cpp - Masks that hide later positions -------------------===//

#include "passes/Stages/CausalMask.h"
#include "dialects/Evaluator/EvaluatorTensor.h"
#include "dialects/Graph/ModelOps.h"
#include "dialects/Graph/MovementOps.h"
#include "dialects/Graph/PointwiseOps.h"
#include "dialects/Graph/ReductionOps.h"

#include <algorithm>

using namespace mlir;

namespace mlc {

/// exp of a float or double below this is 0, beside anything that a network
/// has.
static constexpr double hidden = -1e8;

/// A constant that may be broadcast; an empty tensor for others.
static EvalTensor constantOf(Value value) {
  while (auto broadcast = value.getDefiningOp<BroadcastOp>())
    value = broadcast.getX();
  auto constant = value.getDefiningOp<ConstantOp>();
  if (!constant)
    return {};
  auto elements = EvalTensor::fromAttr(constant.getValue());
  if (elements)
    return *elements;
  llvm::consumeError(elements.takeError());
  return {};
}

/// Whether a mask of positions by positions, which may be broadcast over other
/// dims, hides all later ones, and none from itself.
static bool hidesLater(Value value, unsigned rows, unsigned columns,
                       llvm::function_ref<bool(double)> isHidden) {
  const EvalTensor mask = constantOf(value);
  if (!mask || int64_t(std::max(rows, columns)) >= mask.getRank())
    return false;
  const int64_t size = mask.getDims()[rows];
  if (size < 2 || size != mask.getDims()[columns])
    return false;
  auto stride = [&](unsigned dim) {
    int64_t size = 1;
    for (int64_t inner : mask.getDims().drop_front(dim + 1))
      size *= inner;
    return size;
  };
  const int64_t rowStride = stride(rows), columnStride = stride(columns);
  for (int64_t i = 0; i < mask.getNumElements(); ++i) {
    const int64_t row = i / rowStride % size, column = i / columnStride % size;
    if (column >= row && isHidden(mask.getDouble(i)) != (column > row))
      return false;
  }
  return true;
}

/// A number to add that hides later positions.
static bool hidesByAdding(Value mask, unsigned rows, unsigned columns) {
  return hidesLater(mask, rows, columns,
                    [](double number) { return number <= hidden; });
}

/// A condition under which later positions are a number that hides them.
static bool hidesByChoice(SelectOp select, bool whenTrue, unsigned rows,
                          unsigned columns) {
  const EvalTensor number =
      constantOf(whenTrue ? select.getThen() : select.getOtherwise());
  return number && number.getNumElements() == 1 &&
         number.getDouble(0) <= hidden &&
         hidesLater(select.getCondition(), rows, columns,
                    [&](double holds) { return (holds != 0) == whenTrue; });
}

Later laterOf(Operation *op, unsigned scores, Later later, unsigned rows,
              unsigned columns) {
  if (auto softmax = dyn_cast<SoftmaxOp>(op))
    return later == Later::Hidden &&
                   int64_t(softmax.getAxis()) == int64_t(columns)
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
