//===- Resize.cpp - Definition of resampling ------------------------------===//
//
// Coordinates follow ONNX Resize, in float32 as its implementations compute
// them: a nearest neighbour half-way between two elements depends on it.
//
//===----------------------------------------------------------------------===//

#include "dialects/Graph/MovementOps.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlc;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

LogicalResult ResizeOp::checkOperands() {
  size_t rank = getX().getType().getRank();
  if (getDims().size() != rank)
    return emitOpError() << "requires " << rank << " dims, got "
                         << getDims().size();
  for (IntExpr dim : getDims())
    if (dim.isConstant() && dim.getConstant() < 0)
      return emitOpError() << "requires dims that are not negative, got "
                           << dim.str();
  if (!getScales().empty() && getScales().size() != rank)
    return emitOpError() << "requires no or " << rank << " scales, got "
                         << getScales().size();
  for (Attribute scale : getScales())
    if (!isa<RealAttr>(scale))
      return emitOpError() << "requires scales of mlc.real, got " << scale;
  if (getMode() == ResizeMode::Linear &&
      !isa<FloatType>(getX().getType().getElementType()))
    return emitOpError() << "requires floats for mode linear, got "
                         << getX().getType().getElementType();
  return success();
}

namespace {

/// Coordinates along one dim.
struct Axis {
  DefinitionBuilder &b;
  ResizeOp op;
  unsigned d;

  /// The type of coordinates and weights: f32, on which the choice of
  /// neighbours depends, except for f64 interpolation.
  Type real() {
    if (op.getMode() == ResizeMode::Linear && b.elementType(0).isF64())
      return b.elementType(0);
    return Float32Type::get(b.getContext());
  }
  Expr number(double value) { return b.constant(real(), value); }
  Expr size(IntExpr dim) { return mlc::cast(b.integer(dim), real()); }
  IntExpr from() { return b.dims(0)[d]; }
  IntExpr to() { return op.getDims()[d]; }

  /// A dim that keeps its size and scale is copied.
  bool isIdentity() {
    if (from() != to())
      return false;
    return op.getScales().empty() ||
           cast<RealAttr>(op.getScales()[d]).getDouble() == 1.0;
  }

  Expr scale() {
    if (op.getScales().empty())
      return size(to()) / size(from());
    return b.real(real(), cast<RealAttr>(op.getScales()[d]));
  }

  /// The position in the operand, as a float.
  Expr coordinate(Expr output) {
    ResizeTransform transform = op.getTransform();
    Expr x = mlc::cast(output, real());
    if (transform == ResizeTransform::Asymmetric)
      return x / scale();
    if (transform == ResizeTransform::AlignCorners) {
      if (to().isConstant(1))
        return number(0);
      Expr last = size(to() - 1);
      Expr aligned = x * size(from() - 1) / last;
      return to().isConstant()
                 ? aligned
                 : mlc::select(compare(ComparePredicate::EQ, last, number(0)),
                               number(0), aligned);
    }
    Expr centered = (x + number(0.5)) / scale() - number(0.5);
    if (transform == ResizeTransform::PytorchHalfPixel)
      return to().isConstant() ? (to().isConstant(1) ? number(0) : centered)
                               : mlc::select(compare(ComparePredicate::GT,
                                                     size(to()), number(1)),
                                             centered, number(0));
    return centered;
  }

  Expr clampIndex(Expr index) {
    return binary(BinaryFn::Max,
                  binary(BinaryFn::Min, index, b.integer(from() - 1)),
                  b.index(0));
  }

  Expr toIndex(Expr real) {
    return mlc::cast(real, IndexType::get(b.getContext()));
  }

  Expr nearest(Expr output) {
    Expr x = coordinate(output);
    NearestMode mode = op.getNearestMode();
    Expr rounded;
    if (mode == NearestMode::Floor)
      rounded = unary(UnaryFn::Floor, x);
    else if (mode == NearestMode::Ceil)
      rounded = unary(UnaryFn::Ceil, x);
    else if (mode == NearestMode::RoundPreferCeil)
      rounded = unary(UnaryFn::Floor, x + number(0.5));
    else
      rounded = unary(UnaryFn::Ceil, x - number(0.5));
    return clampIndex(toIndex(rounded));
  }
};

} // namespace

/// Sum over the 2^k corners of the cell around the point.
static Expr interpolate(DefinitionBuilder &b, ResizeOp op, ArrayRef<Expr> i,
                        unsigned d, SmallVector<Expr> &at) {
  if (d == i.size())
    return b.read(0, at);
  Axis axis{b, op, d};
  if (axis.isIdentity()) {
    at[d] = i[d];
    return interpolate(b, op, i, d + 1, at);
  }
  // Clamping the coordinate gives the border's weight to the border element.
  Expr last = axis.size(axis.from() - 1);
  Expr x =
      binary(BinaryFn::Max, binary(BinaryFn::Min, axis.coordinate(i[d]), last),
             axis.number(0));
  Expr below = unary(UnaryFn::Floor, x);
  Expr weight = mlc::cast(x - below, b.elementType(0));
  at[d] = axis.clampIndex(axis.toIndex(below));
  Expr low = interpolate(b, op, i, d + 1, at);
  at[d] = axis.clampIndex(axis.toIndex(below) + b.index(1));
  Expr high = interpolate(b, op, i, d + 1, at);
  return low * (b.constant(b.elementType(0), 1) - weight) + high * weight;
}

void ResizeOp::define(DefinitionBuilder &b) {
  ArrayRef<IntExpr> dims = getDims().getDims();
  IntExpr zero = IntExpr::constant(b.getContext(), 0);
  for (IntExpr dim : b.dims(0))
    b.require(dim, ComparePredicate::GT, zero, "the operand must not be empty");
  bool linear = getMode() == ResizeMode::Linear;
  b.result(b.stage("y", dims, b.elementType(0), [&](ArrayRef<Expr> i) {
    SmallVector<Expr> at(i);
    if (linear)
      return interpolate(b, *this, i, 0, at);
    for (unsigned d = 0; d < i.size(); ++d)
      if (Axis axis{b, *this, d}; !axis.isIdentity())
        at[d] = axis.nearest(i[d]);
    return b.read(0, at);
  }));
}
