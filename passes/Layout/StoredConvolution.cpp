//===- StoredConvolution.cpp - Convolutions on stored tensors -------------===//

#include "passes/Layout/StoredForms.h"

using namespace mlir;
using namespace mlc;
using llvm::ArrayRef;
using llvm::SmallVector;

using Part = StoredDim::Part;

namespace {

/// The constant properties of a convolution that can be laid out.
struct Shape {
  int64_t inputs, outputs, groups;
  unsigned spatial; // how many spatial dims
  /// The same for the layout, which considers only channels.
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

class ConvolutionLayouter {
public:
  ConvolutionLayouter(StoredForms &forms, ConvOp conv)
      : forms(forms), conv(conv), loc(conv.getLoc()), block(forms.getBlock()) {}

  StoredForm run() {
    std::optional<Shape> known = readShape();
    if (!known)
      return {};
    shape = *known;
    if (block == 0)
      return channelsLast();
    if (shape.isDepthwise())
      return depthwise();
    if (shape.groups > 1)
      return grouped();
    StoredForm input = forms.lookup(conv.getX());
    if (!input && !forms.getLayout().suits(shape.channels()))
      return fromPlain();
    input = forms.get(loc, conv.getX(), 1, /*clean=*/true);
    if (!input)
      return {};
    return convolve(input, conv.getW(),
                    weights({{0, shape.outputs}, {1, shape.inputs}}), 1);
  }

private:
  std::optional<Shape> readShape() {
    Type element = conv.getX().getType().getElementType();
    if (!conv.getGroups().isConstant() ||
        !(element.isF32() ||
          (forms.areChannelsLast() && isSmallFloat(element))))
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

  /// Whether to pack weights that are known only at run time in each run: not
  /// if the result has so few pixels that a pass over the weights is a large
  /// part of the work. Measured on 512 channels.
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

  /// The input with its halo, which only spatial dims have.
  Value halo(const StoredForm &x) {
    SmallVector<IntExpr> low, high;
    for (const StoredDim &stored : x.layout.getOrder()) {
      bool isSpatial = stored.dim >= 2;
      unsigned d = stored.dim - 2;
      low.push_back(isSpatial ? conv.getPads()[d] : forms.integer(0));
      high.push_back(isSpatial ? conv.getPads()[shape.spatial + d]
                               : forms.integer(0));
    }
    return forms.pad(loc, x.value, low, high);
  }

  /// Weights [O, C, k...] with the given dims in blocks of these sizes. Lanes
  /// come last, those of C before those of O.
  LayoutAttr weights(ArrayRef<std::pair<unsigned, int64_t>> blocked,
                     bool leavesOutChannels = false) {
    SmallVector<StoredDim> order;
    SmallVector<DimSplit> splits;
    for (unsigned d = 0; d < 2 + shape.spatial; ++d)
      if (!leavesOutChannels || d != 1)
        order.push_back({d, Part::Whole});
    for (auto [d, size] : blocked) {
      for (StoredDim &stored : order)
        if (stored.dim == d)
          stored.part = Part::Block;
      splits.push_back({d, size, block, 1});
    }
    for (auto [d, size] : llvm::reverse(blocked))
      order.push_back({d, Part::Lane});
    if (leavesOutChannels)
      splits.push_back({1, 1});
    return LayoutAttr::get(forms.getContext(), order, splits);
  }

  /// The convolution of `x`, which has no halo yet, with plain weights.
  StoredForm convolve(StoredForm x, Value w, LayoutAttr weights,
                      int64_t groups) {
    x.value = halo(x);
    return convolvePadded(x, w, weights, groups);
  }

  StoredForm convolvePadded(const StoredForm &x, Value w, LayoutAttr weights,
                            int64_t groups) {
    SmallVector<IntExpr> noPads(2 * shape.spatial, forms.integer(0));
    SmallVector<IntExpr> y = sizesOf(conv.getResult());
    y[1] = sizesOf(w)[0];
    LayoutAttr result = forms.layoutOf(y, 1);
    NamedAttrList attributes(conv->getAttrDictionary());
    attributes.set(conv.getPadsAttrName(), forms.dims(noPads));
    attributes.set(conv.getGroupsAttrName(), forms.integer(groups));
    Value filter = forms.rearrange(loc, w, weights);
    if (!x.value || !filter)
      return {};
    Value value =
        forms.layOut(loc, ConvOp::getOperationName(), {x.value, filter},
                     attributes.getDictionary(conv.getContext()),
                     {x.layout, weights, result});
    return {value, result, false};
  }

  StoredForm channelsLast() {
    StoredForm input = forms.lookup(conv.getX());
    // Few channels, as of an image, have no runs to gain.
    constexpr unsigned vectorBits = 128;
    unsigned bits =
        conv.getX().getType().getElementType().getIntOrFloatBitWidth();
    if (!input && shape.inputsPerGroup() * bits % vectorBits != 0 &&
        !shape.isDepthwise())
      return fewChannels(bits / 8);
    input = forms.get(loc, conv.getX(), 1, /*clean=*/false);
    if (!input)
      return {};
    return convolve(input, conv.getW(), forms.layoutOf(sizesOf(conv.getW()), 1),
                    shape.groups);
  }

  StoredForm fewChannels(int64_t elementBytes) {
    int64_t filled = forms.getLayout().filled(shape.inputs, elementBytes);
    if (shape.groups != 1 || filled == shape.inputs)
      return convolve(plainInput(), conv.getW(), plainLayout(), shape.groups);
    SmallVector<IntExpr> low(2 + shape.spatial, forms.integer(0)), high = low;
    high[1] = forms.integer(filled - shape.inputs);
    Value w = forms.pad(loc, conv.getW(), low, high);
    StoredForm input =
        forms.get(loc, forms.padOnce(loc, conv.getX(), low, high), 1,
                  /*clean=*/false);
    return convolve(input, w, forms.layoutOf(sizesOf(w), 1), 1);
  }

  LayoutAttr plainLayout() {
    return LayoutAttr::getPlain(forms.getContext(), 2 + shape.spatial);
  }
  StoredForm plainInput() { return {conv.getX(), plainLayout()}; }

  StoredForm fromPlain() {
    return convolve(plainInput(), conv.getW(), weights({{0, shape.outputs}}),
                    1);
  }

  StoredForm depthwise() {
    // Vectors of pixels are as good, so packing into blocks pays only if rows
    // are too short for them.
    constexpr int64_t shortestRow = 4;
    IntExpr row = sizesOf(conv.getX()).back();
    bool isShort = row.isConstant() && row.getConstant() < shortestRow;
    if (!forms.lookup(conv.getX()) && !isShort)
      return {};
    StoredForm input = forms.get(loc, conv.getX(), 1, /*clean=*/false);
    if (!input)
      return {};
    StoredForm y =
        convolve(input, conv.getW(),
                 weights({{0, shape.outputs}}, /*leavesOutChannels=*/true),
                 shape.groups);
    y.isDirty = input.isDirty;
    return y;
  }

  Value slice(Value x, unsigned axis, int64_t start, int64_t size) {
    SmallVector<IntExpr> sizes = sizesOf(x);
    SmallVector<IntExpr> starts(sizes.size(), forms.integer(0)),
        steps(sizes.size(), forms.integer(1));
    starts[axis] = forms.integer(start);
    sizes[axis] = forms.integer(size);
    return forms.create<SliceOp>(loc, x, forms.dims(starts), forms.dims(sizes),
                                 forms.dims(steps));
  }

  /// One convolution per group on the group's blocks.
  StoredForm grouped() {
    if (!forms.getLayout().suits(shape.channels()))
      return {};
    StoredForm input =
        forms.get(loc, conv.getX(), shape.groups, /*clean=*/true);
    if (!input)
      return {};
    Value x = halo(input);
    int64_t blocks = llvm::divideCeil(shape.inputsPerGroup(), block);
    SmallVector<IntExpr> part = sizesOf(conv.getX());
    part[1] = forms.integer(shape.inputsPerGroup());
    LayoutAttr layout = forms.layoutOf(part, 1);
    SmallVector<Value> parts;
    for (int64_t g = 0; g < shape.groups; ++g) {
      Value w = slice(conv.getW(), 0, g * shape.outputsPerGroup(),
                      shape.outputsPerGroup());
      parts.push_back(convolvePadded({slice(x, 1, g * blocks, blocks), layout},
                                     w,
                                     weights({{0, shape.outputsPerGroup()},
                                              {1, shape.inputsPerGroup()}}),
                                     1)
                          .value);
      if (!parts.back())
        return {};
    }
    Value y = forms.create<ConcatOp>(loc, parts, 1);
    return {y, forms.layoutOf(sizesOf(conv.getResult()), shape.groups), false};
  }

  StoredForms &forms;
  ConvOp conv;
  Location loc;
  int64_t block;
  Shape shape{};
};

} // namespace

StoredForm mlc::layOutConvolution(StoredForms &forms, ConvOp conv) {
  return ConvolutionLayouter(forms, conv).run();
}
