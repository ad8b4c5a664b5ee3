//===- PartSeconds.cpp - What a rank's part of an operator takes ----------===//

#include "passes/Shardings/PartSeconds.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Distribute/Operators.h"

using namespace mlir;

namespace mlc::dist {

std::optional<double>
secondsOfPart(Operation *op, const Plan &plan, AxisAttr axis,
              llvm::function_ref<double(Operation *)> seconds) {
  OpBuilder builder(op->getContext());
  OwningOpRef<func::FuncOp> scratch = func::FuncOp::create(
      builder, op->getLoc(), "scratch", builder.getFunctionType({}, {}));
  Block *block = scratch->addEntryBlock();
  builder.setInsertionPointToEnd(block);
  llvm::SmallVector<Value> operands;
  for (auto [operand, place] : llvm::zip(op->getOperands(), plan.operands)) {
    auto type = cast<RankedTensorType>(operand.getType());
    operands.push_back(
        block->addArgument(getTensorType(partDims(dimsOf(operand), place, axis),
                                         type.getElementType()),
                           op->getLoc()));
  }
  const PartitionOptions plain;
  Parts parts(builder, axis, plain);
  FailureOr<Value> made = emitPart(builder, op, plan, operands, parts, axis);
  if (failed(made) || !*made)
    return std::nullopt;
  double sum = 0;
  // Sums inside of an operator are counted with its plan.
  const bool isExchange = isa<DistDialect>(op->getDialect());
  for (Operation &one : *block)
    if (isExchange || !isa<DistDialect>(one.getDialect()))
      sum += seconds(&one);
  return sum;
}

} // namespace mlc::dist
