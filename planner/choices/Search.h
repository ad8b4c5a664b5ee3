//===- Search.h - From multipliers to choices that fit ----------*- C++ -*-===//

#ifndef MLC_PLANNER_CHOICES_SEARCH_H
#define MLC_PLANNER_CHOICES_SEARCH_H

#include "planner/choices/Improve.h"
#include "planner/choices/Reduce.h"
#include "planner/choices/Relaxation.h"
#include "planner/choices/Solution.h"

#include <memory>

namespace mlc::planner {

/// Looks for the cheapest choices of a reduced problem, and a bound.
class Search {
public:
  Search(const ChoiceProblem &problem, const ChoiceOptions &options);

  void run();

  const Choices &best() const { return bestChoices; }
  bool isFound() const { return !bestChoices.empty(); }
  double bestCost() const { return cost; }
  /// At most the cost; where nothing was found, infinite if nothing fits.
  double bound() const { return lower; }
  double steps() const;
  size_t width() const { return firstWidth; }
  size_t copies() const { return firstCopies; }

private:
  using Allowed = std::vector<std::vector<bool>>;
  /// The problem with the choices that are still possible.
  struct Level {
    ReducedProblem reduced;
    std::unique_ptr<Relaxation> relaxation;
    std::unique_ptr<Improver> improver;
  };

  void open(ReducedProblem reduced);
  double tolerance() const;
  bool isDone() const { return lower >= cost - tolerance(); }
  bool hasSteps() const { return steps() < options.steps; }
  double target(double value) const;
  void climbUp();
  void leaveOut();
  void offer(const Choices &choices, bool isThorough);
  void keepIfBetter(const Choices &choices);
  void branch();
  void visit(Allowed allowed, Relaxation::Multipliers at, double known);
  double climbBranch(const Allowed &allowed, Relaxation::Multipliers &at);
  uint32_t narrow(Allowed &allowed, std::vector<uint32_t> &order);

  const ChoiceProblem &problem;
  ChoiceOptions options;
  Level level;
  double stepsBefore = 0; ///< of earlier levels
  Choices bestChoices;    ///< of `problem`
  double cost, lower;
  Relaxation::Multipliers bestAt;
  /// The least bound of branches that were not looked into.
  double leftOpen;
  size_t firstWidth = 0, firstCopies = 0;
};

} // namespace mlc::planner

#endif // MLC_PLANNER_CHOICES_SEARCH_H
