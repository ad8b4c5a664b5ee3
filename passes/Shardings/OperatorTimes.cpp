//===- OperatorTimes.cpp - What operators of a graph take -----------------===//

#include "dialects/Module/StageFacts.h"
#include "dialects/Module/States.h"
#include "passes/Distribute/Place.h"
#include "passes/Shardings/ModelOperators.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using llvm::SmallVector;

namespace mlc::dist {

using planner::OperatorGraph;
using planner::StepOperator;

/// The weight that an operation without a stage updates, by what is made of
/// its results; operations of several weights belong to the first one.
static void addUpdates(func::FuncOp step, const OperatorPrices &prices,
                       const llvm::StringMap<size_t> &numbers,
                       OperatorGraph &graph) {
  llvm::DenseMap<Operation *, size_t> ownerOf;
  SmallVector<Operation *> open;
  auto claim = [&](Value value, size_t owner) {
    Operation *op = value.getDefiningOp();
    if (op && !op->hasAttr(kStageAttr) && ownerOf.try_emplace(op, owner).second)
      open.push_back(op);
  };
  for (auto [i, value] :
       llvm::enumerate(step.getBody().front().getTerminator()->getOperands()))
    if (auto state = step.getResultAttrOfType<StringAttr>(i, kStateAttr))
      if (auto it = numbers.find(prices.ownerOf(state.getValue()));
          it != numbers.end())
        claim(value, it->second);
  while (!open.empty()) {
    Operation *op = open.pop_back_val();
    const size_t owner = ownerOf.lookup(op);
    for (size_t kind = 0; kind < graph.kinds; ++kind)
      graph.weights[owner].updateSeconds[kind] += prices.seconds(op, kind);
    for (Value operand : op->getOperands())
      claim(operand, owner);
  }
}

void addTimes(func::FuncOp step, const OperatorPrices &prices,
              OperatorGraph &graph) {
  graph.kinds = prices.kinds;
  for (StepOperator &op : graph.operators) {
    op.forwardSeconds.assign(graph.kinds, 0);
    op.backwardSeconds.assign(graph.kinds, 0);
  }
  for (planner::StepWeight &weight : graph.weights) {
    weight.updateSeconds.assign(graph.kinds, 0);
    weight.stateBytes = 0;
  }
  for (Operation &op : step.getBody().front().without_terminator()) {
    auto stage = op.getAttrOfType<IntegerAttr>(kStageAttr);
    if (!stage || stage.getInt() < 0 ||
        size_t(stage.getInt()) >= graph.operators.size())
      continue;
    StepOperator &own = graph.operators[stage.getInt()];
    std::vector<double> &times =
        op.hasAttr(kBackwardAttr) ? own.backwardSeconds : own.forwardSeconds;
    for (size_t kind = 0; kind < graph.kinds; ++kind)
      times[kind] += prices.seconds(&op, kind);
  }
  llvm::StringMap<size_t> numbers;
  for (auto [i, weight] : llvm::enumerate(graph.weights))
    numbers[weight.name] = i;
  for (BlockArgument argument : step.getArguments())
    if (auto state = step.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                       kStateAttr))
      if (auto it = numbers.find(prices.ownerOf(state.getValue()));
          it != numbers.end())
        graph.weights[it->second].stateBytes +=
            int64_t(bytesOf(Value(argument)));
  addUpdates(step, prices, numbers, graph);
}

} // namespace mlc::dist
