//===- Training.cpp - A model's loss and its gradients --------------------===//

#include "passes/Differentiate/Training.h"
#include "dialects/Definition/OpInterfaces.h"
#include "dialects/Graph/ModelOps.h"
#include "dialects/Graph/RandomOps.h"
#include "dialects/Module/CompileTime.h"
#include "dialects/Module/TrainingFacts.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Differentiate/Derived.h"
#include "passes/Differentiate/Differentiate.h"
#include "passes/Differentiate/ModelLoss.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc {

static void eraseDead(Block &body) {
  SmallVector<Operation *> operators;
  for (Operation &op : body.without_terminator())
    operators.push_back(&op);
  for (Operation *op : llvm::reverse(operators))
    if (isOpTriviallyDead(op))
      op->erase();
}

namespace {

/// The arguments that are trained, their names, and their gradients.
struct Gradients {
  Value loss;
  SmallVector<Value> weights, values;
  SmallVector<StringRef> names;
};

/// Parameters that are updated without training, and their new values.
struct Statistics {
  SmallVector<StringRef> names;
  SmallVector<Value> after;
};

} // namespace

static Statistics findStatistics(func::FuncOp main) {
  Operation *end = main.getBody().front().getTerminator();
  Statistics found;
  for (auto [i, value] : llvm::enumerate(end->getOperands()))
    if (auto name = main.getResultAttrOfType<StringAttr>(i, kUpdatesAttr)) {
      found.names.push_back(name);
      found.after.push_back(value);
    }
  return found;
}

/// `scale` is the loss's cotangent; null means 1.
static FailureOr<Gradients> addGradients(func::FuncOp main, OpBuilder &builder,
                                         Value loss, Value scale) {
  Gradients made{loss, {}, {}, {}};
  SmallVector<StringRef> moved = findStatistics(main).names;
  for (BlockArgument argument : main.getArguments())
    if (unsigned i = argument.getArgNumber();
        main.getArgAttr(i, kParameterAttr) &&
        !llvm::is_contained(moved, nameOf(main.getArgAttr(i, "mlc.name")))) {
      made.weights.push_back(argument);
      made.names.push_back(nameOf(main.getArgAttr(i, "mlc.name")));
    }
  FailureOr<Value> seed = scale
                              ? createCast(builder, loss.getLoc(), scale,
                                           getElementTypeOrSelf(loss.getType()))
                              : createFilled(builder, loss, 1.0);
  if (failed(seed))
    return failure();
  auto values = differentiate(builder, {{loss, *seed}}, made.weights);
  if (failed(values))
    return failure();
  made.values = std::move(*values);
  return made;
}

/// Replaces main's results by `results`, with their names.
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

static LogicalResult returnGradients(func::FuncOp main, OpBuilder &builder,
                                     Value loss, Value scale) {
  FailureOr<Gradients> made = addGradients(main, builder, loss, scale);
  if (failed(made))
    return failure();
  Statistics statistics = findStatistics(main);
  SmallVector<Value> results{loss};
  llvm::append_range(results, made->values);
  SmallVector<std::string> names{"loss"};
  llvm::append_range(names, made->names);
  for (auto [name, after] : llvm::zip(statistics.names, statistics.after)) {
    auto wide = createCast(builder, after.getLoc(), after,
                           widenedType(getElementTypeOrSelf(after.getType())));
    if (failed(wide))
      return failure();
    results.push_back(*wide);
  }
  size_t first = names.size();
  llvm::append_range(names, statistics.names);
  setResults(main, results, names);
  for (auto [i, name] : llvm::enumerate(statistics.names))
    main.setResultAttr(first + i, kUpdatesAttr, builder.getStringAttr(name));
  return success();
}

