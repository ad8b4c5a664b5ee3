//===- Carried.cpp - Values between the entries of a step -----------------===//

#include "runtime/train/Carried.h"

#include <cstring>

using namespace mlc::runtime;
using namespace mlc::runtime::train;

void Carried::find(const Artifact &artifact,
                   const std::vector<size_t> &entries) {
  std::map<std::string, std::vector<Use>> readers;
  for (size_t entry : entries) {
    const std::vector<Port> &inputs = artifact.program(entry).inputs;
    for (size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i].role == InputRole::Carried)
        readers[inputs[i].name].push_back({entry, i});
  }
  for (size_t entry : entries) {
    const std::vector<Port> &outputs = artifact.program(entry).outputs;
    for (size_t i = 0; i < outputs.size(); ++i)
      if (auto it = readers.find(outputs[i].name); it != readers.end())
        values.push_back({{entry, i}, it->second, {}, {}, {}});
  }
}

/// Memory for one more micro-batch; `buffer` is its number. The first one has
/// no memory, because the dims are not known before the first run.
Status Carried::acquire(Value &value, int64_t batch, size_t &buffer) {
  if (value.free.empty()) {
    HostTensor tensor;
    if (!value.buffers.empty()) {
      const HostTensor &known = value.buffers.front();
      if (Status status = HostTensor::zeros(known.type, known.dims, tensor);
          !status.ok())
        return status;
      allocatedBytes += tensor.bytes;
      ++allocationCount;
    }
    value.free.push_back(value.buffers.size());
    value.buffers.push_back(std::move(tensor));
  }
  buffer = value.free.back();
  value.free.pop_back();
  value.held[batch] = {buffer, value.readers.size()};
  return Status::success();
}

Status Carried::bind(size_t entry, OpenEntry &open, int64_t batch) {
  for (Value &value : values) {
    for (const Use &reader : value.readers) {
      if (reader.entry != entry)
        continue;
      auto held = value.held.find(batch);
      if (held == value.held.end())
        return Status::error(MLC_INTERNAL, "an entry of a step runs before "
                                           "what it reads is there");
      const HostTensor &tensor = value.buffers[held->second.buffer];
      if (mlc_status status = mlc_session_bind_input(
              open.session.get(), reader.port, tensor.type, tensor.dims.size(),
              tensor.dims.data(), tensor.data.get(), MLC_SPACE_HOST))
        return lastFailure(status);
    }
    if (value.source.entry != entry)
      continue;
    size_t buffer;
    if (Status status = acquire(value, batch, buffer); !status.ok())
      return status;
    const HostTensor &tensor = value.buffers[buffer];
    if (mlc_status status = mlc_session_bind_output(
            open.session.get(), value.source.port, tensor.data.get(),
            tensor.bytes, MLC_SPACE_HOST))
      return lastFailure(status);
  }
  return Status::success();
}

/// Copies a value of the first run, which had no memory for it.
Status Carried::copyFirst(Value &value, const OpenEntry &open, int64_t batch) {
  HostTensor &tensor = value.buffers[value.held[batch].buffer];
  if (tensor.data)
    return Status::success();
  mlc_tensor made;
  if (mlc_status status =
          mlc_session_output(open.session.get(), value.source.port, &made))
    return lastFailure(status);
  if (Status status = HostTensor::zeros(
          made.type, std::vector<int64_t>(made.dims, made.dims + made.rank),
          tensor);
      !status.ok())
    return status;
  allocatedBytes += tensor.bytes;
  ++allocationCount;
  if (made.bytes)
    std::memcpy(tensor.data.get(), made.data, made.bytes);
  return Status::success();
}

Status Carried::keep(size_t entry, OpenEntry &open, int64_t batch) {
  for (Value &value : values) {
    if (value.source.entry == entry)
      if (Status status = copyFirst(value, open, batch); !status.ok())
        return status;
    for (const Use &reader : value.readers) {
      auto held = value.held.find(batch);
      if (reader.entry != entry || held == value.held.end() ||
          --held->second.readers > 0)
        continue;
      value.free.push_back(held->second.buffer);
      value.held.erase(held);
    }
  }
  return Status::success();
}

void Carried::clear() {
  for (Value &value : values) {
    for (const auto &[batch, held] : value.held)
      value.free.push_back(held.buffer);
    value.held.clear();
  }
}
