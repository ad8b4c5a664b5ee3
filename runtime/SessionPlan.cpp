//===- SessionPlan.cpp - From a program to a plan for given dims ----------===//

#include "runtime/ProgramPlan.h"
#include "runtime/Session.h"

namespace mlc::runtime {

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
  case Buffer::State:
    result = shared->size(buffer.source);
    return Status::success();
  case Buffer::Arena:
  case Buffer::Alias:
    return sizeOf(buffer.sizeExpr, "the size", buffer.name, result);
  }
  return Status::success();
}

/// Bytes of a tensor that has been placed.
Status Session::tensorBytes(BufferId id, uint64_t &result) const {
  const Buffer &buffer = program.buffers[id];
  result = byteSize(buffer.type);
  for (ExprId dim : buffer.dims) {
    uint64_t v = 0;
    Status status = sizeOf(dim, "a dim", buffer.name, v);
    if (!status.ok())
      return status;
    result *= v; // placeOf() has checked the product
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
  const std::vector<uint32_t> &epochOf = epochs.ofBuffer;
  ArenaOptions options;
  const std::vector<uint8_t> &isSetup = setup.isBuffer;
  options.select = [&](BufferId b) {
    bool isDirect = false;
    for (size_t o = 0; o < plan.direct.size(); ++o)
      isDirect |= plan.direct[o] && program.outputs[o].buffer == b;
    return epochOf[b] == epoch && !isSetup[b] && !isDirect;
  };
  options.keepAll = flags & MLC_SESSION_KEEP_BUFFERS;
  ArenaPlan arena;
  Status status = planArena(program, artifact->lives(entry), symbols.data(),
                            options, arena);
  if (!status.ok())
    return status;
  plan.peak = arena.memory.peak;
  plan.lowerBound = arena.memory.lowerBound;
  for (size_t i = 0; i < arena.buffers.size(); ++i)
    plan.offsets.push_back({arena.buffers[i], arena.memory.offsets[i]});
  return status;
}

Status Session::makePlan(uint32_t epoch, EpochPlan &plan) {
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
  // Round up, and keep threads on separate cache lines.
  for (uint64_t bytes : {plan.scratch, plan.workspace})
    if (bytes > uint64_t(1) << 40)
      return Status::error(MLC_RESOURCES,
                           "out of memory: " + std::to_string(bytes) +
                               " bytes of scratch");
  plan.scratch = (plan.scratch + 63) / 64 * 64 + 64;
  plan.pointers.assign(plan.operands.size(), nullptr);
  return status;
}

Status Session::plan(mlc_memory &memory) {
  Status status = bindSymbols();
  if (status.ok() && epochs.count() != 1)
    status = Status::error(MLC_UNSUPPORTED, "its sizes depend on data");
  // Outputs in the caller's memory are not in the arena.
  if (status.ok())
    status = chooseDirectOutputs(0);
  EpochPlan plan;
  plan.direct = direct;
  if (status.ok())
    status = makePlan(0, plan);
  memory = {};
  memory.arena_bytes = plan.peak;
  memory.lower_bound_bytes = plan.lowerBound;
  memory.scratch_bytes = plan.scratch * queue->workers() + plan.workspace;
  return status;
}

} // namespace mlc::runtime
