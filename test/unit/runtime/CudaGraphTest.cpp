//===- CudaGraphTest.cpp - Launches recorded as CUDA graphs ---------------===//

#include "CudaSample.h"

#include <atomic>
#include <cstdlib>
#include <thread>

using namespace mlc::test;
using Catch::Contains;

namespace {

/// Counts the calls of a run by name.
std::map<std::string, unsigned> callsOf(Session &session) {
  auto before = fake->counts;
  Status status = session.run();
  INFO(status.message);
  REQUIRE(status.ok());
  std::map<std::string, unsigned> calls;
  for (const auto &[name, count] : fake->counts)
    if (count != before[name])
      calls[name] = count - before[name];
  return calls;
}

/// One launch, one wait, and nothing that is made or given back.
void checkSteady(std::map<std::string, unsigned> calls) {
  CHECK(calls.count("cuLaunchKernel") == 0);
  CHECK(calls["cuGraphLaunch"] == 1);
  CHECK(calls["cuStreamSynchronize"] == 1);
  for (const auto &[name, count] : calls)
    CHECK_THAT(name, !Contains("Alloc") && !Contains("Create") &&
                         !Contains("Capture") && !Contains("Instantiate") &&
                         !Contains("Free") && !Contains("Destroy"));
}

/// A session's life with launches alone, four runs; the first error ends it,
/// but for a run, which is tried again.
Status live() {
  std::unique_ptr<CudaDevice> device;
  Status status =
      CudaDevice::open(fakeTable(), 0, "cuda:0", DeviceKind::Gpu, device);
  if (!status.ok())
    return status;
  auto artifact = CudaSample(false).artifact();
  std::unique_ptr<Queue> queue;
  status = device->open({}, queue);
  if (!status.ok())
    return status;
  Session session(artifact, std::move(queue), 0);
  Numbers numbers(20);
  status = numbers.bind(session);
  for (int i = 0; status.ok() && i < 4; ++i) {
    status = session.run();
    if (!status.ok()) {
      Status again = session.run();
      INFO(fake->failed + " first: " + again.message);
      CHECK(again.ok());
    }
    CHECK(numbers.isRight());
  }
  return status;
}

} // namespace

TEST_CASE("a run like those before is one launch and one wait", "[cuda]") {
  freshFake();
  auto device = gpu();
  {
    Session session(CudaSample(false).artifact(), queueOf(*device), 0);
    Numbers numbers(20);
    REQUIRE(numbers.bind(session).ok());
    CHECK(callsOf(session)["cuLaunchKernel"] == 1);
    // Recorded, and launched.
    auto second = callsOf(session);
    CHECK(second["cuGraphInstantiateWithFlags"] == 1);
    CHECK(second["cuGraphDestroy"] == 1);
    CHECK(second["cuGraphLaunch"] == 1);
    for (int i = 0; i < 3; ++i) {
      std::fill(numbers.y.begin(), numbers.y.end(), -7.f);
      auto steady = callsOf(session);
      CHECK(numbers.isRight());
      checkSteady(steady);
    }
  }
  device.reset();
  checkClean();
}

TEST_CASE("other sizes have launches of their own", "[cuda]") {
  freshFake();
  auto device = gpu();
  {
    Session session(CudaSample(false).artifact(), queueOf(*device), 0);
    for (size_t rows : {20, 20, 20, 7, 7, 7, 20, 20, 20, 40, 40, 7, 7, 7}) {
      Numbers numbers(rows);
      REQUIRE(numbers.bind(session).ok());
      Status status = session.run();
      INFO(status.message);
      REQUIRE(status.ok());
      CHECK(numbers.isRight());
    }
    CHECK(fake->counts["cuGraphLaunch"] > 4);
  }
  device.reset();
  checkClean();
}

TEST_CASE("a run waits once, however many outputs it copies", "[cuda]") {
  freshFake();
  auto device = gpu();
  {
    Session session(CudaSample(false).artifact(), queueOf(*device), 0);
    // Small; and more than the first pinned memory holds, several times.
    for (size_t rows : {20, 300000}) {
      Numbers numbers(rows);
      std::vector<float> z(rows * 4);
      REQUIRE(numbers.bind(session).ok());
      REQUIRE(session.bindOutput(1, z.data(), rows * 16).ok());
      for (int i = 0; i < 3; ++i)
        callsOf(session);
      for (int i = 0; i < 2; ++i) {
        std::fill(z.begin(), z.end(), -7.f);
        uint64_t allocations = session.allocations();
        auto steady = callsOf(session);
        checkSteady(steady);
        CHECK(steady["cuMemcpyHtoDAsync_v2"] == 1);
        CHECK(steady["cuMemcpyDtoHAsync_v2"] == 2);
        CHECK(session.allocations() == allocations);
        CHECK(numbers.isRight());
        CHECK((z == numbers.y));
      }
      CHECK(fake->pinned.size() == 1);
    }
  }
  device.reset();
  checkClean();
}

