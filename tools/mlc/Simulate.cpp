//===- Simulate.cpp - From a model and a plan to a simulated step ---------===//

#include "tools/mlc/Simulate.h"
#include "dialects/Module/States.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/schedule/Versions.h"
#include "simulator/cluster/ClusterFile.h"
#include "simulator/cluster/Network.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/StageCosts.h"
#include "tools/mlc/StageMemory.h"
#include <fmt/format.h>

using namespace mlc;
using namespace mlc::cli;
using namespace mlc::simulator;
namespace schedule = mlc::runtime::schedule;

/// The table of a plan; on one rank all stages run in turn for each
/// micro-batch, forward and back.
static runtime::Status makeTable(const runtime::TrainingPlan &split,
                                 schedule::Table &table) {
  if (split.stages.ranks > 1)
    return split.makeTable(table);
  const auto stages = int32_t(split.stages.count);
  std::vector<schedule::Action> &actions = table.ranks.emplace_back();
  for (int64_t batch = 0; batch < split.accumulate; ++batch)
    for (auto kind :
         {schedule::ActionKind::Forward, schedule::ActionKind::Backward})
      for (int32_t i = 0; i < stages; ++i) {
        schedule::Action action;
        action.kind = kind;
        action.stage =
            kind == schedule::ActionKind::Forward ? i : stages - 1 - i;
        action.microBatch = int32_t(batch);
        actions.push_back(action);
      }
  return runtime::Status::success();
}

/// The ranks of the first copy of the pipeline, in the order of the table.
static std::vector<int64_t> firstCopy(llvm::ArrayRef<runtime::MeshAxis> mesh,
                                      int64_t ranks) {
  int64_t stride = 1;
  for (const runtime::MeshAxis &axis : llvm::reverse(mesh)) {
    if (axis.name == runtime::kStageAxis)
      break;
    stride *= axis.size;
  }
  std::vector<int64_t> all;
  for (int64_t rank = 0; rank < ranks; ++rank)
    all.push_back(ranks > 1 ? rank * stride : 0);
  return all;
}

/// Whether an action runs an entry. All entries of an update count with STEP.
static bool runs(const schedule::Action &action,
                 const schedule::StageEntry &entry) {
  using Kind = schedule::ActionKind;
  if (action.stage != entry.stage)
    return false;
  if (entry.isUpdate())
    return action.kind == Kind::Step;
  return action.kind == entry.kind ||
         (action.kind == Kind::Backward && entry.kind != Kind::Forward);
}

/// What each rank sends: to others of its copy of the pipeline, and in
/// collectives.
static llvm::Error addSent(mlir::ModuleOp module, const StepCosts &costs,
                           const EntryTimes &entries, Simulation &result) {
  const std::vector<int64_t> messages =
      StepOnRanks(costs, result.table).sentBytes();
  for (auto [rank, actions] : llvm::enumerate(result.table.ranks)) {
    std::map<schedule::StageEntry, int64_t> collectives;
    for (auto entry : module.getOps<mlir::func::FuncOp>())
      if (auto name = findEntry(entry.getName())) {
        auto bytes =
            entries.sentBytes(entry.getBody(), result.worldRanks[rank]);
        if (!bytes)
          return bytes.takeError();
        collectives[*name] += *bytes;
      }
    int64_t sent = rank < messages.size() ? messages[rank] : 0;
    for (const schedule::Action &action : actions)
      for (const auto &[entry, bytes] : collectives)
        sent += runs(action, entry) ? bytes : 0;
    result.sent.push_back(sent);
  }
  return llvm::Error::success();
}

