//===- CheckPlanCommand.cpp - mlc check-plan ------------------------------===//

#include "onnx-ml.pb.h"
#include "passes/Import/ModelFile.h"
#include "runtime/FileBytes.h"
#include "runtime/Text.h"
#include "runtime/plan/Nearest.h"
#include "tools/mlc/Command.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/PlanOriginFlags.h"
#include "tools/mlc/Simulate.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <fmt/format.h>

using namespace mlc;
using namespace mlc::cli;
namespace cl = llvm::cl;
using runtime::printable;

namespace {

class CheckPlanCommand : public Command {
public:
  CheckPlanCommand()
      : Command("check-plan", "Say what is wrong with a plan, before anything "
                              "runs"),
        planFile(cl::Positional, cl::desc("<plan.json> [model.onnx]"),
                 cl::value_desc("plan"), cl::sub(sub)),
        model(sub, ""), training(sub), optimizer(sub),
        batch("batch", cl::init(0), cl::value_desc("number"),
              cl::desc("Samples in a batch, or in a micro-batch of a pipeline, "
                       "where the model leaves that open"),
              cl::sub(sub)),
        cluster("cluster", cl::value_desc("file.json|cluster:name"),
                cl::desc("The machines and their links (the plan's)"),
                cl::sub(sub)) {
    model.parameters.setHiddenFlag(cl::Hidden);
    model.byShape = true;
  }

  llvm::Error run() override;

private:
  llvm::Expected<runtime::Plan> read() const;
  std::string findModel(const runtime::Plan &plan) const;
  llvm::Error inPlan(const std::string &what) const {
    return fail(Exit::BadFile, planFile + ": " + what);
  }
  llvm::Error checkNodes(const onnx::GraphProto &graph,
                         const std::vector<std::string> &ends) const;
  llvm::Error checkTensors(const onnx::GraphProto &graph,
                           const runtime::Plan &plan) const;
  llvm::Error checkModel(const runtime::Plan &plan);
  llvm::Error checkBatch(const runtime::Plan &plan) const;
  llvm::Expected<std::string> checkMemory(const runtime::Plan &plan,
                                          const std::string &machines);

  cl::opt<std::string> planFile;
  ModelOptions model;
  TrainingFlags training;
  OptimizerFlags optimizer;
  cl::opt<int64_t> batch;
  cl::opt<std::string> cluster;
};

} // namespace

/// Reads a plan of training, or of a model if it is none.
llvm::Expected<runtime::Plan> CheckPlanCommand::read() const {
  runtime::FileBytes bytes;
  runtime::Plan plan;
  auto status =
      runtime::FileBytes::read(planFile.c_str(), runtime::maxTextFile, bytes);
  if (!status.ok())
    return fail(static_cast<Exit>(status.code),
                planFile + ": " + status.message);
  status = runtime::Plan::parse(bytes.text(), /*trains=*/true, plan);
  runtime::Plan other;
  if (!status.ok() &&
      runtime::Plan::parse(bytes.text(), /*trains=*/false, other).ok())
    return other;
  if (!status.ok())
    return inPlan(status.message);
  return plan;
}

/// The model that is given, or the plan's, beside the plan; empty if none is
/// there.
std::string CheckPlanCommand::findModel(const runtime::Plan &plan) const {
  if (!model.model.empty() || !plan.origin.model)
    return model.model;
  llvm::SmallString<128> path(llvm::sys::path::parent_path(planFile));
  llvm::sys::path::append(path, plan.origin.model->file);
  if (llvm::sys::path::is_absolute(plan.origin.model->file))
    path = plan.origin.model->file;
  return llvm::sys::fs::exists(path) ? path.str().str() : "";
}

static std::string suggest(const std::string &name,
                           const std::vector<std::string_view> &known) {
  const std::string_view nearest = runtime::nearestName(name, known);
  return nearest.empty() ? "; give another"
                         : "; did you mean '" + printable(nearest) + "'?";
}

/// Each end is a node, and they come in the model's order.
llvm::Error
CheckPlanCommand::checkNodes(const onnx::GraphProto &graph,
                             const std::vector<std::string> &ends) const {
  std::vector<std::string_view> names;
  for (const onnx::NodeProto &node : graph.node())
    names.push_back(node.name().empty() && node.output_size() ? node.output(0)
                                                              : node.name());
  std::ptrdiff_t before = -1;
  for (size_t i = 0; i < ends.size(); ++i) {
    auto last = std::find(names.rbegin(), names.rend(), ends[i]);
    const std::string where = "\"stages\": stage " + std::to_string(i) +
                              " is until '" + printable(ends[i]) + "', ";
    if (last == names.rend())
      return inPlan(where + "which is no node of " + model.model +
                    suggest(ends[i], names));
    const std::ptrdiff_t at = names.rend() - last - 1;
    if (at <= before)
      return inPlan(where + "which does not come after '" +
                    printable(ends[i - 1]) +
                    "', the end of the stage before: they would read each "
                    "other in a circle; give ends in the model's order");
    before = at;
  }
  return llvm::Error::success();
}

