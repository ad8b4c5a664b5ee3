//===- Training.cpp - A model's loss and its gradients --------------------===//

#include "passes/Differentiate/Training.h"
#include "dialects/Graph/RandomOps.h"
#include "dialects/Interfaces/CompileTime.h"
#include "dialects/Interfaces/OpInterfaces.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Differentiate/Derived.h"
#include "passes/Differentiate/Differentiate.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc {

static StringRef nameOf(Attribute attribute) {
  auto name = llvm::dyn_cast_or_null<StringAttr>(attribute);
  return name ? name.getValue() : StringRef();
}

/// The output that the loss is of; null, with an error, where there is none.
static Value findOutput(func::FuncOp main, StringRef wanted) {
  Operation *end = main.getBody().front().getTerminator();
  std::string have;
  for (auto [i, value] : llvm::enumerate(end->getOperands())) {
    StringRef name = nameOf(main.getResultAttr(i, "mlc.name"));
    if (wanted.empty() || name == wanted)
      return value;
    have += (have.empty() ? "'" : ", '") + name.str() + "'";
  }
  main.emitError() << "no output '" << wanted << "' to take the loss of; "
                   << "it has " << (have.empty() ? "none" : have);
  return {};
}

static DictionaryAttr named(Builder &b, StringRef name) {
  return b.getDictionaryAttr(b.getNamedAttr("mlc.name", b.getStringAttr(name)));
}

/// An argument called `name` at `place`.
static FailureOr<Value> addArgument(func::FuncOp main, unsigned place,
                                    Type type, StringRef name) {
  Builder b(main.getContext());
  if (failed(main.insertArgument(place, type, named(b, name), main.getLoc())))
    return failure();
  return Value(main.getArgument(place));
}

/// Behind the inputs, before the parameters.
static FailureOr<Value> addTarget(func::FuncOp main, Type type,
                                  const LossOptions &options) {
  unsigned place = 0;
  for (; place < main.getNumArguments() &&
         !main.getArgAttr(place, kParameterAttr);
       ++place)
    if (nameOf(main.getArgAttr(place, "mlc.name")) == options.target)
      return main.emitError()
             << "has an input '" << options.target
             << "' already; give another name with --target-input";
  return addArgument(main, place, type, options.target);
}

static void eraseDead(Block &body) {
  SmallVector<Operation *> operators;
  for (Operation &op : body.without_terminator())
    operators.push_back(&op);
  for (Operation *op : llvm::reverse(operators))
    if (isOpTriviallyDead(op))
      op->erase();
}

static FailureOr<Value> addLoss(func::FuncOp main, OpBuilder &builder,
                                const LossOptions &options) {
  Value output = findOutput(main, options.output);
  if (!output)
    return failure();
  auto type = cast<RankedTensorType>(output.getType());
  int64_t axis = options.classAxis, rank = type.getRank();
  Location loc = output.getLoc();
  if (options.kind == LossKind::CrossEntropy && (axis < -rank || axis >= rank))
    return emitError(loc) << "the axis " << axis
                          << " of the classes is none of an output of " << rank
                          << " dims; give another with --class-axis";
  if (axis < 0)
    axis += rank;
  auto targetType = targetTypeOf(options.kind, loc, type, axis);
  if (failed(targetType))
    return failure();
  FailureOr<Value> target = Value();
  if (*targetType)
    target = addTarget(main, *targetType, options);
  if (failed(target))
    return failure();
  return createLoss(builder, loc, options.kind, output, *target, axis);
}

namespace {

/// The arguments that are trained, their names, and what the loss gives them.
struct Gradients {
  Value loss;
  SmallVector<Value> weights, values;
  SmallVector<StringRef> names;
};

} // namespace

static FailureOr<Gradients> addGradients(func::FuncOp main, OpBuilder &builder,
                                         const LossOptions &options) {
  FailureOr<Value> loss = addLoss(main, builder, options);
  if (failed(loss))
    return failure();
  Gradients made{*loss, {}, {}, {}};
  for (BlockArgument argument : main.getArguments())
    if (unsigned i = argument.getArgNumber();
        main.getArgAttr(i, kParameterAttr)) {
      made.weights.push_back(argument);
      made.names.push_back(nameOf(main.getArgAttr(i, "mlc.name")));
    }
  FailureOr<Value> one = createFilled(builder, *loss, 1.0);
  if (failed(one))
    return failure();
  auto values = differentiate(builder, {{*loss, *one}}, made.weights);
  if (failed(values))
    return failure();
  made.values = std::move(*values);
  return made;
}

