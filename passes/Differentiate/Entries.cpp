//===- Entries.cpp - The entries of training ------------------------------===//

#include "passes/Differentiate/Entries.h"
#include "dialects/Definition/Definition.h"
#include "dialects/Graph/PointwiseOps.h"
#include "dialects/Module/CompileTime.h"
#include "dialects/Module/States.h"
#include "dialects/Module/TrainingFacts.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/Base/Remedy.h"
#include "passes/Differentiate/Emit.h"
#include "passes/Differentiate/HalfWeights.h"
#include "passes/Differentiate/ModelLoss.h"
#include "passes/Differentiate/Precision.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc {

/// The types of weights kept in 16 bits besides their masters, by name.
using HalfTypes = llvm::StringMap<Type>;

namespace {

/// A weight of the model (its place among the arguments, its name, and the type
/// in which it is trained), or a running statistic.
struct TrainedArgument {
  unsigned place;
  std::string name;
  RankedTensorType type;
  bool isStatistic;

  /// The type of the sum of its gradients.
  RankedTensorType sumType(const HalfTypes &halves) const {
    Type half = halves.lookup(name);
    return half ? RankedTensorType(type).clone(half) : type;
  }
};

} // namespace

static SmallVector<TrainedArgument> findKept(func::FuncOp function) {
  SmallVector<Attribute> statistics;
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (Attribute name = function.getResultAttr(i, kUpdatesAttr))
      statistics.push_back(name);
  SmallVector<TrainedArgument> found;
  for (BlockArgument argument : function.getArguments()) {
    unsigned i = argument.getArgNumber();
    auto name = function.getArgAttrOfType<StringAttr>(i, "mlc.name");
    if (!function.getArgAttr(i, kParameterAttr))
      continue;
    auto type = cast<RankedTensorType>(argument.getType());
    found.push_back({i, name ? name.str() : "",
                     type.clone(widenedType(type.getElementType())),
                     llvm::is_contained(statistics, name)});
  }
  return found;
}

static void setState(func::FuncOp function, unsigned argument,
                     const std::string &name, bool isZero) {
  Builder b(function.getContext());
  function.removeArgAttr(argument, kParameterAttr);
  function.setArgAttr(argument, kStateAttr, b.getStringAttr(name));
  auto type = cast<RankedTensorType>(function.getArgument(argument).getType());
  if (isZero)
    function.setArgAttr(
        argument, kInitialAttr,
        DenseElementsAttr::get(type, b.getZeroAttr(type.getElementType())));
}

static void keepWeights(func::FuncOp function,
                        ArrayRef<TrainedArgument> weights) {
  for (const TrainedArgument &weight : weights)
    setState(function, weight.place, "weight/" + weight.name, false);
}

/// Turns the last arguments and results of a step, which correspond in order,
/// into states: those of weights, of statistics, and of the optimizer. If the
/// loss is scaled, one more result follows.
static void keepTrained(func::FuncOp step, size_t numKept, bool scalesLoss) {
  unsigned count = step.getNumResults() - 1 - scalesLoss; // except the loss
  unsigned first = step.getNumArguments() - count;
  for (unsigned i = 0; i < count; ++i) {
    auto name = step.getResultAttrOfType<StringAttr>(1 + i, "mlc.name");
    bool isWeight = i < numKept;
    std::string state = (isWeight ? "weight/" : "") + name.str();
    setState(step, first + i, state, !isWeight);
    step.setResultAttr(1 + i, kStateAttr,
                       StringAttr::get(step.getContext(), state));
  }
}

/// One stage over `inputs`, with the dims of the first.
static FailureOr<Value> createElements(
    OpBuilder &builder, Location loc, ValueRange inputs,
    llvm::function_ref<Expr(DefinitionBuilder &, ArrayRef<Expr>)> body) {
  SmallVector<TensorShape> shapes;
  for (Value input : inputs)
    shapes.push_back(shapeOf(input));
  DefinitionBuilder b(builder.getContext(), shapes);
  b.result(b.stage("result", shapes[0].dims, shapes[0].elementType,
                   [&](ArrayRef<Expr> i) { return body(b, i); }));
  auto emitted = emitStages(builder, loc, b.take(), inputs);
  return failed(emitted) ? FailureOr<Value>(failure()) : (*emitted)[0];
}

