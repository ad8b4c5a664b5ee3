//===- TensorMapTest.cpp - Tensor maps from the artifact to the kernel ----===//

#include "CudaSample.h"
#include "runtime/CudaDevices.h"
#include "runtime/Devices.h"

using namespace mlc::test;
using Catch::Contains;

namespace {

/// The kernel of scaleProgram, as source. It reads x and writes y by the copy
/// engine alone, eight rows at a time.
const char *const copyingScale = R"(#include "mlc_device.cuh"
#include "mlc_hopper.cuh"
MLC_KERNEL(scale, 32)(const __grid_constant__ TensorMap map0,
    const __grid_constant__ TensorMap map1, const float *in0, const float *in1,
    float *out0, long long s0, long long tasks, uint8_t *scratch,
    long long stride) {
  float *rows = (float *)sharedMemory();
  uint64_t *barrier = (uint64_t *)(rows + 64);
  int t = threadIdx.x, phase = 0;
  if (t == 0) {
    initBarrier(barrier, 1);
    fenceBarrierInit();
  }
  syncBlock();
  for (long long task = blockIdx.x; task < tasks; task += gridDim.x) {
    if (t == 0) {
      arriveAndExpect(barrier, 128);
      copyTensor(rows, &map0, barrier, 0, int(task) * 8);
    }
    waitForPhase(barrier, phase++);
    rows[32 + t] = 2 * rows[t] + in1[t % 4];
    fenceAsyncProxy();
    syncBlock();
    if (t == 0) {
      storeTensor(&map1, rows + 32, 0, int(task) * 8);
      commitStores();
      waitForStores<0>();
    }
    syncBlock();
  }
}
)";

/// scaleProgram by maps of x and y.
struct MapSample : CudaSample {
  explicit MapSample(ImageKind kind) : CudaSample(false, false) {
    Program &p = program;
    auto &launch = p.steps[0].as<GridLaunchStep>();
    Expr seven = Expr::constant(7), eight = Expr::constant(8);
    launch.tasks =
        p.addExpr(Expr::binary(Expr::FloorDiv, Expr::symbol(0) + seven, eight));
    launch.block = p.addConstant(32);
    launch.shared = p.addConstant(64 * 4 + 8);
    TensorMap map;
    map.element = MapElement::F32;
    map.offset = p.addConstant(0);
    map.dims = {p.addConstant(4), p.addExpr(Expr::symbol(0))};
    map.strides = {p.addConstant(16)};
    map.box = {4, 8};
    map.steps = {1, 1};
    launch.maps = {map, map};
    launch.maps[1].operand = 2;
    bundle = writeBundle(
        {{"scale", kind == ImageKind::Source ? copyingScale : "scale"}});
    images = {imageOf(kind, kind == ImageKind::Source ? "cuda" : "compute_80")};
  }
  std::vector<TensorMap> &maps() {
    return program.steps[0].as<GridLaunchStep>().maps;
  }
};

/// scaleOnBlocks behind two maps.
void scaleBehindMaps(const FakeLaunch &launch) {
  FakeLaunch rest = launch;
  rest.words.erase(rest.words.begin(), rest.words.begin() + 32);
  rest.words[4] = rest.words[3]; // a task is a row there
  scaleOnBlocks(rest);
}

/// The same behind maps of x (words[32]) and y (words[34]).
void scaleByMaps(const FakeLaunch &launch) {
  CHECK(launch.words[0] == launch.words[32]);
  CHECK(launch.words[16] == launch.words[34]);
  for (size_t map : {0, 16}) {
    CHECK(launch.words[map + 1] == 2);
    CHECK(launch.words[map + 2] == 4);
    CHECK(launch.words[map + 3] == 16);
    CHECK(launch.words[map + 15] == 7);
  }
  scaleBehindMaps(launch);
}

/// What binds device memory as input and output, and reads the result.
struct DeviceNumbers {
  Device &device;
  std::unique_ptr<Queue> queue;
  Numbers numbers;
  uint64_t bytes;

