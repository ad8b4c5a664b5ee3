//===- Checkpoint.h - Where training stands ---------------------*- C++ -*-===//
//
// A .npz file: "step", an int64 of how many steps are done; "settings", a text
// as bytes, what must be the same when training goes on; "weight/NAME" and, for
// each state of the optimizer, "STATE/NAME"; where the loss is scaled, "loss
// scale", the numbers of LossScale::save.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_TOOLS_MLC_CHECKPOINT_H
#define MLC_TOOLS_MLC_CHECKPOINT_H

#include "tools/mlc/Feed.h"
#include "tools/mlc/LossScale.h"

namespace mlc::cli {

struct Checkpoint {
  int64_t step = 0;
  std::string settings;
  /// By their names, in one order for one model and optimizer.
  std::vector<std::string> names;
  std::vector<HostTensor> values;
  LossScale lossScale;
};

/// The first weight or state that is not finite; empty where all are.
std::string findInfinite(const Checkpoint &checkpoint);

/// The file is there whole, or as it was before. Errors: a full disk.
llvm::Error writeCheckpoint(llvm::StringRef path, const Checkpoint &checkpoint);

/// Reads the step and the values of `expected` from the file. Errors: a damaged
/// file, other settings (it names the first that differs), arrays that are
/// missing or of other dims; `expected` is as it was then.
llvm::Error readCheckpoint(const std::string &path, Checkpoint &expected);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_CHECKPOINT_H
