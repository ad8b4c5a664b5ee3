//===- Extract.cpp - The cheapest graph in a set of equal graphs ----------===//

#include "rewrites/Extract.h"
#include "rewrites/ExtractIlp.h"
#include "rewrites/ExtractReduce.h"
#include "llvm/ADT/STLExtras.h"
#include <chrono>
#include <numeric>

using namespace mlc;

static constexpr double infinity = std::numeric_limits<double>::infinity();

unsigned ExtractionProblem::addClass() {
  classes.emplace_back();
  return classes.size() - 1;
}

unsigned ExtractionProblem::addNode(unsigned eclass, double cost,
                                    llvm::ArrayRef<unsigned> children) {
  nodes.push_back({cost, {children.begin(), children.end()}, eclass});
  classes[eclass].push_back(nodes.size() - 1);
  return nodes.size() - 1;
}

double Extraction::gap() const {
  return cost > 0 && cost < infinity ? (cost - lowerBound) / cost : 0;
}

double mlc::selectionCost(const ExtractionProblem &problem,
                          std::vector<int> &chosen) {
  enum class State : char { New, Open, Done };
  std::vector<State> state(problem.classes.size(), State::New);
  std::vector<std::pair<unsigned, size_t>> path;
  double cost = 0;
  for (unsigned root : problem.roots) {
    if (state[root] != State::New)
      continue;
    path.push_back({root, 0});
    while (!path.empty()) {
      auto &[eclass, next] = path.back();
      if (chosen[eclass] < 0)
        return infinity;
      const ExtractionProblem::Node &node = problem.nodes[chosen[eclass]];
      if (next == 0) {
        state[eclass] = State::Open;
        cost += node.cost;
      }
      if (next == node.children.size()) {
        state[eclass] = State::Done;
        path.pop_back();
        continue;
      }
      unsigned child = node.children[next++];
      if (state[child] == State::Open)
        return infinity;
      if (state[child] == State::New)
        path.push_back({child, 0});
    }
  }
  for (auto [choice, visited] : llvm::zip(chosen, state))
    if (visited == State::New)
      choice = -1;
  return cost;
}

namespace {

/// A selection of one part.
struct Selection {
  std::vector<int> chosen;
  double cost = infinity;
};

Selection evaluated(const ExtractionProblem &part, std::vector<int> chosen) {
  Selection selection{std::move(chosen), 0};
  selection.cost = selectionCost(part, selection.chosen);
  return selection;
}

/// Starts from the cheapest trees; then tries every node that was not chosen:
/// when it and what it needs are there anyway, does something else become
/// cheaper too (the second result of a merge)?
Selection improve(const ExtractionProblem &part) {
  const std::vector<double> costs = nodeCosts(part);
  TreeCosts tree = treeCosts(part, costs);
  Selection best = evaluated(part, tree.choice);
  // Every try walks the part once. The dearest have most to share: first.
  size_t budget = 2'000'000 / (part.nodes.size() + 1);
  std::vector<unsigned> order(part.nodes.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::stable_sort(
      order, [&](unsigned a, unsigned b) { return costs[a] > costs[b]; });
  std::vector<unsigned> pending;
  for (bool changes = true; changes;) {
    changes = false;
    for (unsigned i : order) {
      if (best.chosen[part.nodes[i].eclass] == static_cast<int>(i))
        continue;
      if (budget-- == 0)
        return best;
      std::vector<double> reduced = costs;
      pending.assign(1, i);
      while (!pending.empty()) {
        unsigned index = pending.back();
        pending.pop_back();
        if (reduced[index] < 0)
          continue;
        reduced[index] = -1; // visited
        for (unsigned child : part.nodes[index].children) {
          int below =
              best.chosen[child] >= 0 ? best.chosen[child] : tree.choice[child];
          if (below >= 0)
            pending.push_back(below);
        }
      }
      for (double &cost : reduced)
        cost = std::max(cost, 0.0);
      Selection next = evaluated(part, treeCosts(part, reduced).choice);
      if (next.cost < best.cost * (1 - 1e-12)) {
        best = std::move(next);
        changes = true;
      }
    }
  }
  return best;
}

/// All selections of a small part, cut off where they are no better.
class Enumeration {
public:
  Enumeration(const ExtractionProblem &part, Selection &best)
      : part(part), best(best), chosen(part.classes.size(), -1) {}

  /// False when it gave up; `best` is then what it was or better.
  bool run() {
    std::vector<unsigned> needed;
    for (unsigned root : part.roots)
      need(root, needed);
    extend(needed, 0, 0);
    return steps > 0;
  }

private:
  static void need(unsigned eclass, std::vector<unsigned> &needed) {
    if (!llvm::is_contained(needed, eclass))
      needed.push_back(eclass);
  }

  /// Chooses for `needed[next]` and those behind it.
  void extend(std::vector<unsigned> &needed, size_t next, double cost) {
    if (steps == 0 || cost >= best.cost)
      return;
    if (next == needed.size()) {
      Selection found = evaluated(part, chosen);
      if (found.cost < best.cost)
        best = std::move(found);
      return;
    }
    unsigned eclass = needed[next];
    for (unsigned index : part.classes[eclass]) {
      if (steps == 0)
        break;
      --steps;
      const ExtractionProblem::Node &node = part.nodes[index];
      size_t before = needed.size();
      for (unsigned child : node.children)
        need(child, needed);
      chosen[eclass] = index;
      extend(needed, next + 1, cost + node.cost);
      needed.resize(before);
    }
    chosen[eclass] = -1;
  }

  const ExtractionProblem &part;
  Selection &best;
  std::vector<int> chosen;
  unsigned steps = 3000;
};

class Stopwatch {
public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         start)
        .count();
  }

private:
  std::chrono::steady_clock::time_point start =
      std::chrono::steady_clock::now();
};

