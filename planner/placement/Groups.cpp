//===- Groups.cpp - Operators that share a device -------------------------===//

#include "planner/placement/Groups.h"

#include <algorithm>
#include <map>
#include <numeric>

using namespace mlc::planner;

using Pair = std::pair<int32_t, int32_t>;

/// What each two operators give each other. Of many readers of a weight each
/// shares it with the one before.
static std::map<Pair, double> findLinks(const OperatorGraph &graph) {
  std::map<Pair, double> links;
  auto add = [&](int32_t a, int32_t b, double bytes) {
    if (a != b)
      links[std::minmax(a, b)] += bytes;
  };
  std::vector<int32_t> reader(graph.weights.size(), -1);
  for (size_t i = 0; i < graph.operators.size(); ++i) {
    const auto op = int32_t(i);
    for (const TensorRead &read : graph.operators[i].reads) {
      const StepTensor &tensor = graph.tensors[read.tensor];
      if (tensor.maker >= 0)
        add(tensor.maker, op, double(tensor.bytes()));
    }
    for (const WeightRead &read : graph.operators[i].weights) {
      const StepWeight &weight = graph.weights[read.weight];
      if (reader[read.weight] >= 0 && weight.isTrained)
        add(reader[read.weight], op, double(weight.bytes()));
      reader[read.weight] = op;
    }
  }
  return links;
}

static double secondsOfOperator(const StepOperator &op) {
  return op.forwardSeconds[0] + op.backwardSeconds[0];
}

namespace {

/// Sets of operators that are joined.
struct Joined {
  std::vector<int32_t> parent;
  std::vector<double> seconds;

  explicit Joined(const OperatorGraph &graph) : parent(graph.operators.size()) {
    std::iota(parent.begin(), parent.end(), 0);
    for (const StepOperator &op : graph.operators)
      seconds.push_back(secondsOfOperator(op));
  }
  int32_t find(int32_t op) {
    while (parent[op] != op)
      op = parent[op] = parent[parent[op]];
    return op;
  }
  /// The first operator stands for all.
  bool join(int32_t a, int32_t b, double most) {
    a = find(a), b = find(b);
    if (a == b || seconds[a] + seconds[b] > most)
      return false;
    if (b < a)
      std::swap(a, b);
    parent[b] = a;
    seconds[a] += seconds[b];
    return true;
  }
};

} // namespace

/// Joins along the heaviest links, and what is not linked in order.
static void joinAll(const std::map<Pair, double> &links, size_t most,
                    Joined &joined) {
  size_t left = joined.parent.size();
  std::vector<std::pair<Pair, double>> heavy(links.begin(), links.end());
  std::stable_sort(heavy.begin(), heavy.end(),
                   [](auto &a, auto &b) { return a.second > b.second; });
  const double all =
      std::accumulate(joined.seconds.begin(), joined.seconds.end(), 0.0);
  for (double limit = all / double(most); left > most; limit *= 1.5) {
    for (const auto &[pair, bytes] : heavy)
      if (left > most && joined.join(pair.first, pair.second, limit))
        --left;
    for (size_t i = 1; i < joined.parent.size() && limit > all; ++i)
      if (left > most && joined.join(int32_t(i) - 1, int32_t(i), limit))
        --left;
  }
}

OperatorGroups mlc::planner::makeGroups(const OperatorGraph &graph,
                                        size_t most) {
  const std::map<Pair, double> links = findLinks(graph);
  Joined joined(graph);
  joinAll(links, std::max<size_t>(1, most), joined);
  OperatorGroups groups;
  std::map<int32_t, int32_t> numbers;
  for (size_t i = 0; i < graph.operators.size(); ++i) {
    const auto [it, isNew] =
        numbers.try_emplace(joined.find(int32_t(i)), int32_t(numbers.size()));
    if (isNew) {
      groups.members.emplace_back();
      groups.seconds.push_back(0);
    }
    groups.groupOf.push_back(it->second);
    groups.members[it->second].push_back(int32_t(i));
    groups.seconds[it->second] += secondsOfOperator(graph.operators[i]);
  }
  groups.bytes.assign(groups.count() * groups.count(), 0);
  for (const auto &[pair, bytes] : links) {
    const int32_t a = groups.groupOf[pair.first],
                  b = groups.groupOf[pair.second];
    if (a == b)
      continue;
    groups.bytes[a * groups.count() + b] += bytes;
    groups.bytes[b * groups.count() + a] += bytes;
  }
  return groups;
}
