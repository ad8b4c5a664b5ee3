//===- CountersTest.cpp - What accesses cost, computed by hand ------------===//

#include "Gpu.h"

#include <map>

using namespace mlc::test;
using Catch::Contains;

namespace {

using Figures = std::map<std::string, uint64_t>;

/// Runs a kernel's body once in the plain order and once in another, and checks
/// what was counted. It has `in` and `out` of 64 KiB, shared memory of 16 KiB
/// that is full of zeros, and the thread's number `t`.
void expect(const std::string &body, Figures expected,
            Gpu::Shape shape = {1, 32}) {
  INFO(body);
  Variable file("MLC_EMULATOR_COUNTERS", "/dev/null");
  Gpu gpu;
  CUfunction kernel =
      gpu.kernel("MLC_KERNEL(k)(const float *in, float *out) {\n"
                 "  int t = threadIdx.x;\n" +
                 body + "\n}");
  shape.shared = 16 << 10;
  CUdeviceptr in = gpu.upload(std::vector<float>(16 << 10));
  CUdeviceptr out = gpu.upload(std::vector<float>(16 << 10));
  for (const char *seed : {"0", "3"}) {
    Variable order("MLC_EMULATOR_SEED", seed);
    Figures before, counted;
    for (const auto &[name, _] : expected)
      before[name] = mlcEmulatorCounted("k", name.c_str());
    CUresult error = gpu.launch(kernel, shape, {in, out});
    INFO(gpu.report());
    REQUIRE(error == 0);
    for (const auto &[name, _] : expected)
      counted[name] = mlcEmulatorCounted("k", name.c_str()) - before[name];
    CHECK(counted == expected);
  }
}

Figures loads(uint64_t requests, uint64_t sectors, uint64_t ideal) {
  return {{"global_loads.requests", requests},
          {"global_loads.sectors", sectors},
          {"global_loads.ideal_sectors", ideal}};
}

/// Stores a value to each `place` of shared memory, of `type`; what counts.
void expectShared(const std::string &type, const std::string &place,
                  uint64_t wavefronts, uint64_t ideal) {
  std::string memory = "reinterpret_cast<" + type + " *>(sharedMemory())";
  expect("storeWide(" + memory + " + " + place + ", " + type + "{});",
         {{"shared_stores.requests", 1},
          {"shared_stores.wavefronts", wavefronts},
          {"shared_stores.ideal_wavefronts", ideal}});
}

} // namespace

TEST_CASE("sectors of neighbours", "[counters]") {
  expect("out[t] = in[t];", {{"global_loads.requests", 1},
                             {"global_loads.lanes", 32},
                             {"global_loads.bytes", 128},
                             {"global_loads.sectors", 4},
                             {"global_loads.ideal_sectors", 4},
                             {"global_loads.of_4_bytes", 1},
                             {"global_stores.requests", 1},
                             {"global_stores.sectors", 4},
                             {"shared_loads.requests", 0},
                             {"launches", 1},
                             {"blocks", 1},
                             {"threads", 32}});
  expect("out[t] = reinterpret_cast<const uint8_t *>(in)[t];",
         {{"global_loads.sectors", 1},
          {"global_loads.ideal_sectors", 1},
          {"global_loads.of_1_bytes", 1}});
}

TEST_CASE("sectors with gaps", "[counters]") {
  expect("out[t] = in[2 * t];", loads(1, 8, 4));
  expect("out[t] = in[8 * t];", loads(1, 32, 4));
  expect("out[t] = in[1024 - 8 * t];", loads(1, 32, 4));
  expect("out[t] = in[t + 1];", loads(1, 5, 4)); // misaligned
  expect("out[t] = in[t + 8];", loads(1, 4, 4));
}

TEST_CASE("sectors that lanes share", "[counters]") {
  expect("out[t] = in[0];", loads(1, 1, 1));
  expect("out[t] = in[t / 4];", loads(1, 1, 1));
  expect("out[t] = in[t % 2 * 512];", loads(1, 2, 1));
}

TEST_CASE("accesses of 16 bytes", "[counters]") {
  std::string type = "struct alignas(16) Four { float at[4]; };\n";
  Figures expected = loads(1, 16, 16);
  expected["global_loads.of_16_bytes"] = 1;
  expected["global_loads.bytes"] = 512;
  expected["global_stores.of_16_bytes"] = 1;
  expected["global_stores.sectors"] = 16;
  expect(type + "storeWide(out + 4 * t, loadWide<Four>(in + 4 * t));",
         expected);
  // Every second of them: half of each sector.
  expect(type + "out[t] = loadWide<Four>(in + 8 * t).at[1];", loads(1, 32, 16));
}

