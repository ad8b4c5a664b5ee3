//===- Question.h - Both functions and what may be assumed ------*- C++ -*-===//

#ifndef MLC_VERIFIER_READ_QUESTION_H
#define MLC_VERIFIER_READ_QUESTION_H

#include "verifier/read/Condition.h"
#include "verifier/read/Parameters.h"
#include "verifier/read/Program.h"
#include "verifier/read/ValueFacts.h"

namespace mlc::verifier {

/// One way in which the assumptions can hold: a conjunction. Equations and
/// divisibilities have been solved for symbols where possible.
struct Case {
  /// A symbol for what divides without a rest: `over` divided by `under`.
  struct Quotient {
    std::string name;
    IntExpr over, under;
  };
  /// As the assumptions say it; what of it is left is in `guards`.
  std::vector<Guard> where;
  std::vector<Quotient> quotients;
  std::vector<Guard> guards;
  /// Symbols of the question in terms of those that are left.
  Substitution solved;
  Definition before, after; // with `solved` carried out
  /// What each side needs beyond its requirements, likewise.
  std::vector<Need> beforeNeeds, afterNeeds;
  std::vector<std::string> argumentNames; // the question's
};

struct Question {
  Definition before, after;
  unsigned numArguments = 0;
  /// What messages call them.
  std::vector<std::string> argumentNames;
  /// And the results; none: by their numbers.
  std::vector<std::string> resultNames;
  SharedInputs shared;
  /// What the real parameters fill.
  ParameterTypes parameters;
  std::vector<Need> beforeNeeds, afterNeeds;
  /// Whether both definitions do bit by bit what the functions do.
  bool isLiteral = true;
  /// Whether integers become floats or the other way round, or floats narrower
  /// ones, which rounds: where real numbers differ, floats need not.
  bool roundsByCast = false;
  /// All that may be assumed of symbols, and the cases in which it holds.
  std::vector<Condition> conditions;
  std::vector<Case> cases;
  /// Statements beside this one, whose cases stand behind, from `firstCase` on,
  /// and are those that their own conditions admit.
  struct Beside {
    std::vector<Condition> conditions;
    size_t firstCase;
  };
  std::vector<Beside> beside;
  /// Why it cannot be asked; empty otherwise.
  std::string failure;
};

/// What messages call a result: `result 0`.
std::string describeResult(const Question &question, unsigned result);

/// The cases in which all conditions hold, with equations solved; nothing where
/// there are too many.
std::optional<std::vector<Case>>
casesOf(const std::vector<Condition> &conditions);

/// Solves equations and divisibilities among the guards of a case for symbols.
void solveGuards(Case &one, unsigned &numQuotients);

Question makeQuestion(mlir::func::FuncOp before, mlir::func::FuncOp after,
                      const Assumptions &assumptions);
/// Of programs over `shared`, which nothing holds against functions.
Question makeQuestion(Program before, Program after, SharedInputs shared,
                      std::vector<std::string> argumentNames,
                      const Assumptions &assumptions);

/// What the assumptions say of the values of inputs and real parameters.
KnownValues knownValues(const Question &question,
                        const Assumptions &assumptions);

} // namespace mlc::verifier

#endif // MLC_VERIFIER_READ_QUESTION_H
