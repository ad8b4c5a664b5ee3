//===- WeightedOperators.h - Products with weights --------------*- C++ -*-===//

#ifndef MLC_PASSES_SHARDINGS_WEIGHTEDOPERATORS_H
#define MLC_PASSES_SHARDINGS_WEIGHTEDOPERATORS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Distribute/Plan.h"

namespace mlc::dist {

/// A dim of a weight of the model.
struct WeightDim {
  std::string weight;
  unsigned dim = 0;
};

/// Whether a value is made of one weight alone, by operators of one operand.
bool isOfWeight(mlir::Value value);

/// The dim of the weight that `value` is made of along which it is split where
/// `value` is at `place`; nothing if that is no split of the weight's elements.
std::optional<WeightDim> findWeightDim(mlir::Value value, const Place &place,
                                       AxisAttr axis);

/// An operator that reads a weight and data.
struct Weighted {
  enum class Kind { Product, Convolution, Lookup };
  mlir::Operation *op = nullptr;
  Kind kind = Kind::Product;
  Definition definition;
  unsigned weight = 0; ///< the operand that is made of a weight
};

/// What `op` is, if it is a contraction of a weight and data, or a lookup of
/// data in a weight.
std::optional<Weighted> findWeighted(mlir::Operation *op, AxisAttr axis);

/// The split of the result that only splits the weight, along its last such
/// dim: by columns, or output channels. Nothing if parts are not even.
std::optional<Place> findColumns(const Weighted &weighted, AxisAttr axis);

} // namespace mlc::dist

#endif // MLC_PASSES_SHARDINGS_WEIGHTEDOPERATORS_H
