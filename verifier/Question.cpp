//===- Question.cpp - Both functions and what may be assumed --------------===//

#include "verifier/Question.h"
#include "dialects/Interfaces/IntExprSize.h"
#include "llvm/ADT/STLExtras.h"

using llvm::ArrayRef;

namespace mlc::verifier {

Guard guardOf(IntExpr lhs, ComparePredicate predicate, IntExpr rhs) {
  switch (predicate) {
  case ComparePredicate::EQ:
    return Guard::zero(lhs - rhs);
  case ComparePredicate::NE:
    return Guard::nonZero(lhs - rhs);
  case ComparePredicate::LT:
    return Guard::less(lhs, rhs);
  case ComparePredicate::LE:
    return Guard::nonNegative(rhs - lhs);
  case ComparePredicate::GT:
    return Guard::less(rhs, lhs);
  case ComparePredicate::GE:
    return Guard::nonNegative(lhs - rhs);
  }
  llvm_unreachable("unknown predicate");
}

//===----------------------------------------------------------------------===//
// Disjunctive normal form
//===----------------------------------------------------------------------===//

namespace {

using Conjunction = std::vector<Guard>;
using Alternatives = std::vector<Conjunction>;
constexpr size_t maxAlternatives = 32;

Alternatives both(const Alternatives &a, const Alternatives &b) {
  Alternatives result;
  for (const Conjunction &x : a)
    for (const Conjunction &y : b) {
      result.push_back(x);
      llvm::append_range(result.back(), y);
      if (result.size() > maxAlternatives)
        return result;
    }
  return result;
}

Alternatives alternativesOf(const Condition &condition, bool negate) {
  switch (condition.getKind()) {
  case Condition::Kind::Compare: {
    Guard guard = guardOf(condition.getLhs(), condition.getPredicate(),
                          condition.getRhs());
    return {{negate ? guard.negated() : guard}};
  }
  case Condition::Kind::Divides: {
    IntExpr divisor = condition.getLhs(), value = condition.getRhs();
    Guard rest = Guard::zero(value.mod(divisor));
    Guard positive = Guard::nonNegative(divisor - 1);
    if (!negate)
      return {{positive, rest}};
    return {{positive.negated()}, {positive, rest.negated()}};
  }
  case Condition::Kind::Not:
    return alternativesOf(condition.getParts()[0], !negate);
  case Condition::Kind::AllOf:
  case Condition::Kind::AnyOf:
    break;
  }
  bool isAnd = (condition.getKind() == Condition::Kind::AllOf) != negate;
  Alternatives result;
  if (isAnd)
    result.push_back({});
  for (const Condition &part : condition.getParts()) {
    Alternatives own = alternativesOf(part, negate);
    if (isAnd)
      result = both(result, own);
    else
      llvm::append_range(result, own);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Solving equations for symbols
//===----------------------------------------------------------------------===//

/// A symbol with coefficient 1 or -1 that occurs once, and what zero == 0 makes
/// of it.
std::optional<std::pair<IntExpr, IntExpr>> solveForSymbol(IntExpr zero) {
  for (const IndexMonomial &m : monomialsOf(zero)) {
    if (m.atoms.size() != 1 || (m.coefficient != 1 && m.coefficient != -1) ||
        m.atoms[0].getKind() != IntExpr::Kind::Symbol)
      continue;
    IntExpr symbol = m.atoms[0];
    IntExpr value = (symbol * m.coefficient - zero) * m.coefficient;
    if (!mentions(value, symbol))
      return std::pair(symbol, value);
  }
  return std::nullopt;
}

/// Values stand in each other's places, so their sizes multiply; a symbol with
/// a larger one is left as it is.
bool isSmall(IntExpr value) { return sizeOf(value).nodes <= 256; }

class CaseBuilder {
public:
  CaseBuilder(Case &result, unsigned &numQuotients)
      : result(result), numQuotients(numQuotients) {}

  void run() {
    while (step())
      ;
  }

private:
  /// Solves one equation or divisibility; false when none can be.
  bool step() {
    Facts facts;
    for (const Guard &guard : result.guards)
      facts.add(guard);
    for (size_t i = 0; i < result.guards.size(); ++i) {
      Guard guard = result.guards[i];
      if (guard.kind != Guard::Kind::Zero || guard.expr.isConstant())
        continue;
      if (guard.expr.getKind() == IntExpr::Kind::Mod) {
        if (solveDivisibility(i, facts))
          return true;
        continue;
      }
      if (auto solved = solveForSymbol(guard.expr);
          solved && isSmall(solved->second)) {
        result.guards.erase(result.guards.begin() + i);
        replace(solved->first, solved->second);
        return true;
      }
    }
    return false;
  }

  /// d divides s + rest: s = d q - rest for a new q >= 0.
  bool solveDivisibility(size_t i, const Facts &facts) {
    IntExpr value = result.guards[i].expr.getOperands()[0],
            divisor = result.guards[i].expr.getOperands()[1];
    auto solved = solveForSymbol(value);
    if (!solved || !isSmall(value) || mentions(divisor, solved->first) ||
        !facts.provesNonNegative(value) || !facts.provesPositive(divisor))
      return false;
    IntExpr symbol = solved->first, minusRest = solved->second;
    bool isPositive = !(value - symbol == -minusRest) ? false : true;
    IntExpr quotient = IntExpr::symbol(
        value.getContext(), "%quotient" + std::to_string(numQuotients++));
    // value = symbol - minusRest, or minusRest - symbol.
    IntExpr number = divisor * quotient;
    result.guards.erase(result.guards.begin() + i);
    replace(symbol, isPositive ? minusRest + number : minusRest - number);
    return true;
  }

  void replace(IntExpr symbol, IntExpr value) {
    Substitution one{{symbol.getSymbol().str(), value}};
    for (auto &entry : result.solved)
      entry.second = substitute(entry.second, one);
    result.solved[symbol.getSymbol().str()] = value;
    for (Guard &guard : result.guards)
      guard.expr = substitute(guard.expr, one);
    if (!value.isKnownNonNegative())
      result.guards.push_back(Guard::nonNegative(value));
  }

  Case &result;
  unsigned &numQuotients;
};

} // namespace

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

static std::string compareTypes(const Definition &before,
                                const Definition &after) {
  if (before.results.size() != after.results.size())
    return "the functions have different numbers of results";
  if (before.inputs.size() != after.inputs.size())
    return "the functions have different numbers of arguments";
  auto sameShape = [](const TensorShape &a, const TensorShape &b) {
    return a.elementType == b.elementType && a.dims.size() == b.dims.size();
  };
  for (auto [i, pair] : llvm::enumerate(llvm::zip(before.inputs, after.inputs)))
    if (!sameShape(std::get<0>(pair), std::get<1>(pair)))
      return "argument #" + std::to_string(i) + " has different types";
  for (auto [i, pair] :
       llvm::enumerate(llvm::zip(before.results, after.results)))
    if (!sameShape(before.shapeOf({true, std::get<0>(pair)}),
                   after.shapeOf({true, std::get<1>(pair)})))
      return "result #" + std::to_string(i) + " has different types";
  return "";
}

/// Parameters that are assumed equal to a number are that number.
static void fixParameters(Definition &definition,
                          ArrayRef<RealAssumption> assumptions) {
  auto replace = [&](const ExprNode &node) -> Expr {
    if (node.kind != Expr::Kind::Param)
      return Expr();
    for (const RealAssumption &r : assumptions) {
      if (r.predicate != ComparePredicate::EQ || r.parameter != node.parameter)
        continue;
      ExprNode number(Expr::Kind::Constant, node.type);
      number.number = r.bound;
      return Expr(std::make_shared<const ExprNode>(std::move(number)));
    }
    return Expr();
  };
  for (Stage &stage : definition.stages)
    for (Piece &piece : stage.pieces)
      piece.body = rewrite(piece.body, replace);
}

/// The first name of the assumptions that is one of the verifier's own.
static std::string ownNameIn(const Assumptions &assumptions) {
  std::string found;
  auto visit = [&](llvm::StringRef name) {
    if (isOwnName(name))
      found = name.str();
  };
  for (const Condition &condition : assumptions.integers)
    condition.walkSymbols(visit);
  for (const RealAssumption &real : assumptions.reals)
    visit(real.parameter);
  return found;
}

Question makeQuestion(mlir::func::FuncOp before, mlir::func::FuncOp after,
                      const Assumptions &assumptions) {
  Question question;
  if (std::string name = ownNameIn(assumptions); !name.empty()) {
    question.failure = ownNameFailure(name);
    return question;
  }
  Program first = ProgramBuilder(before, question.shared).build();
  Program second = ProgramBuilder(after, question.shared).build();
  question.failure = first.failure.empty() ? second.failure : first.failure;
  question.before = std::move(first.definition);
  question.after = std::move(second.definition);
  for (Definition *side : {&question.before, &question.after})
    fixParameters(*side, assumptions.reals);
  question.numArguments = first.numArguments;
  if (!question.failure.empty())
    return question;
  for (const SharedInputs::Entry &entry : question.shared.entries) {
    question.before.inputs.push_back(entry.shape);
    question.after.inputs.push_back(entry.shape);
  }
  question.failure = compareTypes(question.before, question.after);
  if (!question.failure.empty())
    return question;

  std::vector<Condition> all = assumptions.integers;
  for (const Requirement &r : question.before.requirements)
    all.push_back(Condition::compare(r.lhs, r.predicate, r.rhs));
  // Arguments have the dims that both functions say.
  mlir::MLIRContext *context = before.getContext();
  IntExpr zero = IntExpr::constant(context, 0);
  for (auto [a, b] : llvm::zip(question.before.inputs, question.after.inputs))
    for (auto [x, y] : llvm::zip(a.dims, b.dims)) {
      if (x != y)
        all.push_back(Condition::compare(x, ComparePredicate::EQ, y));
      if (!x.isKnownNonNegative())
        all.push_back(Condition::compare(x, ComparePredicate::GE, zero));
    }
  unsigned numQuotients = 0;
  Alternatives alternatives =
      alternativesOf(Condition::allOf(std::move(all)), false);
  if (alternatives.size() > maxAlternatives) {
    question.failure = "the condition has too many alternatives";
    return question;
  }
  for (Conjunction &guards : alternatives) {
    Case one;
    one.guards = std::move(guards);
    CaseBuilder(one, numQuotients).run();
    one.before = question.before;
    one.after = question.after;
    substitute(one.before, one.solved);
    substitute(one.after, one.solved);
    question.cases.push_back(std::move(one));
  }
  return question;
}

} // namespace mlc::verifier
