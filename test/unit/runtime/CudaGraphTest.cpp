//===- CudaGraphTest.cpp - Launches recorded as CUDA graphs ---------------===//

#include "CudaSample.h"

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
      CHECK(steady.count("cuLaunchKernel") == 0);
      CHECK(steady["cuGraphLaunch"] == 1);
      // The output's copy waits; at the end of the run nothing is left.
      CHECK(steady["cuStreamSynchronize"] == 1);
      for (const auto &[name, count] : steady)
        CHECK_THAT(name, !Contains("Alloc") && !Contains("Create") &&
                             !Contains("Instantiate") && !Contains("Free"));
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
    CHECK_THAT(status.message, Contains("kernel scale has failed on cuda:0"));
    std::fill(numbers.y.begin(), numbers.y.end(), -7.f);
    REQUIRE(session.run().ok());
    CHECK(numbers.isRight());
  }
  device.reset();
  checkClean();
}
