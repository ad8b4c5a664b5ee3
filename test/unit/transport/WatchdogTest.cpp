//===- WatchdogTest.cpp - A call that does not return is noticed ----------===//

#include "runtime/transport/Watchdog.h"

#include <catch2/catch.hpp>

#include <atomic>

using namespace mlc::runtime::transport;
using namespace std::chrono_literals;

static std::atomic<int> barks{0};
static std::mutex mutex;
static std::string last;

static void bark(const std::string &text) {
  std::lock_guard<std::mutex> lock(mutex);
  last = text;
  ++barks;
}

TEST_CASE("a watchdog that is not fed barks once", "[watchdog]") {
  barks = 0;
  Watchdog dog(bark);
  dog.arm(&dog, 10ms, [] { return std::string("the engine does not return"); });
  while (!barks)
    std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(300ms);
  CHECK(barks == 1);
  std::lock_guard<std::mutex> lock(mutex);
  CHECK(last == "the engine does not return");
}

TEST_CASE("one that is fed or disarmed does not", "[watchdog]") {
  barks = 0;
  Watchdog dog(bark);
  dog.arm(&dog, 10min, [] { return std::string(); });
  dog.feed(&dog);
  std::this_thread::sleep_for(150ms);
  dog.disarm(&dog);
  CHECK(barks == 0);
}

TEST_CASE("of several that are guarded each has to feed it", "[watchdog]") {
  barks = 0;
  Watchdog dog(bark);
  int first = 0, second = 0;
  dog.arm(&first, 10min, [] { return std::string("first"); });
  dog.arm(&second, 10ms, [] { return std::string("second"); });
  dog.feed(&first);
  while (!barks)
    std::this_thread::sleep_for(1ms);
  std::lock_guard<std::mutex> lock(mutex);
  CHECK(last == "second");
}
