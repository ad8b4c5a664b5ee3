//===- TiedSums.cpp - Weights that several stages read --------------------===//

#include "passes/Stages/TiedSums.h"
#include "dialects/Graph/PointwiseOps.h"
#include "dialects/Module/StageFacts.h"
#include "dialects/Module/States.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Base/Form.h"
#include "passes/Base/Passes.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace mlir;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc {

namespace {

class TiedSums {
public:
  TiedSums(func::FuncOp accumulate, func::FuncOp apply, const StageOf &stages)
      : accumulate(accumulate), apply(apply), stages(stages),
        module(accumulate->getParentOfType<ModuleOp>()) {}

  void run() {
    Operation *end = accumulate.getBody().front().getTerminator();
    for (unsigned i = 0, count = end->getNumOperands(); i < count; ++i) {
      auto state = accumulate.getResultAttrOfType<StringAttr>(i, kStateAttr);
      if (state &&
          getStateUse(module, state).role == runtime::StateRole::GradientSum)
        split(end, i, state);
    }
  }

private:
  /// The terms of a sum that nobody else reads.
  void findTerms(Value value, SmallVectorImpl<Value> &terms) {
    auto sum = value.getDefiningOp<AddOp>();
    if (!sum || !sum->hasOneUse()) {
      terms.push_back(value);
      return;
    }
    findTerms(sum->getOperand(0), terms);
    findTerms(sum->getOperand(1), terms);
  }

  void split(Operation *end, unsigned result, StringAttr state) {
    // Adds the gradient to the state.
    Operation *sum = end->getOperand(result).getDefiningOp();
    OpOperand *gradient = nullptr;
    for (OpOperand &operand : sum->getOpOperands())
      if (operand.get().getDefiningOp<AddOp>())
        gradient = &operand;
    if (!gradient)
      return;
    SmallVector<Value> terms;
    findTerms(gradient->get(), terms);
    std::map<int64_t, SmallVector<Value>> byStage;
    for (Value term : terms) {
      Operation *op = term.getDefiningOp();
      if (!op || stages.isRepeated(op))
        return;
      byStage[stages.entryOf(op).stage].push_back(term);
    }
    if (byStage.size() < 2)
      return;
    Value old = gradient->get();
    const int64_t owner = byStage.begin()->first;
    // As the terms were added: those of the last stage first.
    Value total;
    for (auto &[stage, own] : llvm::reverse(byStage)) {
      Value partial = addUp(sum, own, stage);
      StringAttr name = state;
      if (stage == owner)
        gradient->set(partial);
      else
        name = addState(end, sum, gradient->getOperandNumber(), partial, state,
                        stage);
      addToTotal(findState(apply, name), owner, total);
    }
    findState(apply, state).replaceAllUsesExcept(total, total.getDefiningOp());
    eraseUnread(old);
  }

  /// Erases a sum that nobody reads any more, so that no stage waits for it.
  static void eraseUnread(Value sum) {
    auto op = sum.getDefiningOp<AddOp>();
    if (!op || !op->use_empty())
      return;
    SmallVector<Value> terms(op->getOperands());
    op->erase();
    llvm::for_each(terms, eraseUnread);
  }

  Value addUp(Operation *before, ArrayRef<Value> terms, int64_t stage) {
    OpBuilder builder(before);
    Value sum = terms.front();
    for (Value term : terms.drop_front()) {
      sum = add(builder, sum, term);
      mark(sum.getDefiningOp(), stage);
    }
    return sum;
  }

  /// Both have the type of the weight, so this cannot fail.
  static Value add(OpBuilder &builder, Value a, Value b) {
    return createOp<AddOp>(builder, b.getLoc(), a, b)->getResult();
  }

  static void mark(Operation *op, int64_t stage) {
    Builder b(op->getContext());
    op->setAttr(kStageAttr, b.getI64IntegerAttr(stage));
    op->setAttr(kBackwardAttr, b.getUnitAttr());
  }

  static BlockArgument addArgument(func::FuncOp function, BlockArgument like,
                                   StringAttr name) {
    unsigned last = function.getNumArguments();
    DictionaryAttr attributes = function.getArgAttrDict(like.getArgNumber());
    (void)function.insertArgument(last, like.getType(), attributes,
                                  like.getLoc());
    function.setArgAttr(last, kStateAttr, name);
    return function.getArgument(last);
  }

  static BlockArgument findState(func::FuncOp function, StringRef name) {
    for (BlockArgument argument : function.getArguments())
      if (auto state = function.getArgAttrOfType<StringAttr>(
              argument.getArgNumber(), kStateAttr);
          state && state == name)
        return argument;
    return {};
  }

  /// Adds the state to both entries, and returns its name.
  StringAttr addState(Operation *end, Operation *sum, unsigned gradient,
                      Value partial, StringAttr state, int64_t stage) {
    Builder b(end->getContext());
    auto name = b.getStringAttr(state.getValue() + "@" + Twine(stage));
    setStateUse(module, name, runtime::StateRole::GradientSum,
                getStateUse(module, state).owner);
    BlockArgument own = findState(accumulate, state);
    BlockArgument mine = addArgument(accumulate, own, name);
    OpBuilder builder(end);
    IRMapping mapping;
    mapping.map(own, mine);
    Operation *copy = builder.clone(*sum, mapping);
    copy->setOperand(gradient, partial);
    mark(copy, stage);
    unsigned last = end->getNumOperands();
    end->insertOperands(last, copy->getResult(0));
    (void)accumulate.insertResult(
        last, copy->getResult(0).getType(),
        b.getDictionaryAttr(b.getNamedAttr(kStateAttr, name)));
    addArgument(apply, findState(apply, state), name);
    return name;
  }

  /// In "apply", the owner adds up what the stages have summed, and reads the
  /// total instead of its own sum.
  void addToTotal(BlockArgument part, int64_t owner, Value &total) {
    if (!total) {
      total = part;
      return;
    }
    OpBuilder builder(apply.getContext());
    if (Operation *last = total.getDefiningOp())
      builder.setInsertionPointAfter(last);
    else
      builder.setInsertionPointToStart(&apply.getBody().front());
    total = add(builder, total, part);
    mark(total.getDefiningOp(), owner);
  }

  func::FuncOp accumulate, apply;
  const StageOf &stages;
  ModuleOp module;
};

} // namespace

void splitTiedSums(func::FuncOp accumulate, func::FuncOp apply,
                   const StageOf &stages) {
  TiedSums(accumulate, apply, stages).run();
}

#define GEN_PASS_DEF_SPLITTIEDSUMSPASS
#include "passes/Base/Passes.h.inc"

namespace {

struct SplitTiedSumsPass : impl::SplitTiedSumsPassBase<SplitTiedSumsPass> {
  using SplitTiedSumsPassBase::SplitTiedSumsPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(requireForm(*this, module, Form::Graph)))
      return signalPassFailure();
    auto accumulate = module.lookupSymbol<func::FuncOp>("accumulate");
    auto apply = module.lookupSymbol<func::FuncOp>("apply");
    if (!accumulate || !apply) {
      module.emitError() << "has no entries @accumulate and @apply of a step "
                            "whose sums could be split";
      return signalPassFailure();
    }
    splitTiedSums(accumulate, apply,
                  StageOf(accumulate, /*splitsBackward=*/false));
  }
};

} // namespace

} // namespace mlc
