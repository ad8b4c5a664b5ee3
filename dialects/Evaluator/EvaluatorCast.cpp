//===- EvaluatorCast.cpp - Conversions over many lanes --------------------===//

#include "dialects/Definition/NumberTypes.h"
#include "dialects/Evaluator/EvaluatorKernels.h"
#include "dialects/Evaluator/EvaluatorLanes.h"
#include <limits>

namespace mlc::evaluator {

namespace {

/// Truncates; saturates at the ends of int64, NaN becomes 0.
int64_t truncated(double x) {
  if (x != x)
    return 0;
  if (x >= 0x1p63)
    return std::numeric_limits<int64_t>::max();
  if (x < -0x1p63)
    return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(x);
}

float roundSingle(double x) { return static_cast<float>(x); }
float roundHalf(double x) { return roundToHalf(static_cast<float>(x)); }
float roundBFloat(double x) { return roundToBFloat(static_cast<float>(x)); }

auto roundingOf(const Instruction &i) {
  return i.fit == Fit::Half     ? roundHalf
         : i.fit == Fit::BFloat ? roundBFloat
                                : roundSingle;
}

/// Integers are rounded, too, and may leave the type.
template <typename T>
Undefined numberFromInt(const Instruction &i, __int128 value, T &out) {
  Undefined u = fromInt(value, out);
  if (u == Undefined::None && i.narrows)
    return narrow(i.extra, roundingOf(i), out, out);
  return u;
}

template <typename T>
void castFromInt(const Instruction &i, const int64_t *a, T *out, int64_t n,
                 Poison &p) {
  bool isUnsigned = i.fromFit == Fit::U64;
  for (int64_t j = 0; j < n; ++j) {
    if constexpr (isMachineFloat<T>)
      out[j] = isUnsigned ? static_cast<T>(bits(a[j])) : static_cast<T>(a[j]);
    else if (Undefined u = numberFromInt(
                 i, isUnsigned ? __int128(bits(a[j])) : __int128(a[j]), out[j]);
             u != Undefined::None)
      p.mark(j, u);
  }
  fitLanes(i.fit, out, n);
}

/// Truncates to the instruction's type; saturates at its ends, NaN becomes 0.
int64_t toInteger(Fit fit, double x) {
  if (fit == Fit::Bool)
    return x != 0;
  if (fit == Fit::U64 && x >= 0x1p63)
    return static_cast<int64_t>(x >= 0x1p64 ? ~uint64_t(0)
                                            : static_cast<uint64_t>(x));
  return clampInt(fit, truncated(x));
}

template <typename T>
void castToInt(const Instruction &i, const T *a, int64_t *out, int64_t n,
               Poison &p) {
  for (int64_t j = 0; j < n; ++j) {
    out[j] = 0;
    if constexpr (isMachineFloat<T>) {
      out[j] = toInteger(i.fit, a[j]);
    } else {
      Undefined u;
      if (i.fit == Fit::Bool) {
        T zero;
        bool differs = false;
        (void)fromInt(0, zero);
        u = mlc::applyCompare(ComparePredicate::NE, a[j], zero, differs);
        out[j] = differs;
      } else {
        u = toInt(a[j], out[j]);
        bool fits =
            i.fit == Fit::U64 ? out[j] >= 0 : fitInt(i.fit, out[j]) == out[j];
        if (u == Undefined::None && !fits)
          u = Undefined::OutOfType;
      }
      if (u != Undefined::None)
        p.mark(j, u);
    }
  }
}

template <typename T>
void castExact(const Instruction &i, const T *a, T *out, int64_t n, Poison &p) {
  auto *round = roundingOf(i);
  for (int64_t j = 0; j < n; ++j) {
    out[j] = a[j];
    if (!i.narrows)
      continue;
    if (Undefined u = narrow(i.extra, round, a[j], out[j]);
        u != Undefined::None)
      p.mark(j, u);
  }
}

template <typename From, typename To>
void castFloat(const Instruction &i, const From *a, To *out, int64_t n) {
  for (int64_t j = 0; j < n; ++j)
    out[j] = static_cast<To>(a[j]);
  fitLanes(i.fit, out, n);
}

} // namespace

bool narrows(mlir::Type from, mlir::Type to) {
  if (!mlir::isa<mlir::FloatType>(to) || holdsNumbersOf(to, from))
    return false;
  bool isShort = to.getIntOrFloatBitWidth() <= 16;
  return mlir::isa<mlir::FloatType>(from) ||
         (mlir::isa<mlir::IntegerType>(from) && isShort);
}

void applyCast(const Instruction &i, const void *a, void *out, int64_t lanes,
               Poison &p) {
  if (i.from == Rep::I64 && i.rep == Rep::I64) {
    for (int64_t j = 0; j < lanes; ++j)
      as<int64_t>(out)[j] = i.fit == Fit::Bool
                                ? as<int64_t>(a)[j] != 0
                                : fitInt(i.fit, as<int64_t>(a)[j]);
    return;
  }
  if (i.from == Rep::I64)
    return withFloatType(i.rep, [&](auto value) {
      using T = decltype(value);
      castFromInt(i, as<int64_t>(a), as<T>(out), lanes, p);
    });
  withFloatType(i.from, [&](auto value) {
    using T = decltype(value);
    if (i.rep == Rep::I64)
      castToInt(i, as<T>(a), as<int64_t>(out), lanes, p);
    else if constexpr (!isMachineFloat<T>)
      castExact(i, as<T>(a), as<T>(out), lanes, p);
    else if (i.rep == Rep::F32)
      castFloat(i, as<T>(a), as<float>(out), lanes);
    else
      castFloat(i, as<T>(a), as<double>(out), lanes);
  });
}

} // namespace mlc::evaluator
