//===- TensorMap.h - Tensors as a copy engine sees them ---------*- C++ -*-===//
//
// A tensor map says how the copy engine of a GPU (sm_90 and later) finds a
// part of a tensor. A kernel that copies so takes its maps as its first
// parameters; the runtime has the driver make them for each launch. One
// description serves all layers: sizes are expressions of a kernel in codegen,
// of a program in an artifact, and numbers at a launch.
//
// A kernel that copies tiles of 128 x 64 from its first input, f16[M, K]:
//
//   BasicTensorMap<IntExpr> map;
//   map.element = MapElement::F16;
//   map.dims = {K, M};
//   map.strides = {K * 2};
//   map.box = {64, 128};
//   map.steps = {1, 1};
//   map.swizzle = 128;
//
// Limits are those that CUDA documents for cuTensorMapEncodeTiled and
// cuTensorMapEncodeIm2col (cuda.h of CUDA 13.0).
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_TENSORMAP_H
#define MLC_RUNTIME_TENSORMAP_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mlc::runtime {

/// What the elements of a map are; TF32 is float32 that is rounded when it is
/// copied. The numbers are part of the file format.
enum class MapElement : uint8_t { U8 = 0, F16, BF16, F32, TF32 };
constexpr unsigned numMapElements = 5;

/// "u8", "f16", ...
const char *name(MapElement element);
unsigned byteSize(MapElement element);
/// The number of CUtensorMapDataType.
int driverType(MapElement element);

/// What a map has without sizes.
struct MapTile {
  static constexpr size_t maxRank = 5;

  /// The tensor: an index into the inputs of the launch, then its outputs.
  uint32_t operand = 0;
  MapElement element = MapElement::F16;
  /// Bytes within which chunks of 16 bytes are exchanged in shared memory: 0
  /// (they are not), 32, 64 or 128.
  uint32_t swizzle = 0;
  /// For each dim, the fastest first: from one element that is copied to the
  /// next. The first counts as 1.
  std::vector<uint32_t> steps;
  /// For each dim, the fastest first: elements that a copy goes over. Empty if
  /// the map is for pixels.
  std::vector<uint32_t> box;

  /// A map for pixels (im2col) has the dims channels, width, (height, depth,)
  /// images. Copies of it take `pixels` pixels of `channels` channels, in turn
  /// from the box between the corners. Corners are offsets from the first and
  /// the last pixel, the width's first. 0 pixels: a map for boxes.
  uint32_t pixels = 0, channels = 0;
  std::vector<int64_t> lower, upper;

  bool isForPixels() const { return pixels != 0; }
  /// Bytes of a row in shared memory; 0 if there is no box.
  uint64_t rowBytes() const {
    uint64_t inRow = isForPixels() ? channels : box.empty() ? 0 : box[0];
    return inRow * byteSize(element);
  }
};

/// The number of CUtensorMapSwizzle.
int driverSwizzle(const MapTile &tile);
/// What else the driver asks for: not interleaved, the L2 cache reads 128 bytes
/// at a time, what lies outside is zero.
constexpr int driverInterleave = 0, driverPromotion = 2, driverFill = 0;

/// A map. `Size` is the type of its sizes.
template <typename Size> struct BasicTensorMap : MapTile {
  /// Bytes from the operand's begin to the map's first element.
  Size offset = {};
  /// Elements along each dim, the fastest first. A dim of 0 counts as 1; the
  /// kernel must not copy from such a map.
  std::vector<Size> dims;
  /// Bytes from an element to the next one along each dim but the first.
  std::vector<Size> strides;
};

/// A map for one launch.
using SizedTensorMap = BasicTensorMap<int64_t>;

/// Why no tensor of that many dims and strides can have a map of `tile`; empty
/// if one can.
std::string whyNotMappable(const MapTile &tile, size_t numDims,
                           size_t numStrides);

/// Why the driver does not make `map` of memory at `address`; empty if it does.
/// "the stride of dim 1 is 24 bytes, which is no multiple of 16". Asks for what
/// the documented limits say, so each stride is at least the extent of the dims
/// before it.
std::string whyNotMappable(const SizedTensorMap &map, uint64_t address = 0);

/// Replaces dims of 0 by 1, and strides that have become too small.
void fillEmptyDims(SizedTensorMap &map);

/// The bytes from the operand's begin to the end of the map's last element.
/// False if they overflow or something is negative.
bool extentOf(const SizedTensorMap &map, uint64_t &bytes);

} // namespace mlc::runtime

#endif // MLC_RUNTIME_TENSORMAP_H
