//===- ExtractReduce.cpp - Smaller extraction problems --------------------===//

#include "rewrites/Extract/ExtractReduce.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace mlc;
using llvm::ArrayRef;

static constexpr double infinity = std::numeric_limits<double>::infinity();

//===----------------------------------------------------------------------===//
// Bounds and components
//===----------------------------------------------------------------------===//

TreeSolver::TreeSolver(const ExtractionProblem &problem) : problem(problem) {
  first.assign(problem.classes.size() + 1, 0);
  for (const ExtractionProblem::Node &node : problem.nodes)
    for (unsigned child : node.children)
      ++first[child + 1];
  for (size_t i = 1; i < first.size(); ++i)
    first[i] += first[i - 1];
  users.resize(first.back());
  std::vector<unsigned> next(first.begin(), first.end() - 1);
  for (auto [i, node] : llvm::enumerate(problem.nodes))
    for (unsigned child : node.children)
      users[next[child]++] = i;
}

const TreeCosts &TreeSolver::solve(ArrayRef<double> costs) {
  result.cost.assign(problem.classes.size(), infinity);
  result.choice.assign(problem.classes.size(), -1);
  sum.assign(costs.begin(), costs.end());
  waitsFor.resize(problem.nodes.size());
  queue.clear();
  // Cheapest first: a class is settled by the first of its nodes, and its
  // children are settled before it, so that the choices have no cycle.
  auto push = [&](unsigned index) {
    if (!(sum[index] < infinity))
      return;
    queue.push_back({sum[index], index});
    std::push_heap(queue.begin(), queue.end(), std::greater<>());
  };
  for (auto [i, node] : llvm::enumerate(problem.nodes)) {
    waitsFor[i] = node.children.size();
    if (node.children.empty())
      push(i);
  }
  while (!queue.empty()) {
    std::pop_heap(queue.begin(), queue.end(), std::greater<>());
    auto [cost, index] = queue.back();
    queue.pop_back();
    unsigned eclass = problem.nodes[index].eclass;
    if (result.choice[eclass] >= 0)
      continue;
    result.cost[eclass] = cost;
    result.choice[eclass] = index;
    for (unsigned k = first[eclass]; k < first[eclass + 1]; ++k) {
      unsigned user = users[k];
      sum[user] += cost;
      if (--waitsFor[user] == 0 &&
          result.choice[problem.nodes[user].eclass] < 0)
        push(user);
    }
  }
  return result;
}

std::vector<double> mlc::nodeCosts(const ExtractionProblem &problem) {
  std::vector<double> costs;
  costs.reserve(problem.nodes.size());
  for (const ExtractionProblem::Node &node : problem.nodes)
    costs.push_back(node.cost);
  return costs;
}

TreeCosts mlc::treeCosts(const ExtractionProblem &problem) {
  return TreeSolver(problem).solve(nodeCosts(problem));
}

double mlc::shareBound(const ExtractionProblem &problem) {
  // At most as many classes use a class as have a node that names it: one node
  // of each class is chosen, so its nodes count once.
  std::vector<double> users(problem.classes.size(), 0);
  for (unsigned root : problem.roots)
    users[root] += 1;
  for (const std::vector<unsigned> &nodes : problem.classes) {
    llvm::SmallVector<unsigned> named;
    for (unsigned node : nodes)
      llvm::append_range(named, problem.nodes[node].children);
    llvm::sort(named);
    named.erase(llvm::unique(named), named.end());
    for (unsigned child : named)
      users[child] += 1;
  }
  // Iterate from below, so that every round gives a valid bound.
  std::vector<double> bound(problem.classes.size(), 0);
  bool changes = true;
  for (int round = 0; round < 100 && changes; ++round) {
    changes = false;
    for (auto [i, nodes] : llvm::enumerate(problem.classes)) {
      double least = infinity;
      for (unsigned index : nodes) {
        const ExtractionProblem::Node &node = problem.nodes[index];
        double cost = node.cost;
        for (unsigned child : node.children)
          cost += bound[child] / users[child];
        least = std::min(least, cost);
      }
      if (least < infinity && least > bound[i] * (1 + 1e-12)) {
        bound[i] = least;
        changes = true;
      }
    }
  }
  double total = 0;
  for (unsigned root : problem.roots)
    total += bound[root] / users[root];
  return total;
}

