//===- InPlace.cpp - Outputs that may overwrite inputs -------------------===//

#include "codegen/kernel/InPlace.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using llvm::SmallVector;

namespace mlc {

/// Whether all that read `input` read, for an element of theirs, the one at the
/// same place.
static bool isReadInOrder(Value input) {
  return llvm::all_of(input.getUses(), [](OpOperand &use) {
    auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
    return op && op.getMatchingIndexingMap(&use).isIdentity();
  });
}

/// Whether `op`, run by itself, reads `input` from memory: also for what it
/// computes again because that is stored nowhere.
static bool reads(const LoopGroup &plan, Operation *op, Value input) {
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    if (operand == input)
      return true;
    Operation *producer = operand.getDefiningOp();
    return producer && !plan.isInMemory(operand) &&
           reads(plan, producer, input);
  });
}

SmallVector<std::pair<unsigned, unsigned>> findInPlace(const LoopGroup &plan) {
  SmallVector<std::pair<unsigned, unsigned>> pairs;
  if (!plan.flat)
    return pairs;
  const Kernel &kernel = plan.kernel;
  SmallVector<Operation *> run;
  for (Operation *op : kernel.ops)
    if (llvm::any_of(op->getResults(),
                     [&](Value result) { return plan.isInMemory(result); }))
      run.push_back(op);
  for (auto [i, input] : llvm::enumerate(kernel.inputs)) {
    if (!isReadInOrder(input))
      continue;
    size_t last = 0;
    for (auto [place, op] : llvm::enumerate(run))
      if (reads(plan, op, input))
        last = place;
    for (auto [o, output] : llvm::enumerate(kernel.outputs))
      if (output.getType() == input.getType() &&
          kernel.shapeOf(output) == kernel.shapeOf(input) &&
          llvm::find(run, output.getDefiningOp()) >= run.begin() + last &&
          llvm::count(kernel.outputs, output) == 1)
        pairs.push_back({i, o});
  }
  return pairs;
}

} // namespace mlc
