//===- StrategySpace.cpp - The strategies of all operators ----------------===//

#include "planner/operators/StrategySpace.h"
#include <algorithm>
#include <cmath>
#include <map>

using namespace mlc::planner;

StrategySpace::StrategySpace(const OperatorGraph &graph, int32_t devices,
                             bool onAll) {
  std::map<std::vector<int64_t>, size_t> known;
  for (const StepOperator &op : graph.operators) {
    std::vector<int64_t> extents;
    for (const OperatorDim &dim : op.dims)
      extents.push_back(dim.extent);
    auto [it, isNew] = known.try_emplace(extents, lists.size());
    if (isNew) {
      lists.push_back(listStrategies(op, devices));
      if (onAll)
        std::erase_if(lists.back(), [&](const Strategy &strategy) {
          return strategy.parts() < devices;
        });
    }
    listOf.push_back(it->second);
  }
}

bool StrategySpace::has(const Strategies &strategies) const {
  for (size_t i = 0; i < listOf.size(); ++i) {
    const std::vector<Strategy> &all = lists[listOf[i]];
    if (std::find(all.begin(), all.end(), strategies[i]) == all.end())
      return false;
  }
  return true;
}

int32_t StrategySpace::firstWithout() const {
  for (size_t i = 0; i < listOf.size(); ++i)
    if (lists[listOf[i]].empty())
      return int32_t(i);
  return -1;
}

double StrategySpace::digits() const {
  double digits = 0;
  for (size_t list : listOf)
    digits += std::log10(double(lists[list].size()));
  return digits;
}

uint64_t Draws::next() {
  state += 0x9E3779B97F4A7C15;
  uint64_t mixed = state;
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
  return mixed ^ (mixed >> 31);
}

/// The high half of a product; its bias is below 2^-32 for what is drawn here.
size_t Draws::below(size_t count) {
  return size_t((next() >> 32) * uint64_t(count) >> 32);
}
