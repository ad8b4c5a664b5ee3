//===- ModelTimings.cpp - Measured times of a model's operators -----------===//

#include "dialects/Definition/OpInterfaces.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "rewrites/Cost/Cost.h"
#include "rewrites/ProofLog/Trail.h"
#include "tools/mlc/Calibration.h"
#include "tools/mlc/Session.h"
#include "llvm/ADT/StringMap.h"
#include <set>

using namespace mlc;
using namespace mlc::cli;

namespace {

/// Operators with their own kernel, by the model's node. An operator fused to
/// another has no time of its own.
llvm::StringMap<std::vector<std::string>> anchors(mlir::ModuleOp module) {
  // Sizes are irrelevant here, only the kind of operator matters.
  const SymbolSizes sizes;
  llvm::StringMap<std::vector<std::string>> byNode;
  for (auto function : module.getOps<mlir::func::FuncOp>())
    for (mlir::Operation &op : function.getBody().front()) {
      OperandFacts facts = CostModel::factsOf(&op);
      auto defined = mlir::dyn_cast<DefinitionOpInterface>(op);
      if (!defined || facts.resultsAreCompileTime)
        continue;
      auto definition = getDefinition(defined);
      if (mlir::failed(definition))
        continue;
      Work work = countWork(op.getContext(), *definition, sizes);
      if (work.isReinterpretation || (work.isPointwise && facts.isFed))
        continue;
      byNode[placeOf(op.getLoc())].push_back(operatorSignature(&op));
    }
  return byNode;
}

} // namespace

namespace {

/// Seconds of every step of a compiled model, each in its fastest run, since
/// other processes may take the core.
llvm::Expected<std::vector<double>>
stepSeconds(const Model &model, std::vector<HostTensor> feed, unsigned runs) {
  auto session = Session::create(model, /*device=*/"", 1, MLC_SESSION_PROFILE);
  if (!session)
    return session.takeError();
  if (llvm::Error error = session->bind(std::move(feed)))
    return std::move(error);
  std::vector<double> seconds(mlc_artifact_step_count(model.get()),
                              std::numeric_limits<double>::infinity());
  // The first runs warm up the caches.
  for (unsigned run = 0; run < runs + 2; ++run) {
    if (llvm::Error error = session->run())
      return std::move(error);
    for (size_t i = 0; i < seconds.size(); ++i) {
      uint64_t ns = 0;
      if (mlc_status status = mlc_session_step_ns(session->get(), i, &ns))
        return runtimeFailure(model.name(), status);
      if (run >= 2)
        seconds[i] = std::min(seconds[i], ns * 1e-9);
    }
  }
  return seconds;
}

/// The operators that each step computes, by their nodes.
llvm::Expected<std::vector<std::vector<std::string>>>
nodesOfSteps(const Model &model, size_t steps,
             const llvm::StringMap<std::vector<std::string>> &byNode) {
  std::vector<std::vector<std::string>> all(steps);
  for (size_t i = 0; i < steps; ++i) {
    mlc_step step;
    if (mlc_status status = mlc_artifact_step(model.get(), i, &step))
      return runtimeFailure(model.name(), status);
    for (const char *node : llvm::ArrayRef(step.nodes, step.node_count))
      if (byNode.count(node))
        all[i].push_back(node);
  }
  return all;
}

/// The time of single operators: sums an operator's steps (borders, then
/// itself), and omits operators that share a step with another. A step may
/// write into the borders of an operator behind it, which has a step of its
/// own.
llvm::Expected<std::map<std::string, std::vector<double>>>
operatorSeconds(const Model &model, llvm::ArrayRef<double> steps,
                const llvm::StringMap<std::vector<std::string>> &byNode) {
  auto all = nodesOfSteps(model, steps.size(), byNode);
  if (!all)
    return all.takeError();
  std::map<std::string, size_t> own; // its last step
  std::set<std::string> shared;
  for (auto [i, nodes] : llvm::enumerate(*all))
    if (nodes.size() == 1)
      own[nodes[0]] = i;
  std::map<std::string, double> alone;
  for (auto [i, seconds, nodes] : llvm::enumerate(steps, *all)) {
    if (nodes.size() > 1)
      llvm::erase_if(nodes, [&, i = i](const std::string &node) {
        return own.count(node) && own[node] > i;
      });
    if (nodes.size() == 1)
      alone[nodes[0]] += seconds;
    else
      shared.insert(nodes.begin(), nodes.end());
  }
  std::map<std::string, std::vector<double>> found;
  for (auto &[node, seconds] : alone) {
    const std::vector<std::string> &operators = byNode.find(node)->second;
    if (!shared.count(node) && operators.size() == 1 && seconds > 0)
      found[operators[0]].push_back(seconds);
  }
  return found;
}

} // namespace

llvm::Expected<ModelTimes> mlc::cli::timeModel(const ModelOptions &options,
                                               const InputOptions &inputs,
                                               unsigned runs,
                                               TimingCache &cache) {
  auto sizes = parseDims(options.dims);
  if (!sizes)
    return sizes.takeError();
  auto compilation = Compilation::import(options);
  if (!compilation)
    return compilation.takeError();
  if (llvm::Error error = (*compilation)->runTo("optimize"))
    return std::move(error);
  mlir::ModuleOp module = (*compilation)->getModule();
  auto byNode = anchors(module);
  ModelTimes times;
  CostModel cost = (*compilation)->makeCostModel();
  for (auto function : module.getOps<mlir::func::FuncOp>())
    times.predicted += cost.seconds(function.getBody());

  auto compiled = (*compilation)->compile();
  if (!compiled)
    return compiled.takeError();
  llvm::SmallVector<char, 0> bytes;
  if (llvm::Error error = (*compiled)->writeToMemory(bytes))
    return std::move(error);
  auto model = Model::fromMemory(std::move(bytes), options.model);
  if (!model)
    return model.takeError();
  auto feed = makeFeed(*model, *sizes, inputs);
  if (!feed)
    return feed.takeError();
  auto steps = stepSeconds(*model, std::move(*feed), runs);
  if (!steps)
    return steps.takeError();

  for (double seconds : *steps)
    times.measured += seconds;
  auto found = operatorSeconds(*model, *steps, byNode);
  if (!found)
    return found.takeError();
  for (auto &[signature, seconds] : *found) {
    llvm::sort(seconds);
    cache.timings[signature] = seconds[seconds.size() / 2];
  }
  return times;
}
