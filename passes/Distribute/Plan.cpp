//===- Plan.cpp - How ranks share an operator -----------------------------===//

#include "passes/Distribute/Plan.h"
#include "dialects/Definition/Analysis.h"
#include "dialects/Definition/OpInterfaces.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Matchers.h"
#include "passes/Distribute/Hoist.h"
#include "passes/Distribute/Pin.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc::dist {

/// Whether `op` is a collective that changes `dim` of `operand`: no rank can do
/// that to a part.
static bool changesDim(Operation *op, unsigned operand, unsigned dim) {
  auto collective = dyn_cast<StackedOpInterface>(op);
  return collective && collective.changesDim(operand, dim);
}

/// The definition of a collective on dims that it leaves alone. Not valid for
/// those that it changes (see makePlan).
static Definition meaningOfCollective(Operation *op) {
  Value from = op->getOperand(0), to = op->getResult(0);
  auto type = cast<RankedTensorType>(from.getType());
  DefinitionBuilder b(op->getContext(),
                      {TensorShape{dimsOf(from), type.getElementType()}});
  b.result(
      b.stage("y", dimsOf(to), type.getElementType(), [&](ArrayRef<Expr> i) {
        SmallVector<Expr> at(i);
        for (unsigned d = 0; d < at.size(); ++d)
          if (changesDim(op, 0, d))
            at[d] = b.index(0);
        return b.read(0, at);
      }));
  return b.take();
}

std::optional<Definition> meaningOf(Operation *op) {
  if (op->getNumResults() != 1)
    return std::nullopt;
  if (isa<DistDialect>(op->getDialect()))
    return op->getNumOperands() == 1 ? std::optional(meaningOfCollective(op))
                                     : std::nullopt;
  auto defined = dyn_cast<DefinitionOpInterface>(op);
  if (!defined)
    return std::nullopt;
  FailureOr<Definition> definition = getDefinition(defined);
  // The operator was verified, so it has a definition.
  if (failed(definition) || definition->results.size() != 1)
    return std::nullopt;
  return std::move(*definition);
}

bool isZero(Value value) {
  for (unsigned depth = 0; depth < 8; ++depth) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return false;
    DenseElementsAttr constant;
    if (matchPattern(op, m_Constant(&constant)))
      return constant.isSplat() &&
             (matchPattern(op, m_AnyZeroFloat()) || matchPattern(op, m_Zero()));
    std::optional<Definition> definition = meaningOf(op);
    if (!definition || definition->stages.size() != 1 ||
        definition->stages[0].pieces.size() != 1)
      return false;
    const Expr &body = definition->stages[0].pieces[0].body;
    if (body->kind == Expr::Kind::Constant)
      return body->number == 0 && body->integerNumber == 0;
    if (body->kind != Expr::Kind::Read || body->guarded)
      return false;
    value = op->getOperand(body->tensor.index);
  }
  return false;
}

std::optional<Plan> makePlan(Operation *op, const Definition &definition,
                             Factor factor, const Kinds &kinds) {
  std::optional<Partials> partials = findPartials(definition, factor, kinds);
  if (!partials)
    return std::nullopt;
  auto isChanged = [&](const std::optional<SplitDim> &split) {
    return split && changesDim(op, 0, split->dim);
  };
  if (isChanged(factor.stages[definition.results[0]]) ||
      llvm::any_of(factor.inputs, isChanged))
    return std::nullopt;
  Plan plan{definition, std::move(factor), std::move(*partials), {}, {}};
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    plan.operands.push_back(kinds[i] ? Place::partial(*kinds[i])
                                     : plan.factor.placeOf({false, i}));
  unsigned result = definition.results[0];
  plan.result = plan.factor.placeOf({true, result});
  if (std::optional<Reduction> reduction = plan.partials.stages[result])
    plan.result = Place::partial(*reduction);
  return plan;
}

Plan planWhole(Operation *op, const Definition &definition) {
  return *makePlan(op, definition, Factor(definition),
                   Kinds(op->getNumOperands()));
}

