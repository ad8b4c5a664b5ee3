//===- SessionSteps.cpp - What each kind of step does ---------------------===//
//
// Step.h describes the fields of each kind of step. This file plans each kind
// once per set of dims, and runs it. Session::makeStep places operands and
// arguments for all kinds.
//
//===----------------------------------------------------------------------===//

#include "runtime/Session.h"

#include <algorithm>
#include <cstring>

namespace mlc::runtime {

/// An overload of prepare and of run for every kind.
struct Session::Steps {
  Session &session;
  const Step &step;
  EpochPlan &plan;

  // Sets `ready` for the current sizes.
  Status prepare(const LaunchStep &launch, ReadyStep &ready);
  Status prepare(const GridLaunchStep &launch, ReadyStep &ready);
  Status prepare(const LibraryStep &, ReadyStep &ready);
  Status prepare(const BindStep &, ReadyStep &) { return Status::success(); }
  Status prepare(const AssignStep &, ReadyStep &ready);
  Status prepare(const StartStep &start, ReadyStep &ready) {
    return session.prepareStart(step, start, plan, ready);
  }
  Status prepare(const WaitStep &, ReadyStep &) { return Status::success(); }

  Status prepareMap(const TensorMap &map);

  // Hands the step's work to the queue.
  Status run(const LaunchStep &launch, const ReadyStep &ready);
  Status run(const GridLaunchStep &launch, const ReadyStep &ready);
  Status run(const LibraryStep &, const ReadyStep &ready);
  Status run(const BindStep &bind, const ReadyStep &ready);
  Status run(const AssignStep &, const ReadyStep &ready);
  Status run(const StartStep &start, const ReadyStep &ready) {
    return session.runStart(step, start, plan, ready);
  }
  Status run(const WaitStep &wait, const ReadyStep &ready) {
    return session.runWait(step, wait, plan, ready);
  }

