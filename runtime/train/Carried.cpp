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

Status Carried::open(const Artifact &artifact, const Stages &all,
                     Ranks *others) {
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
        if (Status status = add(artifact, {entry, i}, it->second); !status.ok())
          return status;
  }
  return ranks ? ranks->openChannels(all.channels()) : Status::success();
}

Status Carried::add(const Artifact &artifact, Use source,
                    const std::vector<Use> &readers) {
  const int own = ranks ? ranks->rank() : 0;
  auto rankOf = [&](const Use &use) {
    return stages->rankOf(stages->entry(use.entry)->stage);
  };
  Value value{artifact.program(source.entry).outputs[source.port].name,
              source,
              rankOf(source) == own,
              {},
              findMoves(source, readers),
              {},
              {},
              {}};
  for (const Use &reader : readers)
    if (rankOf(reader) == own)
      value.readers.push_back(reader);
  if (!value.isMadeHere)
    value.moves.erase(
        std::remove_if(value.moves.begin(), value.moves.end(),
                       [&](const Move &move) { return move.rank != own; }),
        value.moves.end());
  if (!value.moves.empty())
    if (Status status = allocateFirst(artifact, readers.front(), value);
        !status.ok())
      return status;
  allocatedBytes += value.buffers.empty() ? 0 : value.buffers[0].bytes;
  values.push_back(std::move(value));
  return Status::success();
}

/// To each rank goes one message: that of the nearest stage behind which reads
/// the value there, or else of the nearest before.
std::vector<Carried::Move>
Carried::findMoves(const Use &source, const std::vector<Use> &readers) const {
  const int64_t from = stages->entry(source.entry)->stage;
  std::vector<Move> moves;
  for (const Use &reader : readers) {
    const int64_t to = stages->entry(reader.entry)->stage;
    const int rank = stages->rankOf(to);
    if (rank == stages->rankOf(from))
      continue;
    auto known =
        std::find_if(moves.begin(), moves.end(),
                     [&](const Move &move) { return move.rank == rank; });
    auto isNearer = [&](int64_t a, int64_t b) {
      return (a > from) != (b > from) ? a > from
                                      : std::abs(a - from) < std::abs(b - from);
    };
    if (known == moves.end())
      moves.push_back({rank, from, to});
    else if (isNearer(to, known->to))
      known->to = to;
  }
  return moves;
}

/// Makes the first memory of a value that ranks send, by the dims of a reader.
Status Carried::allocateFirst(const Artifact &artifact, const Use &reader,
                              Value &value) {
  const Program &program = artifact.program(reader.entry);
  const Buffer &buffer = program.buffers[program.inputs[reader.port].buffer];
  std::vector<int64_t> dims;
  for (ExprId dim : buffer.dims) {
    const Expr &expr = program.exprs[dim];
    if (expr.code.size() != 1 || expr.code[0].op != Expr::Const)
      return Status::error(MLC_USAGE,
                           "'" + printable(value.name) +
                               "', which a stage sends to another, has open "
                               "dims; give their sizes");
    dims.push_back(expr.code[0].operand);
  }
  value.free.push_back(0);
  value.buffers.emplace_back();
  return HostTensor::zeros(static_cast<mlc_dtype>(buffer.type), dims,
                           value.buffers[0]);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Memory for one more micro-batch; `buffer` is its number. The first one has
/// no memory if the dims are not known before the first run.
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
  value.held[batch] = {buffer,
                       value.readers.size() +
                           (value.isMadeHere ? value.moves.size() : 0),
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
  for (Value &value : values) {
    for (const Use &reader : value.readers) {
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

Status Carried::keep(size_t entry, OpenEntry &open, int64_t batch) {
  for (Value &value : values) {
    if (value.source.entry == entry)
      if (Status status = copyFirst(value, open, batch); !status.ok())
        return status;
    for (const Use &reader : value.readers)
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

Status Carried::move(size_t index, const Move &move, int64_t batch) {
  Value &value = values[index];
  size_t buffer;
  if (!value.isMadeHere) {
    if (Status status = acquire(value, batch, buffer); !status.ok())
      return status;
  } else if (auto held = value.held.find(batch); held != value.held.end()) {
    buffer = held->second.buffer;
  } else {
    return Status::error(MLC_INTERNAL, "'" + printable(value.name) +
                                           "' is sent before it is there");
  }
  const HostTensor &tensor = value.buffers[buffer];
  const uint64_t message = ranks->beginMessage(
      stages->findChannel(stages->rankOf(move.from), move.rank),
      printable(value.name).substr(0, 48) +
          (batch < 0 ? "" : " of micro-batch " + std::to_string(batch)),
      tensor.data.get(), tensor.bytes);
  if (value.isMadeHere)
    sent.push_back({message, index, batch});
  else
    value.held[batch].message = message;
  return Status::success();
}

Status Carried::transfer(int64_t from, int64_t to, int64_t batch) {
  for (size_t i = 0; i < values.size(); ++i) {
    const Stages::Entry &source = *stages->entry(values[i].source.entry);
    if (source.isUpdate() || source.stage != from)
      continue;
    for (const Move &one : values[i].moves)
      if (one.to == to)
        if (Status status = move(i, one, batch); !status.ok())
          return status;
  }
  return Status::success();
}

Status Carried::transferUpdate(size_t entry) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].source.entry != entry)
      continue;
    for (const Move &one : values[i].moves)
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

Status Carried::finish() { return reap(/*waits=*/true); }
