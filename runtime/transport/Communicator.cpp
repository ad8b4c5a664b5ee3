//===- Communicator.cpp - Collectives over an engine ----------------------===//

#include "runtime/transport/Communicator.h"
#include "runtime/Engines.h"
#include "runtime/Text.h"
#include "runtime/transport/Reduce.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <new>

namespace mlc::runtime::transport {

/// Messages of one transfer that are in flight: the next one travels while the
/// last is added.
static constexpr int window = 2;
/// How long to wait for one transfer before polling the others.
static constexpr int64_t transferPatience = 200'000; // ns

struct Communicator::Lane {
  const Transfer *transfer;
  int64_t begun = 0; // elements
  std::deque<Piece> pieces;

  bool done() const {
    return pieces.empty() && begun == transfer->range.length;
  }
};

std::string describe(const Request &request, mlc_dtype type) {
  std::string text = name(request.collective);
  if (request.algorithm == Algorithm::Own)
    text += " of the engine,";
  else if (request.collective == Collective::AllReduce)
    text += std::string(" ") + name(request.algorithm);
  if (request.reduction != MLC_SUM)
    text += std::string(" (") + name(request.reduction) + ")";
  if (request.root)
    text += " from " + std::to_string(request.root);
  return text + " of " + std::to_string(request.elements) + " " +
         mlc_dtype_name(type);
}

Communicator::Communicator(const mlc_engine &engine, mlc_comm *comm,
                           const Options &options, std::string group,
                           std::vector<int> ranks)
    : engine(engine), comm(comm), options(options),
      watch(engine, comm, options.timeout, std::move(group), std::move(ranks)),
      family(watch.relatives()) {}

Status Communicator::open(const mlc_engine &plain, int rank, int size,
                          const Options &options,
                          std::unique_ptr<Communicator> &result) {
  Link link = options.link;
  if (Status status = findLink(link); !status.ok())
    return status;
  if (options.device >= 0 && !plain.stage)
    return Status::error(MLC_UNSUPPORTED,
                         "engine " + std::string(plain.name) +
                             " does not work in the memory of GPUs; take " +
                             engines::namesForGpus());
  if (options.device >= 0 && link.isSlow())
    return Status::error(MLC_USAGE,
                         "a link is made slow for what is in the host's memory "
                         "alone; leave MLC_LINK_BANDWIDTH, MLC_LINK_LATENCY "
                         "and such options out");
  const mlc_engine &engine = link.isSlow() ? throttled(plain, link) : plain;
  char text[512] = "";
  mlc_comm *comm = nullptr;
  const mlc_world world{rank, size, options.timeout.count(), options.device};
  const std::string who = "engine " + std::string(engine.name) + ": ";
  // A bit later than the engine's own timeout, whose error says more.
  if (options.watchdog)
    options.watchdog->arm(&result, options.timeout + std::chrono::seconds(2),
                          [&] {
                            return who + "not all ranks have come within " +
                                   inSeconds(options.timeout);
                          });
  mlc_status code = engine.open(&world, &comm, text, sizeof(text));
  if (options.watchdog)
    options.watchdog->disarm(&result);
  if (code != MLC_OK)
    return Status::error(code, who + printable(text));
  result.reset(new Communicator(engine, comm, options));
  const int isRank = result->rank(), isSize = result->size();
  if ((rank < 0 || rank == isRank) && (size < 0 || size == isSize))
    return Status::success();
  result.reset();
  return Status::error(
      MLC_USAGE, who + "this is rank " + std::to_string(isRank) + " of " +
                     std::to_string(isSize) + ", but the launcher said rank " +
                     std::to_string(rank) + " of " + std::to_string(size) +
                     "; start all ranks by the engine's own launcher (mpirun "
                     "for mpi)");
}

Status Communicator::split(int color, const std::string &name,
                           std::unique_ptr<Communicator> &group) {
  // This names missing ranks, so that the engine's split is then quick.
  Program meet;
  int32_t come = 1;
  Request request{Collective::AllReduce, Algorithm::Tree, size(), 1};
  if (Status status = makeProgram(request, rank(), meet); !status.ok())
    return status;
  if (Status status =
          run("split into groups " + name, std::move(meet), MLC_I32, &come);
      !status.ok())
    return status;
  enter("split into groups " + name);
  mlc_comm *split = nullptr;
  std::vector<int> among(size());
  mlc_status code =
      engine.split(comm, color, options.timeout.count(), among.data(), &split);
  Status status = leave(code == MLC_OK ? Status::success() : engineError(code));
  group.reset();
  if (!status.ok() || !split)
    return status;
  among.resize(engine.size(split));
  for (int &member : among)
    member = watch.among(member);
  group.reset(new Communicator(engine, split, options, name, among));
  group->isGroup = true;
  group->family = family;
  group->watch.join(family);
  return Status::success();
}

Communicator::~Communicator() {
  if (family->failed && isGroup) {
    if (options.watchdog)
      options.watchdog->disarm(this);
    return;
  }
  if (comm && family->failed)
    abort(MLC_INTERNAL);
  if (!comm)
    return;
  watch.end();
  guard(options.timeout);
  engine.close(comm);
  if (options.watchdog)
    options.watchdog->disarm(this);
}

/// Guards against calls that do not return; check() feeds the watchdog.
void Communicator::guard(std::chrono::nanoseconds time) {
  if (options.watchdog)
    options.watchdog->arm(this, time, [this] { return watch.hung(); });
}

void Communicator::enter(const std::string &name) {
  watch.enter(name);
  // A bit later than the timeout, so that check() finds a late rank first.
  guard(options.timeout + std::chrono::seconds(1));
}

Status Communicator::leave(Status status) {
  if (!status.ok()) {
    // Collectives of other groups stop advancing too.
    family->failed = true;
    if (options.watchdog)
      options.watchdog->disarmAll();
    if (options.device >= 0)
      cancel(status);
    return status;
  }
  if (options.watchdog)
    options.watchdog->disarm(this);
  watch.leave();
  return status;
}

void Communicator::giveUp(const Status &failure) {
  if (!family->failed)
    (void)leave(watch.fail(MLC_RESOURCES, "another collective has failed"));
  else if (options.device >= 0)
    cancel(failure);
}

void Communicator::abort(int code) {
  if (!comm)
    return;
  // Groups end with the world.
  family->failed = true;
  guard(std::chrono::seconds(4)); // two of them for the farewell
  watch.farewell(code);
  engine.abort(comm, code);
  engine.close(comm);
  if (options.watchdog)
    options.watchdog->disarm(this);
  comm = nullptr;
}

mlc_counters Communicator::counters() const {
  mlc_counters counters{};
  engine.counters(comm, &counters);
  return counters;
}

char *Communicator::memory(const Range &range) const {
  char *base = range.place == Place::Data ? data : scratch.get();
  return base + range.offset * mlc_dtype_size(type);
}

char *Communicator::staging(size_t lane, int64_t piece) const {
  return stage.get() + (lane * window + piece % window) * laneBytes;
}

static bool grow(std::unique_ptr<char[]> &memory, int64_t &have, int64_t want) {
  if (want <= have)
    return true;
  memory.reset(); // not both at once
  memory.reset(new (std::nothrow) char[want]);
  have = memory ? want : 0;
  return memory != nullptr;
}

int64_t Communicator::messageElements() const {
  const auto size = static_cast<int64_t>(mlc_dtype_size(type));
  return engine.stepwise ? INT64_MAX
                         : std::max<int64_t>(1, options.messageBytes / size);
}

Status Communicator::reserve() {
  const auto size = static_cast<int64_t>(mlc_dtype_size(type));
  int64_t most = 0, longest = 0, want = 0;
  for (const Step &step : program.steps)
    for (const Transfer &transfer : step.transfers)
      if (transfer.kind == Transfer::ReceiveAdd) {
        most = std::max<int64_t>(most, step.transfers.size());
        longest = std::max(longest, transfer.range.length);
      }
  laneBytes = std::min(longest, messageElements()) * size;
  if (!__builtin_mul_overflow(program.scratch, size, &want) &&
      grow(scratch, scratchBytes, want) &&
      grow(stage, stageBytes, most * window * laneBytes))
    return Status::success();
  return watch.fail(MLC_RESOURCES,
                    "out of memory for " + std::to_string(program.scratch) +
                        " elements of its own; take the algorithm ring, "
                        "which needs none");
}

Status Communicator::engineError(mlc_status code) {
  // A rank that ended the others may have published the reason just now.
  watch.hurry();
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
    options.watchdog->feed(this);
  std::sort(awaited.begin(), awaited.end());
  awaited.erase(std::unique(awaited.begin(), awaited.end()), awaited.end());
  return options.interrupted && *options.interrupted
             ? watch.lost(MLC_INTERRUPTED, "interrupted", awaited)
             : watch.check(awaited);
}

/// Begins as many messages of the transfer as may be under way.
Status Communicator::begin(Lane &lane, size_t index) {
  const Transfer &transfer = *lane.transfer;
  const auto size = static_cast<int64_t>(mlc_dtype_size(type));
  const int64_t most = messageElements();
  while (lane.pieces.size() < window && lane.begun < transfer.range.length) {
    Piece piece{nullptr, lane.begun,
                std::min(most, transfer.range.length - lane.begun)};
    const size_t bytes = piece.length * size;
    char *at = transfer.kind == Transfer::ReceiveAdd
                   ? staging(index, piece.offset / most)
                   : memory(transfer.range) + piece.offset * size;
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

Status Communicator::poll(Lane &lane, size_t index, int64_t nanoseconds) {
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
    if (lane.transfer->kind == Transfer::ReceiveAdd)
      combine(program.reduction, type,
              memory(lane.transfer->range) + piece.offset * size,
              staging(index, piece.offset / messageElements()), piece.length);
    lane.pieces.pop_front();
    if (Status status = begin(lane, index); !status.ok())
      return status;
  }
  return Status::success();
}

/// Works in pieces, so that the heartbeat goes on.
Status Communicator::runLocal(const LocalStep &local) {
  const auto size = static_cast<int64_t>(mlc_dtype_size(type));
  for (int64_t at = 0; at < local.to.length; at += 1 << 20) {
    const int64_t n = std::min<int64_t>(1 << 20, local.to.length - at);
    char *to = memory(local.to) + at * size;
    const char *from = memory(local.from) + at * size;
    if (local.kind == LocalStep::Add)
      combine(program.reduction, type, to, from, n);
    else
      std::memcpy(to, from, n * size);
    watch.progressed();
    if (Status status = check(); !status.ok())
      return status;
  }
  return Status::success();
}

void Communicator::forgetProgram() {
  program = {};
  step = 0;
  lanes.clear();
}

Status Communicator::startStep() {
  inStep = true;
  lanes.clear();
  for (const Transfer &transfer : program.steps[step].transfers) {
    lanes.emplace_back();
    lanes.back().transfer = &transfer;
  }
  for (size_t i = 0; i < lanes.size(); ++i)
    if (Status status = begin(lanes[i], i); !status.ok())
      return status;
  return Status::success();
}

Status Communicator::endStep() {
  lanes.clear();
  for (const LocalStep &local : program.steps[step].local)
    if (Status status = runLocal(local); !status.ok())
      return status;
  ++step;
  inStep = false;
  return Status::success();
}

/// Polls all transfers, then waits for the first that is not done.
Status Communicator::pollLanes(int64_t nanoseconds, bool &all) {
  size_t first = lanes.size();
  for (size_t i = lanes.size(); i-- > 0;) {
    if (Status status = poll(lanes[i], i, 0); !status.ok())
      return status;
    if (!lanes[i].done())
      first = i;
  }
  all = first == lanes.size();
  if (!all && !moved && nanoseconds)
    if (Status status = poll(lanes[first], first, nanoseconds); !status.ok())
      return status;
  if (moved)
    watch.progressed();
  return all ? Status::success() : check();
}

Status Communicator::advanceProgram(int64_t nanoseconds, bool &done) {
  // Advance as far as possible without waiting.
  while (step < program.steps.size()) {
    if (!inStep)
      if (Status status = startStep(); !status.ok())
        return status;
    bool all = false;
    if (Status status = pollLanes(nanoseconds, all); !status.ok())
      return status;
    if (!all)
      return Status::success();
    if (Status status = endStep(); !status.ok())
      return status;
    moved = true;
    nanoseconds = 0;
  }
  done = true;
  return Status::success();
}

Status Communicator::advance(int64_t nanoseconds, bool &done) {
  done = moved = false;
  Status status = onDevice ? advanceOnDevice(nanoseconds, done)
                  : own    ? advanceOwn(nanoseconds, done)
                           : advanceProgram(nanoseconds, done);
  onDevice = onDevice && status.ok() && !done;
  return !status.ok() || done ? leave(std::move(status)) : status;
}

Status Communicator::begin(const std::string &name, Program what,
                           mlc_dtype elementType, void *elements) {
  type = elementType;
  data = static_cast<char *>(elements);
  program = std::move(what);
  step = 0;
  inStep = launched = false;
  enter(name);
  Status status = reserve();
  return status.ok() ? status : leave(std::move(status));
}

Status Communicator::begin(const Request &request, mlc_dtype type, void *data) {
  if (request.ranks != size())
    return Status::error(MLC_USAGE,
                         "a collective of " + std::to_string(request.ranks) +
                             " ranks among " + std::to_string(size()) +
                             "; make it for all");
  const bool adds = rowOf(request.collective).reduces();
  if (!mlc_dtype_size(type) || (adds && !isSummable(type)))
    return Status::error(MLC_UNSUPPORTED,
                         std::string("elements of type ") +
                             mlc_dtype_name(type) +
                             " have no sum; take another type");
  if (request.algorithm == Algorithm::Own) {
    Status status = checkRequest(request, rank());
    return status.ok() ? beginOwn(describe(request, type), request, type, data)
                       : status;
  }
  Program made;
  if (Status status = makeProgram(request, rank(), made); !status.ok())
    return status;
  return begin(describe(request, type), std::move(made), type, data);
}

int64_t Communicator::patience() const {
  // An engine's own collective is a single request, and its completion is
  // noticed at once.
  return onDevice ? 1'000'000 : transferPatience;
}

Status Communicator::complete(bool &done) {
  Status status = Status::success();
  while (status.ok() && !done)
    status = advance(patience(), done);
  return status;
}

Status Communicator::run(const Request &request, mlc_dtype type, void *data) {
  bool done = false;
  Status status = begin(request, type, data);
  return status.ok() ? complete(done) : status;
}

Status Communicator::run(const std::string &name, Program program,
                         mlc_dtype type, void *data) {
  bool done = false;
  Status status = begin(name, std::move(program), type, data);
  return status.ok() ? complete(done) : status;
}

} // namespace mlc::runtime::transport
