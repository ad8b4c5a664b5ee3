//===- Strategy.cpp - How devices share an operator -----------------------===//

#include "planner/operators/Strategy.h"
#include <algorithm>
#include <numeric>

using namespace mlc::planner;

/// All degrees of dims from `dim` on whose product is `parts`.
static void addDegrees(const StepOperator &op, size_t dim, int32_t parts,
                       Strategy &strategy, std::vector<Strategy> &found) {
  if (dim == op.dims.size()) {
    if (parts == 1)
      found.push_back(strategy);
    return;
  }
  for (int32_t degree = 1; degree <= parts; ++degree)
    if (parts % degree == 0 && op.dims[dim].extent % degree == 0) {
      strategy.degrees[dim] = degree;
      addDegrees(op, dim + 1, parts / degree, strategy, found);
    }
  strategy.degrees[dim] = 1;
}

std::vector<Strategy> mlc::planner::listStrategies(const StepOperator &op,
                                                   int32_t devices) {
  std::vector<Strategy> found;
  for (int32_t size = 1; size <= devices; ++size) {
    if (devices % size)
      continue;
    std::vector<Strategy> divisions;
    Strategy strategy;
    addDegrees(op, 0, size, strategy, divisions);
    for (int32_t first = 0; first < devices; first += size)
      for (Strategy &division : divisions) {
        division.first = first;
        found.push_back(division);
      }
  }
  return found;
}

Strategies mlc::planner::splitSamples(const OperatorGraph &graph,
                                      int32_t devices, int32_t first) {
  Strategies all;
  for (const StepOperator &op : graph.operators) {
    Strategy strategy = Strategy::onDevice(first);
    int32_t left = devices;
    for (size_t d = 0; d < op.dims.size(); ++d)
      if (op.dims[d].kind == SplitKind::Sample) {
        int32_t degree = left;
        while (left % degree || op.dims[d].extent % degree)
          --degree;
        strategy.degrees[d] = degree;
        left /= degree;
      }
    all.push_back(strategy);
  }
  return all;
}

Layout mlc::planner::layoutOf(const DimMap &along, const Strategy &strategy) {
  std::array<int32_t, kMostDims> strides{};
  int32_t count = 1;
  for (size_t d = kMostDims; d-- > 0;) {
    strides[d] = count;
    count *= strategy.degrees[d];
  }
  Layout layout;
  layout.first = strategy.first;
  layout.count = count;
  for (size_t d = 0; d < along.size(); ++d)
    if (along[d] != kWhole && strategy.degrees[along[d]] > 1) {
      layout.degrees[d] = uint16_t(strategy.degrees[along[d]]);
      layout.strides[d] = uint16_t(strides[along[d]]);
    }
  return layout;
}
