//===- Session.cpp - Running a program ------------------------------------===//

#include "runtime/Session.h"
#include "runtime/Text.h"

#include <algorithm>
#include <cstring>

namespace mlc::runtime {

namespace {

std::string quoted(const std::string &name) { return "'" + name + "'"; }

/// For each collective, by ticket: its index among those on its axis.
std::vector<uint32_t> countTurns(const Program &program) {
  std::vector<uint32_t> turns, ofAxis;
  for (const Step &step : program.steps)
    if (const auto *start = std::get_if<StartStep>(&step.detail)) {
      ofAxis.resize(std::max<size_t>(ofAxis.size(), start->axis + 1));
      turns.push_back(ofAxis[start->axis]++);
    }
  return turns;
}

} // namespace

Session::Session(std::shared_ptr<const Artifact> a, std::unique_ptr<Queue> q,
                 uint32_t flags)
    : Session(a, 0, std::make_shared<SharedStates>(a, std::move(q)), flags) {}

Session::Session(std::shared_ptr<const Artifact> a, size_t entry,
                 std::shared_ptr<SharedStates> s, uint32_t flags)
    : artifact(std::move(a)), entry(entry), program(artifact->program(entry)),
      epochs(artifact->epochs(entry)), setup(artifact->setupSteps(entry)),
      stateUse(artifact->stateUse(entry)), flags(flags), shared(std::move(s)),
      queue(&shared->queue()), device(queue->device),
      inputs(program.inputs.size()), outputs(program.outputs.size()),
      direct(program.outputs.size(), 0), parameters(program.parameters.size()),
      setupMemory(program.buffers.size()), turns(countTurns(program)),
      underWay(turns.size(), nullptr), symbols(program.symbols.size(), 0),
      plans(epochs.count()), arenas(epochs.count()),
      addresses(program.buffers.size(), nullptr),
      wasSkipped(program.steps.size(), 0), stepTimes(program.steps.size(), 0) {}

// Memory is freed before the queue.
Session::~Session() {
  (void)wait();
  shared->abandonRanks();
}

/// Loads the artifact's code and weights on the device.
Status Session::load() {
  if (loaded) {
    placeStates();
    return Status::success();
  }
  Status status = checkRanks(artifact->mesh(), shared->ranks());
  if (status.ok() &&
      std::count(program.kernels.begin(), program.kernels.end(), ""))
    status = Status::error(MLC_USAGE,
                           "the code of entry " + printable(program.name) +
                               " is on another rank; compile for this one");
  if (status.ok())
    status = artifact->load(device, loaded);
  if (status.ok())
    status = shared->place(stateUse);
  if (status.ok() && (flags & MLC_SESSION_PROFILE))
    status = queue->reserveStamps(2 * program.steps.size());
  if (!status.ok()) {
    loaded = nullptr; // the next run tries again
    return status;
  }
  // Skip parameters that were set before.
  for (size_t b = 0; b < program.buffers.size(); ++b)
    if (program.buffers[b].isWeight() && !addresses[b])
      addresses[b] = loaded->weights + program.buffers[b].offset;
  placeStates();
  return status;
}

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

Status Session::value(ExprId id, int64_t &result) const {
  Status status = evaluate(program.exprs[id], symbols.data(), result);
  if (!status.ok())
    status.message += ": " + toString(program, program.exprs[id]);
  return status;
}

Status Session::setSymbol(SymbolId id, int64_t v) {
  const Symbol &s = program.symbols[id];
  if (v < s.min || v > s.max) {
    std::string range =
        s.min == s.max ? std::to_string(s.min)
        : s.max == INT64_MAX
            ? "at least " + std::to_string(s.min)
            : std::to_string(s.min) + " to " + std::to_string(s.max);
    return Status::error(MLC_USAGE, "dim " + quoted(s.name) + " is " +
                                        std::to_string(v) +
                                        ", the model needs " + range);
  }
  symbols[id] = v;
  return Status::success();
}

Status Session::checkInputDims() {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Buffer &buffer = program.buffers[program.inputs[i].buffer];
    for (size_t d = 0; d < buffer.dims.size(); ++d) {
      int64_t expected;
      Status status = value(buffer.dims[d], expected);
      if (!status.ok())
        return status;
      if (expected == inputs[i].dims[d])
        continue;
      const Expr &dim = program.exprs[buffer.dims[d]];
      std::string text = std::to_string(expected);
      if (dim.code[0].op != Expr::Const || dim.code.size() > 1)
        text = toString(program, dim) + " = " + text;
      return Status::error(MLC_USAGE,
                           "input " + quoted(program.inputs[i].name) +
                               ": dim " + std::to_string(d) + " is " +
                               std::to_string(inputs[i].dims[d]) +
                               ", the model needs " + text);
    }
  }
  return Status::success();
}