LogicalResult addLossAndGradients(func::FuncOp main,
                                  const LossOptions &options) {
  OpBuilder builder(main.getBody().front().getTerminator());
  if (failed(narrowProducts(main, options.factors)))
    return failure();
  FailureOr<Value> loss = addLoss(main, builder, options);
  if (failed(loss))
    return failure();
  return returnGradients(main, builder, *loss, {});
}

FailureOr<func::FuncOp> findModel(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (main && main.getBody().hasOneBlock())
    return main;
  return module.emitError() << "has no function @main of one block to train";
}

/// Draws all random numbers for the step in the argument at `place`; adds that
/// argument only if random numbers are drawn.
static LogicalResult countSteps(func::FuncOp main, unsigned place) {
  SmallVector<RandomUniformOp> draws;
  main.walk([&](RandomUniformOp op) { draws.push_back(op); });
  if (draws.empty())
    return success();
  FailureOr<Value> step =
      addArgument(main, place, draws.front().getStep().getType(), "step",
                  runtime::InputRole::BatchNumber);
  if (failed(step))
    return failure();
  for (RandomUniformOp op : draws)
    op.getStepMutable().assign(*step);
  return success();
}

RankedTensorType numberType(func::FuncOp main) {
  Builder b(main.getContext());
  Type number = b.getF32Type();
  for (unsigned i = endOfInputs(main); i < main.getNumArguments(); ++i)
    if (Type type = getElementTypeOrSelf(main.getArgument(i).getType());
        type.isF64())
      number = type;
  return getTensorType({}, number);
}

/// The argument "loss scale", after all other inputs.
static FailureOr<Value> addScale(func::FuncOp main) {
  return addArgument(main, endOfInputs(main), numberType(main), "loss scale",
                     runtime::InputRole::LossScale);
}

LogicalResult addScaledGradients(func::FuncOp main, const LossOptions &options,
                                 bool scalesLoss) {
  OpBuilder builder(main.getBody().front().getTerminator());
  if (failed(widenParameters(main)) ||
      failed(narrowProducts(main, options.factors)))
    return failure();
  FailureOr<Value> loss = addLoss(main, builder, options);
  if (failed(loss) || failed(countSteps(main, endOfInputs(main))))
    return failure();
  FailureOr<Value> scale = Value();
  if (scalesLoss)
    scale = addScale(main);
  if (failed(scale))
    return failure();
  return returnGradients(main, builder, *loss, *scale);
}

