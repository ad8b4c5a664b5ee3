//===- IntegerProgram.cpp - Choices as an integer program -----------------===//
//
// A 0-1 variable x for each choice, one of each node. An edge has a variable y
// for each pair of choices; those of a choice add up to its x, on both sides,
// so that y is 0 or 1 where x is (the local polytope, which is tighter than
// Fortet's inequalities).
//
//===----------------------------------------------------------------------===//

#include "planner/choices/Reduce.h"
#include "planner/choices/Solve.h"
#include "runtime/KeepInterrupt.h"

#include <algorithm>
#include <cmath>
#include <coin/Cbc_C_Interface.h>
#include <limits>
#include <memory>

using namespace mlc;
using namespace mlc::planner;
using runtime::Status;

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

class IntegerProgram {
public:
  explicit IntegerProgram(const ChoiceProblem &problem)
      : problem(problem), model(Cbc_newModel(), Cbc_deleteModel) {
    addNodes();
    for (const ChoiceProblem::Edge &edge : problem.edges)
      addEdge(edge);
    for (const ChoiceProblem::Row &row : problem.rows)
      addRow(row);
  }

  /// Whether there is an answer; `bound` is infinite if nothing fits.
  bool solve(int nodes, Choices &choices, double &bound) {
    KeepInterrupt interrupt;
    Cbc_setLogLevel(model.get(), 0);
    // CBC's heuristics also look at the time; disable that.
    Cbc_setMaximumSeconds(model.get(), 1e9);
    Cbc_setMaximumNodes(model.get(), nodes);
    Cbc_setAllowableGap(model.get(), 1e-7);
    Cbc_solve(model.get());
    interrupt.caught = Cbc_secondaryStatus(model.get()) == 5;
    const bool isProved = Cbc_isProvenOptimal(model.get());
    bound = Cbc_isProvenInfeasible(model.get()) ? kNever
            : isProved ? Cbc_getObjValue(model.get())
                       : Cbc_getBestPossibleObjValue(model.get());
    bound = std::abs(bound) < 1e30 ? bound / scale
            : bound > 0            ? kNever
                                   : -kNever;
    const double *values = Cbc_bestSolution(model.get());
    if (!values && isProved) // there was no choice
      values = Cbc_getColSolution(model.get());
    if (!values)
      return false;
    for (uint32_t node = 0; node < problem.nodes.size(); ++node) {
      const double *mine = values + firsts[node];
      choices.push_back(
          std::max_element(mine, mine + problem.countChoices(node)) - mine);
    }
    return true;
  }

private:
  /// CBC's tolerances are absolute, and costs may be seconds.
  void findScale() {
    double most = 0;
    auto look = [&](const std::vector<double> &costs) {
      for (double cost : costs)
        if (cost < kNever)
          most = std::max(most, std::abs(cost));
    };
    for (const ChoiceProblem::Node &node : problem.nodes)
      look(node.costs);
    for (const ChoiceProblem::Edge &edge : problem.edges)
      look(edge.costs);
    if (most > 0)
      scale = 1e3 / most;
  }

  int addColumn(double cost, bool isInteger) {
    const bool isAllowed = cost < kNever;
    Cbc_addCol(model.get(), ("x" + std::to_string(columns)).c_str(), 0,
               isAllowed, isAllowed ? cost * scale : 0, isInteger, 0, nullptr,
               nullptr);
    return columns++;
  }

  void add(const std::vector<int> &places, const std::vector<double> &values,
           char sense, double bound) {
    Cbc_addRow(model.get(), "", static_cast<int>(places.size()), places.data(),
               values.data(), sense, bound);
  }

  void addNodes() {
    findScale();
    for (const ChoiceProblem::Node &node : problem.nodes) {
      firsts.push_back(columns);
      for (double cost : node.costs)
        addColumn(cost, true);
    }
    for (uint32_t node = 0; node < problem.nodes.size(); ++node) {
      std::vector<int> places;
      for (uint32_t i = 0; i < problem.countChoices(node); ++i)
        places.push_back(firsts[node] + static_cast<int>(i));
      add(places, std::vector<double>(places.size(), 1), 'E', 1);
    }
  }

  void addEdge(const ChoiceProblem::Edge &edge) {
    const int from = static_cast<int>(problem.countChoices(edge.from)),
              to = static_cast<int>(problem.countChoices(edge.to));
    const int first = columns;
    for (double cost : edge.costs)
      addColumn(cost, false);
    for (int i = 0; i < from; ++i) {
      std::vector<int> places{firsts[edge.from] + i};
      for (int j = 0; j < to; ++j)
        places.push_back(first + i * to + j);
      addSum(places);
    }
    for (int j = 0; j < to; ++j) {
      std::vector<int> places{firsts[edge.to] + j};
      for (int i = 0; i < from; ++i)
        places.push_back(first + i * to + j);
      addSum(places);
    }
  }

  /// All but the first add up to the first.
  void addSum(const std::vector<int> &places) {
    std::vector<double> values(places.size(), 1);
    values[0] = -1;
    add(places, values, 'E', 0);
  }

  void addRow(const ChoiceProblem::Row &row) {
    std::vector<int> places;
    std::vector<double> values;
    const double scale = 1e3 / double(std::max<int64_t>(1, row.budget));
    for (const ChoiceProblem::Use &use : row.uses)
      for (size_t i = 0; i < use.bytes.size(); ++i)
        if (use.bytes[i]) {
          places.push_back(firsts[use.node] + static_cast<int>(i));
          values.push_back(double(use.bytes[i]) * scale);
        }
    add(places, values, 'L', double(row.budget) * scale);
  }

  const ChoiceProblem &problem;
  std::unique_ptr<Cbc_Model, void (*)(Cbc_Model *)> model;
  std::vector<int> firsts; ///< the column of each node's first choice
  int columns = 0;
  double scale = 1;
};

} // namespace

Status planner::solveByIntegerProgram(const ChoiceProblem &problem, int nodes,
                                      ChoiceSolution &solution) {
  if (Status status = problem.check(); !status.ok())
    return status;
  solution = {};
  if (problem.nodes.empty())
    return Status::success();
  double columns = 0;
  for (const ChoiceProblem::Edge &edge : problem.edges)
    columns += double(edge.costs.size());
  if (columns > 5e7)
    return Status::error(MLC_RESOURCES,
                         "the edges have too many pairs of choices for an "
                         "integer program; take fewer choices");
  const ReducedProblem reduced = reduce(problem);
  Choices found;
  double bound = 0;
  if (!IntegerProgram(reduced.problem).solve(nodes, found, bound) ||
      !fits(reduced.problem, found))
    return describeMisfit(problem, bound == kNever);
  solution.choices = reduced.toOriginal(found);
  solution.cost = costOf(problem, solution.choices);
  if (solution.cost == kNever)
    return describeMisfit(problem, true);
  solution.bound = std::min(bound, solution.cost);
  return Status::success();
}
