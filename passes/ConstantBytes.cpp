//===- ConstantBytes.cpp - Properties of constants' bytes -----------------===//

#include "passes/ConstantBytes.h"
#include <cstring>

using namespace mlir;
using llvm::ArrayRef;

namespace mlc {

bool isZeroSplat(ElementsAttr value) {
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (!dense || !dense.isSplat())
    return false;
  if (dense.getElementType().isInteger(1))
    return !dense.getSplatValue<bool>();
  return llvm::all_of(dense.getRawData(), [](char byte) { return byte == 0; });
}

/// Whether these bits of a float32 are a denormal number.
static bool isDenormal(uint32_t bits) {
  constexpr uint32_t exponent = 0x7f800000u, fraction = 0x007fffffu;
  return (bits & exponent) == 0 && (bits & fraction) != 0;
}

std::optional<std::vector<char>> flushDenormals(ArrayRef<char> bytes) {
  auto load = [&](uint64_t i) {
    uint32_t bits;
    std::memcpy(&bits, bytes.data() + i, sizeof(bits));
    return bits;
  };
  uint64_t i = 0;
  while (i < bytes.size() && !isDenormal(load(i)))
    i += sizeof(uint32_t);
  if (i == bytes.size())
    return std::nullopt;
  std::vector<char> flushed(bytes.begin(), bytes.end());
  for (; i < bytes.size(); i += sizeof(uint32_t))
    if (isDenormal(load(i)))
      std::memset(flushed.data() + i, 0, sizeof(uint32_t));
  return flushed;
}

} // namespace mlc
