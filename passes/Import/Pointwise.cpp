//===- Pointwise.cpp - ONNX's element-wise operators ----------------------===//

#include "passes/Import/Handlers.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc {

/// Operators that have the same meaning in both: ONNX's name, ours.
static StringRef sameOperator(StringRef name) {
  return llvm::StringSwitch<StringRef>(name)
      .Case("Neg", "neg")
      .Case("Abs", "abs")
      .Case("Exp", "exp")
      .Case("Log", "log")
      .Case("Sqrt", "sqrt")
      .Case("Reciprocal", "reciprocal")
      .Case("Tanh", "tanh")
      .Case("Erf", "erf")
      .Case("Sin", "sin")
      .Case("Cos", "cos")
      .Case("Floor", "floor")
      .Case("Ceil", "ceil")
      .Case("Round", "round_even")
      .Case("Not", "not")
      .Case("Sigmoid", "sigmoid")
      .Case("Relu", "relu")
      .Case("Sign", "sign")
      .Case("Add", "add")
      .Case("Sub", "sub")
      .Case("Mul", "mul")
      .Case("Div", "div")
      .Case("And", "and")
      .Case("Or", "or")
      .Case("Xor", "xor")
      .Case("Sum", "add")
      .Case("Min", "min")
      .Case("Max", "max")
      .Default("");
}

static LogicalResult importUnary(Node &n) {
  StringRef op = n.opType();
  bool rounds = op == "Floor" || op == "Ceil" || op == "Round";
  if (rounds && !n.isFloat(0))
    return n.result(n.value(0));
  if (op == "Erf" && !n.isFloat(0)) {
    // Of integers, the function is what is left of it in their type.
    Value x = n.cast(n.value(0), n.builder().getF64Type());
    return n.result(n.cast(n.op("erf", {x}), n.type(0)));
  }
  return n.result(n.op(sameOperator(op), {n.value(0)}));
}

/// Operands of one type; before opset 7 the second was aligned at `axis`.
static SmallVector<Value> alignedOperands(Node &n) {
  SmallVector<Value> values;
  for (unsigned i = 0; i < n.numInputs(); ++i) {
    if (n.type(i) != n.type(0)) {
      (void)n.invalid("inputs have different element types");
      return {};
    }
    values.push_back(n.value(i));
  }
  if (n.opset() >= 7 || values.size() != 2 || !n.intAttr("broadcast", 0) ||
      !n.hasAttr("axis"))
    return values;
  int64_t at = n.axis(n.intAttr("axis", 0), n.rank(0));
  Dims dims(n.dims(1));
  int64_t trailing = n.rank(0) - at - int64_t(dims.size());
  if (n.failed() || trailing < 0)
    return {};
  dims.append(trailing, n.integer(1));
  values[1] = n.reshape(values[1], dims);
  return values;
}

static LogicalResult importBinary(Node &n) {
  SmallVector<Value> values = alignedOperands(n);
  if (values.empty() || n.failed())
    return n.invalid("inputs cannot be broadcast together");
  return n.result(n.pointwise(sameOperator(n.opType()), values));
}

/// Sum, Min, Max, Mean of any number of inputs, from the left as written.
static LogicalResult importVariadic(Node &n) {
  SmallVector<Value> values = alignedOperands(n);
  if (values.empty())
    return failure();
  StringRef op = n.opType() == "Mean" ? "add" : sameOperator(n.opType());
  Value result = values.front();
  for (Value value : llvm::drop_begin(values))
    result = n.pointwise(op, {result, value});
  if (n.opType() == "Mean")
    result = n.withScalar("div", result, double(values.size()));
  return n.result(result);
}

static LogicalResult importPow(Node &n) {
  Value base = n.value(0);
  // Squares are products: exact, and free of the general power's cost.
  if (n.in(1).constant && n.in(1).constant.getNumElements() == 1 &&
      n.rank(1) <= n.rank(0)) {
    std::optional<double> exponent = n.scalar(1, "the exponent");
    if (!exponent)
      return failure();
    if (*exponent == 2.0)
      return n.result(n.op("mul", {base, base}));
    if (*exponent == 1.0)
      return n.result(base);
  }
  if (!n.isFloat(0))
    return n.unsupported("powers of integers are supported for the constant "
                         "exponents 1 and 2 only");
  return n.result(n.pointwise("pow", {base, n.cast(n.value(1), n.type(0))}));
}

