//===- StageFacts.h - Attributes of a model in a pipeline -------*- C++ -*-===//
//
// Attributes that say which stage of a pipeline carries out what
// (docs/Pipelines.md).
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_MODULE_STAGEFACTS_H
#define MLC_DIALECTS_MODULE_STAGEFACTS_H

#include "llvm/ADT/StringRef.h"

namespace mlc {

/// On an operator: the stage that carries it out, an i64 from 0.
/// Differentiation gives an operator that it makes the stage of what it
/// differentiates.
inline constexpr llvm::StringLiteral kStageAttr = "dist.stage";

/// On an operator that differentiation has made of one with kStageAttr, as a
/// UnitAttr.
inline constexpr llvm::StringLiteral kBackwardAttr = "dist.backward";

/// On a module whose model was cut into entries of stages: `inputs` and
/// `outputs` of the model, in its order. Each has `name`, `type` (of a
/// micro-batch) and `divided`: whether micro-batches have parts of it, along
/// the first dim.
inline constexpr llvm::StringLiteral kPipelineAttr = "mlc.pipeline";

} // namespace mlc

#endif // MLC_DIALECTS_MODULE_STAGEFACTS_H
