//===- BackendTest.cpp - What a back end decides, and through what --------===//
//
// A model goes through the whole pipeline with a back end of this test, which
// is known to nothing else, and comes out as an artifact's program.
//
//===----------------------------------------------------------------------===//

#include "PrintingBackend.h"
#include "mlir/Parser/Parser.h"
#include "passes/Compile.h"
#include <catch2/catch.hpp>

using namespace mlc;

// A 3x3 convolution that the CPU would block and compute by Winograd's
// algorithm, a chain of element-wise operators that it would fuse into it.
static const char *const model = R"(
func.func @main(%x: tensor<1x64x32x32xf32> {mlc.name = "x"})
    -> (tensor<1x64x32x32xf32> {mlc.name = "y"}) {
  %w = mlc.constant dense<0.5> : tensor<64x64x3x3xf32>
  %a = mlc.conv %x, %w {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[1, 1, 1, 1]>,
      dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>}
      : (tensor<1x64x32x32xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x32x32xf32>
  %b = mlc.relu %a : (tensor<1x64x32x32xf32>) -> tensor<1x64x32x32xf32>
  return %b : tensor<1x64x32x32xf32>
})";

namespace {
struct Compiled {
  explicit Compiled(const Backend *backend, llvm::StringRef target,
                    llvm::StringRef text = model,
                    std::function<bool(llvm::StringRef)> isHere = nullptr) {
    mlir::DialectRegistry registry;
    registerCompilerDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    CompileOptions options;
    options.target = llvm::cantFail(parseTarget(target));
    options.backend = backend;
    options.rewrites = false;
    options.isEntryHere = std::move(isHere);
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    REQUIRE(module);
    auto compiled = compileModel(std::move(module), options);
    if (compiled)
      result = std::move(*compiled);
    else
      error = llvm::toString(compiled.takeError());
  }

  mlir::MLIRContext context;
  std::unique_ptr<CompiledModel> result;
  std::string error;
};
} // namespace

TEST_CASE("a back end of one's own takes a model through the pipeline") {
  // A target that no back end of this build makes code for.
  Compiled compiled(&getPrintingBackend(), "gpu:v100");
  INFO(compiled.error);
  REQUIRE(compiled.result);
  REQUIRE(compiled.result->images.size() == 1);
  llvm::StringRef image = compiled.result->images.front().bytes;
  CHECK(image.count("func.func") ==
        compiled.result->programs.entries[0].steps.size());
  CHECK(image.contains("linalg."));
  // The layout, and the algorithm, are the back end's to choose.
  CHECK_FALSE(image.contains("tensor<1x4x32x32x16xf32>"));
  CHECK_FALSE(image.contains("exec.inverse_transform"));
}

TEST_CASE("code is made for the entries that are here alone") {
  const char *const entries = R"(
func.func @here(%x: tensor<4xf32> {mlc.name = "x"}) -> (tensor<4xf32> {mlc.name = "y"}) {
  %0 = mlc.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @there(%x: tensor<4xf32> {mlc.name = "x"}) -> (tensor<4xf32> {mlc.name = "y"}) {
  %0 = mlc.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
})";
  for (bool isAll : {true, false}) {
    std::function<bool(llvm::StringRef)> isHere;
    if (!isAll)
      isHere = [](llvm::StringRef name) { return name == "here"; };
    Compiled compiled(&getPrintingBackend(), "gpu:v100", entries, isHere);
    INFO(compiled.error);
    REQUIRE(compiled.result);
    llvm::StringRef image = compiled.result->images.front().bytes;
    CHECK(image.contains("math.tanh"));
    CHECK(image.contains("math.exp") == isAll);
    const auto &programs = compiled.result->programs.entries;
    REQUIRE(programs.size() == 2);
    CHECK_FALSE(programs[0].kernels[0].empty());
    CHECK(programs[1].kernels[0].empty() == !isAll);
    CHECK(programs[1].steps.size() == 1);
  }
}

TEST_CASE("the registry's back end chooses otherwise") {
  Compiled compiled(nullptr, "cpu:x86-64-v3");
  INFO(compiled.error);
  REQUIRE(compiled.result);
  REQUIRE(compiled.result->images.size() == 1);
  CHECK(llvm::StringRef(compiled.result->images.front().bytes)
            .starts_with("\x7f"
                         "ELF"));
  std::string text;
  llvm::raw_string_ostream(text) << *compiled.result->module;
  CHECK(llvm::StringRef(text).contains("tensor<1x4x32x32x16xf32>"));
  CHECK(llvm::StringRef(text).contains("exec.inverse_transform"));
}

TEST_CASE("a target without back end is refused before anything runs") {
  Compiled compiled(nullptr, "gpu:v100");
  CHECK_FALSE(compiled.result);
  CHECK(llvm::StringRef(compiled.error)
            .contains("code for target gpu:v100 is unsupported"));
}

TEST_CASE("the registry answers for the targets that have code") {
  for (llvm::StringRef name : knownTargets()) {
    if (name == "cpu") // another name of one of the others
      continue;
    llvm::Expected<Target> target = parseTarget(name);
    REQUIRE(bool(target));
    const Backend *backend = findBackend(*target);
    CHECK((backend != nullptr) == target->hasCode());
    if (backend)
      CHECK(backend->getName() == name.split(':').first);
  }
}