TEST_CASE("warps that are not full", "[counters]") {
  Figures expected = loads(2, 4 + 1, 4 + 1);
  expected["global_loads.lanes"] = 40;
  expect("out[t] = in[t];", expected, {1, 40});
  expected = loads(1, 1, 1);
  expected["global_loads.lanes"] = 8;
  expect("if (t >= 8) return; out[t] = in[t];", expected);
}

TEST_CASE("branches of single lanes", "[counters]") {
  // Two instructions, each with every second lane.
  Figures expected = loads(2, 4 + 4, 2 + 2);
  expected["global_loads.lanes"] = 32;
  expect("if (t % 2) out[t] = in[t]; else out[t] = in[t + 64] + 1;", expected);
  // Lane t makes t + 1 rounds: round j has 32 - j lanes.
  expected = {{"global_loads.requests", 32},
              {"global_loads.lanes", 33 * 16},
              {"global_loads.sectors", 32 * 1}};
  expect("float sum = 0; for (int j = 0; j <= t; ++j) sum += in[j * 8];"
         "out[t] = sum;",
         expected);
}

TEST_CASE("a request has no lanes across a barrier", "[counters]") {
  // The odd lanes' first access is after the barrier.
  std::string body = "float sum = 0; for (int j = 0; j < 2; ++j) {"
                     "if (j >= t % 2) sum += in[t + 32 * j]; syncWarp(); }"
                     "out[t] = sum;";
  Figures expected = loads(2, 4 + 4, 2 + 4);
  expected["global_loads.lanes"] = 16 + 32;
  expected["warp_barriers"] = 2;
  expect(body, expected);
}

TEST_CASE("wavefronts of words", "[counters]") {
  expectShared("float", "t", 1, 1);
  expectShared("float", "2 * t", 2, 1);
  expectShared("float", "32 * t", 32, 1);
  expectShared("float", "33 * t", 1, 1);
  // Two to a word.
  expectShared("uint16_t", "t", 1, 1);
  expectShared("uint16_t", "64 * t", 32, 1);
}

TEST_CASE("wavefronts of wide accesses", "[counters]") {
  expectShared("uint64_t", "t", 2, 2);
  expectShared("uint64_t", "2 * t", 4, 2);
  std::string store = "struct alignas(16) Four { float at[4]; };\n"
                      "storeWide(sharedMemory() + ";
  auto expectFour = [&](const std::string &place, uint64_t wavefronts) {
    expect(store + place + ", Four{});",
           {{"shared_stores.of_16_bytes", 1},
            {"shared_stores.wavefronts", wavefronts},
            {"shared_stores.ideal_wavefronts", 4}});
  };
  expectFour("16 * t", 4);
  expectFour("32 * t", 8);
  expectFour("128 * t", 32);
  expectFour("144 * t", 4);
}

TEST_CASE("wavefronts of loads", "[counters]") {
  std::string fill = "float *s = reinterpret_cast<float *>(sharedMemory());"
                     "for (int i = t; i < 1056; i += 32) s[i] = 0;"
                     "syncBlock();";
  expect(fill + "out[t] = s[32 * t];", {{"shared_loads.wavefronts", 32},
                                        {"shared_stores.wavefronts", 33},
                                        {"barriers", 1}});
  expect(fill + "out[t] = s[33 * t];", {{"shared_loads.wavefronts", 1}});
  expect(fill + "out[t] = s[7];", {{"shared_loads.wavefronts", 1}});
  expect(fill + "out[t] = s[t % 2 * 32];", {{"shared_loads.wavefronts", 2}});
  expect(
      fill + "out[t] = loadWide<uint64_t>(s + t % 2 * 32);",
      {{"shared_loads.wavefronts", 4}, {"shared_loads.ideal_wavefronts", 2}});
}

TEST_CASE("wavefronts of matrices", "[counters]") {
  auto expectRows = [](unsigned stride, uint64_t wavefronts) {
    std::string bytes = std::to_string(stride);
    expect("for (int i = t; i < 4096; i += 32)"
           "  reinterpret_cast<float *>(sharedMemory())[i] = 0;"
           "syncBlock(); uint32_t words[4];"
           "loadMatrices(words, sharedMemory() + t * " +
               bytes + "); out[t] = words[3];",
           {{"shared_loads.requests", 1},
            {"shared_loads.wavefronts", wavefronts},
            {"shared_loads.ideal_wavefronts", 4}});
  };
  expectRows(16, 4);
  expectRows(32, 8); // rows of 16 elements
  expectRows(64, 16);
  expectRows(128, 32);
  expectRows(80, 4); // 32 elements and padding
  expectRows(144, 4);
}

