//===- Carried.cpp - Values between the entries of a step -----------------===//

#include "runtime/train/Carried.h"
#include "runtime/Text.h"

#include <algorithm>
#include <cstring>

using namespace mlc::runtime;
using namespace mlc::runtime::train;

//===----------------------------------------------------------------------===//
// What is carried
//===----------------------------------------------------------------------===//

Status Carried::open(const Artifact &artifact, const Stages &all, Ranks *others,
                     const SymbolSizes *sizes) {
  stages = &all;
  ranks = others;
  std::map<std::string, std::vector<Use>> readers;
  for (size_t entry = 0; entry < artifact.entryCount(); ++entry) {
    const std::vector<Port> &inputs = artifact.program(entry).inputs;
    for (size_t i = 0; all.count() && all.entry(entry) && i < inputs.size();
         ++i)
      if (inputs[i].role == InputRole::Carried)
        readers[inputs[i].name].push_back({entry, i});
  }
  for (size_t entry = 0; entry < artifact.entryCount(); ++entry) {
    const std::vector<Port> &outputs = artifact.program(entry).outputs;
    for (size_t i = 0; i < outputs.size(); ++i)
      if (auto it = readers.find(outputs[i].name);
          all.count() && all.entry(entry) && it != readers.end())
        if (Status status = add(artifact, {entry, i}, it->second,
                                sizes ? *sizes : SymbolSizes());
            !status.ok())
          return status;
  }
  return ranks && !sizes ? ranks->openChannels(all.channels())
                         : Status::success();
}

Status Carried::add(const Artifact &artifact, Use source,
                    const std::vector<Use> &readers, const SymbolSizes &sizes) {
  Value value;
  value.name = artifact.program(source.entry).outputs[source.port].name;
  value.source = source;
  value.isOfUpdate = stages->entry(source.entry)->isUpdate();
  const size_t replicas = value.isOfUpdate ? 1 : stages->countReplicas();
  bool moves = false, isHere = false;
  for (size_t replica = 0; replica < replicas; ++replica) {
    value.routes.push_back(findRoute(source, readers, replica));
    moves |= !value.routes.back().moves.empty();
    isHere |= value.routes.back().isMadeHere;
  }
  // Without memory from the first run on, the second one plans its own anew.
  if (moves || isHere)
    if (Status status = allocateFirst(artifact, readers.front(), sizes, value);
        moves && !status.ok())
      return status;
  allocatedBytes += value.buffers.empty() ? 0 : value.buffers[0].bytes;
  values.push_back(std::move(value));
  // The next micro-batch need not wait for the message of the last.
  return moves ? addBuffer(values.back()) : Status::success();
}

Carried::Route Carried::findRoute(const Use &source,
                                  const std::vector<Use> &readers,
                                  size_t replica) const {
  const int own = stages->line();
  const Stages::Entry &maker = *stages->entry(source.entry);
  auto ranksOf = [&](int64_t stage) {
    return maker.isUpdate() ? stages->ranksOf(stage)
                            : std::vector<int>{stages->rankOf(stage, replica)};
  };
  auto isHere = [&](const std::vector<int> &there) {
    return std::find(there.begin(), there.end(), own) != there.end();
  };
  const std::vector<int> makers = ranksOf(maker.stage);
  Route route;
  route.isMadeHere = isHere(makers);
  std::vector<schedule::ValueReader> all;
  for (const Use &reader : readers) {
    const int64_t stage = stages->entry(reader.entry)->stage;
    all.push_back({stage, ranksOf(stage)});
    if (isHere(all.back().ranks))
      route.readers.push_back(reader);
  }
  for (const schedule::Move &move :
       schedule::findMoves(maker.stage, makers, all))
    if (move.from == own || move.to == own)
      route.moves.push_back(move);
  return route;
}

