//===- Movement.cpp - ONNX forms of data movement and leaves --------------===//

#include "dialects/Graph/ContractionOps.h"
#include "dialects/Graph/ModelOps.h"
#include "dialects/Graph/MovementOps.h"
#include "passes/Export/Exporter.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc {

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

/// A constant target, with 0 for unchanged dims and one -1, tells other tools
/// more static shapes than computed sizes do.
static std::string reshapeTarget(Exporter &e, ArrayRef<IntExpr> from,
                                 ArrayRef<IntExpr> to, bool &allowZero) {
  SmallVector<int64_t> target;
  bool open = false;
  allowZero = false;
  for (IntExpr dim : to)
    allowZero |= dim.isConstant(0);
  for (auto [i, dim] : llvm::enumerate(to)) {
    bool stays = !allowZero && i < from.size() && from[i] == dim;
    if (dim.isConstant())
      target.push_back(dim.getConstant());
    else if (stays)
      target.push_back(0);
    else if (!open && !allowZero)
      target.push_back(-1), open = true;
    else
      return e.vector(to);
  }
  return e.integers(target);
}

/// One ONNX operator for three: channels become pixels.
struct DepthToSpace {
  Value x;
  int64_t block;
  StringRef mode;
};

/// The reshape, transpose and reshape that end in `op`, if they form a
/// DepthToSpace without other readers between. One node instead of three, and
/// no sizes computed at run time.
static std::optional<DepthToSpace> depthToSpaceEndingIn(Operation *op) {
  auto last = dyn_cast<ReshapeOp>(op);
  auto transpose =
      last ? last.getX().getDefiningOp<TransposeOp>() : TransposeOp();
  auto first =
      transpose ? transpose.getX().getDefiningOp<ReshapeOp>() : ReshapeOp();
  if (!first || !transpose->hasOneUse() || !first->hasOneUse())
    return std::nullopt;
  Dims from = dimsOf(first.getX()), to = dimsOf(last);
  ArrayRef<IntExpr> six = first.getDims().getDims();
  if (from.size() != 4 || to.size() != 4 || six.size() != 6)
    return std::nullopt;
  bool channelsFirst =
      transpose.getPermutation() == ArrayRef<int64_t>({0, 1, 4, 2, 5, 3});
  if (!channelsFirst &&
      transpose.getPermutation() != ArrayRef<int64_t>({0, 3, 4, 1, 5, 2}))
    return std::nullopt;
  IntExpr block = six[2], channels = six[channelsFirst ? 1 : 3];
  if (!block.isConstant() || six[channelsFirst ? 3 : 1] != block ||
      six[0] != from[0] || six[4] != from[2] || six[5] != from[3] ||
      to[0] != from[0] || to[1] != channels || to[2] != from[2] * block ||
      to[3] != from[3] * block)
    return std::nullopt;
  return DepthToSpace{first.getX(), block.getConstant(),
                      channelsFirst ? "CRD" : "DCR"};
}

/// Whether `op` is inside a DepthToSpace and is emitted with its end.
static bool waitsForDepthToSpace(Exporter &e, Operation *op) {
  for (int steps = 0; steps < 2 && op->hasOneUse(); ++steps) {
    op = *op->user_begin();
    if (e.isEmitted(op) && depthToSpaceEndingIn(op))
      return true;
  }
  return false;
}

namespace {
/// A product of constant weights [o, c] with the pixels of x [n, c, ...].
struct PixelProduct {
  Value x;
  Exporter::Unbroadcast weights;
};
} // namespace

/// The reshape, product and reshape that end in `op`, if they form a 1x1
/// convolution without other readers between. mlc's preference says nothing
/// about other runtimes, which know convolutions.
static std::optional<PixelProduct> pixelProductEndingIn(Exporter &e,
                                                        Operation *op) {
  auto last = dyn_cast<ReshapeOp>(op);
  auto product = last ? last.getX().getDefiningOp<MatMulOp>() : MatMulOp();
  auto flat =
      product ? product.getRhs().getDefiningOp<ReshapeOp>() : ReshapeOp();
  if (!flat || !product->hasOneUse() || !flat->hasOneUse())
    return std::nullopt;
  Dims from = dimsOf(flat.getX()), to = dimsOf(last), middle = dimsOf(flat);
  if (from.size() < 3 || to.size() != from.size() || middle.size() != 3 ||
      middle[0] != from[0] || middle[1] != from[1] || to[0] != from[0] ||
      ArrayRef<IntExpr>(to).drop_front(2) !=
          ArrayRef<IntExpr>(from).drop_front(2))
    return std::nullopt;
  Exporter::Unbroadcast weights = e.unbroadcast(product.getLhs());
  Dims dims = dimsOf(weights.value);
  if (!weights.value.getDefiningOp<ConstantOp>() || dims.size() < 2 ||
      llvm::any_of(ArrayRef<IntExpr>(dims).drop_back(2),
                   [](IntExpr dim) { return !dim.isConstant(1); }) ||
      dims[dims.size() - 2] != to[1] || dims.back() != from[1])
    return std::nullopt;
  weights.dims = {to[1], from[1]};
  weights.dims.append(from.size() - 2, IntExpr::constant(op->getContext(), 1));
  return PixelProduct{flat.getX(), weights};
}

