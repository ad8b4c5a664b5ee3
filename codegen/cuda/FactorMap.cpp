//===- FactorMap.cpp - Factors that the copy engine reads -----------------===//

#include "codegen/cuda/FactorMap.h"
#include "codegen/cuda/Maps.h"

using namespace mlir;

namespace mlc::cuda {

std::optional<runtime::MapElement> elementOfMap(Type type) {
  using runtime::MapElement;
  if (type.isF16())
    return MapElement::F16;
  if (type.isBF16())
    return MapElement::BF16;
  if (type.isF32())
    return MapElement::TF32;
  if (type.isInteger(8))
    return MapElement::U8;
  return std::nullopt;
}

/// The dims of the factor's memory: of its K, its rows and its batch. None if K
/// or rows are several.
static std::optional<SmallVector<FactorMap::Dim>>
dimsOf(const Contraction &c, const Access &access, const Roles &roles,
       ArrayRef<unsigned> rows) {
  using Role = FactorMap::Role;
  SmallVector<FactorMap::Dim> dims;
  auto add = [&](Role role, ArrayRef<unsigned> loops) {
    SmallVector<IntExpr> extents;
    for (auto [run, d] : llvm::enumerate(joinRuns(c, access, loops, extents)))
      if (role != Role::Batch || !access.strides[d].isConstant(0))
        dims.push_back({role, unsigned(run), extents[run], access.strides[d]});
  };
  add(Role::K, roles.k);
  add(Role::Row, rows);
  if (dims.size() != 2 || dims[0].role != Role::K || dims[1].role != Role::Row)
    return std::nullopt;
  add(Role::Batch, roles.batch);
  return dims;
}

std::optional<FactorMap>
findFactorMap(const Kernel &kernel, const Contraction &c, const Access &access,
              const Roles &roles, ArrayRef<unsigned> rows, int64_t tileRows) {
  std::optional<runtime::MapElement> element = elementOfMap(access.element);
  if (!element || !access.bounds.empty() || access.divisor != 1)
    return std::nullopt;
  auto dims = dimsOf(c, access, roles, rows);
  if (!dims || dims->size() > runtime::MapTile::maxRank)
    return std::nullopt;
  FactorMap result;
  result.alongK = (*dims)[0].stride.isConstant(1);
  uint32_t bytes = runtime::byteSize(*element), inRow = 128 / bytes;
  if (!result.alongK) {
    if (bytes != 2 || !(*dims)[1].stride.isConstant(1))
      return std::nullopt;
    std::swap((*dims)[0], (*dims)[1]);
  }
  // Each stride must be at least as long as the dims before it.
  llvm::stable_sort(MutableArrayRef(*dims).drop_front(1),
                    [](const FactorMap::Dim &a, const FactorMap::Dim &b) {
                      return (b.stride - a.stride).isKnownNonNegative() &&
                             a.stride != b.stride;
                    });
  KernelMap &map = result.map;
  map.operand = uint32_t(llvm::find(kernel.inputs, access.tensor) -
                         kernel.inputs.begin());
  map.element = *element;
  map.swizzle = 128;
  map.offset = access.offset * bytes;
  for (auto [i, dim] : llvm::enumerate(*dims)) {
    map.dims.push_back(dim.extent);
    if (i)
      map.strides.push_back(dim.stride * bytes);
    map.steps.push_back(1);
    // Across K a box has as many places in k as rows.
    bool isTall = result.alongK && dim.role == FactorMap::Role::Row;
    bool isOne = dim.role == FactorMap::Role::Batch;
    map.box.push_back(isOne ? 1 : isTall ? uint32_t(tileRows) : inRow);
  }
  result.dims = std::move(*dims);
  if (!whyNotMappable(map).empty())
    return std::nullopt;
  return result;
}

} // namespace mlc::cuda
