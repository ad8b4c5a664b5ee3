//===- Reduction.cpp - Definitions of reductions and normalizations -------===//

#include "dialects/Graph/ReductionOps.h"
#include "llvm/ADT/StringSwitch.h"
#include <limits>

using namespace mlir;
using namespace mlc;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

static RankedTensorType inputType(Operation *op) {
  return cast<RankedTensorType>(op->getOperand(0).getType());
}

static LogicalResult checkAxis(Operation *op, int64_t axis) {
  int64_t rank = inputType(op).getRank();
  if (axis < 0 || axis >= rank)
    return op->emitOpError()
           << "requires an axis in [0, " << rank << "), got " << axis;
  return success();
}

static LogicalResult checkFloat(Operation *op) {
  if (!isa<FloatType>(inputType(op).getElementType()))
    return op->emitOpError()
           << "requires floats, got " << inputType(op).getElementType();
  return success();
}

static LogicalResult checkNumber(Operation *op) {
  Type type = inputType(op).getElementType();
  if (!isa<FloatType, IntegerType>(type) || type.isInteger(1))
    return op->emitOpError() << "requires numbers, got " << type;
  return success();
}

/// The dims with `axis` of size 1.
static SmallVector<IntExpr> without(DefinitionBuilder &b, int64_t axis) {
  SmallVector<IntExpr> dims(b.dims(0));
  dims[axis] = IntExpr::constant(b.getContext(), 1);
  return dims;
}

static SmallVector<Expr> replaced(ArrayRef<Expr> loops, int64_t axis,
                                  Expr index) {
  SmallVector<Expr> result(loops);
  result[axis] = index;
  return result;
}

//===----------------------------------------------------------------------===//
// reduce
//===----------------------------------------------------------------------===//

/// The combiner of terms; a mean is a sum that is divided.
static ReduceKind combinerOf(Reduction kind) {
  switch (kind) {
  case Reduction::Sum:
  case Reduction::Mean:
    return ReduceKind::Sum;
  case Reduction::Prod:
    return ReduceKind::Prod;
  case Reduction::Max:
    return ReduceKind::Max;
  case Reduction::Min:
    return ReduceKind::Min;
  }
  llvm_unreachable("unknown reduction");
}

LogicalResult ReduceOp::checkOperands() {
  ArrayRef<int64_t> axes = getAxes();
  for (auto [i, axis] : llvm::enumerate(axes)) {
    if (failed(checkAxis(*this, axis)))
      return failure();
    if (llvm::is_contained(axes.take_front(i), axis))
      return emitOpError() << "names axis " << axis << " twice";
  }
  return checkNumber(*this);
}

void ReduceOp::define(DefinitionBuilder &b) {
  IntExpr one = IntExpr::constant(b.getContext(), 1);
  SmallVector<IntExpr> dims(b.dims(0)), extents;
  IntExpr count = one;
  for (int64_t axis : getAxes()) {
    extents.push_back(dims[axis]);
    count = count * dims[axis];
    dims[axis] = one;
  }
  Type type = b.elementType(0);
  b.result(b.stage("y", dims, type, [&](ArrayRef<Expr> i) {
    Expr value =
        b.reduce(combinerOf(getKind()), extents, [&](ArrayRef<Expr> r) {
          SmallVector<Expr> at(i);
          for (auto [axis, loop] : llvm::zip(getAxes(), r))
            at[axis] = loop;
          return b.read(0, at);
        });
    return getKind() == Reduction::Mean
               ? value / mlc::cast(b.integer(count), type)
               : value;
  }));
}

//===----------------------------------------------------------------------===//
// softmax
//===----------------------------------------------------------------------===//

namespace {
/// The stages that softmax and its logarithm share: x - max and the sum of
/// exponentials.
struct SoftmaxStages {
  unsigned maximum, exponentials, sum;
};
} // namespace

