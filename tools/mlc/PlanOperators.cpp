//===- PlanOperators.cpp - Which devices share which operator -------------===//

#include "tools/mlc/PlanOperators.h"
#include "planner/operators/Mcmc.h"
#include "planner/operators/OperatorPlanner.h"
#include <chrono>
#include "tools/mlc/Failure.h"
#include <fmt/format.h>

using namespace mlc;
using namespace mlc::cli;
using namespace mlc::planner;
using namespace mlc::simulator;

llvm::Error mlc::cli::planOperators(const OperatorRequest &request,
                                    const Cluster &cluster) {
  const std::string &target = cluster.deviceOf(0).target;
  if (request.model.target.getNumOccurrences() == 0 && !target.empty())
    request.model.target = target;
  auto step = readStepOperators(request.model, request.training,
                                request.optimizer, request.samples, cluster, int32_t(request.ranks));
  if (!step)
    return step.takeError();
  for (const StepOperator &op : step->graph.operators) {
    llvm::outs() << op.name << " (" << op.type << ") "
                 << fmt::format("{:.3g}+{:.3g} ms [",
                                op.forwardSeconds[0] * 1e3,
                                op.backwardSeconds[0] * 1e3);
    for (const OperatorDim &dim : op.dims)
      { llvm::outs() << " " << "SAP"[int(dim.kind)] << dim.extent;
      for (auto &[n, share] : dim.shares) llvm::outs() << fmt::format(" {}:{:.3f}", n, share); }
    llvm::outs() << "] reads";
    for (const TensorRead &read : op.reads) {
      llvm::outs() << " " << step->graph.tensors[read.tensor].name << "(";
      for (int32_t d : read.along)
        llvm::outs() << d << ",";
      llvm::outs() << (read.hasGradient ? ")" : ")!");
    }
    llvm::outs() << " weights";
    for (const WeightRead &read : op.weights) {
      llvm::outs() << " " << step->graph.weights[read.weight].name << "(";
      for (int32_t d : read.along)
        llvm::outs() << d << ",";
      llvm::outs() << ")";
    }
    llvm::outs() << "\n";
  }
  const Network network(cluster);
  StepSimulator simulator(
      step->graph, network,
      step->kinds,
      splitSamples(step->graph, int32_t(request.ranks)));
  llvm::outs() << "data parallel " << toText(simulator.span()) << " "
               << simulator.bytes() << " bytes\n";
  StrategySpace space(step->graph, int32_t(request.ranks));
  llvm::outs() << "space 10^" << space.digits() << "\n";
  if (request.isMcmc) {
    McmcOptions options;
    options.seed = request.seed;
    if (request.budget)
      options.proposals = request.budget;
    if (getenv("BETA")) options.beta = atof(getenv("BETA"));
    auto begin = std::chrono::steady_clock::now();
    OperatorPlan plan = walk(simulator, space, options);
    llvm::outs() << "mcmc " << toText(plan.span) << " " << plan.bytes << " accepted " << plan.accepted << " of " << plan.proposals << " in " << std::chrono::duration<double>(std::chrono::steady_clock::now()-begin).count() << "s, steps " << simulator.countSteps() << "\n";
  }
  if (!request.isMcmc) {
    auto begin = std::chrono::steady_clock::now();
    OperatorPlan plan = planner::planOperators(simulator, step->graph, space, network, request.budget ? request.budget : 200000);
    llvm::outs() << "soap " << toText(plan.span) << " " << plan.bytes << " accepted " << plan.accepted << " of " << plan.proposals << " in " << std::chrono::duration<double>(std::chrono::steady_clock::now()-begin).count() << "s, steps " << simulator.countSteps() << "\n";
  }
  simulator.set(splitSamples(step->graph, 1));
  llvm::outs() << "one " << toText(simulator.span()) << "\n";
  return llvm::Error::success();
}
