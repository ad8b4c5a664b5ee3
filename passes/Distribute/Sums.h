//===- Sums.h - Sums of partial and other terms -----------------*- C++ -*-===//
//
// A gradient is the sum of what each reader of its tensor gives. Where some of
// these terms are partial, they are added up first, so that one reduction is
// enough; term by term each would be reduced.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_DISTRIBUTE_SUMS_H
#define MLC_PASSES_DISTRIBUTE_SUMS_H

#include "dialects/Graph/PointwiseOps.h"
#include "passes/Distribute/Parts.h"
#include "llvm/ADT/DenseMap.h"

namespace mlc::dist {

/// Additions that wait for those that read them. They are visited in program
/// order.
class Sums {
public:
  explicit Sums(const Parts &parts) : parts(parts) {}

  /// Whether `add` is not made by itself: one of its terms is a partial sum and
  /// another is not, and all that reads it is an addition of the same stage
  /// and without broadcasts.
  bool waits(AddOp add);

  /// Brings the terms of `add` and of what waits for it into an order in which
  /// partial ones are added up first, and gives the additions in which that is
  /// done, in program order; `add` is the last of them. Empty if nothing waits.
  llvm::SmallVector<AddOp> regroup(AddOp add);

private:
  struct Terms {
    llvm::SmallVector<mlir::Value> values;
    llvm::SmallVector<AddOp> additions;
  };
  Terms termsOf(AddOp add) const;
  bool isPartialSum(mlir::Value value) const;

  const Parts &parts;
  llvm::DenseMap<mlir::Value, Terms> waiting;
};

} // namespace mlc::dist

#endif // MLC_PASSES_DISTRIBUTE_SUMS_H
