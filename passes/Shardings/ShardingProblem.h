//===- ShardingProblem.h - How to share a step, as choices ------*- C++ -*-===//
//
// Of a function and an axis, the choices of planner/choices: each operator
// takes one of its plans (Strategies.h), with the time of its part; what is
// between two operators is the exchange that brings a tensor from where one
// leaves it to where the other reads it, as the partitioner would. A tensor
// with several readers is brought to one place first. All operators choose for
// themselves, those of the backward pass too.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_SHARDINGS_SHARDINGPROBLEM_H
#define MLC_PASSES_SHARDINGS_SHARDINGPROBLEM_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Distribute/Place.h"
#include "planner/choices/Problem.h"
#include "runtime/transport/Schedule.h"
#include <functional>

namespace mlc::dist {

/// What time is, in seconds.
struct ShardingCosts {
  /// Of an operator on one rank that has all of it.
  std::function<double(mlir::Operation *)> operation;
  /// Of an exchange along the axis, of a tensor with so many bytes on all ranks
  /// together.
  std::function<double(runtime::transport::Collective, double)> exchange;
};

struct ShardingOptions {
  AxisAttr axis; ///< of a known size, 2 or more
  ShardingCosts costs;
  /// Whether an operator whose result is not pinned is shared only if an
  /// operand is split already, as the partitioner does it; else it may cut
  /// whole ones.
  bool needsReason = false;
  /// The bytes that a rank may have at a time; 0: any.
  int64_t memory = 0;
  /// Who a state belongs to, such as the weight of a moment; they are split
  /// alike. Empty: nobody, and it stays whole.
  std::function<llvm::StringRef(llvm::StringRef state)> ownerOf;
};

struct ShardingProblem {
  planner::ChoiceProblem problem;
  /// A tensor, or what belongs to an owner, with the place that each choice of
  /// a node gives it.
  struct Tensor {
    uint32_t node = 0;
    llvm::SmallVector<Place> places;
  };
  /// Of operators' results, where readers find them.
  llvm::DenseMap<mlir::Value, Tensor> results;
  /// Of weights.
  std::vector<std::pair<std::string, Tensor>> owners;

  /// The place that a solution gives.
  static const Place &placeOf(const Tensor &tensor,
                              const planner::Choices &choices) {
    return tensor.places[choices[tensor.node]];
  }
};

/// The problem of a function that a partitioner would take. Arguments that are
/// no states are whole; so is what operators without a definition read and
/// give.
ShardingProblem makeShardingProblem(mlir::func::FuncOp function,
                                    const ShardingOptions &options);

} // namespace mlc::dist

#endif // MLC_PASSES_SHARDINGS_SHARDINGPROBLEM_H