TEST_CASE("asynchronous copies are loads and stores", "[counters]") {
  std::string end = "commitCopies(); waitForCopies<0>();";
  expect("copyAsync<16>(sharedMemory() + 16 * t, in + 4 * t, true);" + end,
         {{"global_loads.requests", 1},
          {"global_loads.sectors", 16},
          {"global_loads.of_16_bytes", 1},
          {"shared_stores.requests", 1},
          {"shared_stores.wavefronts", 4}});
  // Who copies nothing writes zeros.
  expect("copyAsync<4>(sharedMemory() + 8 * t, in + t, t < 8);" + end,
         {{"global_loads.lanes", 8},
          {"global_loads.sectors", 1},
          {"shared_stores.lanes", 32},
          {"shared_stores.wavefronts", 2}});
}

TEST_CASE("operations of warps and blocks", "[counters]") {
  Gpu::Shape shape = {3, 64};
  expect("float x = t; for (int m = 16; m; m /= 2) x += shuffleXor(x, m);"
         "syncBlock(); if (t == 0)"
         "  count(reinterpret_cast<unsigned *>(out), 3);",
         {{"shuffles", 3 * 2 * 5},
          {"barriers", 3},
          {"atomics", 3},
          {"blocks", 3},
          {"threads", 192}},
         shape);
  expect("float d[4] = {}; uint32_t a[4] = {}, b[2] = {};"
         "multiplyAddF16(d, a, b); multiplyAddTF32(d, a, b);"
         "int e[4] = {}; multiplyAddBytes<true, true>(e, a, b);",
         {{"products", 3 * 2 * 3},
          {"multiply_adds", uint64_t(3 * 2 * 16 * 8 * (16 + 8 + 32))}},
         shape);
}

TEST_CASE("a thread's own variables cost nothing", "[counters]") {
  expect("float own[32]; for (int i = 0; i < 32; ++i) own[i * 7 % 32] = in[i];"
         "out[t] = own[int(in[t])];",
         {{"global_loads.requests", 33},
          {"shared_loads.requests", 0},
          {"shared_stores.requests", 0}});
}

TEST_CASE("nothing is counted unless asked for", "[counters]") {
  uint64_t before = mlcEmulatorCounted("k", "launches");
  Gpu gpu;
  CUfunction kernel = gpu.kernel("MLC_KERNEL(k)(float *out) { *out = 1; }");
  REQUIRE(gpu.launch(kernel, {1, 1}, {gpu.allocate(4)}) == 0);
  CHECK(mlcEmulatorCounted("k", "launches") == before);
}

TEST_CASE("wide accesses must be aligned", "[counters]") {
  Gpu gpu;
  CUfunction kernel = gpu.kernel("struct alignas(16) Four { float at[4]; };"
                                 "MLC_KERNEL(k)(const float *in, float *out) {"
                                 "  storeWide(out, loadWide<Four>(in + 2)); }");
  CUdeviceptr in = gpu.upload(std::vector<float>(8));
  CHECK(gpu.launch(kernel, {1, 1}, {in, gpu.allocate(16)}) == 716);
  CHECK_THAT(gpu.report(),
             Contains("misaligned access") && Contains("reads 16 bytes"));
}

TEST_CASE("wrong places for counters", "[counters]") {
  auto refused = [](const std::string &message) {
    CHECK(cuInit(0) != 0);
    CHECK_THAT(mlcEmulatorReport(), Contains(message));
    mlcEmulatorClearReport();
  };
  mlcEmulatorClearReport();
  {
    Variable file("MLC_EMULATOR_COUNTERS", "/nowhere/counters.json");
    refused("MLC_EMULATOR_COUNTERS is '/nowhere/counters.json'; expected a "
            "file that can be written");
  }
  {
    Variable file("MLC_EMULATOR_COUNTERS", "/dev/null");
    Variable checks("MLC_EMULATOR_CHECKS", "0");
    refused("MLC_EMULATOR_COUNTERS needs the checks of accesses, but "
            "MLC_EMULATOR_CHECKS is 0");
  }
  CHECK(cuInit(0) == 0);
}
