//===- Intrinsics.cpp - The functions behind the device header ------------===//

#include "runtime/emulator/Access.h"
#include "runtime/emulator/Arena.h"
#include "runtime/emulator/Counters.h"
#include "runtime/emulator/Cuda.h"
#include "runtime/emulator/Execution.h"
#include "runtime/emulator/Numbers.h"

#include <algorithm>
#include <cstring>

namespace mlc::emulator {

//===----------------------------------------------------------------------===//
// Operations of a warp once all its lanes have arrived
//===----------------------------------------------------------------------===//

static Finding absent(const Thread &thread, unsigned number,
                      const char *expected) {
  return {Problem::AbsentLane,
          {execution.place(thread.at), number, 0, expected},
          {},
          "the warp has fewer than 32 lanes"};
}

void Execution::shuffle(unsigned first, unsigned end) {
  uint64_t values[32];
  for (unsigned i = first; i < end; ++i)
    values[i - first] = threads[i].words[0];
  for (unsigned i = first; i < end; ++i) {
    unsigned lane = (i - first) ^ (unsigned(threads[i].mask) & 31);
    if (lane >= end - first)
      return report(absent(threads[i], i, "asks a lane that does not exist"));
    threads[i].words[0] = values[lane];
  }
}

void Execution::loadMatrices(unsigned first, unsigned end) {
  if (end - first < 32)
    return report(absent(threads[first], first, "loads matrices"));
  uint16_t rows[32][8];
  for (unsigned lane = 0; lane < 32; ++lane)
    std::memcpy(rows[lane],
                reinterpret_cast<const void *>(threads[first + lane].words[0]),
                16);
  for (unsigned lane = 0; lane < 32; ++lane) {
    Thread &thread = threads[first + lane];
    uint32_t words[4];
    for (unsigned matrix = 0; matrix < 4; ++matrix) {
      const uint16_t (*rowsOf)[8] = rows + 8 * matrix;
      unsigned pair = 2 * (lane % 4), line = lane / 4;
      uint16_t low = rowsOf[line][pair], high = rowsOf[line][pair + 1];
      if (thread.transposed) {
        low = rowsOf[pair][line];
        high = rowsOf[pair + 1][line];
      }
      words[matrix] = low | (uint32_t(high) << 16);
    }
    thread.words[0] = words[0] | (uint64_t(words[1]) << 32);
    thread.words[1] = words[2] | (uint64_t(words[3]) << 32);
  }
}

/// Gives each lane the addresses of the rows that it has elements of.
void Execution::exchangeRows(unsigned first, unsigned end) {
  if (end - first < 32)
    return report(absent(threads[first], first, "stores matrices"));
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned matrix = 0; matrix < 4; ++matrix)
      threads[first + lane].rows[matrix] =
          threads[first + 8 * matrix + lane / 4].words[0];
}

/// Element `i` of those packed in `words`, of any kind.
static float element(unsigned kind, const uint64_t *words, unsigned i) {
  if (kind == 2)
    return fromTF32(uint32_t(words[i / 2] >> (i % 2 * 32)));
  uint16_t bits = uint16_t(words[i / 4] >> (i % 4 * 16));
  return kind == 1 ? fromBF16(bits) : fromF16(bits);
}

/// Byte `i` of `words` as a number.
static int32_t byteOf(const uint64_t *words, unsigned i, bool isSigned) {
  auto bits = uint8_t(words[i / 8] >> (i % 8 * 8));
  return isSigned ? int8_t(bits) : bits;
}

/// The product of bytes; sums hold the bits of 32-bit integers, which wrap.
static void multiplyBytes(Thread *lanes, bool aSigned, bool bSigned) {
  int32_t a[16][32], b[32][8];
  for (unsigned lane = 0; lane < 32; ++lane) {
    const uint64_t *words = lanes[lane].words;
    unsigned g = lane / 4, t = lane % 4;
    for (unsigned i = 0; i < 16; ++i)
      a[g + i / 4 % 2 * 8][4 * t + i % 4 + i / 8 * 16] =
          byteOf(words, i, aSigned);
    for (unsigned i = 0; i < 8; ++i)
      b[4 * t + i % 4 + i / 4 * 16][g] = byteOf(words + 2, i, bSigned);
  }
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 4; ++i) {
      unsigned row = lane / 4 + i / 2 * 8, column = 2 * (lane % 4) + i % 2;
      uint32_t sum;
      std::memcpy(&sum, &lanes[lane].sums[i], sizeof(sum));
      for (unsigned k = 0; k < 32; ++k)
        sum += uint32_t(a[row][k] * b[k][column]);
      std::memcpy(&lanes[lane].sums[i], &sum, sizeof(sum));
    }
}