  DeviceNumbers(Device &device, size_t rows)
      : device(device), queue(queueOf(device)), numbers(rows),
        bytes(rows * 16) {}
  void bind(Session &session, DeviceMemory &x, DeviceMemory &y) {
    bool grown;
    for (DeviceMemory *memory : {&x, &y})
      if (memory->capacity() < bytes)
        REQUIRE(memory->reserve(device, bytes, grown).ok());
    for (float &value : numbers.x)
      value += 1;
    REQUIRE(queue->upload(x.data(), numbers.x.data(), bytes).ok());
    std::fill(numbers.y.begin(), numbers.y.end(), -7.f);
    REQUIRE(queue->upload(y.data(), numbers.y.data(), bytes).ok());
    int64_t dims[] = {int64_t(bytes / 16), 4};
    REQUIRE(
        session.bindInput(0, DType::F32, 2, dims, x.data(), MLC_SPACE_DEVICE)
            .ok());
    REQUIRE(session.bindOutput(0, y.data(), bytes, MLC_SPACE_DEVICE).ok());
  }
  bool isRight(DeviceMemory &y) {
    REQUIRE(queue->download(numbers.y.data(), y.data(), bytes).ok());
    return numbers.isRight();
  }
};

void run(Session &session) {
  Status status = session.run();
  INFO(status.message);
  REQUIRE(status.ok());
}

Device &emulator() {
  Device *device = nullptr;
  Status status = findDevice("emulator", device);
  INFO(status.message);
  REQUIRE(status.ok());
  return *device;
}

std::string refusal(Device &device, const MapSample &sample) {
  Session session(sample.artifact(), queueOf(device), 0);
  Numbers numbers(20);
  REQUIRE(numbers.bind(session).ok());
  return session.run().message;
}

} // namespace

TEST_CASE("kernels copy by maps, from and to any address", "[maps]") {
  Device &device = emulator();
  Session session(MapSample(ImageKind::Source).artifact(), queueOf(device), 0);
  DeviceNumbers few(device, 20), many(device, 35);
  DeviceMemory x[2], y[2];
  // Each address comes three times: as it is new, recorded, and replayed.
  for (DeviceNumbers *numbers : {&few, &many, &few})
    for (int i : {0, 0, 0, 1, 1, 1, 0}) {
      numbers->bind(session, x[i], y[i]);
      run(session);
      CHECK(numbers->isRight(y[i]));
    }
  // Nothing to copy.
  Numbers none(0);
  REQUIRE(none.bind(session).ok());
  run(session);
}

namespace {

/// A map of a dense f32[rows, 4], eight rows at a time.
SizedTensorMap rowsMap(uint32_t operand, int64_t rows) {
  SizedTensorMap map;
  map.operand = operand;
  map.element = MapElement::F32;
  map.dims = {4, rows};
  map.strides = {16};
  map.box = {4, 8};
  map.steps = {1, 1};
  return map;
}

/// Launches on the emulator without a session: `tasks` tasks of a kernel on
/// `rows` rows, outside of a recording or within.
Numbers launchOnQueue(const std::string &source, int64_t rows, int64_t tasks,
                      std::vector<SizedTensorMap> shown, bool isRecorded) {
  Device &device = emulator();
  MapSample sample(ImageKind::Source);
  sample.bundle = writeBundle({{"scale", source}});
  sample.images = {sample.imageOf(ImageKind::Source, "cuda")};
  std::shared_ptr<const Artifact> artifact = sample.artifact();
  const LoadedProgram *loaded = nullptr;
  REQUIRE(artifact->load(device, loaded).ok());
  std::unique_ptr<Queue> queue = queueOf(device);
  Numbers numbers(rows);
  const uint64_t bytes = rows * 16;
  DeviceMemory x, c, y;
  bool grown;
  for (DeviceMemory *memory : {&x, &c, &y})
    REQUIRE(memory->reserve(device, bytes, grown).ok());
  REQUIRE(queue->upload(x.data(), numbers.x.data(), bytes).ok());
  REQUIRE(queue->upload(y.data(), numbers.y.data(), bytes).ok());
  REQUIRE(queue->upload(c.data(), bias, 16).ok());
  std::vector<LaunchMap> maps(shown.size());
  for (size_t i = 0; i < shown.size(); ++i)
    maps[i].map = shown[i];
  void *buffers[] = {x.data(), c.data(), y.data()};
  Launch launch;
  launch.kernel = loaded->kernels[0][0];
  launch.buffers = buffers;
  launch.numBuffers = 3;
  launch.symbols = &rows;
  launch.numSymbols = 1;
  launch.grid = tasks;
  launch.block = 32;
  launch.shared = 64 * 4 + 8;
  launch.maps = maps.data();
  launch.numMaps = maps.size();
  std::unique_ptr<Recording> recording;
  queue->begin();
  if (isRecorded)
    queue->beginRecording();
  queue->launch(launch);
  if (isRecorded) {
    queue->endRecording(recording);
    REQUIRE(recording);
    queue->replay(*recording);
  }
  Status status = queue->finish();
  INFO(status.message);
  REQUIRE(status.ok());
  REQUIRE(queue->download(numbers.y.data(), y.data(), bytes).ok());
  return numbers;
}

} // namespace

