//===- MapsProgramTest.cpp - Maps from a kernel's sizes to a run ----------===//
//
// A model goes through the pipeline with a back end whose kernels copy by maps
// alone: into an artifact, and into a program of its own.
//
//===----------------------------------------------------------------------===//

#include "CopyBackend.h"
#include "Folder.h"
#include "mlir/Parser/Parser.h"
#include "passes/Compile.h"
#include "runtime/Devices.h"
#include "runtime/Npy.h"
#include "runtime/Session.h"
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

using namespace mlc;
using namespace mlc::test;
using Catch::Contains;

static const char *const model = R"(
func.func @main(%x: tensor<?x32xf32, #mlc.dims<[N, 32]>> {mlc.name = "x"})
    -> (tensor<?x32xf32, #mlc.dims<[N, 32]>> {mlc.name = "y"}) {
  %y = mlc.add %x, %x : (tensor<?x32xf32, #mlc.dims<[N, 32]>>,
      tensor<?x32xf32, #mlc.dims<[N, 32]>>) -> tensor<?x32xf32, #mlc.dims<[N, 32]>>
  return %y : tensor<?x32xf32, #mlc.dims<[N, 32]>>
})";

namespace {

struct Compiled {
  Compiled() {
    mlir::DialectRegistry registry;
    registerCompilerDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    CompileOptions options;
    options.target = target;
    options.backend = &getCopyBackend();
    options.rewrites = false;
    auto module = mlir::parseSourceString<mlir::ModuleOp>(model, &context);
    REQUIRE(module);
    auto compiled = compileModel(std::move(module), options);
    std::string error = compiled ? "" : llvm::toString(compiled.takeError());
    INFO(error);
    REQUIRE(error.empty());
    result = std::move(*compiled);
  }

  mlir::MLIRContext context;
  Target target = llvm::cantFail(parseTarget("cuda:sm_90a"));
  std::unique_ptr<CompiledModel> result;
};

std::vector<float> numbers(int64_t rows) {
  std::vector<float> values(size_t(rows) * 32);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float(i % 977) - 400;
  return values;
}

bool isTwice(const std::vector<float> &y, const std::vector<float> &x) {
  bool is = y.size() == x.size();
  for (size_t i = 0; is && i < x.size(); ++i)
    is = y[i] == 2 * x[i];
  return is;
}

} // namespace

TEST_CASE("a kernel's maps are the artifact's") {
  Compiled compiled;
  llvm::SmallVector<char> bytes;
  llvm::cantFail(compiled.result->writeToMemory(bytes));
  std::shared_ptr<const runtime::Artifact> artifact;
  runtime::Status status =
      runtime::Artifact::openMemory(bytes.data(), bytes.size(), 0, artifact);
  INFO(status.message);
  REQUIRE(status.ok());
  runtime::Device *device = nullptr;
  REQUIRE(runtime::findDevice("emulator", device).ok());
  std::unique_ptr<runtime::Queue> queue;
  REQUIRE(device->open({}, queue).ok());
  runtime::Session session(artifact, std::move(queue), 0);
  for (int64_t rows : {1, 8, 37, 37, 37, 0, 5, 37}) {
    std::vector<float> x = numbers(rows), y(x.size());
    const int64_t dims[] = {rows, 32};
    REQUIRE(session.bindInput(0, runtime::DType::F32, 2, dims, x.data()).ok());
    REQUIRE(session.bindOutput(0, y.data(), y.size() * 4).ok());
    status = session.run();
    INFO(status.message);
    REQUIRE(status.ok());
    CHECK(isTwice(y, x));
  }
}

TEST_CASE("the printer puts maps in front of all parameters") {
  Compiled compiled;
  const std::string &text = compiled.result->images[0].bytes;
  CHECK_THAT(text, Contains("#include \"mlc_device.cuh\"\n#include "
                            "\"mlc_hopper.cuh\"\n\n") &&
                       Contains("(const __grid_constant__ TensorMap map0, "
                                "const __grid_constant__ TensorMap map1, const "
                                "float *__restrict__ in0, "));
}

namespace {

/// Its files in a folder, and the names of the sources.
std::string writeProgram(const Compiled &compiled, const std::string &folder) {
  auto tree = getCopyBackend().printProgram(
      compiled.result->programs.entries[0], compiled.result->images,
      compiled.result->weights.weightsSize(), compiled.target);
  REQUIRE(bool(tree));
  std::string sources;
  for (const auto &[name, text] : *tree) {
    std::filesystem::path path = folder + "/" + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    if (path.extension() == ".cu")
      sources += " " + name;
  }
  return sources;
}

std::string readText(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void run(const std::string &folder, const std::string &command) {
  int status =
      std::system(("cd " + folder + " && " + command + " > log 2>&1").c_str());
  INFO(command << "\n" << readText(folder + "/log"));
  REQUIRE(status == 0);
  CHECK(readText(folder + "/log") == "");
}

void writeNpy(const std::string &path, int64_t rows,
              const std::vector<float> &values) {
  std::ofstream out(path, std::ios::binary);
  out << runtime::npyHeader(runtime::DType::F32, {rows, 32});
  out.write(reinterpret_cast<const char *>(values.data()),
            std::streamsize(values.size() * 4));
}

} // namespace

TEST_CASE("a program of its own makes the maps") {
  Compiled compiled;
  Folder folder;
  std::string sources = writeProgram(compiled, folder / "");
  CHECK_THAT(readText(folder / "README.txt"),
             Contains("nvcc -std=c++17 "
                      "-gencode=arch=compute_90a,code=sm_90a -Iinclude"));
  run(folder / "", std::string(MLC_CXX) +
                       " -std=c++17 -Wall -Wextra -Wno-unused-parameter -x "
                       "c++ -I" MLC_HEADERS " -L" MLC_LIBRARIES
                       " -Wl,-rpath," MLC_LIBRARIES " -lmlc_emulator -o model" +
                       sources);
  for (int64_t rows : {37, 0}) {
    std::vector<float> x = numbers(rows), y(x.size());
    writeNpy(folder / "x.npy", rows, x);
    run(folder / "", "./model x.npy .");
    std::string bytes = readText(folder / "0.npy");
    REQUIRE(bytes.size() >= y.size() * 4);
    std::memcpy(y.data(), bytes.data() + bytes.size() - y.size() * 4,
                y.size() * 4);
    CHECK(isTwice(y, x));
  }
}

TEST_CASE("nvcc builds it without a warning") {
  if (!*MLC_NVCC)
    return;
  Compiled compiled;
  Folder folder;
  std::string sources = writeProgram(compiled, folder / "");
  run(folder / "", MLC_NVCC " -std=c++17 "
                            "-gencode=arch=compute_90a,code=sm_90a -Werror "
                            "all-warnings -Iinclude -o model" +
                       sources);
}
