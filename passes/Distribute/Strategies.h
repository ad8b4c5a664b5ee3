//===- Strategies.h - All ways to share an operator -------------*- C++ -*-===//
//
// What a planner chooses from, where the partitioner by itself takes the plan
// that moves the fewest bytes next.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_DISTRIBUTE_STRATEGIES_H
#define MLC_PASSES_DISTRIBUTE_STRATEGIES_H

#include "passes/Distribute/Plan.h"
#include <vector>

namespace mlc::dist {

/// The plans of an operator along an axis of a known size, of which no two have
/// the same places: everything whole, each of its factors that the axis
/// divides, and operands that stay partial. Costs are not set.
std::vector<Plan> listPlans(mlir::Operation *op, const Definition &definition,
                            AxisAttr axis);

/// The splits of a tensor along dims that the axis divides: parts are even, so
/// that their operators have a price.
llvm::SmallVector<Place> listSplits(mlir::Value value, AxisAttr axis);

} // namespace mlc::dist

#endif // MLC_PASSES_DISTRIBUTE_STRATEGIES_H
