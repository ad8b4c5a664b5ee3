//===- Entries.cpp - The entries of training -----------------------------===//

#include "passes/Differentiate/Entries.h"
#include "dialects/Interfaces/CompileTime.h"
#include "dialects/Interfaces/Definition.h"
#include "dialects/Interfaces/States.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/Differentiate/Emit.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc {

namespace {

/// A weight of the model: its place among the arguments, and its name.
struct TrainedArgument {
  unsigned place;
  std::string name;
  RankedTensorType type;
};

} // namespace

static SmallVector<TrainedArgument> findTrained(func::FuncOp function) {
  SmallVector<TrainedArgument> found;
  for (BlockArgument argument : function.getArguments()) {
    unsigned i = argument.getArgNumber();
    auto name = function.getArgAttrOfType<StringAttr>(i, "mlc.name");
    if (function.getArgAttr(i, kParameterAttr))
      found.push_back({i, name ? name.str() : "",
                       cast<RankedTensorType>(argument.getType())});
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

/// The last arguments and results of a step, which belong together in order,
/// become states.
static void keepTrained(func::FuncOp step, size_t numWeights) {
  unsigned count = step.getNumResults() - 1; // the loss
  unsigned first = step.getNumArguments() - count;
  for (unsigned i = 0; i < count; ++i) {
    auto name = step.getResultAttrOfType<StringAttr>(1 + i, "mlc.name");
    bool isWeight = i < numWeights;
    std::string state = (isWeight ? "weight/" : "") + name.str();
    setState(step, first + i, state, !isWeight);
    step.setResultAttr(1 + i, kStateAttr,
                       StringAttr::get(step.getContext(), state));
  }
}

static TensorShape shapeOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return {*getDims(type), type.getElementType()};
}

/// One stage over `inputs`, element by element of the first.
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

/// A tensor without dims, as exact as the weights are.
static RankedTensorType numberType(ArrayRef<TrainedArgument> weights,
                                   MLIRContext *context) {
  Type number = Float32Type::get(context);
  for (const TrainedArgument &weight : weights)
    if (weight.type.getElementType().isF64())
      number = weight.type.getElementType();
  return RankedTensorType::get({}, number);
}

static DictionaryAttr named(Builder &b, StringRef name) {
  return b.getDictionaryAttr(b.getNamedAttr("mlc.name", b.getStringAttr(name)));
}

/// "accumulate", of `main`.
static LogicalResult accumulate(func::FuncOp main, const LossOptions &loss,
                                RankedTensorType number) {
  if (failed(addLossAndGradients(main, loss)))
    return failure();
  Builder attributes(main.getContext());
  SmallVector<TrainedArgument> weights = findTrained(main);
  unsigned first = weights.front().place, before = main.getNumArguments();
  if (failed(countSteps(main, first)))
    return failure();
  unsigned place = first + (main.getNumArguments() - before);
  if (failed(main.insertArgument(place, number, named(attributes, "keep"),
                                 main.getLoc())))
    return failure();
  Value keep = main.getArgument(place);
  weights = findTrained(main);
  keepWeights(main, weights);
  Operation *end = main.getBody().front().getTerminator();
  OpBuilder builder(end);
  for (auto [i, weight] : llvm::enumerate(weights)) {
    std::string name = "gradient/" + weight.name;
    unsigned last = main.getNumArguments();
    if (failed(main.insertArgument(last, weight.type, {}, main.getLoc())))
      return failure();
    setState(main, last, name, true);
    Value gradient = end->getOperand(1 + i);
    auto sum = createElements(
        builder, gradient.getLoc(), {main.getArgument(last), gradient, keep},
        [&](DefinitionBuilder &b, ArrayRef<Expr> at) {
          Expr zero = b.constant(number.getElementType(), 0);
          return select(compare(ComparePredicate::GT, b.read(2, {}), zero),
                        b.read(0, at) + b.read(1, at), b.read(1, at));
        });
    if (failed(sum))
      return failure();
    end->setOperand(1 + i, *sum);
    main.setResultAttr(1 + i, kStateAttr, attributes.getStringAttr(name));
  }
  main.setName("accumulate");
  return success();
}

namespace {

/// Builds "apply".
class Apply {
public:
  Apply(func::FuncOp main, ArrayRef<TrainedArgument> weights,
        const OptimizerOptions &optimizer, int64_t count)
      : weights(weights), optimizer(optimizer), count(count),
        builder(main.getContext()), loc(main.getLoc()) {
    builder.setInsertionPointAfter(main);
    function = func::FuncOp::create(builder, loc, "apply",
                                    builder.getFunctionType({}, {}));
    builder.setInsertionPointToStart(function.addEntryBlock());
  }

  LogicalResult build(RankedTensorType number) {
    for (StringRef name : scalarsOf(optimizer.kind))
      scalars.push_back(add(number, named(builder, name)));
    for (const TrainedArgument &weight : weights)
      befores.push_back({state(weight, "weight", false), {}});
    if (failed(addMeans()) || failed(addUpdates()))
      return failure();
    func::ReturnOp::create(builder, loc, results);
    function.setType(builder.getFunctionType(
        function.getBody().getArgumentTypes(), ValueRange(results).getTypes()));
    for (auto [i, name] : llvm::enumerate(resultNames))
      function.setResultAttr(i, kStateAttr, builder.getStringAttr(name));
    return success();
  }

private:
  Value add(Type type, DictionaryAttr attributes) {
    unsigned last = function.getNumArguments();
    (void)function.insertArgument(last, type, attributes, loc);
    return function.getArgument(last);
  }

  Value state(const TrainedArgument &weight, StringRef kind, bool isZero) {
    Value argument = add(weight.type, {});
    setState(function, function.getNumArguments() - 1,
             (kind + "/" + weight.name).str(), isZero);
    return argument;
  }

  LogicalResult addMeans() {
    for (const TrainedArgument &weight : weights) {
      Type element = weight.type.getElementType();
      auto mean = createElements(builder, loc, state(weight, "gradient", true),
                                 [&](DefinitionBuilder &b, ArrayRef<Expr> at) {
                                   return b.read(0, at) /
                                          b.constant(element, double(count));
                                 });
      if (failed(mean))
        return failure();
      means.push_back(*mean);
    }
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
      results.push_back(after->weight);
      resultNames.push_back("weight/" + weight.name);
      for (auto [kind, value] :
           llvm::zip(statesOf(optimizer.kind), after->states)) {
        results.push_back(value);
        resultNames.push_back((kind + "/" + weight.name).str());
      }
    }
    return success();
  }

  ArrayRef<TrainedArgument> weights;
  const OptimizerOptions &optimizer;
  int64_t count;
  OpBuilder builder;
  Location loc;
  func::FuncOp function;
  SmallVector<Value> scalars, means, results;
  SmallVector<TrainedValue> befores;
  SmallVector<std::string> resultNames;
};

} // namespace

