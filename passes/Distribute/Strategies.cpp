//===- Strategies.cpp - All ways to share an operator ---------------------===//

#include "passes/Distribute/Strategies.h"
#include "passes/Distribute/Hoist.h"

using namespace mlir;
using llvm::SmallVector;

namespace mlc::dist {

SmallVector<Place> listSplits(Value value, AxisAttr axis) {
  SmallVector<Place> splits;
  const auto ranks = static_cast<int64_t>(countRanks(axis));
  for (auto [d, extent] : llvm::enumerate(dimsOf(value)))
    if (auto size = extent.asConstant(); size && *size && *size % ranks == 0)
      splits.push_back(
          Place::split(d, extent, IntExpr::constant(axis.getContext(), 1)));
  return splits;
}

namespace {

class Lister {
public:
  Lister(Operation *op, const Definition &definition, AxisAttr axis)
      : op(op), definition(definition), axis(axis) {}

  std::vector<Plan> list() {
    add(makePlan(op, definition, Factor(definition),
                 Kinds(op->getNumOperands())));
    for (const Place &place : listSplits(op->getResult(0), axis))
      tryFactor({true, definition.results[0]}, place);
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      for (const Place &place : listSplits(operand, axis))
        tryFactor({false, unsigned(i)}, place);
    tryPartial();
    return std::move(plans);
  }

private:
  void tryFactor(TensorId tensor, const Place &place) {
    if (auto factor = findFactor(definition, tensor, place, axis))
      if (add(makePlan(op, definition, std::move(*factor),
                       Kinds(op->getNumOperands()))))
        return;
    std::optional<Definition> hoisted = hoistReductions(definition);
    if (!hoisted)
      return;
    if (tensor.isStage)
      tensor.index = hoisted->results[0];
    if (auto factor = findFactor(*hoisted, tensor, place, axis))
      add(makePlan(op, *hoisted, std::move(*factor),
                   Kinds(op->getNumOperands())));
  }

  /// Each operand alone, and all together.
  void tryPartial() {
    const unsigned count = op->getNumOperands();
    if (count == 0 || op->hasAttr(kReduceFirstAttr) ||
        isa<DistDialect>(op->getDialect()))
      return;
    auto tryKinds = [&](const Kinds &kinds) {
      auto plan = makePlan(op, definition, Factor(definition), kinds);
      if (plan && !plan->partials.isCut() && plan->result.isPartial())
        add(std::move(plan));
    };
    for (unsigned i = 0; i < count; ++i) {
      Kinds kinds(count);
      kinds[i] = Reduction::Sum;
      tryKinds(kinds);
    }
    if (count > 1)
      tryKinds(Kinds(count, Reduction::Sum));
  }

  /// Whether there is a plan, new or not.
  bool add(std::optional<Plan> plan) {
    if (!plan)
      return false;
    const bool isKnown = llvm::any_of(plans, [&](const Plan &known) {
      return isSame(known.result, plan->result, axis) &&
             llvm::all_of(llvm::zip(known.operands, plan->operands),
                          [&](auto places) {
                            return isSame(std::get<0>(places),
                                          std::get<1>(places), axis);
                          });
    });
    if (!isKnown)
      plans.push_back(std::move(*plan));
    return true;
  }

  Operation *op;
  const Definition &definition;
  AxisAttr axis;
  std::vector<Plan> plans;
};

} // namespace

std::vector<Plan> listPlans(Operation *op, const Definition &definition,
                            AxisAttr axis) {
  return Lister(op, definition, axis).list();
}

} // namespace mlc::dist
