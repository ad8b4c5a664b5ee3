//===- ScalarFunctions.h - The facts of each scalar function ----*- C++ -*-===//
//
// One table, ScalarFunctions.def, holds every fact about a scalar function.
// Definitions name functions by enumeration; texts (index notation, operators,
// ONNX, MLIR's arith and math) are looked up where they are read or written. A
// test compares every fact with sampled values.
//
// Facts are about the real function, unless they say that they are about
// floats.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_DEFINITION_SCALARFUNCTIONS_H
#define MLC_DIALECTS_DEFINITION_SCALARFUNCTIONS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

namespace mlc {

class DefinitionBuilder;
class Expr;
struct Interval;
enum class Undefined : uint8_t;

/// Functions of one argument.
enum class UnaryFn {
#define SCALAR_FUNCTION(Fn, ...) Fn,
#include "dialects/Definition/ScalarFunctions.def"
};

/// Functions of two arguments of one type. Division of integers truncates,
/// FloorDiv and Mod are for index expressions and positive divisors.
enum class BinaryFn {
#define SCALAR_FUNCTION_2(Fn, ...) Fn,
#include "dialects/Definition/ScalarFunctions.def"
};

/// The types that a function takes; it returns the same type. Words are 64-bit
/// integers.
enum class Takes { Floats, Numbers, Truths, Words };

enum class Parity { None, Even, Odd };

/// How values depend on arguments, wherever the function is defined.
enum class Growth {
  Unknown,
  NonDecreasing,
  Increasing,    // strictly
  Decreasing,    // strictly
  WithMagnitude, // strictly increasing in |x|
};

/// The function's meaning in the exact domains (residues modulo a prime and
/// rationals).
enum class ExactMeaning {
  Field,         // itself
  Order,         // itself if numbers have an order; hashed for residues
  Uninterpreted, // a hash of the argument; itself at a few points at most
  None,          // none: it is not a function of numbers
};

/// The numbers from `low` to `high`, including finite ends unless it is open,
/// and infinite ends always.
struct Span {
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  double low = -infinity, high = infinity;
  bool isOpen = false;

  bool contains(double x) const {
    bool isInside = low <= x && x <= high;
    bool isEnd = x == low || x == high;
    return isInside && !(isOpen && isEnd && x - x == 0.0);
  }
  bool isEverything() const { return low == -infinity && high == infinity; }
};

/// Its operator in ONNX.
struct OnnxFunction {
  llvm::StringRef name = {};
  int64_t opset = 7; // the oldest that has it
  bool takesIntegers = false;
};

/// A function of one argument.
struct ScalarFunction {
  static constexpr double nan = std::numeric_limits<double>::quiet_NaN();

  /// In index notation; also the operator's name, unless that is given below.
  llvm::StringRef name;
  llvm::StringRef mnemonic = name;
  /// The operation that it lowers to for floats, "math.exp"; empty if it takes
  /// several.
  llvm::StringRef operation = {};
  OnnxFunction onnx = {};

  Takes takes = Takes::Floats;
  /// f(x) = x for integers x.
  bool keepsIntegers = false;
  /// Floats: whether the value needs rounding.
  bool isRounded = true;

  Parity parity = Parity::None;
  Growth growth = Growth::Unknown;
  /// The domain: `where`, without 0 if `excludesZero` is set. Elsewhere it has
  /// no value, for the reason `undefined`.
  Span where = {};
  bool excludesZero = false;
  Undefined undefined = {};
  /// Contains all values, to the last digit: ends that are not floats are
  /// rounded outwards. The ends of an open range are only bounds.
  Span range = {};
  /// Floats: f(0), f(inf), f(-inf), or NaN if undefined; f(NaN) is NaN. Whole
  /// numbers are exact.
  double atZero = nan, atInfinity = nan, atMinusInfinity = nan;
  /// f(1) if that is a whole number, else NaN.
  double atOne = nan;

  /// The cost of one value, in additions, and whether it counts among an
  /// operator's functions.
  double operations = 1;
  bool isFunction = false;

  ExactMeaning exact = ExactMeaning::Uninterpreted;
  /// Evaluates a float64 by the C library; null for truth values.
  double (*evaluate)(double) = nullptr;
  /// The smallest interval known to contain f of all numbers in `a`, if all
  /// have a value. Null if it follows from other facts: for an increasing
  /// function from its values at the ends.
  Undefined (*interval)(const ScalarFunction &f, Interval a,
                        Interval &out) = nullptr;
  /// f'(x); null for truth values. Any value where there is no derivative.
  Expr (*derivative)(const DefinitionBuilder &b, const Expr &x) = nullptr;

  static bool isWhole(double x) { return x - std::floor(x) == 0.0; }
  bool isDefinedAt(double x) const {
    return where.contains(x) && !(excludesZero && x == 0.0);
  }
  bool isDefinedEverywhere() const {
    return where.isEverything() && !excludesZero;
  }
  bool isAlwaysPositive() const {
    return range.low > 0.0 || (range.low == 0.0 && range.isOpen);
  }
  bool isNeverNegative() const { return range.low >= 0.0; }
  bool isMonotone() const {
    return growth == Growth::NonDecreasing || growth == Growth::Increasing;
  }
  /// Whether `atZero` equals f(0) exactly.
  bool hasZero() const { return isDefinedAt(0.0) && isWhole(atZero); }
  /// f(0) = 0.
  bool keepsZero() const { return hasZero() && atZero == 0.0; }
  /// f(x) = 0 exactly where x = 0.
  bool vanishesAtZeroOnly() const {
    return keepsZero() && growth != Growth::Unknown &&
           growth != Growth::NonDecreasing;
  }
  /// For all numbers, f(x) has the sign of x and f(-x) = -f(x): maxima and
  /// signs commute with it.
  bool isSigmoidal() const {
    return parity == Parity::Odd && growth == Growth::Increasing &&
           isDefinedEverywhere();
  }
  /// Floats: the value rounded once.
  float evaluateFloat(float x) const {
    return static_cast<float>(evaluate(static_cast<double>(x)));
  }
};

/// A function of two arguments.
struct ScalarFunction2 {
  llvm::StringRef name;
  Takes takes = Takes::Numbers;
  /// Whether it may be undefined for defined numbers.
  bool isPartial = false;
  double operations = 1;
  bool isFunction = false;
  ExactMeaning exact = ExactMeaning::Order;
};

/// Rows in the order of the enumerations.
llvm::ArrayRef<ScalarFunction> scalarFunctions();
const ScalarFunction &factsOf(UnaryFn fn);
const ScalarFunction2 &factsOf(BinaryFn fn);

inline llvm::StringRef name(UnaryFn fn) { return factsOf(fn).name; }
inline llvm::StringRef name(BinaryFn fn) { return factsOf(fn).name; }

/// By the name in index notation; nothing if there is none.
std::optional<UnaryFn> unaryNamed(llvm::StringRef name);
std::optional<BinaryFn> binaryNamed(llvm::StringRef name);
/// From an operation of arith or math on floats.
std::optional<UnaryFn> unaryOfOperation(llvm::StringRef operation);
/// From mlc's operator name; null if there is none.
const ScalarFunction *findByMnemonic(llvm::StringRef mnemonic);
/// From ONNX's operator name.
const ScalarFunction *findByOnnxName(llvm::StringRef name);

} // namespace mlc

#endif // MLC_DIALECTS_DEFINITION_SCALARFUNCTIONS_H
