//===- Program.h - The entries and states of training -----------*- C++ -*-===//

#ifndef MLC_RUNTIME_TRAIN_PROGRAM_H
#define MLC_RUNTIME_TRAIN_PROGRAM_H

#include "runtime/Artifact.h"
#include "runtime/HostTensor.h"

#include <memory>

namespace mlc::runtime::train {

/// The failure of the C ABI's last call.
Status lastFailure(mlc_status status);

/// An entry of an artifact with a session that runs it; empty if the artifact
/// lacks the entry.
struct OpenEntry {
  struct Close {
    void operator()(mlc_artifact *artifact) const {
      mlc_artifact_close(artifact);
    }
    void operator()(mlc_session *session) const {
      mlc_session_destroy(session);
    }
  };
  std::unique_ptr<mlc_artifact, Close> artifact;
  std::unique_ptr<mlc_session, Close> session;

  explicit operator bool() const { return session != nullptr; }
  Status run();
  /// Result `index`, a single float.
  Status readNumber(size_t index, double &number) const;
};

/// The parts of an artifact that training uses.
class TrainingProgram {
public:
  /// Fails if the artifact is not for training.
  static Status of(std::shared_ptr<const Artifact> artifact,
                   TrainingProgram &program);

  const Artifact &artifact() const { return *whole; }
  const Training &training() const { return *whole->training(); }
  const State &state(size_t index) const { return whole->states()[index]; }
  /// Indices of the states in a checkpoint: weights, running statistics and
  /// optimizer states. Gradient sums belong to a step, and rounded weights
  /// follow from their masters.
  const std::vector<size_t> &kept() const { return keptStates; }
  /// The trained weights among these.
  const std::vector<size_t> &weights() const { return trained; }
  /// The state of weight `owner` with that role.
  std::optional<size_t> find(StateRole role, const std::string &owner) const;
  /// The entry with that name.
  std::optional<size_t> findEntry(const std::string &name) const;

private:
  std::shared_ptr<const Artifact> whole;
  std::vector<size_t> keptStates, trained;
};

} // namespace mlc::runtime::train

#endif // MLC_RUNTIME_TRAIN_PROGRAM_H
