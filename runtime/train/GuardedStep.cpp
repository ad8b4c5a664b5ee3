//===- GuardedStep.cpp - A step that spares the weights -------------------===//

#include "runtime/train/GuardedStep.h"
#include "runtime/ApiCall.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace mlc::runtime;
using namespace mlc::runtime::train;

namespace {

/// This rank's states and counts of before a step.
class KeptStates {
public:
  explicit KeptStates(Trainer &trainer)
      : trainer(trainer), step(trainer.step()), scale(trainer.scale()) {}

  Status copy();
  Status putBack() const;
  /// Whether no state of any rank has become infinite or NaN.
  Status areFinite(bool &finite) const;

private:
  size_t count() const {
    return trainer.getProgram().artifact().states().size();
  }
  /// A version in the making is nothing that a step begins with.
  bool isKept(size_t index) const {
    return trainer.getProgram().state(index).role != StateRole::Next;
  }
  Status view(size_t index, HostTensor &state) const;

  Trainer &trainer;
  int64_t step;
  LossScale scale;
  std::vector<HostTensor> states;
};

} // namespace

/// The memory of a state.
Status KeptStates::view(size_t index, HostTensor &state) const {
  mlc_tensor tensor;
  if (mlc_status status = mlc_session_state(trainer.session(), index, &tensor))
    return lastFailure(status);
  auto *data = static_cast<char *>(const_cast<void *>(tensor.data));
  state = {tensor.type,
           std::vector<int64_t>(tensor.dims, tensor.dims + tensor.rank),
           std::shared_ptr<char>(std::shared_ptr<char>(), data), tensor.bytes};
  return Status::success();
}

Status KeptStates::copy() {
  for (size_t i = 0; i < count(); ++i) {
    HostTensor now, copied;
    Status status = isKept(i) ? view(i, now) : Status::success();
    if (status.ok() && isKept(i))
      status = HostTensor::zeros(now.type, now.dims, copied);
    if (!status.ok())
      return status;
    if (now.bytes)
      std::memcpy(copied.data.get(), now.data.get(), now.bytes);
    states.push_back(std::move(copied));
  }
  return Status::success();
}

Status KeptStates::putBack() const {
  for (size_t i = 0; i < states.size(); ++i) {
    const HostTensor &state = states[i];
    if (!isKept(i))
      continue;
    if (mlc_status status = mlc_session_set_state(
            trainer.session(), i, state.type, state.dims.size(),
            state.dims.data(), state.data.get(), MLC_SPACE_HOST))
      return lastFailure(status);
  }
  trainer.goBack(step, scale);
  return Status::success();
}

Status KeptStates::areFinite(bool &finite) const {
  int64_t infinite = 0;
  for (size_t i = 0; i < count() && !infinite; ++i) {
    HostTensor now;
    if (!isKept(i))
      continue;
    if (Status status = view(i, now); !status.ok())
      return status;
    infinite = findNotFinite(now, 0, now.elements(), /*isNaN=*/false) >= 0;
  }
  std::vector<int64_t> all;
  Status status = trainer.group().gather({infinite}, all);
  finite = std::none_of(all.begin(), all.end(), [](int64_t i) { return i; });
  return status;
}

/// The error of a step that was not done because of `why`.
static Status refused(const Trainer &trainer, const std::string &why) {
  return trainer.named(Status::error(
      MLC_DIFFERS,
      "step " + std::to_string(trainer.step() + 1) +
          " has not been done, and the weights are as before: " + why));
}

Status train::runGuarded(Trainer &trainer, BatchSource &source, double rate,
                         double &loss) {
  if (std::string why = trainer.whyNoLoss(source, trainer.step()); !why.empty())
    return refused(trainer, why);
  // All ranks have the whole batch, and so do the same here.
  const std::string why = trainer.whyInfinite(source, trainer.step());
  KeptStates kept(trainer);
  Status status = why.empty() ? Status::success() : kept.copy();
  if (status.ok())
    status = trainer.run(source, rate, loss);
  if (!status.ok() || why.empty())
    return status.ok() ? trainer.check(loss, source, /*resumes=*/false)
                       : status;
  bool finite = false;
  status = kept.areFinite(finite);
  if (status.ok() && std::isfinite(loss) && finite)
    return trainer.check(loss, source, /*resumes=*/false);
  if (status.ok())
    status = kept.putBack();
  return status.ok() ? refused(trainer, why) : status;
}
