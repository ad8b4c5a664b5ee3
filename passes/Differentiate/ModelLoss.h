//===- ModelLoss.h - The loss of a model ------------------------*- C++ -*-===//

#ifndef MLC_PASSES_DIFFERENTIATE_MODELLOSS_H
#define MLC_PASSES_DIFFERENTIATE_MODELLOSS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Differentiate/TrainingOptions.h"

namespace mlc {

/// What an `mlc.name` says; empty where there is none.
llvm::StringRef nameOf(mlir::Attribute attribute);

/// The place of the first parameter, behind all other arguments.
unsigned endOfInputs(mlir::func::FuncOp main);

/// The attributes of an argument or a result of this name.
mlir::DictionaryAttr named(mlir::Builder &b, llvm::StringRef name);

/// The attributes of an input called `name`, and what it is to training.
mlir::DictionaryAttr inputAttributes(mlir::Builder &b, llvm::StringRef name,
                                     runtime::InputRole role);

/// An argument called `name` at `place`.
mlir::FailureOr<mlir::Value>
addArgument(mlir::func::FuncOp main, unsigned place, mlir::Type type,
            llvm::StringRef name,
            runtime::InputRole role = runtime::InputRole::Data);

/// The output of that name, the first where it is empty; null, with an error,
/// where there is none.
mlir::Value findOutput(mlir::func::FuncOp main, llvm::StringRef wanted);

/// The loss of `main`, a model as passes/Import makes it, at least of float32.
/// Its target is a new argument; what samples are of is marked (kSampleAttr).
/// `right`, if it is given, becomes what createRightCount makes.
mlir::FailureOr<mlir::Value> addLoss(mlir::func::FuncOp main,
                                     mlir::OpBuilder &builder,
                                     const LossOptions &options,
                                     mlir::Value *right = nullptr);

} // namespace mlc

#endif // MLC_PASSES_DIFFERENTIATE_MODELLOSS_H
