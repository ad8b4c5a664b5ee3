//===- Convolution.cpp - Gradients that are convolutions ------------------===//

#include "passes/Differentiate/Convolution.h"
#include "dialects/Graph/MovementOps.h"
#include "dialects/Interfaces/OpInterfaces.h"
#include "passes/Differentiate/Phases.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc {

namespace {

SmallVector<IntExpr> dimsOf(Value value) {
  return *mlc::getDims(cast<RankedTensorType>(value.getType()));
}

class ConvolutionGradients {
public:
  ConvolutionGradients(OpBuilder &builder, ConvOp conv, Value cotangent)
      : builder(builder), conv(conv), cotangent(cotangent),
        x(dimsOf(conv.getX())), w(dimsOf(conv.getW())), y(dimsOf(cotangent)),
        rank(x.size() - 2) {}

  /// dX is the transposed convolution of dY; rows of X behind the last that any
  /// window reads are output padding.
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

  /// dW[o,c,u] = sum_{n,h} dY[n,o,h] X<0>[n,c,h s + u d - p]: images are the
  /// channels of X, with batches for channels; windows are whole images of dY.
  FailureOr<Value> weight() {
    SmallVector<int64_t> swapped{1, 0};
    for (unsigned d = 0; d < rank; ++d)
      swapped.push_back(2 + d);
    auto permutation = builder.getDenseI64ArrayAttr(swapped);
    FailureOr<TransposeOp> image =
        createOp<TransposeOp>(builder, conv.getLoc(), conv.getX(), permutation);
    FailureOr<TransposeOp> window =
        createOp<TransposeOp>(builder, conv.getLoc(), cotangent, permutation);
    if (failed(image) || failed(window))
      return failure();
    FailureOr<ConvOp> op = createOp<ConvOp>(
        builder, conv.getLoc(), image->getResult(), window->getResult(),
        conv.getDilations(), conv.getPads(), conv.getStrides(),
        IntExpr::constant(builder.getContext(), 1));
    if (failed(op))
      return failure();
    FailureOr<TransposeOp> turned = createOp<TransposeOp>(
        builder, conv.getLoc(), op->getResult(), permutation);
    if (failed(turned))
      return failure();
    // Where a stride leaves rows of X behind, windows fit in more often than
    // the kernel has elements.
    Value all = turned->getResult();
    if (dimsOf(all) == w)
      return all;
    IntExpr zero = IntExpr::constant(builder.getContext(), 0), one = zero + 1;
    SmallVector<IntExpr> starts(w.size(), zero), steps(w.size(), one);
    return result(createOp<SliceOp>(builder, conv.getLoc(), all, list(starts),
                                    list(w), list(steps)),
                  w);
  }

private:
  DimsAttr list(ArrayRef<IntExpr> values) const {
    return DimsAttr::get(builder.getContext(), values);
  }

  /// Null where the dims are not written as those that it must have.
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
  // Windows of one group each have channels of their own for each group.
  for (unsigned i : {0u, 1u}) {
    if (!wanted[i] || (i == 1 && !conv.getGroups().isConstant(1)))
      continue;
    FailureOr<Value> value =
        hasPhases(conv)
            ? (i == 0 ? inputGradientByPhases(builder, conv, cotangent)
                      : weightGradientByPhases(builder, conv, cotangent))
            : (i == 0 ? gradients.input() : gradients.weight());
    if (failed(value))
      return failure();
    values[i] = *value;
  }
  return values;
}

} // namespace mlc