static LogicalResult importMod(Node &n) {
  if (n.type(0) != n.type(1))
    return n.invalid("inputs have different element types");
  if (n.isFloat(0))
    return n.unsupported("Mod of floats is not supported");
  if (n.intAttr("fmod", 0) == 0)
    return n.result(n.pointwise("mod", {n.value(0), n.value(1)}));
  // a - trunc(a / b) * b, which integers have as a - (a / b) * b.
  Value quotient = n.pointwise("div", {n.value(0), n.value(1)});
  Value product = n.pointwise("mul", {quotient, n.value(1)});
  return n.result(n.pointwise("sub", {n.value(0), product}));
}

static LogicalResult importCompare(Node &n) {
  StringRef predicate = llvm::StringSwitch<StringRef>(n.opType())
                            .Case("Equal", "eq")
                            .Case("Less", "lt")
                            .Case("LessOrEqual", "le")
                            .Case("Greater", "gt")
                            .Default("ge");
  SmallVector<Value> values = alignedOperands(n);
  if (values.size() != 2)
    return failure();
  return n.result(n.compare(predicate, values[0], values[1]));
}

static LogicalResult importWhere(Node &n) {
  if (!n.type(0).isInteger(1) || n.type(1) != n.type(2))
    return n.invalid("requires a bool condition and two inputs of one type");
  return n.result(n.pointwise("select", {n.value(0), n.value(1), n.value(2)}));
}

static LogicalResult importCast(Node &n) {
  Type to;
  if (n.opType() == "CastLike") {
    to = n.type(1);
  } else {
    int64_t number = n.intAttr("to", 0);
    // Before opset 6 the type was written out.
    if (n.opset() < 6) {
      onnx::TensorProto_DataType parsed;
      if (onnx::TensorProto_DataType_Parse(n.stringAttr("to", ""), &parsed))
        number = parsed;
    }
    to = getElementType(n.context(), int32_t(number));
    if (!to)
      return n.unsupported("casts to " + describeOnnxType(int32_t(number)));
  }
  return n.result(n.cast(n.value(0), to));
}

/// What Clip has for a bound that is not given: the largest finite number of
/// the type, which before opset 11 is an attribute of float32.
static double clipLimit(Node &n) {
  auto type = dyn_cast<FloatType>(n.type(0));
  if (!type)
    return std::numeric_limits<double>::infinity();
  bool isSingle = n.opset() < 11 && type.isF64();
  return llvm::APFloat::getLargest(isSingle ? llvm::APFloat::IEEEsingle()
                                            : type.getFloatSemantics())
      .convertToDouble();
}

