//===- CudaStreamTest.cpp - The caller's streams, and runs on them --------===//

#include "CudaSample.h"
#include "runtime/Devices.h"
#include "runtime/mlc_runtime.h"

using namespace mlc::test;
using Catch::Contains;

namespace {

CUstream makeStream(const CudaDevice &device) {
  CUstream stream = nullptr;
  REQUIRE(device.enter().ok());
  REQUIRE(fakeTable().cuStreamCreate(&stream, 1) == CUDA_SUCCESS);
  return stream;
}

std::unique_ptr<Queue> queueOn(CudaDevice &device, CUstream stream) {
  QueueOptions options;
  options.stream = stream;
  std::unique_ptr<Queue> queue;
  Status status = device.open(options, queue);
  INFO(status.message);
  REQUIRE(status.ok());
  return queue;
}

/// Numbers in the device's memory, bound to a session.
struct FarNumbers : Numbers {
  Device &device;
  std::unique_ptr<Queue> queue;
  DeviceMemory in, out;

  FarNumbers(Device &device, size_t rows)
      : Numbers(rows), device(device), queue(queueOf(device)) {
    bool grown;
    REQUIRE(in.reserve(device, x.size() * 4, grown).ok());
    REQUIRE(out.reserve(device, x.size() * 4, grown).ok());
    REQUIRE(queue->upload(in.data(), x.data(), x.size() * 4).ok());
  }
  void bind(Session &session) {
    int64_t dims[] = {int64_t(x.size() / 4), 4};
    REQUIRE(
        session.bindInput(0, DType::F32, 2, dims, in.data(), MLC_SPACE_DEVICE)
            .ok());
    REQUIRE(
        session.bindOutput(0, out.data(), y.size() * 4, MLC_SPACE_DEVICE).ok());
  }
  /// Whether the result is there, without a wait for anybody.
  bool isThere() {
    auto address = uint64_t(reinterpret_cast<uintptr_t>(out.data()));
    std::memcpy(y.data(), fake->host(address, y.size() * 4), y.size() * 4);
    return isRight();
  }
};

} // namespace

TEST_CASE("a session works on the caller's stream", "[cuda]") {
  freshFake();
  auto device = gpu();
  CUstream stream = makeStream(*device);
  {
    Session session(CudaSample(false).artifact(), queueOn(*device, stream), 0);
    CHECK(session.stream() == stream);
    CHECK(fake->streams.size() == 1);
    Numbers numbers(20);
    REQUIRE(numbers.bind(session).ok());
    for (int i = 0; i < 4; ++i) {
      std::fill(numbers.y.begin(), numbers.y.end(), -7.f);
      REQUIRE(session.run().ok());
      CHECK(numbers.isRight());
    }
  }
  // It is the caller's still.
  CHECK(fake->streams.count(stream) == 1);
  CHECK(fakeTable().cuStreamDestroy_v2(stream) == CUDA_SUCCESS);
  device.reset();
  checkClean();
}

TEST_CASE("a stream that a session cannot have", "[cuda]") {
  freshFake().devices = 2;
  {
    auto first = gpu(), second = gpu(DeviceKind::Gpu, 1);
    CUstream stream = makeStream(*first);
    QueueOptions options;
    std::unique_ptr<Queue> queue;
    options.stream = stream;
    Status status = second->open(options, queue);
    CHECK(status.code == MLC_USAGE);
    CHECK(status.message ==
          "the given stream is not of the primary context of cuda:1");
    for (uintptr_t value : {1, 2}) {
      options.stream = reinterpret_cast<void *>(value);
      status = first->open(options, queue);
      CHECK(status.code == MLC_USAGE);
      CHECK_THAT(status.message, Contains("is a default one"));
    }
    options.stream = stream;
    fake->failName = "cuStreamGetCtx";
    status = first->open(options, queue);
    CHECK(status.code == MLC_DEVICE);
    CHECK_THAT(status.message, Contains("cannot use the given stream: CUDA"));
    CHECK_FALSE(queue);
    CHECK(fakeTable().cuStreamDestroy_v2(stream) == CUDA_SUCCESS);
  }
  checkClean();
}

