//===- UnreadParameters.cpp - Parameters that no loss depends on ----------===//

#include "dialects/Graph/ModelOps.h"
#include "dialects/Module/CompileTime.h"
#include "dialects/Module/TrainingFacts.h"
#include "passes/Base/Form.h"
#include "passes/Base/Passes.h"
#include "passes/Differentiate/Derived.h"
#include "passes/Differentiate/ModelLoss.h"
#include "passes/Differentiate/Training.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc {

/// The floats that a value is computed from through floats, including itself.
static llvm::SmallDenseSet<Value> sourcesOf(Value value) {
  llvm::SmallDenseSet<Value> seen{value};
  SmallVector<Value> open{value};
  while (!open.empty())
    if (Operation *op = open.pop_back_val().getDefiningOp())
      for (Value operand : op->getOperands())
        if (isFloatTensor(operand) && seen.insert(operand).second)
          open.push_back(operand);
  return seen;
}

static void dropParameter(func::FuncOp function, StringRef name) {
  for (unsigned i = function.getNumArguments(); i-- > 0;) {
    auto value = function.getArgAttrOfType<ElementsAttr>(i, kParameterAttr);
    if (!value || nameOf(function.getArgAttr(i, "mlc.name")) != name)
      continue;
    OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
    BlockArgument argument = function.getArgument(i);
    if (!argument.use_empty())
      argument.replaceAllUsesWith(ConstantOp::create(
          builder, argument.getLoc(), argument.getType(), value));
    (void)function.eraseArgument(i);
  }
}

FailureOr<SmallVector<std::string>> dropUnreadParameters(func::FuncOp main,
                                                         StringRef wanted) {
  Value output = findOutput(main, wanted);
  if (!output)
    return failure();
  llvm::SmallDenseSet<Value> read = sourcesOf(output);
  SmallVector<StringRef> moved;
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    moved.push_back(nameOf(main.getResultAttr(i, kUpdatesAttr)));
  SmallVector<std::string> dropped;
  for (BlockArgument argument : main.getArguments())
    if (StringRef name =
            nameOf(main.getArgAttr(argument.getArgNumber(), "mlc.name"));
        main.getArgAttr(argument.getArgNumber(), kParameterAttr) &&
        !read.contains(argument) && !llvm::is_contained(moved, name))
      dropped.push_back(name.str());
  for (const std::string &name : dropped)
    for (auto function :
         main->getParentOfType<ModuleOp>().getOps<func::FuncOp>())
      dropParameter(function, name);
  return dropped;
}

#define GEN_PASS_DEF_UNREADPARAMETERSPASS
#include "passes/Base/Passes.h.inc"

namespace {

struct UnreadParametersPass
    : impl::UnreadParametersPassBase<UnreadParametersPass> {
  using UnreadParametersPassBase::UnreadParametersPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(requireForm(*this, module, Form::Graph)))
      return signalPassFailure();
    FailureOr<func::FuncOp> main = findModel(module);
    if (failed(main))
      return signalPassFailure();
    auto dropped = dropUnreadParameters(*main, output);
    if (failed(dropped))
      return signalPassFailure();
    SmallVector<StringRef> names(dropped->begin(), dropped->end());
    if (!names.empty())
      module->setAttr(kUnreadAttr, Builder(module).getStrArrayAttr(names));
  }
};

} // namespace

} // namespace mlc
