//===- Extract.cpp - The cheapest graph in a set of equal graphs ----------===//

#include "rewrites/Extract/Extract.h"
#include "rewrites/Extract/ExtractIlp.h"
#include "rewrites/Extract/ExtractReduce.h"
#include "rewrites/Support/Stopwatch.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlc;

static constexpr double infinity = std::numeric_limits<double>::infinity();

double Extraction::gap() const {
  return cost > 0 && cost < infinity ? (cost - lowerBound) / cost : 0;
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

/// Local search over sets of classes that are assumed to be selected and free
/// to use: the cheapest trees given these form a selection. Classes enter and
/// leave the set one at a time, as long as the selection gets cheaper.
class Improvement {
public:
  explicit Improvement(const ExtractionProblem &part)
      : part(part), solver(part), costs(nodeCosts(part)),
        tree(solver.solve(costs)), best(evaluated(part, tree.choice)),
        isAssumed(part.classes.size()) {}

  Selection run() {
    // Every try walks the part once. Try the most expensive classes first,
    // since they have most to share.
    size_t budget = 2'000'000 / (part.nodes.size() + 1);
    std::vector<unsigned> candidates = sharedClasses();
    for (bool changes = true; changes;) {
      changes = false;
      for (unsigned eclass : candidates) {
        if (budget == 0)
          return std::move(best);
        --budget;
        isAssumed[eclass] = !isAssumed[eclass];
        if (tryAssumed())
          changes = true;
        else
          isAssumed[eclass] = !isAssumed[eclass];
      }
    }
    return std::move(best);
  }

private:
  /// Classes that nodes of two or more other classes use, the most expensive
  /// first.
  std::vector<unsigned> sharedClasses() const {
    std::vector<unsigned> shared;
    for (unsigned i = 0; i < part.classes.size(); ++i) {
      llvm::ArrayRef<unsigned> users = solver.usersOf(i);
      if (llvm::any_of(users, [&](unsigned user) {
            return part.nodes[user].eclass != part.nodes[users[0]].eclass;
          }))
        shared.push_back(i);
    }
    llvm::stable_sort(shared, [&](unsigned a, unsigned b) {
      return tree.cost[a] > tree.cost[b];
    });
    return shared;
  }

  /// Treats the assumed classes and all that they need as free; keeps the
  /// selection if its full cost is lower.
  bool tryAssumed() {
    std::vector<double> reduced = costs;
    std::vector<bool> isFree(part.classes.size());
    std::vector<unsigned> pending;
    for (unsigned i = 0; i < part.classes.size(); ++i)
      if (isAssumed[i])
        pending.push_back(i);
    while (!pending.empty()) {
      unsigned next = pending.back();
      pending.pop_back();
      int node = best.chosen[next] >= 0 ? best.chosen[next] : tree.choice[next];
      if (isFree[next] || node < 0)
        continue;
      isFree[next] = true;
      reduced[node] = 0;
      llvm::append_range(pending, part.nodes[node].children);
    }
    Selection next = evaluated(part, solver.solve(reduced).choice);
    if (!(next.cost < best.cost * (1 - 1e-12)))
      return false;
    best = std::move(next);
    return true;
  }

  const ExtractionProblem &part;
  TreeSolver solver;
  const std::vector<double> costs;
  const TreeCosts tree;
  Selection best;
  std::vector<bool> isAssumed;
};

Selection improve(const ExtractionProblem &part) {
  return Improvement(part).run();
}

/// Enumerates all selections of a small part and prunes those that are no
/// better.
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

  /// Chooses nodes for `needed[next]` and all later classes.
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

/// The selection of the whole from those of the parts.
void finish(const ExtractionProblem &problem, const ExtractReduction &reduced,
            llvm::ArrayRef<std::vector<int>> selections, Extraction &result) {
  std::vector<int> chosen = reduced.lift(selections);
  double cost = selectionCost(problem, chosen);
  if (cost < result.cost) {
    result.cost = cost;
    result.chosen = std::move(chosen);
  }
  // Bounds are sums in another order, so they may exceed the cost by rounding.
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
                             const Extraction &start,
                             ExtractionEffort &effort) {
  Stopwatch watch;
  Extraction result = start;
  ExtractReduction reduced(problem);
  if (reduced.isFeasible()) {
    std::vector<std::vector<int>> selections;
    double bound = reduced.fixedCost();
    for (auto [i, part] : llvm::enumerate(reduced.parts())) {
      Selection best = evaluated(part, reduced.restrict(i, start.chosen));
      if (!(best.cost < infinity))
        best = improve(part);
      double least = std::min(shareBound(part), best.cost);
      if (least < best.cost * (1 - 1e-9)) {
        if (Enumeration(part, best).run())
          least = best.cost;
        else
          least =
              std::max(least, solveIlp(part, best.chosen, best.cost, effort));
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
