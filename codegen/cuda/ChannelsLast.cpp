//===- ChannelsLast.cpp - What a layout is worth to convolutions ----------===//

#include "codegen/cuda/ChannelsLast.h"
#include "codegen/cuda/KernelPrinter.h"
#include "codegen/cuda/Tiles.h"
#include "llvm/Support/MathExtras.h"

namespace mlc::cuda {

bool hasTensorCores(const Target &target) {
  return EmitOptions{target}.arch() >= 80;
}

ConvolutionLayout convolutionLayout(const Target &target) {
  return {.channelsLast = hasTensorCores(target), .fillsChannels = true};
}

namespace {
/// How a skeleton for tensor cores reads the pixels of one input.
struct PixelReading {
  /// Bytes that lie together along K or along the columns, as a multiple.
  int64_t runBytes;
  int64_t elementBytes;
  /// Whether each element's place is computed: pads and strides cut rows.
  bool hasWindows;

  /// The instructions for each element that vectors do not take. Counted in
  /// machine code (test/cuda/sass.json: what stands beside a product of
  /// `f16_conv3`, `tf32_conv3` and `f16_conv1_odd` and not of `f16`, `tf32`).
  double instructions() const {
    constexpr int64_t vector = 16, word = 4;
    if (runBytes % vector == 0)
      return 0;
    double ofAccess = hasWindows ? 18 : 8;
    bool isByWords = runBytes % word == 0;
    return isByWords ? ofAccess * elementBytes / word : ofAccess;
  }
};
} // namespace

/// The seconds that warpgroups save where they can read the pixels only if
/// channels are last.
static double gainOfGroups(ProductShape products, const PixelReading &plain,
                           const PixelReading &last, const Target &target) {
  constexpr int64_t vector = 16, step = 128;
  bool isSmall = plain.elementBytes == 2;
  bool readsPlain = isSmall && plain.runBytes % vector == 0;
  // Windows of float32 come by maps alone (PixelMap.cpp).
  int64_t unit = isSmall || !last.hasWindows ? vector : step;
  if (readsPlain || last.runBytes % unit != 0 || !suitsGroups(products, target))
    return 0;
  std::optional<double> groups = productSeconds(products, target);
  std::optional<double> warps = productSecondsOfWarps(products, target);
  return std::max(0.0, warps.value_or(0) - groups.value_or(0));
}

double channelsLastGain(const ImageConvolution &c, const Target &target,
                        Precision precision) {
  // As the skeleton for tensor cores accepts (matchTiles, acceptsTensor).
  constexpr int64_t few = 4, fewOfK = 7;
  const ConvolutionShape &shape = c.shape;
  int64_t pixels = c.images * shape.height * shape.width;
  int64_t features = shape.outputChannels / shape.groups;
  int64_t channels = shape.inputChannels / shape.groups;
  int64_t k = channels * shape.kernelHeight * shape.kernelWidth;
  bool isFloat32 = c.elementBytes == 4;
  if (!hasTensorCores(target) || pixels <= few || features <= few ||
      k <= fewOfK || (isFloat32 && precision != Precision::TF32))
    return 0;
  // As the layout fills them up with zeros.
  if (shape.groups == 1)
    channels = convolutionLayout(target).filled(channels, c.elementBytes);
  PixelReading plain{c.elementBytes, c.elementBytes, !c.readsAllPixels};
  PixelReading last{channels * c.elementBytes, c.elementBytes,
                    !c.readsAllPixels};
  if (c.readsAllPixels)
    plain.runBytes *= c.inputPixels;
  // Each tile of features reads all pixels.
  constexpr int64_t tile = 128;
  double elements = double(shape.groups) * double(pixels) * double(k) *
                    double(llvm::divideCeil(features, tile));
  // A scalar multiply-add counts as two operations.
  double rate = target.cost.scalarFlopsPerSecond / 2;
  ProductShape products = {.batch = shape.groups,
                           .rows = pixels,
                           .columns = features,
                           .k = k,
                           .elementBytes = c.elementBytes};
  return elements * (plain.instructions() - last.instructions()) / rate +
         gainOfGroups(products, plain, last, target);
}

} // namespace mlc::cuda
