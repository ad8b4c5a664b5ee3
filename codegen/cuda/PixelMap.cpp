//===- PixelMap.cpp - Convolutions' inputs for the copy engine ------------===//

#include "codegen/cuda/FactorMap.h"
#include "codegen/cuda/Maps.h"

using namespace mlir;

namespace mlc::cuda {

static bool isZero(TypedAttr value) {
  if (auto real = dyn_cast<FloatAttr>(value))
    return real.getValue().isPosZero();
  return cast<IntegerAttr>(value).getValue().isZero();
}

/// Fills in a row whose pixels may lie outside of the tensor. False if `bound`
/// is not of this row and at most one loop of K, with known sizes.
static bool fillBounded(FactorMap::PixelDim &dim, const Contraction &c,
                        const Access &access, const Bound &bound,
                        ArrayRef<unsigned> k) {
  unsigned row = *dim.row;
  std::optional<int64_t> offset = bound.offset.asConstant(),
                         step = bound.strides[row].asConstant();
  if (bound.divisor != 1 || !offset || !step || *step < 1 ||
      !access.strides[row].mod(*step).isConstant(0))
    return false;
  dim.offset = *offset;
  dim.step = *step;
  dim.extent = bound.extent;
  dim.stride = access.strides[row].floorDiv(*step);
  for (auto [d, stride] : llvm::enumerate(bound.strides)) {
    if (d == row || stride.isConstant(0))
      continue;
    std::optional<int64_t> dilation = stride.asConstant();
    if (dim.k || !llvm::is_contained(k, d) || !dilation || *dilation < 1 ||
        access.strides[d] != dim.stride * *dilation)
      return false;
    dim.k = unsigned(d);
    dim.dilation = *dilation;
  }
  return true;
}

/// The dims of all rows, the fastest first. None if a loop of K, but for the
/// channels, does not move along one of them.
static std::optional<SmallVector<FactorMap::PixelDim>>
pixelDimsOf(const Contraction &c, const Access &access, ArrayRef<unsigned> rows,
            ArrayRef<unsigned> k) {
  SmallVector<FactorMap::PixelDim> dims;
  size_t numBounds = 0, numK = 0;
  for (unsigned row : llvm::reverse(rows)) {
    FactorMap::PixelDim dim;
    dim.row = row;
    auto bound = llvm::find_if(access.bounds, [&](const Bound &bound) {
      return !bound.strides[row].isConstant(0);
    });
    if (bound == access.bounds.end()) {
      dim.extent = c.dims[row].extent;
      dim.stride = access.strides[row];
    } else {
      if (!fillBounded(dim, c, access, *bound, k))
        return std::nullopt;
      ++numBounds;
    }
    numK += dim.k.has_value();
    dims.push_back(dim);
  }
  if (numBounds != access.bounds.size() || numK + 1 != k.size())
    return std::nullopt;
  return dims;
}

/// Fills in the corners of the box from which pixels are taken: as many as the
/// rows are.
static bool fillCorners(FactorMap &result, const Contraction &c) {
  // Offsets of a filter have 16, 8 or 5 bits.
  size_t numSpatial = result.pixelDims.size() - 1;
  const int64_t most = numSpatial == 1 ? 65535 : numSpatial == 2 ? 255 : 31;
  for (const FactorMap::PixelDim &dim :
       ArrayRef(result.pixelDims).drop_back()) {
    std::optional<int64_t> extent = dim.extent.asConstant(),
                           rows = c.dims[*dim.row].extent.asConstant();
    if (!extent || !rows || *rows < 1)
      return false;
    if (dim.k) {
      std::optional<int64_t> places = c.dims[*dim.k].extent.asConstant();
      if (!places || (*places - 1) * dim.dilation > most)
        return false;
    }
    result.map.lower.push_back(dim.offset);
    result.map.upper.push_back(dim.offset + (*rows - 1) * dim.step -
                               (*extent - 1));
  }
  return true;
}

std::optional<FactorMap>
findPixelMap(const Kernel &kernel, const Contraction &c, const Access &access,
             const Roles &roles, ArrayRef<unsigned> rows, int64_t tileRows) {
  std::optional<runtime::MapElement> element = elementOfMap(access.element);
  if (!element || access.divisor != 1 || !roles.batch.empty() ||
      roles.k.empty() || (access.padValue && !isZero(access.padValue)))
    return std::nullopt;
  uint32_t bytes = runtime::byteSize(*element), inRow = 128 / bytes;
  unsigned channels = roles.k.back();
  if (!access.strides[channels].isConstant(1) ||
      !isMultiple(c.dims[channels].extent, inRow))
    return std::nullopt;
  auto dims = pixelDimsOf(c, access, rows, roles.k);
  if (!dims)
    return std::nullopt;
  // Images are the slowest dim, which has no corners.
  if (dims->empty() || dims->back().k || dims->back().offset != 0 ||
      dims->back().step != 1) {
    if (dims->empty())
      return std::nullopt;
    FactorMap::PixelDim images;
    images.extent = IntExpr::constant(c.context, 1);
    images.stride = dims->back().stride * dims->back().extent;
    dims->push_back(images);
  }
  FactorMap result;
  result.pixelDims = std::move(*dims);
  KernelMap &map = result.map;
  map.operand = uint32_t(llvm::find(kernel.inputs, access.tensor) -
                         kernel.inputs.begin());
  map.element = *element;
  map.swizzle = 128;
  map.channels = inRow;
  map.pixels = uint32_t(tileRows);
  IntExpr offset = access.offset;
  map.dims.push_back(c.dims[channels].extent);
  map.steps.push_back(1);
  for (const FactorMap::PixelDim &dim : result.pixelDims) {
    offset = offset - dim.stride * dim.offset;
    map.dims.push_back(dim.extent);
    map.strides.push_back(dim.stride * bytes);
    map.steps.push_back(uint32_t(dim.step));
  }
  map.offset = offset * bytes;
  if (!fillCorners(result, c) || !whyNotMappable(map).empty())
    return std::nullopt;
  return result;
}

} // namespace mlc::cuda
