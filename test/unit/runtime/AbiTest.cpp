//===- AbiTest.cpp - Options, devices, asynchronous runs through C --------===//

#include "Sample.h"
#include "runtime/mlc_runtime.h"

#include <atomic>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlc;
using namespace mlc::test;
using Catch::Contains;

namespace {

/// scaleProgram, whose kernel waits as long as the first input is -1.
const std::vector<char> &waitingCode() {
  static const std::vector<char> bytes = [] {
    Folder folder;
    std::ofstream(folder / "k.c")
        << "#include <stdint.h>\n"
           "void scale(void *const *b, const int64_t *s, int64_t begin,\n"
           "           int64_t end, void *scratch) {\n"
           "  const float *x = b[0], *c = b[1]; float *y = b[2];\n"
           "  while (*(const volatile float *)x == -1) ;\n"
           "  for (int64_t i = begin * 4; i < end * 4; ++i)\n"
           "    y[i] = 2 * x[i] + c[i % 4];\n}\n";
    std::string command = std::string(MLC_CC) + " -O1 -shared -fPIC -o " +
                          (folder / "k.so") + " " + (folder / "k.c");
    REQUIRE(std::system(command.c_str()) == 0);
    return readAll(folder / "k.so");
  }();
  return bytes;
}

struct Opened {
  std::vector<char> bytes;
  mlc_artifact *artifact = nullptr;
  Opened() {
    Sample sample;
    ArtifactWriter::Contents contents = sample.contents();
    contents.images = {elf(waitingCode())};
    std::string out;
    llvm::raw_string_ostream os(out);
    llvm::Error error = sample.writer.write(os, contents);
    REQUIRE_FALSE(bool(error));
    bytes.assign(out.begin(), out.end());
    INFO(mlc_last_error());
    REQUIRE(mlc_artifact_open_memory(bytes.data(), bytes.size(),
                                     MLC_OPEN_COPY_WEIGHTS,
                                     &artifact) == MLC_OK);
  }
  ~Opened() { mlc_artifact_close(artifact); }
};

mlc_status create(mlc_artifact *artifact, const mlc_session_options &options) {
  mlc_session *session = nullptr;
  mlc_status status = mlc_session_create(artifact, &options, &session);
  CHECK((status == MLC_OK) == (session != nullptr));
  mlc_session_destroy(session);
  return status;
}

} // namespace

TEST_CASE("options of other sizes", "[abi]") {
  Opened opened;
  struct Newer {
    mlc_session_options known;
    uint64_t more;
  } newer = {MLC_SESSION_OPTIONS_INIT, 0};
  newer.known.size = sizeof(newer);
  CHECK(create(opened.artifact, newer.known) == MLC_OK);
  newer.more = 1;
  CHECK(create(opened.artifact, newer.known) == MLC_USAGE);
  CHECK_THAT(mlc_last_error(), Contains("does not know"));
  mlc_session_options options = MLC_SESSION_OPTIONS_INIT;
  options.device = reinterpret_cast<const char *>(1); // an older caller's heap
  options.size = offsetof(mlc_session_options, device);
  CHECK(create(opened.artifact, options) == MLC_OK);
  for (size_t size : {size_t(0), options.size - 1, size_t(1) << 40}) {
    options.size = size;
    CHECK(create(opened.artifact, options) == MLC_USAGE);
    CHECK_THAT(mlc_last_error(), Contains("MLC_SESSION_OPTIONS_INIT"));
  }
}

TEST_CASE("devices by name", "[abi]") {
  Opened opened;
  REQUIRE(mlc_device_count() >= 1);
  CHECK(std::string(mlc_device_name(0)) == "cpu");
  CHECK(mlc_device_name(mlc_device_count()) == nullptr);
  mlc_session_options options = MLC_SESSION_OPTIONS_INIT;
  options.device = "cpu";
  CHECK(create(opened.artifact, options) == MLC_OK);
  options.device = "cuda:7";
  CHECK(create(opened.artifact, options) == MLC_DEVICE);
  CHECK_THAT(mlc_last_error(), Contains("no device 'cuda:7'"));
  for (const char *name : {"", "CPU", "cudas", "tpu\n", "cuda:", "cuda:x",
                           "cuda:-1", "cuda:99999", "emulator:x"}) {
    options.device = name;
    CHECK(create(opened.artifact, options) == MLC_USAGE);
    CHECK_THAT(mlc_last_error(), Contains("is no device; there is cpu"));
  }
}

