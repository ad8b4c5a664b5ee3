//===- Counters.cpp - What a kernel's instructions cost a GPU -------------===//

#include "runtime/emulator/Counters.h"
#include "runtime/emulator/Arena.h"
#include "runtime/emulator/CounterReport.h"
#include "runtime/emulator/Fiber.h"
#include "runtime/emulator/Options.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace mlc::emulator {

bool counting = false;
Counters counters;

//===----------------------------------------------------------------------===//
// The cost of one request
//===----------------------------------------------------------------------===//

/// Sorts and drops repetitions; how many are left.
static size_t distinct(uint64_t *values, size_t count) {
  if (!std::is_sorted(values, values + count))
    std::sort(values, values + count);
  return size_t(std::unique(values, values + count) - values);
}

static void addSectors(Traffic &traffic, const uint64_t *addresses,
                       size_t count, unsigned bytes) {
  uint64_t values[32];
  std::copy(addresses, addresses + count, values);
  uint64_t asked = distinct(values, count) * bytes;
  for (size_t i = 0; i < count; ++i)
    values[i] = addresses[i] / 32;
  traffic.units += distinct(values, count);
  traffic.ideal += (asked + 31) / 32;
}

/// The most distinct words of one bank.
static unsigned wavefrontsOf(const uint64_t *addresses, size_t count,
                             unsigned bytes) {
  uint64_t words[32];
  size_t size = 0;
  for (size_t i = 0; i < count; ++i)
    for (unsigned at = 0; at < bytes; at += 4)
      words[size++] = (addresses[i] + at) / 4;
  size = distinct(words, size);
  unsigned ofBank[32] = {}, most = 0;
  for (size_t i = 0; i < size; ++i)
    most = std::max(most, ++ofBank[words[i] % 32]);
  return most;
}

void Counters::request(uint64_t instruction, const Part *lanes, size_t count) {
  unsigned width = instruction >> 4 & 15, bytes = 1u << width;
  auto kind = Kind(instruction & 15);
  Traffic &traffic = at(uint32_t(instruction >> 8)).traffic[size_t(kind)];
  ++traffic.requests;
  ++traffic.widths[width];
  traffic.lanes += count;
  traffic.bytes += count * bytes;
  uint64_t addresses[32];
  for (size_t i = 0; i < count; ++i)
    addresses[i] = lanes[i].address;
  if (kind == Kind::GlobalLoad || kind == Kind::GlobalStore)
    return addSectors(traffic, addresses, count, bytes);
  unsigned together = bytes <= 4 ? 32 : 128 / bytes;
  for (size_t begin = 0, end; begin < count; begin = end) {
    unsigned set = lanes[begin].lane / together;
    end = begin;
    while (end < count && lanes[end].lane / together == set)
      ++end;
    traffic.units += wavefrontsOf(addresses + begin, end - begin, bytes);
    ++traffic.ideal;
  }
}

//===----------------------------------------------------------------------===//
// Requests from the accesses of lanes
//===----------------------------------------------------------------------===//

void Counters::access(unsigned thread, uintptr_t address, unsigned bytes,
                      bool isWrite, uint32_t place) {
  if (!arena->has(address))
    return; // local, or a constant
  Kind kind = arena->isShared(address)
                  ? (isWrite ? Kind::SharedStore : Kind::SharedLoad)
                  : (isWrite ? Kind::GlobalStore : Kind::GlobalLoad);
  logs[thread].push_back({address, place, uint8_t(__builtin_ctz(bytes)), kind});
}

void Counters::pieces(unsigned thread, uintptr_t address, size_t bytes,
                      bool isWrite, uint32_t place) {
  uintptr_t odd = (address | bytes) & 3;
  unsigned piece = odd == 0 ? 4 : odd == 2 ? 2 : 1;
  for (size_t at = 0; at < bytes; at += piece)
    access(thread, address + at, piece, isWrite, place);
}

void Counters::converge(unsigned first, unsigned end) {
  if (inLockstep(first, end))
    takeTogether(first, end);
  else
    putTogether(first, end);
  for (unsigned i = first; i < end; ++i)
    logs[i].clear();
}

/// Whether all lanes, but those without accesses, made the same ones.
bool Counters::inLockstep(unsigned first, unsigned end) const {
  const std::vector<Entry> *one = nullptr;
  for (unsigned i = first; i < end; ++i) {
    if (logs[i].empty())
      continue;
    if (!one)
      one = &logs[i];
    auto same = [](const Entry &a, const Entry &b) {
      return a.instruction() == b.instruction();
    };
    if (!std::equal(logs[i].begin(), logs[i].end(), one->begin(), one->end(),
                    same))
      return false;
  }
  return true;
}

void Counters::takeTogether(unsigned first, unsigned end) {
  Part lanes[32];
  size_t most = 0;
  for (unsigned i = first; i < end; ++i)
    most = std::max(most, logs[i].size());
  for (size_t at = 0; at < most; ++at) {
    size_t count = 0;
    uint64_t instruction = 0;
    for (unsigned i = first; i < end; ++i)
      if (!logs[i].empty()) {
        instruction = logs[i][at].instruction();
        lanes[count++] = {instruction, 0, i - first, logs[i][at].address};
      }
    request(instruction, lanes, count);
  }
}

void Counters::putTogether(unsigned first, unsigned end) {
  parts.clear();
  std::unordered_map<uint64_t, uint32_t> occurrences;
  for (unsigned i = first; i < end; ++i) {
    occurrences.clear();
    for (const Entry &entry : logs[i])
      parts.push_back({entry.instruction(), occurrences[entry.instruction()]++,
                       i - first, entry.address});
  }
  std::sort(parts.begin(), parts.end(), [](const Part &a, const Part &b) {
    return std::tie(a.instruction, a.occurrence, a.lane) <
           std::tie(b.instruction, b.occurrence, b.lane);
  });
  for (size_t begin = 0, next; begin < parts.size(); begin = next) {
    const Part &part = parts[begin];
    next = begin;
    while (next < parts.size() && parts[next].instruction == part.instruction &&
           parts[next].occurrence == part.occurrence)
      ++next;
    request(part.instruction, &part, next - begin);
  }
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

void Counters::startLaunch(const Launch &given, bool checks) {
  std::string file = countersFile();
  counting = checks && !file.empty();
  if (!counting)
    return;
  kernel = &countsOf(given, file);
  ++kernel->launches;
  kernel->threads += given.grid.count() * given.block.count();
  last = nullptr;
  logs.resize(Fibers::count);
  for (auto &log : logs)
    log.clear(); // a launch with an error leaves some
}

void Counters::endLaunch() {
  counting = false;
  kernel = nullptr;
  last = nullptr;
}

Counts &Counters::at(uint32_t place) {
  if (!last || place != lastPlace) {
    last = &kernel->places[place];
    lastPlace = place;
  }
  return *last;
}

} // namespace mlc::emulator
