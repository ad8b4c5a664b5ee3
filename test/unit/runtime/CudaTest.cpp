//===- CudaTest.cpp - Sessions on CUDA's driver, without a GPU ------------===//

#include "FakeDriver.h"
#include "Sample.h"
#include "runtime/CodeBundle.h"
#include "runtime/CudaDevices.h"
#include "runtime/Session.h"
#include "runtime/cuda/CudaDevice.h"

#include <catch2/catch.hpp>

#include <numeric>
#include <thread>

using namespace mlc;
using namespace mlc::runtime;
using namespace mlc::runtime::cuda;
using namespace mlc::test;
using Catch::Contains;

namespace {

FakeDriver *fake;

template <typename T> T *at(uint64_t address, uint64_t count) {
  return reinterpret_cast<T *>(fake->host(address, count * sizeof(T)));
}

/// The kernel of scaleProgram: x, c, y, N, tasks, scratch, stride.
void scale(const FakeLaunch &launch) {
  const std::vector<uint64_t> &w = launch.words;
  auto *x = at<float>(w[0], w[3] * 4), *c = at<float>(w[1], 4),
       *y = at<float>(w[2], w[3] * 4);
  for (uint64_t block = 0; block < launch.grid; ++block) {
    if (w[5])
      *at<uint8_t>(w[5] + block * w[6], 8) = 1;
    for (uint64_t task = block; task < w[4]; task += launch.grid)
      for (uint64_t i = task * 4; i < task * 4 + 4; ++i)
        y[i] = 2 * x[i] + c[i % 4];
  }
}

FakeDriver &freshFake() {
  fake = &freshDriver();
  fake->kernels["scale"] = scale;
  return *fake;
}

/// scaleProgram on blocks of 64, and the two best of each row of Y as further
/// outputs.
struct CudaSample : Sample {
  std::string bundle = writeBundle({{"scale", "scale"}});

  explicit CudaSample(bool withTopK = true, bool withScratch = true) {
    Program &p = program;
    ExprId rows = p.steps[0].as<LaunchStep>().tasks;
    GridLaunchStep launch{0, rows, p.addConstant(64)};
    launch.shared = p.addConstant(100 * 1024);
    if (withScratch)
      launch.scratch = p.addConstant(100);
    p.steps[0].detail = launch;
    if (withTopK) {
      ExprId two = p.addConstant(2), one = p.addConstant(1);
      ExprId bytes = p.addExpr(Expr::symbol(0) * Expr::constant(8));
      ExprId wide = p.addExpr(Expr::symbol(0) * Expr::constant(16));
      BufferId values =
          p.addBuffer(Buffer::arena(bytes, DType::F32, {rows, two}, "V"));
      BufferId indices =
          p.addBuffer(Buffer::arena(wide, DType::I64, {rows, two}, "I"));
      p.steps.push_back(
          Step::library("topk", {2}, {values, indices}, {one, one}));
      p.outputs.push_back({"V", values});
      p.outputs.push_back({"I", indices});
    }
    images = {imageOf(ImageKind::Cubin, "sm_90")};
  }
  CodeImage imageOf(ImageKind kind, const std::string &target) const {
    CodeImage image;
    image.kind = kind;
    image.target = target;
    image.data = bundle.data();
    image.size = bundle.size();
    return image;
  }
  std::shared_ptr<const Artifact> artifact() const {
    std::vector<char> all = bytes();
    // openMemory() reads where it is told to, so that it must stay.
    static std::vector<std::unique_ptr<std::vector<char>>> kept;
    kept.push_back(std::make_unique<std::vector<char>>(std::move(all)));
    std::shared_ptr<const Artifact> result;
    Status status = Artifact::openMemory(kept.back()->data(),
                                         kept.back()->size(), 0, result);
    INFO(status.message);
    REQUIRE(status.ok());
    return result;
  }
};

std::unique_ptr<CudaDevice> gpu(DeviceKind kind = DeviceKind::Gpu) {
  std::unique_ptr<CudaDevice> device;
  Status status = CudaDevice::open(
      fakeTable(), 0, kind == DeviceKind::Gpu ? "cuda:0" : "emulator", kind,
      device);
  INFO(status.message);
  REQUIRE(status.ok());
  return device;
}

std::unique_ptr<Queue> queueOf(Device &device) {
  std::unique_ptr<Queue> queue;
  REQUIRE(device.open({}, queue).ok());
  return queue;
}

struct Numbers {
  std::vector<float> x, y;
  explicit Numbers(size_t rows) : x(rows * 4), y(rows * 4, -7) {
    std::iota(x.begin(), x.end(), 0.f);
  }
  Status bind(Session &session) {
    int64_t dims[] = {int64_t(x.size() / 4), 4};
    Status status = session.bindInput(0, DType::F32, 2, dims, x.data());
    return status.ok() ? session.bindOutput(0, y.data(), y.size() * 4) : status;
  }
  bool isRight() const {
    for (size_t i = 0; i < x.size(); ++i)
      if (y[i] != 2 * x[i] + bias[i % 4])
        return false;
    return true;
  }
};

void checkClean() {
  CHECK(fake->held().empty());
  INFO((fake->misuses.empty() ? "" : fake->misuses[0]));
  CHECK(fake->misuses.empty());
}

} // namespace

