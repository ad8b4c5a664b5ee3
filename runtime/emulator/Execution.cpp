//===- Execution.cpp - Blocks, warps and threads take turns ---------------===//

#include "runtime/emulator/Execution.h"
#include "runtime/emulator/Arena.h"
#include "runtime/emulator/Counters.h"
#include "runtime/emulator/Options.h"
#include "runtime/emulator/Trap.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <tuple>
#include <utility>

namespace mlc::emulator {

Execution execution;

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

/// Calls with `count` words. All parameters are integers or pointers, and extra
/// arguments do no harm, so a few instances serve all numbers of parameters.
template <size_t... i>
static void callWith(void *function, const uint64_t *words,
                     std::index_sequence<i...>) {
  using Kernel = void (*)(decltype(uint64_t(i))...);
  reinterpret_cast<Kernel>(function)(words[i]...);
}

static void callKernel(const Launch &launch) {
  const uint64_t *words = launch.words.data();
  void *function = launch.function;
  switch (launch.words.size()) {
  case 8:
    return callWith(function, words, std::make_index_sequence<8>());
  case 32:
    return callWith(function, words, std::make_index_sequence<32>());
  case 128:
    return callWith(function, words, std::make_index_sequence<128>());
  default:
    return callWith(function, words, std::make_index_sequence<maxWords>());
  }
}

void Execution::threadMain() {
  execution.fibers.entered();
  callKernel(*execution.launch);
  execution.wait(Wait::Done, nullptr);
}

void Execution::wait(Wait what, void *at) {
  Thread &thread = current();
  thread.wait = what;
  thread.at = at;
  fibers.leave(runningStack);
}

std::string Execution::describeStack(unsigned stack) const {
  for (unsigned i = 0; i < threadCount; ++i)
    if (threads[i].stack == stack)
      return "a variable of thread " + std::to_string(i);
  return "a variable of a thread that has ended";
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

uint64_t Execution::random() {
  // splitmix64
  uint64_t z = randomState += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

void Execution::shuffleOrder(std::vector<unsigned> &numbers) {
  if (seed)
    for (size_t i = numbers.size(); i > 1; --i)
      std::swap(numbers[i - 1], numbers[random() % i]);
}

void Execution::run(const Launch &given) {
  Launch padded = given;
  size_t count = given.words.size();
  for (size_t i = 0; i < padded.maps.size(); ++i)
    padded.words[i] = reinterpret_cast<uintptr_t>(&padded.maps[i]);
  padded.words.resize(count <= 8     ? 8
                      : count <= 32  ? 32
                      : count <= 128 ? 128
                                     : maxWords);
  launch = &padded;
  arena = given.arena;
  checks = checksOn() && given.isInstrumented;
  seed = randomState = orderSeed();
  startOrder(given);
  handovers.startLaunch();
  order.startLaunch();
  findings.clear();
  // Those of the launch before, if it may still run, stay for reports.
  if (!given.isDependent)
    blockStamps.clear();
  stopped = false;
  freeStacks.resize(Fibers::count);
  std::iota(freeStacks.rbegin(), freeStacks.rend(), 0);
  threadCount = unsigned(launch->block.count());
  warpCount = (threadCount + 31) / 32;
  warpOrder.resize(warpCount);
  std::iota(warpOrder.begin(), warpOrder.end(), 0);
  laneOrder.resize(32);
  std::iota(laneOrder.begin(), laneOrder.end(), 0);

  counters.startLaunch(*launch, checks);

  Traps traps([] { return execution.running < Fibers::count; });
  if (sigsetjmp(Traps::escape, 1) == 0)
    runBlocks();
  else
    reportTrap();
  counters.endLaunch();
  running = Fibers::count;
  launch = nullptr;
  lastLaunches[given.stream] = {clock.launch, clock.next};
}

/// Begins the launch's stamps.
void Execution::startOrder(const Launch &given) {
  order.isActive = given.isOrdered || given.isDependent;
  order.isTracking = checks;
  order.priorFrom = order.priorTo = clock.next;
  auto before = lastLaunches.find(given.stream);
  if (given.isDependent && before != lastLaunches.end())
    std::tie(order.priorFrom, order.priorTo) = before->second;
  else
    splitGlobal.clear();
  clock.launch = clock.next;
}

void Execution::runBlocks() {
  // A permutation without memory: multiples of a number coprime to the count.
  uint64_t blocks = launch->grid.count(), first = 0, step = 1;
  if (seed && blocks > 1) {
    first = random() % blocks;
    do
      step = 1 + random() % (blocks - 1);
    while (std::gcd(step, blocks) != 1);
  }
  uint64_t number = first;
  for (uint64_t i = 0; i < blocks && !stopped; ++i) {
    runBlock(number);
    number = (number + step) % blocks;
  }
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

void Execution::startBlock(uint64_t number) {
  const Index &grid = launch->grid, &block = launch->block;
  blockIndex.x = unsigned(number % grid.x);
  blockIndex.y = unsigned(number / grid.x % grid.y);
  blockIndex.z = unsigned(number / grid.x / grid.y);
  // The device header promises a multiple of 128, and the swizzles of ordered
  // kernels may need more: give no more by chance.
  arena->resetShared(launch->sharedBytes, true, order.isActive ? 128 : 0);
  splitShared.clear();
  handovers.startBlock(clock);
  clock.block = clock.phase = clock.next;
  blockStamps.emplace_back(clock.block, number);
  for (unsigned warp = 0; warp < warpCount; ++warp)
    warpStamps[warp] = clock.next++;
  if (order.isActive) {
    order.startBlock(threadCount, clock);
    barriers.startBlock();
    copies.startBlock();
    products.startBlock(threadCount);
    registers.startBlock(threadCount);
  }
  for (unsigned i = 0; i < threadCount; ++i) {
    Thread &thread = threads[i];
    thread.wait = Wait::Nothing;
    thread.kind = 0;
    thread.transposed = false;
    thread.site = 0;
    thread.at = nullptr;
    thread.index = {i % block.x, i / block.x % block.y, i / block.x / block.y};
    thread.group = 0;
    thread.phase = 0;
    thread.copies.clear();
    thread.stack = Fibers::count;
  }
}

void Execution::runBlock(uint64_t number) {
  startBlock(number);
  if (counting)
    counters.startBlock();
  auto isDone = [](const Thread &t) { return t.wait == Wait::Done; };
  for (;;) {
    bool moved = false;
    shuffleOrder(warpOrder);
    for (unsigned warp : warpOrder) {
      moved |= runWarp(warp);
      // Copies are made at any time, and at the latest when all wait.
      if (!stopped && copies.areUnderWay() && random() % 4 == 0) {
        copies.runOne();
        moved = true;
      }
      if (stopped)
        return;
    }
    if (std::all_of(threads.begin(), threads.begin() + threadCount, isDone))
      return endBlock();
    if (passBarrier() || moved)
      continue;
    if (copies.areUnderWay()) {
      copies.runOne();
      if (stopped)
        return;
      continue;
    }
    return order.isActive && waitsAlone() ? reportDeadlock()
                                          : reportDivergence();
  }
}

/// Asynchronous work must not outlive the block that started it.
void Execution::endBlock() {
  if (!order.isActive)
    return;
  copies.endBlock();
  barriers.endBlock();
  products.endBlock();
  registers.endBlock();
}

bool Execution::mayGoOn(const Thread &thread) const {
  switch (thread.wait) {
  case Wait::Phase:
    return barriers.isComplete(thread.barrier, thread.phase);
  case Wait::Named:
    return barriers.isPassed(int(thread.barrier), uint64_t(thread.phase));
  case Wait::Products:
    return products.areIssued(unsigned(&thread - threads.data()), thread.phase);
  default:
    return thread.wait == Wait::Nothing;
  }
}

void Execution::resume(Thread &thread, uint64_t stamp, unsigned number) {
  if (thread.stack == Fibers::count) {
    thread.stack = freeStacks.back();
    freeStacks.pop_back();
    fibers.prepare(thread.stack, threadMain);
  }
  running = number;
  runningStack = thread.stack;
  thread.wait = Wait::Nothing;
  clock.me = makeWho(order.isActive ? order.stamp(number) : stamp, number);
  fibers.enter(thread.stack);
  if (thread.wait == Wait::Done) {
    freeStacks.push_back(thread.stack);
    thread.stack = Fibers::count;
  }
}

/// Runs the warp's threads as far as possible without other warps; whether any
/// advanced.
bool Execution::runWarp(unsigned warp) {
  unsigned first = warp * 32, end = std::min(first + 32, threadCount);
  bool moved = false;
  for (;;) {
    bool any = false;
    shuffleOrder(laneOrder);
    for (unsigned lane : laneOrder) {
      unsigned i = first + lane;
      if (i >= end || !mayGoOn(threads[i]))
        continue;
      any = true;
      resume(threads[i], warpStamps[warp], i);
      if (stopped)
        return true;
    }
    running = Fibers::count;
    moved |= any;
    if (!any || !completeWarp(first, end))
      return moved;
    if (stopped)
      return true;
  }
}

/// Performs the warp's operation if all its threads wait for the same one.
bool Execution::completeWarp(unsigned first, unsigned end) {
  Wait what = threads[first].wait;
  for (unsigned i = first; i < end; ++i)
    if (!waitAlike(threads[i], threads[first]))
      return false;
  if (counting)
    countWarp(first, end);
  switch (what) {
  case Wait::Nothing:
  case Wait::Block:
  case Wait::Phase:
  case Wait::Named:
  case Wait::Products:
  case Wait::Done:
    return false;
  case Wait::Warp:
    warpStamps[first / 32] = clock.next++;
    if (order.isActive)
      order.synchronize(first, end, clock);
    break;
  case Wait::Shuffle:
    shuffle(first, end);
    break;
  case Wait::Load:
    loadMatrices(first, end);
    break;
  case Wait::Store:
    exchangeRows(first, end);
    break;
  case Wait::Multiply:
    multiply(first, end);
    break;
  }
  for (unsigned i = first; i < end; ++i) {
    threads[i].wait = Wait::Nothing;
    threads[i].kind = 0;
    threads[i].transposed = false;
    threads[i].site = 0;
  }
  return true;
}

/// Counts what a warp did that has converged, and its next operation.
void Execution::countWarp(unsigned first, unsigned end) {
  counters.converge(first, end);
  const Thread &thread = threads[first];
  if (!thread.at)
    return; // it has ended
  Counts &counts = counters.at(place(thread.at));
  if (thread.wait == Wait::Warp)
    ++counts.warpBarriers;
  if (thread.wait == Wait::Shuffle)
    ++counts.shuffles;
  if (thread.wait == Wait::Multiply) {
    unsigned kind = thread.kind - 1;
    ++counts.products;
    counts.multiplyAdds += 16 * 8 * (kind == 2 ? 8 : kind >= 4 ? 32 : 16);
  }
}

/// Passes the block's barrier if all threads wait at the same one.
bool Execution::passBarrier() {
  for (unsigned i = 0; i < threadCount; ++i)
    if (threads[i].wait != Wait::Block || threads[i].site != threads[0].site)
      return false;
  if (counting)
    ++counters.at(place(threads[0].at)).barriers;
  clock.phase = clock.next;
  handovers.passBarrier(clock);
  for (unsigned warp = 0; warp < warpCount; ++warp)
    warpStamps[warp] = clock.next++;
  if (order.isActive)
    order.synchronize(0, threadCount, clock);
  for (unsigned i = 0; i < threadCount; ++i) {
    threads[i].wait = Wait::Nothing;
    threads[i].site = 0;
  }
  return true;
}

} // namespace mlc::emulator
