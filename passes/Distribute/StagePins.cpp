//===- StagePins.cpp - Stages that split samples over more axes -----------===//

#include "passes/Distribute/StagePins.h"
#include "dialects/Module/StageFacts.h"
#include "dialects/Module/States.h"
#include "mlir/IR/Builders.h"
#include "passes/Distribute/Plan.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc::dist {

SmallVector<int64_t> batchStagesOf(ModuleOp module, AxisAttr axis) {
  auto all = module->getAttrOfType<DictionaryAttr>(kBatchStagesAttr);
  auto own =
      all ? all.getAs<DenseI64ArrayAttr>(axis.getName()) : DenseI64ArrayAttr();
  return own ? SmallVector<int64_t>(own.asArrayRef()) : SmallVector<int64_t>();
}

namespace {

class Pinner {
public:
  Pinner(func::FuncOp function, ArrayRef<int64_t> stages, AxisAttr axis)
      : function(function), stages(stages), axis(axis) {}

  Pins run() {
    Block &body = function.getBody().front();
    for (BlockArgument argument : body.getArguments())
      if (!function.getArgAttr(argument.getArgNumber(), kStateAttr))
        addInput(argument);
    for (Operation &op : body.without_terminator()) {
      findStage(op);
      findSamples(op);
    }
    for (BlockArgument argument : body.getArguments())
      pin(argument);
    SmallVector<Operation *> all;
    for (Operation &op : body.without_terminator())
      all.push_back(&op);
    for (Operation *op : all)
      for (Value result : op->getResults())
        pin(result);
    return std::move(pins);
  }

private:
  void addInput(BlockArgument argument) {
    if (cast<RankedTensorType>(argument.getType()).getRank() == 0)
      return;
    samples[argument] = Place::split(
        0, dimsOf(argument)[0], IntExpr::constant(function.getContext(), 1));
    data.insert(argument);
  }

  /// As StageOf (passes/Stages) finds it: an exchange has the stage of what it
  /// exchanges.
  void findStage(Operation &op) {
    auto given = op.getAttrOfType<IntegerAttr>(kStageAttr);
    bool isBackward = op.hasAttr(kBackwardAttr);
    int64_t last = -1, first = -1;
    for (Value operand : op.getOperands()) {
      Operation *source = operand.getDefiningOp();
      if (!source)
        continue;
      const int64_t stage = stageOf.lookup(source);
      last = std::max(last, stage);
      if (backward.contains(source)) {
        isBackward = true;
        first = first < 0 ? stage : std::min(first, stage);
      }
    }
    if (isBackward)
      backward.insert(&op);
    stageOf[&op] = given ? given.getInt() : first < 0 ? last : first;
  }

  /// Follows samples from operands to the result.
  void findSamples(Operation &op) {
    if (!llvm::any_of(op.getOperands(),
                      [&](Value value) { return data.contains(value); }))
      return;
    data.insert(op.result_begin(), op.result_end());
    std::optional<Definition> definition;
    for (auto [i, operand] : llvm::enumerate(op.getOperands())) {
      auto known = samples.find(operand);
      if (known == samples.end())
        continue;
      if (!definition)
        definition = meaningOf(&op);
      if (!definition)
        return;
      auto factor = findFactor(*definition, {false, unsigned(i)},
                               Place(known->second), axis);
      if (!factor)
        continue;
      const Place place = factor->placeOf({true, definition->results[0]});
      if (place.isSplit() && !place.hasHalo()) {
        samples[op.getResult(0)] = place;
        return;
      }
    }
  }

  bool splits(int64_t stage) const { return llvm::is_contained(stages, stage); }

  /// Puts a pin between a value and its readers of the other kind.
  void pin(Value value) {
    if (!data.contains(value) ||
        cast<RankedTensorType>(value.getType()).getRank() == 0)
      return;
    Operation *source = value.getDefiningOp();
    // Without a stage it stays as it is.
    if (source && stageOf.lookup(source) < 0)
      return;
    const bool isPart = source && splits(stageOf.lookup(source));
    auto isOther = [&](OpOperand &use) {
      auto reader = stageOf.find(use.getOwner());
      return reader != stageOf.end() && reader->second >= 0 &&
             splits(reader->second) != isPart;
    };
    if (llvm::none_of(value.getUses(), isOther))
      return;
    Place place = Place::whole();
    if (!isPart) {
      auto known = samples.find(value);
      if (known == samples.end())
        return;
      place = known->second;
    }
    OpBuilder b(function.getContext());
    if (source)
      b.setInsertionPointAfter(source);
    else
      b.setInsertionPointToStart(&function.getBody().front());
    auto made = UnrealizedConversionCastOp::create(b, value.getLoc(),
                                                   value.getType(), value);
    value.replaceUsesWithIf(made.getResult(0), isOther);
    setStage(made, firstUser(made.getResult(0)));
    pins[made.getResult(0)] = place;
  }

  static Operation *firstUser(Value value) {
    Operation *first = nullptr;
    for (Operation *user : value.getUsers())
      if (!first || user->isBeforeInBlock(first))
        first = user;
    return first;
  }

  /// A pin is of the entry of its first reader.
  void setStage(Operation *pin, Operation *reader) {
    Builder b(function.getContext());
    pin->setAttr(kStageAttr, b.getI64IntegerAttr(stageOf.lookup(reader)));
    if (backward.contains(reader))
      pin->setAttr(kBackwardAttr, b.getUnitAttr());
  }

  func::FuncOp function;
  ArrayRef<int64_t> stages;
  AxisAttr axis;
  llvm::DenseMap<Operation *, int64_t> stageOf;
  llvm::DenseSet<Operation *> backward;
  /// Values of inputs, and the places that their samples would be split to.
  llvm::DenseSet<Value> data;
  llvm::DenseMap<Value, Place> samples;
  Pins pins;
};

} // namespace

Pins pinStages(func::FuncOp function, ArrayRef<int64_t> stages, AxisAttr axis) {
  return Pinner(function, stages, axis).run();
}

} // namespace mlc::dist