TEST_CASE("kernels get their words, grid and block", "[cuda]") {
  freshFake();
  for (bool withScratch : {false, true}) {
    auto device = gpu();
    auto artifact = CudaSample(false, withScratch).artifact();
    Session session(artifact, queueOf(*device), 0);
    for (size_t rows : {3, 20, 0}) {
      Numbers numbers(rows);
      fake->launches.clear();
      REQUIRE(numbers.bind(session).ok());
      Status status = session.run();
      INFO(status.message);
      REQUIRE(status.ok());
      CHECK(numbers.isRight());
      // Nothing to do, no launch.
      REQUIRE(fake->launches.size() == (rows ? 1 : 0));
      if (!rows)
        continue;
      const FakeLaunch &launch = fake->launches[0];
      CHECK(launch.kernel == "scale");
      // Two multiprocessors: eight blocks have scratch memory.
      CHECK(launch.grid == (withScratch ? std::min<size_t>(rows, 8) : rows));
      CHECK(launch.block == 64);
      CHECK(launch.shared == 100 * 1024);
      REQUIRE(launch.words.size() == 7);
      CHECK(launch.words[3] == rows);
      CHECK(launch.words[4] == rows);
      CHECK((launch.words[5] != 0) == withScratch);
      CHECK(launch.words[6] == (withScratch ? 192 : 0));
      for (int i : {0, 1, 2})
        CHECK(launch.words[i] % 64 == 0);
    }
    CHECK(fake->counts["cuFuncSetAttribute"] == 1 + withScratch);
  }
  checkClean();
}