/// Checks the dims of sharded states, now that the coordinates are known.
Status Session::checkStateDims() {
  for (const Buffer &buffer : program.buffers) {
    if (buffer.kind != Buffer::State ||
        shared->state(buffer.source).splits.empty())
      continue;
    for (size_t d = 0; d < buffer.dims.size(); ++d) {
      int64_t v;
      Status status = value(buffer.dims[d], v);
      if (status.ok() && v != shared->dims(buffer.source)[d])
        status = Status::badFile(
            "the program is damaged: its part of state " + quoted(buffer.name) +
            " has " + std::to_string(v) + " in dim " + std::to_string(d) +
            ", the state has " +
            std::to_string(shared->dims(buffer.source)[d]));
      if (!status.ok())
        return status;
    }
  }
  return Status::success();
}

Status Session::checkConditions(uint32_t epoch) {
  for (const Check &check : program.checks) {
    if (std::max(epochs.ofExpr[check.lhs], epochs.ofExpr[check.rhs]) != epoch)
      continue;
    int64_t l, r;
    Status status = value(check.lhs, l);
    if (status.ok())
      status = value(check.rhs, r);
    if (!status.ok())
      return status;
    bool holds = check.kind == Check::Equal       ? l == r
                 : check.kind == Check::LessEqual ? l <= r
                 : check.kind == Check::Less
                     ? l < r
                     : l != 0 && (l == -1 || r % l == 0);
    if (holds)
      continue;
    std::string told = check.message;
    for (auto [mark, number] : {std::pair("{0}", l), std::pair("{1}", r)})
      if (size_t at = told.find(mark); at != std::string::npos)
        told.replace(at, std::strlen(mark), std::to_string(number));
    if (told != check.message)
      return Status::error(MLC_USAGE, told);
    // Omit the values if a difference should be 0: the message says all.
    const Expr &right = program.exprs[check.rhs];
    bool isDifference = right == Expr::constant(0);
    std::string values = isDifference ? ""
                                      : " (" + std::to_string(l) + " and " +
                                            std::to_string(r) + ")";
    return Status::error(MLC_USAGE, check.message + values);
  }
  return Status::success();
}

Status Session::bindSymbols() {
  for (SymbolId id = 0; id < symbols.size(); ++id) {
    const Symbol &s = program.symbols[id];
    if (s.kind == Symbol::FromTensor)
      continue;
    Status status = setSymbol(id, s.kind == Symbol::FromRank
                                      ? shared->coordinates()[s.source]
                                      : inputs[s.source].dims[s.index]);
    if (!status.ok())
      return status;
  }
  Status status = checkInputDims();
  if (status.ok())
    status = checkStateDims();
  return status.ok() ? checkConditions(0) : status;
}

Status Session::reserve(DeviceMemory &block, uint64_t bytes) {
  bool grown = false;
  Status status;
  // The queue may still use the old block.
  if (bytes > block.capacity())
    status = wait();
  if (status.ok())
    status = block.reserve(device, bytes, grown);
  if (status.ok() && grown) {
    ++allocationCount;
    ++stamp;
  }
  return status;
}

