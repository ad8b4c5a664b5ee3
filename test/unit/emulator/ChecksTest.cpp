//===- ChecksTest.cpp - What is wrong with a kernel is found --------------===//

#include "Gpu.h"

#include <algorithm>
#include <numeric>

using namespace mlc::test;
using Catch::Contains;

namespace {

constexpr CUresult illegalAddress = 700, misaligned = 716, failed = 719;

/// Runs `source`'s kernel on an input of 256 ints and an output as large, under
/// some seeds; each time the error must be `error` and the report contain
/// `texts`.
void expectFinding(const std::string &source, Gpu::Shape shape, CUresult error,
                   const std::vector<std::string> &texts) {
  Gpu gpu;
  CUfunction kernel = gpu.kernel(source);
  std::vector<int> values(256);
  std::iota(values.begin(), values.end(), 0);
  CUdeviceptr in = gpu.upload(values);
  underSeeds([&] {
    CUdeviceptr out = gpu.allocate(256 * 4);
    CHECK(gpu.launch(kernel, shape, {in, out}) == error);
    std::string report = gpu.report();
    CHECK_THAT(report, Contains("kernel k:"));
    for (const std::string &text : texts)
      CHECK_THAT(report, Contains(text));
    // Said once: the next launch is as good as any.
    CHECK(cuStreamSynchronize(gpu.stream) == 0);
  });
}

/// The start of all kernels here; the body is line 3 of the source.
std::string body(const std::string &text) {
  return "MLC_KERNEL(k)(int *in, int *out) { int t = threadIdx.x, n = "
         "blockDim.x; int *shared = (int *)sharedMemory(); (void)shared;\n" +
         text + "\n}";
}

} // namespace

TEST_CASE("a missing barrier of the block", "[checks]") {
  expectFinding(body("shared[t] = in[t]; out[t] = shared[n - 1 - t];"),
                {1, 64, 256}, failed, {"race", "shared memory"});
  // Within one warp too.
  expectFinding(body("shared[t] = in[t];\n"
                     "out[t] = shared[n - 1 - t];"),
                {1, 16, 64}, failed, {"race", ".cu:4", "out[t] = shared"});
  // Read, then written by others.
  expectFinding(body("shared[t] = in[t]; syncBlock();\n"
                     "out[t] = shared[(t + 1) % n];\n"
                     "shared[t] = 1;"),
                {1, 64, 256}, failed,
                {"race", ".cu:4: out[t] = shared", ".cu:5: shared[t] = 1"});
}

TEST_CASE("a warp's barrier is none for the block", "[checks]") {
  expectFinding(
      body("shared[t] = in[t]; syncWarp(); out[t] = shared[n - 1 - t];"),
      {1, 64, 256}, failed, {"race", "shared memory"});
}

TEST_CASE("a missing barrier of the warp", "[checks]") {
  expectFinding(body("shared[t] = in[t]; out[t] = shared[t ^ 1];"),
                {1, 64, 256}, failed, {"race", "of block 0", "wrote it"});
  // A shuffle is no barrier.
  expectFinding(body("shared[t] = in[t]; shuffleXor(t, 1);\n"
                     "out[t] = shared[t ^ 1];"),
                {1, 64, 256}, failed, {"race"});
}

TEST_CASE("all threads write one word", "[checks]") {
  expectFinding(body("out[0] = t;"), {1, 2}, failed, {"race", "byte 0 of an"});
  expectFinding(body("out[0] = in[0];"), {2, 1}, failed,
                {"race", "of block 0", "of block 1"});
  // Bytes of one word: theirs, then one that two write.
  expectFinding(body("((char *)out)[t < 3 ? t : 2] = 0;"), {1, 4}, failed,
                {"race", "byte 2 of an"});
}

