//===- RankThread.cpp - Collectives beside a session's steps --------------===//

#include "runtime/transport/RankThread.h"
#include "runtime/CudaDevices.h"
#include "runtime/transport/Exchange.h"

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <new>
#include <thread>

namespace mlc::runtime::transport {

namespace {

/// What the thread does, in turn. `state` and `status` are under its lock.
struct Job : Ranks::Prepared {
  enum State : uint8_t { Idle, Queued, Done };
  State state = Idle;
  /// Whether what waits for its event has its results.
  bool queued = false;
  Status status;
  Job *next = nullptr;

  /// Sets `queued`; for run(), which is without the lock.
  std::function<void()> tellQueued;

  virtual Status run(Communicator &world) = 0;
};

/// A prepared collective.
struct CollectiveJob : Job {
  mlc_dtype type = MLC_F32;
  size_t width = 0;
  std::vector<Exchange> exchanges;
  /// For those that work on memory of their own, one after another.
  std::unique_ptr<char[]> work;
  /// Null: all ranks.
  Communicator *group = nullptr;
  const void *const *inputs = nullptr;
  void *const *outputs = nullptr;
  /// On memory of the GPU, with these events.
  bool isOnGpu = false;
  void *ready = nullptr, *done = nullptr;

  Status run(Communicator &world) override;
  Status run(Communicator &communicator, const Exchange &exchange,
             const void *input, void *output) const;
  Status runOnGpu(Communicator &communicator) const;
};

/// Of axes with fewer ranks than there are, by the distance of their ranks and
/// how many they are. The thread alone adds to them.
using Groups = std::map<std::pair<int, int>, std::unique_ptr<Communicator>>;

/// Makes the groups of an axis, which all ranks do together.
struct GroupJob : Job {
  explicit GroupJob(Groups &groups) : groups(groups) {}

  Groups &groups;
  Groups::key_type shape;
  int color = 0;
  std::string name;

  Status run(Communicator &world) override {
    std::unique_ptr<Communicator> made;
    Status status = world.split(color, name, made);
    if (status.ok())
      groups.emplace(shape, std::move(made));
    return status;
  }
};

struct FinishJob : Job {
  Status run(Communicator &world) override { return world.finish(); }
};

struct CallJob : Job {
  const std::function<Status(Communicator &)> *work = nullptr;

  Status run(Communicator &world) override { return (*work)(world); }
};

class RankThread : public Ranks {
public:
  explicit RankThread(const RankOptions &options) : options(options) {}
  ~RankThread() override;

  /// Starts the thread, which opens the engine.
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
  bool hasFailed() const override { return failed.load(); }
  uint64_t sentBytes() const override { return sent.load(); }
  void abort(int code) override;
  Status finish() override;
  Status call(const std::function<Status(Communicator &)> &work);

private:
  void loop();
  void enqueue(Job &job);
  Status waitFor(Job &job);
  uint64_t countSent(const Communicator &world) const;
  void stop();
  Status findGroup(const std::vector<MeshAxis> &mesh, uint32_t axis,
                   Communicator *&group);

