//===- WindowPlans.h - How windows are shared out ---------------*- C++ -*-===//
//
// The plans of the two forms of windows (Windows.h): what a block brings to
// shared memory, and what a thread computes.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CUDA_WINDOWPLANS_H
#define MLC_CODEGEN_CUDA_WINDOWPLANS_H

#include "codegen/cuda/Group.h"
#include "codegen/cuda/Windows.h"

namespace mlc::cuda {

/// Windows along the last dims: a block has whole planes, or a band of rows.
struct PlanesPlan {
  Windows w;
  /// Extents of the slowest dim of windows and of all others together.
  int64_t inRows = 1, outRows = 1, inRow = 1, outRow = 1;
  /// Elements below each other that a thread computes, and elements next to
  /// each other, which divide the extent of the fastest dim.
  int64_t perThread = 1, columns = 1;
  /// Whether a thread finishes its sums itself: rows are long enough for that.
  /// Otherwise they go through shared memory.
  bool isDirect = false;
  /// Groups of a task, or rows of the band of one group; 0 where it is the
  /// other.
  int64_t groups = 0, band = 0;
  /// Neighbours of the results that a thread finishes, and what the epilogue
  /// reads for each plane.
  int64_t width = 1, otherReads = 0;

  int64_t block = threads;
  mlir::Type sum;
  /// Bytes of shared memory up to each tile of the inputs, of weights, to the
  /// sums, and in all.
  llvm::SmallVector<int64_t> tiles, weights;
  int64_t sums = 0, bytes = 0;

  const WindowDim &rows() const { return w.dims.front(); }
  int64_t inPlane() const { return inRows * inRow; }
  int64_t outPlane() const { return outRows * outRow; }
  int64_t bands() const { return llvm::divideCeil(outRows, band); }
  /// Elements of a tile for each channel of a group, and of all of it.
  int64_t segment(int64_t bytesOfElement) const;
  /// Elements that a thread reads along the fastest dim.
  int64_t columnReads() const {
    return columns == 1 ? w.dims.back().kernel : w.dims.back().span(columns);
  }
  /// Threads' work of one task.
  int64_t items() const {
    return (band ? llvm::divideCeil(band, perThread)
                 : groups * llvm::divideCeil(outRows, perThread)) *
           w.results * (outRow / columns);
  }
  void place(const Kernel &kernel);
};

/// Windows of pixels, with channels last: a thread has a vector of channels.
struct PixelsPlan {
  Windows w;
  /// Channels of a vector.
  int64_t width = 1;
  /// Pixels of a thread: along the slowest dim of windows, and along the
  /// fastest if there are two.
  int64_t rows = 1, columns = 1;

  /// Vectors of channels and tiles of pixels that a block has at a time.
  int64_t vectors = 1, tiles = 1;
  /// How many of its tiles are next to each other along the fastest dim of
  /// windows; the others are below them. 0: a block has tiles that follow each
  /// other in the order of the results.
  int64_t across = 0;
  /// Weights of which each channel has all next to each other: a block brings
  /// those of its channels to shared memory, from these bytes on.
  llvm::SmallVector<std::pair<WindowWeights, int64_t>> runs;
  int64_t sharedBytes = 0;
  /// Whether a thread loads all of its pixels while the block's weights come.
  bool loadsFirst = false;

  int64_t block() const { return vectors * tiles; }
  int64_t channels(const Kernel &kernel) const {
    return w.shape(kernel).back().getConstant();
  }
  /// How many blocks share the channels of a pixel.
  int64_t chunks(const Kernel &kernel) const {
    return llvm::divideCeil(channels(kernel), vectors * width);
  }
  bool hasColumns() const { return w.dims.size() > 1; }
  const WindowDim &rowDim() const { return w.dims.front(); }
  const WindowDim &columnDim() const { return w.dims.back(); }
  /// Pixels next to each other that a thread reads.
  int64_t columnSpan() const {
    return hasColumns() ? columnDim().span(columns) : 1;
  }
  /// Dims between the two.
  llvm::ArrayRef<WindowDim> middle() const {
    return hasColumns() ? llvm::ArrayRef(w.dims).drop_front().drop_back()
                        : llvm::ArrayRef<WindowDim>();
  }
  int64_t down() const { return tiles / across; }
  /// The extents of all dims of results but channels, in tiles.
  llvm::SmallVector<IntExpr> extents(const Kernel &kernel) const;
  /// The same in tiles of blocks.
  llvm::SmallVector<IntExpr> parts(const Kernel &kernel) const;
};

/// Whether a read of the epilogue, or one of another operand of the reduction,
/// has neighbouring channels as neighbours.
bool isVector(const Windows &w, const Read &read);
bool isVector(const Kernel &kernel, const Windows &w, const WindowOther &other);

/// The plan of a kernel; nullopt if it is not for it.
std::optional<PlanesPlan> planPlanes(const Kernel &kernel,
                                     const EmitOptions &options);
std::optional<PixelsPlan> planPixels(const Kernel &kernel,
                                     const EmitOptions &options);

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_WINDOWPLANS_H
