//===- Watchdog.cpp - Ends calls that hang --------------------------------===//

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

void Watchdog::arm(const void *owner, Clock::duration time,
                   std::function<std::string()> text) {
  std::lock_guard<std::mutex> lock(mutex);
  guards[owner] = {time, Clock::now() + time, std::move(text)};
}

void Watchdog::feed(const void *owner) {
  std::lock_guard<std::mutex> lock(mutex);
  if (auto guard = guards.find(owner); guard != guards.end())
    guard->second.end = Clock::now() + guard->second.time;
}

void Watchdog::disarm(const void *owner) {
  std::lock_guard<std::mutex> lock(mutex);
  guards.erase(owner);
}

void Watchdog::disarmAll() {
  std::lock_guard<std::mutex> lock(mutex);
  guards.clear();
}

void Watchdog::run() {
  std::unique_lock<std::mutex> lock(mutex);
  while (!changed.wait_for(lock, std::chrono::milliseconds(100),
                           [this] { return stopping; })) {
    const Clock::time_point now = Clock::now();
    auto late = guards.begin();
    while (late != guards.end() && now < late->second.end)
      ++late;
    if (late == guards.end())
      continue;
    // Making the text may take a while, in which the call may return.
    std::string what = late->second.text();
    guards.clear();
    lock.unlock();
    bark(what);
    lock.lock();
  }
}

} // namespace mlc::runtime::transport
