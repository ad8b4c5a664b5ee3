//===- TrainingFlags.cpp - The loss and the trained weights ---------------===//

#include "tools/mlc/TrainingFlags.h"
#include "dialects/Dist/Dist.h"
#include "dialects/Module/CompileTime.h"
#include "dialects/Module/States.h"
#include "dialects/Module/TrainingFacts.h"
#include "dialects/Symbolic/Attributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/TypeUtilities.h"
#include "onnx-ml.pb.h"
#include "passes/Import/ModelFile.h"
#include "passes/Program.h"
#include "runtime/Text.h"
#include "tools/mlc/Evaluation.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/MergedWeights.h"
#include "tools/mlc/OptimizerFlags.h"
#include "tools/mlc/OutputFile.h"
#include "tools/mlc/SmallFloats.h"
#include "tools/mlc/StagedModel.h"
#include "llvm/ADT/StringSet.h"
#include <cstring>

using namespace mlc;
using namespace mlc::cli;
namespace cl = llvm::cl;

TrainingFlags::TrainingFlags(cl::SubCommand &sub)
    : compileTo(sub),
      loss("loss", cl::init(LossKind::Output), cl::value_desc("loss"),
           cl::desc("Loss that is minimized (output):"),
           cl::values(clEnumValN(LossKind::Output, "output",
                                 "an output of the model, a single number"),
                      clEnumValN(LossKind::MeanSquares, "mse",
                                 "the mean of the squares of output - target"),
                      clEnumValN(LossKind::CrossEntropy, "cross-entropy",
                                 "the mean of -log softmax(output)[target]; "
                                 "negative targets do not count")),
           cl::sub(sub)),
      output("loss-of", cl::value_desc("output"),
             cl::desc("Output that the loss is computed from (the first)"),
             cl::sub(sub)),
      target(
          "target-input", cl::init("target"), cl::value_desc("name"),
          cl::desc("Name of the input that holds the loss's target (target)"),
          cl::sub(sub)),
      classAxis("class-axis", cl::init(1), cl::value_desc("axis"),
                cl::desc("Axis of the classes in the output, counted from the "
                         "end if negative (1)"),
                cl::sub(sub)),
      inTraining("training-form",
                 cl::desc("Take BatchNormalization and Dropout as in training: "
                          "statistics of the batch, which move the running "
                          "ones, and elements that are dropped (as the model "
                          "says)"),
                 cl::sub(sub)),
      factors("autocast", cl::init(FactorType::AsModel),
              cl::desc("Round what matrix products and convolutions of float32 "
                       "tensors read and give (as the model says):"),
              cl::values(clEnumValN(FactorType::F16, "f16", "to float16"),
                         clEnumValN(FactorType::BF16, "bf16", "to bfloat16")),
              cl::sub(sub)),
      train("train", cl::value_desc("weight"),
            cl::desc(
                "Train this weight, and only those that are named; NAME* names "
                "all that begin so (all float weights that are no settings)"),
            cl::sub(sub)),
      freeze(
          "freeze", cl::value_desc("weight"),
          cl::desc("Leave this weight as it is; NAME* names all that begin so"),
          cl::sub(sub)) {}

LossOptions TrainingFlags::lossOptions() const {
  return {loss, output, classAxis, target, factors};
}

std::string TrainingFlags::describe() const {
  static constexpr llvm::StringLiteral kinds[] = {"output", "mse",
                                                  "cross-entropy"};
  return "loss " + kinds[static_cast<int>(loss.getValue())].str() +
         "\nloss of '" + output + "'\nclass axis " + std::to_string(classAxis) +
         "\ntarget '" + target + "'\n" +
         (inTraining ? "in training form\n" : "in the model's form\n") +
         (factors == FactorType::F16    ? "products of float16\n"
          : factors == FactorType::BF16 ? "products of bfloat16\n"
                                        : "products of the model's floats\n");
}