TEST_CASE("a run beside the caller", "[abi]") {
  Opened opened;
  mlc_session_options options = MLC_SESSION_OPTIONS_INIT;
  options.threads = 2;
  mlc_session *session = nullptr;
  REQUIRE(mlc_session_create(opened.artifact, &options, &session) == MLC_OK);
  alignas(64) float x[8] = {}, y[8] = {};
  auto *gate = reinterpret_cast<std::atomic<float> *>(x);
  int64_t dims[] = {2, 4};
  CHECK(mlc_session_wait(session) == MLC_OK); // none is under way
  CHECK_FALSE(mlc_session_is_running(session));
  // What a run says comes with the wait.
  CHECK(mlc_session_run_async(session) == MLC_OK);
  CHECK(mlc_session_wait(session) == MLC_USAGE);
  CHECK_THAT(mlc_last_error(), Contains("'X' is not bound"));
  CHECK(mlc_session_wait(session) == MLC_OK);

  REQUIRE(mlc_session_bind_input(session, 0, MLC_F32, 2, dims, x,
                                 MLC_SPACE_DEVICE) == MLC_OK);
  REQUIRE(mlc_session_bind_output(session, 0, y, sizeof(y), MLC_SPACE_HOST) ==
          MLC_OK);
  uint64_t allocations = 0;
  for (int round = 0; round < 3; ++round) {
    *gate = -1;
    std::memset(y, 0, sizeof(y));
    REQUIRE(mlc_session_run_async(session) == MLC_OK);
    CHECK(mlc_session_is_running(session));
    mlc_tensor t;
    mlc_memory memory;
    uint64_t ns;
    CHECK(mlc_session_run(session) == MLC_USAGE);
    CHECK_THAT(mlc_last_error(), Contains("call mlc_session_wait first"));
    CHECK(mlc_session_run_async(session) == MLC_USAGE);
    CHECK(mlc_session_bind_input(session, 0, MLC_F32, 2, dims, x,
                                 MLC_SPACE_HOST) == MLC_USAGE);
    CHECK(mlc_session_bind_output(session, 0, nullptr, 0, MLC_SPACE_HOST) ==
          MLC_USAGE);
    CHECK(mlc_session_output(session, 0, &t) == MLC_USAGE);
    CHECK(mlc_session_buffer(session, 0, &t) == MLC_USAGE);
    CHECK(mlc_session_parameter(session, 0, &t) == MLC_USAGE);
    CHECK(mlc_session_memory(session, &memory) == MLC_USAGE);
    CHECK(mlc_session_step_ns(session, 0, &ns) == MLC_USAGE);
    CHECK(mlc_session_allocation_count(session) == 0);
    *gate = 5;
    CHECK(mlc_session_wait(session) == MLC_OK);
    CHECK_FALSE(mlc_session_is_running(session));
    CHECK(y[0] == 11);
    CHECK(y[7] == 4);
    if (round == 0)
      allocations = mlc_session_allocation_count(session);
  }
  CHECK(mlc_session_allocation_count(session) == allocations);
  // Destroying waits.
  REQUIRE(mlc_session_run_async(session) == MLC_OK);
  mlc_session_destroy(session);
  CHECK(y[0] == 11);
}

TEST_CASE("misuse of spaces and of nothing", "[abi]") {
  Opened opened;
  mlc_session *session = nullptr;
  REQUIRE(mlc_session_create(opened.artifact, nullptr, &session) == MLC_OK);
  float x[8] = {};
  int64_t dims[] = {2, 4};
  auto nowhere = static_cast<mlc_space>(2);
  CHECK(mlc_session_bind_input(session, 0, MLC_F32, 2, dims, x, nowhere) ==
        MLC_USAGE);
  CHECK(mlc_session_bind_output(session, 0, x, 4, nowhere) == MLC_USAGE);
  CHECK(mlc_session_set_parameter(session, 0, MLC_F32, 2, dims, x, nowhere) ==
        MLC_USAGE);
  CHECK(mlc_session_set_parameter(session, 0, MLC_F32, 2, dims, x,
                                  MLC_SPACE_HOST) == MLC_USAGE);
  CHECK_THAT(mlc_last_error(), Contains("no parameter 0; the model has 0"));
  CHECK(mlc_session_bind_output(nullptr, 0, x, 4, MLC_SPACE_HOST) == MLC_USAGE);
  CHECK(mlc_session_run_async(nullptr) == MLC_USAGE);
  CHECK(mlc_session_wait(nullptr) == MLC_USAGE);
  CHECK_FALSE(mlc_session_is_running(nullptr));
  mlc_port port;
  CHECK(mlc_artifact_parameter_count(opened.artifact) == 0);
  CHECK(mlc_artifact_parameter(opened.artifact, 0, &port) == MLC_USAGE);
  mlc_session_destroy(session);
}

TEST_CASE("flags that nobody knows", "[abi]") {
  Opened opened;
  mlc_session_options options = MLC_SESSION_OPTIONS_INIT;
  for (uint32_t unknown : {8u, 0x80000000u, 12u}) {
    options.flags = unknown;
    CHECK(create(opened.artifact, options) == MLC_USAGE);
    CHECK_THAT(mlc_last_error(), Contains("does not know"));
    mlc_artifact *artifact = nullptr;
    CHECK(mlc_artifact_open_memory(opened.bytes.data(), opened.bytes.size(),
                                   unknown, &artifact) == MLC_USAGE);
    CHECK(mlc_artifact_open("no file", unknown, &artifact) == MLC_USAGE);
    CHECK(artifact == nullptr);
  }
}

TEST_CASE("sessions do not follow a fork", "[abi]") {
  Opened opened;
  mlc_session *session = nullptr;
  mlc_session_options options = MLC_SESSION_OPTIONS_INIT;
  options.threads = 4;
  REQUIRE(mlc_session_create(opened.artifact, &options, &session) == MLC_OK);
  REQUIRE(mlc_session_run_async(session) == MLC_OK); // fails: nothing is bound
  pid_t child = fork();
  if (child == 0) {
    mlc_session *own = nullptr;
    bool isRefused = mlc_session_run(session) == MLC_USAGE &&
                     mlc_session_wait(session) == MLC_USAGE &&
                     !mlc_session_is_running(session);
    mlc_session_destroy(session);
    bool works = mlc_session_create(opened.artifact, &options, &own) == MLC_OK;
    mlc_session_destroy(own);
    _exit(isRefused && works ? 0 : 1);
  }
  int status = 1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(mlc_session_wait(session) == MLC_USAGE);
  mlc_session_destroy(session);
}
