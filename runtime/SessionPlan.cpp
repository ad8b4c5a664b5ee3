//===- SessionPlan.cpp - From a program to a plan for given dims ----------===//

#include "runtime/ProgramPlan.h"
#include "runtime/Session.h"

#include <algorithm>

namespace mlc::runtime {

namespace {

/// Below this much work per thread, waking another costs more than it saves.
constexpr int64_t workPerThread = 16384;

} // namespace

/// A size or count: negative values are errors.
Status Session::sizeOf(ExprId id, const char *what, const std::string &name,
                       uint64_t &result) const {
  int64_t v;
  Status status = value(id, v);
  if (status.ok() && v < 0)
    status = Status::error(MLC_USAGE, std::string(what) + " of '" + name +
                                          "' is " + std::to_string(v) + ": " +
                                          toString(program, program.exprs[id]));
  result = v;
  return status;
}

/// Bytes of the memory behind a buffer.
Status Session::bytesOf(BufferId id, uint64_t &result) const {
  const Buffer &buffer = program.buffers[id];
  switch (buffer.kind) {
  case Buffer::Input:
    result = inputs[buffer.source].bytes;
    return Status::success();
  case Buffer::Constant:
  case Buffer::Parameter:
    result = buffer.size;
    return Status::success();
  case Buffer::Arena:
  case Buffer::Alias:
    return sizeOf(buffer.sizeExpr, "the size", buffer.name, result);
  }
  return Status::success();
}

/// Follows aliases and checks that each lies inside what it is an alias of,
/// and that the tensor's dims fit.
Status Session::placeOf(BufferId id, Place &place) const {
  const Buffer *buffer = &program.buffers[id];
  uint64_t size, extra = 0;
  Status status = bytesOf(id, size);
  uint64_t need = byteSize(buffer->type);
  for (ExprId dim : buffer->dims) {
    uint64_t v;
    if (status.ok())
      status = sizeOf(dim, "a dim", buffer->name, v);
    if (!status.ok())
      return status;
    if (__builtin_mul_overflow(need, v, &need))
      return Status::error(MLC_USAGE, "the size of '" + buffer->name +
                                          "' overflows 64 bits");
  }
  if (!status.ok())
    return status;
  if (need > size)
    return Status::badFile("the program is damaged: '" + buffer->name +
                           "' needs " + std::to_string(need) + " of " +
                           std::to_string(size) + " bytes");
  while (buffer->kind == Buffer::Alias) {
    uint64_t offset, outer;
    status = sizeOf(buffer->offsetExpr, "the offset", buffer->name, offset);
    if (status.ok())
      status = bytesOf(buffer->source, outer);
    if (!status.ok())
      return status;
    if (offset > outer || size > outer - offset)
      return Status::badFile("the program is damaged: '" + buffer->name +
                             "' leaves the memory that it is a part of");
    extra += offset;
    size = outer;
    id = buffer->source;
    buffer = &program.buffers[id];
  }
  place = {id, extra};
  return Status::success();
}

Status Session::planEpoch(uint32_t epoch, EpochPlan &plan) {
  const std::vector<uint32_t> &epochOf = artifact->epochs().ofBuffer;
  ArenaOptions options;
  const std::vector<uint8_t> &isSetup = artifact->setupSteps().isBuffer;
  options.select = [&](BufferId b) {
    bool isDirect = false;
    for (size_t o = 0; o < plan.direct.size(); ++o)
      isDirect |= plan.direct[o] && program.outputs[o].buffer == b;
    return epochOf[b] == epoch && !isSetup[b] && !isDirect;
  };
  options.keepAll = flags & MLC_SESSION_KEEP_BUFFERS;
  ArenaPlan arena;
  Status status =
      planArena(program, artifact->lives(), symbols.data(), options, arena);
  if (!status.ok())
    return status;
  plan.peak = arena.memory.peak;
  plan.lowerBound = arena.memory.lowerBound;
  for (size_t i = 0; i < arena.buffers.size(); ++i)
    plan.offsets.push_back({arena.buffers[i], arena.memory.offsets[i]});
  return status;
}

Status Session::makeLibraryStep(const Step &step, EpochPlan &plan,
                                ReadyStep &ready) {
  ready.library = findLibraryKernel(step.name);
  ready.firstLibraryOperand = plan.libraryOperands.size();
  auto add = [&](BufferId id) {
    const Buffer &buffer = program.buffers[id];
    std::vector<int64_t> dims(buffer.dims.size());
    for (size_t d = 0; d < dims.size(); ++d) {
      Status status = value(buffer.dims[d], dims[d]);
      if (!status.ok())
        return status;
    }
    plan.libraryDims.push_back(std::move(dims));
    // The dims' heap block does not move with the outer vector.
    plan.libraryOperands.push_back({buffer.type, buffer.dims.size(),
                                    plan.libraryDims.back().data(), nullptr});
    return Status::success();
  };
  for (const std::vector<BufferId> *list : {&step.inputs, &step.outputs})
    for (BufferId id : *list) {
      Status status = add(id);
      if (!status.ok())
        return status;
    }
  const LibraryOperand *operands =
      plan.libraryOperands.data() + ready.firstLibraryOperand;
  LibraryCall call = {operands,
                      step.inputs.size(),
                      operands + step.inputs.size(),
                      step.outputs.size(),
                      plan.args.data() + ready.firstArg,
                      step.args.size()};
  Status status = ready.library->check(call);
  if (!status.ok()) {
    if (!step.nodes.empty())
      status.message = "node '" + step.nodes[0] + "': " + status.message;
    return status;
  }
  ready.tasks = ready.library->tasks(call);
  ready.threads = pool.size();
  plan.scratch = std::max(plan.scratch, ready.library->scratch(call));
  return status;
}

Status Session::makeStep(const Step &step, EpochPlan &plan) {
  ReadyStep ready;
  ready.firstOperand = plan.operands.size();
  ready.firstArg = plan.args.size();
  Status status;
  for (const std::vector<BufferId> *list : {&step.inputs, &step.outputs})
    for (BufferId id : *list) {
      Place place;
      status = placeOf(id, place);
      if (!status.ok())
        return status;
      plan.operands.push_back(place);
    }
  for (ExprId id : step.args) {
    int64_t v;
    status = value(id, v);
    if (!status.ok())
      return status;
    plan.args.push_back(v);
  }
  if (step.kind == Step::Library) {
    status = makeLibraryStep(step, plan, ready);
  } else if (step.kind == Step::Launch) {
    uint64_t tasks = 0, bytes = 0;
    status = sizeOf(*step.tasks, "the number of tasks", step.name, tasks);
    if (status.ok() && step.scratch)
      status = sizeOf(*step.scratch, "the scratch size", step.name, bytes);
    ready.tasks = tasks;
    plan.scratch = std::max(plan.scratch, bytes);
    ready.threads = pool.size();
    int64_t work = 0;
    if (status.ok() && step.work) {
      status = value(*step.work, work);
      ready.threads =
          std::clamp<int64_t>(1 + work / workPerThread, 1, pool.size());
    }
  }
  plan.steps.push_back(ready);
  return status;
}

Status Session::makePlan(uint32_t epoch, EpochPlan &plan) {
  const Epochs &epochs = artifact->epochs();
  Status status = planEpoch(epoch, plan);
  for (uint32_t s = epochs.firstStep[epoch];
       status.ok() && s < epochs.firstStep[epoch + 1]; ++s)
    status = makeStep(program.steps[s], plan);
  // Outputs are described later without further checks.
  if (epoch + 1 == epochs.count())
    for (const Port &port : program.outputs) {
      Place place;
      if (status.ok())
        status = placeOf(port.buffer, place);
    }
  // Rounded up, and apart from the neighbour's cache lines.
  if (plan.scratch > uint64_t(1) << 40)
    return Status::error(MLC_RESOURCES,
                         "out of memory: " + std::to_string(plan.scratch) +
                             " bytes of scratch");
  plan.scratch = (plan.scratch + 63) / 64 * 64 + 64;
  plan.pointers.assign(plan.operands.size(), nullptr);
  return status;
}

} // namespace mlc::runtime
