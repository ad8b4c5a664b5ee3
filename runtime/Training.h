//===- Training.h - How an artifact is trained ------------------*- C++ -*-===//
//
// What a trainer (runtime/train) must know of a program beside its entries: the
// compiler writes it into the artifact, so that nobody parses names.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_TRAINING_H
#define MLC_RUNTIME_TRAINING_H

#include "runtime/mlc_runtime.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mlc::runtime {

enum class StateRole : uint8_t {
#define MLC_STATE_ROLE(NAME, TEXT, MEANING) NAME,
#include "runtime/Roles.def"
};
enum class InputRole : uint8_t {
#define MLC_INPUT_ROLE(NAME, TEXT, MEANING) NAME,
#include "runtime/Roles.def"
};
constexpr unsigned numStateRoles = 0
#define MLC_STATE_ROLE(NAME, TEXT, MEANING) +1 // NOLINT(*-macro-parentheses)
#include "runtime/Roles.def"
    ;
constexpr unsigned numInputRoles = 0
#define MLC_INPUT_ROLE(NAME, TEXT, MEANING) +1 // NOLINT(*-macro-parentheses)
#include "runtime/Roles.def"
    ;
/// "weight", "loss scale", ...
const char *name(StateRole role);
const char *name(InputRole role);
std::optional<StateRole> findStateRole(const std::string &text);
std::optional<InputRole> findInputRole(const std::string &text);

/// An input that samples are given to, of all ranks together.
struct SamplePort {
  std::string name;
  mlc_dtype type = MLC_F32;
  std::vector<int64_t> dims;      ///< -1: open; the first is the sample
  std::vector<std::string> texts; ///< of the dims
};

/// The most batches of which a step takes the mean.
constexpr int64_t mostBatchesOfAStep = int64_t(1) << 20;

/// How an artifact whose entries are those of training (docs/Training.md) is
/// trained.
struct Training {
  /// Samples of a batch of all ranks; 0: the model leaves that open.
  int64_t batch = 0;
  /// Batches of which a step takes the mean of the gradients.
  int64_t accumulate = 1;
  /// What a batch is made of, in the order of the first entry's inputs.
  std::vector<SamplePort> samples;
  /// Which of these holds labels, of int64; negative ones do not count.
  std::optional<uint32_t> labels;
  /// How many classes labels name; 0: that is open.
  int64_t classes = 0;
  /// The model tells NaN from numbers, so that samples may have some.
  bool takesNaN = false;
  /// Of Adam and AdamW.
  double beta1 = 0, beta2 = 0;
  /// What the loss is scaled by in the beginning, and whether that changes; 0:
  /// it is not scaled.
  double lossScale = 0;
  bool isScaleDynamic = false;
  /// What a checkpoint depends on, a line each: the model's hash, the loss, the
  /// optimizer, and how ranks share the work.
  std::string model, loss, optimizer, distribution;
};

} // namespace mlc::runtime

#endif // MLC_RUNTIME_TRAINING_H