TEST_CASE("one block reads what another writes", "[checks]") {
  expectFinding(body("if (blockIdx.x) out[t] = in[t]; else in[t] = 0;"),
                {2, 32}, failed, {"race", "of block 0", "of block 1"});
  expectFinding(body("int sum = in[5]; syncBlock();\n"
                     "out[n * blockIdx.x + t] = sum;\n"
                     "if (blockIdx.x == 1 && t == 5) in[t] = 3;"),
                {4, 32}, failed, {"race", "byte 20 of an"});
}

TEST_CASE("barriers that not all reach", "[checks]") {
  expectFinding(body("if (t < 32) syncBlock(); out[t] = 0;"), {1, 64}, failed,
                {"divergent barrier", "waits in syncBlock", "has ended"});
  expectFinding(body("if (t < 7) syncWarp(); out[t] = 0;"), {1, 33}, failed,
                {"divergent barrier", "waits in syncWarp", "has ended"});
  expectFinding(body("if (t < 7) syncWarp();\nelse syncBlock();"), {1, 32},
                failed,
                {"divergent barrier", "waits in syncWarp", "waits in syncBlock",
                 ".cu:3", ".cu:4"});
  // Two barriers are not one, for warps and for lanes.
  for (const char *some : {"t < 32", "t % 2"})
    expectFinding(body("if (" + std::string(some) +
                       ")\nsyncBlock();\nelse\nsyncBlock();\nout[t] = 0;"),
                  {1, 64}, failed,
                  {"divergent barrier", "two of lines 4 and 6"});
  expectFinding(body("if (t != 9) out[t] = shuffleXor(t, 1);"), {1, 32}, failed,
                {"divergent barrier", "waits in a shuffle"});
}

TEST_CASE("a lane that does not exist", "[checks]") {
  expectFinding(body("out[t] = shuffleXor(t, 16);"), {1, 48}, failed,
                {"lanes that do not exist", "asks a lane"});
}

TEST_CASE("out of bounds by one", "[checks]") {
  expectFinding(body("out[t + 1] = 0;"), {1, 256}, illegalAddress,
                {"out of bounds", "byte 0 behind an allocation of 1024 bytes",
                 "writes 4 bytes", ".cu:3: out[t + 1] = 0;"});
  expectFinding(
      body("out[t] = in[t - 1];"), {1, 32}, illegalAddress,
      {"out of bounds", "4 bytes in front of an allocation", "reads 4 bytes"});
  expectFinding(body("shared[t] = t;"), {1, 32, 127}, illegalAddress,
                {"byte 127 of the block's 127 bytes of shared memory"});
  expectFinding(body("((short *)shared)[t] = t;"), {1, 32, 62}, illegalAddress,
                {"byte 62 of the block's 62 bytes of shared memory"});
  expectFinding(body("*(int *)nullptr = t;"), {1, 32}, illegalAddress,
                {"address 0x0, which is not the device's"});
  expectFinding(body("for (int i = 0; i < 257; ++i) out[i] = 0;"), {1, 1},
                illegalAddress, {"out of bounds"});
  // Copies of whole objects, of which only the end is too far.
  expectFinding(body("struct S { int x[9]; }; *(S *)(out + 248) = *(S *)in;"),
                {1, 1}, illegalAddress, {"out of bounds"});
}

TEST_CASE("a pointer to another thread's variable", "[checks]") {
  expectFinding(body("int mine[4] = {t, t, t, t};\n"
                     "int **slot = (int **)shared;\n"
                     "if (t == 0) *slot = mine;\n"
                     "syncBlock();\n"
                     "out[t] = (*slot)[in[t] & 3];\n"
                     "syncBlock();"),
                {1, 2, 8}, illegalAddress, {"a variable of thread 0"});
}

TEST_CASE("misaligned", "[checks]") {
  expectFinding(body("*(int *)((char *)out + 2) = t;"), {1, 1}, misaligned,
                {"misaligned access", "byte 2 of an allocation"});
  expectFinding(body("out[t] = *(long long *)(in + 1);"), {1, 1}, misaligned,
                {"misaligned access", "reads 8 bytes"});
  expectFinding(body("copyAsync<16>(shared, in + 1, true);"), {1, 1, 64},
                misaligned, {"misaligned access", "reads 16 bytes"});
}

