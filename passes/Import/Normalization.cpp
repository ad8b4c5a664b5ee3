//===- Normalization.cpp - ONNX's normalizations and softmax --------------===//

#include "dialects/Graph/MovementOps.h"
#include "dialects/Graph/PointwiseOps.h"
#include "dialects/Graph/ReductionOps.h"
#include "passes/Import/Handlers.h"
#include "passes/Import/Random.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc {

/// Before opset 13 the operator works on rows of a matrix, with dims from
/// `axis` on flattened.
template <typename Op> static LogicalResult importSoftmax(Node &n) {
  bool flattens = n.opset() < 13;
  int64_t rank = n.rank(0);
  int64_t axis = n.intAttr("axis", flattens ? 1 : -1);
  if (flattens && axis == rank)
    axis = rank == 0 ? 0 : rank; // rows of one element
  else
    axis = n.axis(axis, rank);
  if (n.failed())
    return failure();
  Value x = n.value(0);
  bool trivial =
      !flattens ||
      (axis < rank && llvm::all_of(
                          n.dims(0).drop_front(axis + 1),
                          [](IntExpr dim) { return dim.isConstant(1); }));
  if (trivial)
    return n.result(n.op<Op>(x, axis));
  Dims matrix = {getNumElements(n.context(), n.dims(0).take_front(axis)),
                 getNumElements(n.context(), n.dims(0).drop_front(axis))};
  return n.result(n.reshape(n.op<Op>(n.reshape(x, matrix), 1), n.dims(0)));
}

/// One at the first maximum along the axis, zero elsewhere.
static LogicalResult importHardmax(Node &n) {
  int64_t axis = n.axis(n.intAttr("axis", n.opset() < 13 ? 1 : -1), n.rank(0));
  if (n.failed())
    return failure();
  Value x = n.value(0);
  // Before opset 13, all dims from the axis on were one.
  if (n.opset() < 13) {
    Dims rows(n.dims(0).take_front(axis));
    rows.push_back(getNumElements(n.context(), n.dims(0).drop_front(axis)));
    x = n.reshape(x, rows);
  }
  Value where = n.op<ArgMaxOp>(x, axis);
  Value positions =
      n.op<IotaOp>(n.dimsAttr(dimsOf(x)), axis, n.integer(0), n.integer(1));
  Value isFirst = n.compare(ComparePredicate::EQ, positions, where);
  return n.result(n.reshape(n.cast(isFirst, n.type(0)), n.dims(0)));
}

/// `vector` over the channels, dim 1 of a tensor of `rank`.
static Value alongChannels(Node &n, Value vector, int64_t rank) {
  if (!vector)
    return {};
  Dims dims(rank, n.integer(1));
  dims[1] = dimsOf(vector)[0];
  return n.reshape(vector, dims);
}

