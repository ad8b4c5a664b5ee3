//===- Threefry.h - Random bits as a function of a counter ------*- C++ -*-===//
//
// Threefry-2x32 with 20 rounds (Salmon and others, "Parallel random numbers: as
// easy as 1, 2, 3", 2011): a block cipher of a key and a counter, so that each
// number can be computed alone, repeatedly and in any order. Words are 64-bit
// halves, the low one first.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_DEFINITION_THREEFRY_H
#define MLC_DIALECTS_DEFINITION_THREEFRY_H

#include <bit>
#include <cstdint>

namespace mlc {

/// The rotation of the second word in rounds 0, 1, ..., repeating after 8.
inline constexpr int threefryRotations[8] = {13, 15, 26, 6, 17, 29, 16, 24};
constexpr int threefryRounds = 20;
/// The third word of the key is this, XORed with the other two.
constexpr uint32_t threefryParity = 0x1BD11BDA;

constexpr uint64_t threefry(uint64_t key, uint64_t counter) {
  uint32_t low = uint32_t(key), high = uint32_t(key >> 32);
  const uint32_t keys[3] = {low, high, threefryParity ^ low ^ high};
  uint32_t x = uint32_t(counter) + keys[0];
  uint32_t y = uint32_t(counter >> 32) + keys[1];
  for (uint32_t round = 0; round < threefryRounds; ++round) {
    x += y;
    y = std::rotl(y, threefryRotations[round % 8]) ^ x;
    if (uint32_t turn = (round + 1) / 4; round % 4 == 3) {
      x += keys[turn % 3];
      y += keys[(turn + 1) % 3] + turn;
    }
  }
  return uint64_t(y) << 32 | x;
}

// The authors' test vectors.
static_assert(threefry(0, 0) == 0x99ba4efe'6b200159);
static_assert(threefry(~uint64_t(0), ~uint64_t(0)) == 0xbb002be7'1cb996fc);
static_assert(threefry(0x03707344'13198a2e, 0x85a308d3'243f6a88) ==
              0x483df7a0'c4923a9c);

} // namespace mlc

#endif // MLC_DIALECTS_DEFINITION_THREEFRY_H
