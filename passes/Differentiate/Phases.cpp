//===- Phases.cpp - Gradients of strided convolutions ---------------------===//

#include "passes/Differentiate/Phases.h"
#include "dialects/Definition/OpInterfaces.h"
#include "dialects/Graph/MovementOps.h"
#include "passes/Differentiate/Emit.h"
#include "passes/Differentiate/WeightConvolution.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc {

bool hasPhases(ConvOp conv) {
  SmallVector<IntExpr> w = shapeOf(conv.getW()).dims;
  int64_t phases = 1;
  for (unsigned d = 0; d + 2 < w.size(); ++d) {
    std::optional<int64_t> stride = conv.getStrides()[d].asConstant();
    if (!stride || *stride < 1 || *stride > 16 || !w[2 + d].asConstant() ||
        !conv.getDilations()[d].isConstant(1))
      return false;
    phases *= *stride;
    if (phases > 16)
      return false;
  }
  return phases > 1;
}

namespace {

/// The taps of one phase: those at `first`, `first` + stride, ... in each dim.
struct Phase {
  SmallVector<int64_t> first, taps;
};

class Phases {
public:
  Phases(OpBuilder &builder, ConvOp conv, Value cotangent)
      : builder(builder), conv(conv), loc(conv.getLoc()), cotangent(cotangent),
        x(shapeOf(conv.getX())), w(shapeOf(conv.getW())),
        y(shapeOf(cotangent).dims), rank(y.size() - 2) {
    for (unsigned d = 0; d < rank; ++d)
      strides.push_back(*conv.getStrides()[d].asConstant());
    list();
  }

  FailureOr<Value> input() {
    SmallVector<Value> parts;
    for (const Phase &phase : phases) {
      FailureOr<Value> part = inputOf(phase);
      if (failed(part))
        return failure();
      parts.push_back(*part);
    }
    SmallVector<IntExpr> pads;
    for (unsigned d = 0; d < rank; ++d)
      pads.push_back(conv.getPads()[d]);
    return interleave(parts, x, pads);
  }

  FailureOr<Value> weight() {
    SmallVector<Value> parts;
    for (const Phase &phase : phases) {
      FailureOr<Value> part = weightOf(phase);
      if (failed(part))
        return failure();
      parts.push_back(*part);
    }
    return interleave(parts, w, SmallVector<IntExpr>(rank, number(0)));
  }

private:
  IntExpr number(int64_t value) const {
    return IntExpr::constant(builder.getContext(), value);
  }
  DimsAttr attr(ArrayRef<IntExpr> values) const {
    return DimsAttr::get(builder.getContext(), values);
  }
  template <class Op> static FailureOr<Value> result(FailureOr<Op> op) {
    return failed(op) ? FailureOr<Value>(failure())
                      : FailureOr<Value>(op->getResult());
  }

  /// Lists the phases that have taps.
  void list() {
    SmallVector<int64_t> first(rank, 0);
    while (true) {
      Phase phase{first, {}};
      for (unsigned d = 0; d < rank; ++d) {
        int64_t behind = *w.dims[2 + d].asConstant() - first[d];
        phase.taps.push_back(behind > 0 ? (behind + strides[d] - 1) / strides[d]
                                        : 0);
      }
      if (!llvm::is_contained(phase.taps, 0))
        phases.push_back(phase);
      unsigned d = 0;
      while (d < rank && ++first[d] == strides[d])
        first[d++] = 0;
      if (d == rank)
        return;
    }
  }

  /// The gradient of the image elements that this phase's taps meet, starting
  /// at the pads.
  FailureOr<Value> inputOf(const Phase &phase) {
    SmallVector<IntExpr> starts(2, number(0)), steps(2, number(1));
    SmallVector<IntExpr> sizes(ArrayRef(w.dims).take_front(2));
    for (unsigned d = 0; d < rank; ++d) {
      starts.push_back(number(phase.first[d]));
      sizes.push_back(number(phase.taps[d]));
      steps.push_back(number(strides[d]));
    }
    auto taps = createOp<SliceOp>(builder, loc, conv.getW(), attr(starts),
                                  attr(sizes), attr(steps));
    if (failed(taps))
      return failure();
    SmallVector<IntExpr> ones(rank, number(1)), zeros(rank, number(0)),
        pads(2 * rank, number(0));
    return result(createOp<ConvTransposeOp>(
        builder, loc, cotangent, taps->getResult(), attr(ones), attr(pads),
        attr(ones), attr(zeros), conv.getGroups()));
  }

