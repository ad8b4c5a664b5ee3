//===- Random.h - Dropout in training ---------------------------*- C++ -*-===//

#ifndef MLC_PASSES_IMPORT_RANDOM_H
#define MLC_PASSES_IMPORT_RANDOM_H

#include "passes/Import/Node.h"

namespace mlc {

/// Dropout in training: elements become 0 with the probability of the ratio;
/// the others are divided by 1 - ratio.
mlir::LogicalResult importDropoutInTraining(Node &node);

} // namespace mlc

#endif // MLC_PASSES_IMPORT_RANDOM_H
