//===- CutForward.cpp - A model as entries of stages ----------------------===//

#include "dialects/Dist/Dist.h"
#include "dialects/Module/CompileTime.h"
#include "dialects/Module/StageFacts.h"
#include "dialects/Module/States.h"
#include "passes/Base/Form.h"
#include "passes/Base/Passes.h"
#include "passes/Stages/EntryBuilder.h"
#include "passes/Stages/MicroBatches.h"
#include "passes/Stages/StageOf.h"
#include "passes/Stages/Stages.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc {

#define GEN_PASS_DEF_CUTFORWARDPASS
#include "passes/Base/Passes.h.inc"

namespace {

/// Cuts "main", which has inputs and results alone.
class ForwardCut {
public:
  ForwardCut(func::FuncOp main, const StageOf &stages)
      : main(main), stages(stages), entries(main) {}

  LogicalResult run() {
    std::vector<bool> hasOperators(stages.countStages());
    for (Operation &op : body().without_terminator())
      if (!stages.isRepeated(&op)) {
        hasOperators[stages.entryOf(&op).stage] = true;
        add(stages.entryOf(&op), &op);
      }
    for (auto [stage, has] : llvm::enumerate(hasOperators))
      if (!has)
        return main.emitError() << "has no operators of stage " << stage;
    if (failed(checkDims()))
      return failure();
    entries.keepNames();
    Operation *end = body().getTerminator();
    for (auto [i, value] : llvm::enumerate(end->getOperands()))
      addResult(value, main.getResultAttrDict(i));
    entries.build(/*bindsDims=*/true);
    return success();
  }

private:
  Block &body() { return main.getBody().front(); }

  /// Adds an operator to an entry, with the repeated ones that it reads.
  void add(const StageEntry &entry, Operation *op) {
    if (entries.contains(entry, op))
      return;
    entries.add(entry, op);
    if (!stages.isRepeated(op))
      for (Value result : op->getResults())
        entries.setSource(result, entry);
    for (Value operand : op->getOperands())
      if (Operation *source = operand.getDefiningOp();
          source && stages.isRepeated(source))
        add(entry, source);
  }

  void addResult(Value value, DictionaryAttr attributes) {
    StageEntry entry;
    if (Operation *op = value.getDefiningOp()) {
      if (!stages.isRepeated(op))
        entry = stages.entryOf(op);
      add(entry, op);
    }
    entries.addResult(entry, value, attributes);
  }

  /// Ranks take memory for what comes to them before it is there, so its dims
  /// follow from those of the model's inputs.
  LogicalResult checkDims() {
    llvm::StringSet<> known;
    for (Value argument : main.getArguments())
      for (IntExpr dim : dimsOf(argument))
        dim.walkSymbols([&](StringRef name) { known.insert(name); });
    for (Operation &op : body().without_terminator())
      for (Value result : op.getResults())
        for (IntExpr dim : dimsOf(result)) {
          bool isKnown = true;
          dim.walkSymbols(
              [&](StringRef name) { isKnown &= known.contains(name); });
          if (!isKnown && !stages.isRepeated(&op) && leaves(result))
            return op.emitOpError()
                   << "has a result of " << dim.str()
                   << " elements along a dim, which depends on data, and "
                      "another stage or the caller reads it; end the stage "
                      "elsewhere";
        }
    return success();
  }

  /// Whether another entry reads the value, or it is a result.
  bool leaves(Value value) const {
    Operation *source = value.getDefiningOp();
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      return user->hasTrait<OpTrait::IsTerminator>() ||
             stages.entryOf(user) != stages.entryOf(source);
    });
  }

  static SmallVector<IntExpr> dimsOf(Value value) {
    auto dims = getDims(cast<RankedTensorType>(value.getType()));
    return dims ? SmallVector<IntExpr>(*dims) : SmallVector<IntExpr>();
  }

  func::FuncOp main;
  const StageOf &stages;
  EntryBuilder entries;
};

struct CutForwardPass : impl::CutForwardPassBase<CutForwardPass> {
  using CutForwardPassBase::CutForwardPassBase;

  void runOnOperation() override {
    if (failed(requireForm(*this, getOperation(), Form::Graph)) ||
        failed(cut()))
      signalPassFailure();
  }

private:
  /// A micro-batch may not change what others read.
  static LogicalResult refuseStates(func::FuncOp main) {
    for (unsigned i = 0; i < main.getNumArguments(); ++i)
      for (StringRef attribute :
           {StringRef(kStateAttr), StringRef(kParameterAttr)})
        if (main.getArgAttr(i, attribute)) {
          auto name = main.getArgAttrOfType<StringAttr>(
              i, attribute == kStateAttr ? kStateAttr : "mlc.name");
          return main.emitError()
                 << "has the "
                 << (attribute == kStateAttr ? "state" : "parameter") << " '"
                 << (name ? name.getValue() : StringRef())
                 << "', and stages of a model without training have constants "
                    "alone";
        }
    for (unsigned i = 0; i < main.getNumResults(); ++i)
      if (main.getResultAttr(i, kStateAttr) ||
          main.getResultAttr(i, kUpdatesAttr))
        return main.emitError() << "writes a state, and stages of a model "
                                   "without training have constants alone";
    return success();
  }

  /// Notes what the whole model takes and gives, for who runs the entries.
  LogicalResult describePorts(func::FuncOp main) {
    DividedPorts divided;
    if (microBatches > 1) {
      FailureOr<DividedPorts> found = findDividedPorts(main);
      if (failed(found))
        return failure();
      divided = *found;
    } else {
      divided.arguments.assign(main.getNumArguments(), false);
      divided.results.assign(main.getNumResults(), false);
    }
    Builder b(&getContext());
    auto port = [&](StringAttr name, Type type, bool isDivided) -> Attribute {
      NamedAttrList fields;
      fields.set("name", name ? name : b.getStringAttr(""));
      fields.set("type", TypeAttr::get(type));
      fields.set("divided", b.getBoolAttr(isDivided));
      return fields.getDictionary(&getContext());
    };
    SmallVector<Attribute> inputs, outputs;
    for (BlockArgument argument : main.getArguments())
      inputs.push_back(
          port(main.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                 "mlc.name"),
               argument.getType(), divided.arguments[argument.getArgNumber()]));
    for (auto [i, type] : llvm::enumerate(main.getResultTypes()))
      outputs.push_back(
          port(main.getResultAttrOfType<StringAttr>(i, "mlc.name"), type,
               divided.results[i]));
    getOperation()->setAttr(
        kPipelineAttr,
        b.getDictionaryAttr(
            {b.getNamedAttr("inputs", b.getArrayAttr(inputs)),
             b.getNamedAttr("outputs", b.getArrayAttr(outputs))}));
    return success();
  }

  LogicalResult cut() {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main || !main.getBody().hasOneBlock())
      return getOperation().emitError()
             << "has no function @main of one block to cut into stages";
    if (failed(checkStageAttributes(main)) || failed(refuseStates(main)) ||
        failed(describePorts(main)))
      return failure();
    return ForwardCut(main, StageOf(main, /*splitsBackward=*/false)).run();
  }
};

} // namespace

std::unique_ptr<Pass> createCutForwardPass(const runtime::ForwardPlan &plan) {
  CutForwardPassOptions options;
  options.microBatches = plan.microBatches;
  return createCutForwardPass(std::move(options));
}

} // namespace mlc
