//===- Rank.cpp - A function of one rank along one axis -------------------===//

#include "passes/Distribute/Rank.h"
#include "dialects/Interfaces/OpInterfaces.h"
#include "dialects/Interfaces/States.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Distribute/Operators.h"
#include "passes/Distribute/TopK.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc::dist {

namespace {

class RankMaker {
public:
  RankMaker(func::FuncOp function, AxisAttr axis,
            const PartitionOptions &options)
      : function(function), axis(axis), options(options),
        builder(function.getContext()), parts(builder, axis, options) {
    parts.costOfDeferred = [&](Value value, const Place &place) {
      return planDeferred(value, place).second;
    };
  }

  LogicalResult run(ArrayRef<Place> arguments,
                    llvm::MutableArrayRef<std::optional<Place>> results) {
    SmallVector<std::optional<Place>> wanted(results.begin(), results.end());
    hints = findHints(function, arguments, wanted, axis);
    Block &old = function.getBody().front();
    Block *made = new Block();
    function.getBody().push_back(made);
    builder.setInsertionPointToEnd(made);
    for (auto [argument, place] : llvm::zip(old.getArguments(), arguments))
      addArgument(*made, argument, place);
    Operation *loss = options.regather ? findLoss(old) : nullptr;
    for (Operation &op : old.without_terminator()) {
      if (failed(visit(&op)))
        return failure();
      if (&op == loss)
        parts.forgetStates();
    }
    if (failed(finish(old, results)))
      return failure();
    while (!old.empty())
      old.back().erase();
    old.erase();
    eraseDead(*made);
    return success();
  }

private:
  /// What was brought for an operator that had no form on parts.
  static void eraseDead(Block &made) {
    SmallVector<Operation *> operators;
    for (Operation &op : made.without_terminator())
      operators.push_back(&op);
    for (Operation *op : llvm::reverse(operators))
      if (isOpTriviallyDead(op))
        op->erase();
  }

  void addArgument(Block &made, BlockArgument argument, const Place &place) {
    auto type = cast<RankedTensorType>(argument.getType());
    Value part =
        made.addArgument(getTensorType(partDims(dimsOf(argument), place, axis),
                                       type.getElementType()),
                         argument.getLoc());
    bool isState =
        function.getArgAttr(argument.getArgNumber(), kStateAttr) != nullptr;
    parts.set(argument, place, part);
    if (isState)
      parts.setState(argument);
  }

  /// What makes the first result that is no state; gradients come behind it.
  Operation *findLoss(Block &old) {
    for (auto [i, value] : llvm::enumerate(old.getTerminator()->getOperands()))
      if (!function.getResultAttr(i, kStateAttr))
        return value.getDefiningOp();
    return nullptr;
  }

  LogicalResult visit(Operation *op) {
    std::optional<Definition> definition = meaningOf(op);
    if (!definition)
      return visitOpaque(op);
    if (std::optional<Place> place = placeOfDeferred(op, *definition))
      return defer(op, *definition, *place);
    Plan plan = choosePlan(op, *definition, parts, hints, axis);
    if (!llvm::all_of(plan.operands,
                      [](const Place &p) { return p.isWhole(); }))
      return emit(op, plan);
    // Exchanges begin early.
    for (Value operand : op->getOperands())
      if (!parts.placeOf(operand).isWhole() &&
          failed(get(operand, Place::whole())))
        return failure();
    return defer(op, *definition, Place::whole());
  }

  /// Where the result of an operator will be that is better made when it is
  /// known who needs it: what all ranks can compute, and what is made of states
  /// alone, which come to where the activations are. Nothing of others.
  std::optional<Place> placeOfDeferred(Operation *op,
                                       const Definition &definition) {
    std::optional<Place> place = Place::whole();
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      Place own = parts.placeOf(operand);
      if (own.isPartial())
        return std::nullopt;
      if (own.isWhole() || place->isSplit())
        continue;
      auto factor = findFactor(definition, {false, unsigned(i)}, own, axis);
      if (!factor || hints.data.contains(op->getResult(0)))
        return std::nullopt;
      place = factor->placeOf({true, definition.results[0]});
      if (!place->isSplit() || !planPart(op, definition, *place, axis))
        return std::nullopt;
    }
    return place;
  }

  /// What it goes through is not deep, and less so where it has choices.
  LogicalResult defer(Operation *op, const Definition &definition,
                      const Place &place) {
    unsigned depth = 0;
    for (Value operand : op->getOperands())
      if (parts.isDeferred(operand))
        depth = std::max(depth, depths.lookup(operand) + 1);
    if (depth >= (place.isSplit() ? kMaxChoices : kMaxDepth))
      return emit(op, choosePlan(op, definition, parts, hints, axis));
    parts.setDeferred(op->getResult(0), place);
    depths[op->getResult(0)] = depth;
    return success();
  }

  /// What it takes to have all operands where a plan has them.
  double costOf(Operation *op, const Plan &plan) const {
    double cost = 0;
    for (auto [operand, place] : llvm::zip(op->getOperands(), plan.operands))
      cost += parts.costOf(operand, place);
    return cost;
  }

