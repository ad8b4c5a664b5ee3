//===- TensorMap.h - Tensors as the copy engine sees them -------*- C++ -*-===//

#ifndef MLC_RUNTIME_EMULATOR_TENSORMAP_H
#define MLC_RUNTIME_EMULATOR_TENSORMAP_H

#include "runtime/emulator/Launch.h"

#include <cstdint>

namespace mlc::emulator {

/// What a map's 128 bytes hold in the emulator. Dims are the fastest first.
struct TensorMap {
  static constexpr uint64_t theMark = 0x70616d2d636c6d21;

  uint64_t mark;
  uint64_t address;
  uint64_t strides[5];        ///< in bytes; the first is an element's size
  uint32_t dims[5];           ///< each less one
  uint16_t box[5];            ///< im2col: channels, and pixels
  int16_t lower[3], upper[3]; ///< im2col: corners of the pixels' box
  uint8_t steps[5];           ///< elements from one to the next
  uint8_t rank;
  uint8_t swizzle; ///< 0, 32, 64 or 128 bytes
  bool isPixels;   ///< im2col
  bool isTF32;     ///< elements are rounded

  uint64_t dim(unsigned i) const { return uint64_t(dims[i]) + 1; }
  unsigned elementBytes() const { return unsigned(strides[0]); }
  unsigned rowBytes() const { return box[0] * elementBytes(); }
  unsigned count(unsigned i) const {
    return (box[i] + steps[i] - 1) / steps[i];
  }
  unsigned rows() const;
  unsigned bytes() const { return rows() * rowBytes(); }
};
static_assert(sizeof(TensorMap) <= sizeof(MapWords));

/// The bits by which a swizzle of `width` bytes moves 16 bytes at `address`.
constexpr uint64_t swizzled(uint64_t address, unsigned width) {
  return width ? address ^ ((address >> 3) & (width - 16)) : address;
}

} // namespace mlc::emulator

#endif // MLC_RUNTIME_EMULATOR_TENSORMAP_H
