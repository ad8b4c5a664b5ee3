//===- Program.cpp - The entries and states of training -------------------===//

#include "runtime/train/Program.h"

using namespace mlc::runtime;
using namespace mlc::runtime::train;

Status train::lastFailure(mlc_status status) {
  return status ? Status::error(status, mlc_last_error()) : Status::success();
}

Status OpenEntry::run() { return lastFailure(mlc_session_run(session.get())); }

Status OpenEntry::readNumber(size_t index, double &number) const {
  mlc_tensor tensor;
  if (mlc_status status = mlc_session_output(session.get(), index, &tensor))
    return lastFailure(status);
  number = tensor.type == MLC_F64 ? *static_cast<const double *>(tensor.data)
                                  : *static_cast<const float *>(tensor.data);
  return Status::success();
}

Status TrainingProgram::of(std::shared_ptr<const Artifact> artifact,
                           TrainingProgram &program) {
  if (!artifact->training())
    return Status::error(MLC_USAGE,
                         "the artifact does not train; make one with mlc "
                         "train or mlc.Trainer");
  program.whole = std::move(artifact);
  const std::vector<State> &states = program.whole->states();
  for (StateRole role :
       {StateRole::Weight, StateRole::Statistic, StateRole::Moment})
    for (size_t i = 0; i < states.size(); ++i)
      if (states[i].role == role) {
        program.keptStates.push_back(i);
        if (role == StateRole::Weight)
          program.trained.push_back(i);
      }
  return Status::success();
}

std::optional<size_t> TrainingProgram::find(StateRole role,
                                            const std::string &owner) const {
  const std::vector<State> &states = whole->states();
  for (size_t i = 0; i < states.size(); ++i)
    if (states[i].role == role && states[i].owner == owner)
      return i;
  return std::nullopt;
}

std::optional<size_t>
TrainingProgram::findEntry(const std::string &name) const {
  for (size_t i = 0; i < whole->entryCount(); ++i)
    if (whole->program(i).name == name)
      return i;
  return std::nullopt;
}
