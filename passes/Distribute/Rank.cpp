//===- Rank.cpp - A function of one rank along one axis -------------------===//

#include "passes/Distribute/Rank.h"
#include "dialects/Definition/Analysis.h"
#include "dialects/Definition/OpInterfaces.h"
#include "dialects/Module/StageFacts.h"
#include "dialects/Module/States.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Distribute/Opaque.h"
#include "passes/Distribute/Operators.h"
#include "passes/Distribute/Pin.h"
#include "passes/Distribute/StagePins.h"
#include "passes/Distribute/Sums.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc::dist {

namespace {

/// Gives the operators that stand for another one its stage. A form of a tensor
/// that a reader needs has none: it belongs to the stage that made the tensor.
class StageKeeper : public OpBuilder::Listener {
public:
  void notifyOperationInserted(Operation *made,
                               OpBuilder::InsertPoint /*previous*/) override {
    for (StringRef name : {StringRef(kStageAttr), StringRef(kBackwardAttr)})
      if (Attribute value = source ? source->getAttr(name) : Attribute())
        made->setAttr(name, value);
  }

  /// The operator that others are made for; null: for none.
  Operation *source = nullptr;
};

class RankMaker {
public:
  RankMaker(func::FuncOp function, AxisAttr axis,
            const PartitionOptions &options)
      : function(function), axis(axis), options(options),
        builder(function.getContext(), &stages), parts(builder, axis, options),
        sums(parts) {
    parts.costOfDeferred = [&](Value value, const Place &place) {
      return planDeferred(value, place).second;
    };
  }

  LogicalResult run(ArrayRef<Place> arguments,
                    llvm::MutableArrayRef<std::optional<Place>> results) {
    if (const SmallVector<int64_t> batch =
            batchStagesOf(function->getParentOfType<ModuleOp>(), axis);
        !batch.empty())
      pins = pinStages(function, batch, axis);
    SmallVector<std::optional<Place>> wanted(results.begin(), results.end());
    hints = findHints(function, arguments, wanted, axis);
    Block &old = function.getBody().front();
    Block *made = new Block();
    function.getBody().push_back(made);
    builder.setInsertionPointToEnd(made);
    for (auto [argument, place] : llvm::zip(old.getArguments(), arguments))
      addArgument(*made, argument, place);
    Operation *loss = options.reshardAfterForward ? findLoss(old) : nullptr;
    for (Operation &op : old.without_terminator()) {
      if (failed(visitSum(&op)))
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
  /// Erases operands brought for operators that could not be split.
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

  /// The op of the first result that is no state; gradients come after it.
  Operation *findLoss(Block &old) {
    for (auto [i, value] : llvm::enumerate(old.getTerminator()->getOperands()))
      if (!function.getResultAttr(i, kStateAttr))
        return value.getDefiningOp();
    return nullptr;
  }

  /// A pinned tensor is where its readers want it, and no operator is made but
  /// what brings it there. Parts are gathered by the stage that reads them, so
  /// stages send parts; other readers go on with their own.
  LogicalResult visitPin(Value pinned, const Place &place) {
    Operation *pin = pinned.getDefiningOp();
    Value value = pin->getOperand(0);
    const Place own = parts.placeOf(value);
    FailureOr<Value> part = failure();
    if (Value known = parts.find(value, own);
        known && place.isWhole() && own.isSplit()) {
      llvm::SaveAndRestore stage(stages.source, pin);
      part = parts.gather(known, own, pin->getLoc());
    } else {
      part = get(value, place);
    }
    if (failed(part))
      return failure();
    parts.set(pinned, place, *part);
    return success();
  }

  /// Additions of partial and other terms wait for those that read them.
  LogicalResult visitSum(Operation *op) {
    auto add = dyn_cast<AddOp>(op);
    if (!add)
      return visit(op);
    if (!pins.contains(add) && sums.waits(add))
      return success();
    SmallVector<AddOp> additions = sums.regroup(add);
    if (additions.empty())
      return visit(op);
    for (AddOp one : additions)
      if (failed(visit(one)))
        return failure();
    return success();
  }

  LogicalResult visit(Operation *op) {
    if (op->getNumResults() == 1)
      if (auto pin = pins.find(op->getResult(0)); pin != pins.end())
        return visitPin(pin->first, pin->second);
    std::optional<Definition> definition = meaningOf(op);
    if (!definition)
      return visitOpaque(op);
    if (std::optional<Place> pin = pinnedPlace(op, axis))
      return visitPinned(op, *definition, *pin);
    if (std::optional<Place> place = placeOfDeferred(op, *definition))
      return defer(op, *definition, *place);
    Plan plan = choosePlan(op, *definition, parts, hints, axis);
    if (!llvm::all_of(plan.operands,
                      [](const Place &p) { return p.isWhole(); }))
      return emit(op, plan);
    // Start exchanges early.
    for (Value operand : op->getOperands())
      if (!parts.placeOf(operand).isWhole() &&
          failed(get(operand, Place::whole())))
        return failure();
    return defer(op, *definition, Place::whole());
  }

  /// Computes a result that the plan pins, and brings it where it is wanted.
  LogicalResult visitPinned(Operation *op, const Definition &definition,
                            const Place &pin) {
    if (failed(emit(op, choosePlan(op, definition, parts, hints, axis))) ||
        failed(get(op->getResult(0), pin)))
      return failure();
    parts.prefer(op->getResult(0), pin);
    return success();
  }

  /// Whether elements are moved that a rank has in parts and as a whole, so
  /// that either form of the result is free.
  bool isMovedFromBoth(Value operand, const Definition &definition) const {
    return !parts.isDeferred(operand) && parts.find(operand, Place::whole()) &&
           getKind(definition).isMovement;
  }

  /// The place of a result that is better computed on demand: values that all
  /// ranks can compute, values derived from states alone, which move to where
  /// the activations are, and forms of what is there in parts and as a whole.
  /// Nothing for others.
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
      if (!factor || (hints.data.contains(op->getResult(0)) &&
                      !isMovedFromBoth(operand, definition)))
        return std::nullopt;
      place = factor->placeOf({true, definition.results[0]});
      if (!place->isSplit() || !planPart(op, definition, *place, axis))
        return std::nullopt;
    }
    return place;
  }

