//===- TrainedModel.h - A model file with its trained weights ---*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_TRAINEDMODEL_H
#define MLC_TOOLS_MLC_TRAINEDMODEL_H

#include "runtime/train/Checkpoint.h"
#include "tools/mlc/TrainingFlags.h"

namespace mlc::cli {

/// Writes to `output` the model that `read` was made of, `file`, with the
/// weights and running statistics of a checkpoint, in the file's types; `name`
/// begins errors.
llvm::Error writeTrained(const TrainingModel &read, ModelFile &file,
                         const runtime::train::Checkpoint &checkpoint,
                         llvm::StringRef name, llvm::StringRef output);

/// Writes to `output` the model in the file `model` with the weights and
/// running statistics that the .npz file `checkpoint`, which training wrote,
/// has of it. Errors: a file that is none of this model.
llvm::Error exportWeights(const std::string &model,
                          const std::string &checkpoint,
                          llvm::StringRef output);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_TRAINEDMODEL_H
