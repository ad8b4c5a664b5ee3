//===- CutStages.cpp - A step of training as entries of stages ------------===//

#include "dialects/Module/StageFacts.h"
#include "dialects/Module/States.h"
#include "passes/Base/Form.h"
#include "passes/Base/Passes.h"
#include "passes/Stages/EntryBuilder.h"
#include "passes/Stages/StageOf.h"
#include "passes/Stages/Stages.h"
#include "passes/Stages/TiedSums.h"
#include "passes/Stages/Update.h"
#include "runtime/Training.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace mlc {

#define GEN_PASS_DEF_CUTSTAGESPASS
#include "passes/Base/Passes.h.inc"

namespace {

/// Cuts "accumulate", and finds the stages of the weights.
class GradientCut {
public:
  GradientCut(func::FuncOp accumulate, const StageOf &stages)
      : accumulate(accumulate), stages(stages), entries(accumulate),
        module(accumulate->getParentOfType<ModuleOp>()) {
    weights.count = stages.countStages();
  }

  WeightStages run() {
    for (Operation &op : body().without_terminator())
      if (!stages.isRepeated(&op))
        add(stages.entryOf(&op), &op);
    addResults();
    entries.build();
    return std::move(weights);
  }

private:
  Block &body() { return accumulate.getBody().front(); }

  /// Adds an operator to an entry, with the repeated ones that it reads.
  void add(const StageEntry &entry, Operation *op) {
    if (entries.contains(entry, op))
      return;
    entries.add(entry, op);
    if (!stages.isRepeated(op))
      for (Value result : op->getResults())
        entries.setSource(result, entry);
    for (Value operand : op->getOperands())
      read(entry, operand);
  }

  void read(const StageEntry &entry, Value value) {
    if (Operation *op = value.getDefiningOp()) {
      if (stages.isRepeated(op))
        add(entry, op);
      return;
    }
    if (auto state = accumulate.getArgAttrOfType<StringAttr>(
            cast<BlockArgument>(value).getArgNumber(), kStateAttr))
      weights.readers[state].insert(entry.stage);
  }

  void addResults() {
    Operation *end = body().getTerminator();
    for (auto [i, value] : llvm::enumerate(end->getOperands())) {
      StageEntry entry;
      Operation *op = value.getDefiningOp();
      if (op && !stages.isRepeated(op))
        entry = stages.entryOf(op);
      else
        read(entry, value);
      entries.addResult(entry, value, accumulate.getResultAttrDict(i));
      auto state = accumulate.getResultAttrOfType<StringAttr>(i, kStateAttr);
      const StateUse use = state ? getStateUse(module, state) : StateUse();
      if (use.role != runtime::StateRole::GradientSum)
        continue;
      // Of a tied weight, splitTiedSums adds sums behind the owner's.
      if (!weights.owners.try_emplace(use.owner, entry.stage).second)
        weights.owners[state] = entry.stage;
    }
  }

  func::FuncOp accumulate;
  const StageOf &stages;
  EntryBuilder entries;
  ModuleOp module;
  WeightStages weights;
};

struct CutStagesPass : impl::CutStagesPassBase<CutStagesPass> {
  using CutStagesPassBase::CutStagesPassBase;

  void runOnOperation() override {
    if (failed(requireForm(*this, getOperation(), Form::Graph)) ||
        failed(cut()))
      signalPassFailure();
  }

private:
  LogicalResult cut() {
    auto accumulate = getOperation().lookupSymbol<func::FuncOp>("accumulate");
    auto apply = getOperation().lookupSymbol<func::FuncOp>("apply");
    for (func::FuncOp function : {accumulate, apply})
      if (!function || !function.getBody().hasOneBlock())
        return getOperation().emitError()
               << "has no entries @accumulate and @apply of a step to cut";
    if (failed(checkStageAttributes(accumulate)))
      return failure();
    splitTiedSums(accumulate, apply, StageOf(accumulate, splitsBackward));
    StageOf stages(accumulate, splitsBackward);
    WeightStages weights = GradientCut(accumulate, stages).run();
    weights.updatesApart = updatesApart;
    weights.versioned.insert(versioned.begin(), versioned.end());
    if (failed(cutUpdate(apply, weights)))
      return failure();
    // Of the model in another form.
    getOperation().walk([](Operation *op) { op->removeAttr(kStageAttr); });
    return success();
  }
};

} // namespace

std::unique_ptr<Pass> createCutStagesPass(const runtime::TrainingPlan &plan) {
  CutStagesPassOptions options;
  options.splitsBackward = plan.splitsBackward();
  options.updatesApart = plan.countUpdates() > 1;
  llvm::append_range(options.versioned, plan.versionedStages());
  return createCutStagesPass(std::move(options));
}

} // namespace mlc
