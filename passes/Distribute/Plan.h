//===- Plan.h - How an operator is shared by the ranks ----------*- C++ -*-===//

#ifndef MLC_PASSES_DISTRIBUTE_PLAN_H
#define MLC_PASSES_DISTRIBUTE_PLAN_H

#include "passes/Distribute/Partials.h"
#include "passes/Distribute/Parts.h"
#include "llvm/ADT/DenseSet.h"

namespace mlc::dist {

/// What an operator of one result means, to those who split it: its definition,
/// or of a collective on another axis which dims it leaves alone. Nothing where
/// that is not known.
std::optional<Definition> meaningOf(mlir::Operation *op);

/// What is wanted or known of tensors before the ranks' program is made.
struct Hints {
  /// Who reads or returns it wants it split so.
  llvm::DenseMap<mlir::Value, Place> wanted;
  /// It is returned, and has to be there in the end.
  llvm::DenseMap<mlir::Value, Place> returned;
  /// It depends on inputs, not on states alone.
  llvm::DenseSet<mlir::Value> data;
};

struct Plan {
  /// The operator's, or the same in more stages.
  Definition definition;
  Factor factor;
  Partials partials;
  llvm::SmallVector<Place> operands;
  Place result;
  /// Bytes that a rank receives for it: of what depends on inputs, and of other
  /// tensors.
  double dataCost = 0, otherCost = 0;
};

/// The plan that moves the fewest bytes: of what depends on inputs first
/// (activations and gradients), then of the rest (weights, states). Candidates
/// are the factors along which an operand is split, or an operand or the result
/// is wanted; partial operands, passed on; and to have all whole. What it will
/// take to reduce a partial result is not counted: who reads it decides that.
Plan choosePlan(mlir::Operation *op, const Definition &definition,
                const Parts &parts, const Hints &hints, AxisAttr axis);

/// The plan by which the result is at `place`, of operands that are whole; none
/// where that takes an exchange.
std::optional<Plan> planPart(mlir::Operation *op, const Definition &definition,
                             const Place &place, AxisAttr axis);

/// The plan to have all whole.
Plan planWhole(mlir::Operation *op, const Definition &definition);

/// Whether all elements are 0.
bool isZero(mlir::Value value);

} // namespace mlc::dist

#endif // MLC_PASSES_DISTRIBUTE_PLAN_H
