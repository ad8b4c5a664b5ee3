//===- ForwardPipeline.cpp - A model in stages, ready to run --------------===//

#include "runtime/train/ForwardPipeline.h"
#include "runtime/ApiCall.h"
#include "runtime/Text.h"

#include <algorithm>
#include <cstring>

using namespace mlc::runtime;
using namespace mlc::runtime::train;

//===----------------------------------------------------------------------===//
// Set-up
//===----------------------------------------------------------------------===//

Status ForwardPipeline::create(mlc_artifact *artifact, mlc_session_options how,
                               std::unique_ptr<ForwardPipeline> &made) {
  auto pipeline = std::make_unique<ForwardPipeline>();
  if (Status status = pipeline->open(artifact, how); !status.ok())
    return status;
  made = std::move(pipeline);
  return Status::success();
}

ForwardPipeline::~ForwardPipeline() {
  if (group.get() && group.get()->hasFailed())
    group.get()->abort(MLC_RESOURCES);
}

Status ForwardPipeline::open(mlc_artifact *handle, mlc_session_options &how) {
  artifact = handle->impl;
  if (!artifact->pipeline())
    return Status::error(MLC_USAGE, "the artifact is no pipeline; run it in a "
                                    "session");
  if (how.ranks && how.ranks->impl->size() > 1)
    group = Group(how.ranks->impl);
  // The entries are programs of one rank.
  how.ranks = nullptr;
  const bool isBuffered = !group.get() || !group.get()->ordersMessages();
  Status status =
      Stages::of(*artifact, group.rank(), group.size(), isBuffered, stages);
  if (!status.ok())
    return status;
  actions = makeStepSchedule(*artifact, stages, stages.line());
  inputs.resize(pipeline().inputs.size());
  outputs.resize(pipeline().outputs.size());
  entries.resize(artifact->entryCount());
  for (size_t entry = 0; entry < entries.size(); ++entry)
    findPlaces(entry);
  status = openEntries(handle, how);
  if (status.ok() && group.get())
    status = group.get()->openChannels(stages.channels());
  return status;
}

/// Opens the entries of this rank's stages.
Status ForwardPipeline::openEntries(mlc_artifact *handle,
                                    const mlc_session_options &how) {
  mlc_session *first = nullptr;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (stages.hasTable() &&
        !stages.isOn(stages.entry(i)->stage, stages.line()))
      continue;
    mlc_artifact *of = nullptr;
    mlc_session *session = nullptr;
    Status status = lastFailure(mlc_artifact_entry(handle, i, &of));
    entries[i].open.artifact.reset(of);
    if (status.ok())
      status = lastFailure(first ? mlc_session_entry(first, i, &session)
                                 : mlc_session_create(of, &how, &session));
    entries[i].open.session.reset(session);
    if (!status.ok())
      return status;
    first = first ? first : session;
  }
  return Status::success();
}

/// Finds which of the entry's inputs and outputs are the model's.
void ForwardPipeline::findPlaces(size_t entry) {
  const Program &program = artifact->program(entry);
  auto find = [](const std::vector<PipelinePort> &all,
                 const std::string &name) {
    return static_cast<size_t>(std::find_if(all.begin(), all.end(),
                                            [&](const PipelinePort &one) {
                                              return one.name == name;
                                            }) -
                               all.begin());
  };
  for (size_t i = 0; i < program.inputs.size(); ++i)
    if (program.inputs[i].role == InputRole::Data)
      entries[entry].inputs.push_back(
          {i, find(pipeline().inputs, program.inputs[i].name)});
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    const size_t whole = find(pipeline().outputs, program.outputs[i].name);
    if (whole == outputs.size())
      continue;
    entries[entry].outputs.push_back({i, whole});
    outputs[whole].entry = entry;
    outputs[whole].port = i;
  }
}

//===----------------------------------------------------------------------===//
// Dims
//===----------------------------------------------------------------------===//

