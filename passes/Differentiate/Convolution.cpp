//===- Convolution.cpp - Gradients that are convolutions ------------------===//

#include "passes/Differentiate/Convolution.h"
#include "dialects/Definition/OpInterfaces.h"
#include "dialects/Graph/MovementOps.h"
#include "passes/Differentiate/Dims.h"
#include "passes/Differentiate/Phases.h"
#include "passes/Differentiate/WeightConvolution.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc {

namespace {

class ConvolutionGradients {
public:
  ConvolutionGradients(OpBuilder &builder, ConvOp conv, Value cotangent)
      : builder(builder), conv(conv), cotangent(cotangent),
        x(dimsOf(conv.getX())), w(dimsOf(conv.getW())), y(dimsOf(cotangent)),
        rank(x.size() - 2) {}

  /// dX is the transposed convolution of dY; rows of X after the last one that
  /// a window reads are output padding.
  FailureOr<Value> input() {
    SmallVector<IntExpr> more;
    for (unsigned d = 0; d < rank; ++d) {
      IntExpr reached = (y[2 + d] - 1) * conv.getStrides()[d] +
                        (w[2 + d] - 1) * conv.getDilations()[d] + 1 -
                        conv.getPads()[d] - conv.getPads()[rank + d];
      more.push_back(x[2 + d] - reached);
    }
    FailureOr<ConvTransposeOp> op = createOp<ConvTransposeOp>(
        builder, conv.getLoc(), cotangent, conv.getW(), conv.getStrides(),
        conv.getPads(), conv.getDilations(), list(more), conv.getGroups());
    return result(op, x);
  }

  /// dW[o,c,u] = sum_{n,h} dY[n,o,h] X<0>[n,c,h s + u d - p]: the channels of X
  /// become images, its batch becomes channels, and the windows are whole
  /// images of dY.
  FailureOr<Value> weight() {
    FailureOr<Value> turned = weightConvolution(
        builder, conv.getLoc(), conv.getX(), cotangent, conv.getDilations(),
        list(readPads()), conv.getStrides());
    if (failed(turned))
      return failure();
    // If a stride leaves unread rows of X that are not padding, there are more
    // window positions than kernel elements.
    Value all = *turned;
    if (dimsOf(all) == w)
      return all;
    IntExpr zero = IntExpr::constant(builder.getContext(), 0), one = zero + 1;
    SmallVector<IntExpr> starts(w.size(), zero), steps(w.size(), one);
    return result(createOp<SliceOp>(builder, conv.getLoc(), all, list(starts),
                                    list(w), list(steps)),
                  w);
  }

  /// Whether there are as many window positions as kernel elements, so that the
  /// weight's gradient is one convolution for any stride.
  bool readsAll() {
    SmallVector<IntExpr> pads = readPads();
    for (unsigned d = 0; d < rank; ++d)
      if (!behind(d, pads[d], pads[rank + d]).isConstant(0))
        return false;
    return true;
  }

private:
  /// Rows of the padded X after the last one that a window reads.
  IntExpr behind(unsigned d, IntExpr low, IntExpr high) {
    return x[2 + d] + low + high - (y[2 + d] - 1) * conv.getStrides()[d] -
           (w[2 + d] - 1) * conv.getDilations()[d] - 1;
  }

  /// Pads without the rows that no window reads, as far as these are known.
  SmallVector<IntExpr> readPads() {
    SmallVector<IntExpr> pads;
    for (unsigned i = 0; i < 2 * rank; ++i)
      pads.push_back(conv.getPads()[i]);
    for (unsigned d = 0; d < rank; ++d) {
      IntExpr &high = pads[rank + d], rest = behind(d, pads[d], high);
      if (rest.isConstant() && high.isConstant())
        high = high -
               std::clamp<int64_t>(rest.getConstant(), 0,
                                   std::max<int64_t>(high.getConstant(), 0));
    }
    return pads;
  }

  DimsAttr list(ArrayRef<IntExpr> values) const {
    return DimsAttr::get(builder.getContext(), values);
  }

  /// Null if the dims are not the same expressions as the required ones.
  template <class Op>
  static FailureOr<Value> result(FailureOr<Op> op, ArrayRef<IntExpr> dims) {
    if (failed(op))
      return failure();
    return dimsOf(op->getResult()) == dims ? op->getResult() : Value();
  }

  OpBuilder &builder;
  ConvOp conv;
  Value cotangent;
  SmallVector<IntExpr> x, w, y;
  unsigned rank;
};

} // namespace

FailureOr<SmallVector<Value>> convolutionGradients(OpBuilder &builder,
                                                   ConvOp conv, Value cotangent,
                                                   ArrayRef<bool> wanted) {
  ConvolutionGradients gradients(builder, conv, cotangent);
  SmallVector<Value> values(2);
  // The weight's gradient would have empty windows.
  if (llvm::any_of(*getDims(cast<RankedTensorType>(cotangent.getType())),
                   [](IntExpr dim) { return dim.isConstant(0); }))
    return SmallVector<Value>();
  // The weight's gradient needs one group, because each group has its own
  // channels.
  for (unsigned i : {0u, 1u}) {
    if (!wanted[i] || (i == 1 && !conv.getGroups().isConstant(1)))
      continue;
    bool byPhases = hasPhases(conv) && !(i == 1 && gradients.readsAll());
    FailureOr<Value> value =
        byPhases ? (i == 0 ? inputGradientByPhases(builder, conv, cotangent)
                           : weightGradientByPhases(builder, conv, cotangent))
                 : (i == 0 ? gradients.input() : gradients.weight());
    if (failed(value))
      return failure();
    values[i] = *value;
  }
  return values;
}

FailureOr<SmallVector<Value>>
transposedConvolutionGradients(OpBuilder &builder, ConvTransposeOp op,
                               Value cotangent, ArrayRef<bool> wanted) {
  SmallVector<IntExpr> x = *getDims(op.getX().getType()),
                       y = *getDims(op.getResult().getType());
  for (IntExpr dim : llvm::concat<IntExpr>(x, y))
    if (dim.isConstant(0))
      return SmallVector<Value>();
  FailureOr<ConvOp> conv = createOp<ConvOp>(
      builder, op.getLoc(), cotangent, op.getW(), op.getStrides(), op.getPads(),
      op.getDilations(), op.getGroups());
  if (failed(conv))
    return failure();
  SmallVector<Value> values(2);
  if (*getDims(conv->getResult().getType()) != x) {
    conv->erase();
    return values;
  }
  if (wanted[0])
    values[0] = conv->getResult();
  if (wanted[1]) {
    auto known = convolutionGradients(builder, *conv, op.getX(), {false, true});
    if (failed(known))
      return failure();
    if (!known->empty())
      values[1] = (*known)[1];
  }
  if (!wanted[0])
    conv->erase();
  return values;
}

} // namespace mlc
