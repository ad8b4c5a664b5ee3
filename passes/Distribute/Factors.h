//===- Factors.h - Dims split together --------------------------*- C++ -*-===//
//
// Which loops and tensors of a definition are split when one dim of one tensor
// is. A loop that indexes a dim as it is, or as its first digit, carries the
// split to other tensors. A loop in a window does too, with a halo. A loop that
// is used as a number or beside data does not, and what it indexes stays whole.
// A dim that only data index, with 0 for what is out of range, may be split:
// each rank reads its own part and gets 0 for the others, so that the sum over
// ranks is the value.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_DISTRIBUTE_FACTORS_H
#define MLC_PASSES_DISTRIBUTE_FACTORS_H

#include "passes/Distribute/MixedRadix.h"
#include "passes/Distribute/Place.h"

namespace mlc::dist {

struct SplitDim {
  unsigned dim;
  IntExpr unit;
  /// Operands: the width of the halo that is read (Place.h).
  int64_t low = 0, high = 0;
  /// Operands: data say which element is read, and one rank has it.
  bool isLookup = false;
  bool isAlong(const SplitDim &other) const {
    return dim == other.dim && unit == other.unit;
  }
  bool hasHalo() const { return low != 0 || high != 0; }
};

struct Factor {
  /// The number of units, of which each rank has a part; null if nothing is
  /// split.
  IntExpr extent;
  /// The loops that run over a part, by their ids, with their units.
  llvm::DenseMap<unsigned, IntExpr> loops;
  /// The tensors that are split.
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

/// What is split if `tensor` is split as `place` says. Nothing if the tensor is
/// also read in another way, or if the split does not carry through a stage.
std::optional<Factor> findFactor(const Definition &definition, TensorId tensor,
                                 const Place &place, AxisAttr axis);

} // namespace mlc::dist

#endif // MLC_PASSES_DISTRIBUTE_FACTORS_H