TEST_CASE("a GPU takes the code that is for it", "[cuda]") {
  freshFake();
  CudaSample sample;
  auto reason = [&](int major, int minor, ImageKind kind,
                    const std::string &target) {
    fake->major = major;
    fake->minor = minor;
    return gpu()->reasonAgainst(sample.imageOf(kind, target));
  };
  ImageKind cubin = ImageKind::Cubin, ptx = ImageKind::Ptx;
  CHECK(reason(9, 0, cubin, "sm_90") == "");
  CHECK(reason(9, 0, cubin, "sm_90a") == "");
  CHECK(reason(8, 6, cubin, "sm_80") == "");
  CHECK(reason(10, 3, cubin, "sm_100") == "");
  CHECK(reason(8, 0, cubin, "sm_86") == "this GPU (Fake GPU, sm_80) is older");
  CHECK(reason(8, 0, cubin, "sm_90") == "this GPU (Fake GPU, sm_80) is older");
  CHECK(reason(9, 0, cubin, "sm_80") ==
        "this GPU (Fake GPU, sm_90) has another architecture");
  CHECK(reason(9, 1, cubin, "sm_90a") ==
        "this GPU (Fake GPU, sm_91) has another architecture");
  CHECK(reason(9, 0, ptx, "compute_80") == "");
  CHECK(reason(12, 0, ptx, "compute_90") == "");
  CHECK(reason(12, 0, ptx, "compute_90a") ==
        "this GPU (Fake GPU, sm_120) has another architecture");
  CHECK(reason(7, 5, ptx, "compute_80") ==
        "this GPU (Fake GPU, sm_75) is older");
  for (const char *odd : {"", "sm_", "sm_9", "sm_9000", "sm_90f", "sm_90aa",
                          "sm_a", "compute_90", "90", "sm_-90"})
    CHECK(reason(9, 0, cubin, odd) ==
          "which is no GPU that this runtime knows");
  for (ImageKind kind :
       {ImageKind::Elf, ImageKind::Source, ImageKind::Functions, ImageKind(9)})
    CHECK(reason(9, 0, kind, "sm_90") ==
          "which this device (cuda:0) does not run");
  auto emulator = gpu(DeviceKind::Emulator);
  CHECK(emulator->reasonAgainst(sample.imageOf(ImageKind::Source, "cuda")) ==
        "");
  for (ImageKind kind : {cubin, ptx, ImageKind::Elf})
    CHECK(emulator->reasonAgainst(sample.imageOf(kind, "sm_90")) ==
          "which this device (emulator) does not run");
  fake->major = 8;
  fake->minor = 9;
  CHECK(gpu()->targetName() == "cuda:sm_89");
}

TEST_CASE("the host's memory may change after a copy", "[cuda]") {
  freshFake();
  auto device = gpu();
  {
    auto queue = queueOf(*device);
    DeviceMemory memory;
    bool grown;
    constexpr size_t most = 5 << 20;
    REQUIRE(memory.reserve(*device, most, grown).ok());
    for (size_t bytes : {1, 1000, 1 << 20, (1 << 20) + 1, 5 << 20}) {
      std::vector<uint8_t> data(bytes), back(bytes);
      std::iota(data.begin(), data.end(), 3);
      std::vector<uint8_t> kept = data;
      queue->begin();
      REQUIRE(queue->upload(memory.data(), data.data(), bytes).ok());
      std::fill(data.begin(), data.end(), 0);
      REQUIRE(queue->download(back.data(), memory.data(), bytes).ok());
      CHECK(back == kept);
      REQUIRE(queue->finish().ok());
    }
    // Many at once, more than the pinned memory holds.
    std::vector<uint8_t> piece(300000), back(300000);
    queue->begin();
    for (int i = 0; i < 10; ++i) {
      std::fill(piece.begin(), piece.end(), i);
      REQUIRE(
          queue->upload(memory.data() + i * 300032, piece.data(), 300000).ok());
    }
    REQUIRE(queue->finish().ok());
    for (int i = 0; i < 10; ++i) {
      std::fill(piece.begin(), piece.end(), i);
      REQUIRE(queue->download(back.data(), memory.data() + i * 300032, 300000)
                  .ok());
      CHECK(back == piece);
    }
    CHECK(fake->pinned.size() == 1);
    void *far = nullptr;
    uint64_t capacity;
    Status status = device->allocate(uint64_t(1) << 50, far, capacity);
    CHECK(status.code == MLC_RESOURCES);
    CHECK_THAT(status.message,
               Contains("out of memory on cuda:0: cannot allocate "
                        "1125899906842624 bytes: CUDA error 2 "
                        "(CUDA_ERROR_OUT_OF_MEMORY)"));
    CHECK(device->allocate(UINT64_MAX, far, capacity).code == MLC_RESOURCES);
    CHECK(device->allocate(UINT64_MAX - 62, far, capacity).code ==
          MLC_RESOURCES);
  }
  device.reset();
  checkClean();
}