bool waitsForPixelProduct(Exporter &e, Operation *op) {
  for (int steps = 0; steps < 2 && op->hasOneUse(); ++steps) {
    op = *op->user_begin();
    if (e.isEmitted(op) && pixelProductEndingIn(e, op))
      return true;
  }
  return false;
}

static void emitReshape(Exporter &e, Operation *op) {
  auto reshape = cast<ReshapeOp>(op);
  if (auto product = pixelProductEndingIn(e, op)) {
    SmallVector<int64_t> ones(product->weights.dims.size() - 2, 1);
    e.result(op, "Conv", {e.nameOf(product->x), e.nameOf(product->weights)})
        .set("kernel_shape", ones);
    return;
  }
  if (auto shuffle = depthToSpaceEndingIn(op)) {
    e.result(op, "DepthToSpace", {e.nameOf(shuffle->x)})
        .set("blocksize", shuffle->block)
        .set("mode", shuffle->mode);
    return;
  }
  if (waitsForDepthToSpace(e, op) || waitsForPixelProduct(e, op))
    return;
  Dims from = dimsOf(reshape.getX());
  ArrayRef<IntExpr> to = reshape.getDims().getDims();
  std::string x = e.nameOf(reshape.getX());
  // Dims that are equal by a run-time check need nothing.
  bool same = from.size() == to.size();
  for (size_t i = 0; same && i < from.size(); ++i)
    same = e.isChecked(from[i], to[i]);
  if (same) {
    e.result(op, "Identity", {x});
    return;
  }
  bool allowZero;
  std::string target = reshapeTarget(e, from, to, allowZero);
  OnnxNode made = e.result(op, "Reshape", {x, target});
  if (allowZero)
    made.set("allowzero", int64_t(1));
}

static void emitTranspose(Exporter &e, Operation *op) {
  auto transpose = cast<TransposeOp>(op);
  if (waitsForDepthToSpace(e, op))
    return;
  e.result(op, "Transpose", {e.nameOf(transpose.getX())})
      .set("perm", transpose.getPermutation());
}

/// ONNX's end of a strided box. Going backwards, an end before the first
/// element is written as a position counted from the end.
static IntExpr endOf(IntExpr start, IntExpr size, IntExpr step, IntExpr dim) {
  IntExpr end = start + size * step;
  bool backwards = step.isConstant() && step.getConstant() < 0;
  return backwards ? end - dim : IntExpr::min(end, dim);
}

static void emitSlice(Exporter &e, Operation *op) {
  auto slice = cast<SliceOp>(op);
  Dims from = dimsOf(slice.getX()), starts, ends, steps;
  SmallVector<int64_t> axes;
  bool unit = true;
  for (size_t d = 0; d < from.size(); ++d) {
    IntExpr start = slice.getStarts()[d], size = slice.getSizes()[d];
    IntExpr step = slice.getSteps()[d];
    if (start.isConstant(0) && step.isConstant(1) && size == from[d])
      continue;
    axes.push_back(d);
    starts.push_back(start);
    ends.push_back(step.isConstant(1) ? start + size
                                      : endOf(start, size, step, from[d]));
    steps.push_back(step);
    unit &= step.isConstant(1);
  }
  std::string x = e.nameOf(slice.getX());
  if (axes.empty()) {
    e.result(op, "Identity", {x});
    return;
  }
  e.result(op, "Slice",
           {x, e.vector(starts), e.vector(ends), e.integers(axes),
            unit ? std::string() : e.vector(steps)});
}

static void emitReverse(Exporter &e, Operation *op) {
  auto reverse = cast<ReverseOp>(op);
  size_t count = reverse.getAxes().size();
  SmallVector<int64_t> minusOne(count, -1),
      farBack(count, std::numeric_limits<int64_t>::min() + 1);
  e.result(op, "Slice",
           {e.nameOf(reverse.getX()), e.integers(minusOne), e.integers(farBack),
            e.integers(reverse.getAxes()), e.integers(minusOne)});
}

