//===- StageOf.cpp - The stages of a step's operators ---------------------===//

#include "passes/Stages/StageOf.h"
#include "dialects/Module/StageFacts.h"
#include "dialects/Module/States.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "runtime/Training.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using Kind = mlc::runtime::schedule::ActionKind;

namespace mlc {

LogicalResult checkStageAttributes(func::FuncOp function) {
  for (Operation &op : function.getBody().front().without_terminator())
    if (Attribute given = op.getAttr(kStageAttr)) {
      auto stage = dyn_cast<IntegerAttr>(given);
      if (!stage || !stage.getType().isInteger(64) || stage.getInt() < 0 ||
          stage.getInt() >= runtime::mostStagesOfAStep)
        return op.emitOpError() << "has " << given << " as " << kStageAttr
                                << ", which is an i64 from 0 to "
                                << runtime::mostStagesOfAStep - 1;
    }
  return success();
}

StageOf::StageOf(func::FuncOp accumulate, bool splitsBackward)
    : function(accumulate) {
  findRepeated();
  findStages();
  findKinds(splitsBackward);
}

/// The role of the state that an argument is; none for other values.
static runtime::StateRole roleOf(func::FuncOp function, Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto state = argument ? function.getArgAttrOfType<StringAttr>(
                              argument.getArgNumber(), kStateAttr)
                        : StringAttr();
  return state ? getStateUse(function->getParentOfType<ModuleOp>(), state).role
               : runtime::StateRole::None;
}

/// An operator that depends on a sum of gradients is not repeated: it is part
/// of the entry that adds to it.
void StageOf::findRepeated() {
  auto isFixed = [&](Value value) {
    if (Operation *op = value.getDefiningOp())
      return repeated.contains(op);
    runtime::StateRole role = roleOf(function, value);
    return role == runtime::StateRole::Weight ||
           role == runtime::StateRole::Rounded;
  };
  for (Operation &op : function.getBody().front().without_terminator())
    if (!op.hasAttr(kBackwardAttr) && llvm::all_of(op.getOperands(), isFixed))
      repeated.insert(&op);
}

void StageOf::findStages() {
  // The stage of an operator that has none yet is -1.
  auto stageOf = [&](Operation *op) -> int64_t {
    auto it = entries.find(op);
    return it == entries.end() ? -1 : it->second.stage;
  };
  Block &body = function.getBody().front();
  for (Operation &op : body.without_terminator()) {
    if (isRepeated(&op))
      continue;
    bool isBackward = op.hasAttr(kBackwardAttr);
    int64_t last = -1, first = -1;
    for (Value operand : op.getOperands()) {
      Operation *source = operand.getDefiningOp();
      int64_t stage = source ? stageOf(source) : -1;
      last = std::max(last, stage);
      // The forward pass of a micro-batch may run before the gradients of
      // another one are added to the sum.
      isBackward |=
          roleOf(function, operand) == runtime::StateRole::GradientSum;
      if (source && backward.contains(source)) {
        isBackward = true;
        first = first < 0 ? stage : std::min(first, stage);
      }
    }
    if (isBackward)
      backward.insert(&op);
    auto given = op.getAttrOfType<IntegerAttr>(kStageAttr);
    entries[&op] = {given       ? given.getInt()
                    : first < 0 ? last
                                : first,
                    Kind::Forward};
    count = std::max(count, entries[&op].stage + 1);
  }
  // What reads no stage comes before all that read it.
  for (Operation &op : llvm::reverse(body.without_terminator())) {
    if (isRepeated(&op) || stageOf(&op) >= 0)
      continue;
    int64_t first = -1;
    for (Operation *user : op.getUsers())
      if (int64_t stage = stageOf(user); stage >= 0)
        first = first < 0 ? stage : std::min(first, stage);
    entries[&op].stage = std::max<int64_t>(first, 0);
  }
}

void StageOf::findKinds(bool splitsBackward) {
  for (Operation &op :
       llvm::reverse(function.getBody().front().without_terminator())) {
    if (!backward.contains(&op))
      continue;
    StageEntry &own = entries[&op];
    own.kind = splitsBackward ? Kind::WeightGradient : Kind::Backward;
    for (Operation *user : op.getUsers())
      if (auto it = entries.find(user);
          splitsBackward && it != entries.end() &&
          (it->second.stage != own.stage ||
           it->second.kind == Kind::InputGradient))
        own.kind = Kind::InputGradient;
  }
}

} // namespace mlc