/// The selection of the whole from those of the parts.
void finish(const ExtractionProblem &problem, const ExtractReduction &reduced,
            llvm::ArrayRef<std::vector<int>> selections, Extraction &result) {
  std::vector<int> chosen = reduced.lift(selections);
  double cost = selectionCost(problem, chosen);
  if (cost < result.cost) {
    result.cost = cost;
    result.chosen = std::move(chosen);
  }
  // Bounds are sums in another order: they may pass the cost by rounding.
  if (result.lowerBound > result.cost * (1 - 1e-9))
    result.lowerBound = result.cost;
  result.optimal = result.lowerBound == result.cost;
}

} // namespace

Extraction mlc::extractGreedy(const ExtractionProblem &problem) {
  Stopwatch watch;
  Extraction result;
  result.chosen.assign(problem.classes.size(), -1);
  ExtractReduction reduced(problem);
  if (reduced.isFeasible()) {
    std::vector<std::vector<int>> selections;
    result.lowerBound = reduced.fixedCost();
    for (const ExtractionProblem &part : reduced.parts()) {
      selections.push_back(improve(part).chosen);
      result.lowerBound += shareBound(part);
    }
    finish(problem, reduced, selections, result);
  }
  result.seconds = watch.seconds();
  return result;
}

Extraction mlc::extractExact(const ExtractionProblem &problem,
                             const Extraction &start, double timeLimitSeconds) {
  Stopwatch watch;
  Extraction result = start;
  ExtractReduction reduced(problem);
  if (reduced.isFeasible()) {
    std::vector<std::vector<int>> selections;
    double bound = reduced.fixedCost();
    for (const ExtractionProblem &part : reduced.parts()) {
      Selection best = improve(part);
      double least = std::min(shareBound(part), best.cost);
      if (least < best.cost * (1 - 1e-9)) {
        if (Enumeration(part, best).run())
          least = best.cost;
        else
          least = std::max(least, solveIlp(part, best.chosen, best.cost,
                                           timeLimitSeconds - watch.seconds()));
      }
      bound += least;
      selections.push_back(std::move(best.chosen));
    }
    result.lowerBound = std::max(start.lowerBound, bound);
    finish(problem, reduced, selections, result);
  }
  result.seconds = watch.seconds();
  return result;
}
