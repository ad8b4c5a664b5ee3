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

void Execution::shuffleOrder(std::vector<unsigned> &order) {
  if (seed)
    for (size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[random() % i]);
}

void Execution::run(const Launch &given) {
  Launch padded = given;
  size_t count = given.words.size();
  padded.words.resize(count <= 8     ? 8
                      : count <= 32  ? 32
                      : count <= 128 ? 128
                                     : maxWords);
  launch = &padded;
  arena = given.arena;
  checks = checksOn() && given.isInstrumented;
  seed = randomState = orderSeed();
  clock.launch = clock.next;
  splitGlobal.clear();
  handovers.startLaunch();
  findings.clear();
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
  arena->resetShared(launch->sharedBytes, true);
  splitShared.clear();
  handovers.startBlock(clock);
  clock.block = clock.phase = clock.next;
  blockStamps.emplace_back(clock.block, number);
  for (unsigned warp = 0; warp < warpCount; ++warp)
    warpStamps[warp] = clock.next++;
  for (unsigned i = 0; i < threadCount; ++i) {
    Thread &thread = threads[i];
    thread.wait = Wait::Nothing;
    thread.kind = 0;
    thread.transposed = false;
    thread.site = 0;
    thread.at = nullptr;
    thread.index = {i % block.x, i / block.x % block.y, i / block.x / block.y};
    thread.group = 0;
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
      if (stopped)
        return;
    }
    if (std::all_of(threads.begin(), threads.begin() + threadCount, isDone))
      return;
    if (passBarrier() || moved)
      continue;
    return reportDivergence();
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
  clock.me = makeWho(stamp, number);
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
      if (i >= end || threads[i].wait != Wait::Nothing)
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
  case Wait::Done:
    return false;
  case Wait::Warp:
    warpStamps[first / 32] = clock.next++;
    break;
  case Wait::Shuffle:
    shuffle(first, end);
    break;
  case Wait::Load:
    loadMatrices(first, end);
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
  for (unsigned i = 0; i < threadCount; ++i) {
    threads[i].wait = Wait::Nothing;
    threads[i].site = 0;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

static const char *nameOf(Wait what) {
  switch (what) {
  case Wait::Nothing:
    return "runs";
  case Wait::Block:
    return "waits in syncBlock";
  case Wait::Warp:
    return "waits in syncWarp";
  case Wait::Shuffle:
    return "waits in a shuffle";
  case Wait::Load:
    return "waits in loadMatrices";
  case Wait::Multiply:
    return "waits in a multiplication of matrices";
  case Wait::Done:
    return "has ended";
  }
  return "";
}

void Execution::reportDivergence() {
  // A divergent warp is most informative; else take two threads of the block.
  unsigned a = 0, b = 0;
  auto differ = [&](unsigned i, unsigned j) {
    return !waitAlike(threads[i], threads[j]);
  };
  for (unsigned i = 1; i < threadCount && !b; ++i)
    if (i % 32 && differ(i, i - 1))
      a = i - 1, b = i;
  for (unsigned i = 1; i < threadCount && !b; ++i)
    if (differ(i, 0))
      b = i;
  if (threads[a].wait == Wait::Done)
    std::swap(a, b);
  auto side = [&](unsigned i) {
    Side side;
    if (threads[i].at)
      side.at = place(threads[i].at);
    side.thread = i;
    side.block = blockStamps.back().second;
    side.does = nameOf(threads[i].wait);
    return side;
  };
  running = Fibers::count;
  Finding finding{Problem::Divergence, side(a), side(b), ""};
  // If the compiler merged the calls, only the sites tell the lines.
  if (threads[a].wait == threads[b].wait && threads[a].site &&
      threads[a].site != threads[b].site) {
    auto [first, second] = std::minmax(threads[a].site, threads[b].site);
    finding.what = "two of lines " + std::to_string(first >> 12) + " and " +
                   std::to_string(second >> 12);
  }
  findings.push_back(finding);
  stopped = true;
}

void Execution::reportTrap() {
  const Traps::Trap &trap = Traps::last;
  Finding finding{};
  finding.problem =
      trap.signal == SIGFPE ? Problem::Division : Problem::OutOfBounds;
  finding.self.thread = running;
  finding.self.block = blockStamps.back().second;
  finding.self.does = trap.signal == SIGFPE ? "divides" : "accesses memory";
  // Places are after the instruction, as return addresses are.
  if (trap.at >= launch->moduleBase && trap.at < launch->moduleEnd)
    finding.self.at = uint32_t(trap.at - launch->moduleBase) + 1;
  if (fibers.isGuard(trap.address))
    finding.what = "its stack of 64 KiB is full";
  else if (trap.signal != SIGFPE)
    finding.what = arena->describe(trap.address);
  findings.push_back(std::move(finding));
}

uint64_t Execution::blockOf(uint64_t stamp) const {
  auto later = std::upper_bound(
      blockStamps.begin(), blockStamps.end(), stamp,
      [](uint64_t s, const auto &entry) { return s < entry.first; });
  return later == blockStamps.begin() ? 0 : std::prev(later)->second;
}

void Execution::report(Finding finding) {
  constexpr size_t most = 8;
  // The other side's block is given as a stamp.
  finding.self.block = blockStamps.back().second;
  finding.other.block = blockOf(finding.other.block);
  bool known = std::any_of(findings.begin(), findings.end(), [&](auto &f) {
    return f.problem == finding.problem && f.self.at == finding.self.at &&
           f.other.at == finding.other.at;
  });
  bool fatal = finding.problem == Problem::OutOfBounds ||
               finding.problem == Problem::Misaligned ||
               finding.problem == Problem::AbsentLane;
  if (!known)
    findings.push_back(std::move(finding));
  if (!fatal && findings.size() < most)
    return;
  stopped = true;
  if (running < Fibers::count)
    fibers.leave(runningStack);
}

} // namespace mlc::emulator