  const RankOptions options;
  int rankHere = 0, rankCount = 1;
  std::thread thread;
  std::mutex mutex;
  std::condition_variable changed;
  bool isOpen = false, stopping = false;
  Status opened;
  Job *first = nullptr, *last = nullptr;
  /// The first failure, after which nothing succeeds.
  Status failure;
  std::atomic<bool> failed{false};
  std::atomic<uint64_t> sent{0};
  Groups groups;
  /// With which abort() ends the ranks; under the lock.
  std::optional<int> abortCode;
};

} // namespace

Status CollectiveJob::run(Communicator &communicator, const Exchange &exchange,
                          const void *input, void *output) const {
  char *memory = exchange.memory == Exchange::Own ? work.get()
                 : exchange.memory == Exchange::Input
                     ? static_cast<char *>(const_cast<void *>(input))
                     : static_cast<char *>(output);
  char *to = memory + exchange.inputTo * width;
  if (to != input && exchange.inputElements)
    std::memcpy(to, input, exchange.inputElements * width);
  char *from = memory + exchange.outputFrom * width;
  // What nobody sends is zero.
  if (exchange.isShift && exchange.outputElements)
    std::memset(from, 0, exchange.outputElements * width);
  Status status =
      exchange.isShift
          ? communicator.run(exchange.name, exchange.program, type, memory)
          : communicator.run(exchange.request, type, memory);
  if (status.ok() && from != output && exchange.outputElements)
    std::memcpy(output, from, exchange.outputElements * width);
  return status;
}

Status CollectiveJob::runOnGpu(Communicator &communicator) const {
  constexpr int64_t patience = 1'000'000; // ns; news come at once
  std::vector<Communicator::DeviceMessage> messages;
  messages.reserve(exchanges.size());
  for (size_t i = 0; i < exchanges.size(); ++i)
    messages.push_back({exchanges[i].request, inputs[i], outputs[i]});
  Status status = communicator.begin(std::move(messages), type, ready, done);
  bool over = false, told = false;
  while (status.ok() && !over) {
    status = communicator.advance(patience, over);
    if (status.ok() && communicator.isQueued() && !told)
      tellQueued();
    told = communicator.isQueued();
  }
  return status;
}

Status CollectiveJob::run(Communicator &world) {
  if (isOnGpu)
    return runOnGpu(group ? *group : world);
  Status status;
  for (size_t i = 0; status.ok() && i < exchanges.size(); ++i)
    status = run(group ? *group : world, exchanges[i], inputs[i], outputs[i]);
  return status;
}

Status RankThread::open() {
  thread = std::thread([this] { loop(); });
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [&] { return isOpen; });
  return opened;
}

void RankThread::loop() {
  if (options.hub)
    options.hub->makeCurrent();
  std::unique_ptr<Communicator> communicator;
  Status status =
      Communicator::open(*options.engine, options.rank, options.size,
                         options.communication, communicator);
  std::unique_lock<std::mutex> lock(mutex);
  if (status.ok()) {
    rankHere = communicator->rank();
    rankCount = communicator->size();
  }
  opened = std::move(status);
  isOpen = true;
  changed.notify_all();
  for (;;) {
    changed.wait(lock, [&] { return first || stopping; });
    if (!first)
      break;
    Job *job = first;
    status = failure;
    lock.unlock();
    job->tellQueued = [this, job] {
      std::lock_guard<std::mutex> guard(mutex);
      job->queued = true;
      changed.notify_all();
    };
    if (status.ok())
      status = job->run(*communicator);
    // A job that ended all ranks has left no counters.
    if (communicator && status.ok())
      sent = countSent(*communicator);
    lock.lock();
    if (!status.ok() && failure.ok())
      failure = status;
    failed = !failure.ok();
    first = job->next;
    if (!first)
      last = nullptr;
    job->status = std::move(status);
    job->state = Job::Done;
    changed.notify_all();
  }
  const std::optional<int> code = abortCode;
  lock.unlock();
  if (communicator && code)
    communicator->abort(*code);
  // Before what they were split from.
  groups.clear();
}

/// In all groups.
uint64_t RankThread::countSent(const Communicator &world) const {
  uint64_t bytes = world.counters().sent_bytes;
  for (const auto &[shape, group] : groups)
    bytes += group->counters().sent_bytes;
  return bytes;
}

void RankThread::stop() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopping = true;
  }
  changed.notify_all();
  if (thread.joinable())
    thread.join();
}

RankThread::~RankThread() { stop(); }

void RankThread::abort(int code) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    abortCode = code;
  }
  stop();
  failed = false;
}

void RankThread::enqueue(Job &job) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    job.state = Job::Queued;
    job.queued = false;
    job.next = nullptr;
    (last ? last->next : first) = &job;
    last = &job;
  }
  changed.notify_all();
}

