//===- MapLimitsTest.cpp - The limits of tensor maps, three times ---------===//
//
// Random requests of maps: what CUDA documents (below), what the runtime says
// (runtime/TensorMap.h) and what the emulator makes must be the same.
//
//===----------------------------------------------------------------------===//

#include "Gpu.h"
#include "runtime/TensorMap.h"

#include <random>

using namespace mlc::test;
using namespace mlc::runtime;

namespace {

/// Numbers at and around limits, and some within.
class Draw {
public:
  explicit Draw(uint64_t seed) : random(seed) {}
  uint64_t below(uint64_t count) { return random() % count; }
  bool oneIn(uint64_t count) { return below(count) == 0; }
  /// One of `usual`, rarely one of `odd`.
  int64_t among(std::vector<int64_t> usual, std::vector<int64_t> odd) {
    const std::vector<int64_t> &from = oneIn(40) ? odd : usual;
    return from[below(from.size())];
  }

private:
  std::mt19937_64 random;
};

struct Request {
  SizedTensorMap map;
  uint64_t shift = 0; ///< of the address from a multiple of 256
};

constexpr int64_t large = int64_t(1) << 32, far = int64_t(1) << 40;

void drawPixels(Draw &draw, SizedTensorMap &map, size_t rank) {
  map.pixels = draw.among({1, 7, 64, 128, 1024}, {1025, 5000});
  map.channels = draw.among({8, 16, 32, 64, 256}, {0, 1, 3, 257});
  int64_t most = rank == 3 ? 32767 : rank == 4 ? 127 : 15;
  size_t count = draw.oneIn(80) ? draw.below(5) : rank >= 2 ? rank - 2 : 0;
  for (std::vector<int64_t> *corner : {&map.lower, &map.upper})
    for (size_t i = 0; i < count; ++i)
      corner->push_back(draw.among({-3, -1, 0, 0, 1, -most - 1, most},
                                   {most + 1, -most - 2}));
}

Request drawRequest(uint64_t seed) {
  Draw draw(seed);
  Request request;
  SizedTensorMap &map = request.map;
  map.element = MapElement(draw.below(numMapElements));
  map.offset = draw.among({0, 0, 16, 256, 4096}, {4, 8, 24, -16});
  request.shift = uint64_t(draw.among({0, 0, 64}, {2, 8}));
  map.swizzle = uint32_t(draw.among({0, 32, 64, 128, 128}, {16, 256, 1}));
  bool forPixels = draw.oneIn(3);
  size_t rank = size_t(forPixels ? draw.among({3, 4, 5}, {0, 1, 2, 6})
                                 : draw.among({1, 2, 3, 4, 5}, {0, 6}));
  int64_t extent = byteSize(map.element);
  for (size_t i = 0; i < rank; ++i) {
    if (i)
      // Dense or padded, rarely too short or of another form.
      extent = map.strides.emplace_back(draw.among(
          {(extent + 15) / 16 * 16, (extent + 15) / 16 * 16 + 16 * 5},
          {extent, extent - 16, extent + 8, 0, 16, far - 16, far, -16}));
    map.dims.push_back(
        draw.among({1, 3, 8, 17, 64, 300}, {0, large, large + 1, -1}));
    // What overflows is no multiple of anything.
    if (__builtin_mul_overflow(extent, map.dims[i], &extent) ||
        extent > far * 2 || extent < 0)
      extent = far * 2;
    map.steps.push_back(uint32_t(draw.among({1, 1, 1, 2, 8}, {0, 9})));
  }
  if (rank && draw.oneIn(80))
    map.strides.resize(draw.below(6), 16);
  if (draw.oneIn(80))
    map.steps.resize(draw.below(6), 1);
  if (forPixels) {
    drawPixels(draw, map, rank);
    return request;
  }
  for (size_t i = 0; i < rank; ++i)
    map.box.push_back(uint32_t(
        i ? draw.among({1, 2, 64, 128, 256}, {0, 257})
          : draw.among({16 / byteSize(map.element), 32 / byteSize(map.element)},
                       {0, 1, 3, 24, 64, 128, 256, 257})));
  if (draw.oneIn(80))
    map.box.resize(draw.below(6), 1);
  return request;
}

/// Whether lists are as long as the rank says, which C's interface cannot ask.
bool isComplete(const SizedTensorMap &map) {
  size_t rank = map.dims.size();
  return rank >= 1 && rank <= 5 && map.strides.size() == rank - 1 &&
         map.steps.size() == rank &&
         (map.isForPixels() ? rank < 3 || (map.lower.size() == rank - 2 &&
                                           map.upper.size() == rank - 2)
                            : map.box.size() == rank);
}

bool within(int64_t value, int64_t least, int64_t most) {
  return value >= least && value <= most;
}

/// What the comments of CUDA 13.0's cuda.h ask for, point by point. A stride is
/// that of the dims before with a padding that is no less than 0.
bool isDocumented(const Request &request, uint64_t address) {
  const SizedTensorMap &map = request.map;
  const bool forPixels = map.isForPixels();
  const int64_t rank = int64_t(map.dims.size()),
                size = map.element == MapElement::U8 ? 1
                       : map.element == MapElement::F32 ||
                               map.element == MapElement::TF32
                           ? 4
                           : 2;
  bool is = within(rank, forPixels ? 3 : 1, 5) && address % 16 == 0 &&
            (map.swizzle == 0 || map.swizzle == 32 || map.swizzle == 64 ||
             map.swizzle == 128);
  for (int64_t dim : map.dims)
    is = is && within(dim, 1, large);
  for (uint32_t step : map.steps)
    is = is && within(step, 1, 8);
  __int128 before = size;
  for (size_t i = 0; i < map.strides.size(); ++i) {
    before *= map.dims[i];
    is = is && map.strides[i] % 16 == 0 && map.strides[i] < far &&
         map.strides[i] >= before;
    before = map.strides[i];
  }
  int64_t row = size * (forPixels ? map.channels : is ? map.box[0] : 0);
  is = is && (!map.swizzle || row <= int64_t(map.swizzle));
  if (!forPixels) {
    for (uint32_t count : map.box)
      is = is && within(count, 1, 256);
    return is && row % 16 == 0;
  }
  is = is && within(map.channels, 1, 256) && within(map.pixels, 1, 1024);
  int64_t most = rank == 3 ? 32767 : rank == 4 ? 127 : 15;
  for (size_t i = 0; is && i < map.lower.size(); ++i)
    is = within(map.lower[i], -most - 1, most) &&
         within(map.upper[i], -most - 1, most) &&
         map.dims[i + 1] + map.upper[i] - map.lower[i] > 0;
  return is;
}

CUresult encode(const SizedTensorMap &map, uint64_t address) {
  constexpr int types[] = {0, 6, 9, 7, 11};
  struct alignas(64) {
    uint64_t words[16];
  } words;
  std::vector<uint64_t> dims(map.dims.begin(), map.dims.end()),
      strides(map.strides.begin(), map.strides.end());
  strides.resize(5);
  int swizzle = map.swizzle == 0    ? 0
                : map.swizzle == 32 ? 1
                : map.swizzle == 64 ? 2
                                    : 3;
  auto *memory = reinterpret_cast<void *>(uintptr_t(address));
  int type = types[int(map.element)];
  unsigned rank = unsigned(dims.size());
  if (!map.isForPixels())
    return cuTensorMapEncodeTiled(&words, type, rank, memory, dims.data(),
                                  strides.data(), map.box.data(),
                                  map.steps.data(), 0, swizzle, 2, 0);
  std::vector<int> lower(map.lower.begin(), map.lower.end()),
      upper(map.upper.begin(), map.upper.end());
  lower.resize(3);
  upper.resize(3);
  return cuTensorMapEncodeIm2col(&words, type, rank, memory, dims.data(),
                                 strides.data(), lower.data(), upper.data(),
                                 map.channels, map.pixels, map.steps.data(), 0,
                                 swizzle, 2, 0);
}

std::string textOf(const Request &request) {
  const SizedTensorMap &map = request.map;
  std::string text =
      std::string(name(map.element)) + " at " + std::to_string(map.offset) +
      "+" + std::to_string(request.shift) + ", swizzle " +
      std::to_string(map.swizzle) + ", pixels " + std::to_string(map.pixels) +
      "x" + std::to_string(map.channels);
  auto add = [&](const char *what, const auto &values) {
    text += std::string(", ") + what;
    for (auto value : values)
      text += " " + std::to_string(value);
  };
  add("dims", map.dims);
  add("strides", map.strides);
  add("box", map.box);
  add("steps", map.steps);
  add("lower", map.lower);
  add("upper", map.upper);
  return text;
}

} // namespace

