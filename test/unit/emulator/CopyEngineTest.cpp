//===- CopyEngineTest.cpp - Copies and stores beside the threads ----------===//

#include "Hopper.h"

#include <numeric>

using namespace mlc::test;
using Catch::Contains;

namespace {

/// A kernel with a map and an mbarrier at 32 KiB. Its body is line 9.
std::string body(const std::string &text, unsigned bytes) {
  return "#include \"mlc_hopper.cuh\"\n"
         "MLC_KERNEL(k)(const __grid_constant__ TensorMap map, int *in, int "
         "*out) {\n"
         "int t = threadIdx.x; int *shared = (int *)sharedMemory();\n"
         "shared += (-sharedAddress(shared) & 1023) / 4;\n"
         "uint64_t *barrier = (uint64_t *)(shared + 8192);\n"
         "const unsigned bytes = " +
         std::to_string(bytes) +
         ";\nif (t == 0) { initBarrier(barrier, 1); fenceBarrierInit(); } "
         "syncBlock();\n" +
         text + "\n}";
}

/// Copies a box to shared memory and from there, as it lies, to `out`.
std::string copyBox(const std::string &call, unsigned bytes) {
  return body("if (t == 0) { arriveAndExpect(barrier, bytes); " + call +
                  "; }\nwaitForPhase(barrier, 0);\n"
                  "for (unsigned i = t; i < bytes / 4; i += 32) out[i] = "
                  "shared[i];",
              bytes);
}

struct Run {
  Gpu gpu;
  std::vector<int> values = std::vector<int>(4096);
  CUdeviceptr in = 0;

  Run() {
    std::iota(values.begin(), values.end(), 1);
    in = gpu.upload(values);
  }
  /// What the kernel leaves in `out`.
  std::vector<int> operator()(const std::string &source, const Map &map,
                              unsigned count) {
    CUfunction kernel = gpu.kernel(source);
    CUdeviceptr out = gpu.upload(std::vector<int>(4096));
    CHECK(launch(kernel, map, out) == 0);
    CHECK(gpu.report() == "");
    return gpu.download<int>(out, count);
  }
  CUresult launch(CUfunction kernel, const Map &map, CUdeviceptr out) {
    return gpu.launch(kernel, {1, 32, 32768 + 1024 + 64},
                      parameters({map}, {in, out}));
  }
  void expect(const std::string &text, const std::string &found,
              const Map *given = nullptr) {
    INFO(text);
    CUfunction kernel = gpu.kernel(body(text, 1024));
    Map map = given ? *given : tiledMap(in, MapF32, {32, 128}, {32, 8});
    for (const char *seed : {"0", "1", "2"}) {
      Variable variable("MLC_EMULATOR_SEED", seed);
      CUdeviceptr out = gpu.upload(std::vector<int>(4096));
      CUresult status = launch(kernel, map, out);
      CHECK((status == 0) == found.empty());
      if (found.empty())
        CHECK(gpu.report() == "");
      else
        CHECK_THAT(gpu.report(), Contains(found));
    }
  }
};

} // namespace

TEST_CASE("boxes of one to five dims", "[copies]") {
  Run run;
  std::vector<uint64_t> dims = {12, 5, 4, 3, 2};
  std::vector<uint32_t> box = {8, 3, 3, 2, 2};
  std::vector<int> at = {-4, 3, -1, 2, 1};
  for (unsigned rank = 1; rank <= 5; ++rank) {
    INFO(rank);
    std::string call = "copyTensor(shared, &map, barrier";
    unsigned count = 1;
    for (unsigned i = 0; i < rank; ++i) {
      call += ", " + std::to_string(at[i]);
      count *= box[i];
    }
    Map map = tiledMap(run.in, MapF32, {dims.begin(), dims.begin() + rank},
                       {box.begin(), box.begin() + rank}, NoSwizzle);
    std::vector<int> expected;
    for (unsigned number = 0; number < count; ++number) {
      unsigned rest = number, stride = 1, where = 0;
      bool isInside = true;
      for (unsigned i = 0; i < rank; ++i) {
        int x = at[i] + int(rest % box[i]);
        rest /= box[i];
        isInside &= x >= 0 && x < int(dims[i]);
        where += unsigned(x) * stride;
        stride *= unsigned(dims[i]);
      }
      expected.push_back(isInside ? run.values[where] : 0);
    }
    CHECK(run(copyBox(call + ")", 4 * count), map, count) == expected);
  }
}