Status ForwardPipeline::bindInput(size_t index, mlc_dtype type, size_t rank,
                                  const int64_t *dims, const void *data) {
  if (index >= inputs.size())
    return Status::error(MLC_USAGE, "there is no input " +
                                        std::to_string(index) + "; there are " +
                                        std::to_string(inputs.size()));
  const PipelinePort &port = pipeline().inputs[index];
  const std::string name = "input '" + printable(port.name) + "' ";
  if (type != port.type || rank != port.dims.size())
    return Status::error(
        MLC_USAGE, name + "needs " + mlc_dtype_name(port.type) + " with " +
                       std::to_string(port.dims.size()) + " dims");
  uint64_t bytes = mlc_dtype_size(type);
  for (size_t i = 0; i < rank; ++i)
    if (dims[i] < 0 || __builtin_mul_overflow(bytes, uint64_t(dims[i]), &bytes))
      return Status::error(MLC_USAGE,
                           name + "has a size that overflows 64 bits");
  if (bytes && !data)
    return Status::error(MLC_USAGE, name + "has no data");
  inputs[index] = {true, std::vector<int64_t>(dims, dims + rank),
                   static_cast<const char *>(data), bytes};
  return Status::success();
}

std::vector<int64_t>
ForwardPipeline::partDims(const PipelinePort &port,
                          std::vector<int64_t> dims) const {
  if (port.isDivided)
    dims[0] /= pipeline().microBatches;
  return dims;
}

/// Checks that the micro-batches divide what is bound.
Status ForwardPipeline::divideInputs() {
  const int64_t batches = pipeline().microBatches;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const PipelinePort &port = pipeline().inputs[i];
    const std::string name = "input '" + printable(port.name) + "' ";
    Input &input = inputs[i];
    if (!input.isBound)
      return Status::error(MLC_USAGE, name + "is not bound");
    if (port.isDivided && input.dims[0] % batches)
      return Status::error(MLC_USAGE,
                           name + "has " + std::to_string(input.dims[0]) +
                               " samples, which " + std::to_string(batches) +
                               " micro-batches do not divide; give a multiple "
                               "of " +
                               std::to_string(batches));
    for (size_t d = 0; d < input.dims.size(); ++d)
      if (port.dims[d] >= 0 && input.dims[d] != port.dims[d])
        return Status::error(MLC_USAGE,
                             name + "has " + std::to_string(input.dims[d]) +
                                 " elements along dim " + std::to_string(d) +
                                 ", and the model takes " +
                                 std::to_string(port.dims[d]));
    uint64_t bytes = mlc_dtype_size(port.type);
    for (int64_t dim : partDims(port, input.dims))
      bytes *= static_cast<uint64_t>(dim);
    input.partBytes = port.isDivided ? bytes : 0;
  }
  return Status::success();
}

/// The values of the dims of all inputs; sessions check that they agree.
void ForwardPipeline::findSizes(SymbolSizes &found) const {
  for (size_t entry = 0; entry < entries.size(); ++entry) {
    const Program &program = artifact->program(entry);
    for (const Place &place : entries[entry].inputs) {
      const std::vector<int64_t> dims =
          partDims(pipeline().inputs[place.whole], inputs[place.whole].dims);
      for (const Symbol &symbol : program.symbols)
        if (symbol.kind == Symbol::FromInput && symbol.source == place.port)
          found.emplace(symbol.name, dims[symbol.index]);
    }
  }
}