TEST_CASE("documented limits of maps are the runtime's and the emulator's",
          "[maps]") {
  Gpu gpu;
  const uint64_t base = gpu.allocate(1 << 16);
  unsigned possible = 0, pixels = 0;
  for (uint64_t seed = 0; seed < 10000; ++seed) {
    Request request = drawRequest(seed);
    const SizedTensorMap &map = request.map;
    const uint64_t address = base + request.shift;
    std::string why = whyNotMappable(map, address);
    bool is = isComplete(map) && map.offset >= 0 &&
              isDocumented(request, address + uint64_t(map.offset));
    // Not thousands of checks where all is well.
    bool agrees = is == why.empty();
    // The driver's interface has no lists that are too short, and no swizzles
    // of other widths.
    if (isComplete(map) && map.offset >= 0 && map.swizzle % 32 == 0 &&
        map.swizzle <= 128)
      agrees &= is == (encode(map, address + uint64_t(map.offset)) == 0);
    if (!agrees) {
      INFO(seed << ": " << textOf(request) << ": " << why);
      CHECK(is == why.empty());
      CHECK(is == (encode(map, address + uint64_t(map.offset)) == 0));
    }
    possible += is;
    pixels += is && map.isForPixels();
    // An empty dim counts as one.
    if (isComplete(map)) {
      SizedTensorMap filled = map;
      fillEmptyDims(filled);
      if (is)
        CHECK((filled.dims == map.dims && filled.strides == map.strides));
    }
  }
  CHECK(possible > 2000);
  CHECK(possible < 8000);
  CHECK(pixels > 500);
}

TEST_CASE("maps without elements are possible", "[maps]") {
  SizedTensorMap map;
  map.element = MapElement::F32;
  map.box = {8, 1, 1, 1, 1};
  map.steps = {1, 1, 1, 1, 1};
  for (int64_t empty = 0; empty < 5; ++empty) {
    map.dims = {5, 6, 7, 8, 9};
    map.dims[size_t(empty)] = 0;
    // Of dense rows, padded to 16 bytes.
    int64_t stride = (map.dims[0] * 4 + 15) / 16 * 16;
    map.strides = {stride};
    for (size_t i = 1; i < 4; ++i)
      map.strides.push_back(stride *= map.dims[i]);
    CHECK(whyNotMappable(map) != "");
    fillEmptyDims(map);
    CHECK(whyNotMappable(map) == "");
    CHECK(map.dims[size_t(empty)] == 1);
  }
}
