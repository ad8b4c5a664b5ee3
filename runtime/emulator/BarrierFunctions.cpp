//===- BarrierFunctions.cpp - Mbarriers and named barriers ----------------===//

#include "runtime/emulator/Access.h"
#include "runtime/emulator/Arena.h"
#include "runtime/emulator/Barriers.h"
#include "runtime/emulator/Cuda.h"
#include "runtime/emulator/Execution.h"

#include <algorithm>
#include <cstring>

namespace mlc::emulator {

/// What an mbarrier's memory holds.
static uint64_t markOf(uintptr_t address) {
  return 0x9e3779b97f4a7c15 ^ (address * 0xff51afd7ed558ccd);
}

void Barriers::startBlock() {
  mbarriers.clear();
  nameds = {};
}

void Barriers::endBlock() const {
  for (const auto &[address, barrier] : mbarriers)
    if (barrier.copied > barrier.awaited)
      execution.report({Problem::Unfinished,
                        {execution.place(barrier.copyAt), barrier.copier, 0,
                         "started a copy to shared memory"},
                        {},
                        "phase " + std::to_string(barrier.copied) +
                            " of the mbarrier at " + arena->describe(address)});
}

void Barriers::init(uintptr_t address, unsigned arrivals, void *at) {
  if (!arena->isShared(address) || address % 8)
    execution.misuse(at, "makes an mbarrier",
                     "it must be at a multiple of 8 in shared memory: " +
                         arena->describe(address));
  if (!arrivals || arrivals > most)
    execution.misuse(at, "makes an mbarrier",
                     "a phase takes 1 to 1048575 arrivals, not " +
                         std::to_string(arrivals));
  if (execution.checks)
    checkAccess(address, 8, 8, true, at, execution.clock.me);
  uint64_t mark = markOf(address);
  if (mbarriers.count(address))
    execution.misuse(at, "makes an mbarrier",
                     "there is one already, which endBarrier() did not end: " +
                         arena->describe(address));
  std::memcpy(reinterpret_cast<void *>(address), &mark, sizeof(mark));
  Mbarrier &barrier = mbarriers[address];
  barrier.arrivals = barrier.missing = arrivals;
  barrier.maker = execution.running;
  barrier.made = execution.order.stamp(execution.running);
  barrier.madeAt = execution.place(at);
  barrier.running.reset(execution.order.components(), 0);
  barrier.last = barrier.running;
}

void Barriers::end(uintptr_t address, void *at) {
  use(address, at);
  mbarriers.erase(address);
}

void Barriers::fence(unsigned thread) {
  const std::vector<uint64_t> &seen = execution.order.view(thread).seen;
  for (auto &[address, barrier] : mbarriers)
    if (barrier.maker == thread || seen.empty() ||
        barrier.made < seen[Order::actorCount + barrier.maker])
      barrier.isFenced = true;
}

void Barriers::checkMark(uintptr_t address, const Mbarrier &barrier,
                         void *at) const {
  uint64_t mark;
  std::memcpy(&mark, reinterpret_cast<void *>(address), sizeof(mark));
  if (mark == markOf(address))
    return;
  Finding finding{
      Problem::Misuse,
      {execution.place(at), execution.running, 0, "uses an mbarrier"},
      {},
      "its memory was overwritten: " + arena->describe(address)};
  const Cell &cell = arena->cell(address);
  if (execution.checks && cell.writeAt && cell.writeAt != barrier.madeAt)
    finding.other = execution.sideOf(cell.write, cell.writeAt, true);
  execution.report(finding);
}

Mbarrier &Barriers::use(uintptr_t address, void *at) {
  auto found = mbarriers.find(address);
  if (found == mbarriers.end())
    execution.misuse(at, "uses an mbarrier",
                     "initBarrier() did not make one there: " +
                         arena->describe(address));
  Mbarrier &barrier = found->second;
  unsigned me = execution.running;
  if (execution.checks && barrier.maker != me &&
      barrier.made >=
          execution.order.view(me).seen[Order::actorCount + barrier.maker])
    execution.report({Problem::Race,
                      {execution.place(at), me, 0, "uses an mbarrier"},
                      {barrier.madeAt, barrier.maker, barrier.made, "made it"},
                      arena->describe(address)});
  checkMark(address, barrier, at);
  return barrier;
}

/// Ends the phase if all has arrived.
void Barriers::advance(Mbarrier &barrier) {
  if (barrier.missing || barrier.bytes)
    return;
  std::swap(barrier.running, barrier.last);
  barrier.running.reset(execution.order.components(), 0);
  barrier.missing = barrier.arrivals;
  ++barrier.phase;
}

void Barriers::arrive(uintptr_t address, unsigned bytes, void *at) {
  Mbarrier &barrier = use(address, at);
  // With no arrival missing, the phase waits for bytes alone.
  if (!barrier.missing)
    execution.misuse(at, "arrives at an mbarrier",
                     "all " + std::to_string(barrier.arrivals) +
                         " have arrived in phase " +
                         std::to_string(barrier.phase) + " already");
  barrier.bytes += bytes;
  if (barrier.bytes > most)
    execution.misuse(at, "arrives at an mbarrier",
                     "a phase expects at most 1048575 bytes, not " +
                         std::to_string(barrier.bytes));
  execution.order.release(execution.running, barrier.running, execution.clock);
  --barrier.missing;
  advance(barrier);
}

void Barriers::complete(uintptr_t address, int64_t phase, unsigned bytes,
                        unsigned thread, void *started, Who who) {
  auto refuse = [&](const std::string &what) {
    execution.report({Problem::Misuse,
                      {execution.place(started), thread, 0,
                       "started a copy whose bytes have arrived"},
                      {},
                      what});
  };
  auto found = mbarriers.find(address);
  if (found == mbarriers.end())
    return refuse("its mbarrier is no more");
  Mbarrier &barrier = found->second;
  checkMark(address, barrier, started);
  if (barrier.phase != phase)
    return refuse("phase " + std::to_string(phase) +
                  " of its mbarrier was complete before: too few bytes were "
                  "expected, or the copy was started too early");
  barrier.bytes -= bytes;
  barrier.copied = phase;
  barrier.copyAt = started;
  barrier.copier = thread;
  if (execution.checks)
    barrier.running.seen[Order::componentOf(who)] = stampOf(who) + 1;
  if (barrier.bytes < -most)
    return refuse("more than 1048575 bytes came that nobody expected");
  if (barrier.bytes < 0 && !barrier.missing)
    return refuse("phase " + std::to_string(phase) + " of its mbarrier got " +
                  std::to_string(-barrier.bytes) +
                  " bytes more than were expected");
  advance(barrier);
}

bool Barriers::isComplete(uintptr_t address, int64_t phase) const {
  auto found = mbarriers.find(address);
  return found == mbarriers.end() || found->second.phase != phase;
}

void Barriers::wait(uintptr_t address, int phase, void *at) {
  Mbarrier *barrier = &use(address, at);
  auto check = [&] {
    int64_t ahead = barrier->phase - phase;
    if (ahead != 0 && ahead != 1)
      execution.misuse(at, "waits for a phase of an mbarrier",
                       "it is in phase " + std::to_string(barrier->phase) +
                           ", and its parity does not tell phase " +
                           std::to_string(phase) + " from others");
  };
  check();
  if (barrier->phase == phase) {
    Thread &thread = execution.current();
    thread.barrier = address;
    thread.phase = phase;
    execution.wait(Wait::Phase, at);
    barrier = &use(address, at);
    check();
  }
  barrier->awaited = std::max<int64_t>(barrier->awaited, phase);
  execution.order.acquire(execution.running, barrier->last);
}

void Barriers::named(int id, unsigned threads, bool waits, void *at) {
  const char *does = waits ? "calls syncNamed" : "calls arriveNamed";
  if (id < 1 || id > 15 || !threads || threads % 32 || threads > 1024)
    execution.misuse(
        at, does,
        "a named barrier is one of 1 to 15, for whole warps, not " +
            std::to_string(id) + " for " + std::to_string(threads) +
            " threads");
  NamedBarrier &barrier = nameds[id];
  if (!barrier.threads) {
    barrier.threads = threads;
    barrier.arrived = 0;
    barrier.running.reset(execution.order.components(), 0);
  }
  if (barrier.threads != threads)
    execution.misuse(at, does,
                     "others use barrier " + std::to_string(id) + " for " +
                         std::to_string(barrier.threads) + " threads, not " +
                         std::to_string(threads));
  execution.order.release(execution.running, barrier.running, execution.clock);
  uint64_t use = barrier.uses;
  if (++barrier.arrived == threads) {
    std::swap(barrier.running, barrier.last);
    barrier.threads = 0;
    ++barrier.uses;
  }
  if (!waits)
    return;
  if (barrier.uses == use) {
    Thread &thread = execution.current();
    thread.barrier = uintptr_t(id);
    thread.phase = int64_t(use);
    execution.wait(Wait::Named, at);
  }
  execution.order.acquire(execution.running, barrier.last);
}

std::string Barriers::describe(uintptr_t address, int64_t phase) const {
  auto found = mbarriers.find(address);
  if (found == mbarriers.end())
    return "";
  const Mbarrier &barrier = found->second;
  return "for phase " + std::to_string(phase) + " of the mbarrier at " +
         arena->describe(address) + ", which is in phase " +
         std::to_string(barrier.phase) + " and lacks " +
         std::to_string(barrier.missing) + " of " +
         std::to_string(barrier.arrivals) + " arrivals and " +
         std::to_string(barrier.bytes) + " bytes";
}

std::string Barriers::describeNamed(int id) const {
  const NamedBarrier &barrier = nameds[id];
  return "at named barrier " + std::to_string(id) + ", where " +
         std::to_string(barrier.arrived) + " of " +
         std::to_string(barrier.threads) + " threads have arrived";
}

} // namespace mlc::emulator

