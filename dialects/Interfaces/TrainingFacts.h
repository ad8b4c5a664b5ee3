//===- TrainingFacts.h - What is known of a model in training ---*- C++ -*-===//
//
// Attributes by which whoever feeds and runs a program that is trained reads
// what it is made of. Differentiation writes them; the phases behind it leave
// them alone.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_INTERFACES_TRAININGFACTS_H
#define MLC_DIALECTS_INTERFACES_TRAININGFACTS_H

#include "llvm/ADT/StringRef.h"

namespace mlc {

/// On an argument of a function that computes a loss, as a UnitAttr: samples
/// are of it, as the model's inputs and the loss's target are. Other inputs are
/// what a step is told.
inline constexpr llvm::StringLiteral kSampleAttr = "mlc.sample";

/// On an argument with kSampleAttr: that it holds labels, and how many classes
/// these name, as an i64.
inline constexpr llvm::StringLiteral kClassesAttr = "mlc.classes";

/// On a module: the names of the parameters that became constants, because the
/// loss does not depend on them; an array of StringAttr.
inline constexpr llvm::StringLiteral kUnreadAttr = "mlc.unread";

} // namespace mlc

#endif // MLC_DIALECTS_INTERFACES_TRAININGFACTS_H