Status RankThread::waitFor(Job &job) {
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [&] { return job.state != Job::Queued; });
  job.state = Job::Idle;
  return std::exchange(job.status, Status::success());
}

Status RankThread::findGroup(const std::vector<MeshAxis> &mesh, uint32_t axis,
                             Communicator *&group) {
  int distance = 1;
  for (size_t a = mesh.size(); a-- > axis + 1;)
    distance *= static_cast<int>(mesh[a].size);
  const auto count = static_cast<int>(mesh[axis].size);
  group = nullptr;
  if (count == rankCount)
    return Status::success();
  const Groups::key_type shape(distance, count);
  auto known = groups.find(shape);
  if (known == groups.end()) {
    GroupJob job(groups);
    job.shape = shape;
    job.color = rankHere - rankHere / distance % count * distance;
    job.name = "of '" + mesh[axis].name + "'";
    enqueue(job);
    if (Status status = waitFor(job); !status.ok())
      return status;
    known = groups.find(shape);
  }
  group = known->second.get();
  return Status::success();
}

Status RankThread::prepare(const std::vector<MeshAxis> &mesh,
                           const CollectiveCall &call,
                           std::unique_ptr<Prepared> &prepared) {
  auto job = std::make_unique<CollectiveJob>();
  // Truth values are moved as bytes.
  job->type =
      call.type == DType::Bool ? MLC_U8 : static_cast<mlc_dtype>(call.type);
  job->width = byteSize(call.type);
  Status status =
      makeExchanges(call, static_cast<int>(mesh[call.axis].size),
                    static_cast<int>(coordinatesOf(mesh, rankHere)[call.axis]),
                    job->exchanges);
  if (status.ok())
    status = findGroup(mesh, call.axis, job->group);
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
  enqueue(job);
}

void RankThread::startOnGpu(Prepared &prepared, const void *const *inputs,
                            void *const *outputs, void *ready, void *done) {
  auto &job = static_cast<CollectiveJob &>(prepared);
  job.inputs = inputs;
  job.outputs = outputs;
  job.isOnGpu = true;
  job.ready = ready;
  job.done = done;
  enqueue(job);
}

Status RankThread::waitUntilQueued(Prepared &prepared) {
  auto &job = static_cast<CollectiveJob &>(prepared);
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [&] { return job.queued || job.state != Job::Queued; });
  return job.status;
}

Status RankThread::wait(Prepared &prepared) {
  return waitFor(static_cast<CollectiveJob &>(prepared));
}

Status RankThread::finish() {
  FinishJob job;
  enqueue(job);
  return waitFor(job);
}

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
                     "--device=cuda:N";
  return status;
}

Status RankThread::call(const std::function<Status(Communicator &)> &work) {
  CallJob job;
  job.work = &work;
  enqueue(job);
  return waitFor(job);
}

Status onRankThread(Ranks &ranks,
                    const std::function<Status(Communicator &)> &work) {
  return static_cast<RankThread &>(ranks).call(work);
}

Status openRanks(const RankOptions &options, std::shared_ptr<Ranks> &ranks) {
  auto thread = std::make_shared<RankThread>(options);
  Status status = thread->open();
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

Status openThreads(uint64_t count, const Communicator::Options &communication,
                   std::vector<std::shared_ptr<Ranks>> &ranks) {
  if (count < 1 || count > 256)
    return Status::error(MLC_USAGE, std::to_string(count) +
                                        " ranks; the engine inproc takes 1 to "
                                        "256");
  RankOptions options;
  options.engine = &inprocEngine();
  options.size = static_cast<int>(count);
  options.communication = communication;
  options.hub = std::make_shared<InprocHub>(options.size);
  for (options.rank = 0; options.rank < options.size; ++options.rank) {
    ranks.emplace_back();
    if (Status status = openRanks(options, ranks.back()); !status.ok())
      return status;
  }
  return Status::success();
}

} // namespace mlc::runtime::transport
