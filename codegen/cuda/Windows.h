//===- Windows.h - Windows that share what they read ------------*- C++ -*-===//
//
// Depthwise convolutions, convolutions of few channels a group, and pooling:
// an element of the result reduces a small window, and neighbours' windows
// overlap. A kernel of this kind brings each input element to a block or a
// thread once and computes several neighbours from it.
//
// Nothing here looks at operators. A window is what index maps say: the index
// of an input dim is `stride * out + dilation * k`, with `out` a parallel and
// `k` a reduction loop, perhaps through a pad.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CUDA_WINDOWS_H
#define MLC_CODEGEN_CUDA_WINDOWS_H

#include "codegen/cuda/Reads.h"

namespace mlc::cuda {

/// A dim along which windows move.
struct WindowDim {
  /// Loops of the reduction; -1 where the extent is 1.
  int loop = -1, reduction = -1;
  int64_t kernel = 1, stride = 1, dilation = 1;
  /// The operand's dim, or -1 if its index is constant, and the first index of
  /// the first window in it and, behind pads, in the input.
  int operandDim = -1;
  int64_t operandFirst = 0, inputFirst = 0;
  /// Extents of the input and of the result.
  IntExpr in, out;
  bool isPadded = false;

  /// Elements from the first to the last one that `count` neighbours read.
  int64_t span(int64_t count) const {
    return (count - 1) * stride + (kernel - 1) * dilation + 1;
  }
};

/// A further operand of the reduction that is dense for each group of channels
/// (weights): group g has elements [g * perGroup, (g + 1) * perGroup).
struct WindowWeights {
  unsigned input;
  int64_t perGroup, groups;
};

/// How another operand of the reduction reads an input: indices over its loops.
struct WindowOther {
  unsigned operand, input;
  llvm::SmallVector<mlir::AffineExpr> places;
};

/// Where windows lie.
enum class WindowForm {
  /// Along the last dims of input and result, [n, c, h, w]: groups of channels
  /// lie one behind the other.
  Planes,
  /// In front of a last dim of channels, [n, h, w, c].
  Pixels,
};

/// A kernel with one reduction, over windows.
struct Windows {
  mlir::linalg::LinalgOp op;
  /// The operand that is read through windows, and the kernel's inputs that it
  /// is computed from; these have the same shape and are read alike.
  unsigned operand = 0;
  llvm::SmallVector<unsigned> inputs;
  /// For each dim of the kernel's results the loop that indexes it, or -1 where
  /// its extent is 1.
  llvm::SmallVector<int> loops;
  /// The dims of windows, the slowest first: of the results, dims
  /// [first, first + dims.size()).
  llvm::SmallVector<WindowDim> dims;
  unsigned first = 0;
  /// In planes, dims before them are groups: from `channels` neighbours of the
  /// input (indices of the reduction), `results` neighbours of the result are
  /// computed.
  llvm::SmallVector<unsigned> channelLoops;
  int64_t channels = 1, results = 1;
  IntExpr groups;
  /// The indices by which the first of `inputs` is read.
  llvm::SmallVector<mlir::AffineExpr> places;
  llvm::SmallVector<WindowOther> others;
  llvm::SmallVector<WindowWeights> weights;
  /// What the epilogue reads by dims of the results.
  llvm::SmallVector<Read> reads;

  llvm::ArrayRef<IntExpr> shape(const Kernel &kernel) const {
    return kernel.shapeOf(kernel.outputs.front());
  }
  /// All windows' elements of one group, or of one channel.
  int64_t taps() const;
};

std::optional<Windows>
matchWindows(const Kernel &kernel, const EmitOptions &options, WindowForm form);

bool acceptsPlanes(const Kernel &kernel, const EmitOptions &options);
mlir::FailureOr<KernelText> emitPlanes(KernelPrinter &to);
bool acceptsPixels(const Kernel &kernel, const EmitOptions &options);
mlir::FailureOr<KernelText> emitPixels(KernelPrinter &to);

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_WINDOWS_H
