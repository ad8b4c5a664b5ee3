//===- Rows.cpp - Operators on slices of positions ------------------------===//

#include "passes/Stages/Rows.h"
#include "dialects/Definition/OpInterfaces.h"
#include "passes/Distribute/Localize.h"
#include "passes/Distribute/Operators.h"

using namespace mlir;
using llvm::ArrayRef;

namespace mlc {

using dist::Factor;
using dist::Place;
using dist::SplitDim;

/// Whether a reduction runs over a loop of the factor.
static bool reduces(const Definition &definition, const Factor &factor) {
  bool found = false;
  for (const Stage &stage : definition.stages)
    for (const Piece &piece : stage.pieces)
      walk(piece.body, [&](const ExprNode &node) {
        for (const Loop &loop : node.loops)
          found |= factor.loops.contains(loop.id);
      });
  return found;
}

static bool isPlain(const std::optional<SplitDim> &split) {
  return !split || (!split->hasHalo() && !split->isLookup);
}

static const std::optional<SplitDim> &resultOf(const Definition &definition,
                                               const Factor &factor) {
  return factor.stages[definition.results[0]];
}

static std::optional<Rows> matchRows(const Definition &definition,
                                     const Factor &factor,
                                     ArrayRef<std::optional<Place>> places,
                                     dist::AxisAttr axis) {
  if (!resultOf(definition, factor) || reduces(definition, factor) ||
      !llvm::all_of(factor.inputs, isPlain) ||
      !llvm::all_of(factor.stages, isPlain))
    return std::nullopt;
  Rows rows{factor, {}, {}, {}};
  for (auto [i, place] : llvm::enumerate(places)) {
    const bool isSplit = factor.inputs[i].has_value();
    const Place own = factor.placeOf({false, unsigned(i)});
    if (place && isSplit && !dist::isSame(own, *place, axis))
      return std::nullopt;
    rows.kinds.push_back(isSplit ? Rows::Part
                         : place ? Rows::Whole
                                 : Rows::Own);
    rows.operands.push_back(isSplit ? std::optional<Place>(own)
                                    : std::optional<Place>());
  }
  rows.result = factor.placeOf({true, definition.results[0]});
  return rows;
}

std::optional<Rows> findRows(const Definition &definition,
                             ArrayRef<std::optional<Place>> places,
                             dist::AxisAttr axis) {
  for (auto [i, place] : llvm::enumerate(places)) {
    if (!place)
      continue;
    std::optional<Factor> factor =
        findFactor(definition, {false, unsigned(i)}, *place, axis);
    if (!factor)
      continue;
    if (auto rows = matchRows(definition, *factor, places, axis))
      return rows;
  }
  return std::nullopt;
}

std::optional<unsigned> findDim(const Definition &definition, unsigned operand,
                                const Place &place, dist::AxisAttr axis) {
  std::optional<Factor> factor =
      findFactor(definition, {false, operand}, place, axis);
  if (!factor || reduces(definition, *factor) ||
      !llvm::all_of(factor->inputs, isPlain) ||
      !llvm::all_of(factor->stages, isPlain))
    return std::nullopt;
  const std::optional<SplitDim> &split = resultOf(definition, *factor);
  if (!split || split->unit != IntExpr::constant(axis.getContext(), 1))
    return std::nullopt;
  return split->dim;
}

bool isContracted(const Definition &definition, unsigned a, const Place &alongA,
                  unsigned b, const Place &alongB, dist::AxisAttr axis) {
  std::optional<Factor> factor =
      findFactor(definition, {false, a}, alongA, axis);
  return factor && !resultOf(definition, *factor) &&
         definition.stages.size() == 1 && factor->inputs[b] &&
         llvm::all_of(factor->inputs, isPlain) &&
         dist::isSame(factor->placeOf({false, b}), alongB, axis) &&
         factor->inputs[b]->dim == alongB.dim;
}

Operation *createRows(OpBuilder &builder, Operation *op,
                      const Definition &definition, const Rows &rows,
                      ValueRange operands, dist::AxisAttr axis) {
  Definition local = dist::localize(definition, rows.factor, axis);
  Operation *made =
      dist::rebuild(builder, op, operands, local.stages[local.results[0]].dims);
  if (!made)
    return nullptr;
  FailureOr<Definition> own = getDefinition(cast<DefinitionOpInterface>(made));
  if (succeeded(own) && dist::isEqual(*own, local))
    return made;
  made->erase();
  return nullptr;
}

} // namespace mlc
