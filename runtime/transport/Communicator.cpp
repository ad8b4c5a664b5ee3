//===- Communicator.cpp - Collectives over an engine ----------------------===//

#include "runtime/transport/Communicator.h"
#include "runtime/Text.h"
#include "runtime/transport/Reduce.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <new>

namespace mlc::runtime::transport {

/// Messages of one transfer that are under way together: the next one travels
/// while the last is added.
static constexpr int window = 2;
/// How long to wait for one transfer before looking at the others.
static constexpr int64_t patience = 200'000; // ns

struct Communicator::Lane {
  const Transfer *transfer;
  int64_t begun = 0; // elements
  std::deque<Piece> pieces;

  bool done() const {
    return pieces.empty() && begun == transfer->range.length;
  }
};

std::string describe(const Request &request, mlc_dtype type) {
  static const char *const names[] = {"all-reduce", "reduce-scatter",
                                      "all-gather", "broadcast", "all-to-all"};
  std::string text = names[static_cast<int>(request.collective)];
  if (request.collective == Collective::AllReduce)
    text += std::string(" ") + name(request.algorithm);
  return text + " of " + std::to_string(request.elements) + " " +
         mlc_dtype_name(type);
}

Communicator::Communicator(const mlc_engine &engine, mlc_comm *comm,
                           const Options &options)
    : engine(engine), comm(comm), options(options),
      watch(engine, comm, options.timeout) {}

Status Communicator::open(const mlc_engine &engine, mlc_world world,
                          const Options &options,
                          std::unique_ptr<Communicator> &result) {
  char text[512] = "";
  mlc_comm *comm = nullptr;
  world.timeout = options.timeout.count();
  mlc_status code = engine.open(&world, &comm, text, sizeof(text));
  if (code != MLC_OK)
    return Status::error(code, "engine " + std::string(engine.name) + ": " +
                                   printable(text));
  result.reset(new Communicator(engine, comm, options));
  const int rank = result->rank(), size = result->size();
  if ((world.rank < 0 || world.rank == rank) &&
      (world.size < 0 || world.size == size))
    return Status::success();
  std::string message =
      "engine " + std::string(engine.name) + ": this is rank " +
      std::to_string(rank) + " of " + std::to_string(size) +
      ", but the launcher said rank " + std::to_string(world.rank) + " of " +
      std::to_string(world.size) +
      "; start all ranks by the engine's own launcher (mpirun for mpi)";
  result.reset();
  return Status::error(MLC_USAGE, message);
}

Communicator::~Communicator() {
  if (failed)
    abort(MLC_INTERNAL);
  if (!comm)
    return;
  watch.end();
  guard(options.timeout);
  engine.close(comm);
  if (options.watchdog)
    options.watchdog->disarm();
}

/// Against calls that do not return; check() feeds the watchdog.
void Communicator::guard(std::chrono::nanoseconds time) {
  if (options.watchdog)
    options.watchdog->arm(time, [this] { return watch.hung(); });
}

void Communicator::enter(const std::string &name) {
  watch.enter(name);
  // check() is to find what is late before this does.
  guard(options.timeout + std::chrono::seconds(1));
}

Status Communicator::leave(Status status) {
  if (options.watchdog)
    options.watchdog->disarm();
  failed = !status.ok();
  if (!failed)
    watch.leave();
  return status;
}

void Communicator::abort(int code) {
  if (!comm)
    return;
  guard(std::chrono::seconds(4)); // two of them for the farewell
  watch.farewell();
  engine.abort(comm, code);
  engine.close(comm);
  if (options.watchdog)
    options.watchdog->disarm();
  comm = nullptr;
  failed = false;
}

mlc_counters Communicator::counters() const {
  mlc_counters counters{};
  engine.counters(comm, &counters);
  return counters;
}

char *Communicator::memory(const Range &range, mlc_dtype type) const {
  char *base = range.place == Place::Data ? data : scratch.get();
  return base + range.offset * mlc_dtype_size(type);
}

char *Communicator::staging(size_t lane, int64_t piece) const {
  return stage.get() + (lane * window + piece % window) * options.messageBytes;
}

static bool grow(std::unique_ptr<char[]> &memory, int64_t &have, int64_t want) {
  if (want <= have)
    return true;
  memory.reset(); // not both at once
  memory.reset(new (std::nothrow) char[want]);
  have = memory ? want : 0;
  return memory != nullptr;
}

Status Communicator::reserve(const Program &program, mlc_dtype type) {
  const auto size = static_cast<int64_t>(mlc_dtype_size(type));
  int64_t most = 0, want = 0;
  for (const Step &step : program.steps)
    for (const Transfer &transfer : step.transfers)
      if (transfer.kind == Transfer::ReceiveAdd)
        most = std::max<int64_t>(most, step.transfers.size());
  if (!__builtin_mul_overflow(program.scratch, size, &want) &&
      grow(scratch, scratchBytes, want) &&
      grow(stage, stageBytes, most * window * options.messageBytes))
    return Status::success();
  return watch.fail(MLC_RESOURCES,
                    "out of memory for " + std::to_string(program.scratch) +
                        " elements of its own; take the algorithm ring, "
                        "which needs none");
}

Status Communicator::engineError(mlc_status code) {
  // Who has ended the others has published why.
  if (Status status = watch.check(awaited); !status.ok())
    return status;
  const std::string what = "engine " + std::string(engine.name) + ": " +
                           printable(engine.error(comm));
  return code == MLC_DEVICE ? watch.lost(code, what, awaited)
                            : watch.fail(code, what);
}

Status Communicator::check() {
  awaited.clear();
  for (const Lane &lane : lanes)
    if (!lane.done())
      awaited.push_back(lane.transfer->peer);
  if (options.watchdog)
    options.watchdog->feed();
  std::sort(awaited.begin(), awaited.end());
  awaited.erase(std::unique(awaited.begin(), awaited.end()), awaited.end());
  return options.interrupted && *options.interrupted
             ? watch.lost(MLC_INTERRUPTED, "interrupted", awaited)
             : watch.check(awaited);
}

/// Begins as many messages of the transfer as may be under way.
Status Communicator::begin(Lane &lane, size_t index, mlc_dtype type) {
  const Transfer &transfer = *lane.transfer;
  const auto size = static_cast<int64_t>(mlc_dtype_size(type));
  const int64_t most = std::max<int64_t>(1, options.messageBytes / size);
  while (lane.pieces.size() < window && lane.begun < transfer.range.length) {
    Piece piece{nullptr, lane.begun,
                std::min(most, transfer.range.length - lane.begun)};
    const size_t bytes = piece.length * size;
    char *at = transfer.kind == Transfer::ReceiveAdd
                   ? staging(index, piece.offset / most)
                   : memory(transfer.range, type) + piece.offset * size;
    mlc_status code =
        transfer.kind == Transfer::Send
            ? engine.send(comm, transfer.peer, at, bytes, &piece.request)
            : engine.receive(comm, transfer.peer, at, bytes, &piece.request);
    if (code != MLC_OK)
      return engineError(code);
    lane.begun += piece.length;
    lane.pieces.push_back(piece);
  }
  return Status::success();
}

Status Communicator::poll(Lane &lane, size_t index, mlc_dtype type,
                          int64_t nanoseconds, bool &moved) {
  while (!lane.pieces.empty()) {
    const Piece piece = lane.pieces.front();
    int done = 0;
    mlc_status code = engine.test(comm, piece.request, nanoseconds, &done);
    if (code != MLC_OK)
      return engineError(code);
    if (!done)
      return Status::success();
    moved = true;
    nanoseconds = 0;
    const auto size = static_cast<int64_t>(mlc_dtype_size(type));
    const int64_t most = std::max<int64_t>(1, options.messageBytes / size);
    if (lane.transfer->kind == Transfer::ReceiveAdd)
      add(type, memory(lane.transfer->range, type) + piece.offset * size,
          staging(index, piece.offset / most), piece.length);
    lane.pieces.pop_front();
    if (Status status = begin(lane, index, type); !status.ok())
      return status;
  }
  return Status::success();
}

/// In pieces, so that the others see that this rank runs.
Status Communicator::runLocal(const LocalStep &local, mlc_dtype type) {
  const auto size = static_cast<int64_t>(mlc_dtype_size(type));
  for (int64_t at = 0; at < local.to.length; at += 1 << 20) {
    const int64_t n = std::min<int64_t>(1 << 20, local.to.length - at);
    char *to = memory(local.to, type) + at * size;
    const char *from = memory(local.from, type) + at * size;
    if (local.kind == LocalStep::Add)
      add(type, to, from, n);
    else
      std::memcpy(to, from, n * size);
    watch.progressed();
    if (Status status = check(); !status.ok())
      return status;
  }
  return Status::success();
}

Status Communicator::runStep(const Step &step, mlc_dtype type) {
  lanes.clear();
  for (const Transfer &transfer : step.transfers) {
    lanes.emplace_back();
    lanes.back().transfer = &transfer;
  }
  for (size_t i = 0; i < lanes.size(); ++i)
    if (Status status = begin(lanes[i], i, type); !status.ok())
      return status;
  for (;;) {
    bool moved = false, all = true;
    size_t first = lanes.size();
    for (size_t i = 0; i < lanes.size(); ++i) {
      if (Status status = poll(lanes[i], i, type, 0, moved); !status.ok())
        return status;
      if (!lanes[i].done()) {
        all = false;
        first = std::min(first, i);
      }
    }
    if (all)
      break;
    if (!moved)
      if (Status status = poll(lanes[first], first, type, patience, moved);
          !status.ok())
        return status;
    if (moved)
      watch.progressed();
    if (Status status = check(); !status.ok())
      return status;
  }
  lanes.clear();
  for (const LocalStep &local : step.local)
    if (Status status = runLocal(local, type); !status.ok())
      return status;
  return Status::success();
}

Status Communicator::runProgram(const Program &program, mlc_dtype type,
                                void *elements) {
  if (Status status = reserve(program, type); !status.ok())
    return status;
  data = static_cast<char *>(elements);
  for (const Step &step : program.steps)
    if (Status status = runStep(step, type); !status.ok())
      return status;
  return Status::success();
}

Status Communicator::run(const Request &request, mlc_dtype type, void *data) {
  if (request.ranks != size())
    return Status::error(MLC_USAGE,
                         "a collective of " + std::to_string(request.ranks) +
                             " ranks among " + std::to_string(size()) +
                             "; make it for all");
  if (!isSummable(type))
    return Status::error(MLC_UNSUPPORTED,
                         std::string("elements of type ") +
                             mlc_dtype_name(type) +
                             " have no sum; take another type");
  Program program;
  if (Status status = makeProgram(request, rank(), program); !status.ok())
    return status;
  return run(describe(request, type), program, type, data);
}

Status Communicator::run(const std::string &name, const Program &program,
                         mlc_dtype type, void *data) {
  enter(name);
  return leave(runProgram(program, type, data));
}

Status Communicator::runOwn(int64_t elements, mlc_dtype type, void *data) {
  return runOwn("all-reduce of the engine, of " + std::to_string(elements) +
                    " " + mlc_dtype_name(type),
                elements, type, data);
}

Status Communicator::finish() {
  int32_t come = 1;
  return runOwn("the end", 1, MLC_I32, &come);
}

Status Communicator::runOwn(const std::string &name, int64_t elements,
                            mlc_dtype type, void *data) {
  enter(name);
  mlc_request *request = nullptr;
  mlc_status code = engine.all_reduce(comm, data, elements, type, &request);
  Status status = code == MLC_OK ? Status::success() : engineError(code);
  int done = 0;
  while (status.ok() && !done) {
    code = engine.test(comm, request, patience, &done);
    status = code != MLC_OK ? engineError(code)
             : done         ? Status::success()
                            : check();
  }
  return leave(std::move(status));
}

} // namespace mlc::runtime::transport
