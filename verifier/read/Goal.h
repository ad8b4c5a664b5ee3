//===- Goal.h - A statement to prove ----------------------------*- C++ -*-===//
//
// Two functions, and the cases in which their assumptions hold. Each case
// becomes a statement of the kernel (CheckProof.h); numbers may refute it
// (Instance.h).
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_READ_GOAL_H
#define MLC_VERIFIER_READ_GOAL_H

#include "verifier/read/Condition.h"
#include "verifier/read/Parameters.h"
#include "verifier/read/Program.h"
#include "verifier/read/ValueFacts.h"

namespace mlc::verifier {

/// A conjunction under which the assumptions hold. Its equations and
/// divisibilities are solved for symbols where possible.
struct Case {
  /// A symbol for the exact quotient of `over` by `under`.
  struct Quotient {
    std::string name;
    IntExpr over, under;
  };
  /// The conjunction as the assumptions state it. `guards` are those parts of
  /// it that are not solved.
  std::vector<Guard> where;
  std::vector<Quotient> quotients;
  std::vector<Guard> guards;
  /// The solved symbols in terms of the others.
  Substitution solved;
  Definition before, after; // after the substitution `solved`
  /// What each side needs besides its requirements, after the substitution.
  std::vector<Need> beforeNeeds, afterNeeds;
  std::vector<std::string> argumentNames; // the goal's
};

/// Where `before` is defined, `after` is defined and equal.
struct Goal {
  Definition before, after;
  unsigned numArguments = 0;
  /// The names of arguments and results in messages. Without names of results
  /// messages give their numbers.
  std::vector<std::string> argumentNames, resultNames;
  SharedInputs shared;
  /// The types of the real parameters.
  ParameterTypes parameters;
  std::vector<Need> beforeNeeds, afterNeeds;
  /// Whether both definitions have the bits of their functions.
  bool isLiteral = true;
  /// Whether a cast rounds: from integers to floats or back, or to narrower
  /// floats. Then floats may be equal where real numbers differ.
  bool roundsByCast = false;
  /// The assumptions about symbols, and the cases in which they hold.
  std::vector<Condition> conditions;
  std::vector<Case> cases;
  /// Further statements to prove with this one. Their cases follow in `cases`,
  /// from `firstCase` on, and are those that their own conditions admit.
  struct Beside {
    std::vector<Condition> conditions;
    size_t firstCase;
  };
  std::vector<Beside> beside;
  /// The reason why there is no goal; empty if there is one.
  std::string failure;
};

/// The name of a result in messages: `result 0`.
std::string describeResult(const Goal &goal, unsigned result);

/// The cases in which all conditions hold, with equations solved; none if there
/// are too many.
std::optional<std::vector<Case>>
casesOf(const std::vector<Condition> &conditions);

/// Solves equations and divisibilities among the guards of a case for symbols.
void solveGuards(Case &one, unsigned &numQuotients);

/// Reads the functions, and checks a reading of linalg against runs
/// (Misreading.h).
Goal makeGoal(mlir::func::FuncOp before, mlir::func::FuncOp after,
              const Assumptions &assumptions);
/// The same for programs over `shared` that do not come from functions, so that
/// no run checks them.
Goal makeGoal(Program before, Program after, SharedInputs shared,
              std::vector<std::string> argumentNames,
              const Assumptions &assumptions);

/// The facts that the assumptions state about values of inputs and real
/// parameters.
KnownValues knownValues(const Goal &goal, const Assumptions &assumptions);

} // namespace mlc::verifier

#endif // MLC_VERIFIER_READ_GOAL_H
