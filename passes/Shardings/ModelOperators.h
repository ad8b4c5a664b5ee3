//===- ModelOperators.h - From a model to a graph of operators --*- C++ -*-===//
//
// What planners of operators (planner/operators) know of a model. Each heavy
// operator of the model begins an operator of the graph: one that sums, takes
// a maximum, looks up, or joins tensors. Others belong to the last one that
// they read of. A product that only adds to another one, as those of a
// recurrent cell, belongs to that one.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_SHARDINGS_MODELOPERATORS_H
#define MLC_PASSES_SHARDINGS_MODELOPERATORS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "planner/operators/OperatorGraph.h"
#include <functional>

namespace mlc::dist {

/// What parts of operations take on a device of the first kind.
struct PartPrices {
  std::function<double(mlir::Operation *)> seconds;
  int32_t devices = 1; ///< which numbers of parts count: those that divide it
};

/// Makes the graph of @main of a model as it is imported, without times. Each
/// operation that depends on inputs gets the number of its operator as its
/// stage (kStageAttr), so that differentiation says of what it makes which
/// operator it belongs to.
///
/// Dims of an operator are those along which all that it does can be divided
/// without an exchange inside; halos would be one. A dim that follows from the
/// first dim of an input is one of samples. With `prices` the dims have the
/// shares that parts take of the forward pass (OperatorDim::shares).
///
/// On failure `wrong` says why: the model has dims that are not known, or
/// nothing to plan.
mlir::LogicalResult groupOperators(mlir::ModuleOp model,
                                   planner::OperatorGraph &graph,
                                   std::string &wrong,
                                   const PartPrices *prices = nullptr);

struct OperatorPrices {
  size_t kinds = 1; ///< of devices
  /// Seconds of an operation, by kind of device.
  std::function<double(mlir::Operation *, size_t)> seconds;
  /// The weight that a state is, or belongs to; empty for others.
  std::function<llvm::StringRef(llvm::StringRef)> ownerOf;
};

/// Adds the times of the step that was made of the model: forward, backward and
/// updates.
void addTimes(mlir::func::FuncOp step, const OperatorPrices &prices,
              planner::OperatorGraph &graph);

} // namespace mlc::dist

#endif // MLC_PASSES_SHARDINGS_MODELOPERATORS_H