TEST_CASE("library kernels run on the host in between", "[cuda]") {
  freshFake();
  auto device = gpu();
  {
    auto artifact = CudaSample().artifact();
    Session session(artifact, queueOf(*device), MLC_SESSION_PROFILE);
    Numbers numbers(5);
    REQUIRE(numbers.bind(session).ok());
    Status status = session.run();
    INFO(status.message);
    REQUIRE(status.ok());
    CHECK(numbers.isRight());
    mlc_tensor values, indices;
    REQUIRE(session.output(2, values).ok());
    REQUIRE(session.output(3, indices).ok());
    auto *v = static_cast<const float *>(values.data);
    auto *i = static_cast<const int64_t *>(indices.data);
    for (int row = 0; row < 5; ++row) {
      CHECK(v[2 * row] == numbers.y[4 * row + 3]);
      CHECK(i[2 * row] == 3);
      CHECK(v[2 * row + 1] == numbers.y[4 * row + 2]);
      CHECK(i[2 * row + 1] == 2);
    }
    uint64_t ns;
    REQUIRE(session.stepNanoseconds(0, ns).ok());
    CHECK(ns == 1000000); // its clock counts milliseconds
    // From now on nothing is allocated, made or loaded.
    auto before = fake->counts;
    uint64_t allocations = session.allocations();
    REQUIRE(session.run().ok());
    CHECK(session.allocations() == allocations);
    for (const char *name :
         {"cuMemAlloc_v2", "cuMemAllocHost_v2", "cuStreamCreate",
          "cuEventCreate", "cuModuleLoadData", "cuFuncSetAttribute"})
      CHECK(fake->counts[name] == before[name]);
  }
  device.reset();
  checkClean();
}

TEST_CASE("what fails in a kernel is told by the run", "[cuda]") {
  freshFake();
  auto device = gpu();
  {
    auto artifact = CudaSample(false).artifact();
    Session session(artifact, queueOf(*device), 0);
    Numbers numbers(5);
    REQUIRE(numbers.bind(session).ok());
    REQUIRE(session.run().ok());
    // When it is launched.
    fake->failName = "cuLaunchKernel";
    Status status = session.run();
    CHECK(status.code == MLC_DEVICE);
    CHECK_THAT(status.message,
               Contains("kernel scale (nodes Mul_0, Add_1): CUDA error 999 "
                        "(CUDA_ERROR_FAKE): made to fail"));
    // When it runs.
    fake->streamResult = CUDA_ERROR_ILLEGAL_ADDRESS;
    status = session.run();
    CHECK(status.code == MLC_DEVICE);
    CHECK_THAT(status.message, Contains("CUDA error 700 (CUDA_ERROR_FAKE)") &&
                                   Contains("on cuda:0"));
    REQUIRE(session.run().ok());
    CHECK(numbers.isRight());
  }
  device.reset();
  checkClean();
}

namespace {

/// All that a session's life asks of the driver, from opening the device on.
/// The first error ends it, but for a run, which is tried again.
Status live() {
  std::unique_ptr<CudaDevice> device;
  Status status =
      CudaDevice::open(fakeTable(), 0, "cuda:0", DeviceKind::Gpu, device);
  if (!status.ok())
    return status;
  auto artifact = CudaSample().artifact();
  std::unique_ptr<Queue> queue;
  status = device->open({}, queue);
  if (!status.ok())
    return status;
  Session session(artifact, std::move(queue),
                  MLC_SESSION_PROFILE | MLC_SESSION_KEEP_BUFFERS);
  Numbers numbers(20);
  status = numbers.bind(session);
  for (int i = 0; status.ok() && i < 2; ++i) {
    status = session.run();
    // What has failed once leaves the session as it was.
    if (!status.ok()) {
      Status again = session.run();
      INFO(fake->failed + " first: " + again.message);
      CHECK(again.ok());
    }
    CHECK(numbers.isRight());
  }
  mlc_tensor tensor;
  if (status.ok())
    status = session.output(2, tensor);
  if (status.ok())
    status = session.buffer(1, tensor);
  return status;
}

} // namespace