static SoftmaxStages defineSoftmaxStages(DefinitionBuilder &b, int64_t axis) {
  Type type = b.elementType(0);
  IntExpr extent = b.dims(0)[axis];
  SoftmaxStages stages;
  stages.maximum =
      b.stage("max", without(b, axis), type, [&](ArrayRef<Expr> i) {
        return b.reduce(ReduceKind::Max, {extent}, [&](ArrayRef<Expr> r) {
          return b.read(0, replaced(i, axis, r[0]));
        });
      });
  stages.exponentials = b.stage("exp", b.dims(0), type, [&](ArrayRef<Expr> i) {
    return unary(UnaryFn::Exp,
                 b.read(0, i) - b.readStage(stages.maximum,
                                            replaced(i, axis, b.index(0))));
  });
  stages.sum = b.stage("sum", without(b, axis), type, [&](ArrayRef<Expr> i) {
    return b.reduce(ReduceKind::Sum, {extent}, [&](ArrayRef<Expr> r) {
      return b.readStage(stages.exponentials, replaced(i, axis, r[0]));
    });
  });
  return stages;
}

LogicalResult SoftmaxOp::checkOperands() {
  return success(succeeded(checkAxis(*this, getAxis())) &&
                 succeeded(checkFloat(*this)));
}

void SoftmaxOp::define(DefinitionBuilder &b) {
  int64_t axis = getAxis();
  SoftmaxStages stages = defineSoftmaxStages(b, axis);
  b.result(b.stage("y", b.dims(0), b.elementType(0), [&](ArrayRef<Expr> i) {
    return b.readStage(stages.exponentials, i) /
           b.readStage(stages.sum, replaced(i, axis, b.index(0)));
  }));
}

LogicalResult LogSoftmaxOp::checkOperands() {
  return success(succeeded(checkAxis(*this, getAxis())) &&
                 succeeded(checkFloat(*this)));
}

void LogSoftmaxOp::define(DefinitionBuilder &b) {
  int64_t axis = getAxis();
  SoftmaxStages stages = defineSoftmaxStages(b, axis);
  b.result(b.stage("y", b.dims(0), b.elementType(0), [&](ArrayRef<Expr> i) {
    SmallVector<Expr> row = replaced(i, axis, b.index(0));
    return b.read(0, i) - b.readStage(stages.maximum, row) -
           unary(UnaryFn::Log, b.readStage(stages.sum, row));
  }));
}

//===----------------------------------------------------------------------===//
// Normalizations
//===----------------------------------------------------------------------===//

LogicalResult BatchNormOp::checkOperands() {
  if (inputType(*this).getRank() < 2)
    return emitOpError() << "requires an input of rank 2 or more, got "
                         << inputType(*this).getRank();
  for (Value parameter : getOperands().drop_front()) {
    auto type = cast<RankedTensorType>(parameter.getType());
    if (type.getRank() != 1)
      return emitOpError() << "requires parameters of rank 1, got " << type;
    if (type.getElementType() != inputType(*this).getElementType())
      return emitOpError() << "requires operands of one element type, got "
                           << type.getElementType() << " and "
                           << inputType(*this).getElementType();
  }
  return checkFloat(*this);
}

void BatchNormOp::define(DefinitionBuilder &b) {
  Type type = b.elementType(0);
  IntExpr channels = b.dims(0)[1];
  for (unsigned i = 1; i < 5; ++i)
    b.require(b.dims(i)[0], ComparePredicate::EQ, channels,
              "parameters must have one element per channel");
  unsigned factor = b.stage("factor", {channels}, type, [&](ArrayRef<Expr> c) {
    return b.read(1, c) /
           unary(UnaryFn::Sqrt, b.read(4, c) + b.real(type, getEpsilon()));
  });
  unsigned shift = b.stage("shift", {channels}, type, [&](ArrayRef<Expr> c) {
    return b.read(2, c) - b.read(3, c) * b.readStage(factor, c);
  });
  b.result(b.stage("y", b.dims(0), type, [&](ArrayRef<Expr> i) {
    return b.read(0, i) * b.readStage(factor, {i[1]}) +
           b.readStage(shift, {i[1]});
  }));
}

