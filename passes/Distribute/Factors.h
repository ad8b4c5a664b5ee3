//===- Factors.h - Dims that are split together -----------------*- C++ -*-===//
//
// Which loops and tensors of a definition are split where one dim of one is. A
// loop that indexes a dim as it is, or as its first digit, carries the split
// between them, and one in a window but for a little beside the part. One that
// is a number or beside data does not, and what it indexes stays whole. What
// data alone index, with 0 where they are out of range, may be split: each rank
// has what is in its part, and 0 for what is in others', so that their sum is
// it.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_DISTRIBUTE_FACTORS_H
#define MLC_PASSES_DISTRIBUTE_FACTORS_H

#include "passes/Distribute/Digits.h"
#include "passes/Distribute/Place.h"

namespace mlc::dist {

struct SplitDim {
  unsigned dim;
  IntExpr unit;
  /// Operands: how far it is read beside the part (Place.h).
  int64_t low = 0, high = 0;
  /// Operands: data say which element is read, which one rank has.
  bool isLookup = false;
  bool isAlong(const SplitDim &other) const {
    return dim == other.dim && unit == other.unit;
  }
  bool hasHalo() const { return low != 0 || high != 0; }
};

struct Factor {
  /// How many units there are, of which a rank has its part; null where nothing
  /// is split.
  IntExpr extent;
  /// The loops that run over a part, by their ids, and their units.
  llvm::DenseMap<unsigned, IntExpr> loops;
  /// The tensors of which there is a part.
  llvm::SmallVector<std::optional<SplitDim>> inputs, stages;

  explicit Factor(const Definition &definition)
      : inputs(definition.inputs.size()), stages(definition.stages.size()) {}

  const std::optional<SplitDim> &of(TensorId tensor) const {
    return (tensor.isStage ? stages : inputs)[tensor.index];
  }
  bool isLookup(TensorId tensor) const {
    return of(tensor) && of(tensor)->isLookup;
  }
  Place placeOf(TensorId tensor) const {
    const std::optional<SplitDim> &split = of(tensor);
    if (!split)
      return Place::whole();
    Place place = Place::split(split->dim, extent, split->unit);
    place.low = split->low;
    place.high = split->high;
    return place;
  }
};

/// All loops of a definition, with their extents.
Extents extentsOf(const Definition &definition);

/// What is split with `tensor` where that is at `place`, which splits it.
/// Nothing where the tensor is read in another way somewhere, or the split does
/// not go through a stage.
std::optional<Factor> findFactor(const Definition &definition, TensorId tensor,
                                 const Place &place, AxisAttr axis);

} // namespace mlc::dist

#endif // MLC_PASSES_DISTRIBUTE_FACTORS_H
