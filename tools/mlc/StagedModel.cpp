//===- StagedModel.cpp - A model that is trained in stages ----------------===//

#include "tools/mlc/StagedModel.h"
#include "dialects/Module/StageFacts.h"
#include "dialects/Symbolic/Attributes.h"
#include "onnx-ml.pb.h"
#include "passes/Program.h"
#include "runtime/schedule/StageEntry.h"
#include "runtime/schedule/Table.h"
#include "tools/mlc/Failure.h"
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

static std::vector<runtime::PipelinePort> portsOf(mlir::ArrayAttr ports,
                                                  int64_t microBatches) {
  std::vector<runtime::PipelinePort> all;
  for (auto fields : ports.getAsRange<mlir::DictionaryAttr>()) {
    auto type = mlir::cast<mlir::RankedTensorType>(
        fields.getAs<mlir::TypeAttr>("type").getValue());
    runtime::PipelinePort port;
    port.name = fields.getAs<mlir::StringAttr>("name").str();
    port.type = static_cast<mlc_dtype>(
        getDType(type.getElementType()).value_or(runtime::DType::F32));
    port.isDivided = fields.getAs<mlir::BoolAttr>("divided").getValue();
    for (auto [i, dim] : llvm::enumerate(*getDims(type))) {
      const IntExpr whole = i == 0 && port.isDivided ? dim * microBatches : dim;
      port.dims.push_back(whole.asConstant().value_or(-1));
      port.texts.push_back(whole.str());
    }
    all.push_back(std::move(port));
  }
  return all;
}

llvm::Expected<runtime::Pipeline>
mlc::cli::takePipeline(mlir::ModuleOp module,
                       const runtime::ForwardPlan &plan) {
  auto ports = module->getAttrOfType<mlir::DictionaryAttr>(kPipelineAttr);
  runtime::Pipeline pipeline;
  pipeline.stages = plan.stages.count;
  pipeline.microBatches = plan.microBatches;
  pipeline.ranks = plan.stages.ranks;
  pipeline.inputs =
      portsOf(ports.getAs<mlir::ArrayAttr>("inputs"), plan.microBatches);
  pipeline.outputs =
      portsOf(ports.getAs<mlir::ArrayAttr>("outputs"), plan.microBatches);
  module->removeAttr(kPipelineAttr);
  if (pipeline.ranks == 1)
    return pipeline;
  runtime::schedule::Table table;
  if (auto status = plan.makeTable(table); !status.ok())
    return statusFailure(status);
  pipeline.schedule = table.text();
  return pipeline;
}
