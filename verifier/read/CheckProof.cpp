//===- CheckProof.cpp - Checks proofs that others have found --------------===//

#include "verifier/read/CheckProof.h"
#include "verifier/kernel/Cases.h"
#include "verifier/kernel/CheckStatement.h"
#include "verifier/kernel/Share.h"
#include "verifier/kernel/Text.h"
#include "verifier/read/Reals.h"
#include "llvm/ADT/STLExtras.h"
#include <chrono>
#include <set>

namespace mlc::verifier {

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

static kernel::Formula toFormula(const Guard &guard) {
  kernel::Integer integer = kernel::integerOf(guard.expr);
  switch (guard.kind) {
  case Guard::Kind::NonNegative:
    return kernel::Formula::notNegative(integer);
  case Guard::Kind::Zero:
    return kernel::Formula::zero(integer);
  case Guard::Kind::NonZero:
    return kernel::Formula::negation(kernel::Formula::zero(integer));
  }
  llvm_unreachable("unknown guard");
}

static kernel::Formula toFormula(const Condition &condition) {
  std::vector<kernel::Formula> parts;
  for (const Condition &part : condition.getParts())
    parts.push_back(toFormula(part));
  switch (condition.getKind()) {
  case Condition::Kind::Compare:
    return toFormula(guardOf(condition.getLhs(), condition.getPredicate(),
                             condition.getRhs()));
  case Condition::Kind::Divides:
    return kernel::Formula::all(
        {toFormula(Guard::nonNegative(condition.getLhs() - 1)),
         toFormula(Guard::zero(condition.getRhs().mod(condition.getLhs())))});
  case Condition::Kind::AllOf:
    return kernel::Formula::all(std::move(parts));
  case Condition::Kind::AnyOf:
    return kernel::Formula::any(std::move(parts));
  case Condition::Kind::Not:
    return kernel::Formula::negation(parts.front());
  }
  llvm_unreachable("unknown condition");
}

static std::vector<kernel::Formula> toFormulas(llvm::ArrayRef<Guard> guards) {
  std::vector<kernel::Formula> formulas;
  for (const Guard &guard : guards)
    formulas.push_back(toFormula(guard));
  return formulas;
}

static kernel::Formula toFormula(const Need &need) {
  std::vector<kernel::Formula> any;
  for (const Guard &guard : need.anyOf)
    any.push_back(toFormula(guard));
  for (const Guard &guard : need.given)
    any.push_back(kernel::Formula::negation(toFormula(guard)));
  return kernel::Formula::any(std::move(any));
}

static kernel::Assumed toAssumed(const ValueFacts &facts) {
  return {.isPositive = facts.positive,
          .isNotNegative = facts.nonNegative,
          .isNotZero = facts.nonZero,
          .isUniform = facts.allEqual,
          .width = facts.type ? kernel::widthOf(facts.type) : 0};
}

kernel::Statement toStatement(const Goal &goal, const Case &one,
                              const Assumptions &assumptions, bool isLiteral) {
  kernel::Statement statement;
  statement.before = one.before;
  statement.after = one.after;
  statement.known = toFormulas(one.guards);
  for (const Need &need : one.beforeNeeds)
    statement.given.push_back(toFormula(need));
  for (const Need &need : one.afterNeeds)
    statement.required.push_back(toFormula(need));
  for (const Need &need : one.afterNeeds)
    statement.messages.push_back(need.message);
  statement.assumptions.isLiteral = isLiteral;
  KnownValues values = knownValues(goal, assumptions);
  for (const ValueFacts &facts : values.inputs)
    statement.assumptions.inputs.push_back(toAssumed(facts));
  // It is unknown where an operator without a definition has a value.
  for (auto [i, entry] : llvm::enumerate(goal.shared.entries))
    statement.assumptions.inputs[goal.numArguments + i].isPartial =
        !entry.constant;
  for (const auto &[name, facts] : values.reals)
    statement.assumptions.parameters[name] = toAssumed(facts);
  return statement;
}

/// The same for the cases of one statement.
static std::string whyNoCases(llvm::ArrayRef<Condition> conditions,
                              llvm::ArrayRef<Case> stated,
                              kernel::Decider &decider) {
  std::vector<kernel::Formula> known;
  for (const Condition &condition : conditions)
    known.push_back(toFormula(condition));
  std::vector<kernel::SizeCase> cases;
  for (const Case &one : stated) {
    kernel::SizeCase &size = cases.emplace_back();
    size.where = toFormulas(one.where);
    size.known = toFormulas(one.guards);
    for (const Case::Quotient &quotient : one.quotients)
      size.quotients.push_back({quotient.name, kernel::integerOf(quotient.over),
                                kernel::integerOf(quotient.under)});
    for (const auto &[name, value] : one.solved)
      size.solved.push_back({name, kernel::integerOf(value)});
  }
  return kernel::whyNoCases(known, cases, decider);
}

std::string whyNoCases(const Goal &goal, kernel::Decider &decider) {
  llvm::ArrayRef<Case> rest = goal.cases;
  llvm::ArrayRef<Condition> conditions = goal.conditions;
  for (const Goal::Beside &beside : goal.beside) {
    size_t count = beside.firstCase - (goal.cases.size() - rest.size());
    if (std::string why =
            whyNoCases(conditions, rest.take_front(count), decider);
        !why.empty())
      return why;
    rest = rest.drop_front(count);
    conditions = beside.conditions;
  }
  return whyNoCases(conditions, rest, decider);
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

/// Where countMasks counts a comparison; those that differ by the order of the
/// operands are one.
static unsigned placeOf(ComparePredicate predicate) {
  switch (predicate) {
  case ComparePredicate::EQ:
    return 4;
  case ComparePredicate::NE:
    return 5;
  case ComparePredicate::LT:
  case ComparePredicate::GT:
    return 6;
  case ComparePredicate::LE:
  case ComparePredicate::GE:
    return 7;
  }
  llvm_unreachable("unknown predicate");
}

/// Counts constructs that may hide a term: padding, masks, selections and
/// exponentials of sums. If the counts differ, a product with 0 or an overflow
/// may have been added or removed. Also counts comparisons of floats, of which
/// all but != are false for NaN: not(x < y) is not x >= y there.
static std::array<unsigned, 8> countMasks(const Definition &definition) {
  std::array<unsigned, 8> counts{};
  for (const Stage &stage : definition.stages)
    for (const Piece &piece : stage.pieces)
      walk(piece.body, [&](const ExprNode &node) {
        bool isFloat = mlir::isa<mlir::FloatType>(node.type);
        counts[0] += node.kind == Expr::Kind::Read && node.guarded;
        counts[1] += node.kind == Expr::Kind::Select && isFloat;
        counts[2] += node.kind == Expr::Kind::Cast && isFloat &&
                     node.operands[0]->type.isInteger(1);
        counts[3] +=
            node.kind == Expr::Kind::Unary && node.unary == UnaryFn::Exp;
        if (node.kind == Expr::Kind::Compare &&
            mlir::isa<mlir::FloatType>(node.operands[0]->type))
          ++counts[placeOf(node.predicate)];
      });
  return counts;
}

/// Whether an operator has several operations of floats below 32 bits. Code
/// computes it in float32 and rounds its result, while as operators of their
/// own they are rounded one by one.
static bool roundsOnlyAtEnd(const Definition &definition) {
  auto isOperation = [](const ExprNode &node) {
    auto real = mlir::dyn_cast<mlir::FloatType>(node.type);
    if (!real || real.getWidth() >= 32)
      return false;
    return node.kind == Expr::Kind::Binary || node.kind == Expr::Kind::Reduce ||
           (node.kind == Expr::Kind::Unary && node.unary != UnaryFn::Neg &&
            node.unary != UnaryFn::Abs);
  };
  for (auto [i, stage] : llvm::enumerate(definition.stages)) {
    const bool isRounded =
        stage.endsOperator || llvm::is_contained(definition.results, i);
    for (const Piece &piece : stage.pieces) {
      unsigned count = 0;
      walk(piece.body,
           [&](const ExprNode &node) { count += isOperation(node); });
      if (count > 1 || (count == 1 && !isRounded))
        return true;
    }
  }
  return false;
}

FloatClass floatClassOf(const Goal &goal, const Assumptions &assumptions,
                        bool isLiteral, bool keepsTerms) {
  if (isLiteral) {
    const bool mayRoundOtherwise =
        roundsOnlyAtEnd(goal.before) || roundsOnlyAtEnd(goal.after);
    auto areAlike = [&](const Case &one) {
      return kernel::areAlike(
          toStatement(goal, one, assumptions, /*isLiteral=*/true));
    };
    return mayRoundOtherwise && !llvm::all_of(goal.cases, areAlike)
               ? FloatClass::Reassociating
               : FloatClass::BitExact;
  }
  return keepsTerms && countMasks(goal.before) == countMasks(goal.after)
             ? FloatClass::Reassociating
             : FloatClass::ValueChanging;
}

//===----------------------------------------------------------------------===//
// Proofs
//===----------------------------------------------------------------------===//

/// Why this is no proof of the goal; empty if it is one.
static std::string judge(const Goal &goal, const Assumptions &assumptions,
                         llvm::StringRef text, kernel::Decider &decider,
                         CheckVerdict &verdict) {
  if (!goal.failure.empty())
    return goal.failure;
  std::string error;
  std::optional<kernel::Proof> proof = kernel::parseProof(text, error);
  if (!proof)
    return error;
  if (proof->cases.size() != goal.cases.size())
    return "the proof is of another statement";
  if (proof->isLiteral && !goal.isLiteral)
    return "what the functions do to bits is not stated";
  if (!proof->isLiteral)
    if (std::string why = whyNotReal(goal); !why.empty())
      return why;
  if (std::string why = whyNoCases(goal, decider); !why.empty())
    return why;
  bool keepsTerms = true;
  verdict.isTwoWay = true;
  for (auto [one, part] : llvm::zip(goal.cases, proof->cases)) {
    kernel::Checked checked = kernel::check(
        toStatement(goal, one, assumptions, proof->isLiteral), part, decider);
    if (!checked.isProved)
      return checked.failure;
    keepsTerms &= checked.keepsTerms;
    verdict.isTwoWay &= checked.isTwoWay;
  }
  verdict.floatClass =
      floatClassOf(goal, assumptions, proof->isLiteral, keepsTerms);
  return "";
}

CheckVerdict checkGoal(const Goal &goal, const Assumptions &assumptions,
                       llvm::StringRef proof, const CheckOptions &options) {
  kernel::Decider decider(options.maxLemmaWork);
  std::set<std::string> isSeen;
  decider.onProved = [&](const std::string &script) {
    if (isSeen.insert(script).second && options.onObligation)
      options.onObligation(script);
  };
  CheckVerdict verdict;
  verdict.reason = judge(goal, assumptions, proof, decider, verdict);
  verdict.isAccepted = verdict.reason.empty();
  verdict.numObligations = decider.getNumAsked();
  return verdict;
}

CheckVerdict checkProof(mlir::func::FuncOp before, mlir::func::FuncOp after,
                        const Assumptions &assumptions, llvm::StringRef proof,
                        const CheckOptions &options) {
  auto start = std::chrono::steady_clock::now();
  CheckVerdict verdict = checkGoal(makeGoal(before, after, assumptions),
                                   assumptions, proof, options);
  verdict.ms = std::chrono::duration<double, std::milli>(
                   std::chrono::steady_clock::now() - start)
                   .count();
  return verdict;
}

} // namespace mlc::verifier
