//===- Barriers.h - Mbarriers and named barriers ----------------*- C++ -*-===//

#ifndef MLC_RUNTIME_EMULATOR_BARRIERS_H
#define MLC_RUNTIME_EMULATOR_BARRIERS_H

#include "runtime/emulator/Order.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>

namespace mlc::emulator {

/// An mbarrier. Its eight bytes hold a mark, to notice who overwrites them; the
/// state is here.
struct Mbarrier {
  unsigned arrivals = 0; ///< that each phase takes
  unsigned missing = 0;  ///< arrivals of the running phase
  int64_t bytes = 0;     ///< expected less copied, in the running phase
  int64_t phase = 0;     ///< the running one
  unsigned maker = 0;    ///< the thread that made it, and when
  uint64_t made = 0;
  uint32_t madeAt = 0;
  bool isFenced = false; ///< visible to copies
  /// The last phases that copies came in, and that a thread has waited for.
  int64_t copied = -1, awaited = -1;
  void *copyAt = nullptr; ///< where the last copy was started, and by whom
  unsigned copier = 0;
  /// What lies before the end of the running phase, and of the last.
  View running, last;
};

struct NamedBarrier {
  unsigned threads = 0; ///< that take part; 0 between its uses
  unsigned arrived = 0;
  uint64_t uses = 0;
  View running, last;
};

/// The barriers of the running block.
class Barriers {
public:
  /// The limits of the PTX ISA for counts of arrivals and of bytes.
  static constexpr int64_t most = (1 << 20) - 1;

  void startBlock();
  /// Reports copies that no thread has waited for.
  void endBlock() const;

  void init(uintptr_t address, unsigned arrivals, void *at);
  void end(uintptr_t address, void *at);
  /// The thread's barriers become visible to copies.
  void fence(unsigned thread);
  void arrive(uintptr_t address, unsigned bytes, void *at);
  void wait(uintptr_t address, int phase, void *at);
  void named(int id, unsigned threads, bool waits, void *at);

  /// The mbarrier, which the running thread may use; reports what is wrong.
  Mbarrier &use(uintptr_t address, void *at);
  /// A copy that was started in phase `phase`, where `started` is, brings its
  /// bytes; it wrote as `who`.
  void complete(uintptr_t address, int64_t phase, unsigned bytes,
                unsigned thread, void *started, Who who);
  /// Whether a waiting thread may go on.
  bool isComplete(uintptr_t address, int64_t phase) const;
  bool isPassed(int id, uint64_t use) const { return nameds[id].uses != use; }
  /// For reports of a deadlock.
  std::string describe(uintptr_t address, int64_t phase) const;
  std::string describeNamed(int id) const;

private:
  void checkMark(uintptr_t address, const Mbarrier &barrier, void *at) const;
  void advance(Mbarrier &barrier);

  std::map<uintptr_t, Mbarrier> mbarriers;
  std::array<NamedBarrier, 16> nameds;
};

} // namespace mlc::emulator

#endif // MLC_RUNTIME_EMULATOR_BARRIERS_H