LogicalResult addLossAlone(func::FuncOp main, const LossOptions &options,
                           bool countsRight) {
  if (countsRight && options.kind != LossKind::CrossEntropy)
    return main.emitError("counts right labels of a cross-entropy loss alone");
  OpBuilder builder(main.getBody().front().getTerminator());
  if (failed(widenParameters(main)) ||
      failed(narrowProducts(main, options.factors)))
    return failure();
  Value right;
  FailureOr<Value> loss =
      addLoss(main, builder, options, countsRight ? &right : nullptr);
  if (failed(loss))
    return failure();
  if (countsRight)
    setResults(main, {*loss, right}, {"loss", "right"});
  else
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

namespace {

/// Builds a step; adds arguments first, because gradients may read them.
class Step {
public:
  Step(func::FuncOp main, const OptimizerOptions &optimizer)
      : main(main), optimizer(optimizer),
        builder(main.getBody().front().getTerminator()) {}

  LogicalResult build(const LossOptions &options);

private:
  LogicalResult addScalars();
  LogicalResult unscale();
  LogicalResult update(unsigned weight);
  FailureOr<Value> chosen(Value after, Value before);

  func::FuncOp main;
  const OptimizerOptions &optimizer;
  OpBuilder builder;
  Gradients made;
  /// `finite` is null without loss scaling, `clipping` without clipping.
  Value scale, finite, clipping;
  SmallVector<Value> scalars, results, states;
  SmallVector<std::string> names, stateNames;
};

} // namespace

LogicalResult Step::addScalars() {
  if (failed(countSteps(main, endOfInputs(main))))
    return failure();
  for (runtime::InputRole role : scalarsOf(optimizer.kind)) {
    auto scalar = addArgument(main, endOfInputs(main), numberType(main),
                              runtime::name(role), role);
    if (failed(scalar))
      return failure();
    scalars.push_back(*scalar);
  }
  if (!optimizer.scalesLoss)
    return success();
  FailureOr<Value> last = addScale(main);
  if (failed(last))
    return failure();
  scale = *last;
  return success();
}

LogicalResult Step::unscale() {
  Location loc = made.loss.getLoc();
  if (!scale)
    return success();
  for (Value &value : made.values) {
    auto unscaled = createUnscaled(builder, loc, value, scale);
    if (failed(unscaled))
      return failure();
    value = *unscaled;
  }
  auto isFinite = createIsFinite(builder, loc, made.values);
  if (failed(isFinite))
    return failure();
  finite = *isFinite;
  return success();
}

FailureOr<Value> Step::chosen(Value after, Value before) {
  return finite ? createChoice(builder, after.getLoc(), finite, after, before)
                : FailureOr<Value>(after);
}

LogicalResult Step::update(unsigned weight) {
  StringRef name = made.names[weight];
  Value gradient = made.values[weight];
  TrainedValue before{made.weights[weight], {}};
  SmallVector<std::string> own;
  for (StringRef state : statesOf(optimizer.kind))
    own.push_back((state + "/" + name).str());
  auto added =
      addArguments(main, main.getNumArguments(), before.weight.getType(), own);
  if (failed(added))
    return failure();
  before.states.append(added->begin(), added->end());
  auto after = createUpdate(builder, gradient.getLoc(), optimizer, before,
                            gradient, scalars, clipping);
  if (failed(after))
    return failure();
  auto kept = chosen(after->weight, before.weight);
  if (failed(kept))
    return failure();
  results.push_back(*kept);
  names.push_back(name.str());
  for (auto [now, then] : llvm::zip(after->states, before.states)) {
    auto state = chosen(now, then);
    if (failed(state))
      return failure();
    states.push_back(*state);
  }
  llvm::append_range(stateNames, own);
  return success();
}

LogicalResult Step::build(const LossOptions &options) {
  if (failed(widenParameters(main)) ||
      failed(narrowProducts(main, options.factors)))
    return failure();
  FailureOr<Value> loss = addLoss(main, builder, options);
  if (failed(loss) || failed(addScalars()))
    return failure();
  FailureOr<Gradients> gradients = addGradients(main, builder, *loss, scale);
  if (failed(gradients))
    return failure();
  made = std::move(*gradients);
  results.push_back(made.loss);
  names.push_back("loss");
  if (failed(unscale()))
    return failure();
  if (optimizer.clipNorm > 0) {
    auto factor = createClipping(builder, made.loss.getLoc(), made.values,
                                 optimizer.clipNorm);
    if (failed(factor))
      return failure();
    clipping = *factor;
  }
  for (unsigned i = 0; i < made.weights.size(); ++i)
    if (failed(update(i)))
      return failure();
  // A batch's mean does not depend on its gradients.
  Statistics statistics = findStatistics(main);
  for (auto [name, after] : llvm::zip(statistics.names, statistics.after)) {
    auto wide = createCast(builder, after.getLoc(), after,
                           widenedType(getElementTypeOrSelf(after.getType())));
    if (failed(wide))
      return failure();
    results.push_back(*wide);
    names.push_back(name.str());
  }
  llvm::append_range(results, states);
  llvm::append_range(names, stateNames);
  if (finite) {
    results.push_back(finite);
    names.push_back("finite");
  }
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    main.removeArgAttr(i, kParameterAttr);
  setResults(main, results, names);
  return success();
}

LogicalResult addTrainingStep(func::FuncOp main, const LossOptions &loss,
                              const OptimizerOptions &optimizer) {
  return Step(main, optimizer).build(loss);
}

} // namespace mlc