TEST_CASE("a run that is enqueued waits for nothing", "[cuda]") {
  freshFake();
  auto device = gpu();
  CUstream stream = makeStream(*device);
  {
    Session session(CudaSample(false).artifact(), queueOn(*device, stream), 0);
    FarNumbers a(*device, 20), b(*device, 20);
    // The first runs make memory and record.
    for (FarNumbers *numbers : {&a, &b}) {
      numbers->bind(session);
      for (int i = 0; i < 3; ++i)
        REQUIRE(session.enqueue().ok());
    }
    REQUIRE(session.wait().ok());
    const std::vector<float> nothing(a.x.size(), -7);
    for (FarNumbers *numbers : {&a, &b})
      REQUIRE(numbers->queue->upload(numbers->out.data(), nothing.data(), 320)
                  .ok());
    unsigned waits = fake->counts["cuStreamSynchronize"];
    uint64_t allocations = session.allocations();
    b.bind(session);
    REQUIRE(session.enqueue().ok());
    a.bind(session);
    REQUIRE(session.enqueue().ok());
    CHECK(fake->counts["cuStreamSynchronize"] == waits);
    CHECK_FALSE(a.isThere());
    CHECK_FALSE(b.isThere());
    // The output is the caller's memory, which is told without a wait.
    mlc_tensor tensor;
    REQUIRE(session.output(0, tensor).ok());
    CHECK(tensor.data == a.out.data());
    CHECK(fake->counts["cuStreamSynchronize"] == waits);
    // Whoever waits for the stream has them.
    CHECK(fakeTable().cuStreamSynchronize(stream) == CUDA_SUCCESS);
    CHECK(a.isThere());
    CHECK(b.isThere());
    CHECK(session.allocations() <= allocations + 2); // recorded anew
  }
  CHECK(fakeTable().cuStreamDestroy_v2(stream) == CUDA_SUCCESS);
  device.reset();
  checkClean();
}

TEST_CASE("memory that an enqueued run uses stays", "[cuda]") {
  freshFake();
  auto device = gpu();
  {
    Session session(CudaSample(false).artifact(), queueOf(*device), 0);
    FarNumbers small(*device, 3), large(*device, 5000);
    small.bind(session);
    REQUIRE(session.bindOutput(0, nullptr, 0).ok());
    REQUIRE(session.enqueue().ok());
    large.bind(session);
    REQUIRE(session.bindOutput(0, nullptr, 0).ok());
    unsigned waits = fake->counts["cuStreamSynchronize"];
    REQUIRE(session.enqueue().ok()); // the arena grows
    CHECK(fake->counts["cuStreamSynchronize"] == waits + 1);
    // An output in the session's memory is waited for by who asks for it.
    mlc_tensor tensor;
    REQUIRE(session.output(0, tensor).ok());
    std::memcpy(large.y.data(), tensor.data, tensor.bytes);
    CHECK(large.isRight());
    // The session's end waits too.
    REQUIRE(session.enqueue().ok());
  }
  device.reset();
  checkClean();
}

TEST_CASE("what fails in an enqueued run is told later", "[cuda]") {
  freshFake();
  auto device = gpu();
  {
    Session session(CudaSample(false).artifact(), queueOf(*device), 0);
    FarNumbers numbers(*device, 20);
    numbers.bind(session);
    REQUIRE(session.enqueue().ok());
    fake->streamResult = CUDA_ERROR_ILLEGAL_ADDRESS;
    Status status = session.wait();
    CHECK(status.code == MLC_DEVICE);
    CHECK_THAT(status.message,
               Contains("kernel scale (nodes Mul_0, Add_1) has failed"));
    mlc_tensor tensor;
    CHECK(session.output(0, tensor).code == MLC_USAGE);
    // Once; and what fails at once is told at once.
    CHECK(session.wait().ok());
    fake->failName = "cuLaunchKernel";
    CHECK(session.enqueue().code == MLC_DEVICE);
    CHECK(session.wait().ok());
    REQUIRE(session.enqueue().ok());
    REQUIRE(session.wait().ok());
    CHECK(numbers.isThere());
  }
  device.reset();
  checkClean();
}

TEST_CASE("what cannot be enqueued", "[cuda]") {
  freshFake();
  auto device = gpu();
  {
    auto artifact = CudaSample(false).artifact();
    Session session(artifact, queueOf(*device), 0);
    Numbers near(20);
    FarNumbers far(*device, 20);
    int64_t dims[] = {20, 4};
    REQUIRE(near.bind(session).ok());
    Status status = session.enqueue();
    CHECK(status.code == MLC_USAGE);
    CHECK_THAT(status.message, Contains("is bound to the host's memory; a run "
                                        "that is enqueued needs the device's"));
    REQUIRE(
        session
            .bindInput(0, DType::F32, 2, dims, far.in.data(), MLC_SPACE_DEVICE)
            .ok());
    CHECK_THAT(session.enqueue().message, Contains("output 'Y' is bound to"));
    Session measured(artifact, queueOf(*device), MLC_SESSION_PROFILE);
    far.bind(measured);
    CHECK(measured.enqueue().code == MLC_USAGE);
    // Library kernels run on the host: their operands are waited for.
    Session waits(CudaSample().artifact(), queueOf(*device), 0);
    far.bind(waits);
    REQUIRE(waits.enqueue().ok());
    CHECK(far.isThere());
    REQUIRE(waits.wait().ok());
  }
  device.reset();
  checkClean();
}