TEST_CASE("bytes that nobody wrote", "[checks]") {
  expectFinding(body("out[t] = shared[t];"), {1, 32, 128}, failed,
                {"nobody wrote", "of the block's 128 bytes"});
  expectFinding(body("shared[t] = t; if (blockIdx.x == 0) out[t] = "
                     "shared[t + 32];"),
                {2, 32, 256}, failed, {"nobody wrote"});
  expectFinding(body("in[t] = out[t];"), {1, 32}, failed,
                {"nobody wrote", "of an allocation of 1024"});
  // A part of a word.
  expectFinding(body("((short *)out)[0] = 1; in[0] = out[0];"), {1, 1}, failed,
                {"nobody wrote", "byte 2 of an allocation of 1024"});
  // Read before it is written again.
  expectFinding(body("out[t] += 1;"), {1, 1}, failed, {"nobody wrote"});
}

TEST_CASE("copies that nobody waited for", "[checks]") {
  const char *const title = "asynchronous copy, not waited for";
  expectFinding(body("copyAsync<4>(shared + t, in + t, true);\n"
                     "commitCopies();\n"
                     "out[t] = shared[t];"),
                {1, 32, 128}, failed,
                {title, ".cu:3: copyAsync", ".cu:5: out[t]"});
  // Not committed, so not waited for.
  expectFinding(body("copyAsync<4>(shared + t, in + t, true);\n"
                     "waitForCopies<0>(); out[t] = shared[t];"),
                {1, 32, 128}, failed, {title});
  // One group too few.
  expectFinding(body("copyAsync<4>(shared + t, in + t, true); commitCopies();\n"
                     "waitForCopies<1>(); out[t] = shared[t];"),
                {1, 32, 128}, failed, {title});
  // Waited for, but not by the thread that started it; a barrier is missing.
  expectFinding(body("copyAsync<4>(shared + t, in + t, true); commitCopies();\n"
                     "waitForCopies<0>(); out[t] = shared[n - 1 - t];"),
                {1, 64, 256}, failed, {"of block 0"});
  // The buffer is read while it is filled again.
  expectFinding(body("shared[t] = t; syncBlock(); out[t] = shared[n - 1 - t];\n"
                     "copyAsync<4>(shared + t, in + t, true); commitCopies();\n"
                     "waitForCopies<0>();"),
                {1, 64, 256}, failed, {"of block 0"});
  expectFinding(body("copyAsync<4>(out + t, in + t, true);"), {1, 32},
                illegalAddress, {"what is not shared memory"});
}

TEST_CASE("a row that another lane writes while matrices load", "[checks]") {
  expectFinding(body("for (int i = 0; i < 4; ++i) shared[4 * t + i] = 0;\n"
                     "uint32_t words[4];\n"
                     "loadMatrices(words, shared + 4 * t);\n"
                     "out[t] = words[0];"),
                {1, 32, 512}, failed, {"race", ".cu:5: loadMatrices"});
}

TEST_CASE("all of several mistakes are reported", "[checks]") {
  expectFinding(body("int a = shared[t];\n"
                     "int b = out[t];\n"
                     "in[0] = a + b;"),
                {1, 32, 128}, failed, {".cu:3", ".cu:4", ".cu:5", "race"});
}

TEST_CASE("a full stack", "[checks]") {
  expectFinding("__noinline__ int deep(int *x, int n) { int a[64];\n"
                "for (int i = 0; i < 64; ++i) a[i] = x[i] + n;\n"
                "return n ? deep(a, n - 1) + a[n % 64] : a[0]; }\n" +
                    body("out[t] = deep(in, 1000);"),
                {1, 33}, illegalAddress, {"stack of 64 KiB is full", "thread"});
}

