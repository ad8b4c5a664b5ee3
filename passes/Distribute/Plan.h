//===- Plan.h - How ranks share an operator ---------------------*- C++ -*-===//

#ifndef MLC_PASSES_DISTRIBUTE_PLAN_H
#define MLC_PASSES_DISTRIBUTE_PLAN_H

#include "passes/Distribute/Partials.h"
#include "passes/Distribute/Parts.h"
#include "llvm/ADT/DenseSet.h"

namespace mlc::dist {

/// The definition of an operator with one result, as far as splitting is
/// concerned; for a collective on another axis, the dims that it leaves alone.
/// Nothing if that is not known.
std::optional<Definition> meaningOf(mlir::Operation *op);

/// Facts about tensors, and places wanted for them, before the ranks' program
/// is made.
struct Hints {
  /// The split that a reader or the function's result wants.
  llvm::DenseMap<mlir::Value, Place> wanted;
  /// The place of values that the function returns.
  llvm::DenseMap<mlir::Value, Place> returned;
  /// Values that depend on inputs, not on states alone.
  llvm::DenseSet<mlir::Value> data;
};

struct Plan {
  /// The operator's definition, or the same in more stages.
  Definition definition;
  Factor factor;
  Partials partials;
  llvm::SmallVector<Place> operands;
  Place result;
  /// Bytes that a rank receives for it: of tensors that depend on inputs, and
  /// of other tensors.
  double dataCost = 0, otherCost = 0;
};

/// The plan that gives a pinned result (Pin.h) where it is pinned and, of these
/// or of all, moves the fewest bytes: first of tensors that depend on inputs
/// (activations and gradients), then of the rest (weights, states). Candidates
/// are the factors along which an operand is split, or along which an operand
/// or the result is wanted; partial operands, passed on; and everything whole.
/// The cost of reducing a partial result is not counted, because its readers
/// decide that.
Plan choosePlan(mlir::Operation *op, const Definition &definition,
                const Parts &parts, const Hints &hints, AxisAttr axis);

/// The plan that gives the result at `place` from whole operands; nothing if
/// that takes an exchange.
std::optional<Plan> planPart(mlir::Operation *op, const Definition &definition,
                             const Place &place, AxisAttr axis);

/// Which operands stay partial, and how they are reduced.
using Kinds = llvm::SmallVector<std::optional<Reduction>>;

/// A plan from the split and the operands that stay partial; nothing if the
/// operator cannot be computed like this.
std::optional<Plan> makePlan(mlir::Operation *op, const Definition &definition,
                             Factor factor, const Kinds &kinds);

/// The plan with everything whole.
Plan planWhole(mlir::Operation *op, const Definition &definition);

/// Whether all elements are 0.
bool isZero(mlir::Value value);

} // namespace mlc::dist

#endif // MLC_PASSES_DISTRIBUTE_PLAN_H
