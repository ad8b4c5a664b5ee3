//===- WeightConvolution.cpp - A weight's gradient ------------------------===//

#include "passes/Differentiate/WeightConvolution.h"
#include "dialects/Definition/OpInterfaces.h"
#include "dialects/Graph/ConvolutionOps.h"
#include "dialects/Graph/MovementOps.h"
#include <numeric>

using namespace mlir;
using llvm::SmallVector;

namespace mlc {

FailureOr<Value> weightConvolution(OpBuilder &builder, Location loc, Value x,
                                   Value cotangent, DimsAttr strides,
                                   DimsAttr pads, DimsAttr dilations) {
  SmallVector<int64_t> swapped(cast<RankedTensorType>(x.getType()).getRank());
  std::iota(swapped.begin(), swapped.end(), 0);
  std::swap(swapped[0], swapped[1]);
  auto permutation = builder.getDenseI64ArrayAttr(swapped);
  auto image = createOp<TransposeOp>(builder, loc, x, permutation);
  auto window = createOp<TransposeOp>(builder, loc, cotangent, permutation);
  if (failed(image) || failed(window))
    return failure();
  auto op = createOp<ConvOp>(builder, loc, image->getResult(),
                             window->getResult(), strides, pads, dilations,
                             IntExpr::constant(builder.getContext(), 1));
  if (failed(op))
    return failure();
  auto turned =
      createOp<TransposeOp>(builder, loc, op->getResult(), permutation);
  return failed(turned) ? FailureOr<Value>(failure())
                        : FailureOr<Value>(turned->getResult());
}

} // namespace mlc
