//===- Access.cpp - Checks of every load and store ------------------------===//
//
// The functions that clang's thread sanitizer calls before loads and stores.
// Whole words with plain records take a fast path.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Access.h"
#include "runtime/emulator/Arena.h"
#include "runtime/emulator/Counters.h"
#include "runtime/emulator/Cuda.h"
#include "runtime/emulator/Execution.h"

#include <algorithm>
#include <string>

namespace mlc::emulator {

namespace {

/// An access of the running thread.
struct Access {
  uintptr_t address;
  size_t bytes;
  bool isWrite;
  const void *at;
  Who who;
  uint64_t floor; ///< older stamps are ignored
  /// What lies before, in ordered launches; else null.
  const View *view = nullptr;

  /// Whether it may overlap other atomic accesses.
  bool isAtomic() const { return who & atomic; }
  bool isAsync() const { return who & asynchronous; }
  Side self() const {
    if (isAsync())
      return {execution.place(at), execution.order.starter(threadOf(who)), 0,
              isWrite ? "started asynchronous work that writes"
                      : "started asynchronous work that reads",
              bytes};
    return {execution.place(at), execution.running, 0,
            isAtomic() ? "counts in"
            : isWrite  ? "writes"
                       : "reads",
            bytes};
  }
};

[[gnu::noinline, gnu::cold]] void found(Problem problem, const Access &access,
                                        uintptr_t where) {
  execution.report({problem, access.self(), {}, arena->describe(where)});
}

[[gnu::noinline, gnu::cold]] void foundRace(const Access &access,
                                            uintptr_t where, Who other,
                                            uint32_t otherAt,
                                            const char *otherDid) {
  // If several lanes or warps made the other access, the record has the last.
  Side side{otherAt, threadOf(other), stampOf(other), otherDid};
  execution.report(
      {Problem::Race, access.self(), side, arena->describe(where)});
}

//===----------------------------------------------------------------------===//
// Ordered launches
//===----------------------------------------------------------------------===//

/// Whether a recorded access lies before this one.
bool isBefore(Who record, const Access &access) {
  const Clock &clock = execution.clock;
  const Order &order = execution.order;
  uint64_t stamp = stampOf(record);
  if (stamp < access.floor)
    return true;
  if (stamp < clock.launch)
    return stamp < order.priorFrom || stamp >= order.priorTo;
  if (record & otherBlocks)
    return false;
  unsigned component = Order::componentOf(record);
  if (stamp < clock.block)
    return order.hasReceived(*access.view, stamp, component);
  if (!access.isAsync() && component == Order::componentOf(access.who))
    return true;
  return stamp < access.view->seen[component];
}

/// Asynchronous work sees a thread's write only behind a fence.
void checkFence(const Cell &cell, const Access &access, uintptr_t where) {
  Who record = cell.write;
  uint64_t stamp = stampOf(record);
  if (!access.isAsync() || (record & asynchronous) ||
      stamp < execution.clock.block ||
      stamp < access.view->fenced[Order::componentOf(record)])
    return;
  execution.report({Problem::Unfenced, access.self(),
                    execution.sideOf(record, cell.writeAt, true),
                    arena->describe(where)});
}

/// Calls `visit` for each recorded read since the last write.
template <typename Visit> void forReaders(const Cell &cell, Visit visit) {
  if (!(cell.read & manyWarps))
    return visit(Reader{cell.read, cell.readAt});
  // A set of an earlier block is no more, but its last reader is known.
  if (stampOf(cell.read) < execution.clock.block)
    return visit(Reader{cell.read, 0});
  for (const Reader &reader : execution.order.readersAt(cell.readAt))
    visit(reader);
}

/// Adds a read; reads that lie before it need no record any more.
void addReader(Cell &cell, const Access &access) {
  const Clock &clock = execution.clock;
  Order &order = execution.order;
  Reader mine{access.who, execution.place(access.at)};
  Who known = cell.read;
  uint64_t stamp = stampOf(known);
  auto replace = [&](Who flags) {
    cell.read = access.who | flags;
    cell.readAt = mine.at;
  };
  if (stamp < access.floor || stamp < clock.launch)
    return replace(0);
  if (stamp < clock.block)
    return replace(
        order.hasReceived(*access.view, stamp, Order::componentOf(known))
            ? known & otherBlocks
            : otherBlocks);
  if (!(known & manyWarps)) {
    bool isOld = Order::componentOf(known) == Order::componentOf(access.who) ||
                 stamp < access.view->seen[Order::componentOf(known)];
    if (isOld)
      return replace(known & otherBlocks);
    uint32_t index = order.addReaders();
    order.readersAt(index) = {{known, cell.readAt}, mine};
    cell.readAt = index;
  } else {
    std::vector<Reader> &readers = order.readersAt(cell.readAt);
    std::erase_if(readers, [&](const Reader &reader) {
      unsigned component = Order::componentOf(reader.who);
      return component == Order::componentOf(access.who) ||
             stampOf(reader.who) < access.view->seen[component];
    });
    readers.push_back(mine);
  }
  cell.read = access.who | manyWarps | (known & otherBlocks);
}

void compareInOrder(Cell &cell, const Access &access, uintptr_t where) {
  auto race = [&](Who record, uint32_t at, bool wrote) {
    execution.report({Problem::Race, access.self(),
                      execution.sideOf(record, at, wrote),
                      arena->describe(where)});
  };
  if (isBefore(cell.write, access))
    checkFence(cell, access, where);
  else if (!(cell.write & access.who & atomic))
    race(cell.write, cell.writeAt, true);
  if (!access.isWrite)
    return addReader(cell, access);
  forReaders(cell, [&](const Reader &reader) {
    if (!isBefore(reader.who, access))
      race(reader.who, reader.at, false);
  });
  cell.write = access.who;
  cell.writeAt = execution.place(access.at);
  cell.read = 0;
}

//===----------------------------------------------------------------------===//
// All launches
//===----------------------------------------------------------------------===//

/// Checks the access against the record, then records it.
void compareAndRecord(Cell &cell, const Access &access, uintptr_t where) {
  if (access.view)
    return compareInOrder(cell, access, where);
  const Clock &clock = execution.clock;
  if (clock.unordered(cell.write, access.who, access.floor) &&
      !(cell.write & access.who & atomic))
    foundRace(access, where, cell.write, cell.writeAt,
              cell.write & atomic ? "counted in it" : "wrote it");
  if (access.isWrite) {
    if (clock.unordered(cell.read, access.who, access.floor))
      foundRace(access, where, cell.read, cell.readAt, "read it");
    cell.write = access.who;
    cell.writeAt = execution.place(access.at);
  } else {
    cell.read = clock.addRead(cell.read, access.who, access.floor);
    cell.readAt = execution.place(access.at);
  }
}

/// The records of a word's bytes, made from the word's record if there are
/// none.
Cell *bytesOf(Cell &cell, const Access &access) {
  bool shared =
      access.floor == execution.clock.block && arena->isShared(access.address);
  SplitCells &cells = shared ? execution.splitShared : execution.splitGlobal;
  bool current = stampOf(cell.write) >= access.floor;
  if (current && (cell.write & split))
    return cells.at(cell.read);
  uint64_t index = cells.add();
  Cell *bytes = cells.at(index);
  Cell word = cell;
  word.write &= ~split;
  // Ignore an outdated index.
  if (!current && (cell.write & split))
    word.read = 0;
  std::fill(bytes, bytes + 4, word);
  // Each byte needs a set of readers of its own.
  bool hasReaders = access.view && (word.read & manyWarps) &&
                    stampOf(word.read) >= execution.clock.block;
  for (unsigned i = 1; hasReaders && i < 4; ++i) {
    bytes[i].readAt = execution.order.addReaders();
    execution.order.readersAt(bytes[i].readAt) =
        execution.order.readersAt(word.readAt);
  }
  cell.read = index;
  cell.write = access.who | split | (current ? cell.write & pending : 0);
  return bytes;
}

/// One access within a word, bytes [from, end) of it.
void checkWord(const Access &access, uintptr_t word, unsigned from,
               unsigned end) {
  unsigned mask = ((1u << end) - 1) & ~((1u << from) - 1);
  uint8_t &marks = arena->marks(word);
  unsigned missing = mask & ~(unsigned(marks) >> 4);
  if (missing) [[unlikely]]
    return found(Problem::OutOfBounds, access,
                 word + unsigned(__builtin_ctz(missing)));
  Cell &cell = arena->cell(word);
  if ((cell.write & pending) && stampOf(cell.write) >= access.floor)
      [[unlikely]] {
    Side side{cell.writeAt, threadOf(cell.write), stampOf(cell.write),
              "started the copy"};
    return execution.report({Problem::UnwaitedCopy, access.self(), side,
                             arena->describe(word + from)});
  }
  if (access.isWrite && !access.isAtomic())
    marks |= uint8_t(mask);
  else if (mask & ~unsigned(marks)) [[unlikely]] {
    found(Problem::Unwritten, access,
          word + unsigned(__builtin_ctz(mask & ~unsigned(marks))));
    marks |= uint8_t(mask); // report once
  }
  bool isSplit = (cell.write & split) && stampOf(cell.write) >= access.floor;
  if (mask == 0xf && !isSplit) {
    if (cell.write & split) // of an earlier launch
      cell.write = cell.read = 0;
    return compareAndRecord(cell, access, word);
  }
  Cell *bytes = bytesOf(cell, access);
  for (unsigned i = from; i < end; ++i)
    compareAndRecord(bytes[i], access, word + i);
}

/// Checks an address outside the device's memory. The thread's own variables
/// and the module's constants are allowed.
[[gnu::noinline]] void checkLocal(const Access &access) {
  unsigned owner = execution.fibers.owner(access.address);
  if (owner == execution.runningStack) {
    if (access.view)
      execution.products.touch(access.address, access.bytes, access.at);
    return;
  }
  const Launch &launch = *execution.launch;
  if (!access.isWrite && access.address >= launch.moduleBase &&
      access.address + access.bytes <= launch.moduleEnd)
    return;
  if (owner < Fibers::count)
    return execution.report({Problem::OutOfBounds,
                             access.self(),
                             {},
                             execution.describeStack(owner)});
  found(Problem::OutOfBounds, access, access.address);
}

inline uint64_t floorOf(uintptr_t address) {
  const Clock &clock = execution.clock;
  return arena->isShared(address) ? clock.block : clock.launch;
}

/// Makes an access of an ordered launch. Before the thread has waited for the
/// launch in front, that one's accesses count.
void order(Access &access, const View &view) {
  access.view = &view;
  if (!arena->isShared(access.address) && !view.seen[Order::priorLaunch])
    access.floor = execution.order.priorFrom;
}

void checkRange(const Access &access);

[[gnu::noinline]] void checkSlowly(uintptr_t address, size_t bytes,
                                   size_t align, bool isWrite, const void *at,
                                   Who who) {
  Access access{address, bytes, isWrite, at, who, floorOf(address)};
  if (execution.order.isActive)
    order(access, execution.order.view(execution.running));
  if (!arena->has(address))
    return checkLocal(access);
  if (address & (align - 1))
    return found(Problem::Misaligned, access, address);
  checkRange(access);
}

void checkRange(const Access &access) {
  for (uintptr_t here = access.address, end = here + access.bytes;
       here < end;) {
    uintptr_t word = here & ~uintptr_t(3);
    unsigned from = unsigned(here - word);
    unsigned to = unsigned(std::min<uintptr_t>(end - word, 4));
    checkWord(access, word, from, to);
    here = word + to;
  }
}

/// An aligned load or store of whole words.
template <unsigned bytes, bool isWrite>
inline void checkWords(uintptr_t address, const void *at) {
  const Clock &clock = execution.clock;
  Who me = clock.me;
  ++execution.accesses;
  if (counting) [[unlikely]]
    counters.access(execution.running, address, bytes, isWrite,
                    execution.place(at));
  if (!arena->has(address) || (address & (bytes - 1)) ||
      execution.order.isActive) [[unlikely]]
    return checkSlowly(address, bytes, bytes, isWrite, at, me);
  uint64_t floor = floorOf(address);
  for (unsigned i = 0; i < bytes; i += 4) {
    uint8_t &marks = arena->marks(address + i);
    Cell &cell = arena->cell(address + i);
    bool plain = isWrite ? (marks & 0xf0) == 0xf0 : marks == 0xff;
    plain = plain && !(cell.write & (pending | split)) &&
            !clock.unordered(cell.write, me, floor) &&
            !(isWrite && clock.unordered(cell.read, me, floor));
    if (!plain) [[unlikely]]
      return checkSlowly(address, bytes, 1, isWrite, at, me);
    if (isWrite) {
      marks = 0xff;
      cell.write = me;
      cell.writeAt = execution.place(at);
    } else if (cell.read != me) {
      cell.read = clock.addRead(cell.read, me, floor);
      cell.readAt = execution.place(at);
    }
  }
}

} // namespace

void checkAccess(uintptr_t address, size_t bytes, size_t align, bool isWrite,
                 const void *at, Who who) {
  ++execution.accesses;
  if (bytes)
    checkSlowly(address, bytes, align, isWrite, at, who);
}

void checkAsync(uintptr_t address, size_t bytes, bool isWrite, const void *at,
                Who who, const View &view) {
  ++execution.accesses;
  Access access{address,         bytes, isWrite, at, who | asynchronous,
                floorOf(address)};
  order(access, view);
  if (!arena->has(address))
    return found(Problem::OutOfBounds, access, address);
  checkRange(access);
}

void beginCopy(uintptr_t to, unsigned bytes, const void *at) {
  checkAccess(to, bytes, bytes, true, at, execution.clock.me);
  for (unsigned i = 0; i < bytes; i += 4) {
    Cell &cell = arena->cell(to + i);
    cell.write = execution.clock.me | pending | (cell.write & split);
    cell.writeAt = execution.place(at);
  }
}

void endCopy(uintptr_t to, unsigned bytes, const void *at) {
  for (unsigned i = 0; i < bytes; i += 4)
    arena->cell(to + i).write &= ~pending;
  checkAccess(to, bytes, bytes, true, at, execution.clock.me);
}

} // namespace mlc::emulator