TEST_CASE("after a failure nothing is written", "[cuda]") {
  freshFake();
  auto device = gpu();
  {
    Session session(CudaSample(false).artifact(), queueOf(*device), 0);
    Numbers numbers(20);
    REQUIRE(numbers.bind(session).ok());
    for (int i = 0; i < 3; ++i)
      REQUIRE(session.run().ok());
    for (const char *call : {"cuStreamSynchronize", "cuMemcpyDtoHAsync_v2"}) {
      std::vector<float> kept(numbers.y.size(), -7.f);
      numbers.y = kept;
      fake->failName = call;
      CHECK(session.run().code == MLC_DEVICE);
      CHECK((numbers.y == kept));
      REQUIRE(session.run().ok());
      CHECK(numbers.isRight());
    }
  }
  device.reset();
  checkClean();
}

TEST_CASE("launches are recorded for the caller's memory", "[cuda]") {
  freshFake();
  auto device = gpu();
  {
    Numbers numbers(20);
    const uint64_t bytes = numbers.x.size() * 4;
    DeviceMemory x, y[2];
    bool grown;
    for (DeviceMemory *memory : {&x, &y[0], &y[1]})
      REQUIRE(memory->reserve(*device, bytes, grown).ok());
    auto queue = queueOf(*device);
    REQUIRE(queue->upload(x.data(), numbers.x.data(), bytes).ok());
    Session session(CudaSample(false).artifact(), queueOf(*device), 0);
    int64_t dims[] = {20, 4};
    REQUIRE(
        session.bindInput(0, DType::F32, 2, dims, x.data(), MLC_SPACE_DEVICE)
            .ok());
    for (int round : {0, 1, 0}) {
      DeviceMemory &out = y[round];
      REQUIRE(session.bindOutput(0, out.data(), bytes, MLC_SPACE_DEVICE).ok());
      // Another address: not what was recorded.
      CHECK(callsOf(session).count("cuGraphLaunch") == 0);
      callsOf(session);
      REQUIRE(queue->upload(out.data(), numbers.x.data(), bytes).ok());
      auto steady = callsOf(session);
      checkSteady(steady);
      for (const auto &[name, count] : steady)
        CHECK_THAT(name, !Contains("Memcpy"));
      REQUIRE(queue->download(numbers.y.data(), out.data(), bytes).ok());
      CHECK(numbers.isRight());
    }
  }
  device.reset();
  checkClean();
}

TEST_CASE("sessions of several threads and GPUs record", "[cuda]") {
  freshFake().devices = 2;
  {
    std::unique_ptr<CudaDevice> gpus[] = {gpu(DeviceKind::Gpu, 0),
                                          gpu(DeviceKind::Gpu, 1)};
    auto artifact = CudaSample(false).artifact();
    std::atomic<unsigned> wrong{0};
    std::vector<std::thread> threads;
    // Two for each GPU. Checks are not for threads.
    for (size_t t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        std::unique_ptr<Queue> queue;
        if (!gpus[t % 2]->open({}, queue).ok()) {
          ++wrong;
          return;
        }
        Session session(artifact, std::move(queue), 0);
        for (size_t round = 0; round < 60; ++round) {
          Numbers numbers(1 + t + round / 10);
          bool ok = numbers.bind(session).ok() && session.run().ok() &&
                    numbers.isRight();
          wrong += !ok;
        }
      });
    for (std::thread &thread : threads)
      thread.join();
    CHECK(wrong == 0);
    CHECK(fake->counts["cuModuleLoadData"] == 2);
    CHECK(fake->counts["cuGraphLaunch"] > 150);
  }
  checkClean();
}

TEST_CASE("launches that block are not recorded", "[cuda]") {
  // So that the driver can say which of them has failed.
  setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
  freshFake();
  auto device = gpu();
  auto queue = queueOf(*device);
  unsetenv("CUDA_LAUNCH_BLOCKING");
  CHECK_FALSE(queue->canRecord());
  CHECK(queueOf(*device)->canRecord());
  queue.reset();
  device.reset();
  checkClean();
}