LogicalResult LayerNormOp::checkOperands() {
  if (failed(checkAxis(*this, getAxis())) || failed(checkFloat(*this)))
    return failure();
  int64_t normalized = inputType(*this).getRank() - getAxis();
  for (Value parameter : getOperands().drop_front()) {
    auto type = cast<RankedTensorType>(parameter.getType());
    if (type.getRank() != normalized)
      return emitOpError() << "requires scale and bias of rank " << normalized
                           << ", got " << type;
    if (type.getElementType() != inputType(*this).getElementType())
      return emitOpError() << "requires operands of one element type, got "
                           << type.getElementType() << " and "
                           << inputType(*this).getElementType();
  }
  return success();
}

void LayerNormOp::define(DefinitionBuilder &b) {
  Type type = b.elementType(0);
  unsigned rank = b.rank(0), axis = getAxis();
  IntExpr count = IntExpr::constant(b.getContext(), 1);
  SmallVector<IntExpr> row(b.dims(0)), extents;
  for (unsigned d = axis; d < rank; ++d) {
    b.require(b.dims(1)[d - axis], ComparePredicate::EQ, b.dims(0)[d],
              "scale must have the normalized dims");
    b.require(b.dims(2)[d - axis], ComparePredicate::EQ, b.dims(0)[d],
              "bias must have the normalized dims");
    extents.push_back(b.dims(0)[d]);
    count = count * b.dims(0)[d];
    row[d] = IntExpr::constant(b.getContext(), 1);
  }
  auto rowOf = [&](ArrayRef<Expr> i) {
    SmallVector<Expr> at(i);
    for (unsigned d = axis; d < rank; ++d)
      at[d] = b.index(0);
    return at;
  };
  auto meanOf = [&](ArrayRef<Expr> i,
                    llvm::function_ref<Expr(ArrayRef<Expr>)> element) {
    Expr sum = b.reduce(ReduceKind::Sum, extents, [&](ArrayRef<Expr> r) {
      SmallVector<Expr> at(i);
      for (unsigned d = axis; d < rank; ++d)
        at[d] = r[d - axis];
      return element(at);
    });
    return sum / mlc::cast(b.integer(count), type);
  };
  unsigned mean = b.stage("mean", row, type, [&](ArrayRef<Expr> i) {
    return meanOf(i, [&](ArrayRef<Expr> at) { return b.read(0, at); });
  });
  unsigned centered =
      b.stage("centered", b.dims(0), type, [&](ArrayRef<Expr> i) {
        return b.read(0, i) - b.readStage(mean, rowOf(i));
      });
  unsigned deviation = b.stage("deviation", row, type, [&](ArrayRef<Expr> i) {
    Expr variance = meanOf(i, [&](ArrayRef<Expr> at) {
      Expr x = b.readStage(centered, at);
      return x * x;
    });
    return unary(UnaryFn::Sqrt, variance + b.real(type, getEpsilon()));
  });
  b.result(b.stage("y", b.dims(0), type, [&](ArrayRef<Expr> i) {
    ArrayRef<Expr> inner = i.drop_front(axis);
    return b.readStage(centered, i) / b.readStage(deviation, rowOf(i)) *
               b.read(1, inner) +
           b.read(2, inner);
  }));
}

LogicalResult LrnOp::checkOperands() {
  if (inputType(*this).getRank() < 2)
    return emitOpError() << "requires an input of rank 2 or more, got "
                         << inputType(*this).getRank();
  if (getSize().isConstant() && getSize().getConstant() < 1)
    return emitOpError() << "requires a positive size, got " << getSize().str();
  return checkFloat(*this);
}