TEST_CASE("any call of the driver may fail", "[cuda]") {
  // These only give back or explain; nothing depends on them.
  const std::set<std::string> harmless = {
      "cuDevicePrimaryCtxRelease_v2", "cuMemFree_v2",   "cuMemFreeHost",
      "cuStreamDestroy_v2",           "cuModuleUnload", "cuEventDestroy_v2"};
  std::set<std::string> seen;
  for (CUresult result : {CUDA_ERROR_UNKNOWN, CUDA_ERROR_OUT_OF_MEMORY})
    for (unsigned call = 1;; ++call) {
      freshFake();
      fake->failAt = call;
      fake->failWith = result;
      Status status = live();
      const std::string failed = fake->failed;
      INFO("call " << call << ", " << failed << ": " << status.message);
      checkClean();
      if (failed.empty()) {
        CHECK(status.ok());
        CHECK(call > 40);
        break;
      }
      seen.insert(failed);
      // At its end, a session looks at no results.
      bool isEnd = status.ok() &&
                   (harmless.count(failed) || failed == "cuCtxSetCurrent" ||
                    failed == "cuStreamSynchronize");
      if (isEnd)
        continue;
      CHECK(status.code ==
            (result == CUDA_ERROR_OUT_OF_MEMORY ? MLC_RESOURCES : MLC_DEVICE));
      CHECK_THAT(status.message,
                 Contains("CUDA error " + std::to_string(result) + " ("));
    }
  for (const char *name :
       {"cuMemAlloc_v2", "cuModuleLoadData", "cuLaunchKernel", "cuEventRecord",
        "cuMemFree_v2", "cuEventElapsedTime", "cuMemcpyDtoHAsync_v2"})
    CHECK(seen.count(name));
}

TEST_CASE("an error without a name has a number", "[cuda]") {
  freshFake();
  fake->failName = "cuGetErrorName";
  CHECK(fakeTable().describe(CUDA_ERROR_LAUNCH_FAILED) ==
        "CUDA error 719: made to fail");
  fake->failName = "cuGetErrorString";
  CHECK(fakeTable().describe(CUDA_ERROR_OUT_OF_MEMORY) ==
        "CUDA error 2 (CUDA_ERROR_OUT_OF_MEMORY)");
}

TEST_CASE("code that does not load is an error with its kernel", "[cuda]") {
  freshFake();
  auto device = gpu();
  auto load = [&](const std::string &bundle, size_t at = 0) {
    std::vector<char> bytes(bundle.size() + 16);
    std::copy(bundle.begin(), bundle.end(), bytes.begin() + at);
    CodeImage image;
    image.kind = ImageKind::Ptx;
    image.data = bytes.data() + at;
    image.size = bundle.size();
    std::unique_ptr<LoadedCode> code;
    Status status = device->load(image, code);
    CHECK(status.ok() == bool(code));
    if (code) {
      CHECK(code->find("scale"));
      CHECK_FALSE(code->find("scal"));
    }
    return status;
  };
  std::string good = writeBundle({{"scale", "scale"}});
  CHECK(load(good).ok());
  CHECK(load(good, 1).ok()); // a caller's memory may lie anywhere
  CHECK(load(good.substr(1)).code == MLC_BAD_FILE);
  CHECK(load("").code == MLC_BAD_FILE);
  Status status = load(writeBundle({{"scale", "scale"}, {"k2", "bad"}}));
  CHECK(status.code == MLC_DEVICE);
  CHECK(status.message == "kernel k2 cannot be loaded: CUDA error 200 "
                          "(CUDA_ERROR_FAKE): made to fail (cuda:0, driver "
                          "12.4)");
  CHECK_THAT(load(writeBundle({{"other", "scale"}})).message,
             Contains("kernel other is not in its code"));
  device.reset();
  checkClean();
}