static llvm::Error checkPatterns(llvm::ArrayRef<std::string> patterns,
                                 llvm::ArrayRef<Weight> weights,
                                 llvm::StringRef file) {
  for (const std::string &pattern : patterns)
    if (llvm::none_of(weights, [&](const Weight &weight) {
          return runtime::matchesName(pattern, weight.name);
        }))
      return fail(Exit::Usage, file + ": has no weight '" +
                                   runtime::printable(pattern) +
                                   "'; mlc gradients lists them");
  return llvm::Error::success();
}

llvm::Expected<std::vector<Weight>>
TrainingFlags::choose(const onnx::ModelProto &model,
                      llvm::StringRef file) const {
  std::vector<Weight> weights = listWeights(model.graph(), inTraining);
  for (llvm::ArrayRef<std::string> patterns :
       {llvm::ArrayRef<std::string>(train),
        llvm::ArrayRef<std::string>(freeze)})
    if (llvm::Error error = checkPatterns(patterns, weights, file))
      return error;
  bool hasAny = false;
  for (Weight &weight : weights) {
    auto isNamedBy = [&](const cl::list<std::string> &patterns) {
      return llvm::any_of(patterns, [&](const std::string &pattern) {
        return runtime::matchesName(pattern, weight.name);
      });
    };
    bool isWanted = isNamedBy(train);
    if (isWanted && !weight.canBeTrained &&
        !llvm::is_contained(train, weight.name))
      isWanted = false;
    else if (isWanted && !weight.canBeTrained)
      return fail(Exit::Usage, file + ": the weight '" +
                                   runtime::printable(weight.name) +
                                   "' cannot be trained: " + weight.frozen);
    else if (isWanted)
      weight.frozen.clear();
    else if (!train.empty() && weight.frozen.empty())
      weight.frozen = "not named by --train";
    if (isNamedBy(freeze)) {
      weight.frozen = "named by --freeze";
      weight.isStatistic = false;
    }
    hasAny |= weight.frozen.empty();
  }
  if (!hasAny)
    return fail(Exit::Usage,
                file + ": nothing is trained: " +
                    (weights.empty() ? "it has no weights"
                                     : "every weight stays as it is; name "
                                       "one with --train"));
  return weights;
}

std::vector<const Weight *> TrainingModel::trained() const {
  std::vector<const Weight *> trained;
  for (const Weight &weight : weights)
    if (weight.frozen.empty())
      trained.push_back(&weight);
  return trained;
}

std::vector<const Weight *> TrainingModel::kept() const {
  std::vector<const Weight *> kept = trained();
  for (const Weight &weight : weights)
    if (weight.isStatistic)
      kept.push_back(&weight);
  return kept;
}

/// Sets the open first dims of the inputs to `batch`.
static std::vector<DimSetting> batchDims(const onnx::GraphProto &graph,
                                         int64_t batch) {
  llvm::StringSet<> weights;
  for (const onnx::TensorProto &tensor : graph.initializer())
    weights.insert(tensor.name());
  std::vector<DimSetting> dims;
  for (const onnx::ValueInfoProto &input : graph.input()) {
    const auto &shape = input.type().tensor_type().shape();
    if (batch <= 0 || weights.contains(input.name()) || shape.dim_size() == 0)
      continue;
    const std::string &name = shape.dim(0).dim_param();
    if (!name.empty() && llvm::none_of(dims, [&](const DimSetting &dim) {
          return dim.name == name;
        }))
      dims.push_back({name, batch});
  }
  return dims;
}

/// A weight or running statistic before it becomes a state.
struct Parameter {
  std::string name;
  mlir::ElementsAttr value;
};

static std::vector<Parameter> parametersOf(mlir::ModuleOp module) {
  std::vector<Parameter> found;
  auto main = module.lookupSymbol<mlir::func::FuncOp>("main");
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    if (auto value =
            main.getArgAttrOfType<mlir::ElementsAttr>(i, kParameterAttr)) {
      auto name = main.getArgAttrOfType<mlir::StringAttr>(i, "mlc.name");
      found.push_back({name ? name.str() : "", value});
    }
  return found;
}