/// Uses the batch's own mean and variance (of the population), and updates the
/// running ones with them. Small floats are computed in float32.
static LogicalResult importTrainingBatchNormalization(Node &n) {
  Type type = n.type(0), computed = type;
  if (type.isF16() || type.isBF16())
    computed = n.builder().getF32Type();
  int64_t rank = n.rank(0);
  SmallVector<int64_t> axes;
  for (int64_t d = 0; d < rank; ++d)
    if (d != 1)
      axes.push_back(d);
  for (unsigned i = 1; i < 5; ++i)
    n.requireEqual(n.dims(i)[0], n.dims(0)[1],
                   "parameters must have one element per channel");
  Value x = n.cast(n.value(0), computed);
  Value mean = n.reduce(Reduction::Mean, x, axes);
  if (!mean || n.failed())
    return failure();
  Value centered = n.pointwise<SubOp>({x, mean});
  Value variance =
      n.reduce(Reduction::Mean, n.op<MulOp>({centered, centered}), axes);
  Value deviation =
      n.op<SqrtOp>(n.withScalar<AddOp>(variance, n.floatAttr("epsilon", 1e-5)));
  auto vector = [&](unsigned i) {
    return alongChannels(n, n.cast(n.value(i), computed), rank);
  };
  Value result = n.pointwise<MulOp>(
      {n.pointwise<DivOp>({centered, deviation}), vector(1)});
  result = n.pointwise<AddOp>({result, vector(2)});
  if (failed(n.result(0, n.cast(result, type))))
    return failure();
  double momentum = n.floatAttr("momentum", 0.9);
  auto moveRunning = [&](unsigned output, unsigned input, Value batch) {
    // Two nodes with one statistic update it one after the other.
    Value *kept = n.findStatistic(n.value(input));
    if (!kept && !n.wants(output))
      return success();
    Value before = kept ? *kept : n.value(input);
    before = alongChannels(n, n.cast(before, computed), rank);
    Value running =
        n.pointwise<AddOp>({n.withScalar<MulOp>(before, momentum),
                            n.withScalar<MulOp>(batch, 1 - momentum)});
    running = n.cast(n.reshape(running, n.dims(input)), n.type(input));
    if (kept && running)
      *kept = running;
    return n.wants(output) ? n.result(output, running) : success(bool(running));
  };
  if (failed(moveRunning(1, 3, mean)))
    return failure();
  return moveRunning(2, 4, variance);
}

static LogicalResult importBatchNormalization(Node &n) {
  bool trains = n.intAttr("training_mode", 0) != 0 || n.inTraining();
  if (!n.inTraining() && ((trains && n.opset() < 14) ||
                          (n.opset() < 7 && !n.intAttr("is_test", 0))))
    return n.unsupported("batch normalization in training mode is not "
                         "supported before opset 14; export the model for "
                         "inference");
  if (n.opset() < 9 && !n.intAttr("spatial", 1))
    return n.unsupported("batch normalization with spatial=0 is not "
                         "supported");
  if (n.rank(0) < 2)
    return n.invalid("requires an input of rank 2 or more");
  for (unsigned i = 1; i < 5; ++i)
    if (n.rank(i) != 1)
      return n.invalid("scale, bias, mean and variance must have rank 1");
  if (trains)
    return importTrainingBatchNormalization(n);
  auto vector = [&](unsigned i) { return n.cast(n.value(i), n.type(0)); };
  return n.result(n.op<BatchNormOp>(
      {n.value(0), vector(1), vector(2), vector(3), vector(4)},
      n.real(n.floatAttr("epsilon", 1e-5))));
}

static SmallVector<int64_t> axesFrom(int64_t first, int64_t rank) {
  SmallVector<int64_t> axes;
  for (int64_t d = first; d < rank; ++d)
    axes.push_back(d);
  return axes;
}

/// 1 / sqrt(var + epsilon) over `axes`.
static Value inverseDeviation(Node &n, Value x, Value mean,
                              ArrayRef<int64_t> axes, double epsilon) {
  Value centered = n.pointwise<SubOp>({x, mean});
  Value square = n.op<MulOp>({centered, centered});
  Value variance = n.reduce(Reduction::Mean, square, axes);
  return n.op<ReciprocalOp>(
      n.op<SqrtOp>(n.withScalar<AddOp>(variance, epsilon)));
}

/// (x - mean) / sqrt(var + epsilon) over `axes`.
static Value normalized(Node &n, Value x, ArrayRef<int64_t> axes,
                        double epsilon) {
  Value mean = n.reduce(Reduction::Mean, x, axes);
  if (!mean)
    return {};
  Value centered = n.pointwise<SubOp>({x, mean});
  Value square = n.op<MulOp>({centered, centered});
  Value variance =
      n.withScalar<AddOp>(n.reduce(Reduction::Mean, square, axes), epsilon);
  return n.pointwise<DivOp>({centered, n.op<SqrtOp>(variance)});
}

