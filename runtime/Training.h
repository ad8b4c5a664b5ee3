//===- Training.h - How an artifact is trained ------------------*- C++ -*-===//
//
// What a trainer (runtime/train) must know about a program besides its entries.
// The compiler writes it into the artifact, so that no code parses names.
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

/// An input for samples, over all ranks.
struct SamplePort {
  std::string name;
  mlc_dtype type = MLC_F32;
  std::vector<int64_t> dims;      ///< -1: dynamic; the first is the sample
  std::vector<std::string> texts; ///< of the dims
};

/// The axes of a mesh along which training splits a batch, and along which
/// ranks have different stages.
inline constexpr const char *kDataAxis = "data", *kStageAxis = "stage";

/// The most batches that a step averages over.
constexpr int64_t mostBatchesOfAStep = int64_t(1) << 20;

/// The most stages that a step is cut into.
constexpr int64_t mostStagesOfAStep = int64_t(1) << 12;

/// How an artifact with training entries (docs/Training.md) is trained.
struct Training {
  /// Samples of a batch over all ranks; 0: the model leaves it open.
  int64_t batch = 0;
  /// How many batches a step averages the gradients over.
  int64_t accumulate = 1;
  /// How many stages a step is cut into (docs/Pipelines.md); 1: it is whole.
  int64_t stages = 1;
  /// For several ranks, the table of actions by which the stages run
  /// (runtime/schedule/Table.h); transfers may be left out.
  std::string schedule;
  /// The inputs of a batch. In a whole step they are the first entry's first
  /// inputs.
  std::vector<SamplePort> samples;
  /// Which of these holds int64 labels; negative ones do not count.
  std::optional<uint32_t> labels;
  /// The number of classes; 0: unknown.
  int64_t classes = 0;
  /// The model handles NaN, so samples may contain it.
  bool takesNaN = false;
  /// For Adam and AdamW.
  double beta1 = 0, beta2 = 0;
  /// The initial loss scale, and whether it changes; 0: no scaling.
  double lossScale = 0;
  bool isScaleDynamic = false;
  /// What a checkpoint depends on, one line each: the model's hash, the loss,
  /// the optimizer, and how ranks share the work.
  std::string model, loss, optimizer, distribution;
};

} // namespace mlc::runtime

#endif // MLC_RUNTIME_TRAINING_H
