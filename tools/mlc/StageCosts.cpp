//===- StageCosts.cpp - What the stages of a step take --------------------===//

#include "tools/mlc/StageCosts.h"
#include "dialects/Module/States.h"
#include "dialects/Symbolic/Attributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "tools/mlc/EntryArena.h"
#include "llvm/ADT/StringMap.h"

using namespace mlc;
using namespace mlc::cli;
using namespace mlc::runtime::schedule;
using mlc::simulator::StageTimes;
using mlc::simulator::StepCosts;

std::optional<StageEntry> mlc::cli::findEntry(llvm::StringRef name) {
  if (name == "step" || name == "accumulate")
    return StageEntry{0, ActionKind::Backward};
  return name == "apply" ? StageEntry{0, ActionKind::Step}
                         : StageEntry::parse(name.str());
}

mlir::OwningOpRef<mlir::ModuleOp>
mlc::cli::withoutRepeats(mlir::ModuleOp module) {
  mlir::OwningOpRef<mlir::ModuleOp> copy = module.clone();
  mlir::IRRewriter rewriter(module.getContext());
  for (auto entry : copy->getOps<mlir::func::FuncOp>()) {
    mlir::DominanceInfo dominance(entry);
    mlir::eliminateCommonSubExpressions(rewriter, dominance, entry);
  }
  return copy;
}

using Entries = std::vector<std::pair<mlir::func::FuncOp, StageEntry>>;

static llvm::Error readTimes(const Entries &all, const EntryTimes &entries,
                             llvm::ArrayRef<std::vector<int64_t>> ranks,
                             StepCosts &costs) {
  for (auto [entry, name] : all) {
    StageTimes &times = costs.times[name.stage];
    auto time = entries.time(entry.getBody(), ranks[name.stage]);
    if (!time)
      return time.takeError();
    (name.kind == ActionKind::Forward          ? times.forward
     : name.kind == ActionKind::WeightGradient ? times.weight
     : name.isUpdate()                         ? times.step
                                               : times.input) += *time;
  }
  return llvm::Error::success();
}

static void readValues(mlir::ModuleOp module, const Entries &all,
                       StepCosts &costs) {
  llvm::StringMap<std::vector<int64_t>> readers;
  for (auto [entry, name] : all)
    for (unsigned i = 0; i < entry.getNumArguments(); ++i)
      if (auto role =
              entry.getArgAttrOfType<mlir::StringAttr>(i, kInputRoleAttr);
          role && role == runtime::name(runtime::InputRole::Carried))
        readers[entry.getArgAttrOfType<mlir::StringAttr>(i, "mlc.name")]
            .push_back(name.stage);
  for (auto [entry, name] : all)
    for (unsigned i = 0; i < entry.getNumResults(); ++i) {
      const int64_t bytes = tensorBytes(entry.getResultTypes()[i]);
      if (auto state =
              entry.getResultAttrOfType<mlir::StringAttr>(i, kStateAttr)) {
        if (getStateUse(module, state).role == runtime::StateRole::GradientSum)
          costs.sums[name.stage] += bytes;
        continue;
      }
      auto value = entry.getResultAttrOfType<mlir::StringAttr>(i, "mlc.name");
      if (auto it = readers.find(value.getValue()); it != readers.end())
        costs.values.push_back(
            {name.stage, bytes, name.isUpdate(), it->second});
    }
}

llvm::Expected<StepCosts>
mlc::cli::readStepCosts(mlir::ModuleOp module, const EntryTimes &entries,
                        llvm::ArrayRef<std::vector<int64_t>> ranks) {
  Entries all;
  for (auto entry : module.getOps<mlir::func::FuncOp>())
    if (auto name = findEntry(entry.getName());
        name && size_t(name->stage) < ranks.size())
      all.push_back({entry, *name});
  StepCosts costs;
  costs.times.assign(ranks.size(), StageTimes{0, 0, 0, 0});
  costs.sums.assign(ranks.size(), 0);
  if (llvm::Error error = readTimes(all, entries, ranks, costs))
    return std::move(error);
  readValues(module, all, costs);
  return costs;
}
