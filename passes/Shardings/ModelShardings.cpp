//===- ModelShardings.cpp - From a step to its shardings ------------------===//

#include "passes/Shardings/ModelShardings.h"
#include "mlir/IR/Diagnostics.h"
#include "passes/Distribute/DataParallel.h"
#include "passes/Distribute/Partition.h"
#include "passes/Distribute/Pin.h"

using namespace mlir;
using llvm::StringRef;

namespace mlc::dist {

LogicalResult splitSamples(ModuleOp module, int64_t ranks, std::string &wrong) {
  ScopedDiagnosticHandler handler(module.getContext(),
                                  [&](Diagnostic &diagnostic) {
                                    if (wrong.empty())
                                      wrong = diagnostic.str();
                                    return success();
                                  });
  DataParallelOptions samples;
  samples.ranks = ranks;
  if (failed(distributeTraining(module, samples)))
    return failure();
  return partition(module, {"", false, /*keepsPins=*/true});
}

func::FuncOp stepOf(ModuleOp module) {
  func::FuncOp step;
  size_t most = 0;
  for (auto function : module.getOps<func::FuncOp>())
    if (size_t count = function.getBody().front().getOperations().size();
        count > most) {
      most = count;
      step = function;
    }
  return step;
}

std::vector<runtime::TensorSharding>
listShardings(const ShardingProblem &problem, const planner::Choices &choices,
              ModuleOp module, StringRef axis) {
  std::vector<runtime::TensorSharding> shardings;
  auto add = [&](const std::string &name, const Place &place) {
    runtime::TensorSharding sharding{name, {{}}};
    if (place.isSplit()) {
      sharding.axes.resize(place.dim + 1);
      sharding.axes.back().push_back(axis.str());
    }
    shardings.push_back(std::move(sharding));
  };
  for (const auto &[owner, tensor] : problem.owners)
    if (const Place &place = ShardingProblem::placeOf(tensor, choices);
        place.isSplit())
      add(owner, place);
  for (Operation &op : stepOf(module).getBody().front().without_terminator()) {
    if (!op.hasAttr(kPinAttr) || op.hasAttr(kPinGradientAttr))
      continue;
    auto it = problem.results.find(op.getResult(0));
    if (it == problem.results.end() ||
        cast<RankedTensorType>(op.getResult(0).getType()).getRank() == 0)
      continue;
    // What stays partial is left to its readers.
    const Place &place = ShardingProblem::placeOf(it->second, choices);
    if (place.isWhole() ||
        (place.isSplit() && !place.hasHalo() && place.unit.isConstant(1)))
      add(nodeOf(&op).str(), place);
  }
  return shardings;
}

} // namespace mlc::dist