TEST_CASE("what waits, or is measured, is not recorded", "[cuda]") {
  freshFake();
  auto device = gpu();
  for (uint32_t flags : {0u, uint32_t(MLC_SESSION_PROFILE)}) {
    // With library kernels, which run on the host; and with stamps.
    Session session(CudaSample(flags == 0).artifact(), queueOf(*device), flags);
    Numbers numbers(20);
    REQUIRE(numbers.bind(session).ok());
    for (int i = 0; i < 4; ++i)
      REQUIRE(session.run().ok());
    CHECK(numbers.isRight());
  }
  CHECK(fake->counts.count("cuStreamBeginCapture_v2") == 0);
  device.reset();
  checkClean();
}

TEST_CASE("any call may fail where launches are recorded", "[cuda]") {
  std::set<std::string> seen;
  for (unsigned call = 1;; ++call) {
    freshFake();
    fake->failAt = call;
    Status status = live();
    const std::string failed = fake->failed;
    INFO("call " << call << ", " << failed << ": " << status.message);
    checkClean();
    if (failed.empty()) {
      CHECK(status.ok());
      break;
    }
    seen.insert(failed);
    if (!status.ok()) {
      CHECK(status.code == MLC_DEVICE);
      CHECK_THAT(status.message, Contains("CUDA error 999 ("));
      if (failed == "cuLaunchKernel" || failed == "cuGraphLaunch" ||
          failed == "cuGraphInstantiateWithFlags")
        CHECK_THAT(status.message,
                   Contains("kernel scale (nodes Mul_0, Add_1)"));
    }
  }
  for (const char *name :
       {"cuStreamBeginCapture_v2", "cuStreamEndCapture", "cuGraphLaunch",
        "cuGraphInstantiateWithFlags", "cuGraphDestroy", "cuGraphExecDestroy"})
    CHECK(seen.count(name));
}

TEST_CASE("a recorded launch that fails is told of", "[cuda]") {
  freshFake();
  auto device = gpu();
  {
    Session session(CudaSample(false).artifact(), queueOf(*device), 0);
    Numbers numbers(20);
    REQUIRE(numbers.bind(session).ok());
    for (int i = 0; i < 3; ++i)
      REQUIRE(session.run().ok());
    fake->streamResult = CUDA_ERROR_ILLEGAL_ADDRESS;
    Status status = session.run();
    CHECK(status.code == MLC_DEVICE);
    CHECK_THAT(
        status.message,
        Contains("kernel scale (nodes Mul_0, Add_1) has failed on cuda:0") &&
            Contains("; device emulator says where in the kernel"));
    std::fill(numbers.y.begin(), numbers.y.end(), -7.f);
    REQUIRE(session.run().ok());
    CHECK(numbers.isRight());
  }
  device.reset();
  checkClean();
}

namespace {

/// scaleOnBlocks on a workspace: it wants counters of zero, as they are, and
/// leaves another number where `breaksOff`.
bool breaksOff;
void scaleJointly(const FakeLaunch &launch) {
  FakeLaunch plain = launch;
  plain.words[5] = 0;
  auto *joint = at<uint8_t>(launch.words[5], 5000);
  if (std::all_of(joint, joint + GridLaunchStep::counterBytes,
                  [](uint8_t byte) { return byte == 0; }))
    scaleOnBlocks(plain);
  std::fill(joint + GridLaunchStep::counterBytes, joint + 5000, 1);
  joint[17] = breaksOff;
}

} // namespace

TEST_CASE("counters of a workspace begin at zero", "[cuda]") {
  freshFake();
  fake->kernels["scale"] = scaleJointly;
  auto device = gpu();
  {
    CudaSample sample(false, false);
    Program &p = sample.program;
    p.steps[0].as<GridLaunchStep>().workspace = p.addConstant(5000);
    Session session(sample.artifact(), queueOf(*device), 0);
    Numbers numbers(20);
    REQUIRE(numbers.bind(session).ok());
    // Step by step, recorded, and replayed.
    for (size_t runs : {1, 2, 5}) {
      breaksOff = false;
      for (size_t i = 0; i < runs; ++i) {
        std::fill(numbers.y.begin(), numbers.y.end(), -7.f);
        REQUIRE(session.run().ok());
        CHECK(numbers.isRight());
      }
      // A run that fails leaves what it will.
      breaksOff = true;
      fake->streamResult = CUDA_ERROR_UNKNOWN;
      CHECK_FALSE(session.run().ok());
    }
    breaksOff = false;
    for (int i = 0; i < 3; ++i) {
      std::fill(numbers.y.begin(), numbers.y.end(), -7.f);
      REQUIRE(session.run().ok());
      CHECK(numbers.isRight());
    }
    // Blocks are as many as tasks, whatever the device has.
    CHECK(fake->launches.back().grid == fake->launches.back().words[4]);
  }
  device.reset();
  checkClean();
}