static void emitConcat(Exporter &e, Operation *op) {
  SmallVector<std::string> operands;
  for (Value operand : op->getOperands())
    operands.push_back(e.nameOf(operand));
  e.result(op, "Concat", operands)
      .set("axis", int64_t(cast<ConcatOp>(op).getAxis()));
}

static void emitPad(Exporter &e, Operation *op) {
  auto pad = cast<PadOp>(op);
  Dims pads(pad.getLow().getDims());
  llvm::append_range(pads, pad.getHigh().getDims());
  Type type = pad.getX().getType().getElementType();
  bool isConstant = pad.getMode() == PadMode::Constant;
  e.result(op, "Pad",
           {e.nameOf(pad.getX()), e.vector(pads),
            isConstant ? e.number(type, pad.getValue().getDouble())
                       : std::string()})
      .set("mode", stringifyPadMode(pad.getMode()));
}

static void emitGather(Exporter &e, Operation *op) {
  auto gather = cast<GatherOp>(op);
  e.result(op, "Gather",
           {e.nameOf(gather.getX()), e.nameOf(gather.getIndices())})
      .set("axis", int64_t(gather.getAxis()));
}

static void emitResize(Exporter &e, Operation *op) {
  auto resize = cast<ResizeOp>(op);
  std::string scales, sizes;
  if (resize.getScales().empty()) {
    sizes = e.vector(resize.getDims().getDims());
  } else {
    SmallVector<float> values;
    for (Attribute scale : resize.getScales())
      values.push_back(float(cast<RealAttr>(scale).getDouble()));
    auto type = RankedTensorType::get({int64_t(values.size())},
                                      Float32Type::get(op->getContext()));
    scales =
        e.initializer(DenseElementsAttr::get(type, ArrayRef(values)), "scales");
  }
  e.result(op, "Resize", {e.nameOf(resize.getX()), "", scales, sizes})
      .set("coordinate_transformation_mode",
           stringifyResizeTransform(resize.getTransform()))
      .set("mode", stringifyResizeMode(resize.getMode()))
      .set("nearest_mode", stringifyNearestMode(resize.getNearestMode()));
}

//===----------------------------------------------------------------------===//
// Leaves
//===----------------------------------------------------------------------===//

/// `vector` (1-D) along `axis` of a tensor of `dims`.
static void emitAlong(Exporter &e, Operation *op, std::string vector,
                      ArrayRef<IntExpr> dims, int64_t axis) {
  SmallVector<int64_t> shape(dims.size(), 1);
  shape[axis] = -1;
  if (dims.size() > 1)
    vector = e.node(op, "Reshape", {vector, e.integers(shape)}).output();
  bool expands = false;
  for (auto [i, dim] : llvm::enumerate(dims))
    expands |= int64_t(i) != axis && !dim.isConstant(1);
  if (expands)
    e.result(op, "Expand", {vector, e.vector(dims)});
  else
    e.result(op, "Identity", {vector});
}

static void emitIota(Exporter &e, Operation *op) {
  auto iota = cast<IotaOp>(op);
  int64_t axis = iota.getAxis();
  IntExpr count = iota.getDims()[axis];
  IntExpr limit = iota.getStart() + iota.getStep() * count;
  auto scalar = [&](IntExpr value) {
    return e.node(op, "Squeeze", {e.integer(value), e.integers({0})}).output();
  };
  std::string range =
      e.node(op, "Range",
             {scalar(iota.getStart()), scalar(limit), scalar(iota.getStep())})
          .output();
  emitAlong(e, op, range, iota.getDims().getDims(), axis);
}

static void emitIntTensor(Exporter &e, Operation *op) {
  auto tensor = cast<IntTensorOp>(op);
  std::string values = e.vector(tensor.getValues().getDims());
  if (tensor.getDims().empty())
    e.result(op, "Squeeze", {values, e.integers({0})});
  else
    e.result(op, "Identity", {values});
}

static void emitFill(Exporter &e, Operation *op) {
  auto fill = cast<FillOp>(op);
  Type type = fill.getType();
  std::string value = e.number(type, fill.getValue().getDouble());
  e.result(op, "Expand", {value, e.vector(fill.getDims().getDims())});
}

ArrayRef<EmitterEntry> movementEmitters() {
  static const EmitterEntry entries[] = {
      {"broadcast", nullptr},       {"concat", emitConcat},
      {"constant", nullptr},        {"fill", emitFill},
      {"gather", emitGather},       {"int_tensor", emitIntTensor},
      {"iota", emitIota},           {"pad", emitPad},
      {"reshape", emitReshape},     {"resize", emitResize},
      {"reverse", emitReverse},     {"slice", emitSlice},
      {"transpose", emitTranspose},
  };
  return entries;
}

} // namespace mlc
