//===- DeviceTest.cpp - Sessions on a device with memory of its own -------===//
//
// SessionTest and BindTest run on each device; here stands what only one with
// its own memory shows.
//
//===----------------------------------------------------------------------===//

#include "FarDevice.h"
#include "Sample.h"
#include "runtime/AsyncRun.h"
#include "runtime/Session.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <numeric>

using namespace mlc;
using namespace mlc::runtime;
using namespace mlc::test;
using Catch::Contains;

namespace {

alignas(64) const float weights[16] = {1, 2, 3, 4};

void scale(void *const *buffers, const int64_t *, int64_t begin, int64_t end,
           void *) {
  auto *x = static_cast<const float *>(buffers[0]);
  auto *c = static_cast<const float *>(buffers[1]);
  auto *y = static_cast<float *>(buffers[2]);
  for (int64_t i = begin * 4; i < end * 4; ++i)
    y[i] = 2 * x[i] + c[i % 4];
}

std::shared_ptr<const Artifact> scaleArtifact() {
  std::shared_ptr<const Artifact> artifact;
  REQUIRE(Artifact::create(scaleProgram(),
                           reinterpret_cast<const uint8_t *>(weights), 16,
                           {scale}, artifact)
              .ok());
  return artifact;
}

/// Memory of the far device with numbers.
struct FarNumbers {
  DeviceMemory memory;
  std::unique_ptr<Queue> queue = queueOn(farDevice());

  explicit FarNumbers(std::vector<float> values) {
    bool grown;
    REQUIRE(memory.reserve(farDevice(), values.size() * 4, grown).ok());
    queue->begin();
    REQUIRE(
        queue->upload(memory.data(), values.data(), values.size() * 4).ok());
    REQUIRE(queue->finish().ok());
  }
  std::vector<float> read(size_t count) {
    std::vector<float> values(count);
    REQUIRE(queue->download(values.data(), memory.data(), count * 4).ok());
    return values;
  }
};

std::vector<float> scaled(size_t count) {
  std::vector<float> y(count);
  for (size_t i = 0; i < count; ++i)
    y[i] = 2 * float(i) + weights[i % 4];
  return y;
}

std::vector<float> counting(size_t count) {
  std::vector<float> x(count);
  std::iota(x.begin(), x.end(), 0.f);
  return x;
}

void bindRows(Session &session, int64_t rows, const void *data,
              mlc_space space) {
  int64_t dims[] = {rows, 4};
  REQUIRE(session.bindInput(0, DType::F32, 2, dims, data, space).ok());
}

void run(Session &session) {
  Status status = session.run();
  INFO(status.message);
  REQUIRE(status.ok());
}

} // namespace

TEST_CASE("the host's inputs and outputs are copied", "[device]") {
  auto artifact = scaleArtifact();
  FarDevice &far = farDevice();
  Session session(artifact, queueOn(far), 0), other(artifact, queueOn(far), 0);
  std::vector<float> x = counting(12), y(12, -7);
  bindRows(session, 3, x.data(), MLC_SPACE_HOST);
  REQUIRE(session.bindOutput(0, y.data(), 48, MLC_SPACE_HOST).ok());
  far.counts = {};
  run(session);
  CHECK(y == scaled(12));
  CHECK(far.counts.loads == 1);
  CHECK(far.counts.uploads == 2); // the weights and the input
  CHECK(far.counts.uploadedBytes == 16 + 48);
  CHECK(far.counts.downloads == 1);
  CHECK(far.counts.launches == 1);
  // Code and weights are there for the next session.
  far.counts = {};
  bindRows(other, 3, x.data(), MLC_SPACE_HOST);
  run(other);
  CHECK(far.counts.loads == 0);
  CHECK(far.counts.uploads == 1);
  CHECK(far.counts.downloads == 0);
  // What the session holds is copied when it is asked for.
  mlc_tensor t;
  uint64_t before = other.allocations();
  REQUIRE(other.output(1, t).ok());
  CHECK(other.allocations() == before + 1);
  CHECK(far.counts.downloads == 1);
  auto *data = static_cast<const float *>(t.data);
  CHECK(std::vector<float>(data, data + 12) == scaled(12));
  run(other);
  REQUIRE(other.output(1, t).ok());
  CHECK(t.data == data);
  CHECK(other.allocations() == before + 1);
}

