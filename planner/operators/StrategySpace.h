//===- StrategySpace.h - The strategies of all operators --------*- C++ -*-===//

#ifndef MLC_PLANNER_OPERATORS_STRATEGYSPACE_H
#define MLC_PLANNER_OPERATORS_STRATEGYSPACE_H

#include "planner/operators/StepSimulator.h"

namespace mlc::planner {

/// What planners of operators choose from: FlexFlow's SOAP space, with parts of
/// an operator on neighbouring devices.
class StrategySpace {
public:
  /// With `onAll` operators are on all devices; one that cannot be has no
  /// strategy then.
  StrategySpace(const OperatorGraph &graph, int32_t devices,
                bool onAll = false);

  /// Those of an operator (listStrategies); operators of equal dims have one
  /// list.
  const std::vector<Strategy> &of(int32_t op) const {
    return lists[listOf[op]];
  }
  /// Whether two operators have the same list.
  bool areAlike(int32_t a, int32_t b) const { return listOf[a] == listOf[b]; }
  bool has(const Strategies &strategies) const;
  /// The first operator without a strategy; -1: all have some.
  int32_t firstWithout() const;
  /// The product of the numbers of strategies, as a power of ten.
  double digits() const;

private:
  std::vector<std::vector<Strategy>> lists;
  std::vector<size_t> listOf;
};

/// The same numbers on every machine: a generator of the standard, whose
/// distributions are not.
class Draws {
public:
  explicit Draws(uint64_t seed) : state(seed) {}
  /// From 0 to below `count`.
  size_t below(size_t count);
  /// From 0 to below 1.
  double unit() { return double(next() >> 11) * 0x1p-53; }

private:
  /// SplitMix64 (Steele, Lea and Flood 2014).
  uint64_t next();
  uint64_t state;
};

struct OperatorPlan {
  Strategies strategies;
  simulator::Time span = 0;
  int64_t bytes = 0; ///< that all devices receive in a step
  int64_t proposals = 0, accepted = 0;
};

} // namespace mlc::planner

#endif // MLC_PLANNER_OPERATORS_STRATEGYSPACE_H