/// Takes memory for these dims, if they are new.
Status ForwardPipeline::prepare() {
  if (Status status = divideInputs(); !status.ok())
    return status;
  SymbolSizes found;
  findSizes(found);
  if (sizes == found)
    return Status::success();
  sizes.reset();
  carriedAllocations += carried.allocations() + 1;
  carried = {};
  Status status = carried.open(*artifact, stages, group.get().get(), &found);
  for (Output &output : outputs) {
    const Program &program = artifact->program(output.entry);
    bool isKnown = true;
    std::vector<int64_t> dims;
    if (status.ok())
      status = findDims(*artifact, program,
                        program.buffers[program.outputs[output.port].buffer],
                        group.rank(), found, isKnown, dims);
    if (!status.ok())
      return status;
    const PipelinePort &port = pipeline().outputs[&output - outputs.data()];
    const std::string name = "output '" + printable(port.name) + "' ";
    if (!isKnown)
      return Status::error(MLC_UNSUPPORTED, name + "has dims that depend on "
                                                   "data");
    if (port.isDivided &&
        __builtin_mul_overflow(dims[0], pipeline().microBatches, &dims[0]))
      return Status::error(MLC_RESOURCES,
                           name + "has a size that overflows 64 bits");
    status = HostTensor::zeros(port.type, dims, output.whole);
    output.partBytes =
        output.whole.bytes /
        static_cast<uint64_t>(port.isDivided ? pipeline().microBatches : 1);
    ++ownAllocations;
  }
  if (status.ok())
    sizes = std::move(found);
  return status;
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

Status ForwardPipeline::runEntry(const Action &action) {
  Entry &entry = entries[action.entry];
  mlc_session *session = entry.open.session.get();
  const auto batch = static_cast<uint64_t>(*action.batch);
  for (const Place &place : entry.inputs) {
    const Input &input = inputs[place.whole];
    const PipelinePort &port = pipeline().inputs[place.whole];
    const std::vector<int64_t> dims = partDims(port, input.dims);
    if (mlc_status status = mlc_session_bind_input(
            session, place.port, port.type, dims.size(), dims.data(),
            input.data ? input.data + batch * input.partBytes : nullptr,
            MLC_SPACE_HOST))
      return lastFailure(status);
  }
  for (const Place &place : entry.outputs) {
    const Output &output = outputs[place.whole];
    const uint64_t at = pipeline().outputs[place.whole].isDivided
                            ? batch * output.partBytes
                            : 0;
    if (mlc_status status = mlc_session_bind_output(
            session, place.port, output.whole.data.get() + at, output.partBytes,
            MLC_SPACE_HOST))
      return lastFailure(status);
  }
  Status status = carried.bind(action.entry, entry.open, *action.batch);
  if (status.ok())
    status = entry.open.run();
  if (!status.ok()) {
    status.message =
        "stage " + std::to_string(stages.entry(action.entry)->stage) +
        ", micro-batch " + std::to_string(batch) + ": " + status.message;
    return status;
  }
  return carried.keep(action.entry, entry.open, *action.batch);
}

/// Gives all ranks an output. Ranks that run the stage for some micro-batches
/// have those parts.
Status ForwardPipeline::share(Output &output) {
  const int64_t stage = stages.entry(output.entry)->stage;
  if (stages.countReplicas() == 1)
    return group.broadcast(output.whole, stages.rankOf(stage, 0));
  for (int64_t batch = 0; batch < pipeline().microBatches; ++batch) {
    HostTensor part = output.whole;
    part.bytes = output.partBytes;
    // It shares the elements.
    part.data = std::shared_ptr<char>(
        output.whole.data,
        output.whole.data.get() + static_cast<uint64_t>(batch) * part.bytes);
    if (Status status = group.broadcast(
            part, stages.rankOf(stage, stages.replicaOf(batch)));
        !status.ok())
      return status;
  }
  return Status::success();
}

Status ForwardPipeline::run() {
  hasRun = false;
  Status status = prepare();
  for (size_t i = 0; status.ok() && i < actions.size(); ++i) {
    const Action &action = actions[i];
    if (action.kind == Action::Transfer)
      status = carried.transfer(action.from, action.to, *action.batch);
    else if (action.kind == Action::Run && action.batch)
      status = runEntry(action);
  }
  if (status.ok())
    status = carried.finish();
  for (Output &output : outputs)
    if (status.ok() && group.get())
      status = share(output);
  hasRun = status.ok();
  if (!status.ok())
    sizes.reset(); // memory may be in use by messages
  return status;
}

Status ForwardPipeline::output(size_t index, mlc_tensor &tensor) const {
  if (index >= outputs.size())
    return Status::error(MLC_USAGE, "there is no output " +
                                        std::to_string(index) + "; there are " +
                                        std::to_string(outputs.size()));
  if (!hasRun)
    return Status::error(MLC_USAGE, "there was no successful run");
  const HostTensor &whole = outputs[index].whole;
  tensor = {};
  tensor.type = whole.type;
  tensor.rank = whole.dims.size();
  std::copy(whole.dims.begin(), whole.dims.end(), tensor.dims);
  tensor.data = whole.data.get();
  tensor.bytes = whole.bytes;
  return Status::success();
}

uint64_t ForwardPipeline::allocations() const {
  uint64_t sum = ownAllocations + carriedAllocations + carried.allocations();
  for (const Entry &entry : entries)
    if (entry.open)
      sum += mlc_session_allocation_count(entry.open.session.get());
  return sum;
}
