//===- Blake3.h - The BLAKE3 hash -------------------------------*- C++ -*-===//
//
// The checksum of artifacts and the key by which the writer finds equal
// constants. Our own implementation from the published specification
// (O'Connor, Aumasson, Neves, Wilcox-O'Hearn: "BLAKE3, one function, fast
// everywhere", 2020): plain hash mode, 32 bytes. Whole chunks are hashed 16, 8
// or 4 at a time with the vectors the CPU has.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_BLAKE3_H
#define MLC_RUNTIME_BLAKE3_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace mlc::runtime {

using Digest = std::array<uint8_t, 32>;

/// Hashes a stream given in pieces of any size.
class Blake3 {
public:
  /// Hashes at most `maxLanes` chunks at once, as far as the CPU can.
  explicit Blake3(unsigned maxLanes = 16);
  void update(const void *data, size_t size);
  /// The digest of all bytes so far; may be called at any time.
  Digest finish() const;

private:
  using Words = std::array<uint32_t, 8>;
  void addChunk(Words cv);

  static constexpr size_t chunkSize = 1024;
  /// Hashes `lanes` whole chunks at once.
  void (*hashWide)(const uint8_t *data, uint64_t counter, Words *out);
  unsigned lanes;
  /// Chaining values of finished subtrees, largest first; bit i of
  /// `chunks` says whether there is one of 2^i chunks.
  std::array<Words, 54> stack;
  unsigned depth = 0;
  uint64_t chunks = 0; ///< whole chunks in `stack`
  /// The chunk under way; never empty once there was input, since the last
  /// chunk is hashed differently and only finish() knows which is last.
  std::array<uint8_t, chunkSize> pending;
  size_t pendingSize = 0;
};

Digest blake3(const void *data, size_t size);
std::string toHex(const Digest &digest);

} // namespace mlc::runtime

#endif // MLC_RUNTIME_BLAKE3_H
