//===- Windows.cpp - Convolutions and pools as ONNX nodes -----------------===//

#include "dialects/Graph/ConvolutionOps.h"
#include "dialects/Graph/ModelOps.h"
#include "dialects/Graph/MovementOps.h"
#include "dialects/Graph/PointwiseOps.h"
#include "dialects/Graph/PoolingOps.h"
#include "passes/Export/Exporter.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc {

namespace {
struct WindowOf {
  SmallVector<int64_t> kernel, strides, dilations;
  ArrayRef<IntExpr> pads;
};
} // namespace

/// Strides and the like must be constants in ONNX.
static bool readConstants(Exporter &e, Operation *op, WindowOf &window) {
  auto read = [&](StringRef name, SmallVector<int64_t> &into) {
    auto list = op->getAttrOfType<DimsAttr>(name);
    std::optional<SmallVector<int64_t>> constants;
    if (list)
      constants = list.asConstants();
    if (constants)
      into = *constants;
    else
      e.fail(op, name + " must be constant");
    return constants.has_value();
  };
  window.pads = op->getAttrOfType<DimsAttr>("pads").getDims();
  return read("strides", window.strides) && read("dilations", window.dilations);
}

static std::optional<SmallVector<int64_t>> constantPads(const WindowOf &w) {
  SmallVector<int64_t> pads;
  for (IntExpr pad : w.pads) {
    if (!pad.isConstant())
      return std::nullopt;
    pads.push_back(pad.getConstant());
  }
  return pads;
}

/// "SAME_UPPER" or "SAME_LOWER" if these compute the same pads.
static StringRef matchAutoPad(ArrayRef<IntExpr> sizes, const WindowOf &w) {
  size_t rank = w.kernel.size();
  for (StringRef mode : {"SAME_UPPER", "SAME_LOWER"}) {
    bool matches = true;
    for (size_t d = 0; d < rank; ++d) {
      int64_t span = (w.kernel[d] - 1) * w.dilations[d] + 1;
      IntExpr covered =
          (sizes[d].ceilDiv(w.strides[d]) - 1) * w.strides[d] + span;
      IntExpr total = IntExpr::max(covered - sizes[d], sizes[d] * 0);
      IntExpr half = total.floorDiv(2), rest = total - half;
      bool upper = mode == "SAME_UPPER";
      matches &= w.pads[d] == (upper ? half : rest) &&
                 w.pads[rank + d] == (upper ? rest : half);
    }
    if (matches)
      return mode;
  }
  return "";
}

/// Sets pads, as numbers or by name; otherwise pads the input by a separate
/// node, with `value` around.
static std::string padded(Exporter &e, Operation *op, const WindowOf &w,
                          std::optional<double> value, StringRef &autoPad) {
  Value x = op->getOperand(0);
  std::string name = e.nameOf(x);
  autoPad = "";
  if (constantPads(w))
    return name;
  Dims dims = dimsOf(x);
  autoPad = matchAutoPad(ArrayRef<IntExpr>(dims).drop_front(2), w);
  if (!autoPad.empty())
    return name;
  if (!value) {
    e.fail(op, "its padding depends on open dims");
    return name;
  }
  size_t rank = w.kernel.size();
  IntExpr zero = dims[0] * 0;
  Dims low = {zero, zero}, high = {zero, zero};
  llvm::append_range(low, w.pads.take_front(rank));
  llvm::append_range(high, w.pads.drop_front(rank));
  llvm::append_range(low, high);
  Type type = cast<RankedTensorType>(x.getType()).getElementType();
  return e.node(op, "Pad", {name, e.vector(low), e.number(type, *value)})
      .output();
}

static void setWindow(OnnxNode &made, const WindowOf &w, StringRef autoPad) {
  made.set("kernel_shape", w.kernel)
      .set("strides", w.strides)
      .set("dilations", w.dilations);
  std::optional<SmallVector<int64_t>> pads = constantPads(w);
  if (!autoPad.empty())
    made.set("auto_pad", autoPad);
  else if (pads)
    made.set("pads", *pads);
}

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

static bool isConvolution(Operation *op) {
  return isa_and_nonnull<ConvOp, ConvTransposeOp>(op);
}

Operation *biasedConvolution(Operation *add, Value &bias) {
  for (unsigned i = 0; i < 2; ++i) {
    Value result = add->getOperand(i);
    Operation *convolution = result.getDefiningOp();
    auto broadcast = add->getOperand(1 - i).getDefiningOp<BroadcastOp>();
    if (!isConvolution(convolution) || !result.hasOneUse() || !broadcast)
      continue;
    Dims from = dimsOf(broadcast.getX()), to = dimsOf(result);
    bool perChannel = from[1] == to[1];
    for (size_t d = 0; d < from.size(); ++d)
      perChannel &= d == 1 || from[d].isConstant(1);
    if (!perChannel)
      continue;
    bias = broadcast.getX();
    return convolution;
  }
  return nullptr;
}

