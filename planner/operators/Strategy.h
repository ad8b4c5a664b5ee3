//===- Strategy.h - How devices share an operator ---------------*- C++ -*-===//

#ifndef MLC_PLANNER_OPERATORS_STRATEGY_H
#define MLC_PLANNER_OPERATORS_STRATEGY_H

#include "planner/operators/OperatorGraph.h"
#include <array>

namespace mlc::planner {

/// An operator is divided along its dims into parts, each on a device of its
/// own: `first`, `first` + 1, ... The part along the last dim changes fastest.
/// The backward operators of a part and the updates of its weights are on the
/// same device.
struct Strategy {
  /// By the operator's dims, which they divide; 1 behind the last dim.
  std::array<int32_t, kMostDims> degrees;
  int32_t first = 0;

  Strategy() { degrees.fill(1); }
  static Strategy onDevice(int32_t device) {
    Strategy strategy;
    strategy.first = device;
    return strategy;
  }
  int32_t parts() const {
    int32_t product = 1;
    for (int32_t degree : degrees)
      product *= degree;
    return product;
  }
  bool operator==(const Strategy &) const = default;
};

/// By operator.
using Strategies = std::vector<Strategy>;

/// The strategies of an operator on `devices` devices: all ways to divide it
/// into as many parts as a block of devices has. A block has a number of
/// devices that divides `devices`, and begins at a multiple of it.
std::vector<Strategy> listStrategies(const StepOperator &op, int32_t devices);

/// The samples of each operator on as many devices as divide them, from device
/// `first` on.
Strategies splitSamples(const OperatorGraph &graph, int32_t devices,
                        int32_t first = 0);

/// Where a tensor is: part of its dim d number (i / strides[d]) mod degrees[d]
/// on device `first` + i. Along other dims of the operator there are copies.
struct Layout {
  int32_t first = 0, count = 1;
  std::array<uint16_t, kMostTensorDims> degrees, strides;

  Layout() {
    degrees.fill(1);
    strides.fill(1);
  }
  /// The number of different parts.
  int32_t parts() const {
    int32_t product = 1;
    for (int32_t degree : degrees)
      product *= degree;
    return product;
  }
  /// Which of them device `first` + `index` has.
  int32_t partOf(int32_t index) const {
    int32_t part = 0;
    for (size_t d = 0; d < kMostTensorDims; ++d)
      if (degrees[d] > 1)
        part = part * degrees[d] + index / strides[d] % degrees[d];
    return part;
  }
  bool operator==(const Layout &) const = default;
};

/// That of a tensor which lies so along the dims of an operator.
Layout layoutOf(const DimMap &along, const Strategy &strategy);

} // namespace mlc::planner

#endif // MLC_PLANNER_OPERATORS_STRATEGY_H