TEST_CASE("maps are made while launches are recorded", "[maps]") {
  for (bool isRecorded : {false, true})
    CHECK(launchOnQueue(copyingScale, 20, 3, {rowsMap(0, 20), rowsMap(2, 20)},
                        isRecorded)
              .isRight());
}

TEST_CASE("maps of pixels", "[maps]") {
  // Two images of five pixels, of which a filter of three has its middle on
  // three: eight rows that are copied are six pixels, and two of zeros.
  std::string source = copyingScale;
  const std::string before = "copyTensor(rows, &map0, barrier, 0, int(task) * "
                             "8)";
  source.replace(source.find(before), before.size(),
                 "copyPixels(rows, &map0, barrier, 0, 0, 0, 1)");
  SizedTensorMap pixels = rowsMap(0, 5);
  pixels.dims = {4, 5, 2};
  pixels.strides = {16, 80};
  pixels.steps = {1, 1, 1};
  pixels.box.clear();
  pixels.pixels = 8;
  pixels.channels = 4;
  pixels.lower = {0};
  pixels.upper = {-2};
  SizedTensorMap rows = rowsMap(2, 6);
  Numbers numbers = launchOnQueue(source, 10, 1, {pixels, rows}, false);
  for (size_t i = 0; i < 40; ++i) {
    size_t row = i / 4, from = row / 3 * 5 + row % 3 + 1;
    CHECK(numbers.y[i] ==
          (row < 6 ? 2 * numbers.x[from * 4 + i % 4] + bias[i % 4] : -7));
  }
}

TEST_CASE("maps are kept until an address or size changes", "[maps]") {
  freshFake().kernels["scale"] = scaleByMaps;
  fake->numMaps["scale"] = 2;
  auto device = gpu();
  {
    Session session(MapSample(ImageKind::Ptx).artifact(), queueOf(*device), 0);
    DeviceNumbers few(*device, 20), many(*device, 35);
    DeviceMemory x[2], y[2];
    auto made = [&](DeviceNumbers &numbers, int i, int j) {
      unsigned before = fake->counts["cuTensorMapEncodeTiled"];
      numbers.bind(session, x[i], y[j]);
      run(session);
      CHECK(numbers.isRight(y[j]));
      return fake->counts["cuTensorMapEncodeTiled"] - before;
    };
    // Large enough for both.
    CHECK(made(many, 0, 0) == 2);
    CHECK(made(many, 1, 1) == 2);
    for (int i = 0; i < 3; ++i)
      CHECK(made(many, 1, 1) == 0);
    CHECK(made(many, 1, 0) == 1);
    CHECK(made(many, 1, 0) == 0);
    CHECK(made(few, 1, 0) == 2);
    CHECK(made(few, 1, 0) == 0);
    CHECK(made(many, 1, 0) == 0); // of the other sizes' plan
    CHECK(made(few, 0, 0) == 1);
  }
  device.reset();
  checkClean();
}

