//===- KernelText.h - Kernels of seam 3 as text -----------------*- C++ -*-===//
//
// Contraction kernels for benchmarks and tests: written as MLIR, parsed,
// compiled and loaded into this process.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_TOOLS_BENCH_KERNELTEXT_H
#define MLC_TOOLS_BENCH_KERNELTEXT_H

#include "codegen/target/Target.h"
#include "runtime/Kernel.h"
#include <cstdint>
#include <string>
#include <vector>

namespace mlc::bench {

/// A blocked convolution with an optional epilogue.
struct ConvShape {
  int64_t n = 1, ic = 64, oc = 64, kernel = 3, stride = 1, dilation = 1;
  int64_t oh = 56, ow = 56;
  int64_t block = 16;
  bool blockedInput = true; ///< false: NCHW input, all channels unblocked
  bool depthwise = false;   ///< ic == oc, one filter a channel
  bool bias = true, relu = true, residual = false;
  int64_t halo = 0;      ///< zeros around the output
  bool openSize = false; ///< oh and ow are symbols
  int64_t winograd = 0;  ///< F(m,3) for m, 0 for direct
  int64_t inputHeight() const {
    return (oh - 1) * stride + (kernel - 1) * dilation + 1;
  }
  int64_t inputWidth() const {
    return (ow - 1) * stride + (kernel - 1) * dilation + 1;
  }
  double flops() const {
    return 2.0 * n * oc * oh * ow * (depthwise ? 1 : ic) * kernel * kernel;
  }
};
std::string convKernel(const ConvShape &shape);

/// Y = A·B, with an optional epilogue.
struct MatmulShape {
  int64_t batch = 0, m = 1, n = 1, k = 1;
  std::string element = "f32";
  bool transposedA = false, transposedB = false;
  int64_t panel = 0; ///< B packed as [n/panel][k][panel]
  bool bias = false, relu = false;
  bool openM = false, openN = false, openK = false;
  double flops() const { return 2.0 * (batch ? batch : 1) * m * n * k; }
};
std::string matmulKernel(const MatmulShape &shape);

/// One kernel of a module after fusion.
struct ModuleKernel {
  std::string name, text;
  double flops = 0; ///< of one launch, from the program
  int64_t launches = 0;
  std::vector<int64_t> bytes; ///< of every buffer, inputs then outputs
};

/// Kernels of fixed sizes in the file `path` (output of `mlc compile
/// --compile-to=fuse`), in order.
std::vector<ModuleKernel> readModule(const std::string &path);

/// Kernels compiled from text and loaded. Aborts with a message if a step
/// fails, which is a bug since the text is made here.
class LoadedKernel {
public:
  LoadedKernel(const std::string &text, const Target &target,
               const std::string &dumpDirectory = {});
  ~LoadedKernel();
  LoadedKernel(const LoadedKernel &) = delete;

  /// Number of tasks and scratch bytes for the symbols' `values`.
  int64_t tasks(const std::vector<int64_t> &values) const;
  int64_t scratchBytes(const std::vector<int64_t> &values) const;
  /// Runs all tasks in ranges of `step` (0: one range).
  void run(const std::vector<void *> &buffers,
           const std::vector<int64_t> &symbols, int64_t step = 0);

private:
  struct State;
  State *state;
};

} // namespace mlc::bench

#endif // MLC_TOOLS_BENCH_KERNELTEXT_H
