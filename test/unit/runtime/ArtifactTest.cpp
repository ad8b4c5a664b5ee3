//===- ArtifactTest.cpp - Written by the compiler, opened by the C ABI ----===//

#include "codegen/Artifact.h"
#include "Folder.h"
#include "Sample.h"
#include "runtime/ArtifactFormat.h"
#include "runtime/mlc_runtime.h"

#include <catch2/catch.hpp>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sys/resource.h>

using namespace mlc;
using namespace mlc::runtime;
using Catch::Contains;
using mlc::test::asBytes;
using mlc::test::bias;
using mlc::test::Folder;
using mlc::test::readAll;
using mlc::test::Sample;
namespace fs = std::filesystem;

namespace {

std::string message(llvm::Error error) {
  return error ? llvm::toString(std::move(error)) : "";
}

/// Opens `bytes`; the message if that fails.
std::string openError(const std::vector<char> &bytes, uint32_t flags = 0) {
  std::vector<char> exact(bytes); // for ASan
  mlc_artifact *artifact = nullptr;
  mlc_status status =
      mlc_artifact_open_memory(exact.data(), exact.size(), flags, &artifact);
  if (status == MLC_OK) {
    mlc_artifact_close(artifact);
    return "";
  }
  CHECK(artifact == nullptr);
  return mlc_last_error();
}

} // namespace

TEST_CASE("an entry whose code is on another rank does not run", "[artifact]") {
  Sample sample;
  sample.programs.entries.push_back(sample.program);
  sample.programs.entries[0].name = "here";
  sample.programs.entries[1].name = "there";
  sample.programs.entries[1].kernels = {""};
  Folder folder;
  sample.write(folder / "two.mlca");
  mlc_artifact *artifact = nullptr, *there = nullptr;
  REQUIRE(mlc_artifact_open((folder / "two.mlca").c_str(), 0, &artifact) ==
          MLC_OK);
  REQUIRE(mlc_artifact_entry(artifact, 1, &there) == MLC_OK);
  mlc_session_options how = MLC_SESSION_OPTIONS_INIT;
  mlc_session *session = nullptr, *other = nullptr;
  REQUIRE(mlc_session_create(artifact, &how, &session) == MLC_OK);
  REQUIRE(mlc_session_entry(session, 1, &other) == MLC_OK);
  const float x[4] = {1, 2, 3, 4};
  const int64_t dims[2] = {1, 4};
  for (mlc_session *one : {session, other})
    REQUIRE(mlc_session_bind_input(one, 0, MLC_F32, 2, dims, x,
                                   MLC_SPACE_HOST) == MLC_OK);
  CHECK(mlc_session_run(session) == MLC_OK);
  CHECK(mlc_session_run(other) == MLC_USAGE);
  CHECK_THAT(mlc_last_error(),
             Contains("the code of entry there is on another rank"));
  mlc_session_destroy(other);
  mlc_session_destroy(session);
  mlc_artifact_close(there);
  mlc_artifact_close(artifact);
}

