//===- StagedModel.cpp - A model that is trained in stages ----------------===//

#include "tools/mlc/StagedModel.h"
#include "onnx-ml.pb.h"
#include "runtime/schedule/StageEntry.h"
#include "runtime/schedule/Table.h"
#include "llvm/ADT/StringSet.h"

using namespace mlc;

void mlc::cli::resolveEnds(const onnx::GraphProto &graph, mlir::ModuleOp module,
                           std::vector<std::string> &ends) {
  llvm::StringSet<> known;
  module.walk([&](mlir::Operation *op) {
    if (auto name = op->getLoc()->findInstanceOf<mlir::NameLoc>())
      known.insert(name.getName().getValue());
  });
  auto nameOf = [](const onnx::NodeProto &node) {
    return node.name().empty() && node.output_size() ? node.output(0)
                                                     : node.name();
  };
  for (std::string &end : ends) {
    std::string last;
    for (const onnx::NodeProto &node : graph.node()) {
      const std::string name = nameOf(node);
      if (known.contains(name))
        last = name;
      if (name == end && !last.empty()) {
        end = last;
        break;
      }
    }
  }
}

std::function<bool(llvm::StringRef)>
mlc::cli::entriesOfRank(const runtime::TrainingPlan &plan, int64_t rank) {
  return [has = plan.stagesOf(rank)](llvm::StringRef name) {
    auto entry = runtime::schedule::StageEntry::parse(
        std::string_view(name.data(), name.size()));
    return !entry || static_cast<size_t>(entry->stage) >= has.size() ||
           has[entry->stage];
  };
}

runtime::Status mlc::cli::describeStages(const runtime::TrainingPlan &plan,
                                         runtime::Training &training) {
  training.stages = plan.stages.countSliced();
  runtime::schedule::Table table;
  if (plan.stages.ranks == 1)
    return runtime::Status::success();
  runtime::Status status = plan.makeTable(table);
  training.schedule = table.text();
  return status;
}