TEST_CASE("swizzles move 16 bytes by the address", "[copies]") {
  Run run;
  for (int mode : {Swizzle32, Swizzle64, Swizzle128}) {
    unsigned width = 16u << mode, inRow = width / 4, count = 16 * inRow;
    Map map = tiledMap(run.in, MapF32, {inRow, 64}, {inRow, 16}, mode);
    std::vector<int> found =
        run(copyBox("copyTensor(shared, &map, barrier, 0, 2)", 4 * count), map,
            count);
    std::vector<int> expected(count);
    for (unsigned i = 0; i < count; ++i) {
      unsigned line = i / 32, chunk = i / 4 % (width / 16);
      unsigned to = chunk ^ line % (width / 16);
      expected[i / inRow * inRow + to * 4 + i % 4] = run.values[2 * inRow + i];
    }
    CHECK(found == expected);
  }
}

TEST_CASE("steps, bytes and rounding", "[copies]") {
  Run run;
  Map map = {};
  uint64_t dims[] = {4, 30}, stride = 16;
  uint32_t box[] = {4, 8}, steps[] = {1, 3};
  auto *memory = reinterpret_cast<void *>(uintptr_t(run.in));
  REQUIRE(cuTensorMapEncodeTiled(&map, MapF32, 2, memory, dims, &stride, box,
                                 steps, 0, 0, 0, 0) == 0);
  // Three rows, of which the last lies outside.
  std::vector<int> found =
      run(copyBox("copyTensor(shared, &map, barrier, 0, 24)", 48), map, 12);
  CHECK(found ==
        std::vector<int>{97, 98, 99, 100, 109, 110, 111, 112, 0, 0, 0, 0});
  found = run(copyBox("copyBulk(shared, in + 8, 64, barrier)", 64), map, 16);
  std::vector<int> expected(16);
  std::iota(expected.begin(), expected.end(), 9);
  CHECK(found == expected);
  // To nearest: tf32 has ten bits of mantissa.
  std::vector<int> bits = {0x3f800fff, 0x3f801001, 0x3f801000, 0x3f803000};
  CUdeviceptr values = run.gpu.upload(bits);
  found = run(copyBox("copyTensor(shared, &map, barrier, 0)", 16),
              tiledMap(values, MapTF32, {4}, {4}, NoSwizzle), 4);
  CHECK(found ==
        std::vector<int>{0x3f800000, 0x3f802000, 0x3f800000, 0x3f804000});
}

TEST_CASE("columns of pixels", "[copies]") {
  // Three dims: channels, places and images; a filter of 3, padded by one.
  Run run;
  Map map = {};
  uint64_t dims[] = {4, 5, 3}, strides[] = {16, 80};
  uint32_t steps[] = {1, 2, 1};
  int lower = -1, upper = -1;
  auto *memory = reinterpret_cast<void *>(uintptr_t(run.in));
  REQUIRE(cuTensorMapEncodeIm2col(&map, MapF32, 3, memory, dims, strides,
                                  &lower, &upper, 4, 7, steps, 0, 0, 0,
                                  0) == 0);
  for (int s = 0; s < 3; ++s) {
    std::vector<int> found =
        run(copyBox("copyPixels(shared, &map, barrier, 0, 1, 0, " +
                        std::to_string(s) + ")",
                    112),
            map, 28);
    // From place 1 of image 0 on: 1, 3; then -1, 1, 3 of the next images.
    int places[] = {1, 3, -1, 1, 3, -1, 1}, images[] = {0, 0, 1, 1, 1, 2, 2};
    std::vector<int> expected;
    for (int i = 0; i < 7; ++i)
      for (int c = 0; c < 4; ++c) {
        int x = places[i] + s;
        expected.push_back(
            x >= 0 && x < 5 ? run.values[(images[i] * 5 + x) * 4 + c] : 0);
      }
    CHECK(found == expected);
  }
}

