//===- Progress.cpp - Collectives that overlap the caller -----------------===//

#include "runtime/transport/Progress.h"

namespace mlc::runtime::transport {

/// How long to wait for one of several groups before polling the next.
static constexpr int64_t patience = 50'000; // ns

namespace {

class OneRequest : public Progress::Work {
public:
  OneRequest(Request request, mlc_dtype type, void *data)
      : request(std::move(request)), type(type), data(data) {}
  Status begin(Communicator &group) override {
    return group.begin(request, type, data);
  }

private:
  const Request request;
  const mlc_dtype type;
  void *const data;
};

class OneProgram : public Progress::Work {
public:
  OneProgram(std::string name, Program program, mlc_dtype type, void *data)
      : name(std::move(name)), program(std::move(program)), type(type),
        data(data) {}
  Status begin(Communicator &group) override {
    return group.begin(name, std::move(program), type, data);
  }

private:
  const std::string name;
  Program program;
  const mlc_dtype type;
  void *const data;
};

} // namespace

Status Progress::Work::advance(Communicator &group, int64_t nanoseconds,
                               bool &done) {
  return group.advance(nanoseconds, done);
}

Progress::Progress(Order order) : order(order), thread([this] { run(); }) {}

Progress::~Progress() { end({}); }

void Progress::end(const std::function<void()> &atLast) {
  if (!thread.joinable())
    return;
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopping = true;
    last = atLast;
  }
  changed.notify_all();
  thread.join();
}

void Progress::giveUp() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (failure.ok())
      failure = Status::error(MLC_INTERRUPTED, "the ranks are to end");
  }
  done.notify_all();
}

void Progress::abort(Communicator &communicator, int code) {
  giveUp();
  end({});
  communicator.abort(code);
}

Progress::Ticket Progress::add(Communicator &group, Work &work,
                               std::unique_ptr<Work> owned) {
  std::unique_lock<std::mutex> lock(mutex);
  const Ticket ticket = next++;
  open.insert(ticket);
  if (!failure.ok())
    return ticket;
  Queue *queue = nullptr;
  for (Queue &one : queues)
    if (one.group == &group)
      queue = &one;
  if (!queue) {
    queues.push_back({&group, {}});
    queue = &queues.back();
  }
  unlaunched.insert(ticket);
  queue->tasks.push_back({ticket, &work, std::move(owned)});
  lock.unlock();
  changed.notify_all();
  return ticket;
}

Progress::Ticket Progress::start(Communicator &group, const Request &request,
                                 mlc_dtype type, void *data) {
  auto work = std::make_unique<OneRequest>(request, type, data);
  Work &one = *work;
  return add(group, one, std::move(work));
}

Progress::Ticket Progress::start(Communicator &group, const std::string &name,
                                 Program program, mlc_dtype type, void *data) {
  auto work =
      std::make_unique<OneProgram>(name, std::move(program), type, data);
  Work &one = *work;
  return add(group, one, std::move(work));
}

Progress::Ticket Progress::start(Communicator &group, Work &work) {
  return add(group, work, nullptr);
}

Status Progress::call(const std::function<Status()> &work) {
  std::unique_lock<std::mutex> lock(mutex);
  const Ticket ticket = next++;
  open.insert(ticket);
  if (failure.ok())
    calls.push_back({ticket, &work});
  lock.unlock();
  changed.notify_all();
  return wait(ticket);
}

bool Progress::over(Ticket ticket) const {
  return !failure.ok() || !open.count(ticket);
}

Status Progress::resultOf(Ticket ticket) const {
  return open.count(ticket) ? failure : Status::success();
}

Status Progress::wait(Ticket ticket) {
  std::unique_lock<std::mutex> lock(mutex);
  done.wait(lock, [&] { return over(ticket); });
  return resultOf(ticket);
}

Status Progress::waitUntilLaunched(Ticket ticket) {
  std::unique_lock<std::mutex> lock(mutex);
  done.wait(lock, [&] { return over(ticket) || !unlaunched.count(ticket); });
  return resultOf(ticket);
}

bool Progress::isDone(Ticket ticket) {
  std::lock_guard<std::mutex> lock(mutex);
  return over(ticket);
}

bool Progress::hasFailed() {
  std::lock_guard<std::mutex> lock(mutex);
  return !failure.ok();
}

Status Progress::waitForOne(const std::vector<Ticket> &tickets, size_t &which) {
  std::unique_lock<std::mutex> lock(mutex);
  done.wait(lock, [&] {
    for (which = 0; which < tickets.size(); ++which)
      if (over(tickets[which]))
        return true;
    return tickets.empty();
  });
  return failure;
}

Status Progress::waitForAll() {
  std::unique_lock<std::mutex> lock(mutex);
  done.wait(lock, [&] { return !failure.ok() || open.empty(); });
  return failure;
}

/// Requires the lock. Callers' memory is no longer touched.
void Progress::fail(Status status) {
  for (Queue &queue : queues) {
    if (!queue.tasks.empty() && queue.tasks.front().begun)
      queue.group->giveUp(status);
    queue.tasks.clear();
  }
  calls.clear();
  failure = std::move(status);
}

/// Whether the first task of a queue has begun, or may begin.
bool Progress::canGoOn(const Queue &queue) const {
  if (queue.tasks.empty())
    return false;
  const Task &task = queue.tasks.front();
  return task.begun ||
         ((calls.empty() || task.ticket < calls.front().ticket) &&
          (order == Order::OfEachGroup || task.ticket == *unlaunched.begin()));
}

/// Advances the next queue in turn that can go on; the oldest task always can.
void Progress::advanceOne(std::unique_lock<std::mutex> &lock) {
  do
    whose = (whose + 1) % queues.size();
  while (!canGoOn(queues[whose]));
  Queue &queue = queues[whose];
  Task &task = queue.tasks.front();
  Communicator &group = *queue.group;
  const int64_t time = moved               ? 0
                       : queues.size() > 1 ? patience
                                           : group.patience();
  bool isOver = false, isLaunched = false;
  Status status;
  lock.unlock();
  if (!task.begun)
    status = task.work->begin(group);
  if (status.ok()) {
    task.begun = true;
    status = task.work->advance(group, time, isOver);
    isLaunched = isOver || task.work->isLaunched(group);
  }
  moved = group.hasMoved();
  lock.lock();
  bool isNews = isLaunched && unlaunched.erase(task.ticket);
  if (isOver && status.ok()) {
    open.erase(task.ticket);
    queue.tasks.pop_front();
    isNews = true;
  }
  if (!status.ok() && failure.ok())
    fail(std::move(status));
  if (isNews || !failure.ok())
    done.notify_all();
}

/// Requires the lock and an open task or call.
void Progress::turn(std::unique_lock<std::mutex> &lock) {
  if (calls.empty() || *open.begin() != calls.front().ticket)
    return advanceOne(lock);
  const Call call = calls.front();
  lock.unlock();
  Status status = (*call.work)();
  lock.lock();
  if (status.ok() && failure.ok()) {
    open.erase(call.ticket);
    calls.pop_front();
  } else if (failure.ok()) {
    fail(std::move(status));
  }
  done.notify_all();
}

void Progress::run() {
  std::unique_lock<std::mutex> lock(mutex);
  for (;;) {
    changed.wait(lock,
                 [&] { return stopping || (failure.ok() && !open.empty()); });
    if (!failure.ok() || open.empty())
      break;
    turn(lock);
  }
  lock.unlock();
  if (last)
    last();
}

} // namespace mlc::runtime::transport