TEST_CASE("the device's pointers are used where they are", "[device]") {
  auto artifact = scaleArtifact();
  FarDevice &far = farDevice();
  Session session(artifact, queueOn(far), 0);
  FarNumbers x(counting(17)), y(std::vector<float>(16, -7));
  bindRows(session, 3, x.memory.data(), MLC_SPACE_DEVICE);
  REQUIRE(session.bindOutput(0, y.memory.data(), 64, MLC_SPACE_DEVICE).ok());
  run(session);
  far.counts = {};
  uint64_t before = session.allocations();
  run(session);
  CHECK(session.allocations() == before);
  CHECK(far.counts.uploads + far.counts.downloads + far.counts.copies == 0);
  REQUIRE(far.counts.lastBuffers.size() == 3);
  CHECK(far.counts.lastBuffers[0] == x.memory.data());
  CHECK(far.counts.lastBuffers[2] == y.memory.data());
  std::vector<float> expected = scaled(12);
  expected.resize(16, -7);
  CHECK(y.read(16) == expected);
  mlc_tensor t;
  REQUIRE(session.output(0, t).ok());
  CHECK(t.data == y.memory.data());
  // Odd addresses are copied, on the device.
  bindRows(session, 3, x.memory.data() + 4, MLC_SPACE_DEVICE);
  REQUIRE(
      session.bindOutput(0, y.memory.data() + 4, 48, MLC_SPACE_DEVICE).ok());
  far.counts = {};
  run(session);
  CHECK(far.counts.uploads + far.counts.downloads == 0);
  CHECK(far.counts.copies == 2);
  CHECK(y.read(13)[12] == 2 * 12 + 4);
  // A host's pointer is no address there.
  std::vector<float> host(12);
  bindRows(session, 3,
           host.data() - reinterpret_cast<uintptr_t>(host.data()) % 64 / 4,
           MLC_SPACE_DEVICE);
  CHECK_THAT(session.run().message, Contains("no memory of the far device"));
}

TEST_CASE("memory of both spaces must not overlap", "[device]") {
  auto artifact = scaleArtifact();
  std::vector<float> x = counting(16);
  Session near(artifact, queueOn(cpuDevice()), 0);
  bindRows(near, 2, x.data(), MLC_SPACE_HOST);
  REQUIRE(near.bindOutput(0, x.data(), 32, MLC_SPACE_DEVICE).ok());
  CHECK_THAT(near.run().message, Contains("overlaps that of input 'X'"));
  // On a device with memory of its own within one space only.
  Session session(artifact, queueOn(farDevice()), 0);
  FarNumbers y(x);
  bindRows(session, 2, x.data(), MLC_SPACE_HOST);
  REQUIRE(session.bindOutput(0, y.memory.data(), 32, MLC_SPACE_DEVICE).ok());
  REQUIRE(session.bindOutput(1, y.memory.data(), 32, MLC_SPACE_DEVICE).ok());
  CHECK_THAT(session.run().message, Contains("overlaps that of output 'Y'"));
}

TEST_CASE("a device without memory is an error, and no end", "[device]") {
  auto artifact = scaleArtifact();
  FarDevice &far = farDevice();
  uint64_t held = far.allocatedBytes();
  {
    Session session(artifact, queueOn(far), 0);
    std::vector<float> x = counting(4000);
    bindRows(session, 1, x.data(), MLC_SPACE_HOST);
    run(session);
    far.limit = far.allocatedBytes() + 8000;
    bindRows(session, 1000, x.data(), MLC_SPACE_HOST);
    Status status = session.run();
    far.limit = uint64_t(1) << 40;
    CHECK(status.code == MLC_RESOURCES);
    CHECK_THAT(status.message, Contains("the far device is full"));
    run(session);
    mlc_tensor t;
    REQUIRE(session.output(0, t).ok());
    CHECK(static_cast<const float *>(t.data)[3999] == 2 * 3999 + 4);
  }
  // The weights stay with the artifact.
  CHECK(far.allocatedBytes() == held + 64);
  artifact.reset();
  CHECK(far.allocatedBytes() == held);
}

TEST_CASE("what fails later is told by the run", "[device]") {
  auto artifact = scaleArtifact();
  FarDevice &far = farDevice();
  Session session(artifact, queueOn(far), 0);
  std::vector<float> x = counting(8);
  bindRows(session, 2, x.data(), MLC_SPACE_HOST);
  far.failingLaunch = 1;
  CHECK_THAT(session.run().message, Contains("the far device has failed"));
  mlc_tensor t;
  CHECK(session.output(0, t).code == MLC_USAGE);
  run(session);
  CHECK(session.output(0, t).ok());
}