TEST_CASE("stores leave out what lies outside", "[copies]") {
  Run run;
  CUdeviceptr target = run.gpu.upload(std::vector<int>(60, -1));
  Map map = tiledMap(target, MapF32, {12, 5}, {8, 4}, NoSwizzle);
  run(body("shared[t] = t; fenceAsyncProxy(); syncBlock();\n"
           "if (t == 0) { storeTensor(&map, shared, 8, -1); storeBulk(out, "
           "shared, 16); commitStores(); waitForStores<0>(); }",
           128),
      map, 4);
  std::vector<int> found = run.gpu.download<int>(target, 60);
  for (int i = 0; i < 60; ++i) {
    int x = i % 12 - 8, y = i / 12 + 1;
    CHECK(found[size_t(i)] == (x >= 0 && y < 4 ? 8 * y + x : -1));
  }
}

TEST_CASE("matrices to shared memory and back", "[copies]") {
  Run run;
  Map map = tiledMap(run.in, MapF32, {32, 128}, {32, 8});
  std::vector<int> found =
      run(body("uint32_t a[4], b[4];\n"
               "for (int i = 0; i < 4; ++i) a[i] = 4 * t + i;\n"
               "storeMatrices(shared + 4 * (31 - t), a); syncWarp();\n"
               "loadMatrices(b, shared + 4 * (31 - t));\n"
               "for (int i = 0; i < 4; ++i) out[4 * t + i] = b[i];\n"
               "for (int i = 0; i < 4; ++i) out[128 + 4 * t + i] = shared[4 * "
               "(31 - t) + i];",
               16),
          map, 256);
  for (int i = 0; i < 128; ++i) {
    CHECK(found[size_t(i)] == i);
    // Row t % 8 of matrix t / 8 has words of lanes 4 (t % 8) and next.
    int t = i / 4;
    CHECK(found[size_t(128 + i)] == 4 * (t % 8 * 4 + i % 4) + t / 8);
  }
  run.expect("uint32_t a[4] = {}; storeMatrices(shared + 4 * t, a);\n"
             "out[t] = shared[4 * (t ^ 1)];",
             "race");
  run.expect("uint32_t a[4] = {}; storeMatrices(shared + t, a);",
             "multiple of 16");
}

TEST_CASE("memory that a copy uses", "[copies]") {
  Run run;
  const std::string start =
      "if (t == 0) { arriveAndExpect(barrier, bytes); copyTensor(shared, &map, "
      "barrier, 0, 0); }\n";
  run.expect(start + "waitForPhase(barrier, 0); out[t] = shared[t];", "");
  run.expect(start + "if (t == 0) waitForPhase(barrier, 0);\n"
                     "syncWarp(); out[t] = shared[t];",
             "");
  run.expect(start + "if (t == 1) out[t] = shared[t];\n"
                     "waitForPhase(barrier, 0);",
             "race");
  run.expect(start + "if (t == 0) shared[5] = 1; waitForPhase(barrier, 0);",
             "race");
  run.expect(start, "did not wait for");
  // Written before by a thread: two ways of access.
  run.expect("if (t == 0) shared[0] = 1;\n" + start +
                 "waitForPhase(barrier, 0);",
             "no fenceAsyncProxy()");
  run.expect("if (t == 0) { shared[0] = 1; fenceAsyncProxy(); }\n" + start +
                 "waitForPhase(barrier, 0);",
             "");
  run.expect("if (t == 0) in[0] = 1;\n" + start + "waitForPhase(barrier, 0);",
             "no fenceAsyncProxy()");
  run.expect(start + "if (t == 0) in[0] = 1; waitForPhase(barrier, 0);",
             "race");
}

