//===- RankThread.cpp - Collectives beside a session's steps --------------===//

#include "runtime/transport/RankThread.h"
#include "runtime/CudaDevices.h"
#include "runtime/Devices.h"
#include "runtime/transport/Channels.h"
#include "runtime/transport/Exchange.h"

#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <new>
#include <optional>
#include <tuple>
#include <utility>

namespace mlc::runtime::transport {

namespace {

class RankThread;

/// A prepared collective: runs its messages in sequence.
struct CollectiveJob : Ranks::Prepared, Progress::Work {
  RankThread *owner = nullptr;
  mlc_dtype type = MLC_F32;
  size_t width = 0;
  std::vector<Exchange> exchanges;
  /// Memory of exchanges with separate work memory, which run in sequence.
  std::unique_ptr<char[]> work;
  Communicator *group = nullptr;
  const void *const *inputs = nullptr;
  void *const *outputs = nullptr;
  /// Works on GPU memory, with these events.
  bool isOnGpu = false;
  void *ready = nullptr, *done = nullptr;
  /// The ticket while it is under way, else 0.
  Progress::Ticket ticket = 0;
  /// The index of the current message.
  size_t at = 0;

  Status begin(Communicator &communicator) override;
  Status advance(Communicator &communicator, int64_t nanoseconds,
                 bool &isOver) override;
  bool isLaunched(const Communicator &communicator) const override;

private:
  char *memory(const Exchange &exchange) const;
  Status beginMessage(Communicator &communicator);
  void endMessage();
  Status beginOnGpu(Communicator &communicator) const;
};

class RankThread : public Ranks {
public:
  explicit RankThread(const RankOptions &options)
      : options(options),
        progress(options.engine->stepwise ? Progress::Order::OfAll
                                          : Progress::Order::OfEachGroup) {}
  ~RankThread() override { end({}); }

  /// Opens the engine on the thread.
  Status open();

  int rank() const override { return rankHere; }
  int size() const override { return rankCount; }
  int gpu() const override { return options.communication.device; }
  Status prepare(const std::vector<MeshAxis> &mesh, const CollectiveCall &call,
                 std::unique_ptr<Prepared> &prepared) override;
  void start(Prepared &prepared, const void *const *inputs,
             void *const *outputs) override;
  void startOnGpu(Prepared &prepared, const void *const *inputs,
                  void *const *outputs, void *ready, void *done) override;
  Status waitUntilQueued(Prepared &prepared) override;
  Status wait(Prepared &prepared) override;
  Status openGroups(const std::vector<MeshAxis> &mesh, uint32_t axis) override;
  Status openChannels(const std::vector<Channel> &wanted) override;
  bool ordersMessages() const override { return options.engine->stepwise; }
  uint64_t beginMessage(size_t channel, const std::string &name, void *data,
                        uint64_t bytes) override {
    return channels.begin(channel, name, data, bytes);
  }
  Status waitForMessage(uint64_t message) override {
    return channels.wait(message);
  }
  bool isMessageOver(uint64_t message) override {
    return progress.isDone(message);
  }
  bool hasFailed() const override { return !hasEnded && progress.hasFailed(); }
  uint64_t sentBytes() const override { return sent.load(); }
  void abort(int code) override;
  Status finish() override;
  Status call(const std::function<Status(Communicator &)> &work);

  /// Called on the thread when a collective is over.
  void countSent();

private:
  void end(std::optional<int> abortCode);
  Status findGroup(const std::vector<MeshAxis> &mesh, uint32_t along,
                   unsigned turn, Communicator *&group);