TEST_CASE("a map that cannot be made is an error with its kernel", "[maps]") {
  const std::string who = "kernel scale (nodes Mul_0, Add_1)";
  MapSample sample(ImageKind::Source);
  Program &p = sample.program;
  for (auto [field, message] :
       {std::pair{&sample.maps()[0].offset, "is at no multiple of 16 bytes"},
        {&sample.maps()[1].strides[0],
         "the stride of dim 1 is 4 bytes, which is no multiple of 16"}}) {
    ExprId kept = *field;
    *field = p.addConstant(4);
    // What is left of the operand.
    ExprId dims = sample.maps()[0].dims[1];
    sample.maps()[0].dims[1] = p.addConstant(2);
    CHECK_THAT(refusal(emulator(), sample),
               Contains(who + ": its tensor map ") &&
                   Contains(" cannot be made by cuTensorMapEncodeTiled: CUDA "
                            "error 1 (CUDA_ERROR_INVALID_VALUE)") &&
                   Contains(message));
    *field = kept;
    sample.maps()[0].dims[1] = dims;
  }
}

TEST_CASE("a GPU or driver without maps is an error with the kernel",
          "[maps]") {
  const std::string who = "kernel scale (nodes Mul_0, Add_1)";
  MapSample sample(ImageKind::Ptx);
  freshFake();
  {
    auto device = gpu();
    fake->failName = "cuTensorMapEncodeTiled";
    CHECK_THAT(refusal(*device, sample),
               Contains(who + ": its tensor map 0 cannot be made"));
    fake->major = 8;
    CHECK_THAT(refusal(*gpu(), sample),
               Contains(who + " copies by tensor maps, which need a GPU of "
                              "compute capability 9.0; cuda:0 is Fake GPU, "
                              "sm_80"));
  }
  fake->major = 9;
  Driver old = fakeTable();
  old.cuTensorMapEncodeTiled = nullptr;
  {
    std::unique_ptr<CudaDevice> device;
    REQUIRE(CudaDevice::open(old, 0, "cuda:0", DeviceKind::Gpu, device).ok());
    CHECK_THAT(refusal(*device, sample),
               Contains(who + " needs the function cuTensorMapEncodeTiled, "
                              "which driver 12.4 of cuda:0 lacks; update it"));
  }
  checkClean();
}

TEST_CASE("maps stay within their operands", "[maps]") {
  freshFake().kernels["scale"] = scaleBehindMaps;
  fake->numMaps["scale"] = 2;
  {
    auto device = gpu();
    auto says = [&](auto change) {
      MapSample sample(ImageKind::Ptx);
      change(sample.maps()[1], sample.program);
      return refusal(*device, sample);
    };
    const char *leaves = "a tensor map of 'scale' leaves its operand's 320";
    CHECK_THAT(says([](TensorMap &map, Program &p) {
                 map.offset = p.addConstant(16);
               }),
               Contains(leaves));
    CHECK_THAT(says([](TensorMap &map, Program &p) {
                 map.strides[0] = p.addConstant(32);
               }),
               Contains(leaves));
    CHECK_THAT(says([](TensorMap &map, Program &p) {
                 map.dims[1] = map.strides[0] = p.addConstant(INT64_MAX);
               }),
               Contains(leaves));
    CHECK_THAT(says([](TensorMap &map, Program &p) {
                 map.dims[1] = p.addConstant(-1);
               }),
               Contains("a dim of a tensor map of 'scale' is -1"));
    // One without elements has a map too.
    CHECK(says([](TensorMap &map, Program &p) {
            map.dims[0] = map.strides[0] = p.addConstant(0);
          }) == "");
    const std::vector<uint64_t> &words = fake->launches.back().words;
    CHECK(words[18] == 1);
    CHECK(words[19] == 16);
  }
  checkClean();
}