TEST_CASE("a device's own clock and intermediate results", "[device]") {
  auto artifact = scaleArtifact();
  Session session(artifact, queueOn(farDevice()),
                  MLC_SESSION_PROFILE | MLC_SESSION_KEEP_BUFFERS);
  std::vector<float> x = counting(8);
  bindRows(session, 2, x.data(), MLC_SPACE_HOST);
  run(session);
  uint64_t ns = 0;
  REQUIRE(session.stepNanoseconds(0, ns).ok());
  CHECK(ns == 1); // its clock counts stamps
  for (BufferId b = 0; b < 4; ++b) {
    mlc_tensor t;
    REQUIRE(session.buffer(b, t).ok());
    std::vector<float> expected = b == 0   ? x
                                  : b == 1 ? std::vector<float>{1, 2, 3, 4}
                                           : scaled(8);
    REQUIRE(t.bytes == expected.size() * 4);
    CHECK(!std::memcmp(t.data, expected.data(), t.bytes));
  }
}

TEST_CASE("a run beside the caller on any device", "[device]") {
  ON_EACH_DEVICE;
  Session session(scaleArtifact(), queueOn(device, 2), 0);
  std::vector<float> x = counting(400), y(400);
  bindRows(session, 100, x.data(), MLC_SPACE_HOST);
  REQUIRE(session.bindOutput(0, y.data(), 1600, MLC_SPACE_HOST).ok());
  AsyncRun async;
  for (int round = 0; round < 20; ++round) {
    std::fill(y.begin(), y.end(), -1.f);
    async.start(session);
    REQUIRE(async.wait().ok());
    REQUIRE(y == scaled(400));
  }
}

//===----------------------------------------------------------------------===//
// Code images
//===----------------------------------------------------------------------===//

namespace {

struct Opened {
  std::vector<char> bytes;
  mlc_artifact *artifact = nullptr;
  mlc_status status;

  explicit Opened(std::vector<char> file, uint32_t flags = 0)
      : bytes(std::move(file)),
        status(mlc_artifact_open_memory(bytes.data(), bytes.size(), flags,
                                        &artifact)) {}
  ~Opened() { mlc_artifact_close(artifact); }
};

CodeImage imageOf(ImageKind kind, const std::string &target) {
  CodeImage image = elf(code());
  image.kind = kind;
  image.target = target;
  return image;
}

} // namespace

TEST_CASE("each device takes the first image that it runs", "[device]") {
  farDevice(); // is there from now on
  Sample sample;
  CodeImage newer = imageOf(ImageKind::Elf, "x86-64-v9");
  newer.features = {"avx9000"};
  const std::vector<char> foreign(100, 'x');
  CodeImage unknown = imageOf(ImageKind(77), "some machine");
  unknown.data = foreign.data();
  unknown.size = foreign.size();
  sample.images = {unknown, newer, imageOf(ImageKind::Elf, "x86-64"),
                   imageOf(ImageKind::Cubin, "sm_90")};
  Opened opened(sample.bytes());
  INFO(mlc_last_error());
  REQUIRE(opened.status == MLC_OK);
  REQUIRE(mlc_artifact_image_count(opened.artifact) == 4);
  mlc_image image;
  REQUIRE(mlc_artifact_image(opened.artifact, 0, &image) == MLC_OK);
  CHECK(std::string(image.kind) == "?");
  CHECK(image.bytes == 100);
  REQUIRE(mlc_artifact_image(opened.artifact, 3, &image) == MLC_OK);
  CHECK(std::string(image.kind) == "cubin");
  CHECK(std::string(image.target) == "sm_90");
  CHECK(mlc_artifact_image(opened.artifact, 4, &image) == MLC_USAGE);
  CHECK(mlc_artifact_code_bytes(opened.artifact) == 100 + 3 * code().size());
  for (const char *name : {"cpu", "far"}) {
    mlc_session_options options = MLC_SESSION_OPTIONS_INIT;
    options.device = name;
    mlc_session *session = nullptr;
    REQUIRE(mlc_session_create(opened.artifact, &options, &session) == MLC_OK);
    std::vector<float> x = counting(8);
    int64_t dims[] = {2, 4};
    REQUIRE(mlc_session_bind_input(session, 0, MLC_F32, 2, dims, x.data(),
                                   MLC_SPACE_HOST) == MLC_OK);
    REQUIRE(mlc_session_run(session) == MLC_OK);
    mlc_tensor t;
    REQUIRE(mlc_session_output(session, 0, &t) == MLC_OK);
    CHECK(!std::memcmp(t.data, scaled(8).data(), 32));
    mlc_session_destroy(session);
  }
}