TEST_CASE("a division by zero", "[checks]") {
  expectFinding(body("out[t] = 5 / in[t];"), {1, 32}, failed,
                {"division of an integer by zero", "thread 0 of block 0",
                 ".cu:3: out[t]"});
}

TEST_CASE("an access to nowhere without the checks", "[checks]") {
  Variable off("MLC_EMULATOR_CHECKS", "0");
  expectFinding(body("out[t + (1ll << 50)] = 0;"), {2, 64}, illegalAddress,
                {"out of bounds", "which is not the device's", ".cu:3: out[t"});
}

TEST_CASE("nothing is checked without the checks", "[checks]") {
  Gpu gpu;
  Variable off("MLC_EMULATOR_CHECKS", "0");
  CUfunction kernel = gpu.kernel(body("out[0] = t;"));
  CUdeviceptr out = gpu.allocate(1024);
  uint64_t before = mlcEmulatorAccesses();
  CHECK(gpu.launch(kernel, {1, 32}, {0, out}) == 0);
  CHECK(gpu.report() == "");
  CHECK(mlcEmulatorAccesses() == before);
  // Barriers are the same.
  kernel = gpu.kernel(body("if (t) syncBlock();"));
  CHECK(gpu.launch(kernel, {1, 32}, {0, out}) == failed);
  CHECK_THAT(gpu.report(), Contains("divergent barrier"));
}

TEST_CASE("what an earlier launch did is done", "[checks]") {
  Gpu gpu;
  CUfunction kernel =
      gpu.kernel(body("out[t + blockIdx.x * n] = in[t + blockIdx.x * n] + 1;"));
  CUdeviceptr a = gpu.upload(std::vector<int>(128, 0)), b = gpu.allocate(512);
  underSeeds([&] {
    for (int i = 0; i < 3; ++i) {
      CHECK(gpu.launch(kernel, {2, 64}, {a, b}) == 0);
      CHECK(gpu.launch(kernel, {4, 32}, {b, a}) == 0);
    }
  });
  CHECK(gpu.report() == "");
  CHECK(gpu.download<int>(a, 128) == std::vector<int>(128, 30));
}

TEST_CASE("the order follows the seed", "[checks]") {
  // Each thread notes, in a counter of its own warp's first lane, who came
  // before; the counter races, so that checks are off.
  Gpu gpu;
  Variable off("MLC_EMULATOR_CHECKS", "0");
  CUfunction kernel = gpu.kernel(
      body("int i = blockIdx.x * n + t; out[i] = in[0]; in[0] = in[0] + 1;"));
  auto order = [&](const char *seed) {
    Variable variable("MLC_EMULATOR_SEED", seed);
    CUdeviceptr in = gpu.upload(std::vector<int>(1, 0)),
                out = gpu.allocate(4 * 256);
    CHECK(gpu.launch(kernel, {4, 64}, {in, out}) == 0);
    return gpu.download<int>(out, 256);
  };
  std::vector<int> plain(256);
  std::iota(plain.begin(), plain.end(), 0);
  CHECK(order("0") == plain);
  std::vector<int> one = order("1"), two = order("2");
  CHECK(one == order("1"));
  CHECK(one != two);
  CHECK(one != plain);
  // Everybody came once.
  std::sort(one.begin(), one.end());
  CHECK(one == plain);
}

//===----------------------------------------------------------------------===//
// Blocks that work together
//===----------------------------------------------------------------------===//

namespace {

/// Each of three blocks writes its part of `out`, from the 64th int on; the
/// last that counts in `out[0]` adds them up. `counts` is what thread 0 does
/// between the barriers; the texts `before` and `behind` are these.
std::string sharedSum(const std::string &counts = "count(counter, 3)",
                      const std::string &before = "syncBlock();",
                      const std::string &behind = "syncBlock();") {
  return body("unsigned *counter = (unsigned *)in;\n"
              "out[32 * blockIdx.x + t] = t;\n" +
              before + "\nif (t == 0) shared[0] = " + counts + ";\n" + behind +
              "\nif (t == 0) shared[1] = shared[0]; syncBlock();\n"
              "if (shared[1] == 2)\n"
              "out[128 + t] = out[t] + out[32 + t] + out[64 + t];");
}

} // namespace

