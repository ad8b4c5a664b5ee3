//===- SessionBind.cpp - Inputs and outputs of a session ------------------===//

#include "runtime/Session.h"

namespace mlc::runtime {

namespace {

std::string quoted(const std::string &name) { return "'" + name + "'"; }

Status noSuch(const char *what, size_t index, size_t count) {
  return Status::error(MLC_USAGE, std::string("there is no ") + what + " " +
                                      std::to_string(index) +
                                      "; the model has " +
                                      std::to_string(count));
}

Status checkType(const std::string &where, const Buffer &buffer, DType type,
                 size_t rank) {
  if (type != buffer.type)
    return Status::error(MLC_USAGE, where + "has type " + name(type) +
                                        ", the model takes " +
                                        name(buffer.type));
  if (rank != buffer.dims.size())
    return Status::error(MLC_USAGE, where + "has " + std::to_string(rank) +
                                        " dims, the model takes " +
                                        std::to_string(buffer.dims.size()));
  return Status::success();
}

Status doesNotFit(const std::string &name, uint64_t bytes, uint64_t capacity) {
  return Status::error(MLC_USAGE, "output " + quoted(name) + " has " +
                                      std::to_string(bytes) +
                                      " bytes, and the memory given for it " +
                                      std::to_string(capacity));
}

bool overlap(const void *a, uint64_t aBytes, const void *b, uint64_t bBytes) {
  auto x = reinterpret_cast<uintptr_t>(a), y = reinterpret_cast<uintptr_t>(b);
  return aBytes && bBytes && (x < y ? y - x < aBytes : x - y < bBytes);
}

} // namespace

//===----------------------------------------------------------------------===//
// The caller's memory
//===----------------------------------------------------------------------===//

/// Whether a pointer of that space is an address on the device.
bool Session::isAddress(mlc_space space) const {
  return space == MLC_SPACE_DEVICE || device.usesHostMemory();
}

/// Whether kernels can work on the caller's memory where it is.
bool Session::canUse(const void *data, mlc_space space) const {
  return data && isAddress(space) &&
         reinterpret_cast<uintptr_t>(data) % 64 == 0;
}

/// Whether pointers of the two spaces can mean the same memory.
bool Session::mayOverlap(mlc_space a, mlc_space b) const {
  return a == b || device.usesHostMemory();
}

/// Copies the caller's data to the device.
Status Session::bring(void *to, const void *from, mlc_space space,
                      uint64_t bytes) {
  if (!bytes)
    return Status::success();
  return space == MLC_SPACE_HOST ? queue->upload(to, from, bytes)
                                 : queue->copy(to, from, bytes);
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

Status Session::bindInput(size_t index, DType type, size_t rank,
                          const int64_t *dims, const void *data,
                          mlc_space space) {
  if (index >= inputs.size())
    return noSuch("input", index, inputs.size());
  const Port &port = program.inputs[index];
  std::string where = "input " + quoted(port.name) + ": ";
  Status status = checkType(where, program.buffers[port.buffer], type, rank);
  if (!status.ok())
    return status;
  uint64_t bytes = byteSize(type);
  bool empty = false;
  for (size_t d = 0; d < rank; ++d) {
    if (dims[d] < 0)
      return Status::error(MLC_USAGE,
                           where + "dim " + std::to_string(d) + " is negative");
    empty |= dims[d] == 0;
  }
  for (size_t d = 0; d < rank && !empty; ++d)
    if (__builtin_mul_overflow(bytes, uint64_t(dims[d]), &bytes))
      return Status::error(MLC_USAGE, where + "its size overflows 64 bits");
  if (empty)
    bytes = 0;
  if (!data && bytes)
    return Status::error(MLC_USAGE, where + "has no data");
  BoundInput &input = inputs[index];
  bool sameDims = input.bound;
  for (size_t d = 0; d < rank; ++d) {
    sameDims &= input.dims[d] == dims[d];
    input.dims[d] = dims[d];
  }
  dimsChanged |= !sameDims;
  input.bound = true;
  input.rank = rank;
  input.data = data;
  input.space = space;
  input.bytes = bytes;
  ran = false;
  return Status::success();
}

/// Gives every input buffer its address: the user's memory, or a copy.
Status Session::placeInputs() {
  for (size_t i = 0; i < inputs.size(); ++i) {
    BoundInput &input = inputs[i];
    auto *data = static_cast<uint8_t *>(const_cast<void *>(input.data));
    if (!canUse(data, input.space)) {
      Status status = reserve(input.staging, input.bytes);
      if (status.ok())
        status = bring(input.staging.data(), data, input.space, input.bytes);
      if (!status.ok())
        return status;
      data = input.staging.data();
    }
    uint8_t *&address = addresses[program.inputs[i].buffer];
    if (address != data) {
      address = data;
      ++stamp;
    }
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

Status Session::bindOutput(size_t index, void *data, uint64_t capacity,
                           mlc_space space) {
  if (index >= outputs.size())
    return noSuch("output", index, outputs.size());
  outputs[index] = {static_cast<uint8_t *>(data), data ? capacity : 0, space};
  ran = false;
  return Status::success();
}

/// Refuses overlaps, since outputs in the caller's memory are written while
/// inputs are still read.
Status Session::checkOverlaps() const {
  for (size_t o = 0; o < outputs.size(); ++o) {
    const BoundOutput &output = outputs[o];
    std::string other;
    for (size_t i = 0; output.data && i < inputs.size(); ++i)
      if (mayOverlap(output.space, inputs[i].space) &&
          overlap(output.data, output.capacity, inputs[i].data,
                  inputs[i].bytes))
        other = "input " + quoted(program.inputs[i].name);
    for (size_t p = 0; output.data && p < o; ++p)
      if (mayOverlap(output.space, outputs[p].space) &&
          overlap(output.data, output.capacity, outputs[p].data,
                  outputs[p].capacity))
        other = "output " + quoted(program.outputs[p].name);
    if (!other.empty())
      return Status::error(MLC_USAGE, "the memory of output " +
                                          quoted(program.outputs[o].name) +
                                          " overlaps that of " + other +
                                          "; give each memory of its own");
  }
  return checkStateOverlaps();
}

/// States may be in other slots than in the last run.
void Session::placeStates() {
  if (stampOfStates == shared->stamp())
    return;
  stampOfStates = shared->stamp();
  bool hasMoved = false;
  for (size_t b = 0; b < program.buffers.size(); ++b) {
    if (program.buffers[b].kind != Buffer::State)
      continue;
    uint8_t *address = shared->address(program.buffers[b].source);
    hasMoved |= addresses[b] != address;
    addresses[b] = address;
  }
  stamp += hasMoved;
}

/// Refuses overlaps with states, which are written while inputs are still read
/// and must not be written through outputs.
Status Session::checkStateOverlaps() const {
  auto overlaps = [&](const void *data, uint64_t bytes, mlc_space space) {
    for (size_t s = 0; s < shared->count(); ++s)
      if (isAddress(space) &&
          overlap(data, bytes, shared->address(s), shared->size(s)))
        return "overlaps that of state " + quoted(shared->state(s).name) +
               "; give memory of its own";
    return std::string();
  };
  std::string problem;
  for (size_t i = 0; stateUse.hasWrites && i < inputs.size(); ++i)
    if (problem = overlaps(inputs[i].data, inputs[i].bytes, inputs[i].space);
        !problem.empty())
      return Status::error(MLC_USAGE, "the memory of input " +
                                          quoted(program.inputs[i].name) + " " +
                                          problem);
  for (size_t o = 0; o < outputs.size(); ++o)
    if (problem =
            overlaps(outputs[o].data, outputs[o].capacity, outputs[o].space);
        !problem.empty())
      return Status::error(MLC_USAGE, "the memory of output " +
                                          quoted(program.outputs[o].name) +
                                          " " + problem);
  return Status::success();
}

/// Checks that the results fit the caller's memory, as far as their sizes are
/// known before the run.
Status Session::checkCapacities() const {
  for (size_t o = 0; o < outputs.size(); ++o) {
    const Buffer &buffer = program.buffers[program.outputs[o].buffer];
    uint64_t bytes = byteSize(buffer.type);
    bool isKnown = outputs[o].data != nullptr;
    for (ExprId dim : buffer.dims) {
      uint64_t v = 0;
      isKnown = isKnown && epochs.ofExpr[dim] == 0;
      Status status =
          isKnown ? sizeOf(dim, "a dim", buffer.name, v) : Status::success();
      if (!status.ok())
        return status;
      if (__builtin_mul_overflow(bytes, v, &bytes))
        isKnown = false; // planning reports it
    }
    if (isKnown && bytes > outputs[o].capacity)
      return doesNotFit(program.outputs[o].name, bytes, outputs[o].capacity);
  }
  return Status::success();
}

/// Decides which outputs that this epoch places are computed in the caller's
/// memory, and sets the addresses of their buffers.
Status Session::chooseDirectOutputs(uint32_t epoch) {
  for (size_t o = 0; o < outputs.size(); ++o) {
    const BoundOutput &output = outputs[o];
    BufferId id = program.outputs[o].buffer;
    const Buffer &buffer = program.buffers[id];
    if (buffer.kind != Buffer::Arena || epochs.ofBuffer[id] < epoch)
      continue;
    direct[o] = 0;
    if (epochs.ofBuffer[id] > epoch)
      continue;
    bool isTaken = setup.isBuffer[id];
    for (size_t p = 0; p < o; ++p)
      isTaken |= direct[p] && program.outputs[p].buffer == id;
    if (isTaken || !canUse(output.data, output.space))
      continue;
    uint64_t bytes;
    Status status = bytesOf(id, bytes);
    if (!status.ok())
      return status;
    if (bytes > output.capacity)
      continue; // fits only if the tensor is shorter than its memory
    direct[o] = 1;
    if (addresses[id] != output.data) {
      addresses[id] = output.data;
      ++stamp;
    }
  }
  return Status::success();
}

/// Copies outputs that were not computed in place to the caller's memory.
Status Session::copyOutputs() {
  // All sizes first, so that nothing is written if one does not fit.
  for (bool copies : {false, true})
    for (size_t o = 0; o < outputs.size(); ++o) {
      const BoundOutput &output = outputs[o];
      if (!output.data || direct[o])
        continue;
      mlc_tensor tensor;
      Status status = describe(program.outputs[o].buffer, tensor);
      if (!status.ok())
        return status;
      if (tensor.bytes > output.capacity)
        return doesNotFit(program.outputs[o].name, tensor.bytes,
                          output.capacity);
      if (!copies || !tensor.bytes)
        continue;
      status =
          output.space == MLC_SPACE_HOST
              ? queue->downloadLater(output.data, tensor.data, tensor.bytes)
              : queue->copy(output.data, tensor.data, tensor.bytes);
      if (!status.ok())
        return status;
    }
  return Status::success();
}

Status Session::output(size_t index, mlc_tensor &tensor) {
  if (index >= program.outputs.size())
    return noSuch("output", index, program.outputs.size());
  if (!ran)
    return Status::error(MLC_USAGE,
                         "there are no outputs: nothing ran since the "
                         "last bind or change of a parameter, or "
                         "the run failed");
  BufferId id = program.outputs[index].buffer;
  Status status = describe(id, tensor);
  if (!status.ok() || !outputs[index].data)
    return status.ok() ? makeReadable(id, tensor) : status;
  tensor.data = outputs[index].data;
  return status;
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

Status Session::setParameter(size_t index, DType type, size_t rank,
                             const int64_t *dims, const void *data,
                             mlc_space space) {
  if (index >= parameters.size())
    return noSuch("parameter", index, parameters.size());
  const Port &port = program.parameters[index];
  const Buffer &buffer = program.buffers[port.buffer];
  std::string where = "parameter " + quoted(port.name) + ": ";
  Status status = checkType(where, buffer, type, rank);
  for (size_t d = 0; status.ok() && d < rank; ++d) {
    int64_t expected = program.exprs[buffer.dims[d]].code[0].operand;
    if (dims[d] != expected)
      status = Status::error(MLC_USAGE, where + "dim " + std::to_string(d) +
                                            " is " + std::to_string(dims[d]) +
                                            ", the model needs " +
                                            std::to_string(expected));
  }
  if (status.ok() && !data && buffer.size)
    status = Status::error(MLC_USAGE, where + "has no data");
  if (status.ok())
    status = reserve(parameters[index], buffer.size);
  if (!status.ok())
    return status;
  uint8_t *copy = parameters[index].data();
  QueuedWork work(*queue);
  status = bring(copy, data, space, buffer.size);
  if (status.ok())
    status = work.finish();
  if (!status.ok())
    return status;
  if (addresses[port.buffer] != copy) {
    addresses[port.buffer] = copy;
    ++stamp;
  }
  isSetUp = false;
  ran = false;
  return Status::success();
}

Status Session::parameter(size_t index, mlc_tensor &tensor) {
  if (index >= parameters.size())
    return noSuch("parameter", index, parameters.size());
  BufferId id = program.parameters[index].buffer;
  Status status = load();
  if (status.ok())
    status = describe(id, tensor);
  return status.ok() ? makeReadable(id, tensor) : status;
}

/// Gives persistent memory to the buffers that depend on parameters alone.
Status Session::placeSetupBuffers() {
  if (isSetUp)
    return Status::success();
  const std::vector<uint8_t> &isSetup = setup.isBuffer;
  for (BufferId b = 0; b < isSetup.size(); ++b) {
    if (!isSetup[b])
      continue;
    uint64_t bytes;
    Status status = bytesOf(b, bytes);
    if (status.ok())
      status = reserve(setupMemory[b], bytes);
    if (!status.ok())
      return status;
    addresses[b] = setupMemory[b].data();
  }
  return Status::success();
}

} // namespace mlc::runtime
