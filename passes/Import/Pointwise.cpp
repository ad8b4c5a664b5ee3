//===- Pointwise.cpp - ONNX's element-wise operators ----------------------===//

#include "dialects/Graph/PointwiseOps.h"
#include "passes/Import/Handlers.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc {

/// An operator with the same meaning in both.
template <typename Op> static LogicalResult importUnary(Node &n) {
  return n.result(n.op<Op>(n.value(0)));
}

/// The operator of a function in the table.
template <typename Op, UnaryFn fn>
static LogicalResult importFunction(Node &n) {
  const ScalarFunction &f = factsOf(fn);
  if (f.takes == Takes::Floats && !n.isFloat(0)) {
    if (f.keepsIntegers)
      return n.result(n.value(0));
    if (f.onnx.takesIntegers) {
      // For integers, the function is computed in float64 and truncated.
      Value x = n.cast(n.value(0), n.builder().getF64Type());
      return n.result(n.cast(n.op<Op>(x), n.type(0)));
    }
  }
  return importUnary<Op>(n);
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

template <typename Op> static LogicalResult importBinary(Node &n) {
  SmallVector<Value> values = alignedOperands(n);
  if (values.empty() || n.failed())
    return n.invalid("inputs cannot be broadcast together");
  return n.result(n.pointwise<Op>({values[0], values[1]}));
}

/// Sum, Min, Max, Mean of any number of inputs, from the left as written.
template <typename Op> static LogicalResult importVariadic(Node &n) {
  SmallVector<Value> values = alignedOperands(n);
  if (values.empty())
    return failure();
  Value result = values.front();
  for (Value value : llvm::drop_begin(values))
    result = n.pointwise<Op>({result, value});
  if (n.opType() == "Mean")
    result = n.withScalar<DivOp>(result, double(values.size()));
  return n.result(result);
}

/// Whether `type` has all numbers of `other`, or at least those of `constant`
/// (of type `other`, may be null).
static bool holds(FloatType type, Type other, ElementsAttr constant) {
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  unsigned precision = type.getFPMantissaWidth();
  if (auto real = dyn_cast<FloatType>(other)) {
    if (real == type || (real.getWidth() < type.getWidth()))
      return true;
  } else if (other.getIntOrFloatBitWidth() - !other.isUnsignedInteger() <=
             precision) {
    return true;
  }
  auto dense = dyn_cast_or_null<DenseElementsAttr>(constant);
  if (!dense)
    return false;
  constexpr auto nearest = llvm::APFloat::rmNearestTiesToEven;
  if (isa<FloatType>(other))
    return llvm::all_of(dense.getValues<llvm::APFloat>(), [&](auto value) {
      bool loses = false;
      value.convert(semantics, nearest, &loses);
      return !loses || value.isNaN();
    });
  return llvm::all_of(dense.getValues<llvm::APInt>(), [&](const auto &value) {
    return llvm::APFloat(semantics).convertFromAPInt(
               value, !other.isUnsignedInteger(), nearest) ==
           llvm::APFloat::opOK;
  });
}

/// Powers are computed in a type that holds the exponents: an exponent rounded
/// to an even number would change the sign, one rounded to 0 would give 1.
static LogicalResult importPow(Node &n) {
  Value base = n.value(0);
  // Squares are products: exact, and cheaper than the general power.
  ElementsAttr powers = n.literal(1);
  if (powers && powers.getNumElements() == 1 && n.rank(1) <= n.rank(0)) {
    std::optional<double> exponent = n.scalar(1, "the exponent");
    if (!exponent)
      return failure();
    if (*exponent == 2.0)
      return n.result(n.op<MulOp>({base, base}));
    if (*exponent == 1.0)
      return n.result(base);
  }
  if (!n.isFloat(0))
    return n.unsupported("powers of integers are supported for the constant "
                         "exponents 1 and 2 only");
  OpBuilder &b = n.builder();
  Type type = n.type(0), computed = b.getF64Type();
  for (Type wide : {type, Type(b.getF32Type())})
    if (wide.getIntOrFloatBitWidth() >= type.getIntOrFloatBitWidth() &&
        holds(cast<FloatType>(wide), n.type(1), powers)) {
      computed = wide;
      break;
    }
  Value power = n.pointwise<PowOp>(
      {n.cast(base, computed), n.cast(n.value(1), computed)});
  return n.result(n.cast(power, type));
}

/// x - trunc(x / y) y, with the sign of x. In float64, quotients of 24-bit
/// numbers up to 2^28 are on the right side of each integer, and the product is
/// exact.
static Value remainder(Node &n, Value x, Value y) {
  Value quotient = n.pointwise<DivOp>({x, y});
  Value zero = n.scalarConstant(elementTypeOf(x), 0.0);
  Value whole =
      n.pointwise<SelectOp>({n.compare(ComparePredicate::LT, quotient, zero),
                             n.op<CeilOp>(quotient), n.op<FloorOp>(quotient)});
  // An infinite divisor leaves x.
  Value product = n.pointwise<MulOp>({whole, y});
  return n.pointwise<SelectOp>({n.compare(ComparePredicate::EQ, whole, zero), x,
                                n.pointwise<SubOp>({x, product})});
}

/// C's fmod. Larger quotients are taken by a multiple of the divisor first.
static LogicalResult importFloatMod(Node &n) {
  if (n.intAttr("fmod", 0) == 0)
    return n.unsupported("Mod of floats is supported for fmod = 1");
  if (n.type(0).isF64())
    return n.unsupported("Mod of float64, whose quotients would be rounded, is "
                         "not supported; cast to float32");
  Type wide = n.builder().getF64Type();
  Value x = n.cast(n.value(0), wide), y = n.cast(n.value(1), wide);
  Value rest = remainder(n, x, n.withScalar<MulOp>(y, 0x1p28));
  return n.result(n.cast(remainder(n, rest, y), n.type(0)));
}

static LogicalResult importMod(Node &n) {
  if (n.type(0) != n.type(1))
    return n.invalid("inputs have different element types");
  if (n.isFloat(0))
    return importFloatMod(n);
  if (n.intAttr("fmod", 0) == 0)
    return n.result(n.pointwise<ModOp>({n.value(0), n.value(1)}));
  // a - trunc(a / b) * b; integer division truncates already.
  Value quotient = n.pointwise<DivOp>({n.value(0), n.value(1)});
  Value product = n.pointwise<MulOp>({quotient, n.value(1)});
  return n.result(n.pointwise<SubOp>({n.value(0), product}));
}

static LogicalResult importCompare(Node &n) {
  auto predicate = llvm::StringSwitch<ComparePredicate>(n.opType())
                       .Case("Equal", ComparePredicate::EQ)
                       .Case("Less", ComparePredicate::LT)
                       .Case("LessOrEqual", ComparePredicate::LE)
                       .Case("Greater", ComparePredicate::GT)
                       .Default(ComparePredicate::GE);
  SmallVector<Value> values = alignedOperands(n);
  if (values.size() != 2)
    return failure();
  return n.result(n.compare(predicate, values[0], values[1]));
}

static LogicalResult importWhere(Node &n) {
  if (!n.type(0).isInteger(1) || n.type(1) != n.type(2))
    return n.invalid("requires a bool condition and two inputs of one type");
  return n.result(n.pointwise<SelectOp>({n.value(0), n.value(1), n.value(2)}));
}

static LogicalResult importCast(Node &n) {
  Type to;
  if (n.opType() == "CastLike") {
    to = n.type(1);
  } else {
    int64_t number = n.intAttr("to", 0);
    // Before opset 6 the type was an enum name.
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

/// Clip's default for a missing bound: the largest finite number of the type;
/// before opset 11 a float32 attribute.
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
  if (n.opset() < 11) {
    double low = n.floatAttr("min", -limit), high = n.floatAttr("max", limit);
    return n.result(n.op<ClipOp>(n.value(0), n.real(low), n.real(high)));
  }
  auto isConstant = [&](unsigned i) {
    if (!n.has(i))
      return true;
    ElementsAttr bound = n.literal(i);
    return bound && bound.getNumElements() == 1;
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
    // Bounds that a double cannot hold are tensors.
    if (n.isFloat(0) || (isExactInteger(*low) && isExactInteger(*high)))
      return n.result(n.op<ClipOp>(n.value(0), n.real(*low), n.real(*high)));
  }
  Value result = n.value(0);
  if (n.has(1))
    result = n.pointwise<MaxOp>({result, n.value(1)});
  else if (n.isFloat(0))
    result = n.withScalar<MaxOp>(result, -limit);
  if (n.has(2))
    result = n.pointwise<MinOp>({result, n.value(2)});
  else if (n.isFloat(0))
    result = n.withScalar<MinOp>(result, limit);
  return n.result(result);
}

//===----------------------------------------------------------------------===//
// Composed functions
//===----------------------------------------------------------------------===//

static LogicalResult importTan(Node &n) {
  Value x = n.value(0);
  return n.result(n.pointwise<DivOp>({n.op<SinOp>(x), n.op<CosOp>(x)}));
}

/// (exp(x) -+ exp(-x)) / 2, from the exponentials of x / 2, which do not
/// overflow before the result. Near 0 the sine is 2 t / (1 - t^2) with t =
/// tanh(x / 2).
static LogicalResult importHyperbolic(Node &n) {
  Value x = n.value(0), half = n.withScalar<MulOp>(x, 0.5);
  auto halfSquare = [&](Value y) {
    return n.pointwise<MulOp>({n.withScalar<MulOp>(y, 0.5), y});
  };
  Value up = halfSquare(n.op<ExpOp>(half));
  Value down = halfSquare(n.op<ExpOp>(n.op<NegOp>(half)));
  if (n.opType() == "Cosh")
    return n.result(n.pointwise<AddOp>({up, down}));
  Value t = n.op<TanhOp>(half);
  Value rest = n.withScalar<AddOp>(n.op<NegOp>(n.op<MulOp>({t, t})), 1.0);
  Value near = n.pointwise<DivOp>({n.pointwise<AddOp>({t, t}), rest});
  Value isNear = n.compare(ComparePredicate::LT, n.op<AbsOp>(x),
                           n.scalarConstant(elementTypeOf(x), 1.0));
  return n.result(
      n.pointwise<SelectOp>({isNear, near, n.pointwise<SubOp>({up, down})}));
}

static LogicalResult importIsNaN(Node &n) {
  return n.result(n.compare(ComparePredicate::NE, n.value(0), n.value(0)));
}

static LogicalResult importIsInf(Node &n) {
  const double infinity = std::numeric_limits<double>::infinity();
  auto is = [&](double bound) {
    return n.compare(ComparePredicate::EQ, n.value(0),
                     n.scalarConstant(n.type(0), bound));
  };
  bool positive = n.intAttr("detect_positive", 1);
  bool negative = n.intAttr("detect_negative", 1);
  if (positive && negative)
    return n.result(n.pointwise<OrOp>({is(infinity), is(-infinity)}));
  if (!positive && !negative) {
    Value never = n.scalarConstant(n.builder().getI1Type(), 0.0);
    return n.result(n.broadcast(never, n.dims(0)));
  }
  return n.result(is(positive ? infinity : -infinity));
}

ArrayRef<OperatorEntry> pointwiseOperators() {
  static const OperatorEntry entries[] = {
      {"", "Add", 2, 2, importBinary<AddOp>},
      {"", "And", 2, 2, importBinary<AndOp>},
      {"", "Cast", 1, 1, importCast},
      {"", "CastLike", 2, 2, importCast},
      {"", "Clip", 1, 3, importClip},
      {"", "Cosh", 1, 1, importHyperbolic},
      {"", "Div", 2, 2, importBinary<DivOp>},
      {"", "Equal", 2, 2, importCompare},
      {"", "Greater", 2, 2, importCompare},
      {"", "GreaterOrEqual", 2, 2, importCompare},
      {"", "IsInf", 1, 1, importIsInf},
      {"", "IsNaN", 1, 1, importIsNaN},
      {"", "Less", 2, 2, importCompare},
      {"", "LessOrEqual", 2, 2, importCompare},
      {"", "Max", 1, anyNumber, importVariadic<MaxOp>},
      {"", "Mean", 1, anyNumber, importVariadic<AddOp>},
      {"", "Min", 1, anyNumber, importVariadic<MinOp>},
      {"", "Mod", 2, 2, importMod},
      {"", "Mul", 2, 2, importBinary<MulOp>},
      {"", "Or", 2, 2, importBinary<OrOp>},
      {"", "Pow", 2, 2, importPow},
      {"", "Relu", 1, 1, importUnary<ReluOp>},
      {"", "Sigmoid", 1, 1, importUnary<SigmoidOp>},
      {"", "Sign", 1, 1, importUnary<SignOp>},
      {"", "Sinh", 1, 1, importHyperbolic},
      {"", "Sub", 2, 2, importBinary<SubOp>},
      {"", "Sum", 1, anyNumber, importVariadic<AddOp>},
      {"", "Tan", 1, 1, importTan},
      {"", "Where", 3, 3, importWhere},
      {"", "Xor", 2, 2, importBinary<XorOp>},
// The functions of the table.
#define SCALAR_FUNCTION(Fn, ...)                                               \
  {"", factsOf(UnaryFn::Fn).onnx.name, 1, 1,                                   \
   importFunction<Fn##Op, UnaryFn::Fn>},
#include "dialects/Definition/ScalarFunctions.def"
  };
  return entries;
}

} // namespace mlc
