//===- Calibration.cpp - Measures the rates of this machine ---------------===//

#include "tools/mlc/Calibration.h"
#include "dialects/Graph/ModelOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "rewrites/Cost/Work.h"
#include "runtime/Cpu.h"
#include "tools/bench/MachineRates.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/Progress.h"
#include "tools/mlc/Session.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstdlib>

using namespace mlc;
using namespace mlc::cli;

namespace {

double median(std::vector<double> values) {
  llvm::sort(values);
  return values[values.size() / 2];
}

/// A function of one input whose other arguments become weights.
class Probe {
public:
  Probe(const Target &target) : target(target) {
    mlir::DialectRegistry registry;
    registerCompilerDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// Seconds of the longest step of the module with this text, on one thread:
  /// layout changes of input and output are separate steps.
  llvm::Expected<double> longestStep(const std::string &text) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    assert(module && "the text is made here");
    if (llvm::Error error =
            fillWeights(*module->getOps<mlir::func::FuncOp>().begin()))
      return std::move(error);
    CompileOptions options;
    options.target = target;
    options.rewrites = false;
    options.threads = 1;
    auto compiled = compileModel(std::move(module), options);
    if (!compiled)
      return compiled.takeError();
    llvm::SmallVector<char, 0> bytes;
    if (llvm::Error error = (*compiled)->writeToMemory(bytes))
      return std::move(error);
    auto model = Model::fromMemory(std::move(bytes), "calibration");
    if (!model)
      return model.takeError();
    return measure(*model);
  }

private:
  llvm::Error fillWeights(mlir::func::FuncOp function) {
    mlir::Block &body = function.getBody().front();
    auto builder = mlir::OpBuilder::atBlockBegin(&body);
    while (body.getNumArguments() > 1) {
      mlir::BlockArgument argument = body.getArguments().back();
      auto type = mlir::cast<mlir::RankedTensorType>(argument.getType());
      auto numbers = makeZeros(MLC_F32, type.getShape().vec());
      if (!numbers)
        return numbers.takeError();
      fillRandomly(*numbers, /*seed=*/1);
      llvm::ArrayRef<float> values(
          reinterpret_cast<const float *>(numbers->data.get()),
          type.getNumElements());
      auto weights =
          ConstantOp::create(builder, function.getLoc(), type,
                             mlir::DenseElementsAttr::get(type, values));
      argument.replaceAllUsesWith(weights.getResult());
      (void)function.eraseArgument(argument.getArgNumber());
    }
    return llvm::Error::success();
  }

  static llvm::Expected<double> measure(const Model &model) {
    std::vector<HostTensor> feed;
    for (const mlc_port &port : model.inputs()) {
      auto dims = portDims(port, {});
      if (!dims)
        return dims.takeError();
      auto tensor = makeZeros(port.type, *dims);
      if (!tensor)
        return tensor.takeError();
      fillRandomly(*tensor, /*seed=*/0);
      feed.push_back(std::move(*tensor));
    }
    auto session =
        Session::create(model, /*device=*/"", 1, MLC_SESSION_PROFILE);
    if (!session)
      return session.takeError();
    if (llvm::Error error = session->bind(std::move(feed)))
      return std::move(error);
    std::vector<double> times;
    for (int run = 0; run < 12; ++run) {
      if (llvm::Error error = session->run())
        return std::move(error);
      uint64_t longest = 0;
      for (size_t i = 0; i < mlc_artifact_step_count(model.get()); ++i) {
        uint64_t ns = 0;
        if (mlc_status status = mlc_session_step_ns(session->get(), i, &ns))
          return runtimeFailure(model.name(), status);
        longest = std::max(longest, ns);
      }
      if (run >= 2)
        times.push_back(longest * 1e-9);
    }
    // The fastest run, since other processes may take the core.
    return *llvm::min_element(times);
  }

