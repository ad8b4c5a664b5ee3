//===- ContractionBench.cpp - Rates of contraction kernels ----------------===//
//
//   mlc-bench-contraction [--target=T] [--runs=N] [--dump=DIR] SHAPE...
//
// where SHAPE is conv:IC,OC,KERNEL,STRIDE,OUT[,options] (options: first,
// batch=N, depthwise, residual, halo, open, f2, f4: Winograd),
// matmul:M,N,K[,options] (packed, tb, ta, open) or resnet50 (all of its
// convolutions). Prints for each the median time, GF/s, and the share of the
// FMA peak measured around it.
//
//===----------------------------------------------------------------------===//

#include "tools/bench/KernelText.h"
#include "tools/bench/MachineRates.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include <numeric>
#include <random>

using namespace llvm;
using namespace mlc::bench;

static cl::OptionCategory category("mlc-bench-contraction");
static cl::opt<std::string> targetName("target", cl::init("cpu"),
                                       cl::cat(category));
static cl::opt<unsigned> runs("runs", cl::init(20), cl::cat(category));
static cl::opt<std::string> dump("dump", cl::desc("folder for IR and assembly"),
                                 cl::cat(category));
static cl::list<std::string> shapes(cl::Positional, cl::OneOrMore,
                                    cl::cat(category));

/// The current FMA rate, in flop/s.
static double peak(const mlc::Target &target) {
  return measurePeakFlops(target.vectorBits);
}

static float *buffer(int64_t elements, std::mt19937 &random) {
  auto *p = static_cast<float *>(
      std::aligned_alloc(64, (elements * 4 + 63) / 64 * 64 + 64));
  std::uniform_real_distribution<float> values(-1, 1);
  for (int64_t i = 0; i < elements; ++i)
    p[i] = values(random);
  return p;
}

struct Case {
  std::string name, text;
  double flops;
  SmallVector<int64_t> sizes; ///< elements of every buffer
  std::vector<int64_t> symbols;
};

static Case convCase(StringRef name, ConvShape s, StringRef options) {
  s.depthwise = options.contains("depthwise");
  s.blockedInput = !options.contains("first");
  s.residual = options.contains("residual");
  s.halo = options.contains("halo");
  s.openSize = options.contains("open");
  s.winograd = options.contains("f2") ? 2 : options.contains("f4") ? 4 : 0;
  int64_t b = s.block, oc = (s.oc + b - 1) / b * b;
  int64_t ic = s.blockedInput ? (s.ic + b - 1) / b * b : s.ic;
  int64_t y = s.n * oc * s.oh * s.ow;
  Case c{name.str(), convKernel(s), s.flops(), {}, {}};
  c.sizes = {s.n * ic * s.inputHeight() * s.inputWidth(),
             oc * (s.depthwise ? 1 : ic) * s.kernel * s.kernel, oc};
  if (s.winograd)
    c.sizes[1] = oc * ic * (s.winograd + 2) * (s.winograd + 2);
  if (s.residual)
    c.sizes.push_back(y);
  c.sizes.push_back(s.n * oc * (s.oh + 2 * s.halo) * (s.ow + 2 * s.halo));
  if (s.openSize)
    c.symbols = {s.oh, s.ow};
  return c;
}

static Case parseCase(StringRef text) {
  auto [kind, rest] = text.split(':');
  SmallVector<StringRef> parts;
  rest.split(parts, ',');
  SmallVector<int64_t> numbers;
  for (StringRef p : parts) {
    int64_t v;
    if (!p.getAsInteger(10, v))
      numbers.push_back(v);
  }
  if (kind == "conv" && numbers.size() >= 5) {
    ConvShape s;
    s.ic = numbers[0];
    s.oc = numbers[1];
    s.kernel = numbers[2];
    s.stride = numbers[3];
    s.oh = s.ow = numbers[4];
    if (numbers.size() > 5)
      s.ow = numbers[5];
    for (StringRef part : parts)
      if (part.consume_front("batch="))
        part.getAsInteger(10, s.n);
    return convCase(text, s, rest);
  }
  if (kind == "matmul" && numbers.size() >= 3) {
    MatmulShape s;
    s.m = numbers[0];
    s.n = numbers[1];
    s.k = numbers[2];
    s.panel = rest.contains("packed") ? 32 : 0;
    s.transposedB = rest.contains("tb");
    s.transposedA = rest.contains("ta");
    s.openM = s.openN = s.openK = rest.contains("open");
    Case c{text.str(), matmulKernel(s), s.flops(), {}, {}};
    c.sizes = {s.m * s.k, s.k * ((s.n + 31) / 32 * 32), s.m * s.n};
    if (s.openM)
      c.symbols = {s.m, s.n, s.k};
    return c;
  }
  errs() << "mlc: error: unknown shape '" << text << "'\n";
  std::exit(2);
}

/// Copies of the command line's values, since linking a kernel resets LLVM's
/// options.
struct Options {
  mlc::Target target;
  unsigned runs;
  std::string dump;
};

