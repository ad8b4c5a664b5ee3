//===- StoredGradients.cpp - Gradients of convolutions on stored tensors --===//
//
// The gradient of a convolution's input is a transposed convolution. With
// stride 1 that is a convolution with reversed taps and swapped channels of the
// weights. The gradient of its weights is a convolution of transposes, with
// channels as images and images as channels. On tensors in blocks of channels
// it is a product of the lanes of both, summed over images and pixels.
//
//===----------------------------------------------------------------------===//

#include "passes/Layout/StoredForms.h"
#include <numeric>

using namespace mlir;
using namespace mlc;
using llvm::ArrayRef;
using llvm::SmallVector;

using Part = StoredDim::Part;

//===----------------------------------------------------------------------===//
// Gradient of the input
//===----------------------------------------------------------------------===//

/// The pads of the convolution that a transposed one of stride 1 equals;
/// nothing if there is none.
static std::optional<SmallVector<IntExpr>> padsOf(ConvTransposeOp op) {
  SmallVector<IntExpr> w = sizesOf(op.getW());
  unsigned spatial = w.size() - 2;
  SmallVector<IntExpr> pads(2 * spatial);
  if (!op.getGroups().isConstant(1))
    return std::nullopt;
  for (unsigned d = 0; d < spatial; ++d) {
    if (!op.getStrides()[d].isConstant(1) ||
        !op.getOutputPadding()[d].isConstant(0))
      return std::nullopt;
    IntExpr reach = (w[2 + d] - 1) * op.getDilations()[d];
    for (unsigned side : {d, spatial + d}) {
      pads[side] = reach - op.getPads()[side];
      if (!pads[side].isConstant() || pads[side].getConstant() < 0)
        return std::nullopt;
    }
  }
  return pads;
}

/// 1, 0, 2, 3, ...
static SmallVector<int64_t> exchanged(unsigned rank) {
  SmallVector<int64_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[0], order[1]);
  return order;
}

StoredForm mlc::layOutTransposedConvolution(StoredForms &forms,
                                            ConvTransposeOp op) {
  if (forms.getBlock() == 0 || !op.getX().getType().getElementType().isF32())
    return {};
  std::optional<SmallVector<IntExpr>> pads = padsOf(op);
  if (!pads)
    return {};
  Location loc = op.getLoc();
  Value w = op.getW();
  SmallVector<IntExpr> dims = sizesOf(w);
  SmallVector<int64_t> taps;
  for (unsigned d = 2; d < dims.size(); ++d)
    if (!dims[d].isConstant(1))
      taps.push_back(d);
  if (!taps.empty())
    w = forms.create<ReverseOp>(loc, w, taps);
  if (w)
    w = forms.create<TransposeOp>(loc, w, exchanged(dims.size()));
  if (!w)
    return {};
  Value value = forms.create<ConvOp>(loc, op.getX(), w, op.getStrides(),
                                     forms.dims(*pads), op.getDilations(),
                                     op.getGroups());
  if (!value || value.getType() != op.getResult().getType())
    return {};
  // The plain one is erased, because it has no users.
  return layOutConvolution(forms, value.getDefiningOp<ConvOp>());
}

//===----------------------------------------------------------------------===//
// Gradient of the weights
//===----------------------------------------------------------------------===//

/// The tensor that `value` transposes by swapping the first two dims; null if
/// it is not such a transpose.
static Value transposedOf(Value value) {
  auto transpose = value.getDefiningOp<TransposeOp>();
  unsigned rank = cast<RankedTensorType>(value.getType()).getRank();
  bool isExchange = transpose && rank >= 2 &&
                    transpose.getPermutation() == ArrayRef(exchanged(rank));
  return isExchange ? transpose.getX() : Value();
}

/// The layout of the transpose of a tensor in `layout`.
static LayoutAttr exchange(LayoutAttr layout) {
  auto other = [](unsigned d) { return d < 2 ? 1 - d : d; };
  SmallVector<StoredDim> order(layout.getOrder());
  SmallVector<DimSplit> splits(layout.getSplits());
  for (StoredDim &stored : order)
    stored.dim = other(stored.dim);
  for (DimSplit &split : splits)
    split.dim = other(split.dim);
  return LayoutAttr::get(layout.getContext(), order, splits);
}

namespace {

class WeightGradient {
public:
  WeightGradient(StoredForms &forms, ConvOp conv)
      : forms(forms), conv(conv), loc(conv.getLoc()) {}