Status Session::reserveWorkspace(uint64_t bytes) {
  uint64_t before = workspace.capacity();
  Status status = reserve(workspace, bytes);
  hasZeroCounters &= workspace.capacity() == before;
  if (!status.ok() || hasZeroCounters)
    return status;
  static constexpr uint8_t zeros[GridLaunchStep::counterBytes] = {};
  status = queue->upload(workspace.data(), zeros, sizeof(zeros));
  hasZeroCounters = status.ok();
  return status;
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

/// Prepares a run before anything is handed to the queue.
Status Session::prepareRun() {
  ran = false;
  hasBegun = false;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i].bound)
      return Status::error(MLC_USAGE, "input " +
                                          quoted(program.inputs[i].name) +
                                          " is not bound");
  Status status = load();
  if (status.ok() && dimsChanged) {
    status = bindSymbols();
    dimsChanged = !status.ok();
  }
  if (status.ok())
    status = shared->checkValues(stateUse);
  if (status.ok())
    status = checkOverlaps();
  // Detect errors before a state is written.
  if (status.ok() && stateUse.hasWrites)
    status = checkCapacities();
  return status;
}

/// Tells the states whether the run succeeded.
void Session::endRun(bool succeeded) {
  if (succeeded)
    shared->noteWritten(stateUse);
  else if (hasBegun)
    shared->lose(stateUse);
}

/// Hands the whole run to the queue; its begin() was called.
Status Session::handOver() {
  Status status = placeInputs();
  if (status.ok())
    status = runEpochs();
  if (!status.ok())
    drainCollectives();
  isSetUp = status.ok();
  return status.ok() ? copyOutputs() : status;
}

Status Session::run() {
  Status status = prepareRun();
  if (!status.ok())
    return status;
  QueuedWork work(*queue);
  status = handOver();
  Status finished = work.finish();
  // If a collective failed, report that as the cause.
  if (Status settled = shared->settle(); !settled.ok())
    finished = std::move(settled);
  shared->noteFinished(finished.ok());
  isEnqueued = false;
  isSetUp &= finished.ok();
  // Counters may be wrong if blocks did not run.
  hasZeroCounters &= isSetUp;
  if (status.ok())
    status = std::move(finished);
  endRun(status.ok());
  if (flags & MLC_SESSION_PROFILE)
    for (size_t s = 0; status.ok() && s < stepTimes.size(); ++s) {
      stepTimes[s] = 0;
      if (!wasSkipped[s])
        status = queue->elapsed(2 * s, 2 * s + 1, stepTimes[s]);
    }
  ran = status.ok();
  return status;
}

Status Session::enqueue() {
  std::string onHost;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].bytes && !isAddress(inputs[i].space))
      onHost = "input " + quoted(program.inputs[i].name);
  for (size_t o = 0; o < outputs.size(); ++o)
    if (outputs[o].data && !isAddress(outputs[o].space))
      onHost = "output " + quoted(program.outputs[o].name);
  if (!onHost.empty())
    return Status::error(MLC_USAGE, onHost +
                                        " is bound to the host's memory; a run "
                                        "that is enqueued needs the device's");
  if (flags & MLC_SESSION_PROFILE)
    return Status::error(MLC_USAGE, "a session that measures its steps must "
                                    "wait for them; run it");
  Status status = prepareRun();
  if (!status.ok())
    return status;
  QueuedWork work(*queue);
  status = handOver();
  isEnqueued = status.ok();
  failuresBefore = shared->failures();
  Status flushed = status.ok() ? work.flush() : work.finish();
  isEnqueued &= flushed.ok();
  isSetUp &= flushed.ok();
  if (status.ok())
    status = std::move(flushed);
  if (status.ok()) {
    shared->noteEnqueued(stateUse);
  } else {
    (void)shared->settle();
    shared->noteFinished(flushed.ok());
    endRun(false);
  }
  ran = status.ok();
  return status;
}

Status Session::wait() {
  if (!isEnqueued)
    return Status::success();
  isEnqueued = false;
  Status status = shared->wait();
  // Another session may already have received the error.
  bool failed = shared->failures() != failuresBefore;
  isSetUp &= !failed;
  ran &= !failed;
  return status;
}

