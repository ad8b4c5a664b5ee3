//===- Place.h - What a rank has of a tensor --------------------*- C++ -*-===//
//
// Along one axis of the mesh: the partitioner goes through one after another.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_DISTRIBUTE_PLACE_H
#define MLC_PASSES_DISTRIBUTE_PLACE_H

#include "dialects/Dist/Dist.h"
#include "dialects/Interfaces/Definition.h"
#include "mlir/IR/Value.h"

namespace mlc::dist {

struct Place {
  enum class Kind {
    Whole,   ///< all of it
    Split,   ///< a part along `dim`
    Partial, ///< a tensor of which all ranks' `reduction` is it
  };
  Kind kind = Kind::Whole;
  /// Split: the dim has `extent` times `unit` elements, and the part is that
  /// of `extent`, in units that stay together.
  unsigned dim = 0;
  IntExpr extent, unit;
  Reduction reduction = Reduction::Sum;
  /// Split: so many elements before and behind the part are there too, zeros
  /// where the tensor ends.
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

/// Whether the ranks of `axis` have the same parts: other extents are the same
/// where the axis divides them.
bool isSame(const Place &a, const Place &b, AxisAttr axis);

/// Where a sharding has a tensor of these dims.
Place placeOf(ShardingAttr sharding, llvm::ArrayRef<IntExpr> dims,
              AxisAttr axis);

/// The dims of what a rank has of a tensor with `dims`.
llvm::SmallVector<IntExpr> partDims(llvm::ArrayRef<IntExpr> dims,
                                    const Place &place, AxisAttr axis);

/// The dims of a tensor, which have names.
llvm::SmallVector<IntExpr> dimsOf(mlir::Value value);

/// About how many elements these are, and ranks the axis has: symbols are
/// taken to be of a moderate size.
double countElements(llvm::ArrayRef<IntExpr> dims);
double countRanks(AxisAttr axis);
double bytesOf(mlir::Value value);

/// About how many bytes a rank receives for each byte of the whole tensor to
/// get from one place to another.
double movedShare(const Place &from, const Place &to, AxisAttr axis);

} // namespace mlc::dist

#endif // MLC_PASSES_DISTRIBUTE_PLACE_H
