//===- Guided.h - Exact numbers that know their order -----------*- C++ -*-===//
//
// The numbers of fingerprints: a residue modulo 2^61 - 1, for which ring
// identities and quotients are exact, and a double that decides order (maximum,
// rectifier, selection). Functions without algebra are hashed on the residue.
// exp is a homomorphism: a second residue, modulo a divisor of 2^61 - 2, is the
// exponent of a fixed element of that order. sqrt is x^(2^59), also a
// homomorphism, and a root of squares.
//
// A NaN guide means that the value is undefined, or that its order cannot be
// told. Equal residues only nominate; they never prove.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_EVALUATOR_GUIDED_H
#define MLC_DIALECTS_EVALUATOR_GUIDED_H

#include "dialects/Definition/Definition.h"
#include "dialects/Definition/ScalarArithmetic.h"
#include <cmath>
#include <optional>

namespace mlc {

namespace detail {

inline constexpr uint64_t prime = Residue::prime;
/// 151 * 331 * 1321, which divides 2^61 - 2.
inline constexpr uint64_t expOrder = 66024901;

inline uint64_t addMod(uint64_t a, uint64_t b) {
  uint64_t sum = a + b;
  return sum >= prime ? sum - prime : sum;
}
inline uint64_t mulMod(uint64_t a, uint64_t b) {
  unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  uint64_t sum = (static_cast<uint64_t>(product) & prime) +
                 static_cast<uint64_t>(product >> 61);
  return sum >= prime ? sum - prime : sum;
}

} // namespace detail

/// The exact value of a finite double.
Guided guided(double value);

inline Guided add(const Guided &a, const Guided &b) {
  uint64_t exponent = a.exponent + b.exponent;
  return {detail::addMod(a.residue, b.residue),
          exponent >= detail::expOrder ? exponent - detail::expOrder : exponent,
          a.guide + b.guide};
}
inline Guided multiply(const Guided &a, const Guided &b) {
  return {detail::mulMod(a.residue, b.residue),
          a.exponent * b.exponent % detail::expOrder, a.guide * b.guide};
}
inline Guided negate(const Guided &a) {
  return {a.residue ? detail::prime - a.residue : 0,
          a.exponent ? detail::expOrder - a.exponent : 0, -a.guide};
}

/// -1, 0 or 1 if a is smaller than, equal to or larger than b; nothing if
/// rounding leaves it open.
inline std::optional<int> orderOf(const Guided &a, const Guided &b) {
  if (std::isnan(a.guide) || std::isnan(b.guide))
    return std::nullopt;
  if (std::isinf(a.guide) || std::isinf(b.guide))
    return a.guide < b.guide ? -1 : a.guide > b.guide ? 1 : 0;
  double gap = a.guide - b.guide;
  double noise =
      1e-11 + 1e-9 * std::max(std::fabs(a.guide), std::fabs(b.guide));
  if (gap > noise)
    return 1;
  if (gap < -noise)
    return -1;
  return a.residue == b.residue ? std::optional(0) : std::nullopt;
}

inline Guided undefined() { return {0, 0, std::nan("")}; }

/// Set if this thread divided by 0. A graph that divides by a value that may
/// well be 0 (a rectifier) is useless.
extern thread_local bool dividedByZero;

/// out[i] = fn(a[i]). Batched, because quotients share one inversion.
void applyUnary(UnaryFn fn, const Guided *a, Guided *out, size_t count);
void applyBinary(BinaryFn fn, const Guided *a, const Guided *b, Guided *out,
                 size_t count);

} // namespace mlc

#endif // MLC_DIALECTS_EVALUATOR_GUIDED_H
