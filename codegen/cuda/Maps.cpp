//===- Maps.cpp - Whether tensors can have maps ---------------------------===//

#include "codegen/cuda/Maps.h"

namespace mlc::cuda {

namespace {

/// Whether it is known to be more.
bool exceeds(IntExpr expr, int64_t limit) {
  std::optional<int64_t> least = expr.lowerBound();
  return least && *least > limit;
}

std::string ofDim(const char *what, size_t dim, IntExpr size) {
  return std::string(what) + " of dim " + std::to_string(dim) + ", " +
         size.str() + ",";
}

bool isMultipleOf16(IntExpr size) { return size.mod(16).isConstant(0); }

} // namespace

std::string whyNotMappable(const KernelMap &map) {
  std::string why =
      runtime::whyNotMappable(map, map.dims.size(), map.strides.size());
  if (!why.empty())
    return why;
  if (map.offset && !isMultipleOf16(map.offset))
    return "its first element may be at no multiple of 16 bytes: " +
           map.offset.str();
  IntExpr extent = IntExpr::constant(map.dims[0].getContext(),
                                     runtime::byteSize(map.element));
  for (auto [i, dim] : llvm::enumerate(map.dims)) {
    if (!dim.isKnownNonNegative() || exceeds(dim, int64_t(1) << 32))
      return ofDim("the size", i, dim) + " may not be from 0 to 2^32";
    if (i) {
      IntExpr stride = map.strides[i - 1];
      if (!isMultipleOf16(stride))
        return ofDim("the stride", i, stride) + " may be no multiple of 16";
      if (exceeds(stride, (int64_t(1) << 40) - 1))
        return ofDim("the stride", i, stride) + " is not less than 2^40";
      if (!(stride - extent).isKnownNonNegative())
        return ofDim("the stride", i, stride) +
               " may be less than the dims before it have: " + extent.str();
      extent = stride;
    }
    extent = extent * dim;
  }
  for (size_t i = 0; i < map.lower.size(); ++i)
    if (std::optional<int64_t> dim = map.dims[i + 1].asConstant();
        dim && std::max<int64_t>(*dim, 1) + map.upper[i] - map.lower[i] <= 0)
      return "there is no pixel between the corners along dim " +
             std::to_string(i + 1);
  return "";
}

} // namespace mlc::cuda
