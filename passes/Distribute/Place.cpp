//===- Place.cpp - The part of a tensor on a rank -------------------------===//

#include "passes/Distribute/Place.h"
#include "dialects/Definition/Analysis.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc::dist {

bool isSame(const Place &a, const Place &b, AxisAttr axis) {
  if (a.kind != b.kind)
    return false;
  if (a.isPartial())
    return a.reduction == b.reduction;
  if (!a.isSplit())
    return true;
  if (a.low != b.low || a.high != b.high || a.dim != b.dim ||
      a.extent * a.unit != b.extent * b.unit)
    return false;
  return a.extent == b.extent || (a.extent.exactDiv(axis.getSize()) &&
                                  b.extent.exactDiv(axis.getSize()));
}

Place placeOf(ShardingAttr sharding, ArrayRef<IntExpr> dims, AxisAttr axis) {
  if (std::optional<unsigned> dim = sharding.findDim(axis.getName()))
    return Place::split(*dim, dims[*dim],
                        IntExpr::constant(axis.getContext(), 1));
  for (const Partial &partial : sharding.getPartial())
    if (partial.axis.getValue() == axis.getName())
      return Place::partial(partial.reduction);
  return Place::whole();
}

SmallVector<IntExpr> partDims(ArrayRef<IntExpr> dims, const Place &place,
                              AxisAttr axis) {
  SmallVector<IntExpr> part(dims);
  if (place.isSplit())
    part[place.dim] =
        axis.getSize(place.extent) * place.unit + place.low + place.high;
  return part;
}

SmallVector<IntExpr> dimsOf(Value value) {
  return *getDims(cast<RankedTensorType>(value.getType()));
}

/// A moderate size for symbols, good enough for comparisons.
static double guess(IntExpr expr) {
  auto valueOf = [](StringRef name) -> std::optional<int64_t> {
    return name.starts_with("rank.") ? 0 : 8;
  };
  std::optional<int64_t> value = expr.evaluate(valueOf);
  return value ? double(std::max<int64_t>(*value, 0)) : 1;
}

double countElements(ArrayRef<IntExpr> dims) {
  double count = 1;
  for (IntExpr dim : dims)
    count *= guess(dim);
  return count;
}

double bytesOf(Type tensor) {
  auto type = cast<RankedTensorType>(tensor);
  return countElements(*getDims(type)) * getElementBytes(type.getElementType());
}

double bytesOf(Value value) { return bytesOf(value.getType()); }

double countRanks(AxisAttr axis) {
  return std::max(1.0, guess(axis.getSize()));
}

double movedShare(const Place &from, const Place &to, AxisAttr axis) {
  double ranks = countRanks(axis), others = (ranks - 1) / ranks;
  if (from.isWhole() || isSame(from, to, axis))
    return 0;
  if (from.isPartial())
    return to.isSplit() ? others : 2 * others;
  // For another dim each rank already has a share of the new part.
  bool isTurned = to.isSplit() && to.dim != from.dim;
  return isTurned ? others / ranks : others;
}

} // namespace mlc::dist