std::vector<unsigned> mlc::stronglyConnected(const ExtractionProblem &problem) {
  // Tarjan's algorithm with a stack of its own: graphs may be deep.
  size_t count = problem.classes.size();
  std::vector<unsigned> component(count, ~0u), order(count, 0), low(count, 0);
  std::vector<std::vector<unsigned>> next(count);
  for (const ExtractionProblem::Node &node : problem.nodes)
    llvm::append_range(next[node.eclass], node.children);
  std::vector<unsigned> open;
  std::vector<std::pair<unsigned, size_t>> path;
  unsigned visited = 0, components = 0;
  for (unsigned start = 0; start < count; ++start) {
    if (order[start])
      continue;
    path.push_back({start, 0});
    while (!path.empty()) {
      auto &[eclass, child] = path.back();
      if (child == 0) {
        order[eclass] = low[eclass] = ++visited;
        open.push_back(eclass);
      }
      if (child < next[eclass].size()) {
        unsigned to = next[eclass][child++];
        if (!order[to])
          path.push_back({to, 0});
        else if (component[to] == ~0u)
          low[eclass] = std::min(low[eclass], order[to]);
        continue;
      }
      unsigned done = eclass;
      if (low[done] == order[done]) {
        while (true) {
          unsigned member = open.back();
          open.pop_back();
          component[member] = components;
          if (member == done)
            break;
        }
        ++components;
      }
      path.pop_back();
      if (!path.empty())
        low[path.back().first] = std::min(low[path.back().first], low[done]);
    }
  }
  return component;
}

//===----------------------------------------------------------------------===//
// Reduction
//===----------------------------------------------------------------------===//

ExtractReduction::ExtractReduction(const ExtractionProblem &problem)
    : problem(problem) {
  load();
  if (!feasible)
    return;
  while (simplify())
    ;
  cut();
  while (simplify())
    ;
  split();
}

void ExtractReduction::load() {
  TreeCosts tree = treeCosts(problem);
  free.assign(problem.classes.size(), -1);
  classes.resize(problem.classes.size());
  for (auto [i, nodes] : llvm::enumerate(problem.classes)) {
    if (tree.cost[i] == 0) {
      free[i] = tree.choice[i];
      continue;
    }
    for (unsigned index : nodes) {
      const ExtractionProblem::Node &node = problem.nodes[index];
      if (!(node.cost < infinity))
        continue;
      Node reduced{node.cost, {}, {index}};
      for (unsigned child : node.children)
        if (tree.cost[child] != 0)
          reduced.children.push_back(child);
      llvm::sort(reduced.children);
      reduced.children.erase(llvm::unique(reduced.children),
                             reduced.children.end());
      classes[i].push_back(std::move(reduced));
    }
  }
  for (unsigned root : problem.roots) {
    feasible &= tree.cost[root] < infinity;
    if (tree.cost[root] != 0 && !llvm::is_contained(roots, root))
      roots.push_back(root);
  }
}

bool ExtractReduction::isRoot(unsigned eclass) const {
  return llvm::is_contained(roots, eclass);
}

ExtractionProblem ExtractReduction::current(std::vector<int> &classOf) const {
  ExtractionProblem result;
  classOf.assign(classes.size(), -1);
  for (auto [i, nodes] : llvm::enumerate(classes))
    if (!nodes.empty())
      classOf[i] = result.addClass();
  for (auto [i, nodes] : llvm::enumerate(classes))
    for (const Node &node : nodes) {
      llvm::SmallVector<unsigned> children;
      double cost = node.cost;
      for (unsigned child : node.children) {
        if (classOf[child] < 0)
          cost = infinity;
        else
          children.push_back(classOf[child]);
      }
      result.addNode(classOf[i], cost, children);
    }
  for (unsigned root : roots)
    result.roots.push_back(classOf[root]);
  return result;
}

bool ExtractReduction::simplify() {
  bool changes = dropHopeless();
  changes |= fixRoots();
  changes |= dropBeaten();
  changes |= contract();
  return changes;
}

