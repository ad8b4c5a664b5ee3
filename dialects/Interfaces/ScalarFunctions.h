//===- ScalarFunctions.h - What is known of each scalar function *- C++ -*-===//
//
// One table, ScalarFunctions.def: every fact about a function of numbers stands
// in its row and nowhere else. Definitions name functions by enumeration; texts
// (index notation, operators, ONNX, MLIR's arith and math) are looked up where
// they are read or written. A test holds every fact to sampled values.
//
// Facts are of the real function, unless they say that they are of floats.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_INTERFACES_SCALARFUNCTIONS_H
#define MLC_DIALECTS_INTERFACES_SCALARFUNCTIONS_H

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
#include "dialects/Interfaces/ScalarFunctions.def"
};

/// Functions of two arguments of one type. Division of integers truncates,
/// FloorDiv and Mod are for index expressions and positive divisors.
enum class BinaryFn {
#define SCALAR_FUNCTION_2(Fn, ...) Fn,
#include "dialects/Interfaces/ScalarFunctions.def"
};

/// What a function takes; it gives the same type. Words are integers of 64
/// bits.
enum class Takes { Floats, Numbers, Truths, Words };

enum class Parity { None, Even, Odd };

/// How values follow arguments, wherever the function is defined.
enum class Growth {
  Unknown,
  NonDecreasing,
  Increasing,    // strictly
  Decreasing,    // strictly
  WithMagnitude, // strictly increasing in |x|
};

/// What stands for the function in the exact domains (residues modulo a prime
/// and rationals).
enum class ExactMeaning {
  Field,         // itself: sums, products and quotients
  Order,         // itself where numbers have an order; residues have a hash
  Uninterpreted, // a hash of the argument, itself at a few points at most
  None,          // nothing: it is of no numbers
};

/// The numbers from `low` to `high`; finite ends are among them unless it is
/// open, infinite ones always.
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

/// How ONNX has it.
struct OnnxFunction {
  llvm::StringRef name = {};
  int64_t opset = 7; // the oldest that does
  bool takesIntegers = false;
};

/// A function of one argument.
struct ScalarFunction {
  static constexpr double nan = std::numeric_limits<double>::quiet_NaN();

  /// In index notation; also the operator's name, unless that is given.
  llvm::StringRef name;
  llvm::StringRef mnemonic = name;
  /// The operation that lowering makes of it for floats, "math.exp"; empty
  /// where it takes several.
  llvm::StringRef operation = {};
  OnnxFunction onnx = {};

  Takes takes = Takes::Floats;
  /// f(x) = x for whole numbers x.
  bool keepsIntegers = false;
  /// Floats: whether the value need be rounded.
  bool isRounded = true;

  Parity parity = Parity::None;
  Growth growth = Growth::Unknown;
  /// Where it is defined: in `where`, but for 0 if it excludes that. Elsewhere
  /// it has no value, which has a name.
  Span where = {};
  bool excludesZero = false;
  Undefined undefined = {};
  /// All values lie in it, to the last digit: ends that are no floats are
  /// rounded outwards. An open one has its ends as bounds alone.
  Span range = {};
  /// Floats: f(0), f(inf), f(-inf), NaN where there is none; f(NaN) is NaN.
  /// Whole numbers are exact.
  double atZero = nan, atInfinity = nan, atMinusInfinity = nan;
  /// f(1) where that is a whole number, else NaN.
  double atOne = nan;

  /// Work of one value, in sums; whether it counts among an operator's
  /// functions.
  double operations = 1;
  bool isFunction = false;

  ExactMeaning exact = ExactMeaning::Uninterpreted;
  /// Of a float64, by the C library; null for truth values.
  double (*evaluate)(double) = nullptr;
  /// The least interval that is known to hold f of all numbers of `a`, all of
  /// which have one. Null where it follows: for an increasing function from its
  /// values at the ends.
  Undefined (*interval)(const ScalarFunction &f, Interval a,
                        Interval &out) = nullptr;
  /// f'(x); null for truth values. Where there is none it has any value.
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
  /// Whether `atZero` is f(0) to the last digit.
  bool hasZero() const { return isDefinedAt(0.0) && isWhole(atZero); }
  /// f(0) = 0.
  bool keepsZero() const { return hasZero() && atZero == 0.0; }
  /// f(x) = 0 exactly where x = 0.
  bool vanishesAtZeroOnly() const {
    return keepsZero() && growth != Growth::Unknown &&
           growth != Growth::NonDecreasing;
  }
  /// f(x) has the sign of x, and f(-x) = -f(x), for all numbers: maxima and
  /// signs may pass through it.
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
  /// Whether it may have no value for numbers that have one.
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

/// By the name in index notation; nothing for none.
std::optional<UnaryFn> unaryNamed(llvm::StringRef name);
std::optional<BinaryFn> binaryNamed(llvm::StringRef name);
/// By an operation of arith or math on floats.
std::optional<UnaryFn> unaryOfOperation(llvm::StringRef operation);
/// By our operator's name; null for none.
const ScalarFunction *findByMnemonic(llvm::StringRef mnemonic);
/// By ONNX's operator.
const ScalarFunction *findByOnnxName(llvm::StringRef name);

} // namespace mlc

#endif // MLC_DIALECTS_INTERFACES_SCALARFUNCTIONS_H
