//===- Derived.h - Functions made of other functions ------------*- C++ -*-===//
//
// Shared by forward and reverse derivatives.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_DIFFERENTIATE_DERIVED_H
#define MLC_PASSES_DIFFERENTIATE_DERIVED_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace mlc {

/// Whether a value is a tensor of floats.
bool isFloatTensor(mlir::Value value);

/// A tensor with the dims and type of `like`, filled with `number`.
mlir::FailureOr<mlir::Value> createFilled(mlir::OpBuilder &builder,
                                          mlir::Value like, double number);

/// Adds a copy of `function` after it, with `suffix` appended to its name, that
/// returns what `change` puts into `results`. `change` may add arguments, and
/// operators before the block's end. If `change` fails, this fails and leaves
/// no copy.
mlir::FailureOr<mlir::func::FuncOp>
deriveFunction(mlir::func::FuncOp function, llvm::StringRef suffix,
               llvm::function_ref<mlir::LogicalResult(
                   mlir::OpBuilder &builder, mlir::Block &block,
                   llvm::SmallVectorImpl<mlir::Value> &results)>
                   change);

} // namespace mlc

#endif // MLC_PASSES_DIFFERENTIATE_DERIVED_H