/// Reads the initial values of the parameters.
static llvm::Error readValues(TrainingModel &training,
                              llvm::ArrayRef<Parameter> parameters) {
  for (const Parameter &parameter : parameters) {
    auto tensor = toHost(parameter.value);
    if (!tensor)
      return tensor.takeError();
    training.own.push_back(*tensor);
    auto wide = widened(std::move(*tensor));
    if (!wide)
      return wide.takeError();
    training.values.push_back(std::move(*wide));
  }
  return llvm::Error::success();
}

/// The dims of an argument; for a shard, those of the whole.
static llvm::SmallVector<IntExpr> wholeDims(mlir::func::FuncOp entry,
                                            unsigned argument) {
  if (auto whole = entry.getArgAttrOfType<DimsAttr>(argument, dist::kWholeAttr))
    return llvm::to_vector(whole.getDims());
  return *getDims(llvm::cast<mlir::RankedTensorType>(
      entry.getArgument(argument).getType()));
}

/// The batch size: the first dim of the first input with dims, if fixed, else
/// 0.
static int64_t samplesOf(mlir::ModuleOp module) {
  for (auto entry : module.getOps<mlir::func::FuncOp>())
    for (unsigned i = 0; i < entry.getNumArguments(); ++i) {
      if (entry.getArgAttr(i, kStateAttr))
        continue;
      if (auto dims = wholeDims(entry, i); !dims.empty())
        return dims[0].asConstant().value_or(0);
    }
  return 0;
}

/// Adds the inputs of a batch that an entry reads, if they are new.
static void addPorts(mlir::func::FuncOp entry,
                     std::vector<runtime::SamplePort> &ports) {
  for (unsigned i = 0; i < entry.getNumArguments(); ++i) {
    std::optional<runtime::DType> element =
        getDType(mlir::getElementTypeOrSelf(entry.getArgument(i).getType()));
    if (!entry.getArgAttr(i, kSampleAttr) || !element)
      continue;
    auto name = entry.getArgAttrOfType<mlir::StringAttr>(i, "mlc.name");
    runtime::SamplePort port{
        name ? name.str() : "", static_cast<mlc_dtype>(*element), {}, {}};
    if (llvm::any_of(ports, [&](const runtime::SamplePort &known) {
          return known.name == port.name;
        }))
      continue;
    for (IntExpr dim : wholeDims(entry, i)) {
      port.dims.push_back(dim.asConstant().value_or(-1));
      port.texts.push_back(dim.str());
    }
    ports.push_back(std::move(port));
  }
}

/// An attribute that refers to the tensor's elements.
static mlir::ElementsAttr attributeOf(const HostTensor &tensor,
                                      mlir::Type element) {
  return mlir::DenseResourceElementsAttr::get(
      mlir::RankedTensorType::get(tensor.dims, element), "weight",
      mlir::UnmanagedAsmResourceBlob::allocateWithAlign(
          llvm::ArrayRef(tensor.data.get(), tensor.bytes), /*align=*/64));
}

/// Sets the initial values of weights and running statistics to the file's.
static void setInitialValues(const TrainingModel &training) {
  using Role = runtime::StateRole;
  mlir::ModuleOp module = training.compilation->getModule();
  for (auto entry : module.getOps<mlir::func::FuncOp>())
    for (unsigned i = 0; i < entry.getNumArguments(); ++i) {
      auto state = entry.getArgAttrOfType<mlir::StringAttr>(i, kStateAttr);
      StateUse use = state ? getStateUse(module, state) : StateUse();
      const bool isRounded = use.role == Role::Rounded;
      if (!isRounded && use.role != Role::Weight && use.role != Role::Statistic)
        continue;
      mlir::Type element =
          mlir::getElementTypeOrSelf(entry.getArgument(i).getType());
      for (auto [weight, own, wide] :
           llvm::zip(training.kept(), training.own, training.values))
        if (weight->name == use.owner)
          entry.setArgAttr(i, kInitialAttr,
                           attributeOf(isRounded ? own : wide, element));
    }
}

