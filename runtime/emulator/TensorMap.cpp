//===- TensorMap.cpp - The driver's functions that make tensor maps -------===//
//
// The limits are those that CUDA's driver documents for these functions.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/TensorMap.h"
#include "runtime/emulator/Driver.h"

#include <cstring>

using namespace mlc::emulator;

unsigned TensorMap::rows() const {
  if (isPixels)
    return box[1];
  unsigned all = 1;
  for (unsigned i = 1; i < rank; ++i)
    all *= count(i);
  return all;
}

namespace {

/// The numbers of CUtensorMapDataType, with the sizes of elements.
constexpr unsigned elementSizes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
constexpr int float32Flushed = 10, tf32 = 11, tf32Flushed = 12, packed6 = 15;
constexpr bool isFloat(int type) {
  return (type >= 6 && type <= 12) && type != 5;
}

/// The parameters that both functions have.
struct Request {
  void *map;
  int type;
  unsigned rank;
  void *address;
  const uint64_t *dims, *strides;
  const uint32_t *steps;
  int interleave, swizzle, promotion, fill;
};

CUresult checkModes(const Request &request) {
  if (request.type < 0 || request.type > packed6 || request.interleave < 0 ||
      request.interleave > 2 || request.swizzle < 0 || request.swizzle > 6 ||
      request.promotion < 0 || request.promotion > 3 || request.fill < 0 ||
      request.fill > 1 || (request.fill && !isFloat(request.type)) ||
      (request.interleave == 2 && request.swizzle != 1) ||
      (request.interleave && request.rank < 3))
    return CUDA_ERROR_INVALID_VALUE;
  // What CUDA has, but neither kernels nor this emulator.
  if (request.interleave || request.fill || request.swizzle > 3 ||
      request.type > tf32Flushed || request.type == float32Flushed ||
      request.type == tf32Flushed)
    return CUDA_ERROR_NOT_SUPPORTED;
  return CUDA_SUCCESS;
}

/// Fills in what both kinds of maps have.
CUresult begin(const Request &request, TensorMap &map) {
  if (architecture() < 90)
    return CUDA_ERROR_NOT_SUPPORTED;
  auto isAligned = [](const void *pointer, uintptr_t to) {
    return reinterpret_cast<uintptr_t>(pointer) % to == 0;
  };
  if (!request.map || !isAligned(request.map, 64) || !request.address ||
      !isAligned(request.address, 16) || !request.dims || !request.steps ||
      !request.rank || request.rank > 5 ||
      (request.rank > 1 && !request.strides))
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult error = checkModes(request))
    return error;
  map = {};
  map.mark = TensorMap::theMark;
  map.address = reinterpret_cast<uintptr_t>(request.address);
  map.rank = uint8_t(request.rank);
  map.swizzle = uint8_t(request.swizzle ? 16 << request.swizzle : 0);
  map.isTF32 = request.type == tf32;
  map.strides[0] = elementSizes[request.type];
  uint64_t extent = 0; // of the dims before, in bytes
  for (unsigned i = 0; i < request.rank; ++i) {
    if (!request.dims[i] || request.dims[i] > uint64_t(1) << 32 ||
        !request.steps[i] || request.steps[i] > 8)
      return CUDA_ERROR_INVALID_VALUE;
    map.dims[i] = uint32_t(request.dims[i] - 1);
    // Without interleaving the first is ignored.
    map.steps[i] = i ? uint8_t(request.steps[i]) : 1;
    if (i) {
      uint64_t stride = request.strides[i - 1];
      if (stride % 16 || stride >= uint64_t(1) << 40 || stride < extent)
        return CUDA_ERROR_INVALID_VALUE;
      map.strides[i] = stride;
    }
    // A stride is below 2^40, so only a product that is no stride overflows.
    if (__builtin_mul_overflow(map.strides[i], request.dims[i], &extent))
      extent = UINT64_MAX;
  }
  return CUDA_SUCCESS;
}

/// Checks the bytes of a row, and gives the map to the caller.
CUresult finish(const Request &request, const TensorMap &map) {
  if (map.swizzle && map.rowBytes() > map.swizzle)
    return CUDA_ERROR_INVALID_VALUE;
  std::memset(request.map, 0, sizeof(MapWords));
  std::memcpy(request.map, &map, sizeof(map));
  return CUDA_SUCCESS;
}

} // namespace

CUresult cuTensorMapEncodeTiled(void *map, int type, unsigned rank,
                                void *address, const uint64_t *dims,
                                const uint64_t *strides, const uint32_t *box,
                                const uint32_t *steps, int interleave,
                                int swizzle, int promotion, int fill) {
  MLC_CALL(Context);
  Request request{map,   type,       rank,    address,   dims, strides,
                  steps, interleave, swizzle, promotion, fill};
  TensorMap made;
  if (CUresult error = begin(request, made))
    return error;
  if (!box)
    return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < rank; ++i) {
    if (!box[i] || box[i] > 256)
      return CUDA_ERROR_INVALID_VALUE;
    made.box[i] = uint16_t(box[i]);
  }
  if (made.rowBytes() % 16)
    return CUDA_ERROR_INVALID_VALUE;
  return finish(request, made);
}

CUresult cuTensorMapEncodeIm2col(void *map, int type, unsigned rank,
                                 void *address, const uint64_t *dims,
                                 const uint64_t *strides, const int *lower,
                                 const int *upper, unsigned channels,
                                 unsigned pixels, const uint32_t *steps,
                                 int interleave, int swizzle, int promotion,
                                 int fill) {
  MLC_CALL(Context);
  Request request{map,   type,       rank,    address,   dims, strides,
                  steps, interleave, swizzle, promotion, fill};
  TensorMap made;
  if (CUresult error = begin(request, made))
    return error;
  if (rank < 3 || !lower || !upper || !channels || channels > 256 || !pixels ||
      pixels > 1024)
    return CUDA_ERROR_INVALID_VALUE;
  // Offsets are signed numbers of 16, 8 or 5 bits.
  int most = rank == 3 ? 32767 : rank == 4 ? 127 : 15;
  for (unsigned i = 0; i + 2 < rank; ++i) {
    if (lower[i] > most || lower[i] < -most - 1 || upper[i] > most ||
        upper[i] < -most - 1 ||
        int64_t(made.dim(i + 1)) + upper[i] - lower[i] <= 0)
      return CUDA_ERROR_INVALID_VALUE;
    made.lower[i] = int16_t(lower[i]);
    made.upper[i] = int16_t(upper[i]);
  }
  made.isPixels = true;
  made.box[0] = uint16_t(channels);
  made.box[1] = uint16_t(pixels);
  return finish(request, made);
}
