//===- Cost.h - What an operator costs on a target --------------*- C++ -*-===//
//
// Derived from definitions and a target description alone: arithmetic against
// the peak rate, bytes against the bandwidth, a price per kernel. Work on
// constants is free (it happens at compile time), so is a reshape (it shares
// storage), and element-wise work behind another operator is nearly free (it
// is fused).
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_COST_H
#define MLC_REWRITES_COST_H

#include "mlir/IR/Operation.h"

namespace mlc {

struct CostParameters {
  double flopsPerSecond = 1e11;
  double bytesPerSecond = 1e10;
  double secondsPerKernel = 1e-6;
  /// The share of the peak that contractions reach.
  double contractionEfficiency = 0.85;
  /// What a symbol of the model is taken to be.
  int64_t symbolValue = 64;
};

class CostModel {
public:
  explicit CostModel(CostParameters parameters) : parameters(parameters) {}

  /// Seconds of one run of `op`.
  double seconds(mlir::Operation *op) const;
  /// Of every operator in a region's blocks.
  double seconds(mlir::Region &region) const;

private:
  CostParameters parameters;
};

} // namespace mlc

#endif // MLC_REWRITES_COST_H