TEST_CASE("memory that a store uses", "[copies]") {
  Run run;
  const std::string start = "shared[t] = t; fenceAsyncProxy(); syncBlock();\n"
                            "if (t == 0) { storeBulk(out, shared, 128); "
                            "commitStores(); ";
  run.expect(start + "waitForStoreReads<0>(); } syncBlock(); shared[t] = 1;",
             "");
  run.expect(start + "waitForStoreReads<1>(); } syncBlock(); shared[t] = 1;",
             "race");
  run.expect(start + "waitForStores<0>(); in[0] = out[0]; }", "");
  run.expect(start + "waitForStoreReads<0>(); in[0] = out[0]; }", "race");
  run.expect(start + "}", "did not wait for");
  // A fence may also stand behind the barrier, in the thread that stores.
  run.expect("shared[t] = t; syncBlock(); if (t == 0) { fenceAsyncProxy();\n"
             "storeBulk(out, shared, 128); commitStores(); "
             "waitForStoreReads<0>(); }",
             "");
}

TEST_CASE("copies that are misused", "[copies]") {
  Run run;
  const std::string start = "if (t == 0) { arriveAndExpect(barrier, bytes); ";
  auto expect = [&](const std::string &text, const char *found) {
    run.expect(start + text + " }", found);
  };
  expect("copyTensor(shared + 16, &map, barrier, 0, 0);", "multiple of 128");
  expect("arrive(barrier);", "all 1 have arrived");
  run.expect("if (t == 0) { arriveAndExpect(barrier, 16); copyTensor(shared, "
             "&map, barrier, 0, 0); }",
             "got 1008 bytes more than were expected");
  expect("copyTensor(in, &map, barrier, 0, 0);", "in shared memory");
  expect("copyTensor(shared, &map, barrier, 0);",
         "the map is of 2 dims, tiled");
  expect("copyPixels(shared, &map, barrier, 0, 0, 0, 0);", "tiled");
  expect("copyTensor(shared, (const TensorMap *)in, barrier, 0, 0);",
         "no tensor map");
  expect("copyBulk(shared, in, 20, barrier);", "so must the bytes");
  expect("copyBulk(shared + 1, in, 16, barrier);", "multiple of 16");
  expect("copyTensor(shared, &map, barrier + 1, 0, 0);", "did not make one");
  expect("copyTensor(shared + 8288, &map, barrier, 0, 0);", "out of bounds");
  // Rows that are narrower than the swizzle.
  Map narrow = tiledMap(run.in, MapF32, {32, 128}, {16, 8});
  run.expect(start + "copyTensor(shared, &map, barrier, 0, 0); }",
             "not as wide as the swizzle", &narrow);
}

