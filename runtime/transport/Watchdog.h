//===- Watchdog.h - Ends calls that hang ------------------------*- C++ -*-===//
//
// An engine's function may hang despite its interface, for instance if a
// stopped rank holds a lock in shared memory. A thread detects that.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_TRANSPORT_WATCHDOG_H
#define MLC_RUNTIME_TRANSPORT_WATCHDOG_H

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace mlc::runtime::transport {

class Watchdog {
public:
  using Clock = std::chrono::steady_clock;

  /// `bark` is called once, on the watchdog's thread, and must end the process.
  explicit Watchdog(void (*bark)(const std::string &text));
  ~Watchdog();

  /// From now on each owner that armed it must call feed() at least every
  /// `time`. `text`, called on the watchdog's thread, says what hung.
  void arm(const void *owner, Clock::duration time,
           std::function<std::string()> text);
  void feed(const void *owner);
  void disarm(const void *owner);
  /// Disarms all owners.
  void disarmAll();

private:
  struct Guard {
    Clock::duration time{};
    Clock::time_point end;
    std::function<std::string()> text;
  };
  void run();

  void (*bark)(const std::string &);
  std::mutex mutex;
  std::condition_variable changed;
  bool stopping = false;
  std::map<const void *, Guard> guards;
  std::thread thread;
};

} // namespace mlc::runtime::transport

#endif // MLC_RUNTIME_TRANSPORT_WATCHDOG_H
