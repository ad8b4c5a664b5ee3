//===- TensorMap.cpp - Tensors as a copy engine sees them -----------------===//

#include "runtime/TensorMap.h"

#include <algorithm>

namespace mlc::runtime {

namespace {

struct ElementRow {
  const char *name;
  unsigned bytes;
  int type; ///< CUtensorMapDataType
};
constexpr ElementRow elements[numMapElements] = {{"u8", 1, 0},
                                                 {"f16", 2, 6},
                                                 {"bf16", 2, 9},
                                                 {"f32", 4, 7},
                                                 {"tf32", 4, 11}};

constexpr uint64_t maxDim = uint64_t(1) << 32, strideLimit = uint64_t(1) << 40;
/// The unit of addresses, strides and rows.
constexpr uint64_t unit = 16;
constexpr uint32_t maxBox = 256, maxStep = 8, maxPixels = 1024;

std::string isNot(const std::string &what, uint64_t value,
                  const std::string &wanted) {
  return what + " is " + std::to_string(value) + ", " + wanted;
}

std::string ofDim(const char *what, size_t dim) {
  return std::string(what) + " of dim " + std::to_string(dim);
}

std::string whyNoBox(const MapTile &tile, size_t rank) {
  if (!tile.lower.empty() || !tile.upper.empty() || tile.channels)
    return "it has corners or channels, but no pixels";
  if (tile.box.size() != rank)
    return isNot("the number of the box's dims", tile.box.size(),
                 "the map has " + std::to_string(rank));
  for (size_t i = 0; i < rank; ++i)
    if (tile.box[i] < 1 || tile.box[i] > maxBox)
      return isNot(ofDim("the box", i), tile.box[i], "1 to 256 are possible");
  if (tile.rowBytes() % unit)
    return isNot("a row of the box", tile.rowBytes(),
                 "which is no multiple of 16 bytes");
  return "";
}

std::string whyNoPixels(const MapTile &tile, size_t rank) {
  if (rank < 3)
    return isNot("the rank", rank, "pixels need 3 to 5");
  if (!tile.box.empty())
    return "it has both a box and pixels";
  size_t numOffsets = rank - 2;
  if (tile.lower.size() != numOffsets || tile.upper.size() != numOffsets)
    return "a corner has not " + std::to_string(numOffsets) + " offsets";
  // Signed numbers of 16, 8 or 5 bits.
  const int64_t most = rank == 3 ? 32767 : rank == 4 ? 127 : 15;
  for (const std::vector<int64_t> *corner : {&tile.lower, &tile.upper})
    for (int64_t offset : *corner)
      if (offset < -most - 1 || offset > most)
        return "an offset of a corner is " + std::to_string(offset) + ", " +
               std::to_string(-most - 1) + " to " + std::to_string(most) +
               " are possible";
  if (tile.channels < 1 || tile.channels > maxBox)
    return isNot("the number of channels", tile.channels,
                 "1 to 256 are possible");
  if (tile.pixels > maxPixels)
    return isNot("the number of pixels", tile.pixels, "1 to 1024 are possible");
  return "";
}

} // namespace

const char *name(MapElement element) { return elements[int(element)].name; }

unsigned byteSize(MapElement element) { return elements[int(element)].bytes; }

int driverType(MapElement element) { return elements[int(element)].type; }

int driverSwizzle(const MapTile &tile) {
  return tile.swizzle == 128  ? 3
         : tile.swizzle == 64 ? 2
         : tile.swizzle == 32 ? 1
                              : 0;
}

std::string whyNotMappable(const MapTile &tile, size_t numDims,
                           size_t numStrides) {
  if (numDims < 1 || numDims > MapTile::maxRank)
    return isNot("the rank", numDims, "1 to 5 are possible");
  if (numStrides != numDims - 1)
    return isNot("the number of strides", numStrides,
                 "every dim but the first has one");
  if (tile.steps.size() != numDims)
    return isNot("the number of element strides", tile.steps.size(),
                 "the map has " + std::to_string(numDims) + " dims");
  for (size_t i = 0; i < numDims; ++i)
    if (tile.steps[i] < 1 || tile.steps[i] > maxStep)
      return isNot(ofDim("the element stride", i), tile.steps[i],
                   "1 to 8 are possible");
  if (tile.swizzle != 0 && tile.swizzle != 32 && tile.swizzle != 64 &&
      tile.swizzle != 128)
    return isNot("the swizzle", tile.swizzle, "0, 32, 64 and 128 are possible");
  std::string why =
      tile.isForPixels() ? whyNoPixels(tile, numDims) : whyNoBox(tile, numDims);
  if (why.empty() && tile.swizzle && tile.rowBytes() > tile.swizzle)
    why = isNot("a row", tile.rowBytes(),
                "more than the swizzle's " + std::to_string(tile.swizzle) +
                    " bytes");
  return why;
}

std::string whyNotMappable(const SizedTensorMap &map, uint64_t address) {
  std::string why = whyNotMappable(map, map.dims.size(), map.strides.size());
  if (!why.empty())
    return why;
  if (map.offset < 0 || (address + uint64_t(map.offset)) % unit)
    return "its first element is at no multiple of 16 bytes";
  uint64_t extent = byteSize(map.element);
  for (size_t i = 0; i < map.dims.size(); ++i) {
    uint64_t dim = uint64_t(map.dims[i]);
    if (dim < 1 || dim > maxDim)
      return ofDim("the size", i) + " is " + std::to_string(map.dims[i]) +
             ", 1 to 2^32 are possible";
    // Below 2^40 * 2^32 it may overflow, and is then above any stride.
    if (i) {
      uint64_t stride = uint64_t(map.strides[i - 1]);
      if (stride % unit || stride >= strideLimit)
        return ofDim("the stride", i) + " is " +
               std::to_string(map.strides[i - 1]) + " bytes, " +
               (stride % unit ? "which is no multiple of 16"
                              : "which is not less than 2^40");
      if (stride < extent)
        return isNot(ofDim("the stride", i) + " in bytes", stride,
                     "less than the dims before it have: " +
                         std::to_string(extent));
      extent = stride;
    }
    if (__builtin_mul_overflow(extent, dim, &extent))
      extent = UINT64_MAX;
  }
  for (size_t i = 0; i < map.lower.size(); ++i)
    if (map.dims[i + 1] + map.upper[i] - map.lower[i] <= 0)
      return "there is no pixel between the corners along dim " +
             std::to_string(i + 1);
  return "";
}

void fillEmptyDims(SizedTensorMap &map) {
  if (std::find(map.dims.begin(), map.dims.end(), 0) == map.dims.end())
    return;
  int64_t extent = byteSize(map.element);
  for (size_t i = 0; i < map.dims.size(); ++i) {
    if (i)
      extent = map.strides[i - 1] =
          std::max(map.strides[i - 1], (extent + 15) / 16 * 16);
    map.dims[i] = std::max<int64_t>(map.dims[i], 1);
    if (__builtin_mul_overflow(extent, map.dims[i], &extent) ||
        extent > int64_t(strideLimit))
      extent = int64_t(strideLimit); // which no map takes
  }
}

bool extentOf(const SizedTensorMap &map, uint64_t &bytes) {
  uint64_t end = byteSize(map.element);
  auto add = [&](int64_t count, int64_t each) {
    uint64_t more;
    return count >= 0 && each >= 0 &&
           !__builtin_mul_overflow(uint64_t(count), uint64_t(each), &more) &&
           !__builtin_add_overflow(end, more, &end);
  };
  bool fits = add(1, map.offset);
  for (size_t i = 0; fits && i < map.dims.size(); ++i)
    fits = add(map.dims[i] - 1,
               i ? map.strides[i - 1] : int64_t(byteSize(map.element)));
  bytes = end;
  return fits;
}

} // namespace mlc::runtime