/// Reads what the phases recorded in the module.
static void readFacts(TrainingModel &model, const LossOptions &loss) {
  mlir::ModuleOp module = model.compilation->getModule();
  runtime::Training &training = model.training;
  const std::string scale = runtime::name(runtime::InputRole::LossScale);
  training.batch = samplesOf(module);
  for (auto entry : module.getOps<mlir::func::FuncOp>()) {
    addPorts(entry, training.samples);
    for (unsigned i = 0; i < entry.getNumArguments(); ++i) {
      if (auto classes =
              entry.getArgAttrOfType<mlir::IntegerAttr>(i, kClassesAttr))
        training.classes = classes.getInt();
      auto role = entry.getArgAttrOfType<mlir::StringAttr>(i, kInputRoleAttr);
      model.optimizer.scalesLoss |= role && role == scale;
    }
  }
  for (auto [i, port] : llvm::enumerate(training.samples))
    if (loss.kind == LossKind::CrossEntropy && port.name == loss.target)
      training.labels = i;
}

/// Freezes weights that the loss does not depend on.
static llvm::Error leaveUnread(TrainingModel &training,
                               std::vector<Parameter> &parameters,
                               llvm::StringRef file) {
  auto unread =
      training.compilation->getModule()->getAttrOfType<mlir::ArrayAttr>(
          kUnreadAttr);
  for (mlir::StringAttr name :
       unread ? llvm::to_vector(unread.getAsRange<mlir::StringAttr>())
              : llvm::SmallVector<mlir::StringAttr>()) {
    llvm::erase_if(parameters, [&](const Parameter &parameter) {
      return parameter.name == name;
    });
    for (Weight &weight : training.weights)
      if (weight.name == name)
        weight.frozen = "the loss does not depend on it";
  }
  return training.trained().empty()
             ? fail(Exit::Usage,
                    file + ": nothing is trained: the loss depends on no "
                           "weight that may change; see --loss-of and --train")
             : llvm::Error::success();
}

/// The options for differentiation and, with a plan, for one rank.
static llvm::Expected<DifferentiateOptions>
optionsOf(const LossOptions &loss, const OptimizerFlags *optimizer,
          const TrainingEntries &entries, const runtime::Plan *plan) {
  DifferentiateOptions options;
  options.loss = loss;
  options.entries = entries;
  if (plan && plan->training->statistics == runtime::BatchStatistics::Local)
    options.statisticGroups = plan->training->ranks;
  if (!optimizer)
    return options;
  auto update = optimizer->optimizer();
  if (!update)
    return update.takeError();
  options.optimizer = *update;
  auto scaling = optimizer->scaling();
  if (!scaling)
    return scaling.takeError();
  options.scaling = *scaling;
  return options;
}

/// Makes the choices after the model is read; fills the weights.
static llvm::Expected<Compilation::Choice>
chooseFor(const onnx::ModelProto &model, const ModelOptions &options,
          const TrainingFlags &flags, bool isTrained, int64_t batch,
          const TrainingEntries &entries, llvm::ArrayRef<DimSetting> given,
          TrainingModel &training) {
  auto weights = flags.choose(model, options.model);
  if (!weights)
    return weights.takeError();
  training.weights = std::move(*weights);
  training.training.takesNaN =
      llvm::any_of(model.graph().node(), [](const onnx::NodeProto &node) {
        return node.op_type() == "IsNaN";
      });
  Compilation::Choice choice;
  choice.dims = batchDims(model.graph(), batch);
  choice.inTraining = flags.isInTraining();
  if (choice.inTraining && entries.evaluates)
    choice.ownForm = "evaluate";
  for (const DimSetting &dim : given)
    if (dim.value && llvm::any_of(choice.dims, [&](const DimSetting &open) {
          return open.name == dim.name && open.value != dim.value;
        }))
      return fail(Exit::Usage,
                  "--dim=" + dim.name + "=" + llvm::Twine(*dim.value) +
                      " is another size than --batch=" + llvm::Twine(batch));
  for (const Weight *weight : training.trained())
    choice.parameters.push_back(weight->name);
  for (const Weight &weight : training.weights)
    if (weight.isStatistic && isTrained)
      choice.statistics.push_back(weight.name);
  return choice;
}