static LogicalResult importClip(Node &n) {
  const double limit = clipLimit(n);
  if (n.opset() < 11)
    return n.result(n.op("clip", {n.value(0)},
                         {n.attr("min", n.real(n.floatAttr("min", -limit))),
                          n.attr("max", n.real(n.floatAttr("max", limit)))}));
  auto isConstant = [&](unsigned i) {
    return !n.has(i) ||
           (n.in(i).constant && n.in(i).constant.getNumElements() == 1);
  };
  for (unsigned i = 1; i < 3; ++i)
    if (n.has(i) && n.type(i) != n.type(0))
      return n.invalid("bounds must have the input's element type");
  if (isConstant(1) && isConstant(2)) {
    std::optional<double> low = -limit, high = limit;
    if (n.has(1))
      low = n.scalar(1, "min");
    if (n.has(2))
      high = n.scalar(2, "max");
    if (!low || !high)
      return failure();
    // Beyond what a double holds, bounds are tensors.
    if (n.isFloat(0) || (isExactInteger(*low) && isExactInteger(*high)))
      return n.result(
          n.op("clip", {n.value(0)},
               {n.attr("min", n.real(*low)), n.attr("max", n.real(*high))}));
  }
  Value result = n.value(0);
  if (n.has(1))
    result = n.pointwise("max", {result, n.value(1)});
  else if (n.isFloat(0))
    result = n.withScalar("max", result, -limit);
  if (n.has(2))
    result = n.pointwise("min", {result, n.value(2)});
  else if (n.isFloat(0))
    result = n.withScalar("min", result, limit);
  return n.result(result);
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

static LogicalResult importHardSigmoid(Node &n) {
  return n.result(n.op("hard_sigmoid", {n.value(0)},
                       {n.attr("alpha", n.real(n.floatAttr("alpha", 0.2))),
                        n.attr("beta", n.real(n.floatAttr("beta", 0.5)))}));
}

static LogicalResult importHardSwish(Node &n) {
  Value gate =
      n.op("hard_sigmoid", {n.value(0)},
           {n.attr("alpha", n.real(1.0 / 6.0)), n.attr("beta", n.real(0.5))});
  return n.result(n.op("mul", {n.value(0), gate}));
}

static LogicalResult importLeakyRelu(Node &n) {
  return n.result(n.op("leaky_relu", {n.value(0)},
                       {n.attr("alpha", n.real(n.floatAttr("alpha", 0.01)))}));
}

static LogicalResult importElu(Node &n) {
  return n.result(n.op("elu", {n.value(0)},
                       {n.attr("alpha", n.real(n.floatAttr("alpha", 1.0)))}));
}

/// x > 0 ? gamma x : gamma alpha (exp(x) - 1)
static LogicalResult importSelu(Node &n) {
  Value elu =
      n.op("elu", {n.value(0)},
           {n.attr("alpha",
                   n.real(n.floatAttr("alpha", 1.67326319217681884765625)))});
  return n.result(n.withScalar(
      "mul", elu, n.floatAttr("gamma", 1.05070102214813232421875)));
}

/// max(0, x) + min(0, alpha (exp(x / alpha) - 1))
static LogicalResult importCelu(Node &n) {
  double alpha = n.floatAttr("alpha", 1.0);
  if (alpha == 0.0)
    return n.invalid("requires an alpha that is not 0");
  Value scaled = n.withScalar("div", n.value(0), alpha);
  Value grown = n.withScalar("sub", n.op("exp", {scaled}), 1.0);
  Value low = n.withScalar("min", n.withScalar("mul", grown, alpha), 0.0);
  return n.result(n.pointwise("add", {n.op("relu", {n.value(0)}), low}));
}

static LogicalResult importThresholdedRelu(Node &n) {
  Value x = n.value(0);
  Value alpha = n.scalarConstant(n.type(0), n.floatAttr("alpha", 1.0));
  Value zero = n.scalarConstant(n.type(0), 0.0);
  return n.result(n.pointwise("select", {n.compare("gt", x, alpha), x, zero}));
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
  Value negative = n.compare("lt", x, n.scalarConstant(n.type(0), 0.0));
  return n.result(
      n.pointwise("select", {negative, n.pointwise("mul", {slope, x}), x}));
}

/// log(1 + exp(x)) without overflow: max(x, 0) + log(1 + exp(-|x|))
static Value softplus(Node &n, Value x) {
  Value decay = n.op("exp", {n.op("neg", {n.op("abs", {x})})});
  Value tail = n.op("log", {n.withScalar("add", decay, 1.0)});
  return n.pointwise("add", {n.op("relu", {x}), tail});
}

static LogicalResult importSoftplus(Node &n) {
  return n.result(softplus(n, n.value(0)));
}

static LogicalResult importSoftsign(Node &n) {
  Value x = n.value(0);
  return n.result(
      n.pointwise("div", {x, n.withScalar("add", n.op("abs", {x}), 1.0)}));
}

/// x tanh(log(1 + e)) with e = exp(x), which is x g / (g + 2) with
/// g = e (e + 2): nothing cancels. From 20 on the fraction is 1.
static LogicalResult importMish(Node &n) {
  Value x = n.value(0);
  Value e = n.op("exp", {n.withScalar("min", x, 20.0)});
  Value g = n.pointwise("mul", {e, n.withScalar("add", e, 2.0)});
  Value gate = n.pointwise("div", {g, n.withScalar("add", g, 2.0)});
  return n.result(n.pointwise("mul", {x, gate}));
}

/// x sigmoid(alpha x)
static LogicalResult importSwish(Node &n) {
  double alpha = n.floatAttr("alpha", 1.0);
  Value scaled =
      alpha == 1.0 ? n.value(0) : n.withScalar("mul", n.value(0), alpha);
  return n.result(n.pointwise("mul", {n.value(0), n.op("sigmoid", {scaled})}));
}

/// (1 + erf(x / sqrt(2))) / 2
static Value normalCdf(Node &n, Value x) {
  Value error = n.op("erf", {n.withScalar("mul", x, std::sqrt(0.5))});
  return n.withScalar("mul", n.withScalar("add", error, 1.0), 0.5);
}

static LogicalResult importGelu(Node &n) {
  Value x = n.value(0);
  if (n.stringAttr("approximate", "none") != "tanh")
    return n.result(n.pointwise("mul", {x, normalCdf(n, x)}));
  // (1 + tanh(y)) / 2 is sigmoid(2 y), y = sqrt(2 / pi) (x + 0.044715 x^3).
  Value cube = n.op("mul", {n.op("mul", {x, x}), x});
  Value sum = n.pointwise("add", {x, n.withScalar("mul", cube, 0.044715)});
  Value gate =
      n.op("sigmoid", {n.withScalar("mul", sum, 2 * std::sqrt(2.0 / M_PI))});
  return n.result(n.pointwise("mul", {x, gate}));
}

/// x > lambd ? x - bias : x < -lambd ? x + bias : 0
static LogicalResult importShrink(Node &n) {
  Value x = n.value(0);
  double bias = n.floatAttr("bias", 0.0), lambd = n.floatAttr("lambd", 0.5);
  double high = lambd, low = -lambd;
  double least = -std::numeric_limits<double>::infinity(), most = -least;
  if (auto type = dyn_cast<IntegerType>(n.type(0))) {
    // Integers are above a number when they are above its integer part.
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
    Value moved =
        bias == 0.0 ? x : n.withScalar(above ? "sub" : "add", x, bias);
    if (above ? bound < least : bound > most)
      return moved;
    Value is =
        n.compare(above ? "gt" : "lt", x, n.scalarConstant(n.type(0), bound));
    return n.pointwise("select", {is, moved, otherwise});
  };
  Value zero = n.broadcast(n.scalarConstant(n.type(0), 0.0), n.dims(0));
  return n.result(beyond(true, high, beyond(false, low, zero)));
}

//===----------------------------------------------------------------------===//
// Functions made of others
//===----------------------------------------------------------------------===//

static LogicalResult importTan(Node &n) {
  Value x = n.value(0);
  return n.result(n.pointwise("div", {n.op("sin", {x}), n.op("cos", {x})}));
}

/// (exp(x) -+ exp(-x)) / 2 by the exponentials of x / 2, which do not overflow
/// before the result; the sine near 0 by t = tanh(x / 2) as 2 t / (1 - t^2).
static LogicalResult importHyperbolic(Node &n) {
  Value x = n.value(0), half = n.withScalar("mul", x, 0.5);
  auto halfSquare = [&](Value y) {
    return n.pointwise("mul", {n.withScalar("mul", y, 0.5), y});
  };
  Value up = halfSquare(n.op("exp", {half}));
  Value down = halfSquare(n.op("exp", {n.op("neg", {half})}));
  if (n.opType() == "Cosh")
    return n.result(n.pointwise("add", {up, down}));
  Value t = n.op("tanh", {half});
  Value rest = n.withScalar("add", n.op("neg", {n.op("mul", {t, t})}), 1.0);
  Value near = n.pointwise("div", {n.pointwise("add", {t, t}), rest});
  Value isNear = n.compare("lt", n.op("abs", {x}),
                           n.scalarConstant(elementTypeOf(x), 1.0));
  return n.result(
      n.pointwise("select", {isNear, near, n.pointwise("sub", {up, down})}));
}

static LogicalResult importIsNaN(Node &n) {
  return n.result(n.compare("ne", n.value(0), n.value(0)));
}

static LogicalResult importIsInf(Node &n) {
  const double infinity = std::numeric_limits<double>::infinity();
  auto is = [&](double bound) {
    return n.compare("eq", n.value(0), n.scalarConstant(n.type(0), bound));
  };
  bool positive = n.intAttr("detect_positive", 1);
  bool negative = n.intAttr("detect_negative", 1);
  if (positive && negative)
    return n.result(n.pointwise("or", {is(infinity), is(-infinity)}));
  if (!positive && !negative) {
    Value never = n.scalarConstant(n.builder().getI1Type(), 0.0);
    return n.result(n.broadcast(never, n.dims(0)));
  }
  return n.result(is(positive ? infinity : -infinity));
}

ArrayRef<OperatorEntry> pointwiseOperators() {
  static const OperatorEntry entries[] = {
      {"", "Abs", 1, 1, importUnary},
      {"", "Add", 2, 2, importBinary},
      {"", "And", 2, 2, importBinary},
      {"", "Cast", 1, 1, importCast},
      {"", "CastLike", 2, 2, importCast},
      {"", "Ceil", 1, 1, importUnary},
      {"", "Celu", 1, 1, importCelu},
      {"", "Clip", 1, 3, importClip},
      {"", "Cos", 1, 1, importUnary},
      {"", "Cosh", 1, 1, importHyperbolic},
      {"", "Div", 2, 2, importBinary},
      {"", "Elu", 1, 1, importElu},
      {"", "Equal", 2, 2, importCompare},
      {"", "Erf", 1, 1, importUnary},
      {"", "Exp", 1, 1, importUnary},
      {"", "Floor", 1, 1, importUnary},
      {"", "Gelu", 1, 1, importGelu},
      {"", "Greater", 2, 2, importCompare},
      {"", "GreaterOrEqual", 2, 2, importCompare},
      {"", "HardSigmoid", 1, 1, importHardSigmoid},
      {"", "HardSwish", 1, 1, importHardSwish},
      {"", "IsInf", 1, 1, importIsInf},
      {"", "IsNaN", 1, 1, importIsNaN},
      {"", "LeakyRelu", 1, 1, importLeakyRelu},
      {"", "Less", 2, 2, importCompare},
      {"", "LessOrEqual", 2, 2, importCompare},
      {"", "Log", 1, 1, importUnary},
      {"", "Max", 1, anyNumber, importVariadic},
      {"", "Mean", 1, anyNumber, importVariadic},
      {"", "Min", 1, anyNumber, importVariadic},
      {"", "Mish", 1, 1, importMish},
      {"", "Mod", 2, 2, importMod},
      {"", "Mul", 2, 2, importBinary},
      {"", "Neg", 1, 1, importUnary},
      {"", "Not", 1, 1, importUnary},
      {"", "Or", 2, 2, importBinary},
      {"", "PRelu", 2, 2, importPRelu},
      {"", "Pow", 2, 2, importPow},
      {"", "Reciprocal", 1, 1, importUnary},
      {"", "Relu", 1, 1, importUnary},
      {"", "Round", 1, 1, importUnary},
      {"", "Selu", 1, 1, importSelu},
      {"", "Shrink", 1, 1, importShrink},
      {"", "Sigmoid", 1, 1, importUnary},
      {"", "Sign", 1, 1, importUnary},
      {"", "Sin", 1, 1, importUnary},
      {"", "Sinh", 1, 1, importHyperbolic},
      {"", "Softplus", 1, 1, importSoftplus},
      {"", "Softsign", 1, 1, importSoftsign},
      {"", "Sqrt", 1, 1, importUnary},
      {"", "Sub", 2, 2, importBinary},
      {"", "Sum", 1, anyNumber, importVariadic},
      {"", "Swish", 1, 1, importSwish},
      {"", "Tan", 1, 1, importTan},
      {"", "Tanh", 1, 1, importUnary},
      {"", "ThresholdedRelu", 1, 1, importThresholdedRelu},
      {"", "Where", 3, 3, importWhere},
      {"", "Xor", 2, 2, importBinary},
  };
  return entries;
}

} // namespace mlc
