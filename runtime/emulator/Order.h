//===- Order.h - What happens before what, by vector clocks -----*- C++ -*-===//
//
// Block barriers alone order the threads of most kernels, and one stamp for a
// warp and phase says enough (Shadow.h). Mbarriers and named barriers order
// pairs of threads, and copies and products run beside the threads. So a kernel
// that uses mlc_hopper.cuh is *ordered*: each of its threads has stamps of its
// own and a view, the stamps of all others that lie before it.
//
// Work beside the threads is done by *actors*: copies to an mbarrier, reads and
// writes of a thread's bulk stores, products of a warpgroup, and the launch
// before. An actor's accesses have stamps too, and waiting for it adds them to
// the waiting thread's view.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_EMULATOR_ORDER_H
#define MLC_RUNTIME_EMULATOR_ORDER_H

#include "runtime/emulator/Shadow.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace mlc::emulator {

/// For each component, actors first, the first stamp that does not lie before.
struct View {
  std::vector<uint64_t> seen;
  /// The same for generic accesses that a proxy fence followed: asynchronous
  /// work sees only their writes.
  std::vector<uint64_t> fenced;
  /// What other blocks have handed over by counts (Order::count), by number,
  /// in order.
  std::vector<uint32_t> received;

  void reset(size_t components, uint64_t stamp);
  /// What lies before either, or before both.
  void join(const View &other);
  void meet(const View &other);
};

/// The reads of one word since its last write, if several are not ordered.
struct Reader {
  Who who;
  uint32_t at;
};

class Order {
public:
  static constexpr unsigned actorCount = 64;
  /// The launch before, whose accesses a thread sees after it has waited.
  static constexpr unsigned priorLaunch = 0;
  enum class Actor : uint8_t { Copies, StoreReads, StoreWrites, Products };

  /// Whether the running launch is ordered.
  bool isActive = false;
  /// Whether accesses are checked; views are empty otherwise.
  bool isTracking = false;
  /// The stamps of the launch before, which may still run.
  uint64_t priorFrom = 0, priorTo = 0;

  void startLaunch();
  void startBlock(unsigned threads, Clock &clock);
  View &view(unsigned thread) { return views[thread]; }
  uint64_t stamp(unsigned thread) const { return stamps[thread]; }
  /// How many a view has.
  size_t components() const {
    return isTracking ? actorCount + stamps.size() : 0;
  }
  /// Grows whenever the thread's view does.
  uint64_t version(unsigned thread) const { return versions[thread]; }

  /// Adds what lies before the thread now, and its own accesses.
  void release(unsigned thread, View &into, Clock &clock);
  void acquire(unsigned thread, const View &from);
  /// A barrier among the threads [first, end).
  void synchronize(unsigned first, unsigned end, Clock &clock);
  /// All that lies before the thread becomes visible to asynchronous work.
  void fence(unsigned thread, Clock &clock);

  /// The thread counts at an address: it hands over what lies before it to
  /// threads of other blocks that count there later, and receives what was
  /// handed over there before.
  void count(unsigned thread, uintptr_t address, Clock &clock);
  /// Whether an access by an earlier block of the launch was handed over.
  bool hasReceived(const View &view, uint64_t stamp, unsigned component) const;

  /// The actor for work of this kind and key, which `thread` starts.
  unsigned actor(Actor kind, uint64_t key, unsigned thread);
  unsigned starter(unsigned actor) const { return actors[actor].thread; }
  Actor kindOf(unsigned actor) const { return actors[actor].kind; }
  /// The thread has waited for the actor's accesses with stamps below `stamp`.
  void observe(unsigned thread, unsigned actor, uint64_t stamp);

  static unsigned componentOf(Who who) {
    return threadOf(who) + (who & asynchronous ? 0 : actorCount);
  }

  // Sets of readers, by index.
  uint32_t addReaders() {
    if (used == readers.size())
      readers.emplace_back();
    readers[used].clear();
    return used++;
  }
  std::vector<Reader> &readersAt(uint32_t index) { return readers[index]; }

private:
  void renew(unsigned thread, Clock &clock);

  /// Of one block: stamps from its first one up to those that are not before
  /// the count, by component.
  struct Handover {
    uint64_t from;
    std::vector<uint64_t> seen;
  };
  struct ActorOf {
    Actor kind;
    unsigned thread;
  };
  std::vector<View> views;
  std::vector<uint64_t> stamps, versions;
  std::map<std::pair<Actor, uint64_t>, unsigned> actorNumbers;
  std::vector<ActorOf> actors;
  std::vector<Handover> handovers;
  std::map<uintptr_t, std::vector<uint32_t>> handedOver; ///< by counter
  std::vector<std::vector<Reader>> readers;
  uint32_t used = 0;
  View together; ///< of synchronize(), kept for its memory
};

} // namespace mlc::emulator

#endif // MLC_RUNTIME_EMULATOR_ORDER_H