  bool run() {
    x = transposedOf(conv.getX());
    y = transposedOf(conv.getW());
    if (forms.getBlock() == 0 || !x || !y || !isKnown())
      return false;
    StoredForm cotangent = forms.get(loc, y, 1, /*clean=*/false);
    StoredForm image = imageForm();
    if (!cotangent || !image || cotangent.groups() != 1 || image.groups() != 1)
      return false;
    LayoutAttr result = layoutOf(image.layout, cotangent.layout);
    Value value = convolve(image, cotangent, result);
    return value && replace(value, result);
  }

private:
  /// The image may have few channels, but those of the result are lanes.
  bool isKnown() {
    SmallVector<IntExpr> image = sizesOf(x), result = sizesOf(y);
    return image.size() > 2 && image[1].isConstant() &&
           result[1].isConstant() && image[1].getConstant() > 0 &&
           result[1].getConstant() >= forms.getBlock() / 2 &&
           conv.getGroups().isConstant(1) &&
           conv.getX().getType().getElementType().isF32();
  }

  StoredForm imageForm() {
    SmallVector<IntExpr> dims = sizesOf(x);
    if (forms.lookup(x) || dims[1].getConstant() >= forms.getBlock() / 2)
      return forms.get(loc, x, 1, /*clean=*/false);
    return {x, LayoutAttr::getPlain(forms.getContext(), dims.size())};
  }

  /// The layout of the gradient [C, O, k...], in blocks of both, like weights.
  LayoutAttr layoutOf(LayoutAttr image, LayoutAttr cotangent) const {
    const DimSplit *inputs = image.getSplit(1),
                   *outputs = cotangent.getSplit(1);
    SmallVector<StoredDim> order{{1, Part::Block},
                                 {0, inputs ? Part::Block : Part::Whole}};
    for (unsigned d = 2; d < image.getRank(); ++d)
      order.push_back({d, Part::Whole});
    SmallVector<DimSplit> splits;
    if (inputs) {
      order.push_back({0, Part::Lane});
      splits.push_back({0, inputs->size, inputs->block, 1});
    }
    order.push_back({1, Part::Lane});
    splits.push_back({1, outputs->size, outputs->block, 1});
    return LayoutAttr::get(forms.getContext(), order, splits);
  }

  Value convolve(const StoredForm &image, const StoredForm &cotangent,
                 LayoutAttr result) {
    SmallVector<IntExpr> low, high;
    unsigned spatial = image.layout.getRank() - 2;
    for (const StoredDim &stored : image.layout.getOrder()) {
      bool isSpatial = stored.dim >= 2;
      unsigned d = stored.dim - 2;
      low.push_back(isSpatial ? conv.getPads()[d] : forms.integer(0));
      high.push_back(isSpatial ? conv.getPads()[spatial + d]
                               : forms.integer(0));
    }
    Value padded = forms.padOnce(loc, image.value, low, high);
    if (!padded)
      return {};
    NamedAttrList attributes(conv->getAttrDictionary());
    attributes.set(conv.getPadsAttrName(), forms.dims(SmallVector<IntExpr>(
                                               2 * spatial, forms.integer(0))));
    return forms.layOut(
        loc, ConvOp::getOperationName(), {padded, cotangent.value},
        attributes.getDictionary(conv.getContext()),
        {exchange(image.layout), exchange(cotangent.layout), result});
  }

  /// Readers of the gradient get it unpacked from the stored one; readers of
  /// its transpose get that directly, without a second movement.
  bool replace(Value value, LayoutAttr result) {
    for (Operation *user : llvm::make_early_inc_range(conv->getUsers())) {
      if (!isa<TransposeOp>(user) ||
          transposedOf(user->getResult(0)) != conv.getResult())
        continue;
      Value plain = forms.create<UnpackOp>(loc, value, exchange(result));
      if (!plain)
        return false;
      user->getResult(0).replaceAllUsesWith(plain);
    }
    Value plain = forms.create<UnpackOp>(loc, value, result);
    if (plain)
      conv.getResult().replaceAllUsesWith(plain);
    return plain != nullptr;
  }

  StoredForms &forms;
  ConvOp conv;
  Location loc;
  /// The convolution's input, and the cotangent of its result.
  Value x, y;
};

} // namespace

bool mlc::layOutWeightGradient(StoredForms &forms, ConvOp conv) {
  return WeightGradient(forms, conv).run();
}