/// Makes the first memory of a value that ranks send, by the dims of a reader:
/// numbers, of a part of this rank, or by `sizes`.
Status Carried::allocateFirst(const Artifact &artifact, const Use &reader,
                              const SymbolSizes &sizes, Value &value) const {
  const Program &program = artifact.program(reader.entry);
  const Buffer &buffer = program.buffers[program.inputs[reader.port].buffer];
  std::vector<int64_t> dims;
  bool isKnown;
  if (Status found = findDims(artifact, program, buffer, stages->rank(), sizes,
                              isKnown, dims);
      !found.ok())
    return found;
  if (!isKnown)
    return Status::error(MLC_USAGE, "'" + printable(value.name) +
                                        "', which a stage sends to another, "
                                        "has open dims; give their sizes");
  HostTensor tensor;
  Status status =
      HostTensor::zeros(static_cast<mlc_dtype>(buffer.type), dims, tensor);
  if (!status.ok())
    return status;
  value.free.push_back(0);
  value.buffers.push_back(std::move(tensor));
  return status;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Adds memory as the first has; the first itself has none if the dims are not
/// known before the first run.
Status Carried::addBuffer(Value &value) {
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
  return Status::success();
}

/// Memory for one more micro-batch; `buffer` is its number. How much there is
/// follows from the schedule, not from when messages go: rather than to take
/// more, this waits for the value's oldest message.
Status Carried::acquire(size_t index, int64_t batch, size_t &buffer) {
  Value &value = values[index];
  while (value.free.empty()) {
    auto isOwn = [&](const Sent &one) { return one.value == index; };
    const bool isSent = std::any_of(sent.begin(), sent.end(), isOwn);
    if (Status status = isSent ? awaitOne(index) : addBuffer(value);
        !status.ok())
      return status;
  }
  buffer = value.free.back();
  value.free.pop_back();
  const Route &route = routeOf(value, batch);
  value.held[batch] = {buffer,
                       route.readers.size() +
                           (route.isMadeHere ? route.moves.size() : 0),
                       std::nullopt};
  return Status::success();
}

void Carried::release(Value &value, int64_t batch) {
  auto held = value.held.find(batch);
  if (held == value.held.end() || --held->second.uses > 0)
    return;
  value.free.push_back(held->second.buffer);
  value.held.erase(held);
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

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

Status Carried::bind(size_t entry, OpenEntry &open, int64_t batch) {
  for (size_t index = 0; index < values.size(); ++index) {
    Value &value = values[index];
    if (value.isOfUpdate != (batch < 0))
      continue;
    for (const Use &reader : routeOf(value, batch).readers) {
      if (reader.entry != entry)
        continue;
      auto found = value.held.find(batch);
      if (found == value.held.end())
        return Status::error(MLC_INTERNAL, "an entry of a step runs before '" +
                                               printable(value.name) +
                                               "', which it reads, is there");
      Held &held = found->second;
      if (held.message)
        if (Status status = ranks->waitForMessage(*held.message); !status.ok())
          return status;
      held.message.reset();
      const HostTensor &tensor = value.buffers[held.buffer];
      if (mlc_status status = mlc_session_bind_input(
              open.session.get(), reader.port, tensor.type, tensor.dims.size(),
              tensor.dims.data(), tensor.data.get(), MLC_SPACE_HOST))
        return lastFailure(status);
    }
    if (value.source.entry != entry)
      continue;
    size_t buffer;
    if (Status status = acquire(index, batch, buffer); !status.ok())
      return status;
    const HostTensor &tensor = value.buffers[buffer];
    if (mlc_status status = mlc_session_bind_output(
            open.session.get(), value.source.port, tensor.data.get(),
            tensor.bytes, MLC_SPACE_HOST))
      return lastFailure(status);
  }
  return Status::success();
}

Status Carried::keep(size_t entry, OpenEntry &open, int64_t batch) {
  for (Value &value : values) {
    if (value.isOfUpdate != (batch < 0))
      continue;
    if (value.source.entry == entry)
      if (Status status = copyFirst(value, open, batch); !status.ok())
        return status;
    for (const Use &reader : routeOf(value, batch).readers)
      if (reader.entry == entry)
        release(value, batch);
  }
  return reap(/*waits=*/false);
}

void Carried::clear() {
  for (Value &value : values) {
    for (const auto &[batch, held] : value.held)
      value.free.push_back(held.buffer);
    value.held.clear();
  }
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

Status Carried::move(size_t index, const schedule::Move &move, int64_t batch) {
  Value &value = values[index];
  const bool isMadeHere = routeOf(value, batch).isMadeHere;
  size_t buffer;
  if (!isMadeHere) {
    if (Status status = acquire(index, batch, buffer); !status.ok())
      return status;
  } else if (auto held = value.held.find(batch); held != value.held.end()) {
    buffer = held->second.buffer;
  } else {
    return Status::error(MLC_INTERNAL, "'" + printable(value.name) +
                                           "' is sent before it is there");
  }
  const HostTensor &tensor = value.buffers[buffer];
  const uint64_t message = ranks->beginMessage(
      stages->findChannel(move.from, move.to),
      printable(value.name).substr(0, 48) +
          (batch < 0 ? "" : " of micro-batch " + std::to_string(batch)),
      tensor.data.get(), tensor.bytes);
  if (isMadeHere)
    sent.push_back({message, index, batch});
  else
    value.held[batch].message = message;
  return Status::success();
}

Status Carried::transfer(int64_t from, int64_t to, int64_t batch) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].isOfUpdate ||
        stages->entry(values[i].source.entry)->stage != from)
      continue;
    for (const schedule::Move &one : routeOf(values[i], batch).moves)
      if (one.stage == to)
        if (Status status = move(i, one, batch); !status.ok())
          return status;
  }
  return Status::success();
}

Status Carried::transferUpdate(size_t entry) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].source.entry != entry)
      continue;
    for (const schedule::Move &one : routeOf(values[i], -1).moves)
      if (Status status = move(i, one, /*batch=*/-1); !status.ok())
        return status;
  }
  return Status::success();
}

/// Releases what has been sent.
Status Carried::reap(bool waits) {
  size_t kept = 0;
  for (const Sent &one : sent) {
    if (!waits && !ranks->isMessageOver(one.message)) {
      sent[kept++] = one;
      continue;
    }
    if (Status status = ranks->waitForMessage(one.message); !status.ok())
      return status;
    release(values[one.value], one.batch);
  }
  sent.resize(kept);
  return Status::success();
}

/// Waits for the oldest message that takes the value away.
Status Carried::awaitOne(size_t index) {
  auto one = std::find_if(sent.begin(), sent.end(), [&](const Sent &other) {
    return other.value == index;
  });
  if (Status status = ranks->waitForMessage(one->message); !status.ok())
    return status;
  release(values[index], one->batch);
  sent.erase(one);
  return Status::success();
}

Status Carried::finish() { return reap(/*waits=*/true); }