std::optional<Plan> planPart(Operation *op, const Definition &definition,
                             const Place &place, AxisAttr axis) {
  auto factor =
      findFactor(definition, {true, definition.results[0]}, place, axis);
  if (!factor)
    return std::nullopt;
  // Whole operands need no halo.
  for (std::optional<SplitDim> &input : factor->inputs)
    if (input && input->hasHalo())
      input.reset();
  auto plan =
      makePlan(op, definition, std::move(*factor), Kinds(op->getNumOperands()));
  if (!plan || plan->partials.isCut() || !plan->result.isSplit())
    return std::nullopt;
  return plan;
}

namespace {

class Chooser {
public:
  Chooser(Operation *op, const Definition &definition, const Parts &parts,
          const Hints &hints, AxisAttr axis)
      : op(op), definition(definition), parts(parts), hints(hints), axis(axis),
        pin(pinnedPlace(op, axis)) {}

  Plan choose() {
    if (pin && pin->isSplit())
      tryFactor({true, definition.results[0]}, *pin);
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      if (Place place = parts.placeOf(operand); place.isSplit())
        tryFactor({false, unsigned(i)}, place);
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      if (auto it = hints.wanted.find(operand); it != hints.wanted.end())
        tryFactor({false, unsigned(i)}, it->second);
    if (auto it = hints.wanted.find(op->getResult(0)); it != hints.wanted.end())
      tryFactor({true, definition.results[0]}, it->second);
    tryPartial(Factor(definition));
    consider(planWhole(op, definition));
    return std::move(*best);
  }

private:
  void tryFactor(TensorId tensor, const Place &place) {
    if (auto factor = findFactor(definition, tensor, place, axis)) {
      tryPartial(*factor);
      if (tryPlan(definition, std::move(*factor)))
        return;
    }
    // With reductions hoisted, so that they can be reduced before use.
    std::optional<Definition> hoisted = hoistReductions(definition);
    if (!hoisted)
      return;
    if (tensor.isStage)
      tensor.index = hoisted->results[0];
    if (auto factor = findFactor(*hoisted, tensor, place, axis))
      tryPlan(*hoisted, std::move(*factor));
  }

  bool tryPlan(const Definition &meaning, Factor factor) {
    // Whole operands need no halo.
    for (auto [input, operand] : llvm::zip(factor.inputs, op->getOperands()))
      if (input && input->hasHalo() && parts.find(operand, Place::whole()))
        input.reset();
    auto plan =
        makePlan(op, meaning, std::move(factor), Kinds(op->getNumOperands()));
    if (plan)
      consider(std::move(*plan));
    return plan.has_value();
  }

  /// Keeps partial operands partial if all terms are. Not if the result is
  /// larger, or if the operands have other readers, unless the result is
  /// returned as partial: each sum is reduced once.
  void tryPartial(const Factor &factor) {
    auto returned = hints.returned.find(op->getResult(0));
    bool isWanted =
        returned != hints.returned.end() && returned->second.isPartial();
    Kinds kinds(op->getNumOperands());
    bool isAny = false, isTerm = false;
    double before = 0;
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      Place place = parts.placeOf(operand);
      if (factor.inputs[i])
        continue;
      if (place.isPartial() && canPass(place.reduction)) {
        kinds[i] = place.reduction;
        isTerm = true;
        if (!isWanted && !isReadHereAlone(operand))
          return;
        if (!parts.find(operand, Place::whole()))
          before += countElements(dimsOf(operand));
      } else if (place.isWhole() && isZero(operand)) {
        kinds[i] = Reduction::Sum;
      }
      isAny |= kinds[i].has_value();
    }
    if (!isAny || (!isTerm && !factor.extent))
      return;
    auto plan = makePlan(op, definition, factor, kinds);
    if (!plan || plan->partials.isCut() || !plan->result.isPartial())
      return;
    if (isTerm && countElements(dimsOf(op->getResult(0))) > before)
      return;
    consider(std::move(*plan));
  }