TEST_CASE("a damaged map is refused", "[maps]") {
  auto check = [&](void (*damage)(TensorMap &), const std::string &message) {
    INFO(message);
    MapSample sample(ImageKind::Ptx);
    damage(sample.maps()[1]);
    Status status = validate(sample.program, 16);
    CHECK(status.code == MLC_BAD_FILE);
    CHECK_THAT(status.message, Contains("a grid-launch step") &&
                                   Contains("its maps") && Contains(message));
  };
  check([](TensorMap &m) { m.operand = 3; }, "a map of no operand");
  check([](TensorMap &m) { m.offset = 99; }, "no expression");
  check([](TensorMap &m) { m.dims[1] = 99; }, "no expression");
  check([](TensorMap &m) { m.strides[0] = 99; }, "no expression");
  check([](TensorMap &m) { m.dims.clear(); }, "the rank is 0");
  check([](TensorMap &m) { m.dims.assign(6, 0); }, "the rank is 6");
  check([](TensorMap &m) { m.strides.clear(); }, "number of strides is 0");
  check([](TensorMap &m) { m.steps.pop_back(); }, "element strides is 1");
  check([](TensorMap &m) { m.steps[1] = 0; }, "stride of dim 1 is 0");
  check([](TensorMap &m) { m.steps[0] = 9; }, "stride of dim 0 is 9");
  check([](TensorMap &m) { m.swizzle = 16; }, "the swizzle is 16");
  check([](TensorMap &m) { m.box.push_back(1); }, "box's dims is 3");
  check([](TensorMap &m) { m.box[1] = 0; }, "the box of dim 1 is 0");
  check([](TensorMap &m) { m.box[1] = 257; }, "the box of dim 1 is 257");
  check([](TensorMap &m) { m.box[0] = 2; }, "a row of the box is 8");
  check([](TensorMap &m) { m.box[0] = 16, m.swizzle = 32; },
        "more than the swizzle's 32 bytes");
  check([](TensorMap &m) { m.lower = {0}; }, "no pixels");
  check([](TensorMap &m) { m.box.clear(), m.pixels = 9; }, "the rank is 2");
  // Maps for pixels.
  auto checkPixels = [&](void (*damage)(TensorMap &),
                         const std::string &message) {
    MapSample sample(ImageKind::Ptx);
    TensorMap &map = sample.maps()[1];
    map.box.clear();
    map.dims.assign(4, map.dims[1]);
    map.strides.assign(3, map.strides[0]);
    map.steps.assign(4, 1);
    map.pixels = 64;
    map.channels = 8;
    map.lower = map.upper = {-1, -1};
    map.swizzle = 32;
    CHECK(validate(sample.program, 16).ok());
    damage(map);
    Status status = validate(sample.program, 16);
    CHECK(status.code == MLC_BAD_FILE);
    CHECK_THAT(status.message, Contains(message));
  };
  checkPixels([](TensorMap &m) { m.box = {8}; }, "both a box and pixels");
  checkPixels([](TensorMap &m) { m.upper = {0}; }, "not 2 offsets");
  checkPixels([](TensorMap &m) { m.lower[1] = -129; }, "corner is -129");
  checkPixels([](TensorMap &m) { m.upper[0] = 128; }, "corner is 128");
  checkPixels([](TensorMap &m) { m.channels = 0; }, "channels is 0");
  checkPixels([](TensorMap &m) { m.channels = 257; }, "channels is 257");
  checkPixels([](TensorMap &m) { m.channels = 16; }, "the swizzle's 32");
  checkPixels([](TensorMap &m) { m.pixels = 1025; }, "pixels is 1025");
  // Many of them would be more than a kernel's parameters.
  MapSample sample(ImageKind::Ptx);
  sample.maps().resize(17, sample.maps()[0]);
  CHECK_THAT(validate(sample.program, 16).message, Contains("too many maps"));
}