  /// The cheapest way to a deferred result at `place`: as a part, or all, or,
  /// where all is wanted, as parts that are gathered.
  std::pair<Plan, double> planDeferred(Value value, const Place &place) const {
    Operation *op = value.getDefiningOp();
    std::optional<Definition> definition = meaningOf(op);
    Plan whole = planWhole(op, *definition);
    double cost = costOf(op, whole);
    Place first = place.isSplit() ? place : parts.placeOf(value);
    if (!first.isSplit())
      return {std::move(whole), cost};
    auto part = planPart(op, *definition, first, axis);
    if (!part)
      return {std::move(whole), cost};
    double partCost = costOf(op, *part);
    if (!place.isSplit())
      partCost += bytesOf(value) * movedShare(first, place, axis);
    bool isPart = partCost < cost || (place.isSplit() && partCost == cost);
    return isPart ? std::pair(std::move(*part), partCost)
                  : std::pair(std::move(whole), cost);
  }

  LogicalResult visitOpaque(Operation *op) {
    auto top = dyn_cast<TopKOp>(op);
    if (!top)
      return copyWhole(op);
    FailureOr<bool> isMade =
        emitTopK(builder, top, parts, hints, axis,
                 [&](Value value, const Place &p) { return get(value, p); });
    if (failed(isMade))
      return failure();
    return *isMade ? success() : copyWhole(op);
  }

  /// Nobody knows what it is on parts.
  LogicalResult copyWhole(Operation *op) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      FailureOr<Value> whole = get(operand, Place::whole());
      if (failed(whole))
        return failure();
      operands.push_back(*whole);
    }
    Operation *made = builder.clone(*op);
    made->setOperands(operands);
    for (auto [from, to] : llvm::zip(op->getResults(), made->getResults()))
      parts.set(from, Place::whole(), to);
    return success();
  }

  /// Has the result at the plan's place, or whole where its part has no form.
  LogicalResult emit(Operation *op, const Plan &plan) {
    SmallVector<Value> operands;
    for (auto [operand, place] : llvm::zip(op->getOperands(), plan.operands)) {
      // Zeros are terms of any sum.
      bool isTerm = place.isPartial() && parts.placeOf(operand).isWhole();
      FailureOr<Value> part = get(operand, isTerm ? Place::whole() : place);
      if (failed(part))
        return failure();
      operands.push_back(*part);
    }
    FailureOr<Value> made = emitPart(builder, op, plan, operands, parts, axis);
    if (failed(made))
      return failure();
    if (!*made)
      return copyWhole(op);
    parts.set(op->getResult(0), plan.result, *made);
    return success();
  }

  FailureOr<Value> get(Value value, const Place &place) {
    if (Value found = parts.find(value, place))
      return found;
    if (place.hasHalo() && failed(get(value, place.withoutHalo())))
      return failure();
    if (place.hasHalo() || !parts.isDeferred(value))
      return parts.bring(value, place);
    Operation *op = value.getDefiningOp();
    Plan plan = planDeferred(value, place).first;
    if (failed(emit(op, plan)))
      return failure();
    if (Value found = parts.find(value, place))
      return found;
    return parts.bring(value, place);
  }

  /// A part that a sharding can say.
  Place givenAway(Value value) const {
    Place place = parts.placeOf(value);
    if (!place.isSplit())
      return Place::whole();
    Place plain = Place::split(place.dim, dimsOf(value)[place.dim],
                               IntExpr::constant(axis.getContext(), 1));
    return isSame(place, plain, axis) ? plain : Place::whole();
  }

  LogicalResult finish(Block &old,
                       llvm::MutableArrayRef<std::optional<Place>> results) {
    Operation *end = old.getTerminator();
    SmallVector<Value> values;
    for (auto [value, place] : llvm::zip(end->getOperands(), results)) {
      if (!place)
        place = givenAway(value);
      FailureOr<Value> part = get(value, *place);
      if (failed(part))
        return failure();
      values.push_back(*part);
    }
    // What was brought for an operator that had no form on parts.
    func::ReturnOp::create(builder, end->getLoc(), values);
    function.setType(FunctionType::get(function.getContext(),
                                       builder.getBlock()->getArgumentTypes(),
                                       ValueRange(values).getTypes()));
    return success();
  }

  static constexpr unsigned kMaxDepth = 64, kMaxChoices = 6;

  func::FuncOp function;
  AxisAttr axis;
  const PartitionOptions &options;
  OpBuilder builder;
  Parts parts;
  Hints hints;
  /// Of what is deferred: through how many operators it goes.
  llvm::DenseMap<Value, unsigned> depths;
};

} // namespace

LogicalResult makeRank(func::FuncOp function, ArrayRef<Place> arguments,
                       llvm::MutableArrayRef<std::optional<Place>> results,
                       AxisAttr axis, const PartitionOptions &options) {
  return RankMaker(function, axis, options).run(arguments, results);
}

} // namespace mlc::dist
