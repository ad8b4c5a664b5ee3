//===- Place.h - The part of a tensor on a rank -----------------*- C++ -*-===//
//
// Along one axis of the mesh; the partitioner handles one axis at a time.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_DISTRIBUTE_PLACE_H
#define MLC_PASSES_DISTRIBUTE_PLACE_H

#include "dialects/Definition/Definition.h"
#include "dialects/Dist/Dist.h"
#include "mlir/IR/Value.h"

namespace mlc::dist {

struct Place {
  enum class Kind {
    Whole,   ///< all of it
    Split,   ///< a part along `dim`
    Partial, ///< its `reduction` over all ranks is the tensor
  };
  Kind kind = Kind::Whole;
  /// Split: the dim has `extent` times `unit` elements, and a rank has a part
  /// of `extent`; units are never split.
  unsigned dim = 0;
  IntExpr extent, unit;
  Reduction reduction = Reduction::Sum;
  /// Split: the halo, the numbers of elements before and after the part; zeros
  /// past the tensor's ends.
  int64_t low = 0, high = 0;

  static Place whole() { return {}; }
  static Place split(unsigned dim, IntExpr extent, IntExpr unit) {
    Place place;
    place.kind = Kind::Split;
    place.dim = dim;
    place.extent = extent;
    place.unit = unit;
    return place;
  }
  static Place partial(Reduction reduction) {
    Place place;
    place.kind = Kind::Partial;
    place.reduction = reduction;
    return place;
  }
  bool hasHalo() const { return low != 0 || high != 0; }
  Place withoutHalo() const {
    Place place = *this;
    place.low = place.high = 0;
    return place;
  }
  bool isWhole() const { return kind == Kind::Whole; }
  bool isSplit() const { return kind == Kind::Split; }
  bool isPartial() const { return kind == Kind::Partial; }
};

/// Whether the ranks of `axis` have the same parts: different extents may give
/// the same parts if the axis divides them.
bool isSame(const Place &a, const Place &b, AxisAttr axis);

/// The place of a tensor of these dims under a sharding.
Place placeOf(ShardingAttr sharding, llvm::ArrayRef<IntExpr> dims,
              AxisAttr axis);

/// The dims of a rank's part of a tensor with `dims`.
llvm::SmallVector<IntExpr> partDims(llvm::ArrayRef<IntExpr> dims,
                                    const Place &place, AxisAttr axis);

/// The dims of a tensor, which have names.
llvm::SmallVector<IntExpr> dimsOf(mlir::Value value);

/// Roughly the number of elements; symbols are assumed to be of moderate size.
double countElements(llvm::ArrayRef<IntExpr> dims);
double countRanks(AxisAttr axis);
double bytesOf(mlir::Type tensor);
double bytesOf(mlir::Value value);

/// Roughly the bytes that a rank receives, per byte of the whole tensor, to get
/// from one place to another.
double movedShare(const Place &from, const Place &to, AxisAttr axis);

} // namespace mlc::dist

#endif // MLC_PASSES_DISTRIBUTE_PLACE_H
