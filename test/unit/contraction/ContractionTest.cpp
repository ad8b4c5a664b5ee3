//===- ContractionTest.cpp - Contraction kernels against plain loops ------===//
//
// Every kernel is compiled for both CPU levels (the wider one only where the
// machine has it), run over all tasks at once and one by one, and compared with
// plain loops in double precision. Buffers end where the next page is not
// readable, or begin there, so that a touch outside them faults.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Winograd.h"
#include "tools/bench/KernelText.h"
#include "llvm/Support/Error.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <random>
#include <sys/mman.h>

using namespace mlc;
using namespace mlc::bench;

namespace {

/// Memory for `bytes` bytes between unreadable pages; data ends at the upper
/// one (up to the alignment of 64 that kernels may rely on).
class Guarded {
public:
  explicit Guarded(size_t bytes) : pages((bytes + 64 + 4095) / 4096 * 4096) {
    base =
        static_cast<char *>(mmap(nullptr, pages + 8192, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(base, 4096, PROT_NONE);
    mprotect(base + 4096 + pages, 4096, PROT_NONE);
    data = base + 4096 + pages - (bytes + 63) / 64 * 64;
    size = bytes;
    std::memset(data, 0x7b, (bytes + 63) / 64 * 64);
  }
  ~Guarded() { munmap(base, pages + 8192); }
  Guarded(Guarded &&o)
      : base(std::exchange(o.base, nullptr)), data(o.data), pages(o.pages),
        size(o.size) {
    if (!base)
      std::abort();
    o.pages = 0;
  }
  /// Whether the bytes between the data and the next page are as they were.
  bool tailIntact() const {
    for (size_t i = size; i < (size + 63) / 64 * 64; ++i)
      if (data[i] != 0x7b)
        return false;
    return true;
  }
  template <typename T> T *as() { return reinterpret_cast<T *>(data); }
  char *base, *data;
  size_t pages, size;
};

std::vector<Target> targets() {
  std::vector<Target> all;
  all.push_back(llvm::cantFail(parseTarget("cpu:x86-64-v3")));
  Target host = llvm::cantFail(parseTarget("cpu"));
  if (host.vectorBits == 512)
    all.push_back(host);
  return all;
}

std::mt19937 &generator() {
  static std::mt19937 random(20240611);
  return random;
}

template <typename T> std::vector<T> values(int64_t count) {
  std::vector<T> v(count);
  std::uniform_int_distribution<int> pick(-8, 8);
  for (T &x : v)
    x = T(pick(generator())) / (std::is_floating_point_v<T> ? T(4) : T(1));
  return v;
}

template <typename T>
std::vector<T>
runKernel(LoadedKernel &kernel, const std::vector<std::vector<T>> &inputs,
          int64_t outputs, const std::vector<int64_t> &symbols, int64_t step) {
  std::vector<std::unique_ptr<Guarded>> memory;
  std::vector<void *> buffers;
  for (const std::vector<T> &in : inputs) {
    memory.push_back(std::make_unique<Guarded>(in.size() * sizeof(T)));
    std::memcpy(memory.back()->data, in.data(), in.size() * sizeof(T));
    buffers.push_back(memory.back()->data);
  }
  memory.push_back(std::make_unique<Guarded>(outputs * sizeof(T)));
  buffers.push_back(memory.back()->data);
  kernel.run(buffers, symbols, step);
  for (auto &m : memory)
    REQUIRE(m->tailIntact());
  T *y = memory.back()->template as<T>();
  return std::vector<T>(y, y + outputs);
}

template <typename T>
void compare(const std::vector<T> &got, const std::vector<double> &want) {
  REQUIRE(got.size() == want.size());
  double largest = 0, worst = 0;
  size_t where = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    largest = std::max(largest, std::abs(want[i]));
    double difference = std::abs(double(got[i]) - want[i]);
    if (!(difference <= worst)) {
      worst = difference;
      where = i;
    }
  }
  INFO("element " << where << ": " << (want.empty() ? 0 : double(got[where]))
                  << " for " << (want.empty() ? 0 : want[where]));
  REQUIRE(worst <= 1e-5 * largest);
}

struct ConvData {
  std::vector<std::vector<float>> inputs;
  std::vector<double> want;
};

ConvData convReference(const ConvShape &s) {
  int64_t b = s.block, ob = (s.oc + b - 1) / b, ih = s.inputHeight(),
          iw = s.inputWidth();
  int64_t channels = s.blockedInput ? (s.ic + b - 1) / b * b : s.ic;
  int64_t k = s.kernel;
  ConvData d;
  d.inputs.push_back(values<float>(s.n * channels * ih * iw));
  d.inputs.push_back(
      values<float>(ob * b * (s.depthwise ? 1 : channels) * k * k));
  if (s.bias)
    d.inputs.push_back(values<float>(ob * b));
  if (s.residual)
    d.inputs.push_back(values<float>(s.n * ob * b * s.oh * s.ow));
  auto &x = d.inputs[0], &w = d.inputs[1];
  auto xAt = [&](int64_t n, int64_t c, int64_t h, int64_t wd) {
    return s.blockedInput
               ? x[(((n * (channels / b) + c / b) * ih + h) * iw + wd) * b +
                   c % b]
               : x[((n * channels + c) * ih + h) * iw + wd];
  };
  auto wAt = [&](int64_t o, int64_t c, int64_t kh, int64_t kw) {
    if (s.depthwise)
      return w[((o / b * k + kh) * k + kw) * b + o % b];
    if (!s.blockedInput)
      return w[(((o / b * channels + c) * k + kh) * k + kw) * b + o % b];
    return w[((((o / b * (channels / b) + c / b) * k + kh) * k + kw) * b +
              c % b) *
                 b +
             o % b];
  };
  int64_t ph = s.oh + 2 * s.halo, pw = s.ow + 2 * s.halo;
  d.want.assign(s.n * ob * b * ph * pw, 0.0);
  for (int64_t n = 0; n < s.n; ++n)
    for (int64_t o = 0; o < ob * b; ++o)
      for (int64_t h = 0; h < s.oh; ++h)
        for (int64_t v = 0; v < s.ow; ++v) {
          double sum = 0;
          for (int64_t c = 0; c < (s.depthwise ? 1 : channels); ++c)
            for (int64_t kh = 0; kh < k; ++kh)
              for (int64_t kw = 0; kw < k; ++kw)
                sum += double(xAt(n, s.depthwise ? o : c,
                                  h * s.stride + kh * s.dilation,
                                  v * s.stride + kw * s.dilation)) *
                       wAt(o, c, kh, kw);
          if (s.bias)
            sum += d.inputs[2][o];
          if (s.residual)
            sum +=
                d.inputs.back()[(((n * ob + o / b) * s.oh + h) * s.ow + v) * b +
                                o % b];
          if (s.relu)
            sum = std::max(sum, 0.0);
          d.want[(((n * ob + o / b) * ph + h + s.halo) * pw + v + s.halo) * b +
                 o % b] = sum;
        }
  return d;
}

/// Replaces a packed filter by its transform.
void toWinograd(const ConvShape &s, std::vector<float> &w) {
  int64_t ob = (s.oc + s.block - 1) / s.block;
  int64_t ib = (s.ic + s.block - 1) / s.block;
  std::vector<float> u(cpu::winogradElements(ob, ib, s.block, s.winograd));
  cpu::transformFilter(w, ob, ib, s.block, s.winograd, u, 2);
  w = std::move(u);
}

void checkConv(const ConvShape &s) {
  ConvData d = convReference(s);
  std::vector<int64_t> symbols;
  if (s.openSize)
    symbols = {s.oh, s.ow};
  if (s.winograd)
    toWinograd(s, d.inputs[1]);
  for (const Target &target : targets()) {
    LoadedKernel kernel(convKernel(s), target);
    for (int64_t step : {0, 1, 3}) {
      INFO(target.name << " ic " << s.ic << " oc " << s.oc << " k " << s.kernel
                       << " s " << s.stride << " d " << s.dilation << " out "
                       << s.oh << "x" << s.ow << " block " << s.block
                       << " halo " << s.halo << " open " << s.openSize
                       << " winograd " << s.winograd << " step " << step);
      compare(runKernel<float>(kernel, d.inputs, d.want.size(), symbols, step),
              d.want);
    }
  }
}

template <typename T> void checkMatmul(const MatmulShape &s) {
  int64_t batch = s.batch ? s.batch : 1;
  int64_t panels = s.panel ? (s.n + s.panel - 1) / s.panel : 0;
  int64_t bSize = s.panel ? panels * s.k * s.panel : s.n * s.k;
  std::vector<std::vector<T>> inputs{values<T>(batch * s.m * s.k),
                                     values<T>(batch * bSize)};
  if (s.bias)
    inputs.push_back(values<T>(s.n));
  std::vector<double> want(batch * s.m * s.n);
  for (int64_t z = 0; z < batch; ++z)
    for (int64_t m = 0; m < s.m; ++m)
      for (int64_t n = 0; n < s.n; ++n) {
        double sum = s.bias ? double(inputs[2][n]) : 0;
        for (int64_t k = 0; k < s.k; ++k) {
          T a = inputs[0][z * s.m * s.k +
                          (s.transposedA ? k * s.m + m : m * s.k + k)];
          T b = inputs[1][z * bSize +
                          (s.panel
                               ? (n / s.panel * s.k + k) * s.panel + n % s.panel
                           : s.transposedB ? n * s.k + k
                                           : k * s.n + n)];
          sum += double(a) * double(b);
        }
        want[(z * s.m + m) * s.n + n] = s.relu ? std::max(sum, 0.0) : sum;
      }
  std::vector<int64_t> symbols;
  if (s.openM)
    symbols.push_back(s.m);
  if (s.openN)
    symbols.push_back(s.n);
  if (s.openK)
    symbols.push_back(s.k);
  for (const Target &target : targets()) {
    LoadedKernel kernel(matmulKernel(s), target);
    for (int64_t step : {0, 1}) {
      INFO(target.name << " " << s.element << " batch " << s.batch << " m "
                       << s.m << " n " << s.n << " k " << s.k << " ta "
                       << s.transposedA << " tb " << s.transposedB << " panel "
                       << s.panel << " open " << s.openM << s.openN << s.openK
                       << " step " << step);
      compare(runKernel<T>(kernel, inputs, want.size(), symbols, step), want);
    }
  }
}

int64_t pick(int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(generator());
}

} // namespace

TEST_CASE("blocked convolution of fixed sizes", "[contraction]") {
  checkConv({.ic = 16, .oc = 16, .kernel = 3, .oh = 1, .ow = 1});
  checkConv(
      {.ic = 32, .oc = 48, .kernel = 3, .oh = 7, .ow = 7, .residual = true});
  checkConv({.ic = 48, .oc = 80, .kernel = 1, .stride = 2, .oh = 5, .ow = 17});
  checkConv(
      {.n = 2, .ic = 32, .oc = 32, .kernel = 3, .oh = 9, .ow = 31, .halo = 1});
  checkConv(
      {.ic = 16, .oc = 32, .kernel = 5, .dilation = 2, .oh = 4, .ow = 29});
  checkConv({.ic = 64, .oc = 64, .kernel = 1, .oh = 14, .ow = 14, .halo = 2});
  checkConv({.ic = 24, .oc = 40, .kernel = 3, .oh = 6, .ow = 11, .block = 8});
  checkConv({.ic = 512, .oc = 64, .kernel = 3, .oh = 7, .ow = 7});
}

TEST_CASE("blocked convolution of random sizes", "[contraction]") {
  for (int i = 0; i < 12; ++i) {
    ConvShape s{.n = pick(1, 2),
                .ic = 16 * pick(1, 4),
                .oc = 16 * pick(1, 5),
                .kernel = pick(1, 4),
                .stride = pick(1, 3),
                .dilation = pick(1, 2),
                .oh = pick(1, 12),
                .ow = pick(1, 40)};
    s.bias = pick(0, 1);
    s.relu = pick(0, 1);
    s.residual = pick(0, 1);
    s.halo = pick(0, 2);
    s.openSize = i % 3 == 0;
    checkConv(s);
  }
}

TEST_CASE("convolution with open sizes", "[contraction]") {
  for (int64_t w : {0, 1, 13, 14, 41})
    checkConv({.ic = 32,
               .oc = 48,
               .kernel = 3,
               .oh = 3,
               .ow = w,
               .halo = 1,
               .openSize = true});
  checkConv({.ic = 32,
             .oc = 48,
             .kernel = 1,
             .oh = 0,
             .ow = 5,
             .halo = 1,
             .openSize = true});
}

TEST_CASE("first layer and depthwise convolution", "[contraction]") {
  checkConv({.ic = 3,
             .oc = 32,
             .kernel = 7,
             .stride = 2,
             .oh = 11,
             .ow = 23,
             .blockedInput = false,
             .halo = 1});
  checkConv({.ic = 1,
             .oc = 16,
             .kernel = 3,
             .oh = 5,
             .ow = 9,
             .blockedInput = false});
  for (int64_t kernel : {3, 5})
    for (int64_t stride : {1, 2})
      checkConv({.ic = 48,
                 .oc = 48,
                 .kernel = kernel,
                 .stride = stride,
                 .oh = 7,
                 .ow = 19,
                 .depthwise = true,
                 .halo = 1});
  checkConv({.ic = 32,
             .oc = 32,
             .kernel = 3,
             .oh = 5,
             .ow = 37,
             .depthwise = true,
             .openSize = true});
  checkConv({.ic = 24,
             .oc = 24,
             .kernel = 3,
             .oh = 5,
             .ow = 6,
             .block = 8,
             .depthwise = true});
}

TEST_CASE("Winograd convolution", "[contraction]") {
  for (int64_t m : {2, 4}) {
    checkConv({.ic = 16, .oc = 16, .oh = 1, .ow = 1, .winograd = m});
    checkConv({.n = 2,
               .ic = 32,
               .oc = 48,
               .oh = 7,
               .ow = 7,
               .residual = true,
               .winograd = m});
    checkConv(
        {.ic = 64, .oc = 64, .oh = 12, .ow = 16, .halo = 1, .winograd = m});
    checkConv({.ic = 16,
               .oc = 80,
               .oh = 29,
               .ow = 26,
               .bias = false,
               .relu = false,
               .winograd = m});
    checkConv({.ic = 96, .oc = 32, .oh = 14, .ow = 14, .winograd = m});
    checkConv(
        {.ic = 24, .oc = 40, .oh = 6, .ow = 11, .block = 8, .winograd = m});
  }
}

TEST_CASE("small images are tiled across rows", "[contraction]") {
  checkConv({.ic = 64,
             .oc = 96,
             .kernel = 3,
             .stride = 2,
             .oh = 7,
             .ow = 7,
             .residual = true,
             .halo = 1});
  checkConv(
      {.n = 3, .ic = 48, .oc = 64, .kernel = 1, .oh = 7, .ow = 7, .halo = 1});
  checkConv({.ic = 512, .oc = 32, .kernel = 3, .oh = 5, .ow = 8, .halo = 1});
}

TEST_CASE("the faster algorithm is chosen", "[contraction]") {
  Target target = llvm::cantFail(parseTarget("cpu:x86-64-v3"));
  ConvolutionShape shape{.outputChannels = 128,
                         .inputChannels = 128,
                         .kernelHeight = 3,
                         .kernelWidth = 3,
                         .height = 28,
                         .width = 28};
  REQUIRE(cpu::chooseConvolutionAlgorithm(target, shape).winograd == 4);
  ConvolutionShape strided = shape, pointwise = shape, open = shape;
  strided.strideHeight = strided.strideWidth = 2;
  REQUIRE(cpu::chooseConvolutionAlgorithm(target, strided).winograd == 0);
  pointwise.kernelHeight = pointwise.kernelWidth = 1;
  REQUIRE(cpu::chooseConvolutionAlgorithm(target, pointwise).winograd == 0);
  open.width = 0;
  REQUIRE(cpu::chooseConvolutionAlgorithm(target, open).winograd == 0);
  // Sizes of models are anything; the estimate does not walk through them.
  ConvolutionShape tall = shape;
  tall.height = int64_t(1) << 40;
  REQUIRE(cpu::chooseConvolutionAlgorithm(target, tall).winograd == 4);
}

TEST_CASE("a row times a matrix streams", "[contraction]") {
  checkMatmul<float>({.m = 1, .n = 2500, .k = 61, .bias = true, .relu = true});
  checkMatmul<float>({.m = 1, .n = 1100, .k = 16});
  checkMatmul<float>(
      {.m = 1, .n = 1500, .k = 100, .openN = true, .openK = true});
}

TEST_CASE("matmul of fixed sizes", "[contraction]") {
  for (auto [m, n, k] : {std::tuple<int64_t, int64_t, int64_t>{1, 1, 1},
                         {1, 100, 37},
                         {5, 7, 3},
                         {64, 64, 64},
                         {33, 130, 257},
                         {100, 48, 1024},
                         {3, 1000, 40},
                         {29, 31, 1100},
                         {1, 1000, 512}})
    for (bool ta : {false, true})
      for (bool tb : {false, true}) {
        MatmulShape s{
            .m = m, .n = n, .k = k, .transposedA = ta, .transposedB = tb};
        s.bias = s.relu = m % 2;
        checkMatmul<float>(s);
      }
  checkMatmul<float>({.m = 20, .n = 70, .k = 33, .panel = 32, .bias = true});
  checkMatmul<float>({.m = 1, .n = 70, .k = 33, .panel = 32});
  checkMatmul<float>({.m = 40, .n = 96, .k = 64, .panel = 16});
  checkMatmul<float>({.batch = 5, .m = 17, .n = 40, .k = 24});
  checkMatmul<float>(
      {.batch = 3, .m = 26, .n = 50, .k = 64, .transposedB = true});
}

TEST_CASE("matmul with open sizes", "[contraction]") {
  for (auto [m, n, k] : {std::tuple<int64_t, int64_t, int64_t>{1, 1, 1},
                         {0, 5, 3},
                         {5, 0, 3},
                         {5, 6, 0},
                         {47, 131, 129},
                         {70, 33, 2100}})
    for (int open = 1; open < 8; ++open) {
      MatmulShape s{.m = m, .n = n, .k = k};
      s.openM = open & 1;
      s.openN = open & 2;
      s.openK = open & 4;
      s.transposedB = open % 3 == 0;
      s.bias = true;
      checkMatmul<float>(s);
    }
  checkMatmul<float>({.m = 50, .n = 70, .k = 33, .panel = 32, .openM = true});
}

TEST_CASE("other element types", "[contraction]") {
  for (bool tb : {false, true}) {
    checkMatmul<double>({.m = 19,
                         .n = 45,
                         .k = 70,
                         .element = "f64",
                         .transposedB = tb,
                         .bias = true});
    checkMatmul<int32_t>({.m = 19,
                          .n = 45,
                          .k = 70,
                          .element = "i32",
                          .transposedB = tb,
                          .relu = true});
    checkMatmul<int64_t>(
        {.m = 6, .n = 45, .k = 20, .element = "i64", .transposedB = tb});
  }
}