  Scratch scratch() const {
    return {session.scratch.data(), session.scratchStride};
  }
  Launch launchOf(KernelId kernel, const ReadyStep &ready) const;
  LibraryCall libraryCall(const ReadyStep &ready) const;
};

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

Status Session::Steps::prepare(const LaunchStep &launch, ReadyStep &ready) {
  uint64_t tasks = 0, bytes = 0;
  Status status =
      session.sizeOf(launch.tasks, "the number of tasks", step.name, tasks);
  if (status.ok() && launch.scratch)
    status =
        session.sizeOf(*launch.scratch, "the scratch size", step.name, bytes);
  if (status.ok() && launch.work)
    status = session.value(*launch.work, ready.work);
  ready.tasks = tasks;
  plan.scratch = std::max(plan.scratch, bytes);
  return status;
}

Launch Session::Steps::launchOf(KernelId kernel, const ReadyStep &ready) const {
  Launch call;
  call.kernel = session.loaded->kernels[session.entry][kernel];
  call.buffers = plan.pointers.data() + ready.firstOperand;
  call.numBuffers = step.inputs.size() + step.outputs.size();
  call.symbols = plan.args.data() + ready.firstArg;
  call.numSymbols = step.args.size();
  call.grid = ready.tasks;
  call.step = &step;
  return call;
}

Status Session::Steps::run(const LaunchStep &launch, const ReadyStep &ready) {
  Launch call = launchOf(launch.kernel, ready);
  call.work = ready.work;
  call.scratch = scratch();
  session.queue->launch(call);
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Launches of blocks
//===----------------------------------------------------------------------===//

Status Session::Steps::prepare(const GridLaunchStep &launch, ReadyStep &ready) {
  uint64_t tasks = 0, block = 0, shared = 0, bytes = 0, workspace = 0;
  Status status =
      session.sizeOf(launch.tasks, "the number of tasks", step.name, tasks);
  if (status.ok())
    status = session.sizeOf(launch.block, "the block size", step.name, block);
  if (status.ok() && launch.shared)
    status =
        session.sizeOf(*launch.shared, "the shared memory", step.name, shared);
  if (status.ok() && launch.scratch)
    status =
        session.sizeOf(*launch.scratch, "the scratch size", step.name, bytes);
  if (status.ok() && launch.workspace)
    status = session.sizeOf(*launch.workspace, "the workspace's size",
                            step.name, workspace);
  if (!status.ok())
    return status;
  if (block < 1 || block > GridLaunchStep::maxBlock)
    return Status::badFile(
        "the program is damaged: '" + step.name + "' has " +
        std::to_string(block) + " threads in a block, 1 to " +
        std::to_string(GridLaunchStep::maxBlock) + " are possible");
  if (shared > GridLaunchStep::maxShared)
    return Status::badFile(
        "the program is damaged: '" + step.name + "' has " +
        std::to_string(shared) + " bytes of shared memory in a block, " +
        std::to_string(GridLaunchStep::maxShared) + " are possible");
  ready.tasks = tasks;
  ready.block = block;
  ready.shared = shared;
  plan.scratch = std::max(plan.scratch, bytes);
  if (launch.workspace)
    plan.workspace = std::max(
        {plan.workspace, workspace, uint64_t(GridLaunchStep::counterBytes)});
  ready.firstMap = plan.maps.size();
  for (const TensorMap &map : launch.maps)
    if (status.ok())
      status = prepareMap(map);
  return status;
}

/// Evaluates the map's sizes. It may show no more than its operand's memory.
Status Session::Steps::prepareMap(const TensorMap &map) {
  LaunchMap &planned = plan.maps.emplace_back();
  SizedTensorMap &sized = planned.map;
  static_cast<MapTile &>(sized) = map;
  Status status;
  auto evaluate = [&](ExprId id, const char *what) {
    uint64_t size = 0;
    if (status.ok())
      status = session.sizeOf(id, what, step.name, size);
    return int64_t(size);
  };
  sized.offset = evaluate(map.offset, "the offset of a tensor map");
  for (ExprId dim : map.dims)
    sized.dims.push_back(evaluate(dim, "a dim of a tensor map"));
  for (ExprId stride : map.strides)
    sized.strides.push_back(evaluate(stride, "a stride of a tensor map"));
  if (!status.ok())
    return status;
  bool isEmpty =
      std::find(sized.dims.begin(), sized.dims.end(), 0) != sized.dims.end();
  size_t numInputs = step.inputs.size();
  uint64_t end = 0, bytes = 0;
  status = session.bytesOf(map.operand < numInputs
                               ? step.inputs[map.operand]
                               : step.outputs[map.operand - numInputs],
                           bytes);
  if (status.ok() && !isEmpty && (!extentOf(sized, end) || end > bytes))
    return Status::badFile("the program is damaged: a tensor map of '" +
                           step.name + "' leaves its operand's " +
                           std::to_string(bytes) + " bytes");
  fillEmptyDims(sized);
  return status;
}

Status Session::Steps::run(const GridLaunchStep &launch,
                           const ReadyStep &ready) {
  if (ready.tasks == 0)
    return Status::success();
  Launch call = launchOf(launch.kernel, ready);
  call.block = ready.block;
  call.shared = ready.shared;
  call.maps = plan.maps.data() + ready.firstMap;
  call.numMaps = launch.maps.size();
  // Without scratch memory the number of blocks is not limited to the workers.
  if (launch.workspace)
    call.workspace = session.workspace.data();
  else if (launch.scratch)
    call.scratch = scratch();
  session.queue->launch(call);
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Library calls
//===----------------------------------------------------------------------===//

LibraryCall Session::Steps::libraryCall(const ReadyStep &ready) const {
  const LibraryOperand *operands =
      plan.libraryOperands.data() + ready.firstLibraryOperand;
  return {operands,
          step.inputs.size(),
          operands + step.inputs.size(),
          step.outputs.size(),
          plan.args.data() + ready.firstArg,
          step.args.size()};
}

Status Session::Steps::prepare(const LibraryStep &, ReadyStep &ready) {
  ready.library = findLibraryKernel(step.name);
  ready.firstLibraryOperand = plan.libraryOperands.size();
  for (const std::vector<BufferId> *list : {&step.inputs, &step.outputs})
    for (BufferId id : *list) {
      const Buffer &buffer = session.program.buffers[id];
      std::vector<int64_t> dims(buffer.dims.size());
      for (size_t d = 0; d < dims.size(); ++d) {
        Status status = session.value(buffer.dims[d], dims[d]);
        if (!status.ok())
          return status;
      }
      plan.libraryDims.push_back(std::move(dims));
      // The dims' heap block does not move with the outer vector.
      plan.libraryOperands.push_back({buffer.type, buffer.dims.size(),
                                      plan.libraryDims.back().data(), nullptr});
    }
  LibraryCall call = libraryCall(ready);
  Status status = ready.library->check(call);
  if (!status.ok()) {
    if (!step.nodes.empty())
      status.message = "node '" + step.nodes[0] + "': " + status.message;
    return status;
  }
  ready.tasks = ready.library->tasks(call);
  plan.scratch = std::max(plan.scratch, ready.library->scratch(call));
  return status;
}

Status Session::Steps::run(const LibraryStep &, const ReadyStep &ready) {
  LibraryLaunch launch;
  launch.kernel = ready.library;
  launch.call = libraryCall(ready);
  launch.grid = ready.tasks;
  launch.scratch = scratch();
  session.queue->launch(launch);
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Bindings
//===----------------------------------------------------------------------===//

namespace {

template <typename T> int64_t readAs(const uint8_t *bytes) {
  T v;
  std::memcpy(&v, bytes, sizeof(T));
  return int64_t(v);
}

int64_t readInteger(DType type, const uint8_t *bytes) {
  switch (type) {
  case DType::I8:
    return readAs<int8_t>(bytes);
  case DType::I16:
    return readAs<int16_t>(bytes);
  case DType::I32:
    return readAs<int32_t>(bytes);
  case DType::U8:
  case DType::Bool:
    return readAs<uint8_t>(bytes);
  case DType::U16:
    return readAs<uint16_t>(bytes);
  case DType::U32:
    return readAs<uint32_t>(bytes);
  default:
    // A u64 above the largest i64 becomes negative and so out of range.
    return readAs<int64_t>(bytes);
  }
}

} // namespace

Status Session::Steps::run(const BindStep &bind, const ReadyStep &) {
  mlc_tensor tensor;
  Status status = session.describe(step.inputs[0], tensor);
  if (!status.ok())
    return status;
  DType type = DType(tensor.type);
  size_t width = byteSize(type);
  if (bind.element >= tensor.bytes / width)
    return Status::error(MLC_USAGE,
                         "the value of '" +
                             session.program.symbols[bind.symbol].name +
                             "' lies outside its tensor");
  uint8_t bytes[8];
  status = session.queue->download(
      bytes, static_cast<const uint8_t *>(tensor.data) + bind.element * width,
      width);
  // If a collective failed, the value is invalid.
  if (status.ok())
    status = session.shared->settle();
  if (status.ok())
    status = session.setSymbol(bind.symbol, readInteger(type, bytes));
  // Check the conditions that are known from here on.
  if (status.ok())
    status = session.checkConditions(session.epochs.ofSymbol[bind.symbol]);
  return status;
}

//===----------------------------------------------------------------------===//
// Assignments
//===----------------------------------------------------------------------===//

Status Session::Steps::prepare(const AssignStep &, ReadyStep &ready) {
  uint64_t bytes[2];
  Status status = session.tensorBytes(step.inputs[0], bytes[0]);
  if (status.ok())
    status = session.tensorBytes(step.outputs[0], bytes[1]);
  if (!status.ok())
    return status;
  if (bytes[0] != bytes[1])
    return Status::badFile("the program is damaged: it copies " +
                           std::to_string(bytes[0]) + " bytes into " +
                           std::to_string(bytes[1]));
  ready.tasks = bytes[0];
  return Status::success();
}

Status Session::Steps::run(const AssignStep &, const ReadyStep &ready) {
  void *const *operands = plan.pointers.data() + ready.firstOperand;
  return ready.tasks
             ? session.queue->copy(operands[1], operands[0], ready.tasks)
             : Status::success();
}

//===----------------------------------------------------------------------===//
// All kinds
//===----------------------------------------------------------------------===//

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
  status = std::visit(
      [&](auto &detail) {
        return Steps{*this, step, plan}.prepare(detail, ready);
      },
      step.detail);
  plan.steps.push_back(ready);
  return status;
}

/// Whether all steps of an epoch are launches; steps that wait for the device
/// cannot be recorded.
bool Session::isRecordable(uint32_t epoch) const {
  if (!queue->canRecord() || (flags & MLC_SESSION_PROFILE))
    return false;
  const std::vector<uint32_t> &first = epochs.firstStep;
  return std::all_of(
      program.steps.begin() + first[epoch],
      program.steps.begin() + first[epoch + 1], [](const Step &step) {
        return std::holds_alternative<GridLaunchStep>(step.detail);
      });
}

/// Records the launches of a plan when they repeat with the same addresses, and
/// replays them as a whole from then on.
Status Session::runEpoch(uint32_t epoch) {
  Status status = activate(epoch);
  if (!status.ok())
    return status;
  EpochPlan &plan = plans[epoch].front();
  if (!isRecordable(epoch))
    return runSteps(epoch, plan);
  // Later runs skip steps that depend on parameters alone.
  const std::vector<uint32_t> &first = epochs.firstStep;
  const std::vector<uint8_t> &isSetupStep = setup.isStep;
  bool skips = isSetUp && std::any_of(isSetupStep.begin() + first[epoch],
                                      isSetupStep.begin() + first[epoch + 1],
                                      [](uint8_t is) { return is != 0; });
  bool isSame = plan.recordedPointers == plan.pointers &&
                plan.recordedScratch.base == scratch.data() &&
                plan.recordedScratch.stride == scratchStride &&
                plan.recordedJoint == workspace.data() &&
                plan.recordedSkips == skips;
  if (!isSame) {
    plan.recording.reset();
    plan.recordedPointers = plan.pointers;
    plan.recordedScratch = {scratch.data(), scratchStride};
    plan.recordedJoint = workspace.data();
    plan.recordedSkips = skips;
    return runSteps(epoch, plan);
  }
  if (!plan.recording) {
    queue->beginRecording();
    status = runSteps(epoch, plan);
    queue->endRecording(plan.recording);
    ++allocationCount;
  }
  hasBegun = true;
  if (status.ok() && plan.recording)
    queue->replay(*plan.recording);
  return status;
}

/// Hands the steps to the queue, one after another.
Status Session::runSteps(uint32_t epoch, EpochPlan &plan) {
  Status status;
  uint32_t first = epochs.firstStep[epoch];
  hasBegun = true;
  bool profile = flags & MLC_SESSION_PROFILE;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    size_t s = first + i;
    wasSkipped[s] = isSetUp && setup.isStep[s];
    if (wasSkipped[s])
      continue;
    if (profile)
      queue->stamp(2 * s);
    const Step &step = program.steps[s];
    Status done = std::visit(
        [&](auto &detail) {
          return Steps{*this, step, plan}.run(detail, plan.steps[i]);
        },
        step.detail);
    if (!done.ok())
      return done;
    if (profile)
      queue->stamp(2 * s + 1);
  }
  return status;
}

} // namespace mlc::runtime