static LogicalResult importLayerNormalization(Node &n) {
  int64_t axis = n.axis(n.intAttr("axis", -1), n.rank(0));
  if (n.failed())
    return failure();
  double epsilon = n.floatAttr("epsilon", 1e-5);
  ArrayRef<IntExpr> inner = n.dims(0).drop_front(axis);
  Value x = n.value(0);
  if (n.wants(1) || n.wants(2)) {
    SmallVector<int64_t> axes = axesFrom(axis, n.rank(0));
    Value mean = n.reduce(Reduction::Mean, x, axes);
    if (!mean || failed(n.result(1, mean)) ||
        failed(n.result(2, inverseDeviation(n, x, mean, axes, epsilon))))
      return failure();
  }
  if (n.dims(1) == inner) {
    Value scale = n.value(1);
    Value zero = n.scalarConstant(n.type(0), 0.0);
    Value bias = n.broadcast(n.has(2) ? n.value(2) : zero, inner);
    return n.result(n.op<LayerNormOp>({x, scale, bias}, axis, n.real(epsilon)));
  }
  Value result = normalized(n, x, axesFrom(axis, n.rank(0)), epsilon);
  result = n.pointwise<MulOp>({result, n.value(1)});
  if (n.has(2))
    result = n.pointwise<AddOp>({result, n.value(2)});
  return n.result(result);
}

/// x / sqrt(mean(x^2) + epsilon) * scale
static LogicalResult importRmsNormalization(Node &n) {
  int64_t axis = n.axis(n.intAttr("axis", -1), n.rank(0));
  if (n.failed())
    return failure();
  Value x = n.value(0);
  Value square =
      n.reduce(Reduction::Mean, n.op<MulOp>({x, x}), axesFrom(axis, n.rank(0)));
  Value root =
      n.op<SqrtOp>(n.withScalar<AddOp>(square, n.floatAttr("epsilon", 1e-5)));
  return n.result(
      n.pointwise<MulOp>({n.pointwise<DivOp>({x, root}), n.value(1)}));
}

static Value perChannel(Node &n, unsigned input, int64_t rank) {
  if (n.rank(input) != 1) {
    (void)n.invalid("scale and bias must have rank 1");
    return {};
  }
  return alongChannels(n, n.value(input), rank);
}

static LogicalResult importInstanceNormalization(Node &n) {
  int64_t rank = n.rank(0);
  if (rank < 3)
    return n.invalid("requires an input of rank 3 or more");
  Value result = normalized(n, n.value(0), axesFrom(2, rank),
                            n.floatAttr("epsilon", 1e-5));
  result = n.pointwise<MulOp>({result, perChannel(n, 1, rank)});
  return n.result(n.pointwise<AddOp>({result, perChannel(n, 2, rank)}));
}

static LogicalResult importGroupNormalization(Node &n) {
  int64_t rank = n.rank(0), groups = n.intAttr("num_groups", 0);
  if (rank < 2 || groups < 1)
    return n.invalid("requires rank 2 or more and a positive num_groups");
  IntExpr channels = n.dims(0)[1];
  IntExpr perGroup =
      n.divided(channels, n.integer(groups),
                "the channels must divide into num_groups groups");
  Dims split = {n.dims(0)[0], n.integer(groups), perGroup};
  llvm::append_range(split, n.dims(0).drop_front(2));
  Value result =
      normalized(n, n.reshape(n.value(0), split), axesFrom(2, rank + 1),
                 n.floatAttr("epsilon", 1e-5));
  // Before opset 21, scale and bias are per group.
  auto factor = [&](unsigned input) -> Value {
    if (n.rank(input) != 1) {
      (void)n.invalid("scale and bias must have rank 1");
      return {};
    }
    Dims dims(rank + 1, n.integer(1));
    dims[1] = n.integer(groups);
    if (n.opset() >= 21)
      dims[2] = perGroup;
    return n.reshape(n.value(input), dims);
  };
  result = n.pointwise<MulOp>({result, factor(1)});
  result = n.pointwise<AddOp>({result, factor(2)});
  return n.result(n.reshape(result, n.dims(0)));
}

