//===- ExtractIlp.cpp - Extraction as an integer program ------------------===//
//
// One 0-1 variable for each node. At most one node of a class is chosen, and
// exactly one of a root. If class a uses class b, at most as many nodes of a
// that use b are chosen as nodes of b (one row per pair of classes, which is
// tighter than one per node). A cycle of k classes has at most k - 1 of its
// steps chosen; such rows are added when a solution has the cycle.
//
//===----------------------------------------------------------------------===//

#include "rewrites/Extract/ExtractIlp.h"
#include "runtime/KeepInterrupt.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include <climits>
#include <cmath>
#include <coin/Cbc_C_Interface.h>
#include <memory>

using namespace mlc;

namespace {

/// The fixed cost of a program, in iterations.
constexpr int iterationsPerProgram = 30;

struct Row {
  std::vector<int> columns;
  std::vector<double> values;
  double bound; // sum <= bound
};

class IntegerProgram {
public:
  IntegerProgram(const ExtractionProblem &problem, double cost)
      : problem(problem), isRoot(problem.classes.size()),
        // CBC's tolerances are absolute, costs may be nanoseconds.
        scale(1e4 / cost) {
    for (unsigned root : problem.roots)
      isRoot[root] = true;
    for (auto [i, nodes] : llvm::enumerate(problem.classes))
      for (unsigned node : nodes)
        if (!isExcluded(node))
          for (unsigned child : problem.nodes[node].children)
            steps[{i, child}].push_back(node);
    for (const auto &[step, nodes] : steps) {
      addUse(step.second, nodes);
      auto [from, to] = step;
      if (from < to && steps.count({to, from}))
        addCycle({from, to});
    }
  }

  /// Forbids the cycle of these classes.
  void addCycle(llvm::ArrayRef<unsigned> cycle) {
    Row row;
    for (size_t i = 0; i < cycle.size(); ++i)
      for (unsigned node : steps[{cycle[i], cycle[(i + 1) % cycle.size()]}])
        row.columns.push_back(node);
    // A node that makes two steps of the cycle counts for both.
    llvm::sort(row.columns);
    std::vector<int> columns;
    for (int column : row.columns) {
      if (columns.empty() || columns.back() != column) {
        columns.push_back(column);
        row.values.push_back(0);
      }
      row.values.back() += 1;
    }
    row.columns = std::move(columns);
    row.bound = cycle.size() - 1.0;
    rows.push_back(std::move(row));
  }

  struct Answer {
    std::vector<int> chosen; ///< empty: none was found
    double bound = 0;
    uint64_t nodes = 0;      ///< of the search tree
    uint64_t iterations = 0; ///< of the simplex
    bool interrupted = false;
  };
  Answer solve(const std::vector<int> &start, uint64_t maxNodes) {
    std::unique_ptr<Cbc_Model, void (*)(Cbc_Model *)> model(Cbc_newModel(),
                                                            Cbc_deleteModel);
    build(model.get());
    std::vector<int> columns(problem.nodes.size());
    std::vector<double> values(problem.nodes.size(), 0);
    for (size_t i = 0; i < columns.size(); ++i)
      columns[i] = i;
    for (int node : start)
      if (node >= 0)
        values[node] = 1;
    Cbc_setMIPStartI(model.get(), columns.size(), columns.data(),
                     values.data());
    Cbc_setLogLevel(model.get(), 0);
    // With preprocessing CBC 2.10 looks for columns of the start that it has
    // removed, and gives up.
    Cbc_setParameter(model.get(), "preprocess", "off");
    // CBC's heuristics also look at the time; disable that.
    Cbc_setMaximumSeconds(model.get(), 1e9);
    Cbc_setMaximumNodes(model.get(), std::min<uint64_t>(maxNodes, INT_MAX / 2));
    Cbc_setAllowableGap(model.get(), 1e-6);
    Cbc_solve(model.get());
    Answer answer;
    answer.interrupted = Cbc_secondaryStatus(model.get()) == 5;
    answer.nodes = std::max(0, Cbc_getNodeCount(model.get()));
    answer.iterations =
        iterationsPerProgram + std::max(0, Cbc_getIterationCount(model.get()));
    if (const double *solution = Cbc_bestSolution(model.get())) {
      answer.chosen.assign(problem.classes.size(), -1);
      for (size_t i = 0; i < columns.size(); ++i)
        if (solution[i] > 0.5)
          answer.chosen[problem.nodes[i].eclass] = i;
    }
    answer.bound = Cbc_isProvenOptimal(model.get())
                       ? Cbc_getObjValue(model.get())
                       : Cbc_getBestPossibleObjValue(model.get());
    answer.bound = std::isfinite(answer.bound) && answer.bound < 1e30
                       ? answer.bound / scale
                       : 0;
    return answer;
  }

private:
  bool isExcluded(unsigned node) const {
    return !std::isfinite(problem.nodes[node].cost) ||
           llvm::is_contained(problem.nodes[node].children,
                              problem.nodes[node].eclass);
  }

