//===- EvaluatorKernels.cpp - One instruction over many lanes -------------===//

#include "dialects/Evaluator/EvaluatorKernels.h"
#include "dialects/Definition/Threefry.h"
#include "dialects/Evaluator/Compare.h"
#include "dialects/Evaluator/EvaluatorLanes.h"
#include "dialects/Evaluator/Guided.h"
#include <cmath>
#include <limits>

namespace mlc::evaluator {

unsigned bytesOf(Rep rep) {
  switch (rep) {
  case Rep::F32:
    return 4;
  case Rep::I64:
  case Rep::F64:
  case Rep::Modular:
    return 8;
  case Rep::Interval:
    return sizeof(Interval);
  case Rep::Rational:
    return sizeof(Rational);
  case Rep::Guided:
    return sizeof(Guided);
  }
  llvm_unreachable("unknown representation");
}

namespace {

//===----------------------------------------------------------------------===//
// Machine floats
//===----------------------------------------------------------------------===//

/// The machine's own operations; other functions by the C library in double,
/// rounded once for floats.
template <typename T>
  requires isMachineFloat<T>
void unaryLanes(UnaryFn fn, const T *a, T *out, int64_t n, Poison &p) {
  switch (fn) {
  case UnaryFn::Neg:
    return map(a, out, n, [](T x) { return -x; });
  case UnaryFn::Abs:
    return map(a, out, n, [](T x) { return std::fabs(x); });
  case UnaryFn::Sqrt:
    return map(a, out, n, [](T x) { return std::sqrt(x); });
  case UnaryFn::Reciprocal:
    return map(a, out, n, [](T x) { return T(1) / x; });
  case UnaryFn::Floor:
    return map(a, out, n, [](T x) { return std::floor(x); });
  case UnaryFn::Ceil:
    return map(a, out, n, [](T x) { return std::ceil(x); });
  case UnaryFn::RoundEven:
    return map(a, out, n, [](T x) { return std::nearbyint(x); });
  default:
    break;
  }
  auto *evaluate = factsOf(fn).evaluate;
  if (!evaluate)
    return p.markAll(Undefined::NoMeaning);
  map(a, out, n,
      [=](T x) { return static_cast<T>(evaluate(static_cast<double>(x))); });
}

template <typename T>
  requires isMachineFloat<T>
void binaryLanes(BinaryFn fn, const T *a, const T *b, T *out, int64_t n,
                 Poison &p) {
  switch (fn) {
  case BinaryFn::Add:
    return map(a, b, out, n, [](T x, T y) { return x + y; });
  case BinaryFn::Sub:
    return map(a, b, out, n, [](T x, T y) { return x - y; });
  case BinaryFn::Mul:
    return map(a, b, out, n, [](T x, T y) { return x * y; });
  case BinaryFn::Div:
    return map(a, b, out, n, [](T x, T y) { return x / y; });
  case BinaryFn::Min:
    return map(a, b, out, n, smaller<T>);
  case BinaryFn::Max:
    return map(a, b, out, n, larger<T>);
  case BinaryFn::Pow:
    return map(a, b, out, n,
               [](T x, T y) { return T(std::pow(double(x), double(y))); });
  case BinaryFn::FloorDiv:
    return map(a, b, out, n, [](T x, T y) { return std::floor(x / y); });
  case BinaryFn::Mod: // the sign of the divisor
    return map(a, b, out, n, [](T x, T y) {
      T rest = std::fmod(x, y);
      return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
    });
  case BinaryFn::And:
  case BinaryFn::Or:
  case BinaryFn::Xor:
  case BinaryFn::Threefry:
    return p.markAll(Undefined::NoMeaning);
  }
}

template <typename T>
  requires isMachineFloat<T>
Undefined compareOne(ComparePredicate predicate, T x, T y, bool &out) {
  switch (predicate) {
  case ComparePredicate::EQ:
    out = x == y;
    break;
  case ComparePredicate::NE:
    out = x != y;
    break;
  case ComparePredicate::LT:
    out = x < y;
    break;
  case ComparePredicate::LE:
    out = x <= y;
    break;
  case ComparePredicate::GT:
    out = x > y;
    break;
  case ComparePredicate::GE:
    out = x >= y;
    break;
  }
  return Undefined::None;
}

template <typename T>
Undefined compareOne(ComparePredicate predicate, T x, T y, bool &out) {
  return mlc::applyCompare(predicate, x, y, out);
}

//===----------------------------------------------------------------------===//
// Exact domains
//===----------------------------------------------------------------------===//

template <typename T>
void unaryLanes(UnaryFn fn, const T *a, T *out, int64_t n, Poison &p) {
  for (int64_t j = 0; j < n; ++j) {
    T value = {};
    if (Undefined u = mlc::applyUnary(fn, a[j], value); u != Undefined::None)
      p.mark(j, u);
    out[j] = value;
  }
}

template <typename T>
void binaryLanes(BinaryFn fn, const T *a, const T *b, T *out, int64_t n,
                 Poison &p) {
  for (int64_t j = 0; j < n; ++j) {
    T value = {};
    if (Undefined u = mlc::applyBinary(fn, a[j], b[j], value);
        u != Undefined::None)
      p.mark(j, u);
    out[j] = value;
  }
}

// These mark undefined values themselves.

void unaryLanes(UnaryFn fn, const Guided *a, Guided *out, int64_t n, Poison &) {
  mlc::applyUnary(fn, a, out, n);
}

void binaryLanes(BinaryFn fn, const Guided *a, const Guided *b, Guided *out,
                 int64_t n, Poison &) {
  mlc::applyBinary(fn, a, b, out, n);
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

void unaryInts(const Instruction &i, const int64_t *a, int64_t *out, int64_t n,
               Poison &p) {
  switch (static_cast<UnaryFn>(i.function)) {
  case UnaryFn::Neg:
    return map(a, out, n, [](int64_t x) { return int64_t(0 - bits(x)); });
  case UnaryFn::Abs:
    if (i.fit == Fit::U64)
      return map(a, out, n, [](int64_t x) { return x; });
    return map(a, out, n,
               [](int64_t x) { return x < 0 ? int64_t(0 - bits(x)) : x; });
  case UnaryFn::Not:
    return map(a, out, n, [](int64_t x) { return ~x; });
  default:
    if (!factsOf(static_cast<UnaryFn>(i.function)).keepsIntegers)
      return p.markAll(Undefined::NoMeaning);
    return map(a, out, n, [](int64_t x) { return x; });
  }
}

int64_t powerOf(int64_t x, int64_t y) {
  if (y < 0)
    return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;
  uint64_t result = 1, base = bits(x);
  for (; y; y >>= 1, base *= base)
    if (y & 1)
      result *= base;
  return static_cast<int64_t>(result);
}

/// Quotient of an integer division; the divisor is not zero.
int64_t divideInts(BinaryFn fn, bool isUnsigned, int64_t x, int64_t y) {
  if (isUnsigned)
    return fn == BinaryFn::Mod ? bits(x) % bits(y) : bits(x) / bits(y);
  if (y == -1) // the one quotient that overflows
    return fn == BinaryFn::Mod ? 0 : int64_t(0 - bits(x));
  int64_t quotient = x / y, rest = x % y;
  bool below = rest != 0 && (rest < 0) != (y < 0);
  if (fn == BinaryFn::Mod)
    return below ? rest + y : rest;
  return fn == BinaryFn::FloorDiv && below ? quotient - 1 : quotient;
}

/// Index arithmetic by one positive divisor; a multiplication is enough for
/// numbers below 2^31.
void divideByConstant(BinaryFn fn, int64_t divisor, const int64_t *a,
                      int64_t *out, int64_t n) {
  uint64_t magic = ~uint64_t(0) / uint64_t(divisor) + 1;
  bool isPower = (divisor & (divisor - 1)) == 0;
  for (int64_t j = 0; j < n; ++j) {
    int64_t x = a[j];
    int64_t quotient;
    if (bits(x) < (uint64_t(1) << 31) && !isPower)
      quotient = (static_cast<unsigned __int128>(magic) * bits(x)) >> 64;
    else
      quotient = divideInts(BinaryFn::FloorDiv, false, x, divisor);
    out[j] = fn == BinaryFn::FloorDiv ? quotient : x - quotient * divisor;
  }
}

void binaryInts(const Instruction &i, const int64_t *a, const int64_t *b,
                int64_t *out, int64_t n, Poison &p) {
  bool isUnsigned = i.fit == Fit::U64;
  BinaryFn fn = static_cast<BinaryFn>(i.function);
  switch (fn) {
  case BinaryFn::Add:
    return map(a, b, out, n,
               [](int64_t x, int64_t y) { return int64_t(bits(x) + bits(y)); });
  case BinaryFn::Sub:
    return map(a, b, out, n,
               [](int64_t x, int64_t y) { return int64_t(bits(x) - bits(y)); });
  case BinaryFn::Mul:
    return map(a, b, out, n,
               [](int64_t x, int64_t y) { return int64_t(bits(x) * bits(y)); });
  case BinaryFn::Div:
  case BinaryFn::FloorDiv:
  case BinaryFn::Mod:
    if (i.divisor)
      return divideByConstant(fn, i.divisor, a, out, n);
    for (int64_t j = 0; j < n; ++j) {
      if (b[j] == 0) {
        p.mark(j, Undefined::IntegerDivisionByZero);
        out[j] = 0;
      } else {
        out[j] = divideInts(fn, isUnsigned, a[j], b[j]);
      }
    }
    return;
  case BinaryFn::Min:
    return map(a, b, out, n, [isUnsigned](int64_t x, int64_t y) {
      return (isUnsigned ? bits(x) < bits(y) : x < y) ? x : y;
    });
  case BinaryFn::Max:
    return map(a, b, out, n, [isUnsigned](int64_t x, int64_t y) {
      return (isUnsigned ? bits(x) > bits(y) : x > y) ? x : y;
    });
  case BinaryFn::Pow:
    return map(a, b, out, n, powerOf);
  case BinaryFn::And:
    return map(a, b, out, n, [](int64_t x, int64_t y) { return x & y; });
  case BinaryFn::Or:
    return map(a, b, out, n, [](int64_t x, int64_t y) { return x | y; });
  case BinaryFn::Xor:
    return map(a, b, out, n, [](int64_t x, int64_t y) { return x ^ y; });
  case BinaryFn::Threefry:
    return map(a, b, out, n, [](int64_t x, int64_t y) {
      return int64_t(threefry(bits(x), bits(y)));
    });
  }
}

bool compareInts(ComparePredicate predicate, bool isUnsigned, int64_t x,
                 int64_t y) {
  bool less = isUnsigned ? bits(x) < bits(y) : x < y;
  switch (predicate) {
  case ComparePredicate::EQ:
    return x == y;
  case ComparePredicate::NE:
    return x != y;
  case ComparePredicate::LT:
    return less;
  case ComparePredicate::LE:
    return less || x == y;
  case ComparePredicate::GT:
    return !less && x != y;
  case ComparePredicate::GE:
    return !less;
  }
  llvm_unreachable("unknown predicate");
}

} // namespace

void fillConstant(const Instruction &i, void *out, int64_t lanes, Poison &p) {
  if (i.rep == Rep::I64) {
    std::fill_n(as<int64_t>(out), lanes, i.integer);
    return;
  }
  withFloatType(i.rep, [&](auto value) {
    using T = decltype(value);
    if constexpr (isMachineFloat<T>)
      value = static_cast<T>(i.number);
    else if (Undefined u = fromDouble(i.number, value); u != Undefined::None)
      p.markAll(u);
    std::fill_n(as<T>(out), lanes, value);
    fitLanes(i.fit, as<T>(out), lanes);
  });
}

void applyUnary(const Instruction &i, const void *a, void *out, int64_t lanes,
                Poison &p) {
  if (i.rep == Rep::I64) {
    unaryInts(i, as<int64_t>(a), as<int64_t>(out), lanes, p);
    return fitLanes(i.fit, as<int64_t>(out), lanes);
  }
  withFloatType(i.rep, [&](auto value) {
    using T = decltype(value);
    unaryLanes(static_cast<UnaryFn>(i.function), as<T>(a), as<T>(out), lanes,
               p);
    fitLanes(i.fit, as<T>(out), lanes);
  });
}

void applyBinary(const Instruction &i, const void *a, const void *b, void *out,
                 int64_t lanes, Poison &p) {
  if (i.rep == Rep::I64) {
    binaryInts(i, as<int64_t>(a), as<int64_t>(b), as<int64_t>(out), lanes, p);
    return fitLanes(i.fit, as<int64_t>(out), lanes);
  }
  withFloatType(i.rep, [&](auto value) {
    using T = decltype(value);
    binaryLanes(static_cast<BinaryFn>(i.function), as<T>(a), as<T>(b),
                as<T>(out), lanes, p);
    fitLanes(i.fit, as<T>(out), lanes);
  });
}

void applyCompare(const Instruction &i, const void *a, const void *b,
                  int64_t *out, int64_t lanes, Poison &p) {
  auto predicate = static_cast<ComparePredicate>(i.function);
  if (i.from == Rep::I64) {
    for (int64_t j = 0; j < lanes; ++j)
      out[j] = compareInts(predicate, i.fromFit == Fit::U64, as<int64_t>(a)[j],
                           as<int64_t>(b)[j]);
    return;
  }
  withFloatType(i.from, [&](auto value) {
    using T = decltype(value);
    // A number equals itself even if its value is uncertain; only a float or a
    // fingerprint may be undefined.
    if (!isMachineFloat<T> && !std::is_same_v<T, Guided> && a == b) {
      std::fill_n(out, lanes, mlc::compareNumbers(0, predicate, 0));
      return;
    }
    for (int64_t j = 0; j < lanes; ++j) {
      bool holds = false;
      if (Undefined u = compareOne(predicate, as<T>(a)[j], as<T>(b)[j], holds);
          u != Undefined::None)
        p.mark(j, u);
      out[j] = holds;
    }
  });
}

void applySelect(Rep rep, const int64_t *condition, const void *a,
                 const void *b, void *out, int64_t lanes) {
  auto choose = [&](auto value) {
    using T = decltype(value);
    for (int64_t j = 0; j < lanes; ++j)
      as<T>(out)[j] = condition[j] ? as<T>(a)[j] : as<T>(b)[j];
  };
  if (rep == Rep::I64)
    return choose(int64_t());
  withFloatType(rep, choose);
}

void blendLanes(Rep rep, const uint8_t *kept, const void *otherwise, void *out,
                int64_t lanes) {
  auto blend = [&](auto value) {
    using T = decltype(value);
    for (int64_t j = 0; j < lanes; ++j)
      as<T>(out)[j] = kept[j] ? as<T>(out)[j] : as<T>(otherwise)[j];
  };
  if (rep == Rep::I64)
    return blend(int64_t());
  withFloatType(rep, blend);
}

} // namespace mlc::evaluator
