//===- RunCommandTest.cpp - mlc-run as a user meets it --------------------===//

#include "Folder.h"
#include "Programs.h"
#include "Sample.h"
#include "runtime/Npy.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <fstream>
#include <sys/wait.h>

using namespace mlc::runtime;
using Catch::Contains;

namespace {

struct Result {
  int code;
  std::string out, err;
};

std::string slurp(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

struct Bench {
  mlc::test::Folder folder;
  std::string model = folder / "scale.mlca", x = folder / "x.npy";

  Bench() {
    mlc::test::Sample sample;
    sample.write(model);
    float data[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    saveNpy(x, DType::F32, {2, 4}, data, sizeof(data));
  }
  static void saveNpy(const std::string &path, DType type,
                      std::vector<int64_t> dims, const void *data,
                      size_t size) {
    std::ofstream(path, std::ios::binary)
        << npyHeader(type, dims)
        << std::string(static_cast<const char *>(data), size);
  }
  Result run(const std::string &arguments, const std::string &prefix = "") {
    std::string out = folder / "stdout", err = folder / "stderr";
    int code = std::system(
        (prefix + MLC_RUN " " + arguments + " > " + out + " 2> " + err)
            .c_str());
    return {WEXITSTATUS(code), slurp(out), slurp(err)};
  }
};

} // namespace

TEST_CASE("mlc-run writes outputs as files", "[run]") {
  Bench bench;
  std::string dir = bench.folder / "a/b";
  Result r =
      bench.run(bench.model + " --input X=" + bench.x + " --output-dir " + dir +
                " --threads 2 --output=" + (bench.folder / "all.npz"));
  CHECK(r.err == "");
  REQUIRE(r.code == 0);
  CHECK(r.out == "Y: f32[2, 4]\nZ: f32[8]\n");
  CHECK(slurp(dir + "/outputs.json") == "[\"Y\", \"Z\"]\n");
  NpyArray y, z;
  REQUIRE(readNpy(dir + "/0.npy", y).ok());
  REQUIRE(readNpy(dir + "/1.npy", z).ok());
  CHECK(y.dims == std::vector<int64_t>{2, 4});
  CHECK(z.dims == std::vector<int64_t>{8});
  for (int i = 0; i < 8; ++i)
    CHECK(reinterpret_cast<const float *>(y.data.data())[i] ==
          2 * i + 1 + i % 4);
  NpzFile all;
  REQUIRE(all.open(bench.folder / "all.npz").ok());
  CHECK(all.names() == std::vector<std::string>{"Y", "Z"});
  NpyArray again;
  REQUIRE(all.read("Z", again).ok());
  CHECK(std::memcmp(again.data.data(), z.data.data(), 32) == 0);
  CHECK(std::distance(std::filesystem::directory_iterator(dir), {}) == 3);

  // A .npz in, by its names; one input may do without a name.
  std::string packed = bench.folder / "in.npz", bytes;
  float data[4] = {1, 1, 1, 1};
  REQUIRE(writeNpz({{"X", DType::F32, {1, 4}, data, 16}}, [&](const void *p,
                                                              size_t n) {
            bytes.append(static_cast<const char *>(p), n);
            return true;
          }).ok());
  std::ofstream(packed, std::ios::binary) << bytes;
  CHECK(bench.run(bench.model + " --input " + packed).out ==
        "Y: f32[1, 4]\nZ: f32[4]\n");
  CHECK(bench.run(bench.model + " --input X=" + packed).code == 0);
  CHECK(bench.run(bench.model + " --input " + bench.x).code == 0);
  CHECK_THAT(bench.run(bench.model + " --profile --input " + bench.x).out,
             Contains("scale: Mul_0, Add_1") && Contains("arena 64 bytes"));
}

TEST_CASE("mlc-run's errors", "[run]") {
  Bench bench;
  auto fails = [&](const std::string &arguments, int code,
                   const std::string &message) {
    Result r = bench.run(arguments);
    CHECK(r.code == code);
    CHECK_THAT(r.err, Catch::StartsWith("mlc: error: ") && Contains(message));
    CHECK(r.out == "");
  };
  std::string dir = " --output-dir " + (bench.folder / "d");
  fails("", 2, "no artifact given; see mlc-run --help");
  fails(bench.model + " --wrong", 2, "unknown option --wrong");
  fails(bench.model + " --input", 2, "needs a value");
  fails(bench.model + " --threads 0", 2, "expected 1 to 1024");
  fails("/no/such.mlca", 3, "/no/such.mlca: cannot open");
  fails(bench.x, 3, "is a NumPy array, not an mlc artifact");
  fails(bench.model + dir, 2, "missing input 'X' f32[N, 4]; give each");
  fails(bench.model + " --input Q=" + bench.x, 2,
        "the model has no input 'Q'; it has 'X'");
  fails(bench.model + " --input X=/no/x.npy", 3, "/no/x.npy: cannot open");
  fails(bench.model + " --input X=" + bench.model, 3, "is no valid .npy file");
  fails(bench.model + " --input " + bench.x + " --input X=" + bench.x, 2,
        "given twice");
  int64_t wide[3] = {1, 2, 3};
  std::string other = bench.folder / "i64.npy";
  Bench::saveNpy(other, DType::I64, {3}, wide, 24);
  fails(bench.model + " --input " + other, 2,
        "has type i64, the model takes f32; convert it with .astype");
  Bench::saveNpy(other, DType::F32, {2, 3}, wide, 24);
  fails(bench.model + " --input " + other, 2, "dim 1 is 3, the model needs 4");
  CHECK_FALSE(std::filesystem::exists(bench.folder / "d"));
  fails(bench.model + " --input " + bench.x + " --output-dir " + bench.x, 2,
        "cannot be written");
}

TEST_CASE("a full disk leaves no output", "[run]") {
  Bench bench;
  std::vector<float> large(4 << 16);
  Bench::saveNpy(bench.x, DType::F32, {1 << 16, 4}, large.data(),
                 large.size() * 4);
  // A limit on file size stands in for the disk.
  Result r = bench.run(bench.model + " --input " + bench.x + " --output-dir " +
                           (bench.folder / "d/e"),
                       "trap '' XFSZ; ulimit -f 100; ");
  CHECK(r.code == 9);
  CHECK_THAT(r.err, Contains("d/e/0.npy: cannot be written: File too large"));
  CHECK_FALSE(std::filesystem::exists(bench.folder / "d"));
}

TEST_CASE("outputs never destroy what is read", "[run]") {
  Bench bench;
  std::filesystem::create_hard_link(bench.x, bench.folder / "other");
  std::string before = slurp(bench.x);
  for (const std::string &path :
       {bench.x, bench.folder / "other", bench.model}) {
    Result r =
        bench.run(bench.model + " --input " + bench.x + " --output " + path);
    CHECK(r.code == 2);
    CHECK_THAT(r.err, Contains("is the file that is read as"));
  }
  CHECK(slurp(bench.x) == before);
}

TEST_CASE("a standard output that takes nothing is an error", "[run]") {
  Bench bench;
  int code =
      std::system((std::string(MLC_RUN) + " " + bench.model + " --input " +
                   bench.x + " 2> " + (bench.folder / "err") + " > /dev/full")
                      .c_str());
  CHECK(WEXITSTATUS(code) == 9);
  CHECK_THAT(slurp(bench.folder / "err"), Contains("standard output"));
  // Closed is not full, and no output file takes its place.
  std::string npz = bench.folder / "y.npz";
  code = std::system((std::string(MLC_RUN) + " " + bench.model + " --input " +
                      bench.x + " --output " + npz + " >&- 2>&-")
                         .c_str());
  CHECK(WEXITSTATUS(code) == 0);
  NpzFile file;
  CHECK(file.open(npz).ok());
}

TEST_CASE("mlc-run runs on the device that is named", "[run]") {
  Bench bench;
  std::string arguments = bench.model + " --input " + bench.x;
  CHECK(bench.run(arguments + " --device=cpu").code == 0);
  Result r = bench.run(arguments + " --device tpu");
  CHECK(r.code == 2);
  CHECK_THAT(r.err, Contains("'tpu' is no device; there is cpu, cuda:N and "
                             "emulator"));
  r = bench.run(arguments + " --device=emulator",
                "MLC_EMULATOR=/nowhere/emulator.so ");
  CHECK(r.code == 8);
  CHECK_THAT(r.err, Contains("no device 'emulator'") &&
                        Contains("set MLC_EMULATOR to"));
  // Whether the GPU is missing or the code for it.
  r = bench.run(arguments + " --device=cuda");
  CHECK(r.code == 8);
  CHECK_THAT(r.err, Contains("cuda:0"));
  CHECK_THAT(bench.run("--help").out, Contains("--device NAME"));
}

TEST_CASE("an interrupted run exits with 130 and leaves no output", "[run]") {
  Bench bench;
  std::vector<float> large(4 << 20);
  Bench::saveNpy(bench.x, DType::F32, {1 << 20, 4}, large.data(),
                 large.size() * 4);
  for (const char *after : {"0.005", "0.01", "0.02", "0.04", "0.08"}) {
    std::string dir = bench.folder / "d";
    Result r = bench.run(
        bench.model + " --input " + bench.x + " --output-dir " + dir,
        std::string("timeout --preserve-status -s INT ") + after + " ");
    INFO(after << " " << r.err);
    CHECK((r.code == 130 || r.code == 0));
    size_t files = 0;
    if (std::filesystem::exists(dir))
      files = std::distance(std::filesystem::directory_iterator(dir), {});
    // All or nothing; a signal may still come between the last output and the
    // end of the process.
    CHECK((files == 3 || (files == 0 && r.code == 130)));
    std::filesystem::remove_all(dir);
  }
}
