//===- ConvolutionShareTest.cpp - The search knows what code is made ------===//
//
// A convolution goes through the passes to kernels, and to the cost model by
// which the search chooses graphs. Both must say the same of the algorithm.
//
//===----------------------------------------------------------------------===//

#include "PrintingBackend.h"
#include "dialects/Exec/Exec.h"
#include "dialects/Graph/ModelOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "passes/Compile.h"
#include "llvm/Support/FormatVariadic.h"
#include <catch2/catch.hpp>

using namespace mlc;

namespace {

/// Sizes of a convolution of a batch of `n`, with a border of `pad`.
struct Conv {
  int64_t inputs, outputs, height, width, groups = 1;
  int64_t kernelHeight = 3, kernelWidth = 3, stride = 1, dilation = 1, pad = 1;
  int64_t n = 1;
  std::string element = "f32";
  bool hasOpenHeight = false, hasOpenWidth = false, hasOpenBatch = false;
  bool hasConstantFilter = true;

  /// The size of the result along a dim of `size`.
  int64_t slid(int64_t size, int64_t kernel) const {
    return (size + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1;
  }
  /// Of these sizes; those that are open are called N, H and W.
  std::string tensor(int64_t channels, int64_t h, int64_t w) const {
    std::string shape, dims;
    auto add = [&](bool isOpen, const char *name, int64_t size) {
      shape += (isOpen ? "?" : std::to_string(size)) + "x";
      dims += (dims.empty() ? "" : ", ") +
              (isOpen ? std::string(name) : std::to_string(size));
    };
    add(hasOpenBatch, "N", n);
    add(false, "", channels);
    add(hasOpenHeight, "H", h);
    add(hasOpenWidth, "W", w);
    bool isOpen = hasOpenBatch || hasOpenHeight || hasOpenWidth;
    return "tensor<" + shape + element +
           (isOpen ? ", #mlc.dims<[" + dims + "]>" : "") + ">";
  }

  /// As convolutions are met: behind another, but for an image's.
  std::string text() const {
    bool isBehindAnother = inputs >= 8;
    std::string x = tensor(inputs, height, width);
    std::string y =
        tensor(outputs, slid(height, kernelHeight), slid(width, kernelWidth));
    std::string image = isBehindAnother ? tensor(16, height, width) : x;
    Conv first{.inputs = 16, .outputs = inputs, .height = 0, .width = 0};
    first.kernelHeight = first.kernelWidth = 1;
    first.pad = 0;
    std::string symbols;
    for (auto [isOpen, name] : {std::pair{hasOpenBatch, "\"N\""},
                                {hasOpenHeight, "\"H\""},
                                {hasOpenWidth, "\"W\""}})
      if (isOpen)
        symbols += (symbols.empty() ? "" : ", ") + std::string(name);
    std::string weights = filter();
    std::string body =
        hasConstantFilter ? "%w = mlc.constant dense<0.5> : " + weights : "";
    if (isBehindAnother) {
      first.element = element;
      body += "\n%v = mlc.constant dense<0.5> : " + first.filter() +
              first.operation("x", "image", "v", image, x);
    }
    body += operation("y", isBehindAnother ? "x" : "image", "w", x, y);
    return "module attributes {mlc.symbols = [" + symbols +
           "]} {\nfunc.func @main(%image: " + image + " {mlc.name = \"x\"}" +
           (hasConstantFilter ? ""
                              : ", %w: " + weights + " {mlc.name = \"w\"}") +
           ") -> (" + y + " {mlc.name = \"y\"}) {\n" + body +
           "\nreturn %y : " + y + "\n}\n}";
  }

private:
  std::string filter() const {
    return llvm::formatv("tensor<{0}x{1}x{2}x{3}x{4}>", outputs,
                         inputs / groups, kernelHeight, kernelWidth, element);
  }
  std::string operation(const char *result, const char *x, const char *w,
                        const std::string &from, const std::string &to) const {
    return llvm::formatv(
        "\n%{0} = mlc.conv %{1}, %{2} {{strides = #mlc.dims<[{3}, {3}]>, pads "
        "= #mlc.dims<[{4}, {4}, {4}, {4}]>, dilations = #mlc.dims<[{5}, {5}]>, "
        "groups = #mlc.int<{6}>} : ({7}, {8}) -> {9}",
        result, x, w, stride, pad, dilation, groups, from, filter(), to);
  }
};

class Compiler {
public:
  explicit Compiler(llvm::StringRef target) {
    mlir::DialectRegistry registry;
    registerCompilerDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    options.target = llvm::cantFail(parseTarget(target));
    options.rewrites = false;
  }

