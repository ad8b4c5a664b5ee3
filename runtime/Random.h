//===- Random.h - Numbers from a seed ---------------------------*- C++ -*-===//

#ifndef MLC_RUNTIME_RANDOM_H
#define MLC_RUNTIME_RANDOM_H

#include <cmath>
#include <cstdint>

namespace mlc::runtime {

/// SplitMix64 (Steele, Lea and Flood 2014): the same numbers on every machine.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t bits() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  double uniform() { return (bits() >> 11) * 0x1p-53; }
  double normal() {
    double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * 3.141592653589793 * uniform());
  }

private:
  uint64_t state;
};

} // namespace mlc::runtime

#endif // MLC_RUNTIME_RANDOM_H
