//===- ModelTimings.cpp - Measured times of a model's operators -----------===//

#include "dialects/Interfaces/OpInterfaces.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "rewrites/Cost.h"
#include "rewrites/Trail.h"
#include "tools/mlc/Calibration.h"
#include "tools/mlc/Session.h"
#include "llvm/ADT/StringMap.h"

using namespace mlc;
using namespace mlc::cli;

namespace {

/// Operators that a kernel of their own is made for, by the model's node.
/// What is fused to another has no time of its own.
llvm::StringMap<std::vector<std::string>> anchors(mlir::ModuleOp module) {
  // Sizes do not matter here, only what kind of operator it is.
  const int64_t symbolValue = CostParameters().symbolValue;
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
      Work work = countWork(op.getContext(), *definition, symbolValue);
      if (work.isReinterpretation || (work.isPointwise && facts.isFed))
        continue;
      byNode[placeOf(op.getLoc())].push_back(operatorSignature(&op));
    }
  return byNode;
}

} // namespace

llvm::Error mlc::cli::timeModel(const ModelOptions &options,
                                const InputOptions &inputs, unsigned runs,
                                TimingCache &cache) {
  auto sizes = parseDims(options.dims);
  if (!sizes)
    return sizes.takeError();
  auto compilation = Compilation::import(options);
  if (!compilation)
    return compilation.takeError();
  if (llvm::Error error = (*compilation)->runTo("optimize"))
    return error;
  auto byNode = anchors((*compilation)->getModule());
  auto compiled = (*compilation)->compile();
  if (!compiled)
    return compiled.takeError();
  llvm::SmallVector<char, 0> bytes;
  if (llvm::Error error = (*compiled)->writeToMemory(bytes))
    return error;
  auto model = Model::fromMemory(std::move(bytes), options.model);
  if (!model)
    return model.takeError();
  auto feed = makeFeed(*model, *sizes, inputs);
  if (!feed)
    return feed.takeError();
  auto session = Session::create(*model, 1, MLC_SESSION_PROFILE);
  if (!session)
    return session.takeError();
  if (llvm::Error error = session->bind(std::move(*feed)))
    return error;

  size_t steps = mlc_artifact_step_count(model->get());
  std::vector<std::vector<uint64_t>> times(steps);
  for (unsigned run = 0; run < runs + 2; ++run) {
    if (llvm::Error error = session->run())
      return error;
    for (size_t i = 0; i < steps; ++i) {
      uint64_t ns = 0;
      if (mlc_status status = mlc_session_step_ns(session->get(), i, &ns))
        return runtimeFailure(model->name(), status);
      if (run >= 2)
        times[i].push_back(ns);
    }
  }
  std::map<std::string, std::vector<double>> found;
  for (size_t i = 0; i < steps; ++i) {
    mlc_step step;
    if (mlc_status status = mlc_artifact_step(model->get(), i, &step))
      return runtimeFailure(model->name(), status);
    // Only a kernel of one operator tells what that one takes.
    std::vector<std::string> inside;
    for (size_t k = 0; k < step.node_count; ++k)
      if (auto it = byNode.find(step.nodes[k]); it != byNode.end())
        llvm::append_range(inside, it->second);
    llvm::sort(times[i]);
    if (inside.size() == 1 && times[i][runs / 2] > 0)
      found[inside[0]].push_back(times[i][runs / 2] * 1e-9);
  }
  for (auto &[signature, seconds] : found) {
    llvm::sort(seconds);
    cache.timings[signature] = seconds[seconds.size() / 2];
  }
  return llvm::Error::success();
}
