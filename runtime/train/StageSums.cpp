//===- StageSums.cpp - Gradients of stages on several ranks ---------------===//

#include "runtime/train/StageSums.h"
#include "runtime/Text.h"
#include "runtime/transport/Reduce.h"

#include <cstring>

using namespace mlc::runtime;
using namespace mlc::runtime::train;

void StageSums::open(const Artifact &own, const Stages &all, Ranks *others,
                     mlc_session *states) {
  artifact = &own;
  stages = &all;
  ranks = others;
  session = states;
  memory.resize(own.states().size());
}

uint64_t StageSums::bytes() const {
  uint64_t sum = 0;
  for (const auto &[own, other] : memory)
    sum += own.bytes + other.bytes;
  return sum;
}

Status StageSums::reduce(int64_t stage) {
  for (size_t state = 0; state < memory.size(); ++state) {
    if (artifact->states()[state].role != StateRole::GradientSum)
      continue;
    bool isSummed = false;
    for (size_t entry = 0; entry < artifact->entryCount(); ++entry)
      isSummed |= stages->entry(entry) &&
                  stages->entry(entry)->stage == stage &&
                  artifact->stateUse(entry).writes[state];
    if (!isSummed)
      continue;
    if (Status status = reduceState(state, stages->ranksOf(stage));
        !status.ok())
      return status;
  }
  return Status::success();
}

Status StageSums::reduceState(size_t state, const std::vector<int> &having) {
  mlc_tensor sum;
  if (mlc_status status = mlc_session_state(session, state, &sum))
    return lastFailure(status);
  auto &[own, other] = memory[state];
  for (HostTensor *tensor : {&own, &other})
    if (!tensor->data) {
      ++allocationCount;
      if (Status status = HostTensor::zeros(
              sum.type, std::vector<int64_t>(sum.dims, sum.dims + sum.rank),
              *tensor);
          !status.ok())
        return status;
    }
  if (sum.bytes)
    std::memcpy(own.data.get(), sum.data, sum.bytes);
  const std::string name =
      "sum of " + printable(artifact->states()[state].name).substr(0, 60);
  const int first = having.front();
  Status status;
  if (stages->line() != first) {
    status = send(first, name, own);
    if (status.ok())
      status = receive(first, name, own);
  } else {
    for (size_t i = 1; status.ok() && i < having.size(); ++i) {
      status = receive(having[i], name, other);
      if (status.ok())
        transport::add(own.type, own.data.get(), other.data.get(),
                       static_cast<int64_t>(own.elements()));
    }
    for (size_t i = 1; status.ok() && i < having.size(); ++i)
      status = send(having[i], name, own);
  }
  if (!status.ok())
    return status;
  return lastFailure(mlc_session_set_state(session, state, own.type,
                                           own.dims.size(), own.dims.data(),
                                           own.data.get(), MLC_SPACE_HOST));
}

Status StageSums::send(int to, const std::string &name, HostTensor &tensor) {
  return ranks->waitForMessage(
      ranks->beginMessage(stages->findChannel(stages->line(), to), name,
                          tensor.data.get(), tensor.bytes));
}

Status StageSums::receive(int from, const std::string &name,
                          HostTensor &tensor) {
  return ranks->waitForMessage(
      ranks->beginMessage(stages->findChannel(from, stages->line()), name,
                          tensor.data.get(), tensor.bytes));
}
