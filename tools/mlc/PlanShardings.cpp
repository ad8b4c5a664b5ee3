//===- PlanShardings.cpp - How a step is shared over a mesh ---------------===//

#include "tools/mlc/PlanShardings.h"
#include "dialects/Module/States.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "onnx-ml.pb.h"
#include "passes/Import/ModelFile.h"
#include "passes/Shardings/ModelShardings.h"
#include "passes/Shardings/ShardingProblem.h"
#include "passes/Stages/Repeats.h"
#include "planner/choices/Solve.h"
#include "runtime/Text.h"
#include "runtime/plan/Bytes.h"
#include "tools/mlc/DeviceCosts.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/MeshFlags.h"
#include "tools/mlc/OutputFile.h"
#include "tools/mlc/PlanPipelines.h"
#include "llvm/Support/JSON.h"
#include <fmt/format.h>
#include <set>

using namespace mlc;
using namespace mlc::cli;
namespace cl = llvm::cl;
namespace json = llvm::json;

ShardingPlanner::ShardingPlanner(cl::SubCommand &sub, ModelOptions &model,
                                 const TrainingFlags &training,
                                 const OptimizerFlags &optimizer)
    : model(model), training(training), optimizer(optimizer),
      mesh("mesh", cl::value_desc("data=N,axis=N"),
           cl::desc("With --planner=shardings: plan for this mesh (all ways to "
                    "write the number of ranks as data x tensor)"),
           cl::sub(sub)),
      memory("memory", cl::value_desc("bytes"),
             cl::desc("With --planner=shardings: the memory of a rank for "
                      "weights, what belongs to them, and intermediate "
                      "results, as 16GB (the device's)"),
             cl::sub(sub)) {}

std::vector<const cl::Option *> ShardingPlanner::options() const {
  return {&mesh, &memory};
}

/// Plans of training that have a mesh and no shardings yet.
llvm::Expected<std::vector<runtime::Plan>>
ShardingPlanner::meshes(const Request &request) const {
  const int64_t ranks = request.ranks;
  const std::string &wanted = request.mesh.empty() ? mesh : request.mesh;
  auto make = [](std::vector<runtime::MeshAxis> axes) {
    runtime::Plan plan;
    plan.training.emplace();
    plan.training->ranks = axes.front().size;
    plan.training->axes.assign(axes.begin() + 1, axes.end());
    return plan;
  };
  std::vector<runtime::Plan> all;
  if (wanted.empty()) {
    for (int64_t tensor = 1; tensor <= ranks; ++tensor)
      if (ranks % tensor == 0) {
        std::vector<runtime::MeshAxis> axes{
            {std::string(runtime::kDataAxis),
             static_cast<uint32_t>(ranks / tensor)}};
        if (tensor > 1)
          axes.push_back({kTensorAxis, static_cast<uint32_t>(tensor)});
        all.push_back(make(std::move(axes)));
      }
    return all;
  }
  runtime::Plan given;
  if (llvm::Error error = addAxes(wanted, given))
    return error;
  int64_t product = 1;
  for (const runtime::MeshAxis &axis : given.mesh)
    product *= axis.size;
  if (given.mesh.size() > 2 || given.mesh.front().name != runtime::kDataAxis)
    return fail(Exit::Usage, "--mesh=" + wanted +
                                 ": begins with the axis data, and has one "
                                 "other axis at most");
  if (product != ranks)
    return fail(Exit::Usage,
                fmt::format("--mesh={}: has {} ranks, and there are {}; give "
                            "--ranks={}",
                            wanted, product, ranks, product));
  all.push_back(make(given.mesh));
  return all;
}

llvm::Expected<int64_t>
ShardingPlanner::memoryOf(const simulator::Cluster &cluster) const {
  if (memory.empty())
    return static_cast<int64_t>(cluster.deviceOf(0).memoryBytes.value) *
           sharers;
  uint64_t bytes = 0;
  if (!runtime::parseBytes(memory, bytes) || bytes == 0 ||
      bytes > uint64_t(INT64_MAX) / 4)
    return fail(Exit::Usage,
                "--memory=" + memory + ": expected bytes, as 16GB or 1.5GiB");
  return static_cast<int64_t>(bytes);
}

static std::string describeMesh(const runtime::Plan &plan) {
  std::string text;
  for (const runtime::MeshAxis &axis : plan.training->mesh())
    text +=
        (text.empty() ? "" : ",") + axis.name + "=" + std::to_string(axis.size);
  return text;
}

