//===- TrainedModel.h - A model file with its trained weights ---*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_TRAINEDMODEL_H
#define MLC_TOOLS_MLC_TRAINEDMODEL_H

#include "runtime/train/Checkpoint.h"
#include "tools/mlc/TrainingFlags.h"

namespace mlc::cli {

/// Writes to `output` the model of `read`, from `file`, with the weights and
/// running statistics of a checkpoint, in the file's types; `name` begins
/// errors.
llvm::Error writeTrained(const TrainingModel &read, ModelFile &file,
                         const runtime::train::Checkpoint &checkpoint,
                         llvm::StringRef name, llvm::StringRef output);

/// Writes to `output` the model in the file `model` with its weights and
/// running statistics from `checkpoint`, a .npz file of training. Fails if the
/// checkpoint is of another model.
llvm::Error exportWeights(const std::string &model,
                          const std::string &checkpoint,
                          llvm::StringRef output);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_TRAINEDMODEL_H
