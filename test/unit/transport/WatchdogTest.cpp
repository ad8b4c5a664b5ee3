//===- WatchdogTest.cpp - A call that does not return is noticed ----------===//

#include "runtime/transport/Watchdog.h"

#include <catch2/catch.hpp>

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
  dog.arm(10ms, [] { return std::string("the engine does not return"); });
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
  dog.arm(10min, [] { return std::string(); });
  dog.feed();
  std::this_thread::sleep_for(150ms);
  dog.disarm();
  CHECK(barks == 0);
}
