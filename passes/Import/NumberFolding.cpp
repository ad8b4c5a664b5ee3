//===- NumberFolding.cpp - Shape arithmetic at import ---------------------===//
//
// Small tensors whose elements follow from dims and constants are computed
// here, as exact fractions of IntExprs, instead of by operators. A node that
// is not of that kind, or whose result is not certain (a comparison that the
// symbols leave open), is left to its handler.
//
//===----------------------------------------------------------------------===//

#include "passes/Import/Handlers.h"
#include "passes/Import/Numbers.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc {

static bool finish(Node &n, unsigned i, Dims dims, Type type, Numbers numbers) {
  Tensor tensor;
  for (const Number &number : numbers)
    if (!isTame(number.numerator))
      return false;
  tensor.dims = std::move(dims);
  tensor.elementType = type;
  tensor.numbers = std::move(numbers);
  return succeeded(n.result(i, std::move(tensor)));
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// a and b over a common denominator.
static bool align(Number &a, Number &b) {
  int64_t common;
  if (llvm::MulOverflow(a.denominator / std::gcd(a.denominator, b.denominator),
                        b.denominator, common))
    return false;
  a.numerator = a.numerator * (common / a.denominator);
  b.numerator = b.numerator * (common / b.denominator);
  a.denominator = b.denominator = common;
  return true;
}

/// Whether a number is certain to be, or not to be, below zero.
static bool isNegative(const Number &a) {
  return (-a.numerator).isKnownPositive();
}
static bool isPositive(const Number &a) {
  return a.numerator.isKnownPositive();
}

/// Whether a float product or quotient of both may be the zero that numbers
/// here do not have, -0.
static bool mayBeMinusZero(const Number &a, const Number &b) {
  auto isSigned = [](const Number &x) {
    return isPositive(x) || isNegative(x);
  };
  bool nonNegative =
      a.numerator.isKnownNonNegative() && b.numerator.isKnownNonNegative();
  return !nonNegative && !(isSigned(a) && isSigned(b));
}

/// `number` as an element of an integer type: known ones modulo 2^width, as
/// machines compute. Nothing where the type's own number is none of ours.
static MaybeNumber wrap(Node &n, Number number, Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  std::optional<int64_t> value = number.asConstant();
  if (!integer)
    return number;
  // Sizes fit into 32 bits, and into less only where they are known.
  if (!value)
    return integer.getWidth() < 32 ? MaybeNumber() : number;
  APInt bits(64, uint64_t(*value));
  if (integer.getWidth() < 64)
    bits = bits.trunc(integer.getWidth());
  bool isUnsigned = integer.isUnsigned() || integer.getWidth() == 1;
  if (isUnsigned && bits.getActiveBits() > 63)
    return std::nullopt;
  return Number{n.integer(isUnsigned ? int64_t(bits.getZExtValue())
                                     : bits.getSExtValue())};
}

/// The sum, difference or product of two known integers modulo 2^64.
static std::optional<int64_t> machineArithmetic(StringRef op, const Number &a,
                                                const Number &b) {
  std::optional<int64_t> x = a.asConstant(), y = b.asConstant();
  if (!x || !y)
    return std::nullopt;
  uint64_t left = *x, right = *y;
  if (op == "Mul")
    return int64_t(left * right);
  if (op == "Add" || op == "Sum")
    return int64_t(left + right);
  if (op == "Sub")
    return int64_t(left - right);
  return std::nullopt;
}

/// Integer division as ONNX does it, towards zero.
static MaybeNumber divideIntegers(Node &n, IntExpr a, IntExpr b) {
  if (a.isConstant() && b.isConstant()) {
    if (b.isConstant(0))
      return std::nullopt;
    if (b.isConstant(-1)) // the one quotient that overflows
      return Number{n.integer(int64_t(0 - uint64_t(a.getConstant())))};
    return Number{n.integer(a.getConstant() / b.getConstant())};
  }
  if (!b.isConstant(0))
    if (std::optional<IntExpr> exact = a.exactDiv(b))
      return Number{*exact};
  if (!b.isKnownPositive())
    return std::nullopt;
  n.requireNonNegative(a, "a size that is divided must not be negative");
  return Number{a.floorDiv(b)};
}

static MaybeNumber divide(Node &n, bool isFloat, Number a, Number b) {
  if (!isFloat)
    return divideIntegers(n, a.numerator, b.numerator);
  if (mayBeMinusZero(a, b))
    return std::nullopt;
  std::optional<int64_t> by = b.numerator.asConstant();
  int64_t denominator;
  if (by && *by != 0) {
    if (llvm::MulOverflow(a.denominator, *by, denominator))
      return std::nullopt;
    return fraction(a.numerator * b.denominator, denominator);
  }
  if (by)
    return std::nullopt;
  std::optional<IntExpr> exact = a.numerator.exactDiv(b.numerator);
  return exact ? fraction(*exact * b.denominator, a.denominator) : std::nullopt;
}

static MaybeNumber exactBinary(Node &n, StringRef op, bool isFloat, Number a,
                               Number b) {
  if (!isFloat)
    if (std::optional<int64_t> value = machineArithmetic(op, a, b))
      return Number{n.integer(*value)};
  if (op == "Mul") {
    if (isFloat && mayBeMinusZero(a, b))
      return std::nullopt;
    int64_t denominator;
    if (llvm::MulOverflow(a.denominator, b.denominator, denominator))
      return std::nullopt;
    return fraction(a.numerator * b.numerator, denominator);
  }
  if (op == "Div")
    return divide(n, isFloat, a, b);
  if (op == "Mod") {
    bool plain = n.intAttr("fmod", 0) == 0 && !isFloat;
    if (plain && b.numerator.isKnownPositive())
      return Number{a.numerator.mod(b.numerator)};
    return std::nullopt;
  }
  if (!align(a, b))
    return std::nullopt;
  if (op == "Add" || op == "Sum")
    return fraction(a.numerator + b.numerator, a.denominator);
  if (op == "Sub")
    return fraction(a.numerator - b.numerator, a.denominator);
  if (op == "Min")
    return fraction(IntExpr::min(a.numerator, b.numerator), a.denominator);
  if (op == "Max")
    return fraction(IntExpr::max(a.numerator, b.numerator), a.denominator);
  return std::nullopt;
}

/// One step of arithmetic in `type`; floats only where float32 is exact.
static MaybeNumber binary(Node &n, StringRef op, Type type, const Number &a,
                          const Number &b) {
  bool isFloat = isa<FloatType>(type);
  MaybeNumber result = exactBinary(n, op, isFloat, a, b);
  if (!result || (isFloat && !isExact(*result)))
    return std::nullopt;
  return wrap(n, *result, type);
}

/// The truth of a comparison when the symbols' being non-negative decides it.
static std::optional<bool> decide(StringRef op, Number a, Number b) {
  if (!align(a, b))
    return std::nullopt;
  IntExpr difference = a.numerator - b.numerator;
  std::optional<int64_t> low = difference.lowerBound();
  std::optional<int64_t> high = difference.upperBound();
  std::optional<bool> less, greater;
  if ((high && *high < 0) || (low && *low >= 0))
    less = high && *high < 0;
  if ((low && *low > 0) || (high && *high <= 0))
    greater = low && *low > 0;
  if (op == "Equal") {
    if (difference.isConstant(0))
      return true;
    return (low && *low > 0) || (high && *high < 0) ? std::optional(false)
                                                    : std::nullopt;
  }
  if (op == "Less")
    return less;
  if (op == "Greater")
    return greater;
  std::optional<bool> inverse = op == "LessOrEqual" ? greater : less;
  return inverse ? std::optional(!*inverse) : std::nullopt;
}

static MaybeNumber unary(Node &n, StringRef op, Type type, Number a) {
  IntExpr by = n.integer(a.denominator);
  bool isFloat = isa<FloatType>(type);
  auto negated = [&]() -> MaybeNumber {
    if (std::optional<int64_t> value = a.asConstant())
      return wrap(n, Number{n.integer(int64_t(0 - uint64_t(*value)))}, type);
    return Number{-a.numerator, a.denominator};
  };
  if (op == "Neg")
    return isFloat && !isPositive(a) && !isNegative(a) ? MaybeNumber()
                                                       : negated();
  if (op == "Floor")
    return Number{a.numerator.floorDiv(by)};
  if (op == "Ceil") {
    // What lies above -1 becomes -0.
    MaybeNumber up = Number{a.numerator.ceilDiv(by)};
    bool isSafe = !isFloat || a.numerator.isKnownNonNegative() ||
                  (up->numerator.isConstant() && !up->numerator.isConstant(0));
    return isSafe ? up : std::nullopt;
  }
  if (op == "Abs" && a.numerator.isKnownNonNegative())
    return a;
  if (op == "Abs" && (-a.numerator).isKnownNonNegative())
    return negated();
  std::optional<int64_t> value = a.asConstant();
  if (op == "Not" && value)
    return Number{n.integer(*value == 0)};
  return std::nullopt;
}

static MaybeNumber castNumber(Node &n, Number a, Type to) {
  if (isa<FloatType>(to))
    return isExact(a) && (to.isF32() || to.isF64()) ? MaybeNumber(a)
                                                    : std::nullopt;
  if (to.isInteger(1)) {
    if (a.numerator.isConstant() || a.numerator.isKnownPositive())
      return Number{n.integer(!a.numerator.isConstant(0))};
    return std::nullopt;
  }
  if (!a.isInteger()) {
    if (!a.numerator.isKnownNonNegative())
      return std::nullopt;
    a = Number{a.numerator.floorDiv(a.denominator)};
  }
  return wrap(n, a, to);
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

/// The elements of `tensor` broadcast to static dims.
static std::optional<Numbers> expand(const Tensor &tensor,
                                     ArrayRef<int64_t> dims) {
  std::optional<int64_t> count = countElements(dims);
  if (!count || *count > maxNumbers)
    return std::nullopt;
  Numbers result;
  for (int64_t linear = 0; linear < *count; ++linear) {
    int64_t rest = linear, index = 0, stride = 1;
    for (size_t k = dims.size(); k-- > 0;) {
      int64_t i = rest % dims[k];
      rest /= dims[k];
      size_t missing = dims.size() - tensor.rank();
      if (k < missing)
        continue;
      int64_t extent = tensor.dims[k - missing].getConstant();
      index += (extent == 1 ? 0 : i) * stride;
      stride *= extent;
    }
    result.push_back((*tensor.numbers)[index]);
  }
  return result;
}

/// The static common dims of all inputs; nothing when there are none.
static std::optional<SmallVector<int64_t>> commonDims(Node &n) {
  SmallVector<int64_t> result;
  for (Tensor *input : n.inputs) {
    size_t rank = input->rank();
    if (result.size() < rank)
      result.insert(result.begin(), rank - result.size(), 1);
    for (size_t i = 0; i < rank; ++i) {
      int64_t &dim = result[result.size() - rank + i];
      int64_t other = input->dims[i].getConstant();
      if (dim != other && dim != 1 && other != 1)
        return std::nullopt;
      dim = dim == 1 ? other : dim;
    }
  }
  return result;
}

static Dims toDims(Node &n, ArrayRef<int64_t> values) {
  Dims dims;
  for (int64_t value : values)
    dims.push_back(n.integer(value));
  return dims;
}

static bool isComparison(StringRef op) {
  return op == "Equal" || op == "Less" || op == "Greater" ||
         op == "LessOrEqual" || op == "GreaterOrEqual";
}

/// Element by element over all inputs.
static bool foldPointwise(Node &n) {
  StringRef op = n.opType();
  std::optional<SmallVector<int64_t>> dims = commonDims(n);
  if (!dims)
    return false;
  SmallVector<Numbers> inputs;
  for (Tensor *input : n.inputs) {
    std::optional<Numbers> expanded = expand(*input, *dims);
    if (!expanded)
      return false;
    inputs.push_back(std::move(*expanded));
  }
  Type from = n.in(inputs.size() - 1).elementType;
  Type type = isComparison(op) ? Type(n.builder().getI1Type()) : from;
  if (op == "Cast") {
    type = getElementType(n.context(), n.intAttr("to", 0));
    if (!type)
      return false;
  }
  Numbers result;
  for (size_t i = 0; i < inputs.front().size(); ++i) {
    MaybeNumber number = inputs[0][i];
    if (op == "Where") {
      std::optional<int64_t> condition = number->asConstant();
      number =
          condition ? MaybeNumber(inputs[*condition ? 1 : 2][i]) : std::nullopt;
    } else if (op == "Cast") {
      number = castNumber(n, *number, type);
    } else if (isComparison(op)) {
      std::optional<bool> truth = decide(op, *number, inputs[1][i]);
      number = truth ? MaybeNumber(Number{n.integer(*truth)}) : std::nullopt;
    } else if (inputs.size() == 1 && op != "Sum" && op != "Min" &&
               op != "Max") {
      number = unary(n, op, from, *number);
    } else {
      for (size_t k = 1; k < inputs.size() && number; ++k)
        number = binary(n, op, from, *number, inputs[k][i]);
    }
    if (!number || (isa<FloatType>(type) && !isExact(*number)) ||
        !isTame(number->numerator))
      return false;
    result.push_back(*number);
  }
  return finish(n, 0, toDims(n, *dims), type, std::move(result));
}

static bool foldConcat(Node &n) {
  Numbers result;
  for (Tensor *input : n.inputs) {
    if (input->rank() != 1)
      return false;
    llvm::append_range(result, *input->numbers);
  }
  if (int64_t(result.size()) > maxNumbers)
    return false;
  Dims dims = {n.integer(result.size())};
  return finish(n, 0, dims, n.type(0), std::move(result));
}

static bool foldGather(Node &n) {
  if (n.rank(0) != 1)
    return false;
  const Numbers &data = *n.in(0).numbers;
  Numbers result;
  for (const Number &number : *n.in(1).numbers) {
    std::optional<int64_t> index = number.asConstant();
    if (!index)
      return false;
    int64_t at = *index < 0 ? *index + int64_t(data.size()) : *index;
    if (at < 0 || at >= int64_t(data.size())) {
      (void)n.invalid("index " + llvm::Twine(*index) + " is out of range for " +
                      llvm::Twine(data.size()) + " elements");
      return false;
    }
    result.push_back(data[at]);
  }
  return finish(n, 0, n.in(1).dims, n.type(0), std::move(result));
}

static bool foldReduce(Node &n) {
  if (n.rank(0) != 1 || n.intAttr("noop_with_empty_axes", 0))
    return false;
  StringRef op = llvm::StringSwitch<StringRef>(n.opType())
                     .Case("ReduceSum", "Add")
                     .Case("ReduceProd", "Mul")
                     .Case("ReduceMin", "Min")
                     .Default("Max");
  const Numbers &data = *n.in(0).numbers;
  if (data.empty())
    return false;
  MaybeNumber result = data.front();
  for (const Number &number : llvm::drop_begin(data))
    if (!result || !isTame(result->numerator) ||
        !(result = binary(n, op, n.type(0), *result, number)))
      return false;
  if (!result || (n.isFloat(0) && !isExact(*result)))
    return false;
  Dims dims;
  if (n.intAttr("keepdims", 1))
    dims.push_back(n.integer(1));
  return finish(n, 0, dims, n.type(0), {*result});
}

static bool foldRange(Node &n) {
  Numbers &start = *n.in(0).numbers, &limit = *n.in(1).numbers,
          &delta = *n.in(2).numbers;
  if (start.size() != 1 || limit.size() != 1 || delta.size() != 1)
    return false;
  std::optional<int64_t> from = start[0].asConstant(),
                         to = limit[0].asConstant(), by = delta[0].asConstant();
  if (!from || !to || !by || *by == 0 || std::abs(double(*from)) > 1e15 ||
      std::abs(double(*to)) > 1e15 || std::abs(double(*by)) > 1e15)
    return false;
  int64_t span = *by > 0 ? *to - *from : *from - *to;
  int64_t step = std::abs(*by);
  int64_t count = span <= 0 ? 0 : (span + step - 1) / step;
  if (count > (n.isFloat(0) ? maxFloats : maxNumbers))
    return false;
  Numbers result;
  for (int64_t i = 0; i < count; ++i)
    result.push_back({n.integer(*from + i * *by)});
  return finish(n, 0, {n.integer(count)}, n.type(0), std::move(result));
}

/// Positions of what is not 0, for vectors.
static bool foldNonZero(Node &n) {
  if (n.rank(0) != 1)
    return false;
  Numbers result;
  for (auto [i, number] : llvm::enumerate(*n.in(0).numbers)) {
    if (number.numerator.isConstant(0))
      continue;
    if (!number.numerator.isConstant() && !number.numerator.isKnownPositive())
      return false;
    result.push_back({n.integer(i)});
  }
  Dims dims = {n.integer(1), n.integer(result.size())};
  return finish(n, 0, dims, n.builder().getI64Type(), std::move(result));
}

bool foldNumbers(Node &n) {
  if (n.inputs.empty())
    return false;
  for (Tensor *input : n.inputs)
    if (!input || !input->numbers ||
        !llvm::all_of(input->dims, [](IntExpr d) { return d.isConstant(); }))
      return false;
  using Fold = bool (*)(Node &);
  struct Entry {
    StringRef names;
    unsigned minInputs, maxInputs;
    Fold fold;
  };
  static const Entry entries[] = {
      {"Neg Abs Floor Ceil Not Cast", 1, 1, foldPointwise},
      {"Add Sub Mul Div Mod Equal Less Greater LessOrEqual GreaterOrEqual", 2,
       2, foldPointwise},
      {"Min Max Sum", 1, anyNumber, foldPointwise},
      {"Where", 3, 3, foldPointwise},
      {"Concat", 1, anyNumber, foldConcat},
      {"Gather", 2, 2, foldGather},
      {"ReduceSum ReduceProd ReduceMin ReduceMax", 1, 2, foldReduce},
      {"Range", 3, 3, foldRange},
      {"NonZero", 1, 1, foldNonZero},
  };
  for (const Entry &entry : entries) {
    SmallVector<StringRef> names;
    entry.names.split(names, ' ');
    if (!llvm::is_contained(names, n.opType()))
      continue;
    if (n.numInputs() < entry.minInputs || n.numInputs() > entry.maxInputs)
      return false;
    // Types are the handler's business.
    size_t first = n.opType() == "Where" ? 1 : 0;
    bool mixed = n.opType() != "Gather" && !n.opType().starts_with("Reduce");
    for (size_t i = first + 1; mixed && i < n.numInputs(); ++i)
      if (n.type(i) != n.type(first))
        return false;
    return entry.fold(n);
  }
  return false;
}

} // namespace mlc
