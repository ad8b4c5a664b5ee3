//===- Progress.cpp - Collectives that go on beside the caller ------------===//

#include "runtime/transport/Progress.h"

namespace mlc::runtime::transport {

/// How long to wait for one of several groups before looking at the next.
static constexpr int64_t patience = 50'000; // ns

Progress::Progress() : thread([this] { run(); }) {}

Progress::~Progress() { stop(); }

void Progress::stop() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopping = true;
  }
  changed.notify_all();
  if (thread.joinable())
    thread.join();
}

void Progress::abort(Communicator &communicator, int code) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (failure.ok())
      failure = Status::error(MLC_INTERRUPTED, "the ranks are to end");
  }
  stop();
  communicator.abort(code);
}

Progress::Ticket Progress::add(Communicator &group, Task task) {
  std::unique_lock<std::mutex> lock(mutex);
  task.ticket = next++;
  Queue *queue = nullptr;
  for (Queue &one : queues)
    if (one.group == &group)
      queue = &one;
  if (!queue) {
    queues.push_back({&group, {}});
    queue = &queues.back();
  }
  const Ticket ticket = task.ticket;
  if (failure.ok()) {
    open.insert(ticket);
    queue->tasks.push_back(std::move(task));
  }
  lock.unlock();
  changed.notify_all();
  return ticket;
}

Progress::Ticket Progress::start(Communicator &group, const Request &request,
                                 mlc_dtype type, void *data) {
  return add(group, {0, "", request, {}, type, data});
}

Progress::Ticket Progress::start(Communicator &group, const std::string &name,
                                 Program program, mlc_dtype type, void *data) {
  return add(group, {0, name, {}, std::move(program), type, data});
}

bool Progress::over(Ticket ticket) const {
  return !failure.ok() || !open.count(ticket);
}

Status Progress::wait(Ticket ticket) {
  std::unique_lock<std::mutex> lock(mutex);
  done.wait(lock, [&] { return over(ticket); });
  return failure;
}

bool Progress::isDone(Ticket ticket) {
  std::lock_guard<std::mutex> lock(mutex);
  return over(ticket);
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

/// Without the lock.
Status Progress::advance(Communicator &group, Task &task, int64_t nanoseconds,
                         bool &isOver) {
  if (!task.begun) {
    Status status = task.name.empty()
                        ? group.begin(task.request, task.type, task.data)
                        : group.begin(task.name, std::move(task.program),
                                      task.type, task.data);
    if (!status.ok())
      return status;
    task.begun = true;
  }
  return group.advance(nanoseconds, isOver);
}

void Progress::run() {
  std::unique_lock<std::mutex> lock(mutex);
  size_t turn = 0;
  bool moved = true;
  for (;;) {
    changed.wait(lock, [&] { return stopping || !open.empty(); });
    if (!failure.ok() || open.empty())
      return;
    // The next in turn that has something to do.
    do
      turn = (turn + 1) % queues.size();
    while (queues[turn].tasks.empty());
    Queue &queue = queues[turn];
    Task &task = queue.tasks.front();
    bool isOver = false;
    lock.unlock();
    Status status = advance(*queue.group, task, moved ? 0 : patience, isOver);
    lock.lock();
    moved = queue.group->hasMoved();
    if (isOver) {
      open.erase(task.ticket);
      queue.tasks.pop_front();
    }
    if (!status.ok()) {
      for (Queue &one : queues)
        if (!one.tasks.empty() && one.tasks.front().begun)
          one.group->giveUp();
      failure = std::move(status);
      open.clear();
    }
    if (isOver || !failure.ok())
      done.notify_all();
  }
}

} // namespace mlc::runtime::transport