/// The choices along the second axis, after samples are split; of a mesh
/// without one, of an axis that splits nothing yet.
llvm::Expected<dist::ShardingProblem> ShardingPlanner::makeProblem(
    const simulator::Cluster &cluster, TrainingModel &read,
    const runtime::TrainingPlan &split, bool needsReason) {
  mlir::ModuleOp module = read.compilation->getModule();
  std::string wrong;
  if (mlir::failed(dist::splitSamples(module, split.ranks, wrong)))
    return fail(Exit::Unsupported, model.model + ": " + wrong);
  const CostModel cost = read.compilation->makeCostModel();
  MeshCosts costs(cluster, split.mesh());
  const runtime::MeshAxis axis = split.axes.empty()
                                     ? runtime::MeshAxis{kTensorAxis, 2}
                                     : split.axes.front();
  dist::ShardingOptions options;
  options.axis =
      dist::AxisAttr::get(module.getContext(), axis.name,
                          IntExpr::constant(module.getContext(), axis.size));
  options.costs.operation = [&](mlir::Operation *op) {
    return costs.seconds(op, cost);
  };
  options.costs.exchange = [&](runtime::transport::Collective collective,
                               double bytes) {
    const bool isOfPart =
        collective == runtime::transport::Collective::AllToAll;
    return costs.exchange(axis.name, collective,
                          isOfPart ? bytes / double(axis.size) : bytes);
  };
  options.ownerOf = [&](llvm::StringRef state) {
    return getStateUse(module, state).owner;
  };
  auto bytes = memoryOf(cluster);
  if (!bytes)
    return bytes.takeError();
  options.memory = *bytes;
  options.needsReason = needsReason;
  return makeShardingProblem(dist::stepOf(module), options);
}

/// An error if a rank has too little memory for all that is not split.
llvm::Error ShardingPlanner::checkMemory(const simulator::Cluster &cluster,
                                         const runtime::Plan &plan) {
  auto read =
      readTrainingModel(model, training, &optimizer, batch, {}, nullptr);
  if (!read)
    return read.takeError();
  auto problem = makeProblem(cluster, *read, *plan.training, false);
  if (!problem)
    return problem.takeError();
  // The first choice of all is the whole.
  const planner::Choices whole(problem->problem.nodes.size(), 0);
  for (const planner::ChoiceProblem::Row &row : problem->problem.rows)
    if (const int64_t bytes = planner::bytesOf(row, whole); bytes > row.budget)
      return fail(
          Exit::Resources,
          fmt::format("{}: on {} ranks as {}: nothing fits: {} needs at "
                      "least {} bytes, and there are {}",
                      model.model.getValue(), plan.training->countRanks(),
                      describeMesh(plan), runtime::printable(row.name), bytes,
                      row.budget));
  return llvm::Error::success();
}

/// Solves the choices along the second axis.
llvm::Error ShardingPlanner::choose(const simulator::Cluster &cluster,
                                    TrainingModel &read, bool needsReason,
                                    Found &found) {
  const runtime::TrainingPlan &split = *found.plan.training;
  auto problem = makeProblem(cluster, read, split, needsReason);
  if (!problem)
    return problem.takeError();
  planner::ChoiceSolution solution;
  if (auto status = planner::solveByElimination(problem->problem, {}, solution);
      !status.ok()) {
    status.message = fmt::format("{}: on {} ranks as {}: {}",
                                 model.model.getValue(), split.countRanks(),
                                 describeMesh(found.plan), status.message);
    return statusFailure(status);
  }
  found.cost = solution.cost;
  found.bound = solution.bound;
  found.gap = solution.gap();
  found.choices = problem->problem.nodes.size();
  llvm::append_range(found.plan.shardings,
                     dist::listShardings(*problem, solution.choices,
                                         read.compilation->getModule(),
                                         split.axes.front().name));
  return llvm::Error::success();
}

llvm::Expected<MeshCosts::Sum>
ShardingPlanner::price(const simulator::Cluster &cluster,
                       const runtime::Plan &plan) {
  auto read = readTrainingModel(model, training, &optimizer, batch, {},
                                plan.training->isSplit() ? &plan : nullptr);
  if (!read)
    return read.takeError();
  hash = read->training.model;
  const CostModel cost = read->compilation->makeCostModel();
  return MeshCosts(cluster, plan.training->mesh())
      .sum(read->compilation->getModule(), cost);
}