/// "evaluate", behind `main`.
static LogicalResult addEvaluation(func::FuncOp main, const LossOptions &loss) {
  func::FuncOp copy = main.clone();
  copy.setName("evaluate");
  OpBuilder builder(main.getContext());
  builder.setInsertionPointAfter(main);
  builder.insert(copy);
  if (failed(addLossAlone(copy, loss)))
    return failure();
  keepWeights(copy, findTrained(copy));
  return success();
}

LogicalResult addTrainingEntries(func::FuncOp main, const LossOptions &loss,
                                 const OptimizerOptions &optimizer,
                                 const TrainingEntries &entries) {
  SmallVector<TrainedArgument> weights = findTrained(main);
  if (weights.empty())
    return main.emitError("nothing is trained: it has no parameters");
  if (entries.evaluates && failed(addEvaluation(main, loss)))
    return failure();
  if (entries.accumulate == 1) {
    if (failed(addTrainingStep(main, loss, optimizer)))
      return failure();
    keepTrained(main, weights.size());
    main.setName("step");
    return success();
  }
  RankedTensorType number = numberType(weights, main.getContext());
  if (failed(accumulate(main, loss, number)))
    return failure();
  return Apply(main, weights, optimizer, entries.accumulate).build(number);
}

} // namespace mlc