/// `value` with elements of `type`; the original if it was widened.
static FailureOr<Value> createNarrow(OpBuilder &builder, Value value,
                                     RankedTensorType type) {
  if (auto widening = value.getDefiningOp<CastOp>();
      widening && widening.getX().getType() == type)
    return Value(widening.getX());
  return createCast(builder, value.getLoc(), value, type.getElementType());
}

/// Turns `main` into "accumulate".
static LogicalResult accumulate(func::FuncOp main, const LossOptions &loss,
                                RankedTensorType number, bool scalesLoss,
                                const HalfTypes &halves) {
  if (failed(addScaledGradients(main, loss, scalesLoss)))
    return failure();
  Builder attributes(main.getContext());
  unsigned place = endOfInputs(main);
  if (failed(main.insertArgument(
          place, number,
          inputAttributes(attributes, "keep", runtime::InputRole::Keep),
          main.getLoc())))
    return failure();
  Value keep = main.getArgument(place);
  SmallVector<TrainedArgument> kept = findKept(main);
  keepWeights(main, kept);
  Operation *end = main.getBody().front().getTerminator();
  OpBuilder builder(end);
  unsigned result = 1; // after the loss
  for (const TrainedArgument &weight : kept) {
    if (weight.isStatistic)
      continue;
    std::string name = "gradient/" + weight.name;
    unsigned last = main.getNumArguments();
    RankedTensorType type = weight.sumType(halves);
    if (failed(main.insertArgument(last, type, {}, main.getLoc())))
      return failure();
    setState(main, last, name, true);
    auto gradient = createNarrow(builder, end->getOperand(result), type);
    if (failed(gradient))
      return failure();
    auto sum = createElements(
        builder, gradient->getLoc(), {main.getArgument(last), *gradient, keep},
        [&](DefinitionBuilder &b, ArrayRef<Expr> at) {
          Expr zero = b.constant(number.getElementType(), 0);
          return select(compare(ComparePredicate::GT, b.read(2, {}), zero),
                        b.read(0, at) + b.read(1, at), b.read(1, at));
        });
    if (failed(sum))
      return failure();
    end->setOperand(result, *sum);
    main.setResultAttr(result++, kStateAttr, attributes.getStringAttr(name));
  }
  for (; result < main.getNumResults(); ++result) {
    auto name = main.getResultAttrOfType<StringAttr>(result, kUpdatesAttr);
    main.setResultAttr(result, kStateAttr,
                       attributes.getStringAttr("weight/" + name.getValue()));
    main.removeResultAttr(result, attributes.getStringAttr(kUpdatesAttr));
  }
  main.setType(FunctionType::get(main.getContext(), main.getArgumentTypes(),
                                 end->getOperandTypes()));
  main.setName("accumulate");
  return success();
}

namespace {

/// Builds "apply".
class Apply {
public:
  Apply(func::FuncOp main, ArrayRef<TrainedArgument> weights,
        const OptimizerOptions &optimizer, const TrainingEntries &entries,
        const HalfTypes &halves)
      : weights(weights), optimizer(optimizer), entries(entries),
        halves(halves), builder(main.getContext()), loc(main.getLoc()) {
    builder.setInsertionPointAfter(main);
    function = func::FuncOp::create(builder, loc, "apply",
                                    builder.getFunctionType({}, {}));
    builder.setInsertionPointToStart(function.addEntryBlock());
  }