std::vector<bool> ExtractReduction::reachable() const {
  std::vector<bool> seen(classes.size());
  std::vector<unsigned> pending(roots);
  for (unsigned root : roots)
    seen[root] = true;
  while (!pending.empty()) {
    unsigned eclass = pending.back();
    pending.pop_back();
    for (const Node &node : classes[eclass])
      for (unsigned child : node.children)
        if (!seen[child]) {
          seen[child] = true;
          pending.push_back(child);
        }
  }
  return seen;
}

/// Drops nodes that use themselves or classes that cannot be extracted, and
/// classes that no root can need.
bool ExtractReduction::dropHopeless() {
  std::vector<int> classOf;
  TreeCosts tree = treeCosts(current(classOf));
  bool changes = false;
  for (auto [i, nodes] : llvm::enumerate(classes)) {
    size_t before = nodes.size();
    llvm::erase_if(nodes, [&, self = i](const Node &node) {
      return llvm::any_of(node.children, [&](unsigned child) {
        return child == self || classOf[child] < 0 ||
               !(tree.cost[classOf[child]] < infinity);
      });
    });
    changes |= nodes.size() != before;
  }
  std::vector<bool> seen = reachable();
  for (auto [i, nodes] : llvm::enumerate(classes))
    if (!seen[i] && !nodes.empty()) {
      nodes.clear();
      changes = true;
    }
  return changes;
}

/// A root is always needed, so nodes may use it for free unless both are on a
/// cycle. A root with one node is decided.
bool ExtractReduction::fixRoots() {
  std::vector<int> classOf;
  ExtractionProblem now = current(classOf);
  std::vector<unsigned> component = stronglyConnected(now);
  std::vector<bool> root(classes.size()), used(classes.size());
  for (unsigned eclass : roots)
    root[eclass] = true;
  bool changes = false;
  for (auto [i, nodes] : llvm::enumerate(classes))
    for (Node &node : nodes) {
      unsigned own = component[classOf[i]];
      size_t before = node.children.size();
      llvm::erase_if(node.children, [&](unsigned child) {
        return root[child] && component[classOf[child]] != own;
      });
      changes |= node.children.size() != before;
      for (unsigned child : node.children)
        used[child] = true;
    }
  std::vector<unsigned> remaining, added;
  for (unsigned eclass : roots) {
    if (classes[eclass].size() != 1 || used[eclass]) {
      remaining.push_back(eclass);
      continue;
    }
    Node &node = classes[eclass][0];
    fixed += node.cost;
    llvm::append_range(taken, node.originals);
    llvm::append_range(added, node.children);
    classes[eclass].clear();
    changes = true;
  }
  roots = std::move(remaining);
  for (unsigned eclass : added)
    if (!isRoot(eclass))
      roots.push_back(eclass);
  return changes;
}

/// Drops nodes that are dominated by one that costs no more and needs no other
/// classes.
bool ExtractReduction::dropBeaten() {
  bool changes = false;
  for (std::vector<Node> &nodes : classes) {
    std::vector<bool> beaten(nodes.size());
    for (size_t i = 0; i < nodes.size(); ++i)
      for (size_t j = 0; j < nodes.size() && !beaten[i]; ++j)
        beaten[i] = i != j && !beaten[j] && nodes[j].cost <= nodes[i].cost &&
                    llvm::includes(nodes[i].children, nodes[j].children);
    size_t kept = 0;
    for (size_t i = 0; i < nodes.size(); ++i)
      if (!beaten[i]) {
        if (kept != i)
          nodes[kept] = std::move(nodes[i]);
        ++kept;
      }
    changes |= kept != nodes.size();
    nodes.resize(kept);
  }
  return changes;
}

/// Merges a class that has one node and one user into that user.
bool ExtractReduction::contract() {
  struct Use {
    unsigned count = 0, eclass = 0, node = 0;
  };
  std::vector<Use> uses(classes.size());
  for (auto [i, nodes] : llvm::enumerate(classes))
    for (auto [k, node] : llvm::enumerate(nodes))
      for (unsigned child : node.children) {
        Use &use = uses[child];
        ++use.count;
        use.eclass = i;
        use.node = k;
      }
  for (unsigned root : roots)
    uses[root].count += 2;
  bool changes = false;
  for (auto [i, nodes] : llvm::enumerate(classes)) {
    Use use = uses[i];
    if (nodes.size() != 1 || use.count != 1 || use.eclass == i)
      continue;
    Node &user = classes[use.eclass][use.node], &part = nodes[0];
    llvm::erase(user.children, static_cast<unsigned>(i));
    user.cost += part.cost;
    llvm::append_range(user.originals, part.originals);
    for (unsigned child : part.children) {
      Use &below = uses[child];
      if (llvm::is_contained(user.children, child))
        --below.count;
      else
        user.children.push_back(child);
      below.eclass = use.eclass;
      below.node = use.node;
    }
    llvm::sort(user.children);
    nodes.clear();
    changes = true;
  }
  return changes;
}

