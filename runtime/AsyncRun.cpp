//===- AsyncRun.cpp - A run on a thread of its own ------------------------===//

#include "runtime/AsyncRun.h"
#include "runtime/Session.h"

#include <new>
#include <signal.h>
#include <system_error>

namespace mlc::runtime {

AsyncRun::~AsyncRun() {
  if (!thread.joinable())
    return;
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopping = true;
  }
  changed.notify_all();
  thread.join();
}

void AsyncRun::start(Session &toRun) {
  if (!thread.joinable()) {
    // Block signals here: they belong to the user's threads.
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    try {
      thread = std::thread([this] { loop(); });
    } catch (...) {
      pthread_sigmask(SIG_SETMASK, &old, nullptr);
      throw;
    }
    pthread_sigmask(SIG_SETMASK, &old, nullptr);
  }
  {
    std::lock_guard<std::mutex> lock(mutex);
    running.store(true, std::memory_order_release);
    session = &toRun;
    pending = true;
  }
  changed.notify_all();
}

Status AsyncRun::wait() {
  if (!pending)
    return Status::success();
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [&] { return !isRunning(); });
  pending = false;
  return std::move(result);
}

void AsyncRun::loop() {
  std::unique_lock<std::mutex> lock(mutex);
  for (;;) {
    changed.wait(lock, [&] { return session || stopping; });
    if (!session)
      return;
    Session *toRun = session;
    session = nullptr;
    lock.unlock();
    Status status;
    try {
      status = toRun->run();
    } catch (const std::bad_alloc &) {
      status = Status::error(MLC_RESOURCES, "out of memory");
    } catch (const std::system_error &e) {
      status = Status::error(MLC_RESOURCES, e.what());
    } catch (const std::exception &e) {
      status = Status::error(MLC_INTERNAL, e.what());
    }
    lock.lock();
    result = std::move(status);
    running.store(false, std::memory_order_release);
    changed.notify_all();
  }
}

} // namespace mlc::runtime
