//===- Problem.cpp - Sets of equal graphs, to choose from -----------------===//

#include "rewrites/Extract/Problem.h"
#include "llvm/ADT/STLExtras.h"
#include <limits>

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
