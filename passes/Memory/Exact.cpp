//===- Exact.cpp - Schedules within a budget, proved the fastest ----------===//

#include "passes/Memory/Exact.h"
#include "passes/Memory/ExactRows.h"
#include "runtime/KeepInterrupt.h"

#include <algorithm>
#include <cmath>
#include <coin/Cbc_C_Interface.h>
#include <limits>
#include <memory>

namespace mlc::remat {

/// The values of the integer columns for a plan; 0 for the others.
std::vector<double> IntegerProgram::startOf(const Plan &plan) {
  std::vector<double> values(columns.size(), 0);
  StageMaker maker(problem);
  Stage stage;
  for (unsigned t = 0; t < problem.steps.size(); ++t) {
    for (unsigned v = 0; v < problem.values.size(); ++v)
      if (held(t, v) >= 0)
        values[held(t, v)] = plan.holds(t, v);
    maker.make(plan.holds, t, stage);
    for (const Run &run : stage.runs)
      if (runs(t, run.step) >= 0)
        values[runs(t, run.step)] = 1;
  }
  return values;
}

Plan IntegerProgram::read(const double *solution) {
  Plan plan;
  plan.holds = Holds(problem.steps.size(), problem.values.size());
  for (size_t t = 0; t <= problem.steps.size(); ++t)
    for (unsigned v = 0; v < problem.values.size(); ++v) {
      Column column = held(t, v);
      if (column == one || (column >= 0 && solution[column] > 0.5))
        plan.holds.set(t, v, true);
    }
  Schedule schedule = toSchedule(problem, plan.holds);
  plan.peak = schedule.peak;
  plan.extraSeconds = schedule.seconds - problem.seconds();
  plan.fits = !schedule.runs.empty() && plan.peak <= budget;
  return plan;
}

ExactPlan IntegerProgram::solve(const Plan *start,
                                const ExactOptions &options) {
  KeepInterrupt interrupt;
  std::unique_ptr<Cbc_Model, void (*)(Cbc_Model *)> model(Cbc_newModel(),
                                                          Cbc_deleteModel);
  constexpr double most = std::numeric_limits<double>::max();
  for (size_t i = 0; i < columns.size(); ++i) // the start is given by names
    Cbc_addCol(model.get(), ("x" + std::to_string(i)).c_str(), 0,
               columns[i].isBounded ? 1 : most, columns[i].cost,
               columns[i].isInteger, 0, nullptr, nullptr);
  for (Row &row : rows) {
    std::sort(row.sum.terms.begin(), row.sum.terms.end());
    std::vector<int> indices;
    std::vector<double> values;
    for (auto [column, value] : row.sum.terms) {
      if (indices.empty() || indices.back() != column) {
        indices.push_back(column);
        values.push_back(0);
      }
      values.back() += value;
    }
    Cbc_addRow(model.get(), "", indices.size(), indices.data(), values.data(),
               row.sense, -row.sum.constant);
  }
  if (start) {
    std::vector<double> values = startOf(*start);
    std::vector<int> indices;
    std::vector<double> chosen;
    for (size_t i = 0; i < columns.size(); ++i)
      if (columns[i].isInteger) {
        indices.push_back(i);
        chosen.push_back(values[i]);
      }
    Cbc_setMIPStartI(model.get(), indices.size(), indices.data(),
                     chosen.data());
    // With preprocessing, CBC 2.10 looks for columns of the start that it has
    // removed, and gives up.
    Cbc_setParameter(model.get(), "preprocess", "off");
  }
  Cbc_setLogLevel(model.get(), 0);
  Cbc_setMaximumNodes(model.get(), options.nodes);
  if (options.seconds > 0) {
    Cbc_setParameter(model.get(), "timeMode", "elapsed");
    Cbc_setMaximumSeconds(model.get(), options.seconds);
  }
  Cbc_setAllowableGap(model.get(), 1e-6);
  Cbc_solve(model.get());
  interrupt.caught = Cbc_secondaryStatus(model.get()) == 5;

  ExactPlan result;
  result.isProved = Cbc_isProvenOptimal(model.get());
  if (Cbc_isProvenInfeasible(model.get())) {
    result.isProved = true;
    result.bound = std::numeric_limits<double>::infinity();
    return result;
  }
  const double *solution = Cbc_bestSolution(model.get());
  if (!solution && result.isProved) // there was no choice
    solution = Cbc_getColSolution(model.get());
  if (solution) {
    Plan plan = read(solution);
    if (plan.fits)
      result.plan = std::move(plan);
    else
      result.isProved = false; // within CBC's tolerance only
  }
  double bound = result.isProved ? Cbc_getObjValue(model.get())
                                 : Cbc_getBestPossibleObjValue(model.get());
  if (std::isfinite(bound) && bound < 1e30)
    result.bound = std::max(0.0, bound / timeScale);
  return result;
}

ExactPlan solveExact(const Problem &problem, uint64_t budget, const Plan *start,
                     const ExactOptions &options) {
  return IntegerProgram(problem, budget).solve(start, options);
}

} // namespace mlc::remat
