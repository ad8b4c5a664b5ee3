//===- Numbers.h - Small floating-point types of tensor cores ---*- C++ -*-===//

#ifndef MLC_RUNTIME_EMULATOR_NUMBERS_H
#define MLC_RUNTIME_EMULATOR_NUMBERS_H

#include <cmath>
#include <cstdint>
#include <cstring>

namespace mlc::emulator {

inline float fromWord(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

inline float fromF16(uint16_t bits) {
  uint32_t sign = uint32_t(bits & 0x8000) << 16, rest = bits & 0x7fff;
  if (rest >= 0x7c00) // infinities and NaN
    return fromWord(sign | 0x7f800000 | ((rest & 0x3ff) << 13));
  if (rest >= 0x400)
    return fromWord(sign | ((rest << 13) + (112u << 23)));
  float small = std::ldexp(float(rest), -24);
  return sign ? -small : small;
}

inline float fromBF16(uint16_t bits) { return fromWord(uint32_t(bits) << 16); }

/// Tensor cores ignore the lower bits of a float.
inline float fromTF32(uint32_t bits) { return fromWord(bits & 0xffffe000); }

/// Four bits of exponent and three of mantissa; no infinity.
inline float fromE4M3(uint8_t bits) {
  int exponent = bits >> 3 & 15, mantissa = bits & 7;
  float value = exponent ? std::ldexp(float(8 + mantissa), exponent - 10)
                         : std::ldexp(float(mantissa), -9);
  if ((bits & 0x7f) == 0x7f)
    value = fromWord(0x7fc00000);
  return bits & 0x80 ? -value : value;
}

} // namespace mlc::emulator

#endif // MLC_RUNTIME_EMULATOR_NUMBERS_H