TEST_CASE("blocks that count see what others wrote", "[checks]") {
  Gpu gpu;
  CUfunction kernel = gpu.kernel(sharedSum());
  CUdeviceptr counter = gpu.upload(std::vector<int>(256));
  underSeeds([&] {
    // The last has left zero.
    for (int run = 0; run < 2; ++run) {
      CUdeviceptr out = gpu.allocate(256 * 4);
      CHECK(gpu.launch(kernel, {3, 32, 64}, {counter, out}) == 0);
      CHECK(gpu.report() == "");
      std::vector<int> sums = gpu.download<int>(out + 512, 32);
      CHECK(sums[31] == 3 * 31);
    }
    CHECK(gpu.download<int>(counter, 1)[0] == 0);
  });
}

TEST_CASE("what is handed over is handed on", "[checks]") {
  // Blocks count in turn, at an address of two neighbours each; the last reads
  // what the first wrote.
  Gpu gpu;
  CUfunction kernel = gpu.kernel(
      body("unsigned *counter = (unsigned *)in; int b = blockIdx.x;\n"
           "if (b == 0 && t == 0) out[0] = 7; syncBlock();\n"
           "if (t == 0 && b > 0) count(counter + b - 1, 2); syncBlock();\n"
           "if (t == 0) count(counter + b, 2); syncBlock();\n"
           "if (b == 2) out[1 + t] = out[0];"));
  CUdeviceptr counter = gpu.upload(std::vector<int>(256)),
              out = gpu.allocate(1024);
  CHECK(gpu.launch(kernel, {3, 32, 64}, {counter, out}) == 0);
  CHECK(gpu.report() == "");
}

TEST_CASE("a count without its barriers", "[checks]") {
  auto expectRace = [](const std::string &source) {
    Gpu gpu;
    CUfunction kernel = gpu.kernel(source);
    CUdeviceptr counter = gpu.upload(std::vector<int>(256)),
                out = gpu.allocate(1024);
    CHECK(gpu.launch(kernel, {3, 32, 64}, {counter, out}) == failed);
    CHECK_THAT(gpu.report(), Contains("race"));
  };
  // What was written since the last barrier is not handed over, ...
  expectRace(sharedSum("count(counter, 3)", "syncWarp();"));
  // ... nor received before the next, ...
  expectRace(body("unsigned *counter = (unsigned *)in;\n"
                  "if (t == 0) out[blockIdx.x] = 1; syncBlock();\n"
                  "if (t == 0 && count(counter, 3) == 2)\n"
                  "out[3] = out[0] + out[1] + out[2];"));
  // ... nor by counters of one's own, ...
  expectRace(sharedSum("(count(counter + blockIdx.x, 3), blockIdx.x)"));
  // ... nor without counting.
  expectRace(sharedSum("blockIdx.x"));
}

TEST_CASE("a counter that is not only counted in", "[checks]") {
  expectFinding(body("if (t == 0) count((unsigned *)in, 9);\n"
                     "if (t == 1) out[1] = in[0];"),
                {1, 2}, failed, {"race", "byte 0 of an", "count"});
  expectFinding(body("if (t == 0) in[0] = 0;\n"
                     "if (t == 1) count((unsigned *)in, 9);"),
                {1, 2}, failed, {"race", "byte 0 of an", "count"});
  expectFinding(body("if (t == 0) count((unsigned *)out, 9);"), {1, 2}, failed,
                {"read of bytes that nobody wrote"});
  expectFinding(body("if (t == 0) count((unsigned *)in + 256, 9);"), {1, 2},
                illegalAddress, {"out of bounds", "behind an allocation"});
  expectFinding(body("if (t == 0) count((unsigned *)shared, 9);"), {1, 2, 64},
                illegalAddress, {"is not global memory"});
}
