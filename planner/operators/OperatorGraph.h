//===- OperatorGraph.h - A step of training as numbers ----------*- C++ -*-===//
//
// What planners of operators know of a step: its forward operators in an order
// in which each comes behind those that it reads, and what belongs to them. An
// operator is a heavy one of the model (a product, a convolution, a pooling)
// with the pointwise ones behind it. Its backward operators and the updates of
// its weights follow it: they are numbers of the operator, not operators.
//
// An operator has *dims* along which its work can be shared, those of FlexFlow
// (Jia et al. 2019, section 4): a split along any of them gives each part a
// part of its results. Tensors and weights say which of their dims lie along
// which of the operator's.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PLANNER_OPERATORS_OPERATORGRAPH_H
#define MLC_PLANNER_OPERATORS_OPERATORGRAPH_H

#include "runtime/Status.h"
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace mlc::planner {

/// What a split along a dim of an operator means (SOAP; the O is that operators
/// are on different devices).
enum class SplitKind : uint8_t {
  Sample,    ///< parts have other samples; weights are copied
  Attribute, ///< other positions of a sample; weights are copied
  Parameter  ///< other parts of a weight
};

struct OperatorDim {
  SplitKind kind = SplitKind::Sample;
  int64_t extent = 1;
  /// Of the operator's time, what a part takes, by number of parts: small parts
  /// use a device less well. Where a number is missing it is 1 / parts.
  std::vector<std::pair<int32_t, double>> shares;

  double shareOf(int32_t parts) const;
};
/// The most dims of an operator, and of a tensor.
inline constexpr size_t kMostDims = 6, kMostTensorDims = 8;

/// For each dim of a tensor: the operator's dim that it lies along, or kWhole.
using DimMap = std::vector<int32_t>;
inline constexpr int32_t kWhole = -1;

/// A tensor that an operator makes and others read, or an input of the step.
struct StepTensor {
  std::string name;
  std::vector<int64_t> dims;
  int32_t elementBytes = 4;
  int32_t maker = -1; ///< -1: an input, which every device has
  DimMap along;       ///< of the maker's dims
  int64_t bytes() const;
};

struct TensorRead {
  int32_t tensor = 0;
  /// A part needs the elements of its part of each of these dims, and all
  /// along the others.
  DimMap along;
  /// Whether a gradient of the tensor's size goes back to its maker.
  bool hasGradient = true;
};

struct WeightRead {
  int32_t weight = 0;
  DimMap along;
};

struct StepOperator {
  std::string name; ///< of the model's node
  std::string type; ///< of its heaviest operator, as "matmul"
  /// What one device takes for all of it, by kind of device.
  std::vector<double> forwardSeconds, backwardSeconds;
  std::vector<OperatorDim> dims;
  std::vector<TensorRead> reads;
  std::vector<WeightRead> weights;
  std::vector<int32_t> results; ///< tensors
};

struct StepWeight {
  std::string name;
  std::vector<int64_t> dims;
  int32_t elementBytes = 4;
  /// Bytes of the weight and of what belongs to it, such as moments.
  int64_t stateBytes = 0;
  /// What updating all of it takes, by kind of device.
  std::vector<double> updateSeconds;
  /// Else it has no gradient, and no update.
  bool isTrained = true;
  int64_t bytes() const;
};

struct OperatorGraph {
  std::vector<StepOperator> operators;
  std::vector<StepTensor> tensors;
  std::vector<StepWeight> weights;
  size_t kinds = 1; ///< of devices

  /// MLC_USAGE if numbers are out of range, maps do not fit, or an operator
  /// reads what a later one makes.
  runtime::Status check() const;
};

} // namespace mlc::planner

#endif // MLC_PLANNER_OPERATORS_OPERATORGRAPH_H
