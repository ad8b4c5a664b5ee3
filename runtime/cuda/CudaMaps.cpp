//===- CudaMaps.cpp - Tensor maps of launches -----------------------------===//

#include "runtime/cuda/CudaQueue.h"

#include <algorithm>

namespace mlc::runtime::cuda {

/// Makes the words of the launch's map `index`.
Status CudaQueue::encode(const Launch &launch, const CudaKernel &kernel,
                         size_t index) {
  LaunchMap &planned = launch.maps[index];
  const SizedTensorMap &map = planned.map;
  const bool isForPixels = map.isForPixels();
  const char *function =
      isForPixels ? "cuTensorMapEncodeIm2col" : "cuTensorMapEncodeTiled";
  std::string what = LaunchName{&kernel, launch.step}.text();
  if (gpu.major < 9)
    return Status::error(MLC_DEVICE,
                         what +
                             " copies by tensor maps, which need a GPU of "
                             "compute capability 9.0; " +
                             gpu.name + " is " + gpu.describe());
  if (isForPixels ? !driver.cuTensorMapEncodeIm2col
                  : !driver.cuTensorMapEncodeTiled)
    return Status::error(MLC_DEVICE,
                         what + " needs the function " + function + ", which " +
                             gpu.driverText + " of " + gpu.name +
                             " lacks; update it to one for CUDA 12 or later");
  const size_t rank = map.dims.size();
  uint64_t dims[MapTile::maxRank], strides[MapTile::maxRank] = {};
  int lower[MapTile::maxRank], upper[MapTile::maxRank];
  std::copy(map.dims.begin(), map.dims.end(), dims);
  std::copy(map.strides.begin(), map.strides.end(), strides);
  std::copy(map.lower.begin(), map.lower.end(), lower);
  std::copy(map.upper.begin(), map.upper.end(), upper);
  auto *base = static_cast<uint8_t *>(launch.buffers[map.operand]);
  void *address = base + map.offset;
  CUresult result =
      isForPixels
          ? driver.cuTensorMapEncodeIm2col(
                &planned.made, driverType(map.element), rank, address, dims,
                strides, lower, upper, map.channels, map.pixels,
                map.steps.data(), driverInterleave, driverSwizzle(map),
                driverPromotion, driverFill)
          : driver.cuTensorMapEncodeTiled(
                &planned.made, driverType(map.element), rank, address, dims,
                strides, map.box.data(), map.steps.data(), driverInterleave,
                driverSwizzle(map), driverPromotion, driverFill);
  if (result == CUDA_SUCCESS)
    return Status::success();
  Status status =
      driver.error(result, what + ": its tensor map " + std::to_string(index) +
                               " cannot be made by " + function);
  auto begin = reinterpret_cast<uintptr_t>(base);
  if (std::string why = whyNotMappable(map, begin); !why.empty())
    status.message += "; " + why;
  return status;
}

/// Makes those of the launch's maps whose operand is elsewhere than last time.
Status CudaQueue::setMaps(const Launch &launch, const CudaKernel &kernel) {
  for (size_t i = 0; i < launch.numMaps; ++i) {
    LaunchMap &planned = launch.maps[i];
    const void *operand = launch.buffers[planned.map.operand];
    if (planned.isMade && planned.madeFor == operand)
      continue;
    planned.isMade = false;
    Status status = encode(launch, kernel, i);
    if (!status.ok())
      return status;
    planned.isMade = true;
    planned.madeFor = operand;
  }
  return Status::success();
}

} // namespace mlc::runtime::cuda