TEST_CASE("from writer to results through the C ABI", "[artifact]") {
  Folder folder;
  Sample sample;
  std::string path = folder / "scale.mlca";
  sample.write(path);
  CHECK(readAll(path) == sample.bytes());
  CHECK(std::distance(fs::directory_iterator(folder.path), {}) == 1);

  for (uint32_t flags : {0u, uint32_t(MLC_OPEN_COPY_WEIGHTS),
                         uint32_t(MLC_OPEN_SKIP_CHECKSUM)}) {
    mlc_artifact *artifact = nullptr;
    INFO(mlc_last_error());
    REQUIRE(mlc_artifact_open(path.c_str(), flags, &artifact) == MLC_OK);
    CHECK(std::string(mlc_artifact_manifest(artifact, nullptr)) ==
          "{\"model\": \"scale\"}");
    CHECK(std::string(mlc_artifact_metadata(artifact, "character")) == "a\nb");
    CHECK(mlc_artifact_metadata(artifact, "none") == nullptr);
    mlc_port port;
    REQUIRE(mlc_artifact_input(artifact, 0, &port) == MLC_OK);
    CHECK(std::string(port.name) == "X");
    CHECK(port.dims[0] == -1);
    CHECK(std::string(port.dim_texts[0]) == "N");
    CHECK(port.dims[1] == 4);
    CHECK(mlc_artifact_input(artifact, 1, &port) == MLC_USAGE);
    REQUIRE(mlc_artifact_output(artifact, 1, &port) == MLC_OK);
    CHECK(std::string(port.dim_texts[0]) == "N*4");
    mlc_step step;
    REQUIRE(mlc_artifact_step(artifact, 0, &step) == MLC_OK);
    CHECK(step.node_count == 2);
    CHECK(std::string(step.nodes[1]) == "Add_1");

    mlc_session *session = nullptr;
    REQUIRE(mlc_session_create(artifact, nullptr, &session) == MLC_OK);
    mlc_artifact_close(artifact); // the session holds its own reference
    alignas(64) float x[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    int64_t dims[] = {2, 4};
    REQUIRE(mlc_session_bind_input(session, 0, MLC_F32, 2, dims, x,
                                   MLC_SPACE_HOST) == MLC_OK);
    REQUIRE(mlc_session_run(session) == MLC_OK);
    mlc_tensor t;
    REQUIRE(mlc_session_output(session, 1, &t) == MLC_OK);
    CHECK(t.rank == 1);
    CHECK(t.dims[0] == 8);
    for (int i = 0; i < 8; ++i)
      CHECK(static_cast<const float *>(t.data)[i] == 2 * i + bias[i % 4]);
    mlc_session_destroy(session);
  }
}

TEST_CASE("equal constants are stored once", "[artifact]") {
  ArtifactWriter writer;
  std::vector<float> a(100, 1), b(100, 1), c(100, 2);
  uint64_t offset = writer.addConstant(asBytes(a.data(), 100));
  CHECK(writer.addConstant(asBytes(b.data(), 100)) == offset);
  uint64_t other = writer.addConstant(asBytes(c.data(), 100));
  CHECK(other != offset);
  CHECK(other % 64 == 0);
  CHECK(writer.weightsSize() == 2 * 448);
}

TEST_CASE("the C example runs", "[artifact]") {
  Folder folder;
  Sample sample;
  std::string path = folder / "scale.mlca", out = folder / "out.txt";
  sample.write(path);
  REQUIRE(std::system(
              (std::string(MLC_EXAMPLE) + " " + path + " > " + out).c_str()) ==
          0);
  std::vector<char> text = readAll(out);
  CHECK(std::string(text.begin(), text.end()) ==
        "Y: f32 1x4, first value 1\nZ: f32 4, first value 1\n");
}

TEST_CASE("foreign artifacts are refused with the remedy", "[artifact]") {
  std::vector<char> good = Sample().bytes();
  CHECK(openError(good) == "");
  std::vector<char> foreign = good;
  foreign[offsetof(ArtifactHeader, format)] = 77;
  std::memcpy(&foreign[offsetof(ArtifactHeader, toolVersion)], "9.8.7", 6);
  CHECK_THAT(openError(foreign),
             Contains("made by mlc 9.8.7 (artifact format 77), this is "
                      "runtime ") &&
                 Contains("rebuild it with: mlc compile scale.onnx -o "
                          "scale.mlca"));
  CHECK_THAT(openError({'h', 'e', 'l', 'l', 'o', ',', ' ', 'y', 'o', 'u'}),
             Contains("is not an mlc artifact"));
  CHECK_THAT(openError({good.begin(), good.end() - 1}),
             Contains("is truncated") && Contains("mlc compile"));
  foreign = good;
  foreign.back() ^= 1;
  CHECK_THAT(openError(foreign), Contains("checksum") && Contains("rebuild"));
  CHECK(mlc_artifact_open("/no/such/file.mlca", 0,
                          reinterpret_cast<mlc_artifact **>(&foreign)) ==
        MLC_BAD_FILE);
  CHECK_THAT(mlc_last_error(),
             Contains("/no/such/file.mlca: cannot open: No such file"));
}

TEST_CASE("another CPU's artifact is refused", "[artifact]") {
  Sample sample;
  sample.images[0].target = "x86-64-v9";
  sample.images[0].features = {"sse2", "avx9000"};
  std::vector<char> bytes = sample.bytes();
  CHECK_THAT(openError(bytes), Contains("compiled for x86-64-v9") &&
                                   Contains("lacks avx9000;") &&
                                   Contains("for target cpu:x86-64"));
  // It can still be looked at, but not run.
  mlc_artifact *artifact = nullptr;
  mlc_session *session = nullptr;
  REQUIRE(mlc_artifact_open_memory(bytes.data(), bytes.size(), MLC_OPEN_INSPECT,
                                   &artifact) == MLC_OK);
  CHECK(mlc_session_create(artifact, nullptr, &session) == MLC_USAGE);
  mlc_artifact_close(artifact);
}

TEST_CASE("no damage gets through the checksum", "[artifact]") {
  std::vector<char> good = Sample().bytes();
  for (size_t size = 0; size < good.size(); size += size < 4096 ? 1 : 97)
    CHECK(openError({good.begin(), good.begin() + size}) != "");
  for (size_t at = 0; at < good.size(); at += at < 4096 ? 1 : 61) {
    std::vector<char> damaged = good;
    damaged[at] ^= 1 << at % 8;
    CHECK(openError(damaged) != "");
  }
}

TEST_CASE("no damage crashes without the checksum", "[artifact]") {
  // Code is not loaded: damaged machine code may do anything.
  std::vector<char> good = Sample().bytes();
  ArtifactHeader header;
  std::memcpy(&header, good.data(), sizeof(header));
  size_t end = header.program.offset + header.program.size;
  size_t table = header.images.offset, tableEnd = table + header.images.size;
  uint32_t flags = MLC_OPEN_SKIP_CHECKSUM | MLC_OPEN_INSPECT;
  for (size_t at = 0; at < tableEnd; at = at + 1 == end ? table : at + 1)
    for (int change : {1, 128, 255}) {
      std::vector<char> damaged = good;
      damaged[at] ^= change;
      openError(damaged, flags);
    }
}

TEST_CASE("what no runtime would take is not written", "[artifact]") {
  Sample sample;
  std::string bytes;
  llvm::raw_string_ostream os(bytes);
  auto error = [&] {
    return message(sample.writer.write(os, sample.contents()));
  };
  std::string name =
      std::exchange(sample.program.symbols[0].name, std::string(300, 'n'));
  CHECK_THAT(error(), Contains("more than an artifact holds") &&
                          Contains("a name of 300 bytes"));
  CHECK(validate(sample.program, sample.writer.weightsSize()).code ==
        MLC_UNSUPPORTED);
  sample.program.symbols[0].name = name;
  sample.program.steps.clear();
  CHECK_THAT(error(), Contains("never written"));
  CHECK(bytes.empty());
}

TEST_CASE("getters take no artifact for an empty one", "[artifact]") {
  size_t size = 1;
  CHECK(std::string(mlc_artifact_manifest(nullptr, &size)).empty());
  CHECK(size == 0);
  CHECK(mlc_artifact_metadata_count(nullptr) == 0);
  CHECK(mlc_artifact_metadata(nullptr, "key") == nullptr);
  CHECK(mlc_artifact_input_count(nullptr) == 0);
  CHECK(mlc_artifact_output_count(nullptr) == 0);
  CHECK(mlc_artifact_step_count(nullptr) == 0);
  CHECK(mlc_artifact_buffer_count(nullptr) == 0);
  CHECK(std::string(mlc_artifact_buffer_name(nullptr, 0)).empty());
  CHECK(mlc_artifact_weight_bytes(nullptr) == 0);
  CHECK(mlc_artifact_code_bytes(nullptr) == 0);
  mlc_port port;
  mlc_step step;
  const char *key, *value;
  CHECK(mlc_artifact_input(nullptr, 0, &port) == MLC_USAGE);
  CHECK(mlc_artifact_output(nullptr, 0, &port) == MLC_USAGE);
  CHECK(mlc_artifact_step(nullptr, 0, &step) == MLC_USAGE);
  CHECK(mlc_artifact_metadata_at(nullptr, 0, &key, &value) == MLC_USAGE);
  CHECK_THAT(mlc_last_error(), Contains("NULL"));
  mlc_artifact_close(nullptr);
  mlc_session_destroy(nullptr);
}

TEST_CASE("too few file descriptors are no fault of the artifact",
          "[artifact]") {
  Folder folder;
  Sample sample;
  std::string path = folder / "scale.mlca";
  sample.write(path);
  rlimit old, limit;
  getrlimit(RLIMIT_NOFILE, &old);
  // Whatever is left: opening the file, the code's memory or the library.
  for (int more = 0; more < 3; ++more) {
    int next = dup(0);
    close(next);
    limit = {rlim_t(next + more), old.rlim_max};
    setrlimit(RLIMIT_NOFILE, &limit);
    mlc_artifact *artifact = nullptr;
    mlc_status status = mlc_artifact_open(path.c_str(), 0, &artifact);
    setrlimit(RLIMIT_NOFILE, &old);
    INFO(more << ": " << mlc_last_error());
    CHECK((status == MLC_RESOURCES || (more == 2 && status == MLC_OK)));
    if (status == MLC_OK)
      mlc_artifact_close(artifact);
    else
      CHECK_THAT(mlc_last_error(), !Contains("rebuild"));
  }
}
