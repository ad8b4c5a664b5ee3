//===- Resize.cpp - ONNX's resampling -------------------------------------===//

#include "dialects/Graph/MovementOps.h"
#include "passes/Import/Handlers.h"
#include <cmath>

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::Twine;

namespace mlc {

/// floor(dim * scale). A float is a fraction over a power of two.
static std::optional<IntExpr> scaledDim(IntExpr dim, double scale) {
  int64_t denominator = 1;
  while (scale != std::floor(scale) && denominator < (int64_t(1) << 40)) {
    scale *= 2;
    denominator *= 2;
  }
  if (scale != std::floor(scale) || scale <= 0 || scale > 1e15)
    return std::nullopt;
  return (dim * int64_t(scale)).floorDiv(denominator);
}

/// The elements of a constant float vector.
static std::optional<SmallVector<double>> floats(Node &n, unsigned i,
                                                 llvm::StringRef what) {
  auto dense = dyn_cast_or_null<DenseElementsAttr>(n.literal(i));
  if (!dense || !isa<FloatType>(dense.getElementType())) {
    (void)n.unsupported(
        Twine(what) + " must be constant floats",
        {Remedy{Remedy::Kind::GiveConstant}, Remedy{Remedy::Kind::FixDim}});
    return std::nullopt;
  }
  SmallVector<double> result;
  for (const APFloat &value : dense.getValues<APFloat>())
    result.push_back(value.convertToDouble());
  return result;
}

namespace {
struct Target {
  Dims dims;
  SmallVector<double> scales; // empty if sizes were given
};
} // namespace

static std::optional<Target> fromScales(Node &n, ArrayRef<double> scales,
                                        ArrayRef<int64_t> axes) {
  if (scales.size() != axes.size()) {
    (void)n.invalid("requires " + Twine(axes.size()) + " scales, got " +
                    Twine(scales.size()));
    return std::nullopt;
  }
  Target target{Dims(n.dims(0)), SmallVector<double>(n.rank(0), 1.0)};
  for (auto [scale, axis] : llvm::zip(scales, axes)) {
    std::optional<IntExpr> dim = scaledDim(n.dims(0)[axis], scale);
    if (!dim) {
      (void)n.invalid("scales must be positive numbers");
      return std::nullopt;
    }
    target.dims[axis] = *dim;
    target.scales[axis] = scale;
  }
  return target;
}

static std::optional<Target> fromSizes(Node &n, unsigned input,
                                       ArrayRef<int64_t> axes) {
  std::optional<Dims> sizes = n.ints(input, "sizes");
  if (!sizes)
    return std::nullopt;
  if (sizes->size() != axes.size()) {
    (void)n.invalid("requires " + Twine(axes.size()) + " sizes, got " +
                    Twine(sizes->size()));
    return std::nullopt;
  }
  Target target{Dims(n.dims(0)), {}};
  for (auto [size, axis] : llvm::zip(*sizes, axes)) {
    n.requireNonNegative(size, "a dim must not be negative");
    target.dims[axis] = size;
  }
  return n.failed() ? std::nullopt : std::optional(target);
}

static LogicalResult resized(Node &n, const Target &target, ResizeMode mode,
                             ResizeTransform transform, NearestMode nearest) {
  SmallVector<Attribute> scales;
  for (double scale : target.scales)
    scales.push_back(n.real(scale));
  return n.result(n.op<ResizeOp>(n.value(0), n.dimsAttr(target.dims), mode,
                                 transform, nearest,
                                 n.builder().getArrayAttr(scales)));
}

static SmallVector<int64_t> allAxes(Node &n) {
  SmallVector<int64_t> axes;
  for (int64_t d = 0; d < n.rank(0); ++d)
    axes.push_back(d);
  return axes;
}

/// Upsample and Resize of opset 10: positions are output / scale; the nearest
/// element is the one below when growing, and the one above when shrinking.
static LogicalResult importOldResize(Node &n) {
  std::optional<SmallVector<double>> scales;
  if (n.opset() < 9)
    scales = n.floatsAttr("scales");
  else if (n.has(1))
    scales = floats(n, 1, "scales");
  else
    return n.invalid("has no scales");
  if (!scales)
    return failure();
  std::string asked = n.stringAttr("mode", "nearest");
  if (asked == "bilinear" || asked == "trilinear")
    asked = "linear";
  std::optional<ResizeMode> mode = symbolizeResizeMode(asked);
  if (!mode)
    return n.unsupported("mode '" + asked + "' is not supported");
  std::optional<Target> target = fromScales(n, *scales, allAxes(n));
  if (!target)
    return failure();
  bool grows = llvm::all_of(*scales, [](double s) { return s >= 1; });
  bool shrinks = llvm::all_of(*scales, [](double s) { return s <= 1; });
  if (mode == ResizeMode::Nearest && !grows && !shrinks)
    return n.unsupported("growing some dims and shrinking others is not "
                         "supported before opset 11");
  return resized(n, *target, *mode, ResizeTransform::Asymmetric,
                 grows ? NearestMode::Floor : NearestMode::Ceil);
}

static LogicalResult importResize(Node &n) {
  if (n.opset() < 11)
    return importOldResize(n);
  std::string asked = n.stringAttr("mode", "nearest");
  std::optional<ResizeMode> mode = symbolizeResizeMode(asked);
  if (!mode)
    return n.unsupported("mode '" + asked + "' is not supported");
  if (n.intAttr("antialias", 0) || n.intAttr("exclude_outside", 0))
    return n.unsupported("antialias and exclude_outside are not supported");
  if (n.stringAttr("keep_aspect_ratio_policy", "stretch") != "stretch")
    return n.unsupported("keep_aspect_ratio_policy is not supported");
  asked = n.stringAttr("coordinate_transformation_mode", "half_pixel");
  std::optional<ResizeTransform> transform = symbolizeResizeTransform(asked);
  if (!transform)
    return n.unsupported("coordinate_transformation_mode '" + asked +
                         "' is not supported");
  asked = n.stringAttr("nearest_mode", "round_prefer_floor");
  std::optional<NearestMode> nearest = symbolizeNearestMode(asked);
  if (!nearest)
    return n.unsupported("nearest_mode '" + asked + "' is not supported");
  SmallVector<int64_t> axes = allAxes(n);
  if (n.hasAttr("axes"))
    axes = n.axes(n.intsAttr("axes"), n.rank(0));
  if (n.failed())
    return failure();
  bool hasScales = n.has(2) && !(n.rank(2) == 1 && n.dims(2)[0].isConstant(0));
  if (!hasScales && !n.has(3))
    return n.invalid("has neither scales nor sizes");
  std::optional<Target> target;
  if (hasScales) {
    std::optional<SmallVector<double>> scales = floats(n, 2, "scales");
    if (!scales)
      return failure();
    target = fromScales(n, *scales, axes);
  } else {
    target = fromSizes(n, 3, axes);
  }
  if (!target)
    return failure();
  return resized(n, *target, *mode, *transform, *nearest);
}

ArrayRef<OperatorEntry> resizeOperators() {
  static const OperatorEntry entries[] = {
      {"", "Resize", 1, 4, importResize},
      {"", "Upsample", 1, 2, importOldResize},
  };
  return entries;
}

} // namespace mlc
