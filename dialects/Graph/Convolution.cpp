//===- Convolution.cpp - Definitions of convolutions ----------------------===//

#include "dialects/Graph/ConvolutionOps.h"
#include "dialects/Graph/Window.h"

using namespace mlir;
using namespace mlc;
using llvm::ArrayRef;
using llvm::SmallVector;

static LogicalResult checkSameElementType(Operation *op) {
  auto x = cast<RankedTensorType>(op->getOperand(0).getType());
  auto w = cast<RankedTensorType>(op->getOperand(1).getType());
  if (x.getElementType() != w.getElementType())
    return op->emitOpError()
           << "requires operands of one element type, got "
           << x.getElementType() << " and " << w.getElementType();
  if (x.getElementType().isInteger(1))
    return op->emitOpError() << "requires numbers, got " << x.getElementType();
  return success();
}

/// An input [n, c, spatial...] and a weight of the same rank.
static LogicalResult checkRanks(Operation *op) {
  auto x = cast<RankedTensorType>(op->getOperand(0).getType());
  auto w = cast<RankedTensorType>(op->getOperand(1).getType());
  if (x.getRank() < 3)
    return op->emitOpError()
           << "requires an input of rank 3 or more, got " << x.getRank();
  if (w.getRank() != x.getRank())
    return op->emitOpError() << "requires a weight of rank " << x.getRank()
                             << ", got " << w.getRank();
  return checkSameElementType(op);
}

static void requireGroups(DefinitionBuilder &b, IntExpr groups,
                          IntExpr multiple, const llvm::Twine &what) {
  IntExpr zero = IntExpr::constant(b.getContext(), 0);
  b.require(groups, ComparePredicate::GT, zero, "groups must be positive");
  b.require(multiple.mod(groups), ComparePredicate::EQ, zero,
            what + " must be a multiple of groups");
}

LogicalResult ConvOp::checkOperands() {
  if (failed(checkRanks(*this)))
    return failure();
  return checkWindow(*this, getX().getType().getRank() - 2, getStrides(),
                     getDilations(), getPads());
}

void ConvOp::define(DefinitionBuilder &b) {
  unsigned rank = b.rank(0) - 2;
  ArrayRef<IntExpr> x = b.dims(0), w = b.dims(1);
  Window window;
  for (unsigned d = 0; d < rank; ++d) {
    window.sizes.push_back(x[2 + d]);
    window.kernel.push_back(w[2 + d]);
    window.strides.push_back(getStrides()[d]);
    window.dilations.push_back(getDilations()[d]);
    window.low.push_back(getPads()[d]);
    window.high.push_back(getPads()[rank + d]);
    window.ceilPads.push_back(IntExpr::constant(b.getContext(), 0));
  }
  window.require(b);
  IntExpr groups = getGroups();
  b.require(x[1], ComparePredicate::EQ, w[1] * groups,
            "input channels must be groups times the weight's channels");
  requireGroups(b, groups, w[0], "output channels");

  SmallVector<IntExpr> dims{x[0], w[0]};
  SmallVector<IntExpr> extents{w[1]};
  for (unsigned d = 0; d < rank; ++d) {
    dims.push_back(window.outputSize(d));
    extents.push_back(window.kernel[d]);
  }
  Type type = b.elementType(0);
  b.result(b.stage("y", dims, type, [&](ArrayRef<Expr> i) {
    return b.reduce(ReduceKind::Sum, extents, [&](ArrayRef<Expr> r) {
      Expr channel = r[0];
      if (!groups.isConstant(1))
        channel = floorDiv(i[1], w[0].floorDiv(groups)) * w[1] + channel;
      SmallVector<Expr> at{i[0], channel}, weight{i[1], r[0]};
      for (unsigned d = 0; d < rank; ++d) {
        at.push_back(window.position(d, i[2 + d], r[1 + d]));
        weight.push_back(r[1 + d]);
      }
      Expr element = window.isUnpadded() ? b.read(0, at)
                                         : b.readOr(0, at, b.constant(type, 0));
      return element * b.read(1, weight);
    });
  }));
}

LogicalResult ConvTransposeOp::checkOperands() {
  if (failed(checkRanks(*this)))
    return failure();
  unsigned rank = getX().getType().getRank() - 2;
  if (getOutputPadding().size() != rank)
    return emitOpError() << "requires " << rank << " output_padding, got "
                         << getOutputPadding().size();
  return checkWindow(*this, rank, getStrides(), getDilations(), getPads());
}

void ConvTransposeOp::define(DefinitionBuilder &b) {
  unsigned rank = b.rank(0) - 2;
  ArrayRef<IntExpr> x = b.dims(0), w = b.dims(1);
  DimsAttr strides = getStrides(), dilations = getDilations(), pads = getPads();
  IntExpr groups = getGroups(), zero = IntExpr::constant(b.getContext(), 0);
  b.require(x[1], ComparePredicate::EQ, w[0],
            "input channels must equal the weight's first dim");
  requireGroups(b, groups, x[1], "input channels");
  IntExpr perGroup = x[1].floorDiv(groups);

  SmallVector<IntExpr> dims{x[0], w[1] * groups};
  SmallVector<IntExpr> extents{perGroup};
  for (unsigned d = 0; d < rank; ++d) {
    IntExpr size = (x[2 + d] - 1) * strides[d] + getOutputPadding()[d] +
                   (w[2 + d] - 1) * dilations[d] + 1 - pads[d] - pads[rank + d];
    b.require(size, ComparePredicate::GE, zero,
              "pads must not exceed the output in spatial dim " +
                  llvm::Twine(d));
    dims.push_back(size);
    extents.push_back(w[2 + d]);
  }
  Type type = b.elementType(0);
  b.result(b.stage("y", dims, type, [&](ArrayRef<Expr> i) {
    return b.reduce(ReduceKind::Sum, extents, [&](ArrayRef<Expr> r) {
      bool grouped = !groups.isConstant(1);
      Expr channel = grouped ? floorDiv(i[1], w[1]) * perGroup + r[0] : r[0];
      SmallVector<Expr> at{i[0], channel},
          weight{channel, grouped ? mod(i[1], w[1]) : i[1]};
      Expr onGrid;
      for (unsigned d = 0; d < rank; ++d) {
        Expr t = i[2 + d] + pads[d] - r[1 + d] * dilations[d];
        weight.push_back(r[1 + d]);
        if (strides[d].isConstant(1)) {
          at.push_back(t);
          continue;
        }
        at.push_back(floorDiv(t, strides[d]));
        Expr exact =
            compare(ComparePredicate::EQ, mod(t, strides[d]), b.index(0));
        onGrid = onGrid ? binary(BinaryFn::And, onGrid, exact) : exact;
      }
      Expr element = b.readOr(0, at, b.constant(type, 0));
      if (onGrid)
        element = mlc::select(onGrid, element, b.constant(type, 0));
      return element * b.read(1, weight);
    });
  }));
}