  const Target &target;
  mlir::MLIRContext context;
};

struct ConvShape {
  int64_t channels, outputs, side, kernel, groups;
  double flops() const {
    return 2.0 * outputs * side * side * channels / groups * kernel * kernel;
  }
};

std::string convText(const ConvShape &c) {
  return llvm::formatv(
      "!x = tensor<1x{0}x{2}x{2}xf32>\n!w = tensor<{1}x{5}x{3}x{3}xf32>\n"
      "!y = tensor<1x{1}x{2}x{2}xf32>\n"
      "module attributes {{mlc.symbols = []} {{\n"
      "func.func @main(%x: !x {{mlc.name = \"x\"}, %w: !w) -> (!y "
      "{{mlc.name = \"y\"}) {{\n"
      "%y = mlc.conv %x, %w {{strides = #mlc.dims<[1, 1]>, pads = "
      "#mlc.dims<[{4}, {4}, {4}, {4}]>, dilations = #mlc.dims<[1, 1]>, groups "
      "= #mlc.int<{6}>} : (!x, !w) -> !y\nreturn %y : !y\n}\n}\n",
      c.channels, c.outputs, c.side, c.kernel, c.kernel / 2,
      c.channels / c.groups, c.groups);
}

/// The text of ten operations on each of `count` elements.
std::string tanhText(int64_t count) {
  return llvm::formatv(
      "!x = tensor<{0}xf32>\n"
      "module attributes {{mlc.symbols = []} {{\n"
      "func.func @main(%x: !x {{mlc.name = \"x\"}) -> "
      "(!x {{mlc.name = \"y\"}) {{\n%y = mlc.tanh %x : (!x) -> !x\n"
      "return %y : !x\n}\n}\n",
      count);
}

class Calibration {
public:
  Calibration(const Target &base, Progress &progress)
      : result(base), probe(base), progress(progress) {}

  llvm::Expected<Target> run() {
    CostParameters &cost = result.cost;
    progress.next("measuring the core's arithmetic");
    double peak = bench::measurePeakFlops(result.vectorBits);
    set("contraction_flops_per_second", cost.contractionFlopsPerSecond, peak,
        "independent multiply-adds on registers");
    progress.next("measuring caches and memory");
    measureMemory();
    set("seconds_per_kernel", cost.secondsPerKernel,
        bench::measureForkJoin(runtime::usableCores()),
        "fork and join of the thread pool on all cores");
    progress.next("measuring generated kernels");
    if (llvm::Error error = measureKernels(peak))
      return std::move(error);
    result.description += ", measured by mlc calibrate";
    return result;
  }

private:
  /// Rounded to three digits, more than is reproducible.
  void set(const char *key, double &field, double value, const char *how) {
    std::string text = llvm::formatv("{0:e2}", value);
    field = std::strtod(text.c_str(), nullptr);
    result.sources[key] = std::string("measured by mlc calibrate: ") + how;
  }

  void measureMemory() {
    MemoryLevel levels[] = {
        {double(result.l2Bytes), 0}, {double(result.l3Bytes), 0}, {}};
    int64_t buffers[] = {result.l2Bytes / 2, result.l3Bytes / 2,
                         4 * result.l3Bytes};
    for (auto [level, bytes] : llvm::zip(levels, buffers))
      set("memory", level.bytesPerSecond, bench::measureBandwidth(bytes),
          "one core reads a buffer of half the size of L2, of half that of L3, "
          "and of four times that of L3, over and over");
    result.cost.memory.assign(std::begin(levels), std::end(levels));
  }

  llvm::Expected<double> rate(const ConvShape &shape) {
    auto seconds = probe.longestStep(convText(shape));
    if (!seconds)
      return seconds.takeError();
    return shape.flops() / *seconds;
  }

  llvm::Error measureKernels(double peak) {
    CostParameters &cost = result.cost;
    std::vector<double> shares;
    for (ConvShape shape : {ConvShape{64, 256, 56, 1, 1},
                            {256, 128, 28, 1, 1},
                            {512, 256, 14, 1, 1}}) {
      auto found = rate(shape);
      if (!found)
        return found.takeError();
      shares.push_back(*found / peak);
    }
    set("contraction_efficiency", cost.contractionEfficiency,
        std::min(1.0, median(shares)),
        "the middle one of three 1x1 convolutions of ResNet-50, compiled by "
        "mlc, as a share of the peak");
    auto pointwise = probe.longestStep(tanhText(16384));
    if (!pointwise)
      return pointwise.takeError();
    set("scalar_flops_per_second", cost.scalarFlopsPerSecond,
        16384 * 10 / *pointwise,
        "tanh of 16384 numbers, compiled by mlc, at ten operations each");
    auto depthwise = rate({128, 128, 28, 3, 128});
    if (!depthwise)
      return depthwise.takeError();
    set("depthwise_efficiency", cost.depthwiseEfficiency,
        *depthwise / cost.scalarFlopsPerSecond,
        "a 3x3 depthwise convolution of 128 channels, compiled by mlc, as a "
        "share of the scalar rate");
    return llvm::Error::success();
  }

  Target result;
  Probe probe;
  Progress &progress;
};

} // namespace

llvm::Expected<Target> mlc::cli::calibrate(const Target &base,
                                           Progress &progress) {
  if (!runtime::cpuHas(base.cpu))
    return fail(Exit::Device, "this machine has no " + base.cpu +
                                  "; calibrate a level that it has, such as "
                                  "--target=cpu");
  return Calibration(base, progress).run();
}