  LogicalResult build(RankedTensorType number) {
    for (runtime::InputRole role : scalarsOf(optimizer.kind))
      scalars.push_back(
          add(number, inputAttributes(builder, runtime::name(role), role)));
    if (optimizer.scalesLoss)
      scale = add(number, inputAttributes(builder, "loss scale",
                                          runtime::InputRole::LossScale));
    if (entries.countsGradients)
      given = add(number, inputAttributes(builder, "gradient count",
                                          runtime::InputRole::GradientCount));
    for (const TrainedArgument &weight : weights)
      befores.push_back({state(weight, "weight", false), {}});
    if (failed(addMeans()) || failed(addUpdates()))
      return failure();
    if (finite)
      results.push_back(finite);
    func::ReturnOp::create(builder, loc, results);
    function.setType(builder.getFunctionType(
        function.getBody().getArgumentTypes(), ValueRange(results).getTypes()));
    for (auto [i, name] : llvm::enumerate(resultNames))
      function.setResultAttr(i, kStateAttr, builder.getStringAttr(name));
    if (finite)
      function.setResultAttrs(results.size() - 1, named(builder, "finite"));
    return success();
  }

private:
  Value add(Type type, DictionaryAttr attributes) {
    unsigned last = function.getNumArguments();
    (void)function.insertArgument(last, type, attributes, loc);
    return function.getArgument(last);
  }

  Value state(const TrainedArgument &weight, StringRef kind, bool isZero) {
    return state(weight, kind, isZero, weight.type);
  }

  Value state(const TrainedArgument &weight, StringRef kind, bool isZero,
              RankedTensorType type) {
    Value argument = add(type, {});
    setState(function, function.getNumArguments() - 1,
             (kind + "/" + weight.name).str(), isZero);
    return argument;
  }

  LogicalResult addMeans() {
    for (const TrainedArgument &weight : weights) {
      Type element = weight.type.getElementType();
      auto sum = createCast(
          builder, loc, state(weight, "gradient", true, weight.sumType(halves)),
          element);
      if (failed(sum))
        return failure();
      SmallVector<Value, 2> inputs = {*sum};
      if (given)
        inputs.push_back(given);
      auto mean = createElements(
          builder, loc, inputs, [&](DefinitionBuilder &b, ArrayRef<Expr> at) {
            return b.read(0, at) /
                   (given ? cast(b.read(1, {}), element)
                          : b.constant(element, double(entries.accumulate)));
          });
      if (scale && succeeded(mean))
        mean = createUnscaled(builder, loc, *mean, scale);
      if (failed(mean))
        return failure();
      means.push_back(*mean);
    }
    if (!scale)
      return success();
    auto isFinite = createIsFinite(builder, loc, means);
    if (failed(isFinite))
      return failure();
    finite = *isFinite;
    return success();
  }

  LogicalResult addResult(Value after, Value before, std::string name) {
    auto kept = finite ? createChoice(builder, loc, finite, after, before)
                       : FailureOr<Value>(after);
    if (failed(kept))
      return failure();
    results.push_back(*kept);
    resultNames.push_back(std::move(name));
    return success();
  }

  LogicalResult addUpdates() {
    Value clipping;
    if (optimizer.clipNorm > 0) {
      auto factor = createClipping(builder, loc, means, optimizer.clipNorm);
      if (failed(factor))
        return failure();
      clipping = *factor;
    }
    for (auto [weight, before, mean] : llvm::zip(weights, befores, means)) {
      for (StringRef kind : statesOf(optimizer.kind))
        before.states.push_back(state(weight, kind, true));
      auto after = createUpdate(builder, loc, optimizer, before, mean, scalars,
                                clipping);
      if (failed(after))
        return failure();
      if (failed(
              addResult(after->weight, before.weight, "weight/" + weight.name)))
        return failure();
      for (auto [kind, now, then] :
           llvm::zip(statesOf(optimizer.kind), after->states, before.states))
        if (failed(addResult(now, then, (kind + "/" + weight.name).str())))
          return failure();
    }
    return success();
  }

  ArrayRef<TrainedArgument> weights;
  const OptimizerOptions &optimizer;
  const TrainingEntries &entries;
  const HalfTypes &halves;
  OpBuilder builder;
  Location loc;
  func::FuncOp function;
  SmallVector<Value> scalars, means, results;
  /// Null if the number of gradients is known.
  Value given;
  /// Null if the loss is not scaled.
  Value scale, finite;
  SmallVector<TrainedValue> befores;
  SmallVector<std::string> resultNames;
};

} // namespace

