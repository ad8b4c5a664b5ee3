//===- OperatorClasses.cpp - Operators that belong together ---------------===//

#include "planner/operators/OperatorClasses.h"
#include <algorithm>
#include <map>
#include <numeric>

using namespace mlc::planner;

static bool haveEqualDims(const StepOperator &a, const StepOperator &b) {
  return std::equal(a.dims.begin(), a.dims.end(), b.dims.begin(), b.dims.end(),
                    [](const OperatorDim &one, const OperatorDim &other) {
                      return one.kind == other.kind &&
                             one.extent == other.extent;
                    });
}

std::vector<OperatorClass>
mlc::planner::findLayers(const OperatorGraph &graph) {
  std::vector<int32_t> leads(graph.operators.size());
  std::iota(leads.begin(), leads.end(), 0);
  auto leadOf = [&](int32_t op) {
    while (leads[op] != op)
      op = leads[op];
    return op;
  };
  std::vector<int32_t> readers(graph.weights.size(), -1);
  for (size_t i = 0; i < graph.operators.size(); ++i)
    for (const WeightRead &read : graph.operators[i].weights) {
      int32_t &reader = readers[read.weight];
      if (reader < 0) {
        reader = int32_t(i);
      } else if (haveEqualDims(graph.operators[reader], graph.operators[i])) {
        const int32_t a = leadOf(reader), b = leadOf(int32_t(i));
        leads[std::max(a, b)] = std::min(a, b);
      }
    }
  std::map<int32_t, OperatorClass> classes;
  for (size_t i = 0; i < leads.size(); ++i)
    classes[leadOf(int32_t(i))].push_back(int32_t(i));
  std::vector<OperatorClass> all;
  for (auto &[lead, members] : classes)
    all.push_back(std::move(members));
  return all;
}

std::vector<OperatorClass>
mlc::planner::findRepeats(const OperatorGraph &graph,
                          const std::vector<OperatorClass> &layers) {
  using Key = std::pair<std::string, std::vector<std::vector<int64_t>>>;
  std::map<Key, std::vector<size_t>> alike;
  for (size_t i = 0; i < layers.size(); ++i) {
    const StepOperator &op = graph.operators[layers[i].front()];
    Key key{op.type, {}};
    std::vector<int64_t> extents;
    for (const OperatorDim &dim : op.dims) {
      extents.push_back(int64_t(dim.kind));
      extents.push_back(dim.extent);
    }
    key.second.push_back(extents);
    for (const WeightRead &read : op.weights)
      key.second.push_back(graph.weights[read.weight].dims);
    for (int32_t result : op.results)
      key.second.push_back(graph.tensors[result].dims);
    alike[key].push_back(i);
  }
  std::vector<OperatorClass> all;
  for (const auto &[key, numbers] : alike) {
    if (numbers.size() < 2)
      continue;
    OperatorClass members;
    for (size_t number : numbers)
      members.insert(members.end(), layers[number].begin(),
                     layers[number].end());
    std::sort(members.begin(), members.end());
    all.push_back(std::move(members));
  }
  std::sort(all.begin(), all.end());
  return all;
}
