//===- Guided.cpp - Exact numbers that know their order -------------------===//

#include "dialects/Evaluator/Guided.h"
#include "dialects/Evaluator/Compare.h"
#include <array>
#include <vector>

namespace mlc {

using namespace detail;

thread_local bool dividedByZero = false;

namespace {

uint64_t power(uint64_t base, uint64_t exponent) {
  uint64_t result = 1;
  for (; exponent; exponent >>= 1) {
    if (exponent & 1)
      result = mulMod(result, base);
    base = mulMod(base, base);
  }
  return result;
}

/// Powers of an element of order `expOrder`, split into low and high digits, so
/// that a power is one product.
struct PowerTable {
  static constexpr uint64_t digit = 8192;
  std::array<uint64_t, digit> low;
  std::array<uint64_t, expOrder / digit + 1> high;

  PowerTable() {
    uint64_t generator = 0;
    for (uint64_t candidate = 3; !hasFullOrder(generator); ++candidate)
      generator = power(candidate, (prime - 1) / expOrder);
    low[0] = high[0] = 1;
    for (size_t i = 1; i < low.size(); ++i)
      low[i] = mulMod(low[i - 1], generator);
    uint64_t step = mulMod(low.back(), generator);
    for (size_t i = 1; i < high.size(); ++i)
      high[i] = mulMod(high[i - 1], step);
  }
  static bool hasFullOrder(uint64_t x) {
    for (uint64_t factor : {151, 331, 1321})
      if (x == 0 || power(x, expOrder / factor) == 1)
        return false;
    return true;
  }
  uint64_t at(uint64_t exponent) const {
    return mulMod(low[exponent % digit], high[exponent / digit]);
  }
};

/// Powers of two modulo `expOrder`, for all exponents of a double's mantissa.
struct PowersOfTwo {
  static constexpr int most = 1200;
  std::array<uint64_t, 2 * most + 1> values;

