//===- Pooling.cpp - Definitions of pooling -------------------------------===//

#include "dialects/Graph/PoolingOps.h"
#include "dialects/Graph/Window.h"
#include <limits>

using namespace mlir;
using namespace mlc;
using llvm::ArrayRef;
using llvm::SmallVector;

template <typename Op> static LogicalResult checkPool(Op op) {
  unsigned rank = op.getKernel().size();
  auto type = op.getX().getType();
  if (rank == 0)
    return op.emitOpError() << "requires a kernel of 1 or more dims, got none";
  if (type.getRank() < 2 + rank)
    return op.emitOpError() << "requires an input of rank " << 2 + rank
                            << " or more, got " << type.getRank();
  if (type.getElementType().isInteger(1))
    return op.emitOpError()
           << "requires numbers, got " << type.getElementType();
  if (op.getCeilPads().size() != rank)
    return op.emitOpError() << "requires " << rank << " ceil_pads, got "
                            << op.getCeilPads().size();
  return checkWindow(op, rank, op.getStrides(), op.getDilations(),
                     op.getPads());
}

template <typename Op> static Window windowOf(DefinitionBuilder &b, Op op) {
  Window window;
  unsigned rank = op.getKernel().size();
  for (unsigned d = 0; d < rank; ++d) {
    window.sizes.push_back(b.dims(0)[2 + d]);
    window.kernel.push_back(op.getKernel()[d]);
    window.strides.push_back(op.getStrides()[d]);
    window.dilations.push_back(op.getDilations()[d]);
    window.low.push_back(op.getPads()[d]);
    window.high.push_back(op.getPads()[rank + d]);
    window.ceilPads.push_back(op.getCeilPads()[d]);
  }
  window.require(b);
  return window;
}

static SmallVector<IntExpr> resultDims(DefinitionBuilder &b,
                                       const Window &window) {
  SmallVector<IntExpr> dims(b.dims(0));
  for (unsigned d = 0; d < window.rank(); ++d)
    dims[2 + d] = window.outputSize(d);
  return dims;
}

static Expr reduceWindow(DefinitionBuilder &b, const Window &window,
                         ReduceKind kind, double outside, ArrayRef<Expr> i) {
  return b.reduce(kind, window.kernel, [&](ArrayRef<Expr> r) {
    SmallVector<Expr> at(i);
    for (unsigned d = 0; d < window.rank(); ++d)
      at[2 + d] = window.position(d, i[2 + d], r[d]);
    return window.isUnpadded()
               ? b.read(0, at)
               : b.readOr(0, at, b.constant(b.elementType(0), outside));
  });
}

LogicalResult MaxPoolOp::checkOperands() { return checkPool(*this); }

void MaxPoolOp::define(DefinitionBuilder &b) {
  Window window = windowOf(b, *this);
  Type type = b.elementType(0);
  double lowest = -std::numeric_limits<double>::infinity();
  if (auto integer = dyn_cast<IntegerType>(type))
    lowest = integer.isUnsigned()
                 ? 0.0
                 : -std::exp2(static_cast<double>(integer.getWidth()) - 1);
  b.result(b.stage("y", resultDims(b, window), type, [&](ArrayRef<Expr> i) {
    return reduceWindow(b, window, ReduceKind::Max, lowest, i);
  }));
}

LogicalResult AvgPoolOp::checkOperands() {
  if (!isa<FloatType>(getX().getType().getElementType()))
    return emitOpError() << "requires floats, got "
                         << getX().getType().getElementType();
  return checkPool(*this);
}

/// How many taps of the window at `start` lie in [begin, end).
static Expr countTaps(DefinitionBuilder &b, Expr start, IntExpr kernel,
                      IntExpr dilation, Expr begin, Expr end) {
  // ceildiv(a, d) = -floordiv(-a, d)
  auto ceilDiv = [&](Expr a) {
    return dilation.isConstant(1)
               ? a
               : b.index(0) - floorDiv(b.index(0) - a, dilation);
  };
  Expr first = binary(BinaryFn::Max, ceilDiv(begin - start), b.index(0));
  Expr last = binary(BinaryFn::Min, ceilDiv(end - start), b.integer(kernel));
  return binary(BinaryFn::Max, last - first, b.index(0));
}

void AvgPoolOp::define(DefinitionBuilder &b) {
  Window window = windowOf(b, *this);
  Type type = b.elementType(0);
  bool countPads = getCountIncludePad();
  b.result(b.stage("y", resultDims(b, window), type, [&](ArrayRef<Expr> i) {
    Expr sum = reduceWindow(b, window, ReduceKind::Sum, 0.0, i);
    Expr count = b.index(1);
    for (unsigned d = 0; d < window.rank(); ++d) {
      bool whole = window.ceilPads[d].isConstant(0) &&
                   (countPads || (window.low[d].isConstant(0) &&
                                  window.high[d].isConstant(0)));
      if (whole) {
        count = count * window.kernel[d];
        continue;
      }
      IntExpr begin = countPads ? -window.low[d] : window.low[d] * 0;
      IntExpr end =
          countPads ? window.sizes[d] + window.high[d] : window.sizes[d];
      count = count * countTaps(b, window.start(d, i[2 + d]), window.kernel[d],
                                window.dilations[d], b.integer(begin),
                                b.integer(end));
    }
    return sum / mlc::cast(count, type);
  }));
}