  mlir::OwningOpRef<mlir::ModuleOp> parse(const Conv &conv) {
    auto module =
        mlir::parseSourceString<mlir::ModuleOp>(conv.text(), &context);
    REQUIRE(module);
    module->walk(distinguish);
    return module;
  }

  /// Weights of one number repeated are not stored: makes one of them another.
  static void distinguish(mlc::ConstantOp constant) {
    auto dense = mlir::cast<mlir::DenseElementsAttr>(constant.getValue());
    llvm::ArrayRef<char> one = dense.getRawData();
    std::vector<char> all;
    for (int64_t i = 0; i < dense.getNumElements(); ++i)
      all.insert(all.end(), one.begin(), one.end());
    std::fill_n(all.begin(), one.size(), 0);
    constant.setValueAttr(
        mlir::DenseElementsAttr::getFromRawBuffer(dense.getType(), all));
  }

  /// Whether kernels of `conv` are given transformed filters.
  bool isTransformed(const Conv &conv) {
    auto module = parse(conv);
    std::string error = llvm::toString(runPhases(*module, "fuse", options));
    REQUIRE(error == "");
    bool result = false;
    module->walk([&](exec::InverseTransformOp) { result = true; });
    return result;
  }

  /// Seconds by the model that leads a search, where nothing but arithmetic
  /// takes time.
  double seconds(const Conv &conv, bool isForOthers) {
    auto module = parse(conv);
    CodeTarget target = options.getCodeTarget();
    target.target.cost.memory = {{.bytesPerSecond = 1e30}};
    target.target.cost.secondsPerKernel = 0;
    RewriteOptions rewriting;
    rewriting.forOthers = isForOthers;
    CostModel cost = makeCostModel(target, rewriting);
    return cost.seconds(
        (*module->getOps<mlir::func::FuncOp>().begin()).getBody());
  }

  CompileOptions options;

private:
  mlir::MLIRContext context;
};

std::vector<Conv> grid() {
  std::vector<Conv> found;
  for (int64_t inputs : {3, 16, 24, 64, 256})
    for (int64_t outputs : {4, 16, 64, 192})
      for (int64_t groups : {1, 2, 4, 64})
        for (int64_t side : {2, 7, 14, 56})
          if (inputs % groups == 0 && outputs % groups == 0)
            found.push_back({.inputs = inputs,
                             .outputs = outputs,
                             .height = side,
                             .width = side,
                             .groups = groups});
  return found;
}

std::vector<Conv> oddities() {
  Conv base{.inputs = 128, .outputs = 128, .height = 28, .width = 28};
  std::vector<Conv> found(16, base);
  found[1].kernelHeight = 1;
  found[2].kernelHeight = found[2].kernelWidth = 5;
  found[3].kernelHeight = found[3].kernelWidth = 1;
  found[4].stride = 2;
  found[5].dilation = 2;
  found[6].pad = 0;
  found[7].n = 5;
  found[8].element = "f16";
  found[9].element = "bf16";
  found[10].element = "f64";
  found[11].hasOpenHeight = true;
  found[12].hasOpenWidth = true;
  found[13].hasOpenBatch = true;
  found[14].hasConstantFilter = false;
  found[15].height = 5;
  return found;
}

} // namespace

TEST_CASE("the search prices the algorithm that code is made with") {
  for (const char *name : {"cpu:x86-64-v3", "cpu:x86-64-v4"}) {
    Compiler compiler(name);
    std::vector<Conv> convs = grid();
    llvm::append_range(convs, oddities());
    unsigned transformed = 0, ofGroups = 0;
    for (const Conv &conv : convs) {
      INFO(name << "\n" << conv.text());
      bool isTransformed = compiler.isTransformed(conv);
      CHECK((compiler.seconds(conv, false) < compiler.seconds(conv, true)) ==
            isTransformed);
      transformed += isTransformed;
      ofGroups += isTransformed && conv.groups > 1;
    }
    // Both answers occur, or nothing was compared.
    CHECK(transformed > convs.size() / 8);
    CHECK(transformed < convs.size() * 7 / 8);
    CHECK(ofGroups > 0);
  }
}

TEST_CASE("a back end without algorithms has the price of direct convolution") {
  Compiler compiler("cpu:x86-64-v4");
  Conv conv{.inputs = 64, .outputs = 64, .height = 56, .width = 56};
  double direct = compiler.seconds(conv, true);
  CHECK(compiler.seconds(conv, false) < 0.6 * direct);
  compiler.options.backend = &getPrintingBackend();
  CHECK(compiler.seconds(conv, false) == direct);
}