TEST_CASE("the cpu has no streams", "[abi]") {
  Sample sample;
  std::vector<char> bytes = sample.bytes();
  mlc_artifact *artifact = nullptr;
  REQUIRE(mlc_artifact_open_memory(bytes.data(), bytes.size(), 0, &artifact) ==
          MLC_OK);
  mlc_session_options options = MLC_SESSION_OPTIONS_INIT;
  mlc_session *session = nullptr;
  options.stream = &options;
  CHECK(mlc_session_create(artifact, &options, &session) == MLC_USAGE);
  CHECK_THAT(mlc_last_error(), Contains("device 'cpu' has no streams"));
  options.stream = nullptr;
  REQUIRE(mlc_session_create(artifact, &options, &session) == MLC_OK);
  void *stream = nullptr;
  CHECK(mlc_session_stream(session, &stream) == MLC_UNSUPPORTED);
  CHECK(mlc_session_stream(session, nullptr) == MLC_USAGE);
  CHECK(mlc_session_stream(nullptr, &stream) == MLC_USAGE);
  CHECK(mlc_session_enqueue(nullptr) == MLC_USAGE);
  // What is enqueued is done at once, in the host's memory.
  Numbers numbers(2);
  int64_t dims[] = {2, 4};
  REQUIRE(mlc_session_bind_input(session, 0, MLC_F32, 2, dims, numbers.x.data(),
                                 MLC_SPACE_HOST) == MLC_OK);
  REQUIRE(mlc_session_bind_output(session, 0, numbers.y.data(), 32,
                                  MLC_SPACE_HOST) == MLC_OK);
  REQUIRE(mlc_session_enqueue(session) == MLC_OK);
  CHECK(numbers.isRight());
  CHECK(mlc_session_wait(session) == MLC_OK);
  mlc_session_destroy(session);
  mlc_artifact_close(artifact);
}

TEST_CASE("queues wait for each other by events", "[cuda]") {
  freshFake();
  auto device = gpu();
  {
    std::unique_ptr<Queue> first = queueOf(*device), second = queueOf(*device);
    REQUIRE(first->hasEvents());
    CHECK(device->gpu() == 0);
    std::unique_ptr<Event> event;
    REQUIRE(first->makeEvent(event).ok());
    CHECK(event->handle() != nullptr);
    DeviceMemory from, to;
    bool grown;
    REQUIRE(from.reserve(*device, 4, grown).ok());
    REQUIRE(to.reserve(*device, 4, grown).ok());
    for (float value : {3.f, 4.f}) {
      QueuedWork here(*first), there(*second);
      REQUIRE(first->upload(from.data(), &value, 4).ok());
      REQUIRE(first->record(*event).ok());
      REQUIRE(second->waitFor(*event).ok());
      REQUIRE(second->copy(to.data(), from.data(), 4).ok());
      unsigned waits = fake->counts["cuStreamSynchronize"];
      float got = 0;
      REQUIRE(second->download(&got, to.data(), 4).ok());
      // The one that is downloaded from.
      CHECK(fake->counts["cuStreamSynchronize"] == waits + 1);
      CHECK(got == value);
      CHECK(here.finish().ok());
      CHECK(there.finish().ok());
    }
    fake->failName = "cuEventCreate";
    std::unique_ptr<Event> none;
    Status status = first->makeEvent(none);
    CHECK_THAT(status.message, Contains("cannot make an event: CUDA"));
    CHECK_FALSE(none);
    fake->failName = "cuEventRecord";
    CHECK_THAT(first->record(*event).message,
               Contains("cannot record an event: CUDA"));
    fake->failName = "cuStreamWaitEvent";
    CHECK_THAT(second->waitFor(*event).message,
               Contains("cannot wait for an event: CUDA"));
  }
  device.reset();
  checkClean();
}

TEST_CASE("a device without streams has no events", "[cuda]") {
  std::unique_ptr<Queue> queue = queueOf(*devices().front());
  std::unique_ptr<Event> event;
  CHECK_FALSE(queue->hasEvents());
  CHECK(queue->makeEvent(event).code == MLC_INTERNAL);
  CHECK(devices().front()->gpu() == -1);
}