/// Adds "evaluate" after `main`, from the module's function by that name, the
/// model in another form, or from `main`.
static LogicalResult addEvaluation(func::FuncOp main, const LossOptions &loss,
                                   bool countsRight) {
  auto module = main->getParentOfType<ModuleOp>();
  auto evaluate = module.lookupSymbol<func::FuncOp>("evaluate");
  if (!evaluate) {
    evaluate = main.clone();
    evaluate.setName("evaluate");
    OpBuilder builder(main.getContext());
    builder.setInsertionPointAfter(main);
    builder.insert(evaluate);
  }
  // For one batch only.
  LossOptions own = loss;
  own.givenCount = false;
  if (failed(addLossAlone(evaluate, own, countsRight)))
    return failure();
  keepWeights(evaluate, findKept(evaluate));
  return success();
}

static LogicalResult addEntries(func::FuncOp main, const LossOptions &loss,
                                const OptimizerOptions &optimizer,
                                const TrainingEntries &entries,
                                const HalfTypes &halves) {
  SmallVector<TrainedArgument> kept = findKept(main), weights;
  llvm::copy_if(kept, std::back_inserter(weights),
                [](const TrainedArgument &one) { return !one.isStatistic; });
  if (weights.empty())
    return main.emitError("nothing is trained: it has no parameters");
  if (entries.evaluates &&
      failed(addEvaluation(main, loss, entries.countsRight)))
    return failure();
  if (!entries.keepsGradients()) {
    if (failed(addTrainingStep(main, loss, optimizer)))
      return failure();
    keepTrained(main, kept.size(), optimizer.scalesLoss);
    main.setName("step");
    return success();
  }
  RankedTensorType number = numberType(main);
  if (failed(accumulate(main, loss, number, optimizer.scalesLoss, halves)))
    return failure();
  if (entries.computesAlone)
    return success();
  return Apply(main, weights, optimizer, entries, halves).build(number);
}

/// Sets the roles in training of the states of these weights and statistics.
static void setStateUses(ModuleOp module, ArrayRef<TrainedArgument> kept,
                         const OptimizerOptions &optimizer,
                         const TrainingEntries &entries,
                         const HalfTypes &halves) {
  using Role = runtime::StateRole;
  for (const TrainedArgument &one : kept) {
    setStateUse(module, "weight/" + one.name,
                one.isStatistic ? Role::Statistic : Role::Weight, one.name);
    if (one.isStatistic)
      continue;
    if (entries.keepsGradients())
      setStateUse(module, "gradient/" + one.name, Role::GradientSum, one.name);
    if (halves.contains(one.name))
      setStateUse(module, "rounded/" + one.name, Role::Rounded, one.name);
    for (StringRef kind : statesOf(optimizer.kind))
      setStateUse(module, (kind + "/" + one.name).str(), Role::Moment,
                  one.name);
  }
}

LogicalResult addTrainingEntries(func::FuncOp main, const LossOptions &loss,
                                 const OptimizerOptions &optimizer,
                                 const TrainingEntries &entries) {
  auto module = main->getParentOfType<ModuleOp>();
  HalfTypes halves;
  SmallVector<TrainedArgument> kept = findKept(main);
  for (const TrainedArgument &one : kept)
    if (Type own = getElementTypeOrSelf(main.getArgument(one.place).getType());
        entries.keepsHalf && !one.isStatistic &&
        own != one.type.getElementType())
      halves[one.name] = own;
  if (entries.keepsHalf && halves.empty())
    return main.emitError("trains no weight of 16 bits that could be kept "
                          "beside its master")
           << Remedy{Remedy::Kind::DropHalfWeights};
  setStateUses(module, kept, optimizer, entries, halves);
  if (failed(addEntries(main, loss, optimizer, entries, halves)))
    return failure();
  return entries.keepsHalf ? keepHalf(module, halves) : success();
}

} // namespace mlc