/// The names of the model's nodes, once each.
static llvm::Expected<std::vector<std::string>>
nodesOf(const std::string &path) {
  auto file = ModelFile::open(path);
  if (!file)
    return withFile(path, Exit::BadFile, file.takeError());
  std::vector<std::string> names;
  std::set<std::string> known;
  for (const onnx::NodeProto &node : file->proto().graph().node()) {
    const std::string &name = node.name().empty() && node.output_size()
                                  ? node.output(0)
                                  : node.name();
    if (!name.empty() && name.find('*') == std::string::npos &&
        known.insert(name).second)
      names.push_back(name);
  }
  return names;
}

/// Gives repeats that were left out the shardings of the second one.
static void addRepeats(const Repeats &repeats,
                       std::vector<runtime::TensorSharding> &all) {
  std::vector<runtime::TensorSharding> more;
  for (const runtime::TensorSharding &sharding : all)
    if (auto it = repeats.names.find(sharding.pattern);
        it != repeats.names.end())
      for (const std::string &name : llvm::drop_begin(it->second))
        if (name != sharding.pattern)
          more.push_back({name, sharding.axes});
  llvm::append_range(all, more);
}

/// Solves the choices of the model.
llvm::Error ShardingPlanner::solve(const simulator::Cluster &cluster,
                                   const runtime::Plan &plan, bool needsReason,
                                   Found &found) {
  // Marks what can be pinned; one rank has all.
  runtime::Plan marks;
  marks.training.emplace();
  auto nodes = nodesOf(model.model);
  if (!nodes)
    return nodes.takeError();
  for (std::string &node : *nodes)
    marks.shardings.push_back({std::move(node), {{}}});
  std::optional<Repeats> repeats;
  auto shorten = [&](mlir::ModuleOp module, runtime::TrainingPlan &) {
    if (sharers > 1)
      repeats = shortenRepeats(module, /*most=*/1024);
  };
  auto read = readTrainingModel(model, training, &optimizer, batch, {}, &marks,
                                shorten);
  if (!read)
    return read.takeError();
  if (llvm::Error error = choose(cluster, *read, needsReason, found))
    return error;
  if (repeats)
    addRepeats(*repeats, found.plan.shardings);
  if (llvm::all_of(
          found.plan.shardings, [](const runtime::TensorSharding &sharding) {
            return llvm::all_of(sharding.axes,
                                [](const auto &axes) { return axes.empty(); });
          }))
    return fail(Exit::Resources,
                fmt::format("{}: on {} ranks as {}: nothing is worth being "
                            "split over the last axis; give fewer ranks, or "
                            "another mesh",
                            model.model.getValue(), plan.training->countRanks(),
                            describeMesh(plan)));
  return llvm::Error::success();
}

/// A solution of the choices, carried out by the partitioner.
llvm::Expected<ShardingPlanner::Found>
ShardingPlanner::planChoices(const simulator::Cluster &cluster,
                             const runtime::Plan &plan, bool needsReason) {
  Found found;
  found.plan = plan;
  if (llvm::Error error = solve(cluster, plan, needsReason, found))
    return std::move(error);
  auto step = price(cluster, found.plan);
  if (!step)
    return step.takeError();
  found.step = *step;
  return found;
}

/// The best plan of a mesh. The partitioner does not follow all choices of the
/// backward pass, so two problems are solved, and what is faster counts: one in
/// which operators choose freely, which gives the bound, and one in which the
/// partitioner has a reason for each choice.
llvm::Expected<ShardingPlanner::Found>
ShardingPlanner::planMesh(const simulator::Cluster &cluster,
                          const runtime::Plan &plan) {
  if (plan.training->axes.empty()) {
    Found found;
    found.plan = plan;
    if (llvm::Error error = checkMemory(cluster, plan))
      return error;
    auto step = price(cluster, plan);
    if (!step)
      return step.takeError();
    found.step = *step;
    return found;
  }
  auto freely = planChoices(cluster, plan, /*needsReason=*/false);
  if (!freely)
    return freely.takeError();
  auto follows = planChoices(cluster, plan, /*needsReason=*/true);
  if (!follows)
    return follows.takeError();
  if (follows->step.seconds() < freely->step.seconds()) {
    freely->plan = follows->plan;
    freely->step = follows->step;
  }
  return freely;
}

