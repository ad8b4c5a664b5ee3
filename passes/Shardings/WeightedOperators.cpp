//===- WeightedOperators.cpp - Products with weights ----------------------===//

#include "passes/Shardings/WeightedOperators.h"
#include "dialects/Definition/Analysis.h"
#include "dialects/Graph/ConvolutionOps.h"
#include "dialects/Module/CompileTime.h"
#include "passes/Distribute/Strategies.h"

using namespace mlir;

namespace mlc::dist {

/// The weight that is an argument; null for others.
static StringAttr nameOfWeight(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto main = argument
                  ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp())
                  : func::FuncOp();
  const unsigned i = argument ? argument.getArgNumber() : 0;
  return main && main.getArgAttr(i, kParameterAttr)
             ? main.getArgAttrOfType<StringAttr>(i, "mlc.name")
             : StringAttr();
}

bool isOfWeight(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (op->getNumOperands() != 1)
      return false;
    value = op->getOperand(0);
  }
  return nameOfWeight(value) != nullptr;
}

std::optional<WeightDim> findWeightDim(Value value, const Place &place,
                                       AxisAttr axis) {
  Place here = place;
  while (Operation *op = value.getDefiningOp()) {
    auto definition =
        op->getNumOperands() == 1 ? meaningOf(op) : std::optional<Definition>();
    auto factor = definition
                      ? findFactor(*definition, {true, definition->results[0]},
                                   here, axis)
                      : std::nullopt;
    if (!factor || !factor->inputs[0])
      return std::nullopt;
    here = factor->placeOf({false, 0});
    value = op->getOperand(0);
  }
  StringAttr name = nameOfWeight(value);
  const Place plain = Place::split(here.dim, dimsOf(value)[here.dim],
                                   IntExpr::constant(axis.getContext(), 1));
  if (!name || !isSame(here, plain, axis))
    return std::nullopt;
  return WeightDim{name.str(), here.dim};
}

std::optional<Weighted> findWeighted(Operation *op, AxisAttr axis) {
  std::optional<Definition> definition = meaningOf(op);
  std::optional<unsigned> weight;
  bool hasData = false;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    const bool isWeight = isOfWeight(operand);
    if (isWeight && !weight)
      weight = i;
    hasData |= !isWeight;
  }
  if (!definition || !weight || !hasData)
    return std::nullopt;
  using Kind = Weighted::Kind;
  if (getKind(*definition).isContraction)
    return Weighted{op,
                    isa<ConvOp, ConvTransposeOp>(op) ? Kind::Convolution
                                                     : Kind::Product,
                    std::move(*definition), *weight};
  for (const Place &place : listSplits(op->getOperand(*weight), axis))
    if (auto factor = findFactor(*definition, {false, *weight}, place, axis);
        factor && factor->isLookup({false, *weight}))
      return Weighted{op, Kind::Lookup, std::move(*definition), *weight};
  return std::nullopt;
}

std::optional<Place> findColumns(const Weighted &weighted, AxisAttr axis) {
  const Definition &definition = weighted.definition;
  const llvm::SmallVector<Place> splits =
      listSplits(weighted.op->getResult(0), axis);
  for (const Place &place : llvm::reverse(splits)) {
    auto factor =
        findFactor(definition, {true, definition.results[0]}, place, axis);
    if (!factor || !factor->inputs[weighted.weight])
      continue;
    bool isAlone = true;
    for (auto [i, operand] : llvm::enumerate(weighted.op->getOperands()))
      isAlone &= isOfWeight(operand) || !factor->inputs[i];
    if (isAlone)
      return place;
  }
  return std::nullopt;
}

} // namespace mlc::dist