TEST_CASE("limits of maps", "[copies]") {
  constexpr int invalid = 1, unsupported = 801;
  Gpu gpu;
  auto *memory = reinterpret_cast<void *>(uintptr_t(gpu.allocate(4096)));
  struct Tiled {
    Map map;
    int type = MapF32;
    unsigned rank = 3;
    uint64_t dims[5] = {32, 8, 4, 2, 2}, strides[4] = {128, 1024, 4096, 8192};
    uint32_t box[5] = {32, 4, 2, 1, 1}, steps[5] = {1, 1, 1, 1, 1};
    int interleave = 0, swizzle = 0, promotion = 0, fill = 0;
    size_t shift = 0, mapShift = 0;
  };
  auto encode = [&](auto change) {
    Tiled t;
    change(t);
    return cuTensorMapEncodeTiled(
        reinterpret_cast<char *>(&t.map) + t.mapShift, t.type, t.rank,
        static_cast<char *>(memory) + t.shift, t.dims, t.strides, t.box,
        t.steps, t.interleave, t.swizzle, t.promotion, t.fill);
  };
  CHECK(encode([](Tiled &) {}) == 0);
  CHECK(encode([](Tiled &t) { t.rank = 5; }) == 0);
  CHECK(encode([](Tiled &t) { t.dims[2] = 1ull << 32; }) == 0);
  CHECK(encode([](Tiled &t) { t.strides[0] = 144, t.strides[1] = 1152; }) == 0);
  CHECK(encode([](Tiled &t) { t.steps[0] = 8; }) == 0);
  CHECK(encode([](Tiled &t) { t.swizzle = Swizzle128; }) == 0);
  for (auto change : std::vector<void (*)(Tiled &)>{
           [](Tiled &t) { t.rank = 0; },
           [](Tiled &t) { t.rank = 6; },
           [](Tiled &t) { t.shift = 8; },
           [](Tiled &t) { t.mapShift = 32; },
           [](Tiled &t) { t.dims[2] = 0; },
           [](Tiled &t) { t.dims[2] = (1ull << 32) + 1; },
           [](Tiled &t) { t.strides[0] = 112; },
           [](Tiled &t) { t.strides[1] = 1008; },
           [](Tiled &t) { t.strides[1] = 0; },
           [](Tiled &t) { t.strides[0] = 120; },
           [](Tiled &t) { t.strides[1] = 1ull << 40; },
           [](Tiled &t) { t.box[1] = 0; },
           [](Tiled &t) { t.box[1] = 257; },
           [](Tiled &t) { t.box[0] = 2; },
           [](Tiled &t) { t.steps[1] = 9; },
           [](Tiled &t) { t.steps[1] = 0; },
           [](Tiled &t) { t.type = 16; },
           [](Tiled &t) { t.swizzle = Swizzle64; },
           [](Tiled &t) { t.swizzle = 7; },
           [](Tiled &t) { t.promotion = 4; },
           [](Tiled &t) { t.interleave = 3; },
           [](Tiled &t) { t.interleave = 1, t.rank = 2; },
           [](Tiled &t) { t.type = 2, t.fill = 1; }})
    CHECK(encode(change) == invalid);
  CHECK(encode([](Tiled &t) { t.interleave = 1; }) == unsupported);
  CHECK(encode([](Tiled &t) { t.fill = 1; }) == unsupported);

  auto pixels = [&](unsigned rank, int lower, int upper, unsigned channels,
                    unsigned count) {
    Tiled t;
    int corners[] = {lower, lower, lower}, ends[] = {upper, upper, upper};
    return cuTensorMapEncodeIm2col(&t.map, MapF32, rank, memory, t.dims,
                                   t.strides, corners, ends, channels, count,
                                   t.steps, 0, 0, 0, 0);
  };
  CHECK(pixels(4, -1, -1, 32, 64) == 0);
  CHECK(pixels(4, -128, -128, 256, 1024) == 0);
  CHECK(pixels(3, -32768, 0, 32, 64) == 0);
  CHECK(pixels(2, -1, -1, 32, 64) == invalid);
  CHECK(pixels(4, -129, -1, 32, 64) == invalid);
  CHECK(pixels(4, 0, 128, 32, 64) == invalid);
  CHECK(pixels(5, -17, 0, 32, 64) == invalid);
  CHECK(pixels(4, 0, -8, 32, 64) == invalid); // nothing between the corners
  CHECK(pixels(4, -1, -1, 257, 64) == invalid);
  CHECK(pixels(4, -1, -1, 32, 1025) == invalid);
  Variable old("MLC_EMULATOR_ARCH", "sm_80");
  CHECK(encode([](Tiled &) {}) == unsupported);
}

TEST_CASE("maps come first among the parameters", "[copies]") {
  Run run;
  Map map = tiledMap(run.in, MapF32, {32, 128}, {32, 8});
  CUfunction kernel = run.gpu.kernel(
      "#include \"mlc_hopper.cuh\"\n"
      "MLC_KERNEL(k)(int *out, const __grid_constant__ TensorMap map) {}");
  std::vector<unsigned long long> words = {run.in};
  words.insert(words.end(), map.words, map.words + 16);
  CHECK(run.gpu.launch(kernel, {1, 32}, words) == 1);
  CHECK_THAT(run.gpu.report(), Contains("must be its first parameters"));
}