bool waitsForBias(Exporter &e, Operation *convolution) {
  if (!convolution->hasOneUse())
    return false;
  auto add = dyn_cast<AddOp>(*convolution->getUsers().begin());
  Value bias;
  return add && e.isEmitted(add) && biasedConvolution(add, bias) == convolution;
}

/// The bias [1, C, 1, ...] as a vector.
static std::string biasVector(Exporter &e, Operation *op, Value bias) {
  IntExpr channels = dimsOf(bias)[1];
  if (auto reshape = bias.getDefiningOp<ReshapeOp>())
    if (dimsOf(reshape.getX()) == Dims{channels})
      return e.nameOf(reshape.getX());
  if (bias.getDefiningOp<ConstantOp>())
    return e.nameOf(Exporter::Unbroadcast{bias, {channels}});
  return e.node(op, "Reshape", {e.nameOf(bias), e.integers({-1})}).output();
}

void emitConvolution(Exporter &e, Operation *op, Value bias, Operation *as) {
  WindowOf window;
  Dims weight = dimsOf(op->getOperand(1));
  auto groups = op->getAttrOfType<IntExpr>("groups");
  if (!groups || !groups.isConstant())
    return e.fail(op, "groups must be constant");
  for (IntExpr dim : ArrayRef<IntExpr>(weight).drop_front(2)) {
    if (!dim.isConstant())
      return e.fail(op, "the kernel's size must be constant");
    window.kernel.push_back(dim.getConstant());
  }
  if (!readConstants(e, op, window))
    return;
  bool transposed = isa<ConvTransposeOp>(op);
  StringRef autoPad;
  std::string x = padded(
      e, op, window, transposed ? std::nullopt : std::optional(0.0), autoPad);
  SmallVector<std::string> inputs = {x, e.nameOf(op->getOperand(1))};
  if (bias)
    inputs.push_back(biasVector(e, op, bias));
  OnnxNode made = e.result(as, transposed ? "ConvTranspose" : "Conv", inputs);
  setWindow(made, window, autoPad);
  made.set("group", groups.getConstant());
  if (transposed) {
    auto padding = op->getAttrOfType<DimsAttr>("output_padding").asConstants();
    if (!padding)
      return e.fail(op, "output_padding must be constant");
    made.set("output_padding", *padding);
  }
}

static void emitConv(Exporter &e, Operation *op) {
  if (!waitsForBias(e, op))
    emitConvolution(e, op, Value(), op);
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

static void emitPool(Exporter &e, Operation *op) {
  WindowOf window;
  auto kernel = op->getAttrOfType<DimsAttr>("kernel").asConstants();
  if (!kernel)
    return e.fail(op, "the kernel's size must be constant");
  window.kernel = *kernel;
  if (!readConstants(e, op, window))
    return;
  Value x = op->getOperand(0);
  if (size_t(cast<RankedTensorType>(x.getType()).getRank()) !=
      window.kernel.size() + 2)
    return e.fail(op, "ONNX pools have no dims after the spatial ones");
  auto average = dyn_cast<AvgPoolOp>(op);
  StringRef autoPad;
  std::string name =
      padded(e, op, window,
             average ? (average.getCountIncludePad() ? std::optional(0.0)
                                                     : std::nullopt)
                     : std::optional(-std::numeric_limits<double>::infinity()),
             autoPad);
  bool dilated =
      llvm::any_of(window.dilations, [](int64_t d) { return d != 1; });
  if (average && dilated)
    return e.fail(op, "ONNX's AveragePool of opset 17 has no dilations");
  OnnxNode made = e.result(op, average ? "AveragePool" : "MaxPool", {name});
  bool ceil = false;
  for (IntExpr ceilPads : op->getAttrOfType<DimsAttr>("ceil_pads"))
    ceil |= !ceilPads.isConstant(0);
  made.set("kernel_shape", window.kernel).set("strides", window.strides);
  if (!average)
    made.set("dilations", window.dilations);
  if (!autoPad.empty())
    made.set("auto_pad", autoPad);
  else if (std::optional<SmallVector<int64_t>> pads = constantPads(window))
    made.set("pads", *pads);
  if (ceil)
    made.set("ceil_mode", int64_t(1));
  if (average)
    made.set("count_include_pad", int64_t(average.getCountIncludePad()));
}

ArrayRef<EmitterEntry> windowEmitters() {
  static const EmitterEntry entries[] = {
      {"avg_pool", emitPool},
      {"conv", emitConv},
      {"conv_transpose", emitConv},
      {"max_pool", emitPool},
  };
  return entries;
}

} // namespace mlc
