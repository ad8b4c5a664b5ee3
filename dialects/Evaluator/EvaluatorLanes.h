//===- EvaluatorLanes.h - Loops over lanes of one type ----------*- C++ -*-===//
//
// Private to the evaluator's kernels: from representations to C++ types, and
// fitting values to their element type.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_EVALUATOR_EVALUATORLANES_H
#define MLC_DIALECTS_EVALUATOR_EVALUATORLANES_H

#include "dialects/Evaluator/EvaluatorProgram.h"
#include <algorithm>
#include <limits>

namespace mlc::evaluator {

/// Calls `f` with a value of the C++ type of a float representation.
template <typename F> void withFloatType(Rep rep, F f) {
  switch (rep) {
  case Rep::F32:
    return f(float());
  case Rep::F64:
    return f(double());
  case Rep::Interval:
    return f(Interval());
  case Rep::Modular:
    return f(Residue());
  case Rep::Rational:
    return f(Rational());
  case Rep::Guided:
    return f(Guided());
  case Rep::I64:
    llvm_unreachable("not a float");
  }
}

template <typename T>
constexpr bool isMachineFloat =
    std::is_same_v<T, float> || std::is_same_v<T, double>;

inline int64_t fitInt(Fit fit, int64_t x) {
  switch (fit) {
  case Fit::Bool:
    return x & 1;
  case Fit::S8:
    return static_cast<int8_t>(x);
  case Fit::S16:
    return static_cast<int16_t>(x);
  case Fit::S32:
    return static_cast<int32_t>(x);
  case Fit::U8:
    return static_cast<uint8_t>(x);
  case Fit::U16:
    return static_cast<uint16_t>(x);
  case Fit::U32:
    return static_cast<uint32_t>(x);
  default:
    return x;
  }
}

/// The nearest number of a type with fewer bits than int64.
inline int64_t clampInt(Fit fit, int64_t x) {
  auto to = [x](auto end) {
    using Limits = std::numeric_limits<decltype(end)>;
    return std::clamp<int64_t>(x, Limits::min(), Limits::max());
  };
  switch (fit) {
  case Fit::S8:
    return to(int8_t());
  case Fit::S16:
    return to(int16_t());
  case Fit::S32:
    return to(int32_t());
  case Fit::U8:
    return to(uint8_t());
  case Fit::U16:
    return to(uint16_t());
  case Fit::U32:
    return to(uint32_t());
  case Fit::U64:
    return std::max<int64_t>(x, 0);
  default:
    return x;
  }
}

template <typename T, typename F> void each(T *x, int64_t lanes, F f) {
  for (int64_t j = 0; j < lanes; ++j)
    x[j] = f(x[j]);
}

inline void fitLanes(Fit fit, int64_t *x, int64_t lanes) {
  if (fit != Fit::None && fit != Fit::U64)
    each(x, lanes, [fit](int64_t v) { return fitInt(fit, v); });
}

template <typename T>
  requires isMachineFloat<T>
void fitLanes(Fit fit, T *x, int64_t lanes) {
  if (fit == Fit::Half)
    each(x, lanes, [](T v) { return T(roundToHalf(float(v))); });
  else if (fit == Fit::BFloat)
    each(x, lanes, [](T v) { return T(roundToBFloat(float(v))); });
  else if (fit == Fit::Single)
    each(x, lanes, [](T v) { return T(float(v)); });
}

template <typename T> void fitLanes(Fit, T *, int64_t) {}

inline uint64_t bits(int64_t x) { return static_cast<uint64_t>(x); }

template <typename T, typename F>
void map(const T *a, T *out, int64_t lanes, F f) {
  for (int64_t j = 0; j < lanes; ++j)
    out[j] = f(a[j]);
}
template <typename T, typename F>
void map(const T *a, const T *b, T *out, int64_t lanes, F f) {
  for (int64_t j = 0; j < lanes; ++j)
    out[j] = f(a[j], b[j]);
}

/// NaN if either is.
template <typename T> T smaller(T x, T y) {
  return x != x ? x : y != y ? y : x < y ? x : y;
}
template <typename T> T larger(T x, T y) {
  return x != x ? x : y != y ? y : x > y ? x : y;
}

template <typename T> const T *as(const void *x) {
  return static_cast<const T *>(x);
}
template <typename T> T *as(void *x) { return static_cast<T *>(x); }

} // namespace mlc::evaluator

#endif // MLC_DIALECTS_EVALUATOR_EVALUATORLANES_H
