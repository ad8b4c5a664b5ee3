//===- Samples.h - Elements of each rank ------------------------*- C++ -*-===//

#ifndef MLC_TEST_UNIT_TRANSPORT_SAMPLES_H
#define MLC_TEST_UNIT_TRANSPORT_SAMPLES_H

#include "runtime/transport/Schedule.h"

#include <cstring>
#include <random>
#include <vector>

namespace mlc::runtime::transport {

inline const mlc_dtype sampleTypes[] = {MLC_F32, MLC_F64, MLC_I64, MLC_BF16,
                                        MLC_F16, MLC_U8,  MLC_I32};

inline const Algorithm allAlgorithms[] = {
#define MLC_ALGORITHM(id, name, meaning) Algorithm::id,
#include "runtime/transport/Algorithms.def"
#undef MLC_ALGORITHM
};

/// Whether the algorithm is for that many ranks.
inline bool takes(Algorithm algorithm, int ranks) {
  if (algorithm == Algorithm::Server)
    return ranks > 1;
  return algorithm != Algorithm::Butterfly || (ranks & (ranks - 1)) == 0;
}

/// A whole number up to 127, which bfloat16 holds, as an element.
inline void store(mlc_dtype type, char *at, int number) {
  auto put = [&](auto value) { std::memcpy(at, &value, sizeof(value)); };
  uint32_t bits;
  float single = static_cast<float>(number);
  std::memcpy(&bits, &single, sizeof(bits));
  switch (type) {
  case MLC_F32:
    return put(single);
  case MLC_F64:
    return put(static_cast<double>(number));
  case MLC_I64:
    return put(static_cast<int64_t>(number));
  case MLC_I32:
    return put(static_cast<int32_t>(number));
  case MLC_BF16:
    return put(static_cast<uint16_t>(bits >> 16));
  case MLC_F16:
    return put(static_cast<_Float16>(number));
  default:
    return put(static_cast<uint8_t>(number));
  }
}

/// Elements of each rank: numbers whose sums are exact in every type, or any
/// bits at all, infinities and NaNs among them.
struct Samples {
  std::vector<std::vector<char>> data;
  std::vector<char> sum; // of the first `workers`, for exact numbers

  Samples(std::mt19937 &random, mlc_dtype type, int ranks, int workers,
          int64_t elements, bool exact) {
    const size_t size = mlc_dtype_size(type);
    data.assign(ranks, std::vector<char>(elements * size));
    sum.resize(elements * size);
    for (int64_t i = 0; exact && i < elements; ++i) {
      int total = 0;
      for (int r = 0; r < ranks; ++r) {
        int number = static_cast<int>(random() % 8);
        total += r < workers ? number : 0;
        store(type, &data[r][i * size], number);
      }
      store(type, &sum[i * size], total);
    }
    for (int r = 0; !exact && r < ranks; ++r)
      for (char &byte : data[r])
        byte = static_cast<char>(random());
  }
  std::vector<void *> pointers() {
    std::vector<void *> all;
    for (auto &one : data)
      all.push_back(one.data());
    return all;
  }
};

} // namespace mlc::runtime::transport

#endif // MLC_TEST_UNIT_TRANSPORT_SAMPLES_H
