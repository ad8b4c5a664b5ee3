//===- Divide.h - The operators of a model, in parts ------------*- C++ -*-===//

#ifndef MLC_PASSES_STAGES_DIVIDE_H
#define MLC_PASSES_STAGES_DIVIDE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace mlc {

/// The operators of a model that depend on its inputs, in its order: stages are
/// made of them. What depends on parameters alone belongs to whoever reads it.
llvm::SmallVector<mlir::Operation *> listOperators(mlir::func::FuncOp main);

/// The name of the node that an operator was made of, or empty.
llvm::StringRef nodeOf(mlir::Operation *op);

/// A share of the time that an operator takes in a step: scalar operations, and
/// elements of 4 bytes that are moved. Eight operations of a contraction take
/// the time of one.
uint64_t weigh(mlir::Operation *op);

/// The ends of parts of which the heaviest is as light as possible; there are
/// as many weights as parts at least.
llvm::SmallVector<size_t> divideEvenly(llvm::ArrayRef<uint64_t> weights,
                                       int64_t parts);

/// The elements that cross the cut before each group of operators, and behind
/// the last; open dims count as 1.
llvm::SmallVector<uint64_t>
countCrossing(llvm::ArrayRef<mlir::Operation *> operators,
              const llvm::DenseMap<mlir::Operation *, size_t> &groupOf,
              size_t groups);

/// Moves all ends but the last to where least crosses, at most halfway to their
/// neighbours.
void moveToNarrowCuts(llvm::ArrayRef<uint64_t> crossing,
                      llvm::SmallVectorImpl<size_t> &ends);

} // namespace mlc

#endif // MLC_PASSES_STAGES_DIVIDE_H
