//===- InPlace.cpp - Outputs that may overwrite inputs --------------------===//

#include "codegen/kernel/InPlace.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using llvm::SmallVector;

namespace mlc {

/// Whether all readers of `input` read only the element at the position of
/// their own element.
static bool isReadInOrder(Value input) {
  return llvm::all_of(input.getUses(), [](OpOperand &use) {
    auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
    return op && op.getMatchingIndexingMap(&use).isIdentity();
  });
}

static bool isAlike(const Kernel &kernel, Value input, Value output) {
  return output.getType() == input.getType() &&
         kernel.shapeOf(output) == kernel.shapeOf(input) &&
         llvm::count(kernel.outputs, output) == 1;
}

SmallVector<std::pair<unsigned, unsigned>>
findInPlaceBehind(const Kernel &kernel) {
  SmallVector<std::pair<unsigned, unsigned>> pairs;
  for (auto [i, input] : llvm::enumerate(kernel.inputs)) {
    if (!isReadInOrder(input) ||
        llvm::is_contained(input.getUsers(), kernel.anchor))
      continue;
    for (auto [o, output] : llvm::enumerate(kernel.outputs))
      if (isAlike(kernel, input, output))
        pairs.push_back({i, o});
  }
  return pairs;
}

namespace {

/// The operations with loops of their own that read an input.
class Readers {
public:
  Readers(const LoopGroup &plan) : plan(plan) {}

  /// Collects the operations that read `value` from memory at the position of
  /// their own element; false if anything reads it otherwise.
  bool collect(Value value) {
    return llvm::all_of(value.getUses(), [&](OpOperand &use) {
      auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
      if (!op || op.getNumReductionLoops() != 0 ||
          !op.getMatchingIndexingMap(&use).isIdentity())
        return false;
      for (OpOperand &init : op.getDpsInitsMutable())
        if (!op.getMatchingIndexingMap(&init).isIdentity())
          return false;
      if (isRun(op)) {
        found.push_back(op);
        return true;
      }
      // Recomputed wherever it is read.
      return llvm::all_of(op->getResults(),
                          [&](Value result) { return collect(result); });
    });
  }

  bool isRun(Operation *op) const {
    return llvm::any_of(op->getResults(), [&](Value result) {
      return plan.bindings.contains(result);
    });
  }

  SmallVector<Operation *> found;

private:
  const LoopGroup &plan;
};

} // namespace

/// Whether every step of the group writes other elements of `output`.
static bool isWrittenOnce(const LoopGroup &plan, Value output) {
  auto binding = plan.bindings.find(output);
  if (binding == plan.bindings.end())
    return false;
  for (int shared = 0; shared < int(plan.shared.size()); ++shared)
    if (!llvm::is_contained(binding->second, shared))
      return false;
  return true;
}

SmallVector<std::pair<unsigned, unsigned>> findInPlace(const LoopGroup &plan) {
  SmallVector<std::pair<unsigned, unsigned>> pairs;
  const Kernel &kernel = plan.kernel;
  for (auto [i, input] : llvm::enumerate(kernel.inputs)) {
    Readers readers(plan);
    if (llvm::is_contained(kernel.outputs, input) || !readers.collect(input))
      continue;
    for (auto [o, output] : llvm::enumerate(kernel.outputs)) {
      auto writer = output.getDefiningOp<linalg::LinalgOp>();
      if (!writer || !isAlike(kernel, input, output) ||
          !isWrittenOnce(plan, output))
        continue;
      bool isSafe = llvm::all_of(readers.found, [&](Operation *reader) {
        bool isBefore = reader == writer || reader->isBeforeInBlock(writer);
        return isBefore &&
               llvm::all_of(reader->getResults(), [&](Value result) {
                 auto it = plan.bindings.find(result);
                 return it == plan.bindings.end() ||
                        it->second == plan.bindings.at(output);
               });
      });
      if (isSafe)
        pairs.push_back({i, o});
    }
  }
  return pairs;
}

} // namespace mlc
