//===- CopyFunctions.cpp - Copies beside the threads ----------------------===//

#include "runtime/emulator/Access.h"
#include "runtime/emulator/Arena.h"
#include "runtime/emulator/CopyEngine.h"
#include "runtime/emulator/Counters.h"
#include "runtime/emulator/Cuda.h"
#include "runtime/emulator/Execution.h"

#include <algorithm>
#include <cstring>

namespace mlc::emulator {

//===----------------------------------------------------------------------===//
// Which bytes a map means
//===----------------------------------------------------------------------===//

namespace {

/// 16 bytes of a box: where they lie in it, and the part inside the tensor.
struct Chunk {
  unsigned offset;
  unsigned from, bytes;
  uintptr_t global; ///< of the first byte inside
};

/// The chunks of a row whose elements begin at `x`; `row` is the address of
/// element 0, or 0 if the row lies outside.
template <typename Visit>
void forRow(const TensorMap &map, unsigned number, int64_t x, uintptr_t row,
            Visit visit) {
  int64_t size = map.elementBytes();
  int64_t first = x * size, end = int64_t(map.dim(0)) * size;
  for (unsigned at = 0; at < map.rowBytes(); at += 16) {
    int64_t from = std::clamp<int64_t>(-(first + at), 0, 16);
    int64_t to = std::clamp<int64_t>(end - (first + at), 0, 16);
    bool isInside = row && to > from;
    visit(Chunk{number * map.rowBytes() + at, unsigned(from),
                isInside ? unsigned(to - from) : 0,
                isInside ? uintptr_t(int64_t(row) + first + at + from) : 0});
  }
}

/// The address of element 0 at these places in the other dims; 0 if outside.
uintptr_t rowAt(const TensorMap &map, const int64_t *places) {
  uintptr_t row = map.address;
  for (unsigned i = 1; i < map.rank; ++i) {
    if (places[i] < 0 || places[i] >= int64_t(map.dim(i)))
      return 0;
    row += uint64_t(places[i]) * map.strides[i];
  }
  return row;
}

template <typename Visit>
void forBox(const TensorMap &map, const Place &place, Visit visit) {
  for (unsigned number = 0; number < map.rows(); ++number) {
    int64_t places[5] = {};
    unsigned rest = number;
    for (unsigned i = 1; i < map.rank; ++i) {
      places[i] = place.at[i] + int64_t(rest % map.count(i)) * map.steps[i];
      rest /= map.count(i);
    }
    forRow(map, number, place.at[0], rowAt(map, places), visit);
  }
}

/// Pixels follow each other within the box between the corners, row by row.
template <typename Visit>
void forPixels(const TensorMap &map, const Place &place, Visit visit) {
  unsigned inner = map.rank - 2;
  int64_t base[5];
  std::copy(place.at, place.at + 5, base);
  for (unsigned number = 0; number < map.rows(); ++number) {
    int64_t places[5] = {};
    for (unsigned i = 1; i < map.rank; ++i)
      places[i] = base[i] + (i <= inner ? place.offsets[i - 1] : 0);
    forRow(map, number, place.at[0], rowAt(map, places), visit);
    unsigned i = 1;
    for (; i <= inner; ++i) {
      base[i] += map.steps[i];
      if (base[i] < int64_t(map.dim(i)) + map.upper[i - 1])
        break;
      base[i] = map.lower[i - 1];
    }
    if (i > inner)
      ++base[map.rank - 1];
  }
}

template <typename Visit>
void forChunks(const Transfer &transfer, Visit visit) {
  if (transfer.isTensor) {
    if (transfer.map.isPixels)
      return forPixels(transfer.map, transfer.place, visit);
    return forBox(transfer.map, transfer.place, visit);
  }
  for (unsigned at = 0; at < transfer.bytes; at += 16)
    visit(Chunk{at, 0, 16, transfer.global + at});
}

uintptr_t sharedAt(const Transfer &transfer, const Chunk &chunk) {
  return swizzled(transfer.shared + chunk.offset, transfer.map.swizzle);
}

/// Rounds to nearest, ties to even.
void roundToTF32(uint8_t *bytes) {
  for (unsigned i = 0; i < 16; i += 4) {
    uint32_t word;
    std::memcpy(&word, bytes + i, 4);
    if ((word & 0x7f800000) != 0x7f800000)
      word = (word + 0xfff + ((word >> 13) & 1)) & 0xffffe000;
    std::memcpy(bytes + i, &word, 4);
  }
}

/// A new time of an actor.
Who newWho(unsigned actor) {
  return makeWho(execution.clock.next++, actor) | asynchronous;
}

void *pointer(uintptr_t address) { return reinterpret_cast<void *>(address); }

void check(uintptr_t address, unsigned bytes, bool isWrite,
           const Transfer &transfer, Who who) {
  if (execution.checks && bytes)
    checkAsync(address, bytes, isWrite, transfer.at, who, transfer.view);
}

/// Reads a kernel's map, and checks that it is one for this call.
TensorMap readMap(const void *memory, unsigned rank, bool isPixels,
                  const char *does, void *at) {
  auto address = reinterpret_cast<uintptr_t>(memory);
  bool isParameter = false;
  for (const MapWords &words : execution.launch->maps)
    isParameter |= &words == memory;
  TensorMap map = {};
  if (address % 64 == 0 &&
      (isParameter || arena->contains(address, sizeof(MapWords))))
    std::memcpy(&map, memory, sizeof(map));
  if (map.mark != TensorMap::theMark)
    execution.misuse(at, does, "there is no tensor map at that address");
  if (map.rank != rank || map.isPixels != isPixels)
    execution.misuse(at, does,
                     "the map is of " + std::to_string(map.rank) + " dims" +
                         (map.isPixels ? ", for im2col" : ", tiled"));
  if (map.rowBytes() % 16 || (map.swizzle && map.rowBytes() != map.swizzle))
    execution.misuse(at, does,
                     "rows of " + std::to_string(map.rowBytes()) +
                         " bytes are not as wide as the swizzle, which the "
                         "emulator needs, or no multiple of 16");
  return map;
}

void requireShared(uintptr_t address, unsigned align, const char *does,
                   void *at) {
  if (!arena->isShared(address) || address % align)
    execution.misuse(at, does,
                     "the address must be a multiple of " +
                         std::to_string(align) +
                         " in shared memory: " + arena->describe(address));
}

} // namespace

//===----------------------------------------------------------------------===//
// Starting
//===----------------------------------------------------------------------===//

void CopyEngine::startBlock() {
  transfers.clear();
  groups.clear();
  waiting = 0;
}

void CopyEngine::start(Transfer transfer) {
  transfer.thread = execution.running;
  transfer.view.reset(execution.order.components(), 0);
  execution.order.release(transfer.thread, transfer.view, execution.clock);
  if (transfer.isStore) {
    transfer.group = groups[transfer.thread];
  } else {
    Mbarrier &barrier = execution.barriers.use(transfer.barrier, transfer.at);
    if (!barrier.isFenced)
      execution.misuse(transfer.at, "starts a copy",
                       "it does not see its mbarrier, since no "
                       "fenceBarrierInit() followed initBarrier()");
    transfer.phase = barrier.phase;
  }
  if (counting) {
    Counts &counts = counters.at(execution.place(transfer.at));
    ++counts.copies;
    counts.copiedBytes += transfer.bytes;
  }
  ++waiting;
  transfers.push_back(std::move(transfer));
}

void CopyEngine::copyTensor(uintptr_t to, const void *map, uintptr_t barrier,
                            unsigned rank, bool isPixels, const Place &place,
                            void *at) {
  const char *does = isPixels ? "calls copyPixels" : "calls copyTensor";
  Transfer transfer;
  transfer.map = readMap(map, rank, isPixels, does, at);
  requireShared(to, 128, does, at);
  transfer.isTensor = true;
  transfer.place = place;
  transfer.shared = to;
  transfer.bytes = transfer.map.bytes();
  transfer.barrier = barrier;
  transfer.at = at;
  start(std::move(transfer));
}

void CopyEngine::copyBulk(uintptr_t to, uintptr_t from, unsigned bytes,
                          uintptr_t barrier, void *at) {
  requireShared(to, 16, "calls copyBulk", at);
  if (from % 16 || bytes % 16 || arena->isShared(from))
    execution.misuse(at, "calls copyBulk",
                     "the source must be a multiple of 16 in global memory, "
                     "and so must the bytes");
  Transfer transfer;
  transfer.shared = to;
  transfer.global = from;
  transfer.bytes = bytes;
  transfer.barrier = barrier;
  transfer.at = at;
  start(std::move(transfer));
}

void CopyEngine::storeTensor(const void *map, uintptr_t from, unsigned rank,
                             const Place &place, void *at) {
  Transfer transfer;
  transfer.map = readMap(map, rank, false, "calls storeTensor", at);
  requireShared(from, 128, "calls storeTensor", at);
  transfer.isStore = transfer.isTensor = true;
  transfer.place = place;
  transfer.shared = from;
  transfer.bytes = transfer.map.bytes();
  transfer.at = at;
  start(std::move(transfer));
}

void CopyEngine::storeBulk(uintptr_t to, uintptr_t from, unsigned bytes,
                           void *at) {
  requireShared(from, 16, "calls storeBulk", at);
  if (to % 16 || bytes % 16 || arena->isShared(to))
    execution.misuse(at, "calls storeBulk",
                     "the target must be a multiple of 16 in global memory, "
                     "and so must the bytes");
  Transfer transfer;
  transfer.isStore = true;
  transfer.shared = from;
  transfer.global = to;
  transfer.bytes = bytes;
  transfer.at = at;
  start(std::move(transfer));
}

//===----------------------------------------------------------------------===//
// Copying
//===----------------------------------------------------------------------===//

void CopyEngine::load(const Transfer &transfer) {
  unsigned actor = execution.order.actor(Order::Actor::Copies, transfer.barrier,
                                         transfer.thread);
  Who who = newWho(actor);
  forChunks(transfer, [&](const Chunk &chunk) {
    uint8_t bytes[16] = {};
    uintptr_t to = sharedAt(transfer, chunk);
    check(chunk.global, chunk.bytes, false, transfer, who);
    check(to, 16, true, transfer, who);
    if (execution.hasStopped())
      return;
    if (chunk.bytes)
      std::memcpy(bytes + chunk.from, pointer(chunk.global), chunk.bytes);
    if (transfer.map.isTF32)
      roundToTF32(bytes);
    std::memcpy(pointer(to), bytes, 16);
  });
  execution.barriers.complete(transfer.barrier, transfer.phase, transfer.bytes,
                              transfer.thread, transfer.at, who);
}

void CopyEngine::read(Transfer &transfer) {
  unsigned actor = execution.order.actor(Order::Actor::StoreReads,
                                         transfer.thread, transfer.thread);
  Who who = newWho(actor);
  transfer.data.resize(transfer.bytes);
  forChunks(transfer, [&](const Chunk &chunk) {
    uintptr_t from = sharedAt(transfer, chunk);
    check(from, 16, false, transfer, who);
    if (!execution.hasStopped())
      std::memcpy(transfer.data.data() + chunk.offset, pointer(from), 16);
  });
  transfer.isRead = true;
  transfer.readStamp = stampOf(who);
  --waiting;
}

void CopyEngine::write(const Transfer &transfer) {
  unsigned actor = execution.order.actor(Order::Actor::StoreWrites,
                                         transfer.thread, transfer.thread);
  Who who = newWho(actor);
  forChunks(transfer, [&](const Chunk &chunk) {
    check(chunk.global, chunk.bytes, true, transfer, who);
    if (chunk.bytes && !execution.hasStopped())
      std::memcpy(pointer(chunk.global),
                  transfer.data.data() + chunk.offset + chunk.from,
                  chunk.bytes);
  });
}

void CopyEngine::runOne() {
  auto isWaiting = [](const Transfer &t) { return !t.isStore || !t.isRead; };
  uint64_t skip = execution.random() % waiting;
  auto chosen = transfers.begin();
  for (;; ++chosen)
    if (isWaiting(*chosen) && !skip--)
      break;
  if (!chosen->isStore) {
    Transfer transfer = std::move(*chosen);
    transfers.erase(chosen);
    --waiting;
    return load(transfer);
  }
  // A thread's stores are read in their order.
  unsigned thread = chosen->thread;
  read(*std::find_if(transfers.begin(), transfers.end(),
                     [&](const Transfer &transfer) {
                       return transfer.isStore && !transfer.isRead &&
                              transfer.thread == thread;
                     }));
}

void CopyEngine::wait(unsigned pending, bool written) {
  unsigned me = execution.running, closed = groups[me];
  Order &order = execution.order;
  auto isMine = [&](const Transfer &transfer) {
    return transfer.isStore && transfer.thread == me &&
           transfer.group + pending < closed;
  };
  for (size_t i = 0; i < transfers.size(); ++i) {
    Transfer &transfer = transfers[i];
    if (!isMine(transfer))
      continue;
    if (!transfer.isRead)
      read(transfer);
    if (!transfer.isAwaited)
      order.observe(me, order.actor(Order::Actor::StoreReads, me, me),
                    transfer.readStamp + 1);
    transfer.isAwaited = true;
    if (!written)
      continue;
    write(transfer);
    order.observe(me, order.actor(Order::Actor::StoreWrites, me, me),
                  execution.clock.next);
  }
  if (written)
    std::erase_if(transfers, isMine);
}

void CopyEngine::endBlock() {
  while (areUnderWay() && !execution.hasStopped())
    runOne();
  for (const Transfer &transfer : transfers) {
    if (transfer.isAwaited)
      write(transfer);
    else
      execution.report({Problem::Unfinished,
                        {execution.place(transfer.at), transfer.thread, 0,
                         "started a store that reads shared memory"},
                        {},
                        arena->describe(transfer.shared)});
  }
  transfers.clear();
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

MLC_EMULATOR_API void mlcEmulatorCopyTensor(void *to, const void *map,
                                            uint64_t *barrier, int rank,
                                            bool pixels, Place place) {
  execution.copies.copyTensor(addressOf(to), map, addressOf(barrier),
                              unsigned(rank), pixels, place, MLC_HERE);
}
MLC_EMULATOR_API void mlcEmulatorCopyBulk(void *to, const void *from,
                                          unsigned bytes, uint64_t *barrier) {
  execution.copies.copyBulk(addressOf(to), addressOf(from), bytes,
                            addressOf(barrier), MLC_HERE);
}
MLC_EMULATOR_API void mlcEmulatorStoreTensor(const void *map, const void *from,
                                             int rank, Place place) {
  execution.copies.storeTensor(map, addressOf(from), unsigned(rank), place,
                               MLC_HERE);
}
MLC_EMULATOR_API void mlcEmulatorStoreBulk(void *to, const void *from,
                                           unsigned bytes) {
  execution.copies.storeBulk(addressOf(to), addressOf(from), bytes, MLC_HERE);
}
MLC_EMULATOR_API void mlcEmulatorCommitStores() {
  execution.copies.commit(execution.running);
}
MLC_EMULATOR_API void mlcEmulatorWaitForStores(unsigned pending, bool written) {
  execution.copies.wait(pending, written);
}
}