void Execution::multiply(unsigned first, unsigned end) {
  if (end - first < 32)
    return report(absent(threads[first], first, "multiplies matrices"));
  if (unsigned number = threads[first].kind - 1; number >= 4)
    return multiplyBytes(&threads[first], number & 2, number & 1);
  unsigned kind = threads[first].kind - 1, sizeOfK = kind == 2 ? 8 : 16;
  float a[16][16], b[16][8];
  for (unsigned lane = 0; lane < 32; ++lane) {
    const uint64_t *words = threads[first + lane].words;
    unsigned g = lane / 4, t = lane % 4;
    // In the order of a: alternating rows g and g + 8, then the later columns.
    if (kind == 2) {
      for (unsigned i = 0; i < 4; ++i)
        a[g + i % 2 * 8][t + i / 2 * 4] = element(kind, words, i);
      for (unsigned i = 0; i < 2; ++i)
        b[t + i * 4][g] = element(kind, words + 2, i);
      continue;
    }
    for (unsigned i = 0; i < 8; ++i)
      a[g + i / 2 % 2 * 8][2 * t + i % 2 + i / 4 * 8] = element(kind, words, i);
    for (unsigned i = 0; i < 4; ++i)
      b[2 * t + i % 2 + i / 2 * 8][g] = element(kind, words + 2, i);
  }
  for (unsigned lane = 0; lane < 32; ++lane) {
    float *sums = threads[first + lane].sums;
    for (unsigned i = 0; i < 4; ++i) {
      unsigned row = lane / 4 + i / 2 * 8, column = 2 * (lane % 4) + i % 2;
      // The product is exact in double; one rounding to float for each.
      for (unsigned k = 0; k < sizeOfK; ++k)
        sums[i] = float(double(sums[i]) + double(a[row][k]) * b[k][column]);
    }
  }
}

} // namespace mlc::emulator

//===----------------------------------------------------------------------===//
// Functions that kernels call
//===----------------------------------------------------------------------===//

using namespace mlc::emulator;

#define MLC_HERE __builtin_return_address(0)

struct Words {
  uint64_t first, second;
};
struct Sums {
  float sums[4];
};

