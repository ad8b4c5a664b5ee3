//===- BlockedConvolution.cpp - Convolutions on blocked channels ----------===//

#include "passes/Layout/Blocking.h"

using namespace mlir;
using namespace mlc;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace {

/// What is constant about a convolution that can be blocked.
struct Shape {
  int64_t inputs, outputs, groups;
  unsigned spatial; // how many spatial dims
  /// The same for the layout, which looks at channels alone.
  ConvolutionShape channels() const {
    return {
        .outputChannels = outputs, .inputChannels = inputs, .groups = groups};
  }
  int64_t inputsPerGroup() const { return inputs / groups; }
  int64_t outputsPerGroup() const { return outputs / groups; }
  bool isDepthwise() const {
    return groups == inputs && groups == outputs && groups > 1;
  }
};

class ConvolutionBlocker {
public:
  ConvolutionBlocker(Blocking &blocking, ConvOp conv)
      : blocking(blocking), conv(conv), loc(conv.getLoc()),
        block(blocking.getBlock()) {}

  Blocked run() {
    std::optional<Shape> known = readShape();
    if (!known)
      return {};
    shape = *known;
    if (shape.isDepthwise())
      return depthwise();
    if (shape.groups > 1)
      return grouped();
    Blocked input = blocking.lookup(conv.getX());
    if (!input && !blocking.getLayout().suits(shape.channels()))
      return fromPlain();
    input = blocking.get(loc, conv.getX(), 1, /*clean=*/true);
    if (!input)
      return {};
    Value y = convolve(halo(input.value, 1), conv.getW());
    return {y, shape.outputs, 1, false};
  }

private:
  std::optional<Shape> readShape() {
    if (!conv.getX().getType().getElementType().isF32() ||
        !conv.getGroups().isConstant())
      return std::nullopt;
    SmallVector<IntExpr> x = sizesOf(conv.getX()), w = sizesOf(conv.getW());
    for (IntExpr dim : w)
      if (!dim.isConstant() || dim.getConstant() < 1)
        return std::nullopt;
    if (!x[1].isConstant() ||
        !(isCompileTime(conv.getW()) || isPackingWorthwhile(w)))
      return std::nullopt;
    return Shape{x[1].getConstant(), w[0].getConstant(),
                 conv.getGroups().getConstant(),
                 static_cast<unsigned>(x.size() - 2)};
  }

  /// Whether weights that are known only when the model runs had better be
  /// packed by each run: not where the result has so few pixels that a pass
  /// over the weights is a good part of the work. Measured on 512 channels.
  bool isPackingWorthwhile(ArrayRef<IntExpr> w) {
    constexpr int64_t leastReads = 64;
    int64_t reads = 1;
    for (IntExpr dim : ArrayRef(w).drop_front(2))
      reads *= dim.getConstant();
    SmallVector<IntExpr> y = sizesOf(conv.getResult());
    y.erase(y.begin() + 1);
    for (IntExpr dim : y) {
      if (!dim.isConstant() || reads >= leastReads)
        return true;
      reads *= dim.getConstant();
    }
    return reads >= leastReads;
  }

  SmallVector<NamedAttribute> window() {
    return {
        {StringAttr::get(blocking.getContext(), "strides"), conv.getStrides()},
        {StringAttr::get(blocking.getContext(), "dilations"),
         conv.getDilations()}};
  }

  /// The input with its halo; `lanes` trailing dims are not spatial.
  Value halo(Value x, unsigned lanes) {
    SmallVector<IntExpr> low(2, blocking.integer(0)), high(low);
    for (unsigned d = 0; d < shape.spatial; ++d) {
      low.push_back(conv.getPads()[d]);
      high.push_back(conv.getPads()[shape.spatial + d]);
    }
    low.append(lanes, blocking.integer(0));
    high.append(lanes, blocking.integer(0));
    return blocking.pad(loc, x, low, high);
  }

  /// Zeros so that dim `d` becomes a multiple of the block.
  Value fill(Value w, unsigned d) {
    SmallVector<IntExpr> dims = sizesOf(w);
    int64_t size = dims[d].getConstant();
    SmallVector<IntExpr> low(dims.size(), blocking.integer(0)), high(low);
    high[d] = blocking.integer(llvm::divideCeil(size, block) * block - size);
    return blocking.pad(loc, w, low, high);
  }

  Value permute(Value x, ArrayRef<int64_t> permutation) {
    return blocking.create<TransposeOp>(
        loc, x,
        {{StringAttr::get(blocking.getContext(), "permutation"),
          DenseI64ArrayAttr::get(blocking.getContext(), permutation)}});
  }

  /// [O, C, k...] → [O/b, C/b, k..., b(C), b(O)].
  Value packWeights(Value w) {
    w = fill(fill(w, 0), 1);
    SmallVector<IntExpr> dims = sizesOf(w), split;
    for (unsigned d = 0; d < 2; ++d) {
      split.push_back(dims[d].floorDiv(block));
      split.push_back(blocking.integer(block));
    }
    llvm::append_range(split, ArrayRef(dims).drop_front(2));
    SmallVector<int64_t> permutation{0, 2};
    for (unsigned d = 0; d < shape.spatial; ++d)
      permutation.push_back(4 + d);
    permutation.push_back(3);
    permutation.push_back(1);
    return permute(blocking.reshape(loc, w, split), permutation);
  }

  /// [O, C, k...] → [O/b, C, k..., b(O)].
  Value packWeightsOfPlainInput(Value w) {
    w = fill(w, 0);
    SmallVector<IntExpr> dims = sizesOf(w), split{dims[0].floorDiv(block),
                                                  blocking.integer(block)};
    llvm::append_range(split, ArrayRef(dims).drop_front(1));
    SmallVector<int64_t> permutation{0, 2};
    for (unsigned d = 0; d < shape.spatial; ++d)
      permutation.push_back(3 + d);
    permutation.push_back(1);
    return permute(blocking.reshape(loc, w, split), permutation);
  }

  Value convolve(Value x, Value w) {
    return blocking.create<ConvBlockedOp>(loc, {x, packWeights(w)}, window());
  }

  Blocked fromPlain() {
    Value y = blocking.create<ConvToBlockedOp>(
        loc, {halo(conv.getX(), 0), packWeightsOfPlainInput(conv.getW())},
        window());
    return {y, shape.outputs, 1, false};
  }

  Blocked depthwise() {
    // Vectors of pixels serve as well, unless rows are too short for any, so
    // that blocks are not worth packing for.
    constexpr int64_t shortestRow = 4;
    IntExpr row = sizesOf(conv.getX()).back();
    bool isShort = row.isConstant() && row.getConstant() < shortestRow;
    if (!blocking.lookup(conv.getX()) && !isShort)
      return {};
    Blocked input = blocking.get(loc, conv.getX(), 1, /*clean=*/false);
    if (!input)
      return {};
    // [C, 1, k...] → [C/b, k..., b]
    Value w = fill(conv.getW(), 0);
    SmallVector<IntExpr> dims = sizesOf(w), split{dims[0].floorDiv(block),
                                                  blocking.integer(block)};
    llvm::append_range(split, ArrayRef(dims).drop_front(2));
    SmallVector<int64_t> permutation{0};
    for (unsigned d = 0; d < shape.spatial; ++d)
      permutation.push_back(2 + d);
    permutation.push_back(1);
    w = permute(blocking.reshape(loc, w, split), permutation);
    Value y = blocking.create<DepthwiseBlockedOp>(
        loc, {halo(input.value, 1), w}, window());
    return {y, shape.outputs, 1, input.isDirty};
  }

  Value slice(Value x, unsigned axis, int64_t start, int64_t size) {
    SmallVector<IntExpr> sizes = sizesOf(x);
    SmallVector<IntExpr> starts(sizes.size(), blocking.integer(0)),
        steps(sizes.size(), blocking.integer(1));
    starts[axis] = blocking.integer(start);
    sizes[axis] = blocking.integer(size);
    return blocking.create<SliceOp>(loc, x,
                                    {blocking.dims("starts", starts),
                                     blocking.dims("sizes", sizes),
                                     blocking.dims("steps", steps)});
  }

  /// One convolution per group on the group's blocks.
  Blocked grouped() {
    if (!blocking.getLayout().suits(shape.channels()))
      return {};
    Blocked input =
        blocking.get(loc, conv.getX(), shape.groups, /*clean=*/true);
    if (!input)
      return {};
    Value x = halo(input.value, 1);
    int64_t blocks = llvm::divideCeil(shape.inputsPerGroup(), block);
    SmallVector<Value> parts;
    for (int64_t g = 0; g < shape.groups; ++g) {
      Value w = slice(conv.getW(), 0, g * shape.outputsPerGroup(),
                      shape.outputsPerGroup());
      parts.push_back(convolve(slice(x, 1, g * blocks, blocks), w));
    }
    Value y = blocking.create<ConcatOp>(loc, parts, blocking.i64("axis", 1));
    bool whole = shape.outputsPerGroup() % block == 0;
    return {y, shape.outputs, whole ? 1 : shape.groups, false};
  }

  Blocking &blocking;
  ConvOp conv;
  Location loc;
  int64_t block;
  Shape shape{};
};

} // namespace

Blocked mlc::blockConvolution(Blocking &blocking, ConvOp conv) {
  return ConvolutionBlocker(blocking, conv).run();
}
