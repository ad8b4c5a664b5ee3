//===- RandomOperators.h - Random steps for tests of planners -------------===//

#ifndef MLC_TEST_UNIT_PLANNER_RANDOMOPERATORS_H
#define MLC_TEST_UNIT_PLANNER_RANDOMOPERATORS_H

#include "planner/operators/OperatorGraph.h"
#include <random>

namespace mlc::planner {

/// Operators that read the one before, or another one, at times both; every
/// third one has the weight of the operator three before it.
inline OperatorGraph randomOperators(std::mt19937 &random, size_t count,
                                     size_t kinds = 1) {
  auto draw = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  OperatorGraph graph;
  graph.kinds = kinds;
  auto seconds = [&](int most) {
    std::vector<double> times;
    for (size_t i = 0; i < kinds; ++i)
      times.push_back(draw(1, most) * 1e-5);
    return times;
  };
  for (size_t i = 0; i < count; ++i) {
    StepOperator op;
    op.name = "op" + std::to_string(i);
    op.forwardSeconds = seconds(20);
    op.backwardSeconds = seconds(40);
    op.dims = {{SplitKind::Sample, 16, {{2, 0.6}}},
               {SplitKind::Parameter, 32, {}}};
    for (int r = i ? draw(1, 2) : 0; r > 0; --r)
      op.reads.push_back({int32_t(r == 1 ? i - 1 : i - 1 - draw(0, i - 1)),
                          {0, draw(0, 2) ? kWhole : 1},
                          draw(0, 4) > 0});
    if (i % 3 != 2 || i < 3) {
      StepWeight weight;
      weight.name = "w" + std::to_string(i);
      weight.dims = {32, 32};
      weight.stateBytes = 3 * weight.bytes();
      weight.updateSeconds = seconds(5);
      op.weights.push_back({int32_t(graph.weights.size()), {kWhole, 1}});
      graph.weights.push_back(weight);
    } else {
      op.weights = graph.operators[i - 3].weights;
    }
    op.results = {int32_t(i)};
    graph.tensors.push_back(
        {"t" + std::to_string(i), {16, 32}, 400, int32_t(i), {0, 1}});
    graph.operators.push_back(std::move(op));
  }
  return graph;
}

} // namespace mlc::planner

#endif // MLC_TEST_UNIT_PLANNER_RANDOMOPERATORS_H
