//===- Checkpoint.h - The state of training in a file -----------*- C++ -*-===//
//
// A .npz file with these arrays: "step", the number of steps done, an int64;
// "settings", text as bytes that must be the same on resume; "weight/NAME" and,
// for each optimizer state, "STATE/NAME"; with a loss scale, "loss scale", the
// numbers of LossScale::save; if the best checkpoint is kept, "best held-out
// loss" or "best accuracy" of the best evaluation so far.
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

/// The prefix of weights' and running statistics' names in the file.
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
  /// In a fixed order per artifact: weights, running statistics, then optimizer
  /// states.
  std::vector<Value> values;
  LossScale lossScale;
  /// The name of the best evaluation's array, empty if there is none, and its
  /// value.
  std::string bestName;
  std::optional<double> best;
};

/// The name of the first value that is not finite; empty if all are.
std::string findInfinite(const Checkpoint &checkpoint);

/// Writes the file atomically. Fails on a full disk.
Status writeCheckpoint(const std::string &path, const Checkpoint &checkpoint);

/// Reads the step and the values of `expected` from the file. Fails for a
/// damaged file, other settings (the message names the first that differs) and
/// missing arrays or other dims; `expected` is then unchanged.
Status readCheckpoint(const std::string &path, Spelling spelling,
                      Checkpoint &expected);

} // namespace mlc::runtime::train

#endif // MLC_RUNTIME_TRAIN_CHECKPOINT_H