//===----------------------------------------------------------------------===//
// Entry points for the sanitizer
//===----------------------------------------------------------------------===//

using namespace mlc::emulator;

#define MLC_HERE __builtin_return_address(0)
static uintptr_t addressOf(const void *memory) {
  return reinterpret_cast<uintptr_t>(memory);
}

void mlc::emulator::checkPlain(const void *memory, size_t bytes, size_t align,
                               bool isWrite, const void *at) {
  if (counting)
    counters.pieces(execution.running, addressOf(memory), bytes, isWrite,
                    execution.place(at));
  checkAccess(addressOf(memory), bytes, align, isWrite, at, execution.clock.me);
}

#define MLC_SMALL(size, name, isWrite)                                         \
  extern "C" MLC_EMULATOR_API void __tsan_##name##size(void *memory) {         \
    checkPlain(memory, size, size, isWrite, MLC_HERE);                         \
  }                                                                            \
  extern "C" MLC_EMULATOR_API void __tsan_##name##size##_pc(void *memory,      \
                                                            void *at) {        \
    checkPlain(memory, size, size, isWrite, at);                               \
  }
#define MLC_WORDS(size, name, isWrite)                                         \
  extern "C" MLC_EMULATOR_API void __tsan_##name##size(void *memory) {         \
    checkWords<size, isWrite>(addressOf(memory), MLC_HERE);                    \
  }                                                                            \
  extern "C" MLC_EMULATOR_API void __tsan_##name##size##_pc(void *memory,      \
                                                            void *at) {        \
    checkWords<size, isWrite>(addressOf(memory), at);                          \
  }
