//===- Session.cpp - Running a program ------------------------------------===//

#include "runtime/Session.h"

#include <chrono>
#include <cstring>

namespace mlc::runtime {

namespace {

uint64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::string quoted(const std::string &name) { return "'" + name + "'"; }

} // namespace

Session::Session(std::shared_ptr<const Artifact> a, unsigned threads,
                 uint32_t flags)
    : artifact(std::move(a)), program(artifact->program()), flags(flags),
      pool(threads, flags & MLC_SESSION_FLUSH_DENORMALS),
      inputs(program.inputs.size()), outputs(program.outputs.size()),
      direct(program.outputs.size(), 0), parameters(program.parameters.size()),
      setupMemory(program.buffers.size()), symbols(program.symbols.size(), 0),
      plans(artifact->epochs().count()), arenas(artifact->epochs().count()),
      addresses(program.buffers.size(), nullptr),
      stepTimes(program.steps.size(), 0) {
  for (size_t b = 0; b < program.buffers.size(); ++b)
    if (program.buffers[b].isWeight())
      addresses[b] = const_cast<uint8_t *>(artifact->weights()) +
                     program.buffers[b].offset;
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

Status Session::checkConditions(uint32_t epoch) {
  const Epochs &epochs = artifact->epochs();
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
    // That a difference is not 0 tells nobody anything: the message says all.
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
    if (s.kind != Symbol::FromInput)
      continue;
    Status status = setSymbol(id, inputs[s.source].dims[s.index]);
    if (!status.ok())
      return status;
  }
  Status status = checkInputDims();
  return status.ok() ? checkConditions(0) : status;
}

Status Session::reserve(Memory &block, uint64_t bytes) {
  bool grown;
  Status status = block.reserve(bytes, grown);
  if (grown) {
    ++allocationCount;
    ++stamp;
  }
  return status;
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

Status Session::plan(mlc_memory &memory) {
  Status status = bindSymbols();
  if (status.ok() && artifact->epochs().count() != 1)
    status = Status::error(MLC_UNSUPPORTED, "its sizes depend on data");
  EpochPlan plan;
  if (status.ok())
    status = makePlan(0, plan);
  memory = {};
  memory.arena_bytes = plan.peak;
  memory.lower_bound_bytes = plan.lowerBound;
  memory.scratch_bytes = plan.scratch * pool.size();
  return status;
}

Status Session::run() {
  ran = false;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i].bound)
      return Status::error(MLC_USAGE, "input " +
                                          quoted(program.inputs[i].name) +
                                          " is not bound");
  Status status;
  if (dimsChanged) {
    status = bindSymbols();
    if (!status.ok())
      return status;
    dimsChanged = false;
  }
  status = checkOverlaps();
  if (status.ok())
    status = placeInputs();
  FloatEnvironment environment(flags & MLC_SESSION_FLUSH_DENORMALS);
  for (uint32_t e = 0; status.ok() && e < artifact->epochs().count(); ++e)
    status = runEpoch(e);
  isSetUp = status.ok();
  if (status.ok())
    status = copyOutputs();
  ran = status.ok();
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
  const std::vector<uint32_t> &known = artifact->epochs().ofSymbol;
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
    status = reserve(scratch, scratchStride * pool.size());
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
    const Step &step = program.steps[artifact->epochs().firstStep[epoch] + s];
    for (size_t i = 0; i < step.inputs.size() + step.outputs.size(); ++i)
      plan.libraryOperands[ready.firstLibraryOperand + i].data =
          plan.pointers[ready.firstOperand + i];
  }
  plan.stamp = stamp;
  return status;
}

Status Session::runEpoch(uint32_t epoch) {
  Status status = activate(epoch);
  if (!status.ok())
    return status;
  EpochPlan &plan = plans[epoch].front();
  uint32_t first = artifact->epochs().firstStep[epoch];
  bool profile = flags & MLC_SESSION_PROFILE;
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    const Step &step = program.steps[first + s];
    uint64_t start = profile ? now() : 0;
    if (isSetUp && artifact->setupSteps().isStep[first + s]) {
      stepTimes[first + s] = 0;
      continue;
    }
    if (step.kind == Step::BindSymbol) {
      status = readSymbol(step);
      if (status.ok())
        status = checkConditions(epoch + 1);
      if (!status.ok())
        return status;
    } else {
      runStep(step, plan, plan.steps[s]);
    }
    if (profile)
      stepTimes[first + s] = now() - start;
  }
  return status;
}

void Session::runStep(const Step &step, EpochPlan &plan,
                      const ReadyStep &ready) {
  struct Call {
    mlc_kernel kernel;
    const LibraryKernel *library;
    LibraryCall libraryCall;
    void *const *buffers;
    const int64_t *args;
    uint8_t *scratch;
    uint64_t stride;
  } call = {};
  call.buffers = plan.pointers.data() + ready.firstOperand;
  call.args = plan.args.data() + ready.firstArg;
  call.scratch = scratch.data();
  call.stride = scratchStride;
  if (ready.library) {
    const LibraryOperand *operands =
        plan.libraryOperands.data() + ready.firstLibraryOperand;
    call.library = ready.library;
    call.libraryCall = {operands,
                        step.inputs.size(),
                        operands + step.inputs.size(),
                        step.outputs.size(),
                        call.args,
                        step.args.size()};
    pool.run(
        ready.tasks, ready.threads,
        [](void *p, unsigned thread, int64_t begin, int64_t end) {
          auto &c = *static_cast<Call *>(p);
          c.library->run(c.libraryCall, begin, end,
                         c.scratch + thread * c.stride);
        },
        &call);
    return;
  }
  call.kernel = artifact->kernels()[step.kernel];
  pool.run(
      ready.tasks, ready.threads,
      [](void *p, unsigned thread, int64_t begin, int64_t end) {
        auto &c = *static_cast<Call *>(p);
        c.kernel(c.buffers, c.args, begin, end, c.scratch + thread * c.stride);
      },
      &call);
}

namespace {

template <typename T> int64_t readAs(const uint8_t *data, uint64_t at) {
  T v;
  std::memcpy(&v, data + at * sizeof(T), sizeof(T));
  return int64_t(v);
}

int64_t readInteger(DType type, const uint8_t *data, uint64_t at) {
  switch (type) {
  case DType::I8:
    return readAs<int8_t>(data, at);
  case DType::I16:
    return readAs<int16_t>(data, at);
  case DType::I32:
    return readAs<int32_t>(data, at);
  case DType::U8:
  case DType::Bool:
    return readAs<uint8_t>(data, at);
  case DType::U16:
    return readAs<uint16_t>(data, at);
  case DType::U32:
    return readAs<uint32_t>(data, at);
  default:
    // A u64 above the largest i64 becomes negative and so out of range.
    return readAs<int64_t>(data, at);
  }
}

} // namespace

Status Session::readSymbol(const Step &step) {
  mlc_tensor tensor;
  Status status = describe(step.inputs[0], tensor);
  if (!status.ok())
    return status;
  size_t width = byteSize(DType(tensor.type));
  if (step.element >= tensor.bytes / width)
    return Status::error(
        MLC_USAGE, "the value of " + quoted(program.symbols[step.symbol].name) +
                       " lies outside its tensor");
  return setSymbol(step.symbol,
                   readInteger(DType(tensor.type),
                               static_cast<const uint8_t *>(tensor.data),
                               step.element));
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

} // namespace mlc::runtime
