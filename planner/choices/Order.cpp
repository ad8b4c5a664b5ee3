//===- Order.cpp - An order to eliminate nodes in -------------------------===//

#include "planner/choices/Order.h"

#include <algorithm>
#include <set>
#include <tuple>

using namespace mlc;
using namespace mlc::planner;

namespace {

/// Neighbours of a hub are not looked at in pairs.
constexpr size_t kMostPairs = 40;

/// An edge, or the minimum of a bucket, over copies of nodes.
struct Function {
  std::vector<uint32_t> scope;
  uint32_t source = 0;
  bool isBucket = false;
};

class Finder {
public:
  Finder(const ChoiceProblem &problem, double maxEntries)
      : problem(problem), maxEntries(maxEntries),
        neighbours(problem.nodes.size()), functionsOf(problem.nodes.size()),
        keys(problem.nodes.size()) {
    order.copiesOf.resize(problem.nodes.size());
    for (uint32_t node = 0; node < problem.nodes.size(); ++node)
      addCopy(node);
    for (uint32_t i = 0; i < problem.edges.size(); ++i) {
      const ChoiceProblem::Edge &edge = problem.edges[i];
      addFunction({{edge.from, edge.to}, i, false});
      neighbours[edge.from].insert(edge.to);
      neighbours[edge.to].insert(edge.from);
    }
    for (uint32_t node = 0; node < problem.nodes.size(); ++node) {
      keys[node] = keyOf(node);
      queue.insert(keys[node]);
    }
  }

  EliminationOrder find() {
    while (!queue.empty()) {
      const uint32_t node = std::get<3>(*queue.begin());
      queue.erase(queue.begin());
      eliminate(node);
    }
    sortScopes();
    return std::move(order);
  }

private:
  /// Whether its table is too large, pairs to connect, entries, node.
  using Key = std::tuple<bool, double, double, uint32_t>;

  double sizeOf(uint32_t copy) const {
    return problem.countChoices(order.nodeOf[copy]);
  }
  double entriesOf(const std::vector<uint32_t> &scope) const {
    double entries = 1;
    for (uint32_t copy : scope)
      entries *= sizeOf(copy);
    return entries;
  }

  Key keyOf(uint32_t node) const {
    const std::set<uint32_t> &around = neighbours[node];
    double entries = sizeOf(node), fill = 0;
    for (uint32_t one : around)
      entries *= sizeOf(one);
    if (around.size() > kMostPairs)
      fill = 0.5 * around.size() * (around.size() - 1.0);
    else
      for (auto a = around.begin(); a != around.end(); ++a)
        for (auto b = std::next(a); b != around.end(); ++b)
          fill += !neighbours[*a].count(*b);
    return {entries > maxEntries, fill, entries, node};
  }

  uint32_t addCopy(uint32_t node) {
    const auto copy = static_cast<uint32_t>(order.nodeOf.size());
    order.nodeOf.push_back(node);
    order.bucketOf.push_back(0);
    order.copiesOf[node].push_back(copy);
    return copy;
  }

  void addFunction(Function function) {
    const auto place = static_cast<uint32_t>(functions.size());
    for (uint32_t node : function.scope)
      functionsOf[node].push_back(place);
    functions.push_back(std::move(function));
  }

  void eliminate(uint32_t node) {
    bool isFirst = true;
    for (const std::vector<uint32_t> &group : groupsOf(node)) {
      makeBucket(node, isFirst ? node : addCopy(node), group);
      isFirst = false;
    }
    const std::set<uint32_t> around = neighbours[node];
    std::set<uint32_t> touched = around;
    for (uint32_t one : around) {
      neighbours[one].erase(node);
      if (around.size() <= kMostPairs)
        touched.insert(neighbours[one].begin(), neighbours[one].end());
    }
    touched.erase(node);
    for (uint32_t one : touched) {
      queue.erase(keys[one]);
      keys[one] = keyOf(one);
      queue.insert(keys[one]);
    }
  }

  /// The functions of a node in groups, each of which fits a table: large ones
  /// first, each into the first group that has room.
  std::vector<std::vector<uint32_t>> groupsOf(uint32_t node) {
    std::vector<uint32_t> left;
    for (uint32_t place : functionsOf[node])
      if (!functions[place].scope.empty())
        left.push_back(place);
    std::stable_sort(left.begin(), left.end(), [&](uint32_t a, uint32_t b) {
      return entriesOf(functions[a].scope) > entriesOf(functions[b].scope);
    });
    std::vector<std::vector<uint32_t>> groups;
    std::vector<std::set<uint32_t>> scopes;
    for (uint32_t place : left) {
      const std::vector<uint32_t> &scope = functions[place].scope;
      size_t group = 0;
      for (; group < groups.size(); ++group) {
        std::set<uint32_t> both = scopes[group];
        both.insert(scope.begin(), scope.end());
        if (both.size() == scopes[group].size() ||
            entriesOf({both.begin(), both.end()}) <= maxEntries)
          break;
      }
      if (group == groups.size()) {
        groups.emplace_back();
        scopes.emplace_back();
      }
      groups[group].push_back(place);
      scopes[group].insert(scope.begin(), scope.end());
    }
    if (groups.empty())
      groups.emplace_back();
    return groups;
  }

  void makeBucket(uint32_t node, uint32_t copy,
                  const std::vector<uint32_t> &group) {
    EliminationBucket bucket;
    bucket.node = node;
    bucket.copy = copy;
    const auto place = static_cast<uint32_t>(order.buckets.size());
    order.bucketOf[copy] = place;
    std::set<uint32_t> scope;
    for (uint32_t one : group) {
      Function &function = functions[one];
      scope.insert(function.scope.begin(), function.scope.end());
      (function.isBucket ? bucket.buckets : bucket.edges)
          .push_back(function.source);
      if (copy != node && function.isBucket)
        rename(function.source, node, copy);
      function.scope.clear(); // it is in this bucket now
    }
    scope.erase(node);
    bucket.scope.assign(scope.begin(), scope.end());
    order.buckets.push_back(bucket);
    for (uint32_t one : scope) {
      std::set<uint32_t> &around = neighbours[one];
      around.insert(scope.begin(), scope.end());
      around.erase(one);
    }
    if (!scope.empty())
      addFunction({bucket.scope, place, true});
  }

  /// What an earlier bucket says of a node is of this copy.
  void rename(uint32_t from, uint32_t node, uint32_t copy) {
    EliminationBucket &bucket = order.buckets[from];
    auto it = std::find(bucket.scope.begin(), bucket.scope.end(), node);
    if (it == bucket.scope.end())
      return;
    *it = copy;
    for (uint32_t earlier : bucket.buckets)
      rename(earlier, node, copy);
  }

  void sortScopes() {
    for (EliminationBucket &bucket : order.buckets)
      std::sort(bucket.scope.begin(), bucket.scope.end(),
                [&](uint32_t a, uint32_t b) {
                  return order.bucketOf[a] > order.bucketOf[b];
                });
  }

  const ChoiceProblem &problem;
  double maxEntries;
  EliminationOrder order;
  std::vector<Function> functions;
  /// Of nodes that are left.
  std::vector<std::set<uint32_t>> neighbours;
  std::vector<std::vector<uint32_t>> functionsOf;
  std::vector<Key> keys;
  std::set<Key> queue;
};

} // namespace

EliminationOrder planner::findOrder(const ChoiceProblem &problem,
                                    double maxEntries) {
  return Finder(problem, maxEntries).find();
}
