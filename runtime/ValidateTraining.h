//===- ValidateTraining.h - Checks of an artifact's training ----*- C++ -*-===//

#ifndef MLC_RUNTIME_VALIDATETRAINING_H
#define MLC_RUNTIME_VALIDATETRAINING_H

#include "runtime/Program.h"

namespace mlc::runtime {

/// What is wrong with the training or the pipeline of valid `programs`; empty
/// if nothing is. Then
/// - samples of training are the data inputs of the first entry, and all other
///   inputs of entries are single numbers of the types that trainers set;
/// - the entries of a pipeline are those of its stages, their inputs are its
/// own
///   or made by one other entry, and its outputs are each made by one entry;
/// - all numbers are in range.
std::string problemOfUse(const Programs &programs);

} // namespace mlc::runtime

#endif // MLC_RUNTIME_VALIDATETRAINING_H
