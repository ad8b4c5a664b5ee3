//===- ValidateTraining.h - Checks of an artifact's training ----*- C++ -*-===//

#ifndef MLC_RUNTIME_VALIDATETRAINING_H
#define MLC_RUNTIME_VALIDATETRAINING_H

#include "runtime/Program.h"

namespace mlc::runtime {

/// What is wrong with the `training` of valid `programs`; empty if nothing is.
/// Then samples are the data inputs of the first entry, all other inputs of
/// entries are single numbers of the types that trainers set, and all numbers
/// are in range.
std::string problemOf(const Training &training, const Programs &programs);

} // namespace mlc::runtime

#endif // MLC_RUNTIME_VALIDATETRAINING_H