//===----------------------------------------------------------------------===//
// Functions that kernels call
//===----------------------------------------------------------------------===//

using namespace mlc::emulator;

#define MLC_HERE __builtin_return_address(0)
static uintptr_t addressOf(const void *memory) {
  return reinterpret_cast<uintptr_t>(memory);
}

extern "C" {

MLC_EMULATOR_API void mlcEmulatorInitBarrier(uint64_t *barrier,
                                             unsigned arrivals) {
  execution.barriers.init(addressOf(barrier), arrivals, MLC_HERE);
}
MLC_EMULATOR_API void mlcEmulatorEndBarrier(uint64_t *barrier) {
  execution.barriers.end(addressOf(barrier), MLC_HERE);
}
MLC_EMULATOR_API void mlcEmulatorFenceBarrierInit() {
  execution.barriers.fence(execution.running);
}
MLC_EMULATOR_API void mlcEmulatorArrive(uint64_t *barrier, unsigned bytes) {
  execution.barriers.arrive(addressOf(barrier), bytes, MLC_HERE);
}
MLC_EMULATOR_API void mlcEmulatorWaitForPhase(uint64_t *barrier, int phase) {
  execution.barriers.wait(addressOf(barrier), phase, MLC_HERE);
}
MLC_EMULATOR_API void mlcEmulatorNamed(int id, int threads, bool waits) {
  execution.barriers.named(id, unsigned(threads), waits, MLC_HERE);
}
MLC_EMULATOR_API void mlcEmulatorFenceAsync() {
  execution.order.fence(execution.running, execution.clock);
  execution.barriers.fence(execution.running);
}
}
