//===- Checkpoint.h - Where training stands ---------------------*- C++ -*-===//
//
// A .npz file: "step", an int64 of how many steps are done; "settings", a text
// as bytes, what must be the same when training goes on; "weight/NAME" and, for
// each state of the optimizer, "STATE/NAME"; where the loss is scaled, "loss
// scale", the numbers of LossScale::save; where the best checkpoint is kept,
// "best held-out loss" or "best accuracy", that of the best evaluation so far.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_TRAIN_CHECKPOINT_H
#define MLC_RUNTIME_TRAIN_CHECKPOINT_H

#include "runtime/HostTensor.h"
#include "runtime/Training.h"
#include "runtime/train/LossScale.h"
#include "runtime/train/Option.h"

#include <optional>

namespace mlc::runtime::train {

/// What the names of weights and running statistics begin with in the file.
inline constexpr char weightPrefix[] = "weight/";

struct Checkpoint {
  struct Value {
    std::string name;
    StateRole role;
    std::string owner; ///< the weight's name
    HostTensor tensor;
  };
  int64_t step = 0;
  std::string settings;
  /// In one order for one artifact: weights, running statistics, then what the
  /// optimizer keeps.
  std::vector<Value> values;
  LossScale lossScale;
  /// The name of the best evaluation's array, empty where there is none, and
  /// what it holds.
  std::string bestName;
  std::optional<double> best;
};

/// The first value that is not finite; empty where all are.
std::string findInfinite(const Checkpoint &checkpoint);

/// The file is there whole, or as it was before. Errors: a full disk.
Status writeCheckpoint(const std::string &path, const Checkpoint &checkpoint);

/// Reads the step and the values of `expected` from the file. Errors: a damaged
/// file, other settings (it names the first that differs), arrays that are
/// missing or of other dims; `expected` is as it was then.
Status readCheckpoint(const std::string &path, Spelling spelling,
                      Checkpoint &expected);

} // namespace mlc::runtime::train

#endif // MLC_RUNTIME_TRAIN_CHECKPOINT_H