TEST_CASE("the caller says through C where his pointers point", "[device]") {
  farDevice();
  Sample sample;
  sample.images = {imageOf(ImageKind::Cubin, "sm_90")};
  Opened opened(sample.bytes()); // nothing for the cpu: far is asked
  INFO(mlc_last_error());
  REQUIRE(opened.status == MLC_OK);
  mlc_session_options options = MLC_SESSION_OPTIONS_INIT;
  mlc_session *session = nullptr;
  CHECK(mlc_session_create(opened.artifact, &options, &session) == MLC_DEVICE);
  CHECK_THAT(mlc_last_error(),
             Contains("artifact in memory: was compiled for sm_90 (cubin), "
                      "which this device (cpu) does not run; run it with "
                      "device cuda, or compile it for target cpu:x86-64"));
  options.device = "far";
  REQUIRE(mlc_session_create(opened.artifact, &options, &session) == MLC_OK);
  FarNumbers x(counting(8)), y(std::vector<float>(8, -7));
  int64_t dims[] = {2, 4};
  REQUIRE(mlc_session_bind_input(session, 0, MLC_F32, 2, dims, x.memory.data(),
                                 MLC_SPACE_DEVICE) == MLC_OK);
  REQUIRE(mlc_session_bind_output(session, 0, y.memory.data(), 32,
                                  MLC_SPACE_DEVICE) == MLC_OK);
  REQUIRE(mlc_session_run(session) == MLC_OK);
  CHECK(y.read(8) == scaled(8));
  mlc_session_destroy(session);
}

TEST_CASE("no image for any device is an error that lists them", "[device]") {
  Sample sample;
  CodeImage newer = imageOf(ImageKind::Elf, "x86-64-v9");
  newer.features = {"avx9000"};
  sample.images = {newer, imageOf(ImageKind(9), "a newer machine")};
  Opened none(sample.bytes());
  CHECK(none.status == MLC_DEVICE);
  CHECK_THAT(mlc_last_error(),
             Contains("was compiled for x86-64-v9 (elf), this CPU") &&
                 Contains("; for a newer machine (?), which") &&
                 Contains("; compile it for target cpu:x86-64"));
  // It can be looked at.
  Opened inspected(none.bytes, MLC_OPEN_INSPECT);
  CHECK(inspected.status == MLC_OK);
  CHECK(mlc_artifact_image_count(inspected.artifact) == 2);
  sample.images.clear();
  Opened empty(sample.bytes());
  CHECK(empty.status == MLC_DEVICE);
  CHECK_THAT(mlc_last_error(), Contains("has no code; rebuild it with"));
}

TEST_CASE("a damaged image is not loaded", "[device]") {
  std::vector<char> good = Sample().bytes();
  std::vector<char> damaged = good;
  ArtifactHeader header;
  std::memcpy(&header, good.data(), sizeof(header));
  std::vector<CodeImage> images;
  auto *table =
      reinterpret_cast<const uint8_t *>(good.data()) + header.images.offset;
  REQUIRE(deserialize(table, header.images.size, images).ok());
  REQUIRE(images.size() == 1);
  CHECK(images[0].hash == blake3(code().data(), code().size()));
  damaged[images[0].offset + images[0].size / 2] ^= 4;
  Opened opened(damaged, MLC_OPEN_SKIP_CHECKSUM);
  CHECK(opened.status == MLC_BAD_FILE);
  CHECK_THAT(mlc_last_error(), Contains("the checksum of its code") &&
                                   Contains("rebuild it with"));
  CHECK(Opened(good, MLC_OPEN_SKIP_CHECKSUM).status == MLC_OK);
}

TEST_CASE("every field of the images' table is checked", "[device]") {
  CodeImage good = imageOf(ImageKind::Elf, "x86-64");
  good.offset = 1024;
  good.features = {"avx2", "fma"};
  uint64_t fileSize = 1024 + good.size;
  auto isValid = [&](CodeImage image) {
    return validate({good, image}, 1024, fileSize, 64).ok();
  };
  CHECK(isValid(good));
  CodeImage image = good;
  image.kind = ImageKind::Functions;
  CHECK_FALSE(isValid(image));
  for (uint64_t offset : {0ull, 960ull, 1025ull, ~0ull, ~0ull - 63}) {
    image = good;
    image.offset = offset;
    CHECK_FALSE(isValid(image));
  }
  for (uint64_t size : {good.size + 1, ~uint64_t(0), ~uint64_t(0) - 1023}) {
    image = good;
    image.size = size;
    CHECK_FALSE(isValid(image));
  }
  std::vector<uint8_t> bytes = serialize(std::vector<CodeImage>{good, good});
  std::vector<CodeImage> read;
  REQUIRE(deserialize(bytes.data(), bytes.size(), read).ok());
  CHECK(serialize(read) == bytes);
  CHECK(read[1].features == good.features);
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::vector<uint8_t> damaged(bytes.begin(), bytes.begin() + i);
    CHECK_FALSE(deserialize(damaged.data(), i, read).ok());
    for (unsigned value = 0; value < 256; ++value) {
      damaged = bytes;
      damaged[i] = value;
      if (deserialize(damaged.data(), damaged.size(), read).ok())
        (void)validate(read, 1024, fileSize, 64).ok();
    }
  }
}
