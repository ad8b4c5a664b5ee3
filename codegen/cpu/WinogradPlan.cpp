//===- WinogradPlan.cpp - Blocking of a Winograd convolution --------------===//
//
// Every block of tile rows reads all of U, and every group of output channels
// all of the block's V; the block's size is a compromise between them.
// Estimates are in cycles: register tiles as for direct convolution, U and V as
// streams from the level that holds them, transforms by their vector
// instructions. These estimates alone choose between the algorithms: the code
// generator (findWinograd) and the search (getConvolutionShare) call the same
// function.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/WinogradPlan.h"
#include "dialects/Exec/Exec.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;

namespace mlc::cpu {

/// The name of the transform.
static constexpr llvm::StringLiteral winogradName = "winograd";

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t planeV(const WinogradPlan &wp, int64_t block) {
  return wp.inputBlocks * wp.positions * block + 16;
}

int64_t planeM(const WinogradPlan &wp, const ContractionPlan &p) {
  return wp.positions * p.vectors * p.lanes + 16;
}

std::optional<std::pair<Value, int64_t>>
winogradArgument(const Kernel &kernel) {
  for (Operation *op : kernel.ops)
    if (auto inverse = dyn_cast<exec::InverseTransformOp>(op))
      if (inverse.getTransform() == winogradName) {
        // [ob, (m + 2)², ib, ii, oi]
        auto type = cast<RankedTensorType>(inverse.getForm().getType());
        int64_t m = 0;
        for (int64_t n : {2, 4})
          if (type.getRank() == 5 && type.getDimSize(1) == (n + 2) * (n + 2))
            m = n;
        return std::pair(inverse.getForm(), m);
      }
  return std::nullopt;
}

/// Finds the convolution's dims in `c` and their roles in `p`; false where it
/// is not a blocked 3×3 convolution of stride and dilation 1 with a packed
/// filter.
static bool matchDims(const Contraction &c, ContractionPlan &p,
                      WinogradPlan &wp) {
  const Access &x = c.x, &w = c.w, &y = c.outputs[0].access;
  auto find = [&](bool parallel, llvm::function_ref<bool(int)> is) {
    for (int d = 0; d < int(c.dims.size()); ++d)
      if (c.dims[d].parallel == parallel && is(d))
        return d;
    return -1;
  };
  auto zero = [](IntExpr e) { return e.isConstant(0); };
  p.vectorDim = find(true, [&](int d) {
    return y.strides[d].isConstant(1) && w.strides[d].isConstant(1) &&
           zero(x.strides[d]);
  });
  wp.inputLane = find(false, [&](int d) { return x.strides[d].isConstant(1); });
  if (p.vectorDim < 0 || wp.inputLane < 0)
    return false;
  auto block = c.dims[p.vectorDim].extent.asConstant();
  auto inner = c.dims[wp.inputLane].extent.asConstant();
  if (!block || block != inner)
    return false;
  int64_t b = *block;
  wp.kernelColumn =
      find(false, [&](int d) { return w.strides[d].isConstant(b * b); });
  wp.kernelRow =
      find(false, [&](int d) { return w.strides[d].isConstant(3 * b * b); });
  wp.inputBlock =
      find(false, [&](int d) { return w.strides[d].isConstant(9 * b * b); });
  if (wp.kernelColumn < 0 || wp.kernelRow < 0 || wp.inputBlock < 0 ||
      !w.strides[wp.inputLane].isConstant(b) ||
      !c.dims[wp.kernelRow].extent.isConstant(3) ||
      !c.dims[wp.kernelColumn].extent.isConstant(3))
    return false;
  auto inputs = c.dims[wp.inputBlock].extent.asConstant();
  if (!inputs)
    return false;
  wp.inputBlocks = *inputs;
  p.vectorOuter = find(true, [&](int d) {
    return d != p.vectorDim && w.strides[d].isConstant(9 * b * b * *inputs) &&
           zero(x.strides[d]);
  });
  auto slides = [&](int kernelDim) {
    return [&, kernelDim](int d) {
      return zero(w.strides[d]) && x.strides[d] == x.strides[kernelDim];
    };
  };
  p.tileDim = find(true, slides(wp.kernelColumn));
  p.rowDim = find(true, slides(wp.kernelRow));
  if (p.vectorOuter < 0 || p.tileDim < 0 || p.rowDim < 0 ||
      p.tileDim == p.rowDim || c.dims.size() < 8)
    return false;
  for (int d = 0; d < int(c.dims.size()); ++d)
    if (c.dims[d].parallel &&
        !llvm::is_contained({p.vectorDim, p.vectorOuter, p.tileDim, p.rowDim},
                            d)) {
      if (!zero(w.strides[d]))
        return false;
      p.outer.push_back(d);
    }
  return w.offset.isConstant(0) && c.accumulator.isF32() && x.element.isF32() &&
         w.element.isF32() &&
         int64_t(c.dims.size()) == int64_t(p.outer.size()) + 8;
}

namespace {
/// Sizes that the blocking depends on.
struct WinogradShape {
  int64_t outputBlocks, inputBlocks, block, height, width, m;
  int64_t down() const { return ceilDiv(height, m); }
  int64_t across() const { return ceilDiv(width, m); }
};

/// A blocking and what it costs.
struct WinogradBlocking {
  int64_t tileRows = 1, rows = 1, vectors = 1;
  double cycles = std::numeric_limits<double>::max();
};
} // namespace

/// Bytes per cycle of a stream of `bytes` that is read repeatedly. If it is too
/// large for the second-level cache it comes from the third, at no less than
/// twice the memory's rate.
static double streamRate(const Target &target, double bytes) {
  double rate = bytes <= target.l2Bytes / 2.0 ? target.cacheBandwidth
                                              : 2 * target.memoryBandwidth;
  return rate / target.gigahertz;
}

/// Cycles of one image with `tileRows` rows of tiles a block and register tiles
/// of `rows` × `vectors`.
static double winogradCycles(const Target &target, const WinogradShape &s,
                             int64_t tileRows, int64_t rows, int64_t vectors) {
  int64_t lanes = std::min<int64_t>(target.lanes(32), s.block);
  int64_t points = (s.m + 2) * (s.m + 2), perBlock = s.block / lanes;
  int64_t columns = s.outputBlocks * perBlock;
  int64_t channels = s.inputBlocks * s.block;
  double u = 4.0 * points * channels * s.outputBlocks * s.block, total = 0;
  // About a thousand rows of tiles are summed; the rest is extrapolated.
  int64_t down = std::min<int64_t>(s.down(), std::max<int64_t>(1024, tileRows));
  for (int64_t row = 0; row < down; row += tileRows) {
    int64_t positions = std::min(tileRows, down - row) * s.across();
    // The first register tile of a column streams its part of U, the others
    // find it in the first-level cache. V stays in the second-level cache, or
    // streams too, half hidden by the products.
    double v = 4.0 * points * channels * positions;
    double tile = registerTileCost(target, lanes, 4, rows, vectors, channels);
    if (v > 0.6 * target.l2Bytes)
      tile += 2.0 * channels * rows / streamRate(target, v);
    double stream = 4.0 * channels * vectors * lanes / streamRate(target, u);
    total += double(points) * ceilDiv(columns, vectors) *
             (std::max(tile, stream) + (ceilDiv(positions, rows) - 1) * tile);
    double input = s.m == 4 ? 190 : 50, output = s.m == 4 ? 170 : 50;
    total += positions * (input * s.inputBlocks * perBlock + output * columns);
  }
  return total * (double(s.down()) / down);
}

static WinogradBlocking chooseBlocking(const Target &target,
                                       const WinogradShape &s) {
  WinogradBlocking best;
  int64_t lanes = std::min<int64_t>(target.lanes(32), s.block);
  int64_t perBlock = s.block / lanes, points = (s.m + 2) * (s.m + 2);
  double perRow = 4.0 * points * s.inputBlocks * s.block * s.across();
  int64_t most = std::clamp<int64_t>(target.l3Bytes / 4 / perRow, 1, s.down());
  for (int64_t tileRows = 1; tileRows <= most; ++tileRows)
    for (int64_t vectors = 1; vectors <= 4; ++vectors) {
      if (vectors % perBlock && perBlock % vectors)
        continue;
      int64_t rows = (target.vectorRegisters - 1 - vectors) / vectors;
      for (rows = std::min(rows, tileRows * s.across()); rows >= 1; --rows) {
        double cycles = winogradCycles(target, s, tileRows, rows, vectors);
        if (cycles < best.cycles * 0.995)
          best = {tileRows, rows, vectors, cycles};
      }
    }
  return best;
}

LogicalResult planWinograd(const Kernel &kernel, const Target &target,
                           Contraction &c, ContractionPlan &p, WinogradPlan &wp,
                           std::string &why) {
  auto argument = winogradArgument(kernel);
  if (argument->second != 2 && argument->second != 4) {
    why = "the filter's transform is neither of F(2, 3) nor of F(4, 3)";
    return failure();
  }
  if (c.x.tensor == argument->first) {
    std::swap(c.x, c.w);
    std::swap(c.xCasts, c.wCasts);
  }
  if (c.w.tensor != argument->first || !matchDims(c, p, wp)) {
    why = "not a blocked 3x3 convolution of stride 1 with a packed filter";
    return failure();
  }
  auto width = c.dims[p.tileDim].extent.asConstant();
  auto outputBlocks = c.dims[p.vectorOuter].extent.asConstant();
  if (!width || !outputBlocks) {
    why = "the width or the channels are not fixed";
    return failure();
  }
  int64_t block = *c.dims[p.vectorDim].extent.asConstant();
  wp.m = argument->second;
  int64_t height = c.dims[p.rowDim].extent.asConstant().value_or(*width);
  WinogradShape shape{*outputBlocks,
                      wp.inputBlocks,
                      block,
                      std::max<int64_t>(1, height),
                      std::max<int64_t>(1, *width),
                      wp.m};
  p.lanes = std::min<int64_t>(target.lanes(32), block);
  if (block % p.lanes) {
    why = "the block of channels is no multiple of the vectors";
    return failure();
  }
  WinogradBlocking blocking = chooseBlocking(target, shape);
  p.vectors = blocking.vectors;
  p.unroll = target.vectorRegisters > 16 ? 4 : 8;
  wp.rows = blocking.rows;
  wp.tileRows = blocking.tileRows;
  wp.positions = wp.tileRows * shape.across();
  wp.tilesDown = c.dims[p.rowDim].extent.ceilDiv(wp.m);
  wp.tilesAcross = c.dims[p.tileDim].extent.ceilDiv(wp.m);
  wp.blocks = wp.tilesDown.ceilDiv(wp.tileRows);
  p.groups = wp.blocks;
  for (int d : p.outer)
    p.groups = p.groups * c.dims[d].extent;
  // If there are few blocks, channels are split too. Every part of a block
  // transforms its inputs again, so there should be few parts.
  int64_t columns = ceilDiv(*outputBlocks * block / p.lanes, p.vectors);
  int64_t parts =
      std::clamp<int64_t>(ceilDiv(4, ceilDiv(shape.down(), wp.tileRows)), 1,
                          std::min<int64_t>(columns, 4));
  p.vectorBlock = ceilDiv(columns, parts);
  p.vectorBlocks =
      IntExpr::constant(c.context, ceilDiv(columns, p.vectorBlock));
  countTasks(c, p, p.vectorBlocks);
  p.scratchBytes = 4 * wp.points() * (planeV(wp, block) + planeM(wp, p)) + 64;
  return success();
}

ConvolutionAlgorithm chooseConvolutionAlgorithm(const Target &target,
                                                const ConvolutionShape &shape) {
  ConvolutionAlgorithm choice;
  constexpr int64_t block = 16;
  int64_t height = shape.height ? shape.height : 32;
  int64_t width = shape.width ? shape.width : 32;
  double macs = double(shape.outputChannels) * shape.inputChannels /
                shape.groups * shape.kernelHeight * shape.kernelWidth;
  double filter = 4 * macs;
  choice.directCycles =
      std::max(macs * height * width / (target.flopsPerCycle / 2) / 0.93,
               filter / streamRate(target, filter));
  choice.winogradCycles = std::numeric_limits<double>::max();
  bool applies = shape.kernelHeight == 3 && shape.kernelWidth == 3 &&
                 shape.strideHeight == 1 && shape.strideWidth == 1 &&
                 shape.dilationHeight == 1 && shape.dilationWidth == 1 &&
                 shape.groups == 1 && shape.width && shape.float32 &&
                 shape.inputChannels >= block;
  if (!applies)
    return choice;
  for (int64_t m : {2, 4}) {
    WinogradShape s{ceilDiv(shape.outputChannels, block),
                    ceilDiv(shape.inputChannels, block),
                    block,
                    height,
                    width,
                    m};
    double cycles = chooseBlocking(target, s).cycles;
    if (cycles >= choice.winogradCycles)
      continue;
    choice.winogradCycles = cycles;
    if (cycles < 0.9 * choice.directCycles)
      choice.winograd = m;
  }
  return choice;
}

double getConvolutionShare(const Target &target,
                           const ConvolutionLayout &layout,
                           const ConvolutionShape &shape) {
  if (!shape.hasConstantFilter || !layout.suits(shape))
    return 1;
  // Each group is a kernel's convolution, on whole blocks.
  auto perGroup = [&](int64_t channels) {
    return ceilDiv(channels / shape.groups, layout.block) * layout.block;
  };
  ConvolutionShape group = shape;
  group.groups = 1;
  group.inputChannels = perGroup(shape.inputChannels);
  group.outputChannels = perGroup(shape.outputChannels);
  ConvolutionAlgorithm choice = chooseConvolutionAlgorithm(target, group);
  return choice.winograd ? choice.winogradCycles / choice.directCycles : 1;
}

static ConstantTransform filterTransform(BlockArgument filter, int64_t m,
                                         int64_t outputBlocks,
                                         int64_t inputBlocks, int64_t block) {
  ConstantTransform transform{
      filter.getArgNumber(),
      winogradName.str(),
      {outputBlocks, (m + 2) * (m + 2), inputBlocks, block, block},
      nullptr};
  transform.apply = [=](llvm::ArrayRef<float> packed,
                        llvm::MutableArrayRef<float> u) {
    if (int64_t(packed.size()) !=
            outputBlocks * inputBlocks * block * block * 9 ||
        !llvm::all_of(packed, [](float x) { return std::isfinite(x); }))
      return false;
    transformFilter(packed, outputBlocks, inputBlocks, block, m, u,
                    /*threads=*/2);
    return true;
  };
  return transform;
}

std::optional<ConstantTransform> findWinograd(const Kernel &kernel,
                                              const Target &target) {
  std::string why;
  if (!kernel.anchor || winogradArgument(kernel))
    return std::nullopt;
  FailureOr<Contraction> c = matchContraction(kernel, why);
  if (failed(c))
    return std::nullopt;
  ContractionPlan p;
  WinogradPlan wp;
  if (!matchDims(*c, p, wp)) {
    std::swap(c->x, c->w);
    p = {};
    wp = {};
    if (!matchDims(*c, p, wp))
      return std::nullopt;
  }
  auto outputBlocks = c->dims[p.vectorOuter].extent.asConstant();
  auto width = c->dims[p.tileDim].extent.asConstant();
  int64_t block = *c->dims[p.vectorDim].extent.asConstant();
  if (!outputBlocks || !width ||
      block % std::min<int64_t>(target.lanes(32), block))
    return std::nullopt;
  ConvolutionShape shape;
  shape.outputChannels = *outputBlocks * block;
  shape.inputChannels = wp.inputBlocks * block;
  shape.kernelHeight = shape.kernelWidth = 3;
  shape.height = c->dims[p.rowDim].extent.asConstant().value_or(0);
  shape.width = *width;
  int64_t m = chooseConvolutionAlgorithm(target, shape).winograd;
  if (!m)
    return std::nullopt;
  return filterTransform(cast<BlockArgument>(c->w.tensor), m, *outputBlocks,
                         wp.inputBlocks, block);
}

} // namespace mlc::cpu