  void addUse(unsigned used, llvm::ArrayRef<unsigned> users) {
    if (isRoot[used])
      return; // present in any case
    Row row;
    for (unsigned node : users) {
      row.columns.push_back(node);
      row.values.push_back(1);
    }
    for (unsigned node : problem.classes[used]) {
      row.columns.push_back(node);
      row.values.push_back(-1);
    }
    row.bound = 0;
    rows.push_back(std::move(row));
  }

  void build(Cbc_Model *model) const {
    for (auto [i, node] : llvm::enumerate(problem.nodes)) {
      bool allowed = !isExcluded(i);
      // The start is given by names.
      Cbc_addCol(model, ("x" + std::to_string(i)).c_str(), 0, allowed,
                 allowed ? node.cost * scale : 0, 1, 0, nullptr, nullptr);
    }
    auto add = [&](const Row &row, char sense) {
      Cbc_addRow(model, "", row.columns.size(), row.columns.data(),
                 row.values.data(), sense, row.bound);
    };
    for (auto [i, nodes] : llvm::enumerate(problem.classes))
      add({{nodes.begin(), nodes.end()},
           std::vector<double>(nodes.size(), 1),
           1},
          isRoot[i] ? 'E' : 'L');
    for (const Row &row : rows)
      add(row, 'L');
  }

  const ExtractionProblem &problem;
  std::vector<bool> isRoot;
  double scale;
  /// From class to class: the nodes that make the step.
  llvm::MapVector<std::pair<unsigned, unsigned>, std::vector<unsigned>> steps;
  std::vector<Row> rows;
};

/// Cycles of a selection that are reachable from the roots; if there are none,
/// it is valid.
std::vector<std::vector<unsigned>> cyclesOf(const ExtractionProblem &problem,
                                            const std::vector<int> &chosen) {
  enum class State : char { New, Open, Done };
  std::vector<State> state(problem.classes.size(), State::New);
  std::vector<std::pair<unsigned, size_t>> path;
  std::vector<std::vector<unsigned>> cycles;
  for (unsigned root : problem.roots) {
    if (state[root] == State::New)
      path.push_back({root, 0});
    while (!path.empty()) {
      auto &[eclass, next] = path.back();
      state[eclass] = State::Open;
      const ExtractionProblem::Node &node = problem.nodes[chosen[eclass]];
      if (next == node.children.size()) {
        state[eclass] = State::Done;
        path.pop_back();
        continue;
      }
      unsigned child = node.children[next++];
      if (state[child] == State::New) {
        path.push_back({child, 0});
      } else if (state[child] == State::Open) {
        auto first = llvm::find_if(
            path, [&](const auto &step) { return step.first == child; });
        std::vector<unsigned> &cycle = cycles.emplace_back();
        for (; first != path.end(); ++first)
          cycle.push_back(first->first);
      }
    }
  }
  return cycles;
}

} // namespace

double mlc::solveIlp(const ExtractionProblem &problem, std::vector<int> &chosen,
                     double &cost, ExtractionEffort &effort) {
  KeepInterrupt interrupt;
  IntegerProgram program(problem, cost);
  double bound = 0;
  while (effort.iterations > 0 && effort.nodes > 0) {
    IntegerProgram::Answer answer = program.solve(chosen, effort.nodes);
    effort.iterations -= std::min(effort.iterations, answer.iterations);
    effort.nodes -= std::min(effort.nodes, answer.nodes);
    bound = std::max(bound, answer.bound);
    if (answer.interrupted)
      interrupt.caught = true;
    if (answer.interrupted || answer.chosen.empty())
      break;
    std::vector<int> found = answer.chosen;
    double foundCost = selectionCost(problem, found);
    if (foundCost < cost) {
      cost = foundCost;
      chosen = found;
    }
    // Solutions that are better only through a cycle are ruled out in turn.
    if (bound >= cost * (1 - 1e-9))
      return cost;
    std::vector<std::vector<unsigned>> cycles =
        cyclesOf(problem, answer.chosen);
    if (cycles.empty())
      break;
    for (const std::vector<unsigned> &cycle : cycles)
      program.addCycle(cycle);
  }
  return std::min(bound, cost);
}