void LrnOp::define(DefinitionBuilder &b) {
  Type type = b.elementType(0);
  IntExpr below = (getSize() - 1).floorDiv(2);
  unsigned sum = b.stage("sum", b.dims(0), type, [&](ArrayRef<Expr> i) {
    return b.reduce(ReduceKind::Sum, {getSize()}, [&](ArrayRef<Expr> r) {
      Expr x =
          b.readOr(0, replaced(i, 1, i[1] + r[0] - below), b.constant(type, 0));
      return x * x;
    });
  });
  b.result(b.stage("y", b.dims(0), type, [&](ArrayRef<Expr> i) {
    Expr size = mlc::cast(b.integer(getSize()), type);
    Expr base = b.real(type, getBias()) +
                b.real(type, getAlpha()) / size * b.readStage(sum, i);
    return b.read(0, i) / binary(BinaryFn::Pow, base, b.real(type, getBeta()));
  }));
}

//===----------------------------------------------------------------------===//
// Along an axis
//===----------------------------------------------------------------------===//

LogicalResult CumSumOp::checkOperands() {
  return success(succeeded(checkAxis(*this, getAxis())) &&
                 succeeded(checkNumber(*this)));
}

void CumSumOp::define(DefinitionBuilder &b) {
  int64_t axis = getAxis();
  Type type = b.elementType(0);
  ComparePredicate counts =
      getReverse()
          ? (getExclusive() ? ComparePredicate::GT : ComparePredicate::GE)
          : (getExclusive() ? ComparePredicate::LT : ComparePredicate::LE);
  b.result(b.stage("y", b.dims(0), type, [&](ArrayRef<Expr> i) {
    return b.reduce(ReduceKind::Sum, {b.dims(0)[axis]}, [&](ArrayRef<Expr> r) {
      return mlc::select(compare(counts, r[0], i[axis]),
                         b.read(0, replaced(i, axis, r[0])),
                         b.constant(type, 0));
    });
  }));
}

/// The first position of the extreme value; NaN is more extreme than any
/// number.
static void defineArg(DefinitionBuilder &b, int64_t axis, ReduceKind kind) {
  Type type = b.elementType(0);
  Type i64 = IntegerType::get(b.getContext(), 64);
  IntExpr extent = b.dims(0)[axis];
  IntExpr zero = IntExpr::constant(b.getContext(), 0);
  b.require(extent, ComparePredicate::GT, zero, "the axis must not be empty");
  SmallVector<IntExpr> row = without(b, axis);
  unsigned extreme = b.stage("extreme", row, type, [&](ArrayRef<Expr> i) {
    return b.reduce(kind, {extent}, [&](ArrayRef<Expr> r) {
      return b.read(0, replaced(i, axis, r[0]));
    });
  });
  b.result(b.stage("y", row, i64, [&](ArrayRef<Expr> i) {
    return b.reduce(ReduceKind::Min, {extent}, [&](ArrayRef<Expr> r) {
      Expr x = b.read(0, replaced(i, axis, r[0]));
      Expr found = compare(ComparePredicate::EQ, x, b.readStage(extreme, i));
      if (isa<FloatType>(type))
        found =
            binary(BinaryFn::Or, found, compare(ComparePredicate::NE, x, x));
      return mlc::select(found, mlc::cast(r[0], i64),
                         mlc::cast(b.integer(extent - 1), i64));
    });
  }));
}

LogicalResult ArgMaxOp::checkOperands() {
  return success(succeeded(checkAxis(*this, getAxis())) &&
                 succeeded(checkNumber(*this)));
}
LogicalResult ArgMinOp::checkOperands() {
  return success(succeeded(checkAxis(*this, getAxis())) &&
                 succeeded(checkNumber(*this)));
}
void ArgMaxOp::define(DefinitionBuilder &b) {
  defineArg(b, getAxis(), ReduceKind::Max);
}
void ArgMinOp::define(DefinitionBuilder &b) {
  defineArg(b, getAxis(), ReduceKind::Min);
}
