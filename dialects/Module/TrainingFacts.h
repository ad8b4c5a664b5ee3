//===- TrainingFacts.h - Attributes of a model in training ------*- C++ -*-===//
//
// Attributes that describe a training program to those who feed and run it.
// Differentiation writes them; later phases leave them alone.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_MODULE_TRAININGFACTS_H
#define MLC_DIALECTS_MODULE_TRAININGFACTS_H

#include "llvm/ADT/StringRef.h"

namespace mlc {

/// On an argument of a function that computes a loss, as a UnitAttr: it holds
/// samples, like the model's inputs and the loss's target. Other inputs are
/// settings of a step.
inline constexpr llvm::StringLiteral kSampleAttr = "mlc.sample";

/// On an argument with kSampleAttr that holds labels: the number of classes, as
/// an i64.
inline constexpr llvm::StringLiteral kClassesAttr = "mlc.classes";

/// On a module: the names of the parameters that became constants because the
/// loss does not depend on them; an array of StringAttr.
inline constexpr llvm::StringLiteral kUnreadAttr = "mlc.unread";

} // namespace mlc

#endif // MLC_DIALECTS_MODULE_TRAININGFACTS_H