/// Times every kernel of a model separately and lists them by their share of
/// the total.
static void measureModule(const std::string &path, const Options &options) {
  struct Row {
    ModuleKernel kernel;
    double median;
  };
  std::vector<Row> rows;
  std::mt19937 random(7);
  double total = 0;
  for (ModuleKernel &k : readModule(path)) {
    LoadedKernel loaded(k.text, options.target, options.dump);
    std::vector<void *> buffers;
    for (int64_t bytes : k.bytes)
      buffers.push_back(buffer((bytes + 3) / 4, random));
    std::vector<double> times;
    loaded.run(buffers, {});
    for (unsigned i = 0; i < options.runs; ++i) {
      double from = threadSeconds();
      loaded.run(buffers, {});
      times.push_back(threadSeconds() - from);
    }
    for (void *p : buffers)
      free(p);
    llvm::sort(times);
    rows.push_back({k, times[times.size() / 2]});
    total += rows.back().median * k.launches;
  }
  llvm::stable_sort(rows, [](const Row &a, const Row &b) {
    return a.median * a.kernel.launches > b.median * b.kernel.launches;
  });
  outs() << format("%.3f ms in all\n", total * 1e3);
  for (const Row &r : rows)
    outs() << format("%-8s %3lld x %9.1f us = %5.1f %%  %7.1f GF/s\n",
                     r.kernel.name.c_str(), (long long)r.kernel.launches,
                     r.median * 1e6, 100 * r.median * r.kernel.launches / total,
                     r.kernel.flops / r.median * 1e-9);
}

static const char *const resnet50[] = {"conv:3,64,7,2,112,first",
                                       "conv:64,64,1,1,56,halo",
                                       "conv:64,64,3,1,56",
                                       "conv:64,256,1,1,56,residual",
                                       "conv:256,64,1,1,56,halo",
                                       "conv:256,128,1,1,56,halo",
                                       "conv:128,128,3,2,28",
                                       "conv:128,128,3,1,28",
                                       "conv:128,512,1,1,28,residual",
                                       "conv:256,512,1,2,28",
                                       "conv:512,128,1,1,28,halo",
                                       "conv:512,256,1,1,28,halo",
                                       "conv:256,256,3,2,14",
                                       "conv:256,256,3,1,14",
                                       "conv:256,1024,1,1,14,residual",
                                       "conv:512,1024,1,2,14",
                                       "conv:1024,256,1,1,14,halo",
                                       "conv:1024,512,1,1,14,halo",
                                       "conv:512,512,3,2,7",
                                       "conv:512,512,3,1,7",
                                       "conv:512,2048,1,1,7,residual",
                                       "conv:1024,2048,1,2,7",
                                       "conv:2048,512,1,1,7,halo"};

static void measure(const Case &c, const Options &options) {
  const mlc::Target &target = options.target;
  std::mt19937 random(7);
  double start = threadSeconds();
  LoadedKernel kernel(c.text, target, options.dump);
  double compile = (threadSeconds() - start);
  std::vector<void *> buffers;
  for (int64_t size : c.sizes)
    buffers.push_back(buffer(size, random));
  kernel.run(buffers, c.symbols);
  std::vector<double> times, shares;
  for (unsigned i = 0; i < options.runs; ++i) {
    double before = peak(target);
    double from = threadSeconds();
    kernel.run(buffers, c.symbols);
    times.push_back(threadSeconds() - from);
    shares.push_back(c.flops / times.back() / std::max(before, peak(target)));
  }
  llvm::sort(times);
  llvm::sort(shares);
  double median = times[times.size() / 2];
  outs() << left_justify(c.name, 34)
         << format(
                "%9.1f us %7.1f GF/s  %5.1f %% of peak (upper quartile %5.1f)  "
                "%4lld tasks  %.2f s compile\n",
                median * 1e6, c.flops / median * 1e-9,
                100 * shares[shares.size() / 2],
                100 * shares[shares.size() * 3 / 4],
                (long long)kernel.tasks(c.symbols), compile);
  outs().flush();
  for (void *p : buffers)
    free(p);
}

int main(int argc, char **argv) {
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv,
                              "rates of contraction kernels on this machine\n");
  Expected<mlc::Target> target = mlc::parseTarget(targetName);
  if (!target) {
    errs() << "mlc: error: " << toString(target.takeError()) << "\n";
    return 2;
  }
  outs() << format("FMA peak %.1f GF/s\n", peak(*target) * 1e-9);
  Options options{*target, runs, dump};
  std::vector<std::string> all(shapes.begin(), shapes.end());
  for (const std::string &shape : all) {
    if (StringRef(shape).starts_with("module:")) {
      measureModule(shape.substr(7), options);
      continue;
    }
    if (shape != "resnet50") {
      measure(parseCase(shape), options);
      continue;
    }
    for (const char *layer : resnet50)
      measure(parseCase(layer), options);
  }
  return 0;
}