TEST_CASE("a GPU refuses launches that it cannot do", "[cuda]") {
  freshFake();
  auto device = gpu();
  {
    CudaSample sample(false);
    Numbers numbers(2);
    fake->maxShared = 64 * 1024;
    auto small = gpu();
    {
      Session session(sample.artifact(), queueOf(*small), 0);
      REQUIRE(numbers.bind(session).ok());
      Status status = session.run();
      CHECK(status.code == MLC_DEVICE);
      CHECK_THAT(
          status.message,
          Contains("kernel scale (nodes Mul_0, Add_1) needs 102400 bytes "
                   "of shared memory in a block, cuda:0 has 65536"));
    }
    sample.program.steps[0].detail =
        LaunchStep{0, sample.program.steps[0].as<GridLaunchStep>().tasks};
    Session session(sample.artifact(), queueOf(*device), 0);
    REQUIRE(numbers.bind(session).ok());
    CHECK_THAT(session.run().message,
               Contains("is launched without blocks, which cuda:0 cannot do"));
  }
  device.reset();
  checkClean();
}

TEST_CASE("sessions share a GPU", "[cuda]") {
  freshFake();
  auto device = gpu();
  {
    auto artifact = CudaSample().artifact();
    std::atomic<unsigned> wrong{0};
    std::vector<std::thread> threads;
    // Checks are not for threads.
    for (size_t t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        std::unique_ptr<Queue> queue;
        if (!device->open({}, queue).ok()) {
          ++wrong;
          return;
        }
        Session session(artifact, std::move(queue), 0);
        for (size_t round = 0; round < 50; ++round) {
          Numbers numbers(1 + (round * 7 + t) % 40);
          bool ok = numbers.bind(session).ok() && session.run().ok() &&
                    numbers.isRight();
          wrong += !ok;
        }
      });
    for (std::thread &thread : threads)
      thread.join();
    CHECK(wrong == 0);
    CHECK(fake->counts["cuModuleLoadData"] == 1);
  }
  device.reset();
  checkClean();
}

//===----------------------------------------------------------------------===//
// Finding
//===----------------------------------------------------------------------===//

TEST_CASE("a driver that is not there is an error with a remedy", "[cuda]") {
  Driver driver;
  Status status = driver.load("libnone.so.7", "install it");
  CHECK(status.code == MLC_DEVICE);
  CHECK_THAT(status.message,
             Contains("cannot load libnone.so.7") && Contains("; install it"));
  status = driver.load("libm.so.6", "install it");
  CHECK(status.code == MLC_DEVICE);
  CHECK(status.message == "libm.so.6 has no function cuInit; install it");
  freshFake();
  std::unique_ptr<CudaDevice> device;
  status = CudaDevice::open(fakeTable(), 3, "cuda:3", DeviceKind::Gpu, device);
  CHECK(status.code == MLC_DEVICE);
  CHECK(status.message ==
        "there is no device 'cuda:3'; this machine has 1 GPU");
  checkClean();
}

TEST_CASE("devices of CUDA have names", "[cuda]") {
  for (const char *name : {"cuda", "cuda:0", "cuda:15", "emulator"})
    CHECK(isCudaName(name));
  for (const char *name : {"", "cpu", "cuda0", "cuda:", "cuda:1x", "cuda: 1",
                           "cuda:12345", "CUDA", "emulator:0", "emulators"})
    CHECK_FALSE(isCudaName(name));
  const char *before = std::getenv("MLC_EMULATOR");
  std::string kept = before ? before : "";
  setenv("MLC_EMULATOR", "/nowhere/emulator.so", 1);
  Device *device = nullptr;
  Status status = findDevice("emulator", device);
  CHECK(status.code == MLC_DEVICE);
  CHECK_THAT(status.message, Contains("there is no device 'emulator': ") &&
                                 Contains("/nowhere/emulator.so") &&
                                 Contains("set MLC_EMULATOR to"));
  before ? setenv("MLC_EMULATOR", kept.c_str(), 1) : unsetenv("MLC_EMULATOR");
}
