//===- SessionReport.cpp - Buffers and statistics of a session ------------===//

#include "runtime/Session.h"

#include <algorithm>

namespace mlc::runtime {

Status Session::buffer(size_t index, mlc_tensor &tensor) {
  if (index >= program.buffers.size())
    return Status::error(MLC_USAGE,
                         "there is no buffer " + std::to_string(index));
  if (!ran)
    return Status::error(MLC_USAGE, "buffers need a successful run first");
  BufferId root = rootOf(program, index);
  if (program.buffers[root].kind == Buffer::Arena) {
    if (!(flags & MLC_SESSION_KEEP_BUFFERS))
      return Status::error(MLC_USAGE, "reading intermediate buffers needs "
                                      "MLC_SESSION_KEEP_BUFFERS");
    if (artifact->lives(entry)[root].first == UINT32_MAX)
      return Status::error(MLC_USAGE, "buffer " + std::to_string(index) +
                                          " is never computed");
  }
  Status status = describe(index, tensor);
  return status.ok() ? makeReadable(index, tensor) : status;
}

Status Session::memory(mlc_memory &memory) const {
  if (!ran)
    return Status::error(MLC_USAGE, "memory needs a successful run first");
  memory = {};
  for (const std::list<EpochPlan> &list : plans) {
    memory.arena_bytes += list.front().peak;
    memory.lower_bound_bytes += list.front().lowerBound;
  }
  for (const DeviceMemory &arena : arenas)
    memory.allocated_bytes += arena.capacity();
  for (const std::vector<DeviceMemory> *blocks : {&parameters, &setupMemory})
    for (const DeviceMemory &block : *blocks)
      memory.allocated_bytes += block.capacity();
  memory.allocated_bytes += shared->bytes();
  for (const BoundInput &input : inputs)
    memory.allocated_bytes += input.staging.capacity();
  memory.scratch_bytes =
      scratchStride * queue->workers() + workspace.capacity();
  memory.allocated_bytes += scratch.capacity() + workspace.capacity();
  for (const auto &[buffer, mirror] : mirrors)
    memory.allocated_bytes += mirror.capacity();
  return Status::success();
}

Status Session::stepCost(size_t index, mlc_step_cost &cost) const {
  if (index >= program.steps.size())
    return Status::error(MLC_USAGE,
                         "there is no step " + std::to_string(index));
  if (!ran)
    return Status::error(MLC_USAGE, "a step's cost needs a successful run "
                                    "first");
  const Step &step = program.steps[index];
  mlc_step_cost found = {};
  Status status;
  auto addBytes = [&](std::vector<BufferId> ids, uint64_t &sum) {
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    for (BufferId id : ids) {
      mlc_tensor tensor;
      if (status.ok())
        status = describe(id, tensor);
      if (status.ok())
        sum += tensor.bytes;
    }
  };
  auto evaluate = [&](std::optional<ExprId> expr, uint64_t &result) {
    int64_t v = 0;
    if (status.ok() && expr)
      status = value(*expr, v);
    result = v > 0 ? v : 0;
  };
  addBytes(step.inputs, found.bytes_read);
  addBytes(step.outputs, found.bytes_written);
  Operations operations = operationsOf(step);
  evaluate(operations.all, found.operations);
  evaluate(operations.products, found.contraction_operations);
  if (status.ok())
    cost = found;
  return status;
}

Status Session::stepNanoseconds(size_t index, uint64_t &ns) const {
  if (index >= stepTimes.size())
    return Status::error(MLC_USAGE,
                         "there is no step " + std::to_string(index));
  if (!(flags & MLC_SESSION_PROFILE))
    return Status::error(MLC_USAGE,
                         "step times are measured by a session that is "
                         "made to profile (profile=True, "
                         "MLC_SESSION_PROFILE)");
  ns = stepTimes[index];
  return Status::success();
}

} // namespace mlc::runtime