TEST_CASE("maps are not passed in a buffer", "[copies]") {
  // A compiler may leave room before them: nvcc does.
  Run run;
  Map map = tiledMap(run.in, MapF32, {32, 128}, {32, 8});
  CUfunction kernel = run.gpu.kernel(
      "#include \"mlc_hopper.cuh\"\n"
      "MLC_KERNEL(k)(const __grid_constant__ TensorMap map, int *out) {}");
  std::vector<unsigned long long> words(map.words, map.words + 16);
  words.push_back(run.in);
  size_t bytes = words.size() * 8;
  void *extra[] = {reinterpret_cast<void *>(1), words.data(),
                   reinterpret_cast<void *>(2), &bytes, nullptr};
  CHECK(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, run.gpu.stream, nullptr,
                       extra) == 1);
  CHECK_THAT(run.gpu.report(), Contains("cannot be in a buffer"));
  CHECK(run.gpu.launch(kernel, {1, 32}, words) == 0);
}

TEST_CASE("a launch that begins before the one in front ends", "[copies]") {
  Variable overlap("MLC_EMULATOR_OVERLAP", "1");
  Gpu gpu;
  auto kernel = [&](const std::string &text) {
    return gpu.kernel("#include \"mlc_hopper.cuh\"\n"
                      "MLC_KERNEL(k)(short *in, short *out) { int t = "
                      "threadIdx.x;\n" +
                      text + "}");
  };
  CUfunction first = kernel("launchNext(); out[t] = in[t] + 1;");
  CUdeviceptr a = gpu.upload(std::vector<short>(64, 3));
  struct Case {
    const char *text, *found;
    int isDependent;
  };
  for (const Case &test :
       {Case{"out[t] = in[t];", "race", 1}, Case{"out[t] = in[t];", "", 0},
        Case{"waitForPriorLaunch(); out[t] = in[t];", "", 1},
        Case{"in[t] = 0; waitForPriorLaunch();", "race", 1},
        Case{"out[t] = 1; waitForPriorLaunch();", "", 1},
        // One thread's wait serves those behind its barrier only.
        Case{"if (t == 0) waitForPriorLaunch(); syncBlock(); out[t] = in[t];",
             "", 1},
        Case{"if (t == 0) waitForPriorLaunch(); out[t] = in[t];", "race", 1}}) {
    INFO(test.text);
    CUfunction second = kernel(test.text);
    CUdeviceptr b = gpu.allocate(128), c = gpu.allocate(128);
    CHECK(gpu.launch(first, {1, 64}, {a, b}) == 0);
    unsigned long long words[] = {b, c};
    size_t bytes = sizeof(words);
    void *extra[] = {reinterpret_cast<void *>(1), words,
                     reinterpret_cast<void *>(2), &bytes, nullptr};
    CUlaunchAttribute attributes[2] = {};
    attributes[0].id = 6;
    attributes[0].value.isSerializationProgrammatic = test.isDependent;
    attributes[1].id = 4;
    attributes[1].value.cluster = {1, 1, 1};
    CUlaunchConfig config = {1, 1, 1, 64, 1, 1, 0, gpu.stream, attributes, 2};
    CHECK(cuLaunchKernelEx(&config, second, nullptr, extra) == 0);
    CHECK((cuStreamSynchronize(gpu.stream) == 0) == !*test.found);
    std::string report = gpu.report();
    CHECK(report.empty() == !*test.found);
    CHECK_THAT(report, Contains(test.found));
    attributes[1].value.cluster = {2, 1, 1};
    CHECK(cuLaunchKernelEx(&config, second, nullptr, extra) == 801);
    CHECK(cuLaunchKernelEx(nullptr, second, nullptr, extra) == 1);
  }
}
