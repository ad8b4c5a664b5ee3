//===- Execution.h - One launch of a kernel ---------------------*- C++ -*-===//
//
// Blocks run one after another on the calling thread, and a block's threads as
// fibers: each runs until it must wait for others. There are no locks; one
// launch runs at a time.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_EMULATOR_EXECUTION_H
#define MLC_RUNTIME_EMULATOR_EXECUTION_H

#include "runtime/emulator/Barriers.h"
#include "runtime/emulator/CopyEngine.h"
#include "runtime/emulator/Fiber.h"
#include "runtime/emulator/Finding.h"
#include "runtime/emulator/Handovers.h"
#include "runtime/emulator/Launch.h"
#include "runtime/emulator/Order.h"
#include "runtime/emulator/Products.h"
#include "runtime/emulator/RegisterCounts.h"
#include "runtime/emulator/Shadow.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace mlc::emulator {

/// What a thread waits for.
enum class Wait : uint8_t {
  Nothing,
  Block,
  Warp,
  Shuffle,
  Load,
  Store,
  Multiply,
  // A thread alone waits for these.
  Phase,
  Named,
  Products,
  Done
};

/// An asynchronous copy that its thread has not yet waited for.
struct Copy {
  uintptr_t to;
  unsigned bytes;
  unsigned group;
  uint32_t at;
  uint8_t data[16];
};

struct Thread {
  Wait wait = Wait::Done;
  bool transposed = false; // Load
  uint8_t kind = 0;        // Multiply: of the elements
  unsigned site = 0;       // Block, Load, Store, Multiply: which call
  int mask = 0;            // Shuffle
  void *at = nullptr;      // where it waits
  uint64_t words[3] = {};  // operands; results of Shuffle and Load
  float sums[4] = {};      // Multiply: in and out
  uint64_t rows[4] = {};   // Store: a row of each matrix, out
  Index index = {};
  unsigned stack = Fibers::count; // it has one from its start to its end
  unsigned group = 0;             // copies' groups that are closed
  uintptr_t barrier = 0;          // Phase, Named: which
  int64_t phase = 0;              // Phase, Named, Products: of it
  std::vector<Copy> copies;
};

class Execution {
public:
  /// Runs all blocks, or stops at the first fatal error. Leaves what it finds
  /// in `findings`.
  void run(const Launch &launch);

  // For the functions that kernels call.
  Thread &current() { return threads[running]; }
  /// Suspends the thread until the event has happened.
  void wait(Wait what, void *at);
  uint32_t place(const void *address) const {
    return uint32_t(reinterpret_cast<uintptr_t>(address) - launch->moduleBase);
  }
  /// Adds a finding. After a fatal one it ends the launch without returning to
  /// the kernel.
  void report(Finding finding);
  /// Ends the launch: an instruction is used as it must not be.
  [[noreturn]] void misuse(void *at, const char *does, std::string what);
  /// Whether a fatal finding has ended the launch.
  bool hasStopped() const { return stopped; }
  /// The side of a recorded access, for reports.
  Side sideOf(Who who, uint32_t at, bool wrote) const;
  /// A number for the order of asynchronous work, the same in each run.
  uint64_t random();

  const Launch *launch = nullptr;
  Index blockIndex = {};
  bool checks = true;
  Clock clock;
  Handovers handovers;
  Order order;
  Barriers barriers;
  CopyEngine copies;
  Products products;
  RegisterCounts registers;
  SplitCells splitGlobal, splitShared;
  Fibers fibers;
  std::vector<Finding> findings;
  uint64_t accesses = 0;
  /// The running thread; `Fibers::count` if none.
  unsigned running = Fibers::count;
  unsigned runningStack = Fibers::count;
  /// Names the owner of a stack, for people.
  std::string describeStack(unsigned stack) const;

private:
  static void threadMain();
  void startOrder(const Launch &given);
  void startBlock(uint64_t number);
  void endBlock();
  void runBlock(uint64_t number);
  void resume(Thread &thread, uint64_t stamp, unsigned number);
  bool runWarp(unsigned warp);
  /// Whether two threads wait for the same thing.
  static bool waitAlike(const Thread &a, const Thread &b) {
    return a.wait == b.wait && a.kind == b.kind &&
           a.transposed == b.transposed && a.site == b.site;
  }
  bool completeWarp(unsigned first, unsigned end);
  void countWarp(unsigned first, unsigned end);
  bool passBarrier();
  /// Whether what the thread alone waits for has happened.
  bool mayGoOn(const Thread &thread) const;
  void reportDivergence();
  bool waitsAlone() const;
  void reportDeadlock();
  void shuffle(unsigned first, unsigned end);
  void loadMatrices(unsigned first, unsigned end);
  void exchangeRows(unsigned first, unsigned end);
  void multiply(unsigned first, unsigned end);
  void runBlocks();
  void reportTrap();
  void shuffleOrder(std::vector<unsigned> &numbers);

  unsigned threadCount = 0, warpCount = 0;
  std::vector<Thread> threads = std::vector<Thread>(Fibers::count);
  std::vector<uint64_t> warpStamps = std::vector<uint64_t>(32);
  std::vector<unsigned> warpOrder, laneOrder;
  /// A thread takes the last one, which is still in the caches.
  std::vector<unsigned> freeStacks;
  /// First stamp and number of each block that ran, for reports.
  std::vector<std::pair<uint64_t, uint64_t>> blockStamps;
  /// The stamps of each stream's last launch.
  std::map<const void *, std::pair<uint64_t, uint64_t>> lastLaunches;
  uint64_t seed = 0, randomState = 0;
  bool stopped = false;

  uint64_t blockOf(uint64_t stamp) const;
};

extern Execution execution;

} // namespace mlc::emulator

#endif // MLC_RUNTIME_EMULATOR_EXECUTION_H
