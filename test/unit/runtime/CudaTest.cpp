//===- CudaTest.cpp - Sessions on CUDA's driver, without a GPU ------------===//

#include "CudaSample.h"

#include <set>
#include <thread>

using namespace mlc::test;
using Catch::Contains;

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

TEST_CASE("kernels that wait by themselves are launched early", "[cuda]") {
  struct Case {
    const char *target;
    int major, version;
    bool isOverlapped;
  };
  for (const Case &test :
       {Case{"compute_90", 9, 12030, true}, Case{"compute_90", 10, 13000, true},
        // Made for GPUs that cannot.
        Case{"compute_80", 9, 12040, false},
        Case{"compute_80", 8, 12040, false},
        // The driver's graphs would not keep it.
        Case{"compute_90", 9, 12020, false}}) {
    INFO(test.target << ", " << test.version);
    freshFake();
    fake->major = test.major;
    fake->version = test.version;
    {
      auto device = gpu();
      CudaSample sample(false, false);
      sample.images = {sample.imageOf(ImageKind::Ptx, test.target)};
      Session session(sample.artifact(), queueOf(*device), 0);
      Numbers numbers(20);
      REQUIRE(numbers.bind(session).ok());
      REQUIRE(session.run().ok());
      CHECK(numbers.isRight());
      CHECK(fake->launches.back().isOverlapped == test.isOverlapped);
    }
    checkClean();
  }
}

TEST_CASE("the host's memory may change after a copy", "[cuda]") {
  freshFake();
  auto device = gpu();
  {
    auto queue = queueOf(*device);
    DeviceMemory memory;
    bool grown;
    constexpr size_t most = (64 << 20) + 1;
    REQUIRE(memory.reserve(*device, most, grown).ok());
    for (size_t bytes :
         {1, 1000, 1 << 20, (1 << 20) + 1, 5 << 20, 64 << 20, (64 << 20) + 1}) {
      std::vector<uint8_t> data(bytes), back(bytes);
      std::iota(data.begin(), data.end(), 3);
      std::vector<uint8_t> kept = data;
      queue->begin();
      REQUIRE(queue->upload(memory.data(), data.data(), bytes).ok());
      std::fill(data.begin(), data.end(), 0);
      REQUIRE(queue->download(back.data(), memory.data(), bytes).ok());
      CHECK((back == kept)); // nobody reads millions of numbers
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
      CHECK((back == piece));
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
    // Some bytes are asked for also where none are needed.
    fake->failName = "cuMemAlloc_v2";
    fake->failWith = CUDA_ERROR_OUT_OF_MEMORY;
    status = device->allocate(0, far, capacity);
    CHECK_THAT(status.message, Contains("cannot allocate 64 bytes"));
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