extern "C" {

MLC_EMULATOR_API Index mlcEmulatorThreadIdx() {
  return execution.current().index;
}
MLC_EMULATOR_API Index mlcEmulatorBlockIdx() { return execution.blockIndex; }
MLC_EMULATOR_API Index mlcEmulatorBlockDim() { return execution.launch->block; }
MLC_EMULATOR_API Index mlcEmulatorGridDim() { return execution.launch->grid; }
MLC_EMULATOR_API uint8_t *mlcEmulatorSharedMemory() { return arena->shared(); }

MLC_EMULATOR_API Words mlcEmulatorLoadWide(const void *from, unsigned bytes) {
  if (execution.checks)
    checkWide(const_cast<void *>(from), bytes, false, MLC_HERE);
  Words words = {};
  std::memcpy(&words, from, bytes);
  return words;
}
MLC_EMULATOR_API void mlcEmulatorStoreWide(void *to, Words words,
                                           unsigned bytes) {
  if (execution.checks)
    checkWide(to, bytes, true, MLC_HERE);
  std::memcpy(to, &words, bytes);
}

MLC_EMULATOR_API void mlcEmulatorSyncBlock(unsigned site) {
  execution.current().site = site;
  execution.wait(Wait::Block, MLC_HERE);
}
MLC_EMULATOR_API void mlcEmulatorSyncWarp() {
  execution.wait(Wait::Warp, MLC_HERE);
}
MLC_EMULATOR_API uint64_t mlcEmulatorShuffleXor(uint64_t value, int mask) {
  Thread &thread = execution.current();
  thread.words[0] = value;
  thread.mask = mask;
  execution.wait(Wait::Shuffle, MLC_HERE);
  return thread.words[0];
}

MLC_EMULATOR_API unsigned mlcEmulatorCount(unsigned *counter, unsigned number) {
  auto address = reinterpret_cast<uintptr_t>(counter);
  if (!arena->has(address) || arena->isShared(address)) {
    Side self{execution.place(MLC_HERE), execution.running, 0,
              "counts in what is not global memory"};
    execution.report(
        {Problem::OutOfBounds, self, {}, arena->describe(address)});
  }
  if (counting)
    ++counters.at(execution.place(MLC_HERE)).atomics;
  if (execution.checks)
    checkAccess(address, 4, 4, true, MLC_HERE, execution.clock.me | atomic);
  if (execution.order.isActive)
    execution.order.count(execution.running, address, execution.clock);
  else
    execution.handovers.count(address, execution.clock);
  unsigned before = *counter;
  *counter = before + 1 >= number ? 0 : before + 1;
  return before;
}

MLC_EMULATOR_API void mlcEmulatorCopyAsync(void *to, const void *from,
                                           unsigned bytes, bool valid) {
  Thread &thread = execution.current();
  auto target = reinterpret_cast<uintptr_t>(to);
  auto source = reinterpret_cast<uintptr_t>(from);
  auto misplaced = [&](uintptr_t address, const char *does) {
    Side self{execution.place(MLC_HERE), execution.running, 0, does};
    execution.report(
        {Problem::OutOfBounds, self, {}, arena->describe(address)});
  };
  if (!arena->isShared(target))
    misplaced(target, "copies to what is not shared memory");
  if (valid && arena->isShared(source))
    misplaced(source, "copies from what is not global memory");
  uint32_t place = execution.place(MLC_HERE);
  if (counting && valid)
    counters.access(execution.running, source, bytes, false, place);
  if (counting)
    counters.access(execution.running, target, bytes, true, place);
  if (execution.checks) {
    if (valid)
      checkAccess(source, bytes, bytes, false, MLC_HERE, execution.clock.me);
    beginCopy(target, bytes, MLC_HERE);
  }
  Copy copy{target, bytes, thread.group, place, {}};
  if (valid)
    std::memcpy(copy.data, from, bytes);
  thread.copies.push_back(copy);
}

MLC_EMULATOR_API void mlcEmulatorCommitCopies() { ++execution.current().group; }

MLC_EMULATOR_API void mlcEmulatorWaitForCopies(unsigned pending) {
  Thread &thread = execution.current();
  // Groups are numbered from 0; copies in the open group have thread.group.
  auto isDone = [&](const Copy &copy) {
    return uint64_t(copy.group) + pending < thread.group;
  };
  auto later = std::find_if_not(thread.copies.begin(), thread.copies.end(),
                                isDone); // in order of their groups
  for (auto copy = thread.copies.begin(); copy != later; ++copy) {
    if (execution.checks)
      endCopy(copy->to, copy->bytes, MLC_HERE);
    std::memcpy(reinterpret_cast<void *>(copy->to), copy->data, copy->bytes);
  }
  thread.copies.erase(thread.copies.begin(), later);
}

MLC_EMULATOR_API Words mlcEmulatorLoadMatrices(const void *row, bool transposed,
                                               unsigned site) {
  Thread &thread = execution.current();
  auto address = reinterpret_cast<uintptr_t>(row);
  if (!arena->isShared(address)) {
    Side self{execution.place(MLC_HERE), execution.running, 0,
              "loads matrices from what is not shared memory"};
    execution.report(
        {Problem::OutOfBounds, self, {}, arena->describe(address)});
  }
  if (counting)
    counters.access(execution.running, address, 16, false,
                    execution.place(MLC_HERE));
  // All lanes receive parts of the row.
  if (execution.checks)
    checkAccess(address, 16, 16, false, MLC_HERE,
                execution.clock.me | manyLanes);
  thread.words[0] = address;
  thread.transposed = transposed;
  thread.site = site;
  execution.wait(Wait::Load, MLC_HERE);
  return {thread.words[0], thread.words[1]};
}

MLC_EMULATOR_API void mlcEmulatorStoreMatrices(void *row, uint64_t low,
                                               uint64_t high, unsigned site) {
  Thread &thread = execution.current();
  auto address = reinterpret_cast<uintptr_t>(row);
  if (!arena->isShared(address) || address % 16)
    execution.misuse(MLC_HERE, "calls storeMatrices",
                     "a row must be at a multiple of 16 in shared memory: " +
                         arena->describe(address));
  thread.words[0] = address;
  thread.site = site;
  execution.wait(Wait::Store, MLC_HERE);
  uint32_t words[4] = {uint32_t(low), uint32_t(low >> 32), uint32_t(high),
                       uint32_t(high >> 32)};
  for (unsigned matrix = 0; matrix < 4; ++matrix) {
    uintptr_t to = thread.rows[matrix] + execution.running % 4 * 4;
    if (execution.checks)
      checkAccess(to, 4, 4, true, MLC_HERE, execution.clock.me);
    std::memcpy(reinterpret_cast<void *>(to), &words[matrix], 4);
  }
}

MLC_EMULATOR_API Sums mlcEmulatorMultiplyAdd(unsigned kind, Sums d, uint64_t a0,
                                             uint64_t a1, uint64_t b,
                                             unsigned site) {
  Thread &thread = execution.current();
  thread.kind = uint8_t(kind + 1); // 0 is none
  thread.site = site;
  thread.words[0] = a0;
  thread.words[1] = a1;
  thread.words[2] = b;
  std::copy(d.sums, d.sums + 4, thread.sums);
  execution.wait(Wait::Multiply, MLC_HERE);
  Sums result;
  std::copy(thread.sums, thread.sums + 4, result.sums);
  return result;
}
}