/// `results`, by their names, in place of what main returned.
static void setResults(func::FuncOp main, ValueRange results,
                       ArrayRef<std::string> names) {
  Builder b(main.getContext());
  main.setAllResultAttrs(SmallVector<DictionaryAttr>(
      main.getNumResults(), DictionaryAttr::get(main.getContext())));
  Block &body = main.getBody().front();
  body.getTerminator()->setOperands(results);
  main.setType(FunctionType::get(main.getContext(), body.getArgumentTypes(),
                                 results.getTypes()));
  for (auto [i, name] : llvm::enumerate(names))
    main.setResultAttrs(i, named(b, name));
  eraseDead(body);
}

LogicalResult addLossAndGradients(func::FuncOp main,
                                  const LossOptions &options) {
  OpBuilder builder(main.getBody().front().getTerminator());
  FailureOr<Gradients> made = addGradients(main, builder, options);
  if (failed(made))
    return failure();
  SmallVector<Value> results{made->loss};
  llvm::append_range(results, made->values);
  SmallVector<std::string> names{"loss"};
  llvm::append_range(names, made->names);
  setResults(main, results, names);
  return success();
}

LogicalResult addLossAlone(func::FuncOp main, const LossOptions &options) {
  OpBuilder builder(main.getBody().front().getTerminator());
  FailureOr<Value> loss = addLoss(main, builder, options);
  if (failed(loss))
    return failure();
  setResults(main, *loss, {"loss"});
  return success();
}

static FailureOr<SmallVector<Value>> addArguments(func::FuncOp main,
                                                  unsigned place, Type type,
                                                  ArrayRef<std::string> names) {
  SmallVector<Value> values;
  for (auto [i, name] : llvm::enumerate(names)) {
    FailureOr<Value> value = addArgument(main, place + i, type, name);
    if (failed(value))
      return failure();
    values.push_back(*value);
  }
  return values;
}

LogicalResult countSteps(func::FuncOp main, unsigned place) {
  SmallVector<RandomUniformOp> draws;
  main.walk([&](RandomUniformOp op) { draws.push_back(op); });
  if (draws.empty())
    return success();
  FailureOr<Value> step =
      addArgument(main, place, draws.front().getStep().getType(), "step");
  if (failed(step))
    return failure();
  for (RandomUniformOp op : draws)
    op.getStepMutable().assign(*step);
  return success();
}

LogicalResult addTrainingStep(func::FuncOp main, const LossOptions &loss,
                              const OptimizerOptions &optimizer) {
  OpBuilder builder(main.getBody().front().getTerminator());
  FailureOr<Gradients> made = addGradients(main, builder, loss);
  if (failed(made))
    return failure();
  unsigned first = main.getNumArguments() - made->weights.size();
  SmallVector<std::string> scalarNames, names{"loss"};
  for (StringRef name : scalarsOf(optimizer.kind))
    scalarNames.push_back(name.str());
  if (failed(countSteps(main, first)))
    return failure();
  first = main.getNumArguments() - made->weights.size();
  // As exact as the weights are.
  Type number = builder.getF32Type();
  for (Value weight : made->weights)
    if (Type element = getElementTypeOrSelf(weight.getType()); element.isF64())
      number = element;
  auto scalars =
      addArguments(main, first, getTensorType({}, number), scalarNames);
  if (failed(scalars))
    return failure();
  Value clipping;
  if (optimizer.clipNorm > 0) {
    auto factor = createClipping(builder, made->loss.getLoc(), made->values,
                                 optimizer.clipNorm);
    if (failed(factor))
      return failure();
    clipping = *factor;
  }
  SmallVector<Value> results{made->loss}, states;
  SmallVector<std::string> stateNames;
  for (auto [weight, gradient, name] :
       llvm::zip(made->weights, made->values, made->names)) {
    TrainedValue before{weight, {}};
    SmallVector<std::string> own;
    for (StringRef state : statesOf(optimizer.kind))
      own.push_back((state + "/" + name).str());
    auto added =
        addArguments(main, main.getNumArguments(), weight.getType(), own);
    if (failed(added))
      return failure();
    before.states.append(added->begin(), added->end());
    auto after = createUpdate(builder, gradient.getLoc(), optimizer, before,
                              gradient, *scalars, clipping);
    if (failed(after))
      return failure();
    results.push_back(after->weight);
    names.push_back(name.str());
    llvm::append_range(states, after->states);
    llvm::append_range(stateNames, own);
  }
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    main.removeArgAttr(i, kParameterAttr);
  llvm::append_range(results, states);
  llvm::append_range(names, stateNames);
  setResults(main, results, names);
  return success();
}

} // namespace mlc