llvm::Expected<TrainingModel> mlc::cli::readTrainingModel(
    const ModelOptions &options, const TrainingFlags &flags,
    const OptimizerFlags *optimizer, int64_t batch,
    const TrainingEntries &entries, const runtime::Plan *plan,
    llvm::function_ref<void(mlir::ModuleOp, runtime::TrainingPlan &)>
        choosePlan) {
  if (!options.parameters.empty())
    return fail(Exit::Usage, "--parameter is not taken here; --train and "
                             "--freeze say which weights change");
  auto given = parseDims(options.dims);
  if (!given)
    return given.takeError();
  const LossOptions loss = flags.lossOptions();
  auto made = optionsOf(loss, optimizer, entries, plan);
  if (!made)
    return made.takeError();
  TrainingModel training;
  if (made->optimizer)
    training.optimizer = *made->optimizer;
  auto choose = [&](const onnx::ModelProto &model) {
    return chooseFor(model, options, flags, made->optimizer.has_value(), batch,
                     entries, *given, training);
  };
  auto compilation = Compilation::import(options, choose);
  if (!compilation)
    return compilation.takeError();
  training.compilation = std::move(*compilation);
  training.training.model = training.compilation->getModelFile().getHash();
  std::vector<Parameter> parameters;
  if (optimizer)
    parameters = parametersOf(training.compilation->getModule());
  training.compilation->train(*made);
  runtime::Plan own;
  if (plan) {
    own = *plan;
    const mlir::ModuleOp graph = training.compilation->getModule();
    if (choosePlan)
      choosePlan(graph, *own.training);
    if (own.training)
      resolveEnds(training.compilation->getModelFile().proto().graph(), graph,
                  own.training->stages.ends);
    training.compilation->split(own);
  }
  llvm::Error failed =
      training.compilation->runTo(flags.compileTo.upTo("distribute"));
  if (optimizer)
    if (llvm::Error error = leaveUnread(training, parameters, options.model)) {
      llvm::consumeError(std::move(failed));
      return error;
    }
  if (failed)
    return failed;
  readFacts(training, loss);
  if (!optimizer)
    return training;
  // Values may be larger than this machine.
  if (!options.byShape) {
    if (llvm::Error error = readValues(training, parameters))
      return error;
    training.merged = findMerged(training.kept(), training.values);
    setInitialValues(training);
  }
  auto scale = optimizer->lossScale(training.optimizer.scalesLoss);
  if (!scale)
    return scale.takeError();
  describeOptimizer(training.optimizer, *scale, training.training);
  training.training.accumulate = entries.accumulate;
  if (plan && own.training->isStaged())
    if (auto status = describeStages(*own.training, training.training);
        !status.ok())
      return statusFailure(status);
  training.training.loss =
      flags.describe() + (entries.keepsHalf ? "weights of 16 bits kept\n" : "");
  return training;
}

llvm::Error mlc::cli::writePhase(const ModelOptions &options,
                                 const TrainingFlags &flags,
                                 const OptimizerFlags &optimizer, int64_t batch,
                                 TrainingEntries entries,
                                 const DistributionFlags &distribution,
                                 llvm::StringRef output) {
  if (llvm::Error error = refuseInputs({output.str()}, {options.model}))
    return error;
  auto plan = distribution.givenPlan();
  if (!plan)
    return plan.takeError();
  const runtime::TrainingPlan &split = *plan->training;
  entries.accumulate = split.accumulate;
  if (split.hasServer) {
    entries.evaluates = false;
    entries.isApart = entries.computesAlone = true;
  }
  entries.isApart |= split.isStaged();
  entries.countsGradients = split.countUpdates() > 1;
  const bool isSplit = split.isStaged() || split.isSplit();
  if (flags.compileTo.is("distribute") && !isSplit)
    warn(options.model, "nothing is distributed: there is one rank; give "
                        "--ranks");
  auto read = readTrainingModel(options, flags, &optimizer, batch, entries,
                                isSplit ? &*plan : nullptr);
  return read ? flags.compileTo.write(*read->compilation, output)
              : read.takeError();
}
