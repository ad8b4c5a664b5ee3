//===- ListPlacement.cpp - Operators where they end first -----------------===//

#include "planner/placement/Placement.h"

#include <algorithm>
#include <numeric>

using namespace mlc::planner;

namespace {

/// Schedules forward and backward work of an operator as one; what it reads
/// comes once and its gradient goes back.
class ListScheduler {
public:
  ListScheduler(const OperatorGraph &graph, const OperatorGroups &groups,
                const mlc::simulator::Network &network, int32_t devices)
      : graph(graph), groups(groups), network(network), devices(devices),
        placement(groups.count(), -1), ends(graph.operators.size()),
        free(devices), readers(graph.weights.size()) {}

  Placement run() {
    for (int32_t op : order())
      place(op);
    return placement;
  }

private:
  static double secondsOf(const StepOperator &op) {
    return op.forwardSeconds[0] + op.backwardSeconds[0];
  }
  double transfer(int32_t from, int32_t to, int64_t bytes) const {
    return 2 * mlc::simulator::toSeconds(network.transfer(from, to, bytes));
  }
  std::vector<int32_t> order() const;
  double startOn(int32_t op, int32_t device) const;
  void place(int32_t op);

  const OperatorGraph &graph;
  const OperatorGroups &groups;
  const mlc::simulator::Network &network;
  int32_t devices;
  Placement placement;
  std::vector<double> ends, free;
  std::vector<std::vector<int32_t>> readers; ///< devices, by weight
};

} // namespace

/// By the time from an operator's begin to the end, transfers included.
std::vector<int32_t> ListScheduler::order() const {
  std::vector<double> behind(graph.operators.size());
  for (size_t i = graph.operators.size(); i-- > 0;) {
    const StepOperator &op = graph.operators[i];
    behind[i] += secondsOf(op);
    for (const TensorRead &read : op.reads) {
      const StepTensor &tensor = graph.tensors[read.tensor];
      if (tensor.maker < 0)
        continue;
      const double sent = devices > 1 ? transfer(0, 1, tensor.bytes()) : 0;
      behind[tensor.maker] = std::max(behind[tensor.maker], behind[i] + sent);
    }
  }
  std::vector<int32_t> all(graph.operators.size());
  std::iota(all.begin(), all.end(), 0);
  std::stable_sort(all.begin(), all.end(),
                   [&](int32_t a, int32_t b) { return behind[a] > behind[b]; });
  return all;
}

double ListScheduler::startOn(int32_t op, int32_t device) const {
  double ready = free[device];
  for (const TensorRead &read : graph.operators[op].reads) {
    const StepTensor &tensor = graph.tensors[read.tensor];
    if (tensor.maker < 0)
      continue;
    const int32_t from = placement[groups.groupOf[tensor.maker]];
    ready = std::max(ready, ends[tensor.maker] +
                                (from < 0 || from == device
                                     ? 0
                                     : transfer(from, device, tensor.bytes())));
  }
  return ready;
}

void ListScheduler::place(int32_t op) {
  int32_t &own = placement[groups.groupOf[op]];
  double best = 0;
  int32_t chosen = 0;
  for (int32_t device = 0; device < devices && own < 0; ++device) {
    // A weight's gradient is added up over the devices that have it.
    double end = startOn(op, device) + secondsOf(graph.operators[op]);
    for (const WeightRead &read : graph.operators[op].weights)
      for (int32_t other : readers[read.weight])
        if (graph.weights[read.weight].isTrained && other != device) {
          end += transfer(other, device, graph.weights[read.weight].bytes());
          break;
        }
    if (device == 0 || end < best) {
      best = end;
      chosen = device;
    }
  }
  if (own < 0)
    own = chosen;
  ends[op] = startOn(op, own) + secondsOf(graph.operators[op]);
  free[own] = ends[op];
  for (const WeightRead &read : graph.operators[op].weights)
    readers[read.weight].push_back(own);
}

Placement mlc::planner::placeByList(const OperatorGraph &graph,
                                    const OperatorGroups &groups,
                                    const simulator::Network &network,
                                    int32_t devices) {
  return ListScheduler(graph, groups, network, devices).run();
}
