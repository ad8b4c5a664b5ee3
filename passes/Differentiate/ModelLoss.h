//===- ModelLoss.h - The loss of a model ------------------------*- C++ -*-===//

#ifndef MLC_PASSES_DIFFERENTIATE_MODELLOSS_H
#define MLC_PASSES_DIFFERENTIATE_MODELLOSS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Differentiate/TrainingOptions.h"

namespace mlc {

/// The value of an `mlc.name`; empty if there is none.
llvm::StringRef nameOf(mlir::Attribute attribute);

/// The index of the first parameter, which follows all other arguments.
unsigned endOfInputs(mlir::func::FuncOp main);

/// The attributes of an argument or a result called `name`.
mlir::DictionaryAttr named(mlir::Builder &b, llvm::StringRef name);

/// The attributes of an input called `name` with this role in training.
mlir::DictionaryAttr inputAttributes(mlir::Builder &b, llvm::StringRef name,
                                     runtime::InputRole role);

/// An argument called `name` at `place`.
mlir::FailureOr<mlir::Value>
addArgument(mlir::func::FuncOp main, unsigned place, mlir::Type type,
            llvm::StringRef name,
            runtime::InputRole role = runtime::InputRole::Data);

/// The output called `wanted`, or the first if that is empty. Emits an error
/// and returns null if there is none.
mlir::Value findOutput(mlir::func::FuncOp main, llvm::StringRef wanted);

/// Adds the loss of `main`, a model as passes/Import makes it, in float32 or
/// wider. Its target is a new argument; tensors with a sample dim are marked
/// (kSampleAttr). `right`, if given, receives the result of createRightCount.
mlir::FailureOr<mlir::Value> addLoss(mlir::func::FuncOp main,
                                     mlir::OpBuilder &builder,
                                     const LossOptions &options,
                                     mlir::Value *right = nullptr);

} // namespace mlc

#endif // MLC_PASSES_DIFFERENTIATE_MODELLOSS_H
