//===- Watchdog.cpp - An end for calls that do not return -----------------===//

#include "runtime/transport/Watchdog.h"

namespace mlc::runtime::transport {

Watchdog::Watchdog(void (*bark)(const std::string &))
    : bark(bark), thread([this] { run(); }) {}

Watchdog::~Watchdog() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopping = true;
  }
  changed.notify_all();
  thread.join();
}

void Watchdog::arm(Clock::duration duration,
                   std::function<std::string()> what) {
  std::lock_guard<std::mutex> lock(mutex);
  time = duration;
  text = std::move(what);
  feed();
  armed = true;
}

void Watchdog::disarm() {
  std::lock_guard<std::mutex> lock(mutex);
  armed = false;
}

void Watchdog::run() {
  std::unique_lock<std::mutex> lock(mutex);
  while (!changed.wait_for(lock, std::chrono::milliseconds(100),
                           [this] { return stopping; })) {
    if (!armed || Clock::now().time_since_epoch().count() < end)
      continue;
    armed = false;
    // What it says may take a while, in which the call may return.
    std::string what = text();
    lock.unlock();
    bark(what);
    lock.lock();
  }
}

} // namespace mlc::runtime::transport