static LogicalResult importLrn(Node &n) {
  int64_t size = n.intAttr("size", 0);
  double alpha = n.floatAttr("alpha", 1e-4), beta = n.floatAttr("beta", 0.75),
         bias = n.floatAttr("bias", 1.0);
  return n.result(n.op<LrnOp>(n.value(0), n.integer(size), n.real(alpha),
                              n.real(beta), n.real(bias)));
}

/// x / norm along an axis, 0 where the norm is 0.
static LogicalResult importLpNormalization(Node &n) {
  int64_t axis = n.axis(n.intAttr("axis", -1), n.rank(0));
  int64_t p = n.intAttr("p", 2);
  if (n.failed() || (p != 1 && p != 2))
    return n.invalid("requires p = 1 or 2");
  Value x = n.value(0);
  Value norm = n.reduce(Reduction::Sum,
                        p == 1 ? n.op<AbsOp>(x) : n.op<MulOp>({x, x}), {axis});
  if (p == 2)
    norm = n.op<SqrtOp>(norm);
  Value zero = n.scalarConstant(n.type(0), 0.0);
  Value isZero = n.compare(ComparePredicate::EQ, norm, zero);
  return n.result(
      n.pointwise<SelectOp>({isZero, zero, n.pointwise<DivOp>({x, norm})}));
}

static LogicalResult importMeanVarianceNormalization(Node &n) {
  SmallVector<int64_t> axes = n.axes(n.intsAttr("axes", {0, 2, 3}), n.rank(0));
  if (n.failed())
    return failure();
  Value x = n.value(0);
  Value mean = n.reduce(Reduction::Mean, x, axes);
  if (!mean)
    return n.result(mean);
  Value centered = n.pointwise<SubOp>({x, mean});
  Value square =
      n.reduce(Reduction::Mean, n.op<MulOp>({centered, centered}), axes);
  Value deviation = n.withScalar<AddOp>(n.op<SqrtOp>(square), 1e-9);
  return n.result(n.pointwise<DivOp>({centered, deviation}));
}

/// In inference: the input itself, and a mask that keeps everything.
static LogicalResult importDropout(Node &n) {
  if (n.inTraining())
    return importDropoutInTraining(n);
  if (n.has(2)) {
    std::optional<double> training = n.scalar(2, "training_mode");
    if (!training)
      return failure();
    if (*training != 0.0)
      return importDropoutInTraining(n);
  }
  if (n.opset() < 7 && !n.intAttr("is_test", 0))
    return n.unsupported("dropout in training mode is not supported before "
                         "opset 12; export the model for inference");
  if (n.wants(1)) {
    Type type = n.opset() >= 10 ? Type(n.builder().getI1Type()) : n.type(0);
    if (failed(
            n.result(1, n.broadcast(n.scalarConstant(type, 1.0), n.dims(0)))))
      return failure();
  }
  return n.result(0, Tensor(n.in(0)));
}

ArrayRef<OperatorEntry> normalizationOperators() {
  static const OperatorEntry entries[] = {
      {"", "BatchNormalization", 5, 5, importBatchNormalization},
      {"", "Dropout", 1, 3, importDropout},
      {"", "GroupNormalization", 3, 3, importGroupNormalization},
      {"", "Hardmax", 1, 1, importHardmax},
      {"", "InstanceNormalization", 3, 3, importInstanceNormalization},
      {"", "LRN", 1, 1, importLrn},
      {"", "LayerNormalization", 2, 3, importLayerNormalization},
      {"", "LogSoftmax", 1, 1, importSoftmax<LogSoftmaxOp>},
      {"", "LpNormalization", 1, 1, importLpNormalization},
      {"", "MeanVarianceNormalization", 1, 1, importMeanVarianceNormalization},
      {"", "RMSNormalization", 2, 2, importRmsNormalization},
      {"", "Softmax", 1, 1, importSoftmax<SoftmaxOp>},
  };
  return entries;
}

} // namespace mlc