Status Session::runEpochs() {
  Status status;
  for (uint32_t e = 0; status.ok() && e < epochs.count(); ++e)
    status = runEpoch(e);
  return status;
}

/// Makes the plan for the present symbol values the front one of its epoch,
/// and its addresses valid.
Status Session::activate(uint32_t epoch) {
  constexpr size_t kept = 8;
  Status status = chooseDirectOutputs(epoch);
  if (!status.ok())
    return status;
  std::list<EpochPlan> &list = plans[epoch];
  const std::vector<uint32_t> &known = epochs.ofSymbol;
  auto matches = [&](const EpochPlan &plan) {
    for (size_t s = 0; s < symbols.size(); ++s)
      if (known[s] <= epoch && plan.key[s] != symbols[s])
        return false;
    return plan.direct == direct;
  };
  auto it = list.begin();
  while (it != list.end() && !matches(*it))
    ++it;
  if (it == list.end()) {
    // The plan that is evicted must not be under way.
    if (list.size() == kept)
      status = shared->settle();
    if (!status.ok())
      return status;
    EpochPlan plan;
    plan.key = symbols;
    plan.direct = direct;
    ++allocationCount;
    status = makePlan(epoch, plan);
    if (!status.ok())
      return status;
    list.push_front(std::move(plan));
    if (list.size() > kept)
      list.pop_back();
    ++stamp;
  } else if (it != list.begin()) {
    list.splice(list.begin(), list, it);
    ++stamp; // the buffers of this epoch move
  }
  EpochPlan &plan = list.front();
  status = reserve(arenas[epoch], plan.peak);
  if (status.ok() && plan.scratch > scratchStride)
    scratchStride = plan.scratch;
  if (status.ok())
    status = reserve(scratch, scratchStride * queue->workers());
  if (status.ok() && plan.workspace)
    status = reserveWorkspace(plan.workspace);
  if (status.ok())
    status = placeSetupBuffers();
  if (!status.ok() || plan.stamp == stamp)
    return status;
  for (auto [buffer, offset] : plan.offsets)
    addresses[buffer] = arenas[epoch].data() + offset;
  for (size_t i = 0; i < plan.operands.size(); ++i)
    plan.pointers[i] =
        addresses[plan.operands[i].root] + plan.operands[i].extra;
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    const ReadyStep &ready = plan.steps[s];
    if (!ready.library)
      continue;
    const Step &step = program.steps[epochs.firstStep[epoch] + s];
    for (size_t i = 0; i < step.inputs.size() + step.outputs.size(); ++i)
      plan.libraryOperands[ready.firstLibraryOperand + i].data =
          plan.pointers[ready.firstOperand + i];
  }
  plan.stamp = stamp;
  return status;
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

Status Session::describe(BufferId id, mlc_tensor &tensor) const {
  const Buffer &buffer = program.buffers[id];
  tensor.type = static_cast<mlc_dtype>(buffer.type);
  tensor.rank = buffer.dims.size();
  uint64_t bytes = byteSize(buffer.type);
  for (size_t d = 0; d < tensor.rank; ++d) {
    Status status = value(buffer.dims[d], tensor.dims[d]);
    if (!status.ok())
      return status;
    bytes *= tensor.dims[d]; // makePlan has checked the product
  }
  Place place;
  Status status = placeOf(id, place);
  if (!status.ok())
    return status;
  tensor.bytes = bytes;
  tensor.data = addresses[place.root] + place.extra;
  return Status::success();
}

/// Replaces the tensor's address on the device by one that the host can read.
Status Session::makeReadable(BufferId id, mlc_tensor &tensor) {
  if (device.usesHostMemory())
    return Status::success();
  Memory &mirror = mirrors[id];
  bool grown;
  Status status = mirror.reserve(tensor.bytes, grown);
  allocationCount += grown;
  if (status.ok() && tensor.bytes)
    status = queue->download(mirror.data(), tensor.data, tensor.bytes);
  tensor.data = mirror.data();
  return status;
}

} // namespace mlc::runtime
