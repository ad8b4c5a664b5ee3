//===- Update.h - The update in stages --------------------------*- C++ -*-===//
//
// "apply" changes each weight in the stage that sums its gradients. What
// depends on the gradients of several stages, as their norm does, is computed
// by each of them from single numbers, which the entries NORM give.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_STAGES_UPDATE_H
#define MLC_PASSES_STAGES_UPDATE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/StringMap.h"

namespace mlc {

/// The stages of weights.
struct WeightStages {
  /// The stage that changes a weight or a state of it, by the weight's name.
  llvm::StringMap<int64_t> owners;
  /// All stages that read a state, by the state's name.
  llvm::StringMap<llvm::SmallSet<int64_t, 2>> readers;
  int64_t count = 1;
  /// Whether stages are updated by themselves, at different times.
  bool updatesApart = false;
  /// Those that keep versions of their weights.
  llvm::SmallSet<int64_t, 4> versioned;

  /// Whether `home`, which updates the state, keeps versions of it.
  bool isVersioned(llvm::StringRef state, int64_t home) const {
    return versioned.contains(home) && readers.lookup(state).contains(home);
  }
};

/// Cuts "apply" into entries STEP and, where needed, NORM. NORM of a stage may
/// read NORM of later stages, STEP all NORM and STEP of earlier stages. The new
/// value of a state with versions is that of the state "next/NAME". Fails with
/// an error at an operator that cannot be cut so, and if stages that are
/// updated by themselves need gradients of others.
mlir::LogicalResult cutUpdate(mlir::func::FuncOp apply,
                              const WeightStages &weights);

} // namespace mlc

#endif // MLC_PASSES_STAGES_UPDATE_H