static llvm::Error addCosts(const TrainingModel &read,
                            const ModelOptions &model, Simulation &result) {
  const runtime::TrainingPlan &split = *result.plan.training;
  const std::vector<runtime::MeshAxis> mesh = split.mesh();
  result.worldRanks = firstCopy(mesh, int64_t(result.table.ranks.size()));
  result.copies = split.countRanks() / int64_t(result.table.ranks.size());
  mlir::ModuleOp module = read.compilation->getModule();
  const Network network(result.cluster);
  auto devices = DeviceCosts::make(*read.compilation, model, result.cluster);
  if (!devices)
    return devices.takeError();
  const EntryTimes entries(*devices, network, mesh, result.plan.algorithm);
  std::vector<std::vector<int64_t>> ranks(result.table.countStages());
  for (size_t rank = 0; rank < result.table.ranks.size(); ++rank)
    for (int64_t stage : result.stagesOf(rank))
      llvm::append_range(ranks[stage], result.alike(rank));
  const auto once = withoutRepeats(module);
  auto costs = readStepCosts(*once, entries, ranks);
  if (!costs)
    return costs.takeError();
  std::vector<schedule::StageVersions> versions;
  if (schedule::isAsynchronous(result.table))
    if (auto status = schedule::findVersions(result.table, versions);
        !status.ok())
      return statusFailure(status);
  std::vector<int64_t> slots;
  for (const schedule::StageVersions &stage : versions)
    slots.push_back(stage.slots);
  result.step = readStepMemory(module, devices->of(0), slots);
  result.stages = costs->times;
  StepPlaces places{result.worldRanks, {}};
  for (int64_t rank : result.alike(0))
    places.offsets.push_back(rank - result.worldRanks[0]);
  if (auto status = makeStepTimeline(*costs, network, places, result.table,
                                     result.timeline);
      !status.ok())
    return statusFailure(status);
  return addSent(*once, *costs, entries, result);
}

/// Lowers or compiles the entries, so that their arenas are known to the byte.
static llvm::Error findArenas(const SimulationRequest &request,
                              TrainingModel &read, Simulation &result) {
  const CodeTarget target = read.compilation->getCodeTarget();
  const bool compiles = request.arenas == ArenaSource::Code;
  if (request.arenas == ArenaSource::Operators ||
      (!compiles && !target.backend))
    return llvm::Error::success();
  // A budget changes programs after the kernels are compiled.
  if (!compiles && !request.plan.memory) {
    if (llvm::Error error = read.compilation->runTo("fuse"))
      return error;
    result.isCompiled = previewArenas(read.compilation->getModule(), target,
                                      request.threads, result.step);
    return llvm::Error::success();
  }
  read.compilation->limitMemory(request.plan.memory);
  auto built = read.compilation->build();
  if (!built)
    return built.takeError();
  result.isCompiled = true;
  return readArenas(*built, request.threads, result.step);
}

llvm::Expected<Cluster> mlc::cli::readCluster(const std::string &name,
                                              const runtime::Plan &plan) {
  Cluster machines;
  if (auto status = openCluster(name, machines); !status.ok())
    return fail(static_cast<Exit>(status.code), name + ": " + status.message);
  const int64_t needed = plan.training ? plan.training->countRanks() : 1;
  if (machines.countRanks() < needed)
    return fail(Exit::Usage,
                fmt::format("{}: has {} ranks, and the plan {}; take another "
                            "cluster, or fewer ranks",
                            name, machines.countRanks(), needed));
  return machines;
}

llvm::Expected<Simulation>
mlc::cli::simulate(const SimulationRequest &request) {
  ModelOptions &model = request.model;
  const runtime::TrainingPlan &split = *request.plan.training;
  if (split.hasServer)
    return fail(Exit::Usage, "simulates no parameter server; give another "
                             "algorithm");
  auto machines = readCluster(request.cluster, request.plan);
  if (!machines)
    return machines.takeError();
  takeTarget(*machines, model);
  const bool isStaged = split.isStaged(), isSplit = isStaged || split.isSplit();
  auto read = readTrainingModel(
      model, request.training, &request.optimizer, request.batch,
      {split.accumulate, false, false, /*isApart=*/isStaged, false, false,
       split.countUpdates() > 1},
      isSplit ? &request.plan : nullptr);
  if (!read)
    return read.takeError();
  if (auto status =
          request.plan.origin.checkModel(model.model, read->training.model);
      !status.ok())
    return statusFailure(status);
  if (read->training.batch == 0)
    return fail(Exit::Usage, model.model + ": the batch is open; give --batch");
  Simulation result;
  result.model = model.model;
  result.cluster = std::move(*machines);
  result.plan = request.plan;
  result.plan.origin.model = {model.model, read->training.model};
  result.plan.origin.cluster = request.cluster;
  if (auto status = makeTable(split, result.table); !status.ok())
    return statusFailure(status);
  if (llvm::Error error = addCosts(*read, model, result))
    return error;
  if (llvm::Error error = findArenas(request, *read, result))
    return error;
  result.memory = findMemory(result.table, result.step);
  // What a whole step keeps is not counted.
  result.isCompiled &= isStaged;
  const Time busiest = *llvm::max_element(result.timeline.busy);
  result.plan.origin.predicted = {toSeconds(result.timeline.span),
                                  toSeconds(busiest)};
  return result;
}
