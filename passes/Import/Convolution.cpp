//===- Convolution.cpp - ONNX's convolutions ------------------------------===//

#include "dialects/Graph/ConvolutionOps.h"
#include "dialects/Graph/PointwiseOps.h"
#include "passes/Import/Handlers.h"
#include "passes/Import/Windows.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::Twine;

namespace mlc {

/// The limit of kernels, strides, dilations and pads; far beyond any model, and
/// far from overflow.
constexpr int64_t maxWindow = int64_t(1) << 24;

std::optional<WindowAttributes>
readWindow(Node &n, std::optional<SmallVector<int64_t>> kernel) {
  int64_t rank = n.rank(0) - 2;
  if (rank < 1) {
    (void)n.invalid("requires an input of rank 3 or more, got rank " +
                    Twine(n.rank(0)));
    return std::nullopt;
  }
  WindowAttributes window;
  window.kernel = n.intsAttr("kernel_shape");
  if (kernel && window.kernel.empty())
    window.kernel = *kernel;
  if (kernel && window.kernel != *kernel) {
    (void)n.invalid("kernel_shape differs from the weight's shape");
    return std::nullopt;
  }
  SmallVector<int64_t> ones(rank, 1), zeros(2 * rank, 0);
  window.strides = n.intsAttr("strides", ones);
  window.dilations = n.intsAttr("dilations", ones);
  SmallVector<int64_t> pads = n.intsAttr("pads", zeros);
  struct List {
    llvm::StringRef name;
    ArrayRef<int64_t> values;
    size_t size;
    int64_t least;
  };
  for (const List &list : {List{"kernel_shape", window.kernel, size_t(rank), 1},
                           List{"strides", window.strides, size_t(rank), 1},
                           List{"dilations", window.dilations, size_t(rank), 1},
                           List{"pads", pads, size_t(2 * rank), 0}}) {
    if (list.values.size() != list.size) {
      (void)n.invalid(Twine(list.name) + " must have " + Twine(list.size) +
                      " values, got " + Twine(list.values.size()));
      return std::nullopt;
    }
    for (int64_t value : list.values)
      if (value < list.least || value > maxWindow) {
        (void)n.invalid(Twine(list.name) + " has the value " + Twine(value) +
                        ", which is out of range");
        return std::nullopt;
      }
  }
  for (int64_t pad : pads)
    window.pads.push_back(n.integer(pad));
  std::string autoPad = n.stringAttr("auto_pad", "NOTSET");
  if (autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER") {
    window.same = true;
    window.sameUpper = autoPad == "SAME_UPPER";
  } else if (autoPad == "VALID") {
    window.pads.assign(2 * rank, n.integer(0));
  } else if (autoPad != "NOTSET") {
    (void)n.invalid("does not know auto_pad '" + Twine(autoPad) + "'");
    return std::nullopt;
  }
  return n.failed() ? std::nullopt : std::optional(window);
}

void padSame(Node &n, WindowAttributes &window) {
  unsigned rank = window.rank();
  for (unsigned d = 0; d < rank; ++d) {
    IntExpr size = n.dims(0)[2 + d];
    IntExpr covered =
        (size.ceilDiv(window.strides[d]) - 1) * window.strides[d] +
        window.span(d);
    IntExpr total = IntExpr::max(covered - size, n.integer(0));
    IntExpr half = total.floorDiv(2), rest = total - half;
    window.pads[d] = window.sameUpper ? half : rest;
    window.pads[rank + d] = window.sameUpper ? rest : half;
  }
}

/// The kernel's spatial dims, which must be known.
static std::optional<SmallVector<int64_t>> kernelOf(Node &n) {
  SmallVector<int64_t> kernel;
  if (n.rank(1) < 3 || n.rank(1) != n.rank(0)) {
    (void)n.invalid("requires an input and a weight of one rank, 3 or more");
    return std::nullopt;
  }
  for (IntExpr dim : n.dims(1).drop_front(2)) {
    if (!dim.isConstant()) {
      (void)n.unsupported("the kernel's size must be known, got " + dim.str(),
                          {Remedy{Remedy::Kind::FixDim}});
      return std::nullopt;
    }
    kernel.push_back(dim.getConstant());
  }
  return kernel;
}

static std::optional<int64_t> groupsOf(Node &n) {
  int64_t groups = n.intAttr("group", 1);
  if (groups < 1 || groups > maxWindow) {
    (void)n.invalid("group must be 1 to " + Twine(maxWindow) + ", got " +
                    Twine(groups));
    return std::nullopt;
  }
  return groups;
}

/// result + bias[channel]
static Value addBias(Node &n, Value result, unsigned input) {
  if (!result || !n.has(input))
    return result;
  Dims dims = dimsOf(result);
  if (n.rank(input) != 1) {
    (void)n.invalid("the bias must have rank 1");
    return {};
  }
  Dims channel(dims.size(), n.integer(1));
  channel[1] = n.dims(input)[0];
  return n.op<AddOp>(
      {result, n.broadcast(n.reshape(n.value(input), channel), dims)});
}

static Value convolution(Node &n, const SmallVector<int64_t> &kernel) {
  std::optional<WindowAttributes> window = readWindow(n, kernel);
  std::optional<int64_t> groups = groupsOf(n);
  if (!window || !groups)
    return {};
  if (window->same)
    padSame(n, *window);
  Value result =
      n.op<ConvOp>({n.value(0), n.value(1)}, n.dimsAttr(window->strides),
                   n.dimsAttr(window->pads), n.dimsAttr(window->dilations),
                   n.integer(*groups));
  return addBias(n, result, 2);
}

static LogicalResult importConv(Node &n) {
  std::optional<SmallVector<int64_t>> kernel = kernelOf(n);
  return kernel ? n.result(convolution(n, *kernel)) : failure();
}

/// Applies the activation that ONNX Runtime's optimizer has fused into a
/// convolution.
static Value activated(Node &n, Value x) {
  std::string kind = n.stringAttr("activation", "");
  SmallVector<double> p = n.floatsAttr("activation_params");
  size_t count = llvm::StringSwitch<size_t>(kind)
                     .Case("LeakyRelu", 1)
                     .Cases({"Clip", "HardSigmoid"}, 2)
                     .Default(0);
  if (p.size() < count) {
    (void)n.invalid("activation " + Twine(kind) + " requires " + Twine(count) +
                    " activation_params");
    return {};
  }
  if (kind.empty())
    return x;
  if (kind == "Relu")
    return n.op<ReluOp>(x);
  if (kind == "Sigmoid")
    return n.op<SigmoidOp>(x);
  if (kind == "Tanh")
    return n.op<TanhOp>(x);
  if (kind == "LeakyRelu")
    return n.op<LeakyReluOp>(x, n.real(p[0]));
  if (kind == "Clip")
    return n.op<ClipOp>(x, n.real(p[0]), n.real(p[1]));
  if (kind == "HardSigmoid")
    return n.op<HardSigmoidOp>(x, n.real(p[0]), n.real(p[1]));
  (void)n.unsupported("activation " + Twine(kind) + " is not supported");
  return {};
}

/// activation(conv(X, W) + B + Z)
static LogicalResult importFusedConv(Node &n) {
  std::optional<SmallVector<int64_t>> kernel = kernelOf(n);
  Value result = kernel ? convolution(n, *kernel) : Value();
  if (result && n.has(3)) {
    if (n.rank(3) != n.rank(0) || n.type(3) != n.type(0))
      return n.invalid("requires something of the result's type to add");
    Dims dims = dimsOf(result);
    for (auto [d, pair] : llvm::enumerate(llvm::zip(n.dims(3), dims)))
      n.requireEqual(std::get<0>(pair), std::get<1>(pair),
                     "what is added differs from the result in dim " +
                         Twine(d));
    result = n.op<AddOp>({result, n.reshape(n.value(3), dims)});
  }
  return n.result(activated(n, result));
}

/// Pads of ConvTranspose if the output's size or auto_pad is given: pads remove
/// what is too large, and output padding adds what is missing.
static void padForOutput(Node &n, WindowAttributes &window,
                         SmallVector<int64_t> &outputPadding,
                         ArrayRef<int64_t> outputShape) {
  unsigned rank = window.rank();
  for (unsigned d = 0; d < rank; ++d) {
    IntExpr size = n.dims(0)[2 + d];
    IntExpr whole =
        (size - 1) * window.strides[d] + window.span(d) + outputPadding[d];
    IntExpr target = outputShape.empty() ? size * window.strides[d]
                                         : n.integer(outputShape[d]);
    IntExpr total = whole - target;
    if (total.isConstant() && total.getConstant() < 0) {
      outputPadding[d] -= total.getConstant();
      total = n.integer(0);
    }
    n.requireNonNegative(total, "the output is larger than strides and kernel "
                                "reach");
    IntExpr half = total.floorDiv(2), rest = total - half;
    window.pads[d] = window.sameUpper ? half : rest;
    window.pads[rank + d] = window.sameUpper ? rest : half;
  }
}

static LogicalResult importConvTranspose(Node &n) {
  std::optional<SmallVector<int64_t>> kernel = kernelOf(n);
  if (!kernel)
    return failure();
  std::optional<WindowAttributes> window = readWindow(n, kernel);
  std::optional<int64_t> groups = groupsOf(n);
  if (!window || !groups)
    return failure();
  SmallVector<int64_t> zeros(window->rank(), 0);
  SmallVector<int64_t> outputPadding = n.intsAttr("output_padding", zeros);
  SmallVector<int64_t> outputShape = n.intsAttr("output_shape");
  // Some exporters list batch and channels, too.
  if (outputShape.size() == window->rank() + 2)
    outputShape.erase(outputShape.begin(), outputShape.begin() + 2);
  if (outputPadding.size() != window->rank() ||
      (!outputShape.empty() && outputShape.size() != window->rank()))
    return n.invalid("output_padding and output_shape must have " +
                     Twine(window->rank()) + " values");
  for (int64_t value : outputPadding)
    if (value < 0 || value > maxWindow)
      return n.invalid("output_padding is out of range");
  if (window->same || !outputShape.empty())
    padForOutput(n, *window, outputPadding, outputShape);
  Value result = n.op<ConvTransposeOp>(
      {n.value(0), n.value(1)}, n.dimsAttr(window->strides),
      n.dimsAttr(window->pads), n.dimsAttr(window->dilations),
      n.dimsAttr(outputPadding), n.integer(*groups));
  return n.result(addBias(n, result, 2));
}

ArrayRef<OperatorEntry> convolutionOperators() {
  static const OperatorEntry entries[] = {
      {"", "Conv", 2, 3, importConv},
      {"", "ConvTranspose", 2, 3, importConvTranspose},
      {"com.microsoft", "FusedConv", 2, 4, importFusedConv},
  };
  return entries;
}

} // namespace mlc
