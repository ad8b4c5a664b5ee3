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
#include "runtime/plan/Plan.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using Kind = mlc::runtime::schedule::ActionKind;

namespace mlc {

#define GEN_PASS_DEF_CUTSTAGESPASS
#include "passes/Base/Passes.h.inc"

namespace {

/// Cuts "accumulate", and finds the stages of the weights.
class GradientCut {
public:
  /// With `again`, backward passes carry out operators of the forward pass that
  /// it holds true of again.
  GradientCut(func::FuncOp accumulate, const StageOf &stages,
              llvm::function_ref<bool(Operation *)> again)
      : accumulate(accumulate), stages(stages), again(again),
        entries(accumulate), module(accumulate->getParentOfType<ModuleOp>()) {
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
    llvm::SmallVector<Operation *> waiting;
    auto take = [&](Operation *one) {
      if (entries.contains(entry, one))
        return;
      const bool isOwn = stages.isRepeated(one) || stages.entryOf(one) == entry;
      if (isOwn)
        entries.add(entry, one);
      else
        entries.addAgain(entry, one);
      if (isOwn && !stages.isRepeated(one))
        for (Value result : one->getResults())
          entries.setSource(result, entry);
      waiting.push_back(one);
    };
    take(op);
    while (!waiting.empty())
      for (Value operand : waiting.pop_back_val()->getOperands())
        if (Operation *source = operand.getDefiningOp();
            source && isTaken(entry, source))
          take(source);
        else
          read(entry, operand);
  }

  /// Whether an entry that reads an operator of another one carries it out.
  bool isTaken(const StageEntry &entry, Operation *op) const {
    if (stages.isRepeated(op))
      return true;
    const StageEntry own = stages.entryOf(op);
    return again && own.kind == Kind::Forward && own.stage == entry.stage &&
           entry.kind != Kind::Forward && again(op);
  }

  void read(const StageEntry &entry, Value value) {
    if (Operation *op = value.getDefiningOp()) {
      if (isTaken(entry, op))
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
  llvm::function_ref<bool(Operation *)> again;
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
    std::vector<bool> isFound(keptResults.size());
    auto isAgain = [&](Operation *op) {
      const auto node = op->getLoc()->findInstanceOf<NameLoc>();
      bool isKept = false;
      for (auto [i, pattern] : llvm::enumerate(keptResults))
        if (node && runtime::matchesName(pattern, node.getName().getValue()))
          isKept = isFound[i] = true;
      return !isKept;
    };
    for (Operation &op : accumulate.getBody().front())
      isAgain(&op);
    for (auto [i, pattern] : llvm::enumerate(keptResults))
      if (!isFound[i])
        return getOperation().emitError()
               << "no node is called '" << pattern << "', whose result a "
               << "backward pass would find";
    llvm::function_ref<bool(Operation *)> again;
    if (recomputes)
      again = isAgain;
    WeightStages weights = GradientCut(accumulate, stages, again).run();
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
  options.recomputes = plan.stages.recomputes;
  llvm::append_range(options.keptResults, plan.stages.keptResults);
  return createCutStagesPass(std::move(options));
}

} // namespace mlc
