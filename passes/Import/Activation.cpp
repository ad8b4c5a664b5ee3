//===- Activation.cpp - ONNX's activations --------------------------------===//

#include "dialects/Graph/PointwiseOps.h"
#include "passes/Import/Handlers.h"
#include <cmath>

using namespace mlir;
using llvm::ArrayRef;

namespace mlc {

static LogicalResult importHardSigmoid(Node &n) {
  double alpha = n.floatAttr("alpha", 0.2), beta = n.floatAttr("beta", 0.5);
  return n.result(n.op<HardSigmoidOp>(n.value(0), n.real(alpha), n.real(beta)));
}

static LogicalResult importHardSwish(Node &n) {
  Value gate = n.op<HardSigmoidOp>(n.value(0), n.real(1.0 / 6.0), n.real(0.5));
  return n.result(n.op<MulOp>({n.value(0), gate}));
}

static LogicalResult importLeakyRelu(Node &n) {
  return n.result(
      n.op<LeakyReluOp>(n.value(0), n.real(n.floatAttr("alpha", 0.01))));
}

static LogicalResult importElu(Node &n) {
  return n.result(n.op<EluOp>(n.value(0), n.real(n.floatAttr("alpha", 1.0))));
}

/// x > 0 ? gamma x : gamma alpha (exp(x) - 1)
static LogicalResult importSelu(Node &n) {
  Value elu = n.op<EluOp>(
      n.value(0), n.real(n.floatAttr("alpha", 1.67326319217681884765625)));
  return n.result(n.withScalar<MulOp>(
      elu, n.floatAttr("gamma", 1.05070102214813232421875)));
}

/// max(0, x) + min(0, alpha (exp(x / alpha) - 1))
static LogicalResult importCelu(Node &n) {
  double alpha = n.floatAttr("alpha", 1.0);
  if (alpha == 0.0)
    return n.invalid("requires an alpha that is not 0");
  Value scaled = n.withScalar<DivOp>(n.value(0), alpha);
  Value grown = n.withScalar<SubOp>(n.op<ExpOp>(scaled), 1.0);
  Value low = n.withScalar<MinOp>(n.withScalar<MulOp>(grown, alpha), 0.0);
  return n.result(n.pointwise<AddOp>({n.op<ReluOp>(n.value(0)), low}));
}

static LogicalResult importThresholdedRelu(Node &n) {
  Value x = n.value(0);
  Value alpha = n.scalarConstant(n.type(0), n.floatAttr("alpha", 1.0));
  Value zero = n.scalarConstant(n.type(0), 0.0);
  return n.result(n.pointwise<SelectOp>(
      {n.compare(ComparePredicate::GT, x, alpha), x, zero}));
}

/// x < 0 ? slope x : x
static LogicalResult importPRelu(Node &n) {
  Value x = n.value(0);
  Value slope = n.value(1);
  // Before opset 7 the slope was a vector over the channels.
  if (n.opset() < 7 && n.rank(1) == 1 && n.rank(0) > 2) {
    Dims dims(n.dims(1));
    dims.append(n.rank(0) - 2, n.integer(1));
    slope = n.reshape(slope, dims);
  }
  slope = n.broadcast(slope, n.dims(0));
  Value negative =
      n.compare(ComparePredicate::LT, x, n.scalarConstant(n.type(0), 0.0));
  return n.result(
      n.pointwise<SelectOp>({negative, n.pointwise<MulOp>({slope, x}), x}));
}

/// log(1 + exp(x)) without overflow: max(x, 0) + log(1 + exp(-|x|))
static Value softplus(Node &n, Value x) {
  Value decay = n.op<ExpOp>(n.op<NegOp>(n.op<AbsOp>(x)));
  Value tail = n.op<LogOp>(n.withScalar<AddOp>(decay, 1.0));
  return n.pointwise<AddOp>({n.op<ReluOp>(x), tail});
}

static LogicalResult importSoftplus(Node &n) {
  return n.result(softplus(n, n.value(0)));
}

static LogicalResult importSoftsign(Node &n) {
  Value x = n.value(0);
  return n.result(
      n.pointwise<DivOp>({x, n.withScalar<AddOp>(n.op<AbsOp>(x), 1.0)}));
}

/// x tanh(log(1 + e)) with e = exp(x), written as x g / (g + 2) with g = e (e +
/// 2), which avoids cancellation. From 20 on the fraction is 1.
static LogicalResult importMish(Node &n) {
  Value x = n.value(0);
  Value e = n.op<ExpOp>(n.withScalar<MinOp>(x, 20.0));
  Value g = n.pointwise<MulOp>({e, n.withScalar<AddOp>(e, 2.0)});
  Value gate = n.pointwise<DivOp>({g, n.withScalar<AddOp>(g, 2.0)});
  return n.result(n.pointwise<MulOp>({x, gate}));
}

/// x sigmoid(alpha x)
static LogicalResult importSwish(Node &n) {
  double alpha = n.floatAttr("alpha", 1.0);
  Value scaled =
      alpha == 1.0 ? n.value(0) : n.withScalar<MulOp>(n.value(0), alpha);
  return n.result(n.pointwise<MulOp>({n.value(0), n.op<SigmoidOp>(scaled)}));
}

/// (1 + erf(x / sqrt(2))) / 2
static Value normalCdf(Node &n, Value x) {
  Value error = n.op<ErfOp>(n.withScalar<MulOp>(x, std::sqrt(0.5)));
  return n.withScalar<MulOp>(n.withScalar<AddOp>(error, 1.0), 0.5);
}

static LogicalResult importExactGelu(Node &n) {
  Value x = n.value(0);
  return n.result(n.pointwise<MulOp>({x, normalCdf(n, x)}));
}

static LogicalResult importGelu(Node &n) {
  Value x = n.value(0);
  if (n.stringAttr("approximate", "none") != "tanh")
    return importExactGelu(n);
  // (1 + tanh(y)) / 2 is sigmoid(2 y), y = sqrt(2 / pi) (x + 0.044715 x^3).
  Value cube = n.op<MulOp>({n.op<MulOp>({x, x}), x});
  Value sum = n.pointwise<AddOp>({x, n.withScalar<MulOp>(cube, 0.044715)});
  Value gate =
      n.op<SigmoidOp>(n.withScalar<MulOp>(sum, 2 * std::sqrt(2.0 / M_PI)));
  return n.result(n.pointwise<MulOp>({x, gate}));
}

/// x > lambd ? x - bias : x < -lambd ? x + bias : 0
static LogicalResult importShrink(Node &n) {
  Value x = n.value(0);
  double bias = n.floatAttr("bias", 0.0), lambd = n.floatAttr("lambd", 0.5);
  double high = lambd, low = -lambd;
  double least = -std::numeric_limits<double>::infinity(), most = -least;
  if (auto type = dyn_cast<IntegerType>(n.type(0))) {
    // An integer is above a number if it is above its integer part.
    high = std::floor(high);
    low = std::ceil(low);
    unsigned bits = type.getWidth() - !type.isUnsigned();
    most = std::ldexp(1.0, bits) - 1;
    least = type.isUnsigned() ? 0.0 : -std::ldexp(1.0, bits);
    if (bias != std::floor(bias) || bias < least || bias > most)
      return n.unsupported("its elements cannot hold the bias");
  }
  auto beyond = [&](bool above, double bound, Value otherwise) {
    if (above ? bound >= most : bound <= least) // which no element is
      return otherwise;
    Value moved = bias == 0.0 ? x
                  : above     ? n.withScalar<SubOp>(x, bias)
                              : n.withScalar<AddOp>(x, bias);
    if (above ? bound < least : bound > most)
      return moved;
    Value is = n.compare(above ? ComparePredicate::GT : ComparePredicate::LT, x,
                         n.scalarConstant(n.type(0), bound));
    return n.pointwise<SelectOp>({is, moved, otherwise});
  };
  Value zero = n.broadcast(n.scalarConstant(n.type(0), 0.0), n.dims(0));
  return n.result(beyond(true, high, beyond(false, low, zero)));
}

ArrayRef<OperatorEntry> activationOperators() {
  static const OperatorEntry entries[] = {
      {"", "Celu", 1, 1, importCelu},
      {"", "Elu", 1, 1, importElu},
      {"", "Gelu", 1, 1, importGelu},
      {"", "HardSigmoid", 1, 1, importHardSigmoid},
      {"", "HardSwish", 1, 1, importHardSwish},
      {"", "LeakyRelu", 1, 1, importLeakyRelu},
      {"", "Mish", 1, 1, importMish},
      {"", "PRelu", 2, 2, importPRelu},
      {"", "Selu", 1, 1, importSelu},
      {"", "Shrink", 1, 1, importShrink},
      {"", "Softplus", 1, 1, importSoftplus},
      {"", "Softsign", 1, 1, importSoftsign},
      {"", "Swish", 1, 1, importSwish},
      {"", "ThresholdedRelu", 1, 1, importThresholdedRelu},
      {"com.microsoft", "Gelu", 1, 1, importExactGelu},
  };
  return entries;
}

} // namespace mlc