/// Each sharding is of a tensor that the model has.
llvm::Error CheckPlanCommand::checkTensors(const onnx::GraphProto &graph,
                                           const runtime::Plan &plan) const {
  const std::string target = training.lossOptions().target;
  std::vector<std::string_view> names;
  for (const onnx::ValueInfoProto &input : graph.input())
    names.push_back(input.name());
  for (const onnx::TensorProto &weight : graph.initializer())
    names.push_back(weight.name());
  for (const onnx::ValueInfoProto &output : graph.output())
    names.push_back(output.name());
  for (const onnx::NodeProto &node : graph.node())
    names.push_back(node.name().empty() && node.output_size() ? node.output(0)
                                                              : node.name());
  if (plan.training)
    names.push_back(target);
  for (const runtime::TensorSharding &sharding : plan.shardings)
    if (llvm::none_of(names, [&](std::string_view name) {
          return runtime::matchesName(sharding.pattern, name);
        }))
      return inPlan("\"shard\": '" + printable(sharding.pattern) +
                    "' is no input, weight, output or node of " + model.model +
                    suggest(sharding.pattern, names));
  return llvm::Error::success();
}

/// The stages of the step, or of the model; null without.
static const runtime::StagePlan *stagesOf(const runtime::Plan &plan) {
  return plan.training  ? &plan.training->stages
         : plan.forward ? &plan.forward->stages
                        : nullptr;
}

llvm::Error CheckPlanCommand::checkModel(const runtime::Plan &plan) {
  auto file = ModelFile::open(model.model);
  if (!file)
    return withFile(model.model, Exit::BadFile, file.takeError());
  if (auto status = plan.origin.checkModel(model.model, file->getHash());
      !status.ok())
    return inPlan(status.message);
  if (const runtime::StagePlan *stages = stagesOf(plan))
    if (llvm::Error error = checkNodes(file->proto().graph(), stages->ends))
      return error;
  return checkTensors(file->proto().graph(), plan);
}

/// Each rank that splits the batch has a sample at least.
llvm::Error CheckPlanCommand::checkBatch(const runtime::Plan &plan) const {
  if (batch < 0)
    return fail(Exit::Usage, "--batch counts samples, from 1 on");
  if (!plan.training || batch == 0)
    return llvm::Error::success();
  const int64_t ranks = plan.training->ranks;
  if (batch < ranks)
    return inPlan(fmt::format("\"mesh\": a batch of {} has no sample for each "
                              "of {} ranks of \"data\"; give a larger batch, "
                              "or fewer ranks",
                              batch.getValue(), ranks));
  const bool isLocal =
      plan.training->statistics == runtime::BatchStatistics::Local;
  if (batch % ranks != 0 && isLocal)
    return inPlan(
        fmt::format("\"batch_statistics\": local ones need parts of "
                    "one size, and {} ranks of \"data\" do not divide "
                    "a batch of {}; give a multiple of {}",
                    ranks, batch.getValue(), ranks));
  return llvm::Error::success();
}

/// Compares what each rank allocates with what its device has. Returns what was
/// found, or why nothing was.
llvm::Expected<std::string>
CheckPlanCommand::checkMemory(const runtime::Plan &plan,
                              const std::string &machines) {
  if (!plan.training || plan.training->stages.ranks < 2 ||
      plan.training->isSplit())
    return "memory is compared for stages on one rank each";
  if (model.model.empty() || !training.namesLoss())
    return "memory is not compared; give the model and --loss";
  auto result = simulate({model, training, optimizer, batch, plan, machines,
                          ArenaSource::Operators, 1});
  if (!result)
    return result.takeError();
  if (llvm::Error error = checkCapacity(*result))
    return error;
  int64_t most = 0;
  for (const simulator::RankMemory &memory : result->memory)
    most = std::max(most, memory.parts().total());
  return fmt::format("a rank allocates {} bytes at most, as far as can be "
                     "estimated",
                     most);
}

/// "4 stages on 4 ranks, 8 micro-batches".
static std::string describe(const runtime::Plan &plan) {
  if (!plan.training) {
    uint64_t ranks = 1;
    for (const runtime::MeshAxis &axis : plan.mesh)
      ranks *= axis.size;
    std::string text = fmt::format("{} rank{}", ranks, ranks == 1 ? "" : "s");
    if (plan.forward)
      text +=
          fmt::format(", {} stages, {} micro-batches, without training",
                      plan.forward->stages.count, plan.forward->microBatches);
    return text;
  }
  const runtime::TrainingPlan &own = *plan.training;
  std::string text = fmt::format("{} rank{}", own.countRanks(),
                                 own.countRanks() == 1 ? "" : "s");
  if (own.isStaged())
    text += fmt::format(", {} stages, {} micro-batches", own.stages.count,
                        own.accumulate);
  return text;
}

llvm::Error CheckPlanCommand::run() {
  if (planFile.empty())
    return fail(Exit::Usage, "no file; give a plan (.json)");
  auto plan = read();
  if (!plan)
    return plan.takeError();
  if (llvm::Error error = checkBatch(*plan))
    return error;
  auto machines = chooseCluster(cluster, *plan);
  if (!machines)
    return inPlan(llvm::toString(machines.takeError()));
  const bool hasCluster = !cluster.empty() || !plan->origin.cluster.empty();
  if (hasCluster)
    if (auto known = readCluster(*machines, *plan); !known)
      return known.takeError();
  model.model = findModel(*plan);
  if (!model.model.empty())
    if (llvm::Error error = checkModel(*plan))
      return error;
  std::string memory = "memory is not compared; name a cluster";
  if (hasCluster) {
    auto found = checkMemory(*plan, *machines);
    if (!found)
      return found.takeError();
    memory = *found;
  }
  llvm::outs() << printable(planFile)
               << ": nothing is wrong: " << describe(*plan)
               << (model.model.empty() ? "; no model is compared"
                                       : "; of " + printable(model.model))
               << "; " << memory << '\n';
  return llvm::Error::success();
}

std::unique_ptr<Command> mlc::cli::makeCheckPlanCommand() {
  return std::make_unique<CheckPlanCommand>();
}