  PowersOfTwo() {
    values[most] = 1;
    for (int i = 1; i <= most; ++i) {
      values[most + i] = values[most + i - 1] * 2 % expOrder;
      values[most - i] = values[most - i + 1] * ((expOrder + 1) / 2) % expOrder;
    }
  }
  uint64_t at(int exponent) const { return values[most + exponent]; }
};

const PowerTable &powers() {
  static const PowerTable table;
  return table;
}

/// A value with a known residue only.
Guided fromResidue(uint64_t residue, double guide) {
  return {residue, mix(residue ^ 0x5851f42d4c957f2d) % expOrder,
          std::isfinite(guide) ? guide : std::nan("")};
}

Guided hashed(UnaryFn fn, const Guided &a, double guide) {
  uint64_t h = mix(mix(static_cast<uint64_t>(fn) + 77) ^ a.residue) & prime;
  return fromResidue(h == prime ? 0 : h, guide);
}

/// For an odd function: hashes positive arguments.
Guided oddHashed(UnaryFn fn, const Guided &a, double guide) {
  std::optional<int> sign = orderOf(a, Guided{0, 0, 0.0});
  if (!sign)
    return undefined();
  if (*sign == 0)
    return {0, 0, 0.0};
  return *sign < 0 ? negate(hashed(fn, negate(a), -guide))
                   : hashed(fn, a, guide);
}

Guided squareRoot(const Guided &a) {
  if (!(a.guide >= 0.0))
    return undefined();
  uint64_t root = a.residue;
  for (int i = 0; i < 59; ++i)
    root = mulMod(root, root);
  return fromResidue(root, std::sqrt(a.guide));
}

Guided absolute(const Guided &a) {
  std::optional<int> sign = orderOf(a, Guided{0, 0, 0.0});
  if (!sign)
    return undefined();
  return *sign < 0 ? negate(a) : a;
}

/// out = a / b with one inversion for all (each b is inverted through the
/// product of those before it).
void divide(const Guided *a, const Guided *b, Guided *out, size_t count) {
  static thread_local std::vector<uint64_t> prefix;
  prefix.resize(count + 1);
  prefix[0] = 1;
  for (size_t i = 0; i < count; ++i)
    prefix[i + 1] = b[i].residue ? mulMod(prefix[i], b[i].residue) : prefix[i];
  uint64_t inverse = power(prefix[count], prime - 2);
  for (size_t i = count; i-- > 0;) {
    if (!b[i].residue) {
      dividedByZero |= !std::isnan(b[i].guide);
      out[i] = undefined();
      continue;
    }
    uint64_t own = mulMod(inverse, prefix[i]);
    inverse = mulMod(inverse, b[i].residue);
    uint64_t numerator = a ? a[i].residue : 1;
    out[i] = fromResidue(mulMod(numerator, own),
                         (a ? a[i].guide : 1.0) / b[i].guide);
  }
}

Guided larger(const Guided &a, const Guided &b) {
  std::optional<int> o = orderOf(a, b);
  return !o ? undefined() : *o < 0 ? b : a;
}
Guided smaller(const Guided &a, const Guided &b) {
  std::optional<int> o = orderOf(a, b);
  return !o ? undefined() : *o > 0 ? b : a;
}

template <typename F>
void map(const Guided *a, Guided *out, size_t count, F f) {
  for (size_t i = 0; i < count; ++i)
    out[i] = f(a[i]);
}

} // namespace

Guided guided(double value) {
  if (!std::isfinite(value))
    return {0, 0, value};
  int shift;
  double fraction = std::frexp(value, &shift);
  auto mantissa = static_cast<int64_t>(std::ldexp(std::fabs(fraction), 53));
  shift -= 53;
  uint64_t m = static_cast<uint64_t>(mantissa);
  // 2^61 = 1 modulo the prime.
  uint64_t residue = mulMod(m % prime, uint64_t(1) << ((shift % 61 + 61) % 61));
  static const PowersOfTwo two;
  uint64_t exponent = m % expOrder * two.at(shift) % expOrder;
  Guided result{residue, exponent, std::fabs(value)};
  return value < 0 ? negate(result) : result;
}

void applyUnary(UnaryFn fn, const Guided *a, Guided *out, size_t count) {
  switch (fn) {
  case UnaryFn::Neg:
    return map(a, out, count, negate);
  case UnaryFn::Abs:
    return map(a, out, count, absolute);
  case UnaryFn::Exp:
    return map(a, out, count, [](const Guided &x) {
      return fromResidue(powers().at(x.exponent), std::exp(x.guide));
    });
  case UnaryFn::Sqrt:
    return map(a, out, count, squareRoot);
  case UnaryFn::Reciprocal:
    return divide(nullptr, a, out, count);
  default:
    break;
  }
  const ScalarFunction &f = factsOf(fn);
  bool isPartial = !f.isDefinedEverywhere();
  map(a, out, count, [&](const Guided &x) {
    if (!f.evaluate)
      return undefined();
    if (isPartial && !f.isDefinedAt(x.guide))
      return undefined();
    double guide = f.evaluate(x.guide);
    return f.parity == Parity::Odd ? oddHashed(fn, x, guide)
                                   : hashed(fn, x, guide);
  });
}

void applyBinary(BinaryFn fn, const Guided *a, const Guided *b, Guided *out,
                 size_t count) {
  auto each = [&](auto f) {
    for (size_t i = 0; i < count; ++i)
      out[i] = f(a[i], b[i]);
  };
  switch (fn) {
  case BinaryFn::Add:
    return each(add);
  case BinaryFn::Sub:
    return each(
        [](const Guided &x, const Guided &y) { return add(x, negate(y)); });
  case BinaryFn::Mul:
    return each(multiply);
  case BinaryFn::Div:
    return divide(a, b, out, count);
  case BinaryFn::Min:
    return each(smaller);
  case BinaryFn::Max:
    return each(larger);
  case BinaryFn::FloorDiv:
  case BinaryFn::Mod:
  case BinaryFn::Pow:
  case BinaryFn::And:
  case BinaryFn::Or:
  case BinaryFn::Xor:
  case BinaryFn::Threefry:
    return each([](const Guided &, const Guided &) { return undefined(); });
  }
}

Undefined applyCompare(ComparePredicate predicate, Guided a, Guided b,
                       bool &out) {
  std::optional<int> order = orderOf(a, b);
  if (!order)
    return Undefined::Ambiguous;
  out = compareNumbers(*order, predicate, 0);
  return Undefined::None;
}

Undefined fromInt(__int128 value, Guided &out) {
  out = guided(static_cast<double>(value));
  return Undefined::None;
}

Undefined fromDouble(double value, Guided &out) {
  out = guided(value);
  return Undefined::None;
}

Undefined toInt(Guided, int64_t &) { return Undefined::NoMeaning; }

Undefined narrow(unsigned, float (*)(double), Guided, Guided &) {
  return Undefined::NoMeaning;
}

} // namespace mlc