void ShardingPlanner::print(const std::vector<Found> &all, const Found &best,
                            bool asJson) const {
  if (asJson) {
    json::Array meshes;
    for (const Found &found : all) {
      json::Object one{{"mesh", describeMesh(found.plan)},
                       {"seconds", found.step.seconds()},
                       {"computing_seconds", found.step.computing},
                       {"exchanging_seconds", found.step.exchanging},
                       {"exchanges", found.step.exchanges},
                       {"exchanged_bytes", found.step.bytes}};
      if (found.choices) {
        one["cost"] = found.cost;
        one["bound"] = found.bound;
        one["gap"] = found.gap;
        one["choices"] = int64_t(found.choices);
      }
      meshes.push_back(std::move(one));
    }
    json::Object shard;
    for (const runtime::TensorSharding &sharding : best.plan.shardings)
      shard[json::fixUTF8(sharding.pattern)] = sharding.text();
    llvm::outs() << json::Value(json::Object{{"mesh", describeMesh(best.plan)},
                                             {"seconds", best.step.seconds()},
                                             {"meshes", std::move(meshes)},
                                             {"shard", std::move(shard)}})
                 << '\n';
    return;
  }
  for (const Found &found : all) {
    llvm::outs() << fmt::format(
        "{}: {:.4g} ms, of these {:.4g} ms for {} exchanges",
        describeMesh(found.plan), found.step.seconds() * 1e3,
        found.step.exchanging * 1e3, found.step.exchanges);
    if (found.choices)
      llvm::outs() << fmt::format(
          "; by the choices of {} operators and tensors {:.4g} ms, at least "
          "{:.4g} ms, gap {:.2f} %",
          found.choices, found.cost * 1e3, found.bound * 1e3, found.gap * 100);
    llvm::outs() << '\n';
  }
  llvm::outs() << "the fastest: " << describeMesh(best.plan) << '\n';
  for (const runtime::TensorSharding &sharding : best.plan.shardings)
    llvm::outs() << "  " << runtime::printable(sharding.pattern) << " "
                 << sharding.text() << '\n';
}

llvm::Expected<std::vector<ShardingPlanner::Found>>
ShardingPlanner::find(const simulator::Cluster &cluster,
                      const Request &request) {
  batch = request.samples;
  takeTarget(cluster, model);
  if (auto bytes = memoryOf(cluster); !bytes)
    return bytes.takeError();
  auto plans = meshes(request);
  if (!plans)
    return plans.takeError();
  std::vector<Found> all;
  llvm::Error first = llvm::Error::success();
  for (const runtime::Plan &plan : *plans) {
    auto found = planMesh(cluster, plan);
    if (found) {
      all.push_back(std::move(*found));
      continue;
    }
    // What a mesh with several axes lacks says more than a pure data mesh.
    llvm::consumeError(std::move(first));
    first = found.takeError();
  }
  // A mesh may have more ranks than samples, or too little memory.
  if (all.empty())
    return std::move(first);
  llvm::consumeError(std::move(first));
  return all;
}

llvm::Expected<std::vector<runtime::Plan>>
ShardingPlanner::plan(const simulator::Cluster &cluster,
                      const Request &request) {
  auto all = find(cluster, request);
  if (!all)
    return all.takeError();
  std::vector<runtime::Plan> plans;
  for (const Found &found : *all)
    if (!found.plan.training->axes.empty())
      plans.push_back(found.plan);
  return plans;
}

llvm::Expected<std::vector<runtime::TensorSharding>>
ShardingPlanner::split(const simulator::Cluster &cluster, int64_t parts,
                       int64_t samples, int64_t ranks) {
  batch = samples;
  sharers = ranks;
  runtime::Plan plan;
  plan.training.emplace();
  plan.training->axes = {{kTensorAxis, static_cast<uint32_t>(parts)}};
  Found found;
  found.plan = plan;
  llvm::Error error = solve(cluster, plan, /*needsReason=*/true, found);
  sharers = 1;
  if (error)
    return std::move(error);
  return std::move(found.plan.shardings);
}

llvm::Error ShardingPlanner::run(const simulator::Cluster &cluster,
                                 const Request &request) {
  auto all = find(cluster, request);
  if (!all)
    return all.takeError();
  Found &best = *std::min_element(all->begin(), all->end(),
                                  [](const Found &a, const Found &b) {
                                    return a.step.seconds() < b.step.seconds();
                                  });
  print(*all, best, request.asJson);
  if (request.output.empty())
    return llvm::Error::success();
  best.plan.origin.model = {model.model, hash};
  best.plan.origin.cluster = request.cluster;
  best.plan.origin.predicted = {best.step.seconds(), best.step.computing};
  return writeOutputs({{request.output, [&](llvm::raw_ostream &os) {
                          os << best.plan.text();
                          return llvm::Error::success();
                        }}});
}
