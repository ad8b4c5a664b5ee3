//===- Hints.cpp - Wanted places of tensors -------------------------------===//

#include "passes/Distribute/Hints.h"
#include "dialects/Module/States.h"
#include "passes/Distribute/Pin.h"

using namespace mlir;
using llvm::ArrayRef;

namespace mlc::dist {

static bool sums(const Definition &definition) {
  bool found = false;
  for (const Stage &stage : definition.stages)
    for (const Piece &piece : stage.pieces)
      walk(piece.body, [&](const ExprNode &node) {
        found |= node.kind == Expr::Kind::Reduce;
      });
  return found;
}

namespace {

class Finder {
public:
  Finder(Hints &hints, AxisAttr axis) : hints(hints), axis(axis) {}

  void want(Value value, const Place &place) {
    if (place.isSplit())
      hints.wanted.try_emplace(value, place);
  }

  void visit(Operation &op) {
    std::optional<Definition> definition;
    auto follow = [&](TensorId tensor, const Place &place) {
      if (!definition)
        definition = meaningOf(&op);
      // Reductions are split by their operands.
      if (!definition || sums(*definition))
        return;
      if (tensor.isStage)
        tensor.index = definition->results[0];
      auto factor = findFactor(*definition, tensor, place, axis);
      for (auto [i, operand] : llvm::enumerate(op.getOperands()))
        if (factor && factor->inputs[i])
          want(operand, factor->placeOf({false, unsigned(i)}));
    };
    if (op.getNumResults() != 1)
      return;
    if (std::optional<Place> pin = pinnedPlace(&op, axis);
        pin && pin->isSplit())
      hints.wanted[op.getResult(0)] = *pin;
    if (auto it = hints.wanted.find(op.getResult(0)); it != hints.wanted.end())
      follow({true, 0}, Place(it->second));
    for (auto [i, operand] : llvm::enumerate(op.getOperands()))
      if (auto it = states.find(operand); it != states.end())
        follow({false, unsigned(i)}, it->second);
  }

  llvm::DenseMap<Value, Place> states;

private:
  Hints &hints;
  AxisAttr axis;
};

} // namespace

Hints findHints(func::FuncOp function, ArrayRef<Place> arguments,
                ArrayRef<std::optional<Place>> results, AxisAttr axis) {
  Hints hints;
  Finder finder(hints, axis);
  Block &body = function.getBody().front();
  for (auto [argument, place] : llvm::zip(body.getArguments(), arguments)) {
    bool isState =
        function.getArgAttr(argument.getArgNumber(), kStateAttr) != nullptr;
    // Scalars, such as a learning rate, do not count as data: weights need not
    // move to them.
    bool isScalar = cast<RankedTensorType>(argument.getType()).getRank() == 0;
    if (!isState && !isScalar)
      hints.data.insert(argument);
    else if (isState && place.isSplit())
      finder.states[argument] = place;
  }
  for (Operation &op : body)
    if (llvm::any_of(op.getOperands(),
                     [&](Value value) { return hints.data.contains(value); }))
      for (Value result : op.getResults())
        hints.data.insert(result);
  for (auto [value, place] :
       llvm::zip(body.getTerminator()->getOperands(), results))
    if (place) {
      hints.returned.try_emplace(value, *place);
      finder.want(value, *place);
    }
  for (Operation &op : llvm::reverse(body.without_terminator()))
    finder.visit(op);
  return hints;
}

} // namespace mlc::dist
