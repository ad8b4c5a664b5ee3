//===- Update.cpp - The update in stages ----------------------------------===//

#include "passes/Stages/Update.h"
#include "dialects/Module/StageFacts.h"
#include "dialects/Module/States.h"
#include "mlir/IR/Builders.h"
#include "passes/Base/Remedy.h"
#include "passes/Stages/EntryBuilder.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using llvm::StringRef;
using Kind = mlc::runtime::schedule::ActionKind;

namespace mlc {

namespace {

class UpdateCut {
public:
  UpdateCut(func::FuncOp apply, const WeightStages &weights)
      : apply(apply), weights(weights), entries(apply) {}

  LogicalResult run() {
    if (failed(checkReaders()))
      return failure();
    findHomes();
    if (failed(tell()))
      return failure();
    addSteps();
    entries.build();
    return success();
  }

private:
  /// Where an operator belongs, besides a stage.
  enum : int64_t {
    Anywhere = -1, ///< it depends on no state
    Joint = -2     ///< it depends on several stages; each makes its own
  };

  StringRef stateOf(BlockArgument argument) {
    auto state =
        apply.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kStateAttr);
    return state ? state.getValue() : StringRef();
  }

  int64_t homeOf(Value value) {
    if (Operation *op = value.getDefiningOp())
      return homes.lookup(op);
    StringRef state = stateOf(cast<BlockArgument>(value));
    if (state.empty())
      return Anywhere;
    // A sum of gradients of another stage than the owner's.
    auto module = apply->getParentOfType<ModuleOp>();
    auto own = weights.owners.find(state);
    return own != weights.owners.end()
               ? own->second
               : weights.owners.lookup(getStateUse(module, state).owner);
  }

  /// A weight of several stages would change at a time of all of them.
  LogicalResult checkReaders() {
    auto module = apply->getParentOfType<ModuleOp>();
    for (const auto &[state, stages] : weights.readers)
      if (weights.updatesApart && stages.size() > 1 &&
          getStateUse(module, state).role != runtime::StateRole::None)
        return apply->emitError()
               << "'" << getStateUse(module, state).owner
               << "' is read by stages "
               << *std::min_element(stages.begin(), stages.end()) << " and "
               << *std::max_element(stages.begin(), stages.end())
               << ", which the schedule updates at different times"
               << Remedy{Remedy::Kind::Freeze,
                         getStateUse(module, state).owner.str()};
    return success();
  }

  static bool isNumber(Value value) {
    return cast<RankedTensorType>(value.getType()).getRank() == 0;
  }

  void findHomes() {
    for (Operation &op : apply.getBody().front().without_terminator()) {
      llvm::SmallSet<int64_t, 4> found;
      bool isJoint = false;
      for (Value operand : op.getOperands()) {
        int64_t home = homeOf(operand);
        if (home >= 0)
          found.insert(home);
        isJoint |= home == Joint;
      }
      isJoint = (isJoint || found.size() > 1) &&
                llvm::all_of(op.getOperands(), isNumber) &&
                llvm::all_of(op.getResults(), isNumber);
      int64_t home = Anywhere;
      if (auto given = op.getAttrOfType<IntegerAttr>(kStageAttr))
        home = given.getInt();
      else if (isJoint)
        home = Joint;
      else if (!found.empty())
        home = *std::min_element(found.begin(), found.end());
      homes[&op] = home;
    }
  }

  /// Adds to NORM what other stages read.
  LogicalResult tell() {
    for (Operation &op : apply.getBody().front().without_terminator())
      for (Value operand : op.getOperands())
        if (int64_t home = homeOf(operand);
            home >= 0 && home != homes.lookup(&op) && failed(tell(operand)))
          return failure();
    for (auto [i, value] : llvm::enumerate(terminator()->getOperands()))
      if (!apply.getResultAttr(i, kStateAttr) && homeOf(value) >= 0 &&
          failed(tell(value)))
        return failure();
    return success();
  }

  LogicalResult tell(Value value) {
    if (weights.updatesApart)
      return apply->emitError()
             << "the update of a stage depends on the gradients of all, as by "
                "their norm, and the schedule updates each stage by itself"
             << Remedy{Remedy::Kind::UpdateTogether};
    StageEntry norm{homeOf(value), Kind::Norm};
    entries.setSource(value, norm);
    Operation *op = value.getDefiningOp();
    return op ? addToNorm(norm, op) : success();
  }

  LogicalResult addToNorm(const StageEntry &norm, Operation *op) {
    if (entries.contains(norm, op))
      return success();
    entries.add(norm, op);
    for (Value operand : op->getOperands()) {
      Operation *source = operand.getDefiningOp();
      if (!source)
        continue;
      int64_t home = homes.lookup(source);
      if (home == Joint || (home >= 0 && home < norm.stage))
        return op->emitOpError()
               << "of the update of stage " << norm.stage
               << " needs what an earlier stage has of all stages; train in "
                  "one stage";
      if ((home == norm.stage || home == Anywhere) &&
          failed(addToNorm(norm, source)))
        return failure();
    }
    return success();
  }

  void addToStep(const StageEntry &step, Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || entries.contains(step, op))
      return;
    int64_t home = homes.lookup(op);
    if (home >= 0 && home != step.stage)
      return; // another entry gives it
    entries.add(step, op);
    for (Value operand : op->getOperands())
      addToStep(step, operand);
  }

  Operation *terminator() { return apply.getBody().front().getTerminator(); }

  void addSteps() {
    for (auto [i, value] : llvm::enumerate(terminator()->getOperands())) {
      DictionaryAttr attributes = apply.getResultAttrDict(i);
      auto state = apply.getResultAttrOfType<StringAttr>(i, kStateAttr);
      if (!state) {
        for (int64_t stage = 0; stage < weights.count; ++stage)
          addResult(stage, value, attributes);
        continue;
      }
      int64_t home = homeOf(value);
      if (home < 0) {
        auto module = apply->getParentOfType<ModuleOp>();
        home = weights.owners.lookup(getStateUse(module, state).owner);
      }
      addResult(home, value,
                weights.isVersioned(state, home) ? nextOf(state, attributes)
                                                 : attributes);
      if (value.getDefiningOp())
        entries.setSource(value, {home, Kind::Step});
      for (int64_t stage : weights.readers.lookup(state))
        if (stage != home)
          addResult(stage, value, attributes);
    }
  }

  /// The attributes of a result that is the next version of a state, of which
  /// ranks have the same parts.
  DictionaryAttr nextOf(StringAttr state, DictionaryAttr attributes) {
    Builder b(apply.getContext());
    const std::string next = ("next/" + state.getValue()).str();
    setStateUse(apply->getParentOfType<ModuleOp>(), next,
                runtime::StateRole::Next, state);
    NamedAttrList own(attributes);
    own.set(kStateAttr, b.getStringAttr(next));
    return own.getDictionary(apply.getContext());
  }

  void addResult(int64_t stage, Value value, DictionaryAttr attributes) {
    StageEntry step{stage, Kind::Step};
    addToStep(step, value);
    entries.addResult(step, value, attributes);
  }

  func::FuncOp apply;
  const WeightStages &weights;
  EntryBuilder entries;
  llvm::DenseMap<Operation *, int64_t> homes;
};

} // namespace

LogicalResult cutUpdate(func::FuncOp apply, const WeightStages &weights) {
  return UpdateCut(apply, weights).run();
}

} // namespace mlc