/// Whether nothing can be extracted without `eclass`.
bool ExtractReduction::isRequired(unsigned eclass) const {
  std::vector<int> classOf;
  ExtractionProblem now = current(classOf);
  for (unsigned node : now.classes[classOf[eclass]])
    now.nodes[node].cost = infinity;
  TreeCosts tree = treeCosts(now);
  return llvm::any_of(
      now.roots, [&](unsigned root) { return !(tree.cost[root] < infinity); });
}

/// Makes roots of the classes that every selection passes.
void ExtractReduction::cut() {
  size_t nodes = 0;
  for (const std::vector<Node> &members : classes)
    nodes += members.size();
  // Quadratic: a large problem is left to the search as a whole.
  size_t budget = 4'000'000;
  std::vector<int> classOf;
  ExtractionProblem now = current(classOf);
  TreeCosts tree = treeCosts(now);
  selectionCost(now, tree.choice);
  for (size_t i = 0; i < classes.size(); ++i) {
    // A class that some selection does not use is not required.
    if (classes[i].empty() || tree.choice[classOf[i]] < 0 || isRoot(i))
      continue;
    if (budget < nodes)
      return;
    budget -= nodes;
    if (isRequired(i))
      roots.push_back(i);
  }
}

/// Classes that share nothing become problems of their own.
void ExtractReduction::split() {
  llvm::EquivalenceClasses<unsigned> groups;
  for (auto [i, nodes] : llvm::enumerate(classes)) {
    if (nodes.empty())
      continue;
    groups.insert(i);
    for (const Node &node : nodes)
      for (unsigned child : node.children)
        groups.unionSets(i, child);
  }
  std::vector<int> partOf(classes.size(), -1), numberOf(classes.size(), -1);
  for (auto [i, nodes] : llvm::enumerate(classes)) {
    if (nodes.empty())
      continue;
    unsigned leader = groups.getLeaderValue(i);
    if (partOf[leader] < 0) {
      partOf[leader] = problems.size();
      problems.emplace_back();
      originals.emplace_back();
    }
    partOf[i] = partOf[leader];
    numberOf[i] = problems[partOf[i]].addClass();
  }
  for (auto [i, nodes] : llvm::enumerate(classes))
    for (const Node &node : nodes) {
      llvm::SmallVector<unsigned> children;
      for (unsigned child : node.children)
        children.push_back(numberOf[child]);
      problems[partOf[i]].addNode(numberOf[i], node.cost, children);
      originals[partOf[i]].push_back(node.originals);
    }
  for (unsigned root : roots)
    problems[partOf[root]].roots.push_back(numberOf[root]);
}

std::vector<int>
ExtractReduction::lift(ArrayRef<std::vector<int>> selections) const {
  std::vector<int> chosen(problem.classes.size(), -1);
  auto take = [&](ArrayRef<unsigned> nodes) {
    for (unsigned node : nodes)
      chosen[problem.nodes[node].eclass] = node;
  };
  take(taken);
  for (auto [part, selection] : llvm::enumerate(selections))
    for (int node : selection)
      if (node >= 0)
        take(originals[part][node]);
  for (auto [choice, otherwise] : llvm::zip(chosen, free))
    if (choice < 0)
      choice = otherwise;
  return chosen;
}

std::vector<int> ExtractReduction::restrict(size_t part,
                                            ArrayRef<int> chosen) const {
  const ExtractionProblem &problemOfPart = problems[part];
  std::vector<int> selection(problemOfPart.classes.size(), -1);
  for (auto [i, node] : llvm::enumerate(problemOfPart.nodes))
    if (llvm::all_of(originals[part][i], [&](unsigned original) {
          return chosen[problem.nodes[original].eclass] ==
                 static_cast<int>(original);
        }))
      selection[node.eclass] = i;
  return selection;
}