  const RankOptions options;
  int rankHere = 0, rankCount = 1;
  std::atomic<uint64_t> sent{0};
  bool hasEnded = false;
  // The thread makes and uses these; they do not move.
  std::unique_ptr<Communicator> world;
  /// Groups, except of all ranks. Key: stride of the axis's ranks, their count,
  /// and the index among the groups of the same ranks.
  std::map<std::tuple<int, int, unsigned>, std::unique_ptr<Communicator>>
      groups;
  mutable Progress progress;
  Channels channels{progress, [this] { countSent(); }};
};

} // namespace

//===----------------------------------------------------------------------===//
// A collective, on the thread
//===----------------------------------------------------------------------===//

char *CollectiveJob::memory(const Exchange &exchange) const {
  if (exchange.memory == Exchange::Own)
    return work.get();
  return exchange.memory == Exchange::Input
             ? static_cast<char *>(const_cast<void *>(inputs[at]))
             : static_cast<char *>(outputs[at]);
}

Status CollectiveJob::beginMessage(Communicator &communicator) {
  const Exchange &exchange = exchanges[at];
  char *all = memory(exchange);
  char *to = all + exchange.inputTo * width;
  if (to != inputs[at] && exchange.inputElements)
    std::memcpy(to, inputs[at], exchange.inputElements * width);
  // Elements that no rank sends are zero.
  if (exchange.isShift && exchange.outputElements)
    std::memset(all + exchange.outputFrom * width, 0,
                exchange.outputElements * width);
  return exchange.isShift
             ? communicator.begin(exchange.name, exchange.program, type, all)
             : communicator.begin(exchange.request, type, all);
}

void CollectiveJob::endMessage() {
  const Exchange &exchange = exchanges[at];
  const char *from = memory(exchange) + exchange.outputFrom * width;
  if (from != outputs[at] && exchange.outputElements)
    std::memcpy(outputs[at], from, exchange.outputElements * width);
  ++at;
}

Status CollectiveJob::beginOnGpu(Communicator &communicator) const {
  std::vector<Communicator::DeviceMessage> messages;
  messages.reserve(exchanges.size());
  for (size_t i = 0; i < exchanges.size(); ++i)
    messages.push_back({exchanges[i].request, inputs[i], outputs[i]});
  return communicator.begin(std::move(messages), type, ready, done);
}

Status CollectiveJob::begin(Communicator &communicator) {
  at = 0;
  return isOnGpu ? beginOnGpu(communicator) : beginMessage(communicator);
}

Status CollectiveJob::advance(Communicator &communicator, int64_t nanoseconds,
                              bool &isOver) {
  Status status = communicator.advance(nanoseconds, isOver);
  if (!status.ok() || !isOver)
    return status;
  if (!isOnGpu)
    endMessage();
  if (!isOnGpu && at < exchanges.size()) {
    isOver = false;
    return beginMessage(communicator);
  }
  owner->countSent();
  return status;
}

bool CollectiveJob::isLaunched(const Communicator &communicator) const {
  return (isOnGpu || at + 1 == exchanges.size()) && communicator.isLaunched();
}

//===----------------------------------------------------------------------===//
// The ranks
//===----------------------------------------------------------------------===//

Status RankThread::open() {
  return progress.call([this] {
    if (options.hub)
      options.hub->makeCurrent();
    Status status =
        Communicator::open(*options.engine, options.rank, options.size,
                           options.communication, world);
    if (status.ok()) {
      rankHere = world->rank();
      rankCount = world->size();
    }
    return status;
  });
}

/// Sums over all groups.
void RankThread::countSent() {
  uint64_t bytes = world->counters().sent_bytes;
  for (const auto &[which, group] : groups)
    if (group)
      bytes += group->counters().sent_bytes;
  sent = bytes + channels.sentBytes();
}

void RankThread::end(std::optional<int> abortCode) {
  progress.end([&] {
    if (world && abortCode)
      world->abort(*abortCode);
    // Groups must end before their parent.
    channels.close();
    groups.clear();
    world.reset();
  });
}

void RankThread::abort(int code) {
  progress.giveUp();
  end(code);
  hasEnded = true;
}

Status RankThread::call(const std::function<Status(Communicator &)> &work) {
  return progress.call([&] {
    Status status = work(*world);
    // After an abort there are no counters.
    if (status.ok())
      countSent();
    return status;
  });
}

Status RankThread::finish() {
  return call([](Communicator &all) { return all.finish(); });
}

Status RankThread::findGroup(const std::vector<MeshAxis> &mesh, uint32_t along,
                             unsigned turn, Communicator *&group) {
  const unsigned which = turn % options.groups;
  int distance = 1;
  for (size_t a = mesh.size(); a-- > along + 1;)
    distance *= static_cast<int>(mesh[a].size);
  const MeshAxis &axis = mesh[along];
  const auto count = static_cast<int>(axis.size);
  group = world.get();
  if (count == rankCount && which == 0)
    return Status::success();
  if (auto known = groups.find({distance, count, which});
      known != groups.end()) {
    group = known->second.get();
    return Status::success();
  }
  // The color includes the number of groups, so that ranks with another number
  // do not join.
  const int first = rankHere - rankHere / distance % count * distance;
  const int color =
      first + rankCount * static_cast<int>(options.groups * mostGroups + which);
  std::string name = "of '" + axis.name + "'";
  if (options.groups > 1)
    name += ", " + std::to_string(which + 1) + " of " +
            std::to_string(options.groups);
  return this->call([&](Communicator &all) {
    std::unique_ptr<Communicator> made;
    Status status = all.split(color, name, made);
    if (status.ok() && made->size() != count)
      status =
          Status::error(MLC_USAGE, "rank " + std::to_string(rankHere) +
                                       ": not all ranks make groups " + name +
                                       "; give all the same number of groups");
    group = made.get();
    if (status.ok())
      groups[{distance, count, which}] = std::move(made);
    return status;
  });
}

Status RankThread::prepare(const std::vector<MeshAxis> &mesh,
                           const CollectiveCall &call,
                           std::unique_ptr<Prepared> &prepared) {
  auto job = std::make_unique<CollectiveJob>();
  job->owner = this;
  // Bools are moved as bytes.
  job->type =
      call.type == DType::Bool ? MLC_U8 : static_cast<mlc_dtype>(call.type);
  job->width = byteSize(call.type);
  Status status =
      makeExchanges(call, static_cast<int>(mesh[call.axis].size),
                    static_cast<int>(coordinatesOf(mesh, rankHere)[call.axis]),
                    job->exchanges);
  if (status.ok())
    status = findGroup(mesh, call.axis, call.turn, job->group);
  if (!status.ok())
    return status;
  int64_t most = 0;
  for (const Exchange &exchange : job->exchanges)
    most = std::max(most, exchange.workElements);
  if (most) {
    job->work.reset(new (std::nothrow) char[most * job->width]);
    if (!job->work)
      return Status::error(MLC_RESOURCES, "out of memory for " +
                                              std::to_string(most) +
                                              " elements that ranks exchange");
  }
  job->canBeOnGpu = gpu() >= 0;
  for (const Exchange &exchange : job->exchanges)
    job->canBeOnGpu &=
        !exchange.isShift && exchange.request.algorithm == Algorithm::Own;
  prepared = std::move(job);
  return status;
}

void RankThread::start(Prepared &prepared, const void *const *inputs,
                       void *const *outputs) {
  auto &job = static_cast<CollectiveJob &>(prepared);
  job.inputs = inputs;
  job.outputs = outputs;
  job.isOnGpu = false;
  job.ticket = progress.start(*job.group, job);
}

void RankThread::startOnGpu(Prepared &prepared, const void *const *inputs,
                            void *const *outputs, void *ready, void *done) {
  auto &job = static_cast<CollectiveJob &>(prepared);
  job.inputs = inputs;
  job.outputs = outputs;
  job.isOnGpu = true;
  job.ready = ready;
  job.done = done;
  job.ticket = progress.start(*job.group, job);
}

Status RankThread::waitUntilQueued(Prepared &prepared) {
  auto &job = static_cast<CollectiveJob &>(prepared);
  return progress.waitUntilLaunched(job.ticket);
}

Status RankThread::wait(Prepared &prepared) {
  auto &job = static_cast<CollectiveJob &>(prepared);
  return progress.wait(std::exchange(job.ticket, 0));
}

Status RankThread::openGroups(const std::vector<MeshAxis> &mesh,
                              uint32_t axis) {
  Status status;
  Communicator *group;
  for (unsigned turn = 0; status.ok() && turn < options.groups; ++turn)
    status = findGroup(mesh, axis, turn, group);
  return status;
}

Status RankThread::openChannels(const std::vector<Channel> &wanted) {
  return call([&](Communicator &all) { return channels.open(wanted, all); });
}

//===----------------------------------------------------------------------===//
// Opening them
//===----------------------------------------------------------------------===//

Status chooseGpu(RankOptions &options) {
  const char *name = options.device.c_str();
  if (!options.engine->stage || std::strncmp(name, "cuda", 4) != 0 ||
      !isCudaName(name))
    return Status::success();
  const bool isOpen = options.device == "cuda";
  const std::string known =
      isOpen ? "cuda:" + std::to_string(std::max(options.localRank, 0))
             : options.device;
  Device *device = nullptr;
  Status status = findDevice(known.c_str(), device);
  if (status.ok())
    options.communication.device = device->gpu();
  else if (isOpen && options.localRank > 0)
    status.message = "LOCAL_RANK is " + std::to_string(options.localRank) +
                     ", and " + status.message +
                     "; start fewer ranks on a machine, or give each its "
                     "device cuda:N";
  return status;
}

Status onRankThread(Ranks &ranks,
                    const std::function<Status(Communicator &)> &work) {
  return static_cast<RankThread &>(ranks).call(work);
}

Status checkGroups(uint64_t groups) {
  return groups >= 1 && groups <= mostGroups
             ? Status::success()
             : Status::error(MLC_USAGE, std::to_string(groups) +
                                            " groups of ranks; give 1 to " +
                                            std::to_string(mostGroups));
}

Status openRanks(const RankOptions &options, std::shared_ptr<Ranks> &ranks) {
  Status status = checkGroups(options.groups);
  if (!status.ok())
    return status;
  auto thread = std::make_shared<RankThread>(options);
  status = thread->open();
  if (status.ok())
    ranks = std::move(thread);
  return status;
}

Status findEngine(const std::string &name, const World &world,
                  const std::string &folder, RankOptions &options) {
  options.rank = world.rank;
  options.size = world.size;
  options.localRank = world.localRank;
  Status status =
      loadEngine(name.empty() ? world.engine() : name, folder, options.engine);
  return status.ok() ? chooseGpu(options) : status;
}

Status openThreads(uint64_t count, RankOptions options,
                   std::vector<std::shared_ptr<Ranks>> &ranks) {
  if (count < 1 || count > 256)
    return Status::error(MLC_USAGE, std::to_string(count) +
                                        " ranks; the engine inproc takes 1 to "
                                        "256");
  options.engine = &inprocEngine();
  options.size = static_cast<int>(count);
  options.hub = std::make_shared<InprocHub>(options.size);
  for (options.rank = 0; options.rank < options.size; ++options.rank) {
    ranks.emplace_back();
    if (Status status = openRanks(options, ranks.back()); !status.ok())
      return status;
  }
  return Status::success();
}

} // namespace mlc::runtime::transport
