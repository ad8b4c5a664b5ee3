//===- ChannelsLast.cpp - What a layout is worth to convolutions ----------===//

#include "codegen/cuda/ChannelsLast.h"
#include "codegen/cuda/KernelPrinter.h"
#include "codegen/cuda/Tiles.h"
#include "llvm/Support/MathExtras.h"

namespace mlc::cuda {

bool hasTensorCores(const Target &target) {
  return EmitOptions{target}.arch() >= 80;
}

/// The products of one convolution.
static ProductShape productsOf(const ImageConvolution &c) {
  const ConvolutionShape &shape = c.shape;
  return {.batch = shape.groups,
          .rows = c.images * shape.height * shape.width,
          .columns = shape.outputChannels / shape.groups,
          .k = shape.inputChannels / shape.groups * shape.kernelHeight *
               shape.kernelWidth,
          .elementBytes = c.elementBytes};
}

/// The seconds of `products` if the windows are read in aligned runs of
/// `bytes`.
static double secondsOf(ProductShape products, int64_t bytes, bool isTurned,
                        const Target &target) {
  constexpr int64_t vector = 16, word = 4;
  // Instructions for an element that is read by itself: what an HMMA of a 3x3
  // convolution takes beside it (test/cuda/sass.json), for its elements.
  constexpr double instructionsPerElement = 38;
  int64_t rows = products.rows, columns = products.columns;
  if (isTurned)
    std::swap(products.rows, products.columns);
  products.hasWindows = bytes % vector != 0;
  double seconds = productSeconds(products, target).value_or(0);
  if (bytes % word == 0)
    return seconds;
  WarpTile tile = chooseWarpTile(products, target, /*isByVectors=*/false);
  double elements =
      double(products.batch) * double(rows) * double(products.k) *
      double(llvm::divideCeil(columns, isTurned ? tile.m : tile.n));
  // A scalar multiply-add counts as two operations.
  double rate = target.cost.scalarFlopsPerSecond / 2;
  return std::max(seconds, elements * instructionsPerElement / rate);
}

double channelsLastGain(const ImageConvolution &c, const Target &target,
                        Precision precision) {
  // As the skeleton for tensor cores accepts (matchTiles, acceptsTensor).
  constexpr int64_t few = 4, fewOfK = 7;
  ProductShape products = productsOf(c);
  bool isFloat32 = c.elementBytes == 4;
  if (!hasTensorCores(target) || products.rows <= few ||
      products.columns <= few || products.k <= fewOfK ||
      (isFloat32 && precision != Precision::TF32))
    return 0;
  int64_t channels = c.shape.inputChannels / c.shape.groups;
  int64_t pixels = c.readsAllPixels ? c.inputPixels : 1;
  double plain = secondsOf(products, pixels * c.elementBytes, true, target);
  double last = secondsOf(products, channels * c.elementBytes, false, target);
  return plain - last;
}

} // namespace mlc::cuda
