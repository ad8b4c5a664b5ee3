//===- Reports.cpp - What a launch says of itself -------------------------===//

#include "runtime/emulator/Arena.h"
#include "runtime/emulator/Execution.h"
#include "runtime/emulator/Trap.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace mlc::emulator {

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
  case Wait::Store:
    return "waits in storeMatrices";
  case Wait::Multiply:
    return "waits in a multiplication of matrices";
  case Wait::Phase:
    return "waits in waitForPhase";
  case Wait::Named:
    return "waits in syncNamed";
  case Wait::Products:
    return "waits in waitForProducts";
  case Wait::Done:
    return "has ended";
  }
  return "";
}

/// Whether any thread waits for more than its warp or block.
bool Execution::waitsAlone() const {
  return std::any_of(
      threads.begin(), threads.begin() + threadCount, [](const Thread &thread) {
        return thread.wait == Wait::Phase || thread.wait == Wait::Named ||
               thread.wait == Wait::Products;
      });
}

/// Says for each run of threads what they wait for.
void Execution::reportDeadlock() {
  auto describe = [&](unsigned i) -> std::string {
    const Thread &thread = threads[i];
    if (thread.wait == Wait::Phase)
      return "wait " + barriers.describe(thread.barrier, thread.phase);
    if (thread.wait == Wait::Named)
      return "wait " + barriers.describeNamed(int(thread.barrier));
    if (thread.wait == Wait::Products)
      return "wait for products that not all of the warpgroup have issued";
    std::string name = nameOf(thread.wait);
    return thread.wait == Wait::Done ? "have ended" : "wait" + name.substr(5);
  };
  Finding finding{Problem::Deadlock, {}, {}, ""};
  bool isFirst = true;
  for (unsigned i = 0, from = 0; i < threadCount; ++i) {
    if (i + 1 < threadCount && describe(i + 1) == describe(from))
      continue;
    finding.what += (from ? ";\n  threads " : "\n  threads ") +
                    std::to_string(from) + " to " + std::to_string(i) + " " +
                    describe(from);
    if (isFirst && threads[from].wait != Wait::Done) {
      isFirst = false;
      finding.self = {place(threads[from].at), from, blockStamps.back().second,
                      nameOf(threads[from].wait)};
    }
    from = i + 1;
  }
  running = Fibers::count;
  findings.push_back(finding);
  stopped = true;
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

void Execution::misuse(void *at, const char *does, std::string what) {
  report({Problem::Misuse, {place(at), running, 0, does}, {}, std::move(what)});
  __builtin_unreachable(); // the problem is fatal
}

Side Execution::sideOf(Who who, uint32_t at, bool wrote) const {
  Side side{at, threadOf(who), stampOf(who), wrote ? "wrote it" : "read it"};
  if (who & atomic)
    side.does = "counted in it";
  if (stampOf(who) < clock.launch) {
    // The place is one of that kernel's.
    side.at = 0;
    side.does = wrote ? "of the launch before wrote it"
                      : "of the launch before read it";
    return side;
  }
  if (!(who & asynchronous))
    return side;
  side.thread = order.starter(threadOf(who));
  switch (order.kindOf(threadOf(who))) {
  case Order::Actor::Copies:
    side.does = wrote ? "started the copy that wrote it"
                      : "started the copy that read it";
    break;
  case Order::Actor::StoreReads:
  case Order::Actor::StoreWrites:
    side.does = wrote ? "started the store that wrote it"
                      : "started the store that read it";
    break;
  case Order::Actor::Products:
    side.does = "started the product that read it";
    break;
  }
  return side;
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
               finding.problem == Problem::AbsentLane ||
               finding.problem == Problem::Misuse;
  if (!known)
    findings.push_back(std::move(finding));
  if (!fatal && findings.size() < most)
    return;
  stopped = true;
  if (running < Fibers::count)
    fibers.leave(runningStack);
}

} // namespace mlc::emulator