  /// Defers `op`, up to a limited depth, lower if there are choices.
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

  /// The cost of bringing all operands to the plan's places.
  double costOf(Operation *op, const Plan &plan) const {
    double cost = 0;
    for (auto [operand, place] : llvm::zip(op->getOperands(), plan.operands))
      cost += parts.costOf(operand, place);
    return cost;
  }

  /// The cheapest way to get a deferred result at `place`: as a part, whole,
  /// or, if the whole is wanted, as gathered parts.
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
    auto opaque = dyn_cast<OpaqueOpInterface>(op);
    if (!opaque)
      return copyWhole(op);
    llvm::SaveAndRestore own(stages.source, op);
    FailureOr<bool> isMade =
        emitOpaque(builder, opaque, parts, hints, axis,
                   [&](Value value, const Place &p) { return get(value, p); });
    if (failed(isMade))
      return failure();
    return *isMade ? success() : copyWhole(op);
  }

  /// For operators that have no form on parts.
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

  /// Other axes are handled later.
  static void keepPin(Operation *op, Value made) {
    for (StringRef name : kPinAttrs)
      if (Attribute pin = op->getAttr(name); pin && made.getDefiningOp())
        made.getDefiningOp()->setAttr(name, pin);
  }

  /// Computes the result at the plan's place, or whole if its part has no form.
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
    llvm::SaveAndRestore own(stages.source, op);
    FailureOr<Value> made = emitPart(builder, op, plan, operands, parts, axis);
    if (failed(made))
      return failure();
    if (!*made)
      return copyWhole(op);
    keepPin(op, *made);
    parts.set(op->getResult(0), plan.result, *made);
    return success();
  }

  FailureOr<Value> get(Value value, const Place &place) {
    llvm::SaveAndRestore<Operation *> none(stages.source, nullptr);
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

  /// The place of a returned value: a part that a sharding can express.
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
  StageKeeper stages;
  OpBuilder builder;
  Parts parts;
  Sums sums;
  Hints hints;
  Pins pins;
  /// The number of deferred operators that a deferred value goes through.
  llvm::DenseMap<Value, unsigned> depths;
};

} // namespace

LogicalResult makeRank(func::FuncOp function, ArrayRef<Place> arguments,
                       llvm::MutableArrayRef<std::optional<Place>> results,
                       AxisAttr axis, const PartitionOptions &options) {
  return RankMaker(function, axis, options).run(arguments, results);
}

} // namespace mlc::dist
