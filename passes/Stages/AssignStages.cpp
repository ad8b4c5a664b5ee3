//===- AssignStages.cpp - The stages of a model's operators ---------------===//

#include "dialects/Module/StageFacts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Base/Form.h"
#include "passes/Base/Passes.h"
#include "passes/Stages/Divide.h"
#include "passes/Stages/Stages.h"
#include "runtime/plan/Nearest.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc {

#define GEN_PASS_DEF_ASSIGNSTAGESPASS
#include "passes/Base/Passes.h.inc"

namespace {

struct AssignStagesPass : impl::AssignStagesPassBase<AssignStagesPass> {
  using AssignStagesPassBase::AssignStagesPassBase;

  void runOnOperation() override {
    if (failed(requireForm(*this, getOperation(), Form::Graph)) ||
        failed(assign()))
      signalPassFailure();
  }

private:
  LogicalResult assign() {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main || !main.getBody().hasOneBlock())
      return getOperation().emitError()
             << "has no function @main of one block to cut into stages";
    SmallVector<Operation *> operators = listOperators(main);
    SmallVector<size_t> stageEnds;
    if (failed(ends.empty() ? divide(main, operators, stageEnds)
                            : findEnds(main, operators, stageEnds)))
      return failure();
    Builder b(&getContext());
    size_t stage = 0;
    for (auto [i, op] : llvm::enumerate(operators)) {
      stage += i == stageEnds[stage];
      op->setAttr(kStageAttr, b.getI64IntegerAttr(int64_t(stage)));
    }
    for (Operation &op :
         llvm::reverse(main.getBody().front().without_terminator()))
      takeFirstReaders(&op);
    return success();
  }

  /// What depends on parameters alone belongs to the first stage that reads it,
  /// and so does its gradient.
  static void takeFirstReaders(Operation *op) {
    if (op->hasAttr(kStageAttr) || op->getNumOperands() == 0)
      return;
    IntegerAttr first;
    for (Operation *user : op->getUsers())
      if (auto stage = user->getAttrOfType<IntegerAttr>(kStageAttr);
          stage && (!first || stage.getInt() < first.getInt()))
        first = stage;
    if (first)
      op->setAttr(kStageAttr, first);
  }

  /// Makes the heaviest stage as light as possible.
  LogicalResult divide(func::FuncOp main, ArrayRef<Operation *> operators,
                       SmallVectorImpl<size_t> &found) {
    if (stages < 1)
      return main.emitError()
             << "a model has one stage at least, not " << int64_t(stages);
    if (size_t(stages) > operators.size())
      return main.emitError()
             << "has " << operators.size() << " operators, too few for "
             << int64_t(stages) << " stages";
    found = divideEvenly(llvm::map_to_vector(operators, weigh), stages);
    return success();
  }

  LogicalResult findEnds(func::FuncOp main, ArrayRef<Operation *> operators,
                         SmallVectorImpl<size_t> &found) {
    for (const std::string &name : ends) {
      const size_t end = findEnd(main, operators, name);
      if (llvm::none_of(operators,
                        [](Operation *op) { return !nodeOf(op).empty(); }))
        return main.emitError()
               << "has operators without names, so no stage can end with node '"
               << name
               << "'; names are in locations, which printed modules "
                  "lack: give the number of stages";
      if (end == 0)
        return main.emitError()
               << "has no node '" << name << "' to end a stage with"
               << suggest(operators, name);
      if (end <= (found.empty() ? 0 : found.back()))
        return main.emitError()
               << "a stage ends with node '" << name
               << "', which does not come after the end of the stage before";
      found.push_back(end);
    }
    if (found.back() == operators.size())
      return main.emitError()
             << "the stage after node '" << (*ends)[ends.size() - 1]
             << "' is empty; the last stage ends with the "
                "model";
    found.push_back(operators.size());
    return success();
  }

  /// How many operators there are up to the last one of the node, which may
  /// itself depend on parameters alone; 0 without such a node.
  static size_t findEnd(func::FuncOp main, ArrayRef<Operation *> operators,
                        StringRef name) {
    size_t end = 0, count = 0;
    for (Operation &op : main.getBody().front().without_terminator()) {
      if (count < operators.size() && operators[count] == &op)
        ++count;
      if (nodeOf(&op) == name)
        end = count;
    }
    return end;
  }

  static std::string suggest(ArrayRef<Operation *> operators, StringRef name) {
    std::vector<std::string_view> nodes;
    for (Operation *op : operators)
      if (StringRef node = nodeOf(op); !node.empty())
        nodes.push_back(node);
    std::string_view nearest = runtime::nearestName(name, nodes);
    return nearest.empty() ? ""
                           : "; did you mean '" + std::string(nearest) + "'?";
  }
};

} // namespace

std::vector<std::string> listStageEnds(ModuleOp module, size_t most) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  std::vector<std::string> ends;
  if (!main || !main.getBody().hasOneBlock() || most < 2)
    return ends;
  // A node's operators stay together.
  SmallVector<uint64_t> weights;
  SmallVector<StringRef> names;
  llvm::StringMap<size_t> lastOf;
  llvm::DenseMap<Operation *, size_t> groupOf;
  const SmallVector<Operation *> operators = listOperators(main);
  for (Operation *op : operators) {
    const StringRef name = nodeOf(op);
    if (names.empty() || (!name.empty() && name != names.back())) {
      names.push_back(name);
      weights.push_back(0);
    }
    weights.back() += weigh(op);
    groupOf[op] = names.size() - 1;
    lastOf[name] = names.size() - 1;
  }
  most = std::min(most, weights.size());
  SmallVector<size_t> cuts = divideEvenly(weights, int64_t(most));
  moveToNarrowCuts(countCrossing(operators, groupOf, names.size()), cuts);
  for (size_t end : cuts)
    if (end < names.size() && !names[end - 1].empty() &&
        lastOf[names[end - 1]] == end - 1)
      ends.push_back(names[end - 1].str());
  return ends;
}

std::unique_ptr<Pass> createAssignStagesPass(const runtime::StagePlan &stages) {
  AssignStagesPassOptions options;
  options.stages = stages.count;
  for (const std::string &end : stages.ends)
    options.ends.push_back(end);
  return createAssignStagesPass(std::move(options));
}

} // namespace mlc