// Loads of types without guaranteed alignment; GPU code uses several smaller
// ones for them.
#define MLC_UNALIGNED(size, name, isWrite)                                     \
  extern "C" MLC_EMULATOR_API void __tsan_unaligned_##name##size(              \
      void *memory) {                                                          \
    checkPlain(memory, size, 1, isWrite, MLC_HERE);                            \
  }
MLC_SMALL(1, read, false)
MLC_SMALL(2, read, false)
MLC_WORDS(4, read, false)
MLC_WORDS(8, read, false)
MLC_WORDS(16, read, false)
MLC_SMALL(1, write, true)
MLC_SMALL(2, write, true)
MLC_WORDS(4, write, true)
MLC_WORDS(8, write, true)
MLC_WORDS(16, write, true)
MLC_UNALIGNED(2, read, false)
MLC_UNALIGNED(4, read, false)
MLC_UNALIGNED(8, read, false)
MLC_UNALIGNED(16, read, false)
MLC_UNALIGNED(2, write, true)
MLC_UNALIGNED(4, write, true)
MLC_UNALIGNED(8, write, true)
MLC_UNALIGNED(16, write, true)

void mlc::emulator::checkWide(void *memory, unsigned bytes, bool isWrite,
                              void *at) {
  switch (bytes) {
  case 4:
    return isWrite ? __tsan_write4_pc(memory, at) : __tsan_read4_pc(memory, at);
  case 8:
    return isWrite ? __tsan_write8_pc(memory, at) : __tsan_read8_pc(memory, at);
  case 16:
    return isWrite ? __tsan_write16_pc(memory, at)
                   : __tsan_read16_pc(memory, at);
  default:
    return checkPlain(memory, bytes, bytes, isWrite, at);
  }
}

uint64_t mlcEmulatorAccesses() { return mlc::emulator::execution.accesses; }
