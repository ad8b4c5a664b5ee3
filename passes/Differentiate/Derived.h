//===- Derived.h - Functions made of other functions ------------*- C++ -*-===//
//
// What forward and reverse derivatives share.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_DIFFERENTIATE_DERIVED_H
#define MLC_PASSES_DIFFERENTIATE_DERIVED_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace mlc {

/// Whether a value is a tensor of floats.
bool isFloatTensor(mlir::Value value);

/// A tensor of the dims and the type of `like`, of which every element is
/// `number`.
mlir::FailureOr<mlir::Value> createFilled(mlir::OpBuilder &builder,
                                          mlir::Value like, double number);

/// A copy of `function` behind it, called as it is with `suffix`, that returns
/// what `change` puts into `results`; that may add arguments and, before the
/// block's end, operators. Fails, and leaves nothing behind, where `change`
/// does.
mlir::FailureOr<mlir::func::FuncOp>
deriveFunction(mlir::func::FuncOp function, llvm::StringRef suffix,
               llvm::function_ref<mlir::LogicalResult(
                   mlir::OpBuilder &builder, mlir::Block &block,
                   llvm::SmallVectorImpl<mlir::Value> &results)>
                   change);

} // namespace mlc

#endif // MLC_PASSES_DIFFERENTIATE_DERIVED_H
