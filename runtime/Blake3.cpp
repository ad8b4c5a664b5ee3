//===- Blake3.cpp - The BLAKE3 hash ---------------------------------------===//

#include "runtime/Blake3.h"

#include <algorithm>
#include <cstring>

namespace mlc::runtime {

namespace {

enum : uint32_t { chunkStart = 1, chunkEnd = 2, parentNode = 4, root = 8 };

constexpr uint32_t iv[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                            0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

/// The message permutation applied 0 to 6 times.
struct Schedule {
  uint8_t word[7][16];
};
constexpr Schedule makeSchedule() {
  constexpr uint8_t permutation[16] = {2, 6,  3,  10, 7, 0,  4,  13,
                                       1, 11, 12, 5,  9, 14, 15, 8};
  Schedule s{};
  for (unsigned i = 0; i < 16; ++i)
    s.word[0][i] = i;
  for (unsigned r = 1; r < 7; ++r)
    for (unsigned i = 0; i < 16; ++i)
      s.word[r][i] = s.word[r - 1][permutation[i]];
  return s;
}
constexpr Schedule schedule = makeSchedule();

#define MLC_INLINE inline __attribute__((always_inline))

template <typename V> MLC_INLINE V rotate(V v, unsigned by) {
  return (v >> by) | (v << (32 - by));
}

template <typename V> MLC_INLINE void mix(V &a, V &b, V &c, V &d, V x, V y) {
  a = a + b + x;
  d = rotate<V>(d ^ a, 16);
  c = c + d;
  b = rotate<V>(b ^ c, 12);
  a = a + b + y;
  d = rotate<V>(d ^ a, 8);
  c = c + d;
  b = rotate<V>(b ^ c, 7);
}

/// The compression function; V is a word or a vector of words of independent
/// inputs. `cv` becomes the next chaining value.
template <typename V>
MLC_INLINE void compress(V cv[8], const V m[16], V counterLow, V counterHigh,
                         uint32_t length, uint32_t flags) {
  V zero = counterLow ^ counterLow;
  V v[16] = {cv[0],        cv[1],        cv[2],         cv[3],
             cv[4],        cv[5],        cv[6],         cv[7],
             zero + iv[0], zero + iv[1], zero + iv[2],  zero + iv[3],
             counterLow,   counterHigh,  zero + length, zero + flags};
#pragma GCC unroll 7
  for (unsigned r = 0; r < 7; ++r) {
    const uint8_t *s = schedule.word[r];
    mix(v[0], v[4], v[8], v[12], m[s[0]], m[s[1]]);
    mix(v[1], v[5], v[9], v[13], m[s[2]], m[s[3]]);
    mix(v[2], v[6], v[10], v[14], m[s[4]], m[s[5]]);
    mix(v[3], v[7], v[11], v[15], m[s[6]], m[s[7]]);
    mix(v[0], v[5], v[10], v[15], m[s[8]], m[s[9]]);
    mix(v[1], v[6], v[11], v[12], m[s[10]], m[s[11]]);
    mix(v[2], v[7], v[8], v[13], m[s[12]], m[s[13]]);
    mix(v[3], v[4], v[9], v[14], m[s[14]], m[s[15]]);
  }
  for (unsigned i = 0; i < 8; ++i)
    cv[i] = v[i] ^ v[i + 8];
}

MLC_INLINE uint32_t load32(const uint8_t *p) {
  uint32_t word;
  std::memcpy(&word, p, 4); // little-endian hosts only; see Cpu.cpp
  return word;
}

/// Hashes `lanes` consecutive whole chunks, none of them the root; lane i's
/// chaining value goes to out[i].
template <typename V, unsigned lanes>
MLC_INLINE void hashChunks(const uint8_t *data, uint64_t counter,
                           std::array<uint32_t, 8> *out) {
  V cv[8], low, high;
  for (unsigned i = 0; i < 8; ++i)
    for (unsigned lane = 0; lane < lanes; ++lane)
      cv[i][lane] = iv[i];
  for (unsigned lane = 0; lane < lanes; ++lane) {
    low[lane] = uint32_t(counter + lane);
    high[lane] = uint32_t((counter + lane) >> 32);
  }
  for (unsigned block = 0; block < 16; ++block) {
    V m[16];
    // Transpose: word i of each lane's block.
    for (unsigned i = 0; i < 16; ++i)
      for (unsigned lane = 0; lane < lanes; ++lane)
        m[i][lane] = load32(data + lane * 1024 + block * 64 + i * 4);
    uint32_t flags =
        (block == 0 ? chunkStart : 0) | (block == 15 ? chunkEnd : 0);
    compress<V>(cv, m, low, high, 64, flags);
  }
  for (unsigned lane = 0; lane < lanes; ++lane)
    for (unsigned i = 0; i < 8; ++i)
      out[lane][i] = cv[i][lane];
}

typedef uint32_t V4 __attribute__((vector_size(16)));
typedef uint32_t V8 __attribute__((vector_size(32)));
typedef uint32_t V16 __attribute__((vector_size(64)));

#if defined(__x86_64__)
__attribute__((target("avx512f,avx512vl"))) void
hash16(const uint8_t *data, uint64_t counter, std::array<uint32_t, 8> *out) {
  hashChunks<V16, 16>(data, counter, out);
}
__attribute__((target("avx2"))) void
hash8(const uint8_t *data, uint64_t counter, std::array<uint32_t, 8> *out) {
  hashChunks<V8, 8>(data, counter, out);
}
#endif
void hash4(const uint8_t *data, uint64_t counter,
           std::array<uint32_t, 8> *out) {
  hashChunks<V4, 4>(data, counter, out);
}

using Words = std::array<uint32_t, 8>;

void compressBytes(Words &cv, const uint8_t *block, uint64_t counter,
                   uint32_t length, uint32_t flags) {
  uint32_t m[16];
  for (unsigned i = 0; i < 16; ++i)
    m[i] = load32(block + 4 * i);
  compress<uint32_t>(cv.data(), m, uint32_t(counter), uint32_t(counter >> 32),
                     length, flags);
}

/// A chunk of 0 to 1024 bytes; `last` is added to the flags of its last block.
Words hashChunk(const uint8_t *data, size_t size, uint64_t counter,
                uint32_t last) {
  Words cv;
  std::copy(iv, iv + 8, cv.begin());
  uint32_t flags = chunkStart;
  for (; size > 64; size -= 64, data += 64, flags = 0)
    compressBytes(cv, data, counter, 64, flags);
  uint8_t block[64] = {};
  if (size)
    std::memcpy(block, data, size);
  compressBytes(cv, block, counter, size, flags | chunkEnd | last);
  return cv;
}

Words hashParent(const Words &left, const Words &right, uint32_t last) {
  uint8_t block[64];
  std::memcpy(block, left.data(), 32);
  std::memcpy(block + 32, right.data(), 32);
  Words cv;
  std::copy(iv, iv + 8, cv.begin());
  compressBytes(cv, block, 0, 64, parentNode | last);
  return cv;
}

} // namespace

Blake3::Blake3(unsigned maxLanes) : hashWide(hash4), lanes(4) {
#if defined(__x86_64__)
  if (maxLanes >= 16 && __builtin_cpu_supports("avx512f") &&
      __builtin_cpu_supports("avx512vl")) {
    hashWide = hash16;
    lanes = 16;
  } else if (maxLanes >= 8 && __builtin_cpu_supports("avx2")) {
    hashWide = hash8;
    lanes = 8;
  }
#endif
}

void Blake3::addChunk(Words cv) {
  ++chunks;
  for (uint64_t full = chunks; (full & 1) == 0; full >>= 1)
    cv = hashParent(stack[--depth], cv, 0);
  stack[depth++] = cv;
}

void Blake3::update(const void *data, size_t size) {
  const uint8_t *p = static_cast<const uint8_t *>(data);
  while (size > 0) {
    if (pendingSize == 0) {
      Words cvs[16];
      for (; size > lanes * chunkSize;
           p += lanes * chunkSize, size -= lanes * chunkSize) {
        hashWide(p, chunks, cvs);
        for (unsigned i = 0; i < lanes; ++i)
          addChunk(cvs[i]);
      }
    } else if (pendingSize == chunkSize) {
      addChunk(hashChunk(pending.data(), chunkSize, chunks, 0));
      pendingSize = 0;
      continue;
    }
    size_t take = std::min(size, chunkSize - pendingSize);
    std::memcpy(pending.data() + pendingSize, p, take);
    pendingSize += take;
    p += take;
    size -= take;
  }
}

Digest Blake3::finish() const {
  unsigned left = depth;
  Words cv = hashChunk(pending.data(), pendingSize, chunks, left ? 0 : root);
  while (left > 0) {
    --left;
    cv = hashParent(stack[left], cv, left ? 0 : root);
  }
  Digest digest;
  std::memcpy(digest.data(), cv.data(), 32);
  return digest;
}

Digest blake3(const void *data, size_t size) {
  Blake3 hash;
  hash.update(data, size);
  return hash.finish();
}

std::string toHex(const Digest &digest) {
  static const char digits[] = "0123456789abcdef";
  std::string text;
  for (uint8_t byte : digest) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

} // namespace mlc::runtime
