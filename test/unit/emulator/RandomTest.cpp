//===- RandomTest.cpp - Races of random programs, beside all pairs --------===//
//
// A program is a table: in each step each thread reads or writes something or
// nothing, and then there is a barrier or none. Whether there is a race follows
// from comparing all accesses with all others; the emulator, which remembers
// little of them, must say the same.
//
//===----------------------------------------------------------------------===//

#include "Gpu.h"

#include <algorithm>
#include <random>

using namespace mlc::test;

namespace {

constexpr unsigned threads = 80, memoryBytes = 16;

const char *const source = R"(
MLC_KERNEL(k)(const int *ops, const int *barriers, long long steps,
              uint8_t *global, unsigned *out) {
  int t = threadIdx.x, n = blockDim.x;
  uint8_t *memory = global;
  if (!memory) {
    memory = sharedMemory();
    if (t < MEMORY)
      memory[t] = 0;
    syncBlock();
  }
  unsigned sum = 0;
  for (int step = 0; step < steps; ++step) {
    int op = ops[(step * gridDim.x + blockIdx.x) * n + t];
    void *at = memory + (op & 255);
    switch (op >> 8) {
    case 1: sum += *(uint8_t *)at; break;
    case 2: sum += *(uint16_t *)at; break;
    case 3: sum += *(uint32_t *)at; break;
    case 4: sum += *(uint64_t *)at; break;
    case 5: *(uint8_t *)at = op; break;
    case 6: *(uint16_t *)at = op; break;
    case 7: *(uint32_t *)at = op; break;
    case 8: *(uint64_t *)at = op; break;
    }
    int barrier = barriers[step];
    if (barrier == 1)
      syncBlock();
    else if (barrier == 2 || barrier == 3 + t / 32)
      syncWarp();
  }
  out[blockIdx.x * n + t] = sum;
})";

struct Event {
  unsigned block, thread, phase, warpPhase, begin, end;
  bool isWrite;
};

bool race(const Event &a, const Event &b) {
  if (!(a.isWrite || b.isWrite) || a.begin >= b.end || b.begin >= a.end)
    return false;
  if (a.block != b.block)
    return true;
  if (a.thread == b.thread || a.phase != b.phase)
    return false;
  return a.thread / 32 != b.thread / 32 || a.warpPhase == b.warpPhase;
}

struct Program {
  std::vector<int> ops, barriers;
  bool races = false;
};

Program make(std::mt19937 &random, unsigned blocks) {
  auto below = [&](unsigned n) { return unsigned(random() % n); };
  Program program;
  std::vector<Event> events;
  unsigned phase = 0, warpPhases[3] = {};
  // Few accesses of few threads, or nearly all programs would race; threads of
  // one warp and of others.
  const unsigned actors[] = {0, 1, 2, 32, 33, 79};
  unsigned steps = 2 + below(8), writers = 1 + below(6), least = below(4);
  for (unsigned step = 0; step < steps; ++step) {
    std::vector<int> ops(blocks * threads);
    for (unsigned i = below(3); i > 0; --i) {
      unsigned block = below(blocks), thread = actors[below(6)];
      bool isWrite = below(10) < writers;
      unsigned scale = std::max(below(4), least), bytes = 1u << scale;
      unsigned begin = below(memoryBytes / bytes) * bytes;
      int &op = ops[block * threads + thread];
      if (op)
        continue;
      op = int((1 + scale + (isWrite ? 4 : 0)) << 8 | begin);
      events.push_back({block, thread, phase, warpPhases[thread / 32], begin,
                        begin + bytes, isWrite});
    }
    program.ops.insert(program.ops.end(), ops.begin(), ops.end());
    unsigned barrier = below(10);
    program.barriers.push_back(int(barrier));
    phase += barrier == 1;
    for (unsigned warp = 0; warp < 3; ++warp)
      warpPhases[warp] += barrier == 2 || barrier == 3 + warp;
  }
  for (const Event &a : events)
    for (const Event &b : events)
      program.races |= race(a, b);
  return program;
}

void compare(unsigned blocks, bool shared, unsigned programs) {
  Gpu gpu;
  CUfunction kernel =
      gpu.kernel("#define MEMORY " + std::to_string(memoryBytes) + source);
  std::seed_seq seed{blocks, unsigned(shared)};
  std::mt19937 random(seed);
  unsigned races = 0;
  // Lines of the source take longer to find than the races.
  Variable path("PATH", "/nowhere");
  CUdeviceptr out = gpu.allocate(blocks * threads * 4);
  CUdeviceptr memory = gpu.upload(std::vector<uint8_t>(memoryBytes));
  for (unsigned i = 0; i < programs; ++i) {
    Program program = make(random, blocks);
    CUdeviceptr ops = gpu.upload(program.ops);
    CUdeviceptr barriers = gpu.upload(program.barriers);
    Variable order("MLC_EMULATOR_SEED", std::to_string(i));
    CUresult result = gpu.launch(
        kernel, {blocks, threads, memoryBytes},
        {ops, barriers, program.barriers.size(), shared ? 0 : memory, out});
    INFO("program " << i);
    REQUIRE(result == (program.races ? 719 : 0));
    std::string report = gpu.report();
    REQUIRE((report.find("race") != std::string::npos) == program.races);
    races += program.races;
  }
  // Both kinds are there.
  CHECK(races > programs / 10);
  CHECK(races < programs * 9 / 10);
}

} // namespace

TEST_CASE("random programs in shared memory", "[random]") {
  compare(1, true, 2000);
}

TEST_CASE("random programs in global memory", "[random]") {
  compare(1, false, 2000);
}

TEST_CASE("random programs of several blocks", "[random]") {
  compare(3, false, 2000);
}