  bool isReadHereAlone(Value operand) const {
    return llvm::all_of(operand.getUsers(),
                        [&](Operation *user) { return user == op; });
  }

  /// Collectives have their own reduction. If parts are wanted, the operand is
  /// reduced first: a sum over two axes that is split over one is scattered
  /// first.
  bool canPass(Reduction reduction) const {
    if (op->hasAttr(kReduceFirstAttr))
      return false;
    auto own = op->getAttrOfType<StringAttr>("reduction");
    if (!own || !isa<DistDialect>(op->getDialect()))
      return true;
    return own.getValue() == stringifyReduction(reduction) &&
           !hints.wanted.contains(op->getResult(0));
  }

  void consider(Plan plan) {
    for (auto [operand, place] : llvm::zip(op->getOperands(), plan.operands))
      if (!place.isPartial() || parts.placeOf(operand).isPartial())
        count(plan, operand, parts.costOf(operand, place));
    Value result = op->getResult(0);
    if (auto it = hints.returned.find(result);
        it != hints.returned.end() && !plan.result.isPartial())
      count(plan, result,
            bytesOf(dimsOf(result), result) *
                movedShare(plan.result, it->second, axis));
    countLookups(plan, result);
    for (auto [stage, isCut] :
         llvm::zip(plan.definition.stages, plan.partials.cuts))
      if (isCut)
        count(plan, result,
              bytesOf(stage.dims, result) *
                  movedShare(Place::partial(Reduction::Sum), Place::whole(),
                             axis));
    // What gives a split result where it is pinned goes before all others, and
    // to one that is pinned whole, what computes parts.
    const bool misses =
        pin && (pin->isSplit() ? !isSame(plan.result, *pin, axis)
                               : !plan.factor.extent && isWorthSharing());
    if (pin && !isSame(plan.result, *pin, axis))
      count(plan, result,
            mlc::dist::bytesOf(result) * movedShare(plan.result, *pin, axis));
    if (!best || std::tie(misses, plan.dataCost, plan.otherCost) <
                     std::tie(bestMisses, best->dataCost, best->otherCost)) {
      best = std::move(plan);
      bestMisses = misses;
    }
  }

  /// Whether an operator whose result is wanted whole is shared if it can be:
  /// data are split already, or it is much work. A normalization of whole data
  /// by split weights is not.
  bool isWorthSharing() const {
    return getKind(definition).isContraction ||
           llvm::any_of(op->getOperands(), [&](Value operand) {
             return hints.data.contains(operand) &&
                    !parts.placeOf(operand).isWhole();
           });
  }

  /// The partial sum of a lookup counts as a cost of the table, to compare it
  /// with gathering the table; other partial results are sums anyway.
  void countLookups(Plan &plan, Value result) const {
    Place to = Place::whole();
    if (auto it = hints.wanted.find(result);
        it != hints.wanted.end() && it->second.isSplit())
      to = it->second;
    for (auto [input, operand] :
         llvm::zip(plan.factor.inputs, op->getOperands()))
      if (input && input->isLookup)
        count(plan, operand,
              mlc::dist::bytesOf(result) * movedShare(plan.result, to, axis));
  }

  static double bytesOf(ArrayRef<IntExpr> dims, Value like) {
    auto type = cast<RankedTensorType>(like.getType());
    return countElements(dims) * getElementBytes(type.getElementType());
  }

  void count(Plan &plan, Value value, double bytes) const {
    (hints.data.contains(value) ? plan.dataCost : plan.otherCost) += bytes;
  }

  Operation *op;
  const Definition &definition;
  const Parts &parts;
  const Hints &hints;
  AxisAttr axis;
  std::optional<Place> pin;
  std::optional<Plan> best;
  bool bestMisses = false;
};

} // namespace

Plan choosePlan(Operation *op, const Definition &definition, const Parts &parts,
                const Hints &hints, AxisAttr axis) {
  return Chooser(op, definition, parts, hints, axis).choose();
}

} // namespace mlc::dist