  /// The padded image's elements of a phase, as far as windows reach.
  FailureOr<Value> imageOf(const Phase &phase) {
    DefinitionBuilder b(builder.getContext(), {x});
    SmallVector<IntExpr> dims(ArrayRef(x.dims).take_front(2));
    for (unsigned d = 0; d < rank; ++d)
      dims.push_back(y[2 + d] + (phase.taps[d] - 1));
    b.result(b.stage("phase", dims, x.elementType, [&](ArrayRef<Expr> i) {
      SmallVector<Expr> at(i.take_front(2));
      for (unsigned d = 0; d < rank; ++d)
        at.push_back(i[2 + d] * number(strides[d]) +
                     (number(phase.first[d]) - conv.getPads()[d]));
      return b.readOr(0, at, b.constant(x.elementType, 0));
    }));
    auto emitted = emitStages(builder, loc, b.take(), {conv.getX()});
    return failed(emitted) ? FailureOr<Value>(failure()) : emitted->front();
  }

  FailureOr<Value> weightOf(const Phase &phase) {
    FailureOr<Value> image = imageOf(phase);
    if (failed(image))
      return failure();
    SmallVector<IntExpr> ones(rank, number(1)), pads(2 * rank, number(0));
    return weightConvolution(builder, loc, *image, cotangent, attr(ones),
                             attr(pads), attr(ones));
  }

  /// The element at i belongs to phase (i + pad) mod stride, at (i + pad) div
  /// stride; 0 for a phase without taps, or past its end.
  FailureOr<Value> interleave(ArrayRef<Value> parts, const TensorShape &shape,
                              ArrayRef<IntExpr> pads) {
    SmallVector<TensorShape> inputs;
    for (Value part : parts)
      inputs.push_back(shapeOf(part));
    DefinitionBuilder b(builder.getContext(), inputs);
    b.result(
        b.stage("dx", shape.dims, shape.elementType, [&](ArrayRef<Expr> i) {
          Expr zero = b.constant(shape.elementType, 0), value = zero;
          for (auto [p, phase] : llvm::enumerate(phases)) {
            SmallVector<Expr> at(i.take_front(2));
            Expr isHere;
            for (unsigned d = 0; d < rank; ++d) {
              IntExpr stride = number(strides[d]);
              Expr place = i[2 + d] + pads[d];
              at.push_back(floorDiv(place, stride));
              if (strides[d] == 1)
                continue;
              Expr same = compare(ComparePredicate::EQ, mod(place, stride),
                                  b.index(phase.first[d]));
              isHere = isHere ? binary(BinaryFn::And, isHere, same) : same;
            }
            value = select(isHere, b.readOr(p, at, zero), value);
          }
          return value;
        }));
    auto emitted = emitStages(builder, loc, b.take(), parts);
    return failed(emitted) ? FailureOr<Value>(failure()) : emitted->front();
  }

  OpBuilder &builder;
  ConvOp conv;
  Location loc;
  Value cotangent;
  TensorShape x, w;
  SmallVector<IntExpr> y;
  unsigned rank;
  SmallVector<int64_t> strides;
  SmallVector<Phase> phases;
};

} // namespace

FailureOr<Value> inputGradientByPhases(OpBuilder &builder, ConvOp conv,
                                       Value cotangent) {
  return Phases(builder, conv, cotangent).input();
}

FailureOr<Value> weightGradientByPhases(OpBuilder &builder, ConvOp conv,
                                        Value cotangent) {
  return Phases(builder, conv, cotangent).weight();
}

} // namespace mlc
