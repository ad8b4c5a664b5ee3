//===- MakeGoal.cpp - Two functions made a goal ---------------------------===//

#include "dialects/Definition/NumberTypes.h"
#include "verifier/read/Goal.h"
#include "verifier/read/Misreading.h"
#include "llvm/ADT/STLExtras.h"

using llvm::ArrayRef;
using llvm::StringRef;

namespace mlc::verifier {

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

/// A parameter that can be one number only is that number, and keeps its name:
/// what is equal to 0 may be -0.
static void fixParameters(Definition &definition, const ParameterTypes &types,
                          ArrayRef<RealAssumption> assumptions) {
  auto replace = [&](const ExprNode &node) -> Expr {
    if (node.kind != Expr::Kind::Param)
      return Expr();
    ParameterRange range(node.parameter, types.at(node.parameter), assumptions);
    std::optional<double> value = range.asNumber();
    if (!value)
      return Expr();
    ExprNode number(Expr::Kind::Constant, node.type);
    number.parameter = node.parameter;
    if (mlir::isa<mlir::FloatType>(node.type))
      number.number = *value;
    else
      number.integerNumber = static_cast<int64_t>(*value);
    return Expr(std::make_shared<const ExprNode>(std::move(number)));
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

/// Arguments have the dims that the before side says: a dim that only the after
/// side has is one of them, others must be the same.
static void matchArguments(Goal &goal, const Assumptions &assumptions,
                           std::vector<Condition> &conditions) {
  std::set<std::string> known;
  auto learn = [&](StringRef name) { known.insert(name.str()); };
  for (const Condition &condition : assumptions.integers)
    condition.walkSymbols(learn);
  for (const TensorShape &input : goal.before.inputs)
    for (IntExpr dim : input.dims)
      dim.walkSymbols(learn);
  for (const Stage &stage : goal.before.stages)
    for (IntExpr dim : stage.dims)
      dim.walkSymbols(learn);
  for (const Requirement &r : goal.before.requirements) {
    r.lhs.walkSymbols(learn);
    r.rhs.walkSymbols(learn);
  }
  IntExpr zero;
  unsigned argument = 0;
  for (auto [a, b] : llvm::zip(goal.before.inputs, goal.after.inputs)) {
    for (auto [x, y] : llvm::zip(a.dims, b.dims)) {
      zero = IntExpr::constant(x.getContext(), 0);
      if (!x.isKnownNonNegative())
        conditions.push_back(Condition::compare(x, ComparePredicate::GE, zero));
      if (x == y)
        continue;
      bool isNew = y.getKind() == IntExpr::Kind::Symbol &&
                   known.insert(y.getSymbol().str()).second;
      if (isNew)
        conditions.push_back(Condition::compare(x, ComparePredicate::EQ, y));
      else
        goal.after.requirements.push_back(
            {x, ComparePredicate::EQ, y,
             "argument #" + std::to_string(argument) +
                 " has the dims that the before side says"});
    }
    ++argument;
  }
}

static std::vector<Need> substituted(std::vector<Need> needs,
                                     const Substitution &map) {
  for (Need &need : needs)
    for (std::vector<Guard> *guards : {&need.given, &need.anyOf})
      for (Guard &guard : *guards)
        guard.expr = substitute(guard.expr, map);
  return needs;
}

/// What is needed in all iterations of a loop is needed in the first.
static void addFirstIterations(std::vector<Need> &needs) {
  for (size_t i = 0, end = needs.size(); i < end; ++i) {
    Substitution first;
    for (const auto *guards : {&needs[i].given, &needs[i].anyOf})
      for (const Guard &guard : *guards)
        guard.expr.walkSymbols([&](StringRef name) {
          if (name.starts_with(iterationPrefix))
            first[name.str()] = IntExpr::constant(guard.expr.getContext(), 0);
        });
    if (!first.empty())
      needs.push_back(substituted({needs[i]}, first).front());
  }
}

static bool roundsByCast(const Definition &definition) {
  bool found = false;
  for (const Stage &stage : definition.stages)
    for (const Piece &piece : stage.pieces)
      walk(piece.body, [&](const ExprNode &node) {
        if (node.kind != Expr::Kind::Cast)
          return;
        mlir::Type to = node.type, from = node.operands[0]->type;
        bool isFloat = mlir::isa<mlir::FloatType>(to),
             wasFloat = mlir::isa<mlir::FloatType>(from);
        found |= isFloat != wasFloat || (isFloat && !holdsNumbersOf(to, from));
      });
  return found;
}

/// All but the cases. Inputs of the programs are the arguments; what they share
/// comes behind.
static Goal start(Program first, Program second, SharedInputs shared,
                  std::vector<std::string> argumentNames,
                  const Assumptions &assumptions) {
  Goal goal;
  goal.shared = std::move(shared);
  goal.failure = first.failure.empty() ? second.failure : first.failure;
  if (std::string name = ownNameIn(assumptions); !name.empty())
    goal.failure = ownNameFailure(name);
  goal.before = std::move(first.definition);
  goal.after = std::move(second.definition);
  goal.numArguments = first.numArguments;
  goal.argumentNames = std::move(argumentNames);
  if (!goal.failure.empty())
    return goal;
  for (Definition *side : {&goal.before, &goal.after})
    if (auto twice = collectParameters(*side, goal.parameters)) {
      goal.failure = "parameter " + *twice + " fills elements of two types";
      return goal;
    }
  for (Definition *side : {&goal.before, &goal.after})
    fixParameters(*side, goal.parameters, assumptions.reals);
  for (const SharedInputs::Entry &entry : goal.shared.entries) {
    goal.before.inputs.push_back(entry.shape);
    goal.after.inputs.push_back(entry.shape);
  }
  goal.failure = compareTypes(goal.before, goal.after);
  if (!goal.failure.empty())
    return goal;
  goal.isLiteral = first.isLiteral && second.isLiteral;
  goal.roundsByCast = roundsByCast(goal.before) || roundsByCast(goal.after);
  goal.beforeNeeds = std::move(first.needs);
  goal.afterNeeds = std::move(second.needs);
  // Which elements the before side reads is not used.
  needsOf(goal.before, {}, goal.beforeNeeds);
  addFirstIterations(goal.beforeNeeds);
  needsOf(goal.after, second.openStages, goal.afterNeeds);
  return goal;
}

static void addCases(Goal &goal, const Assumptions &assumptions) {
  goal.conditions = assumptions.integers;
  for (const Requirement &r : goal.before.requirements)
    goal.conditions.push_back(Condition::compare(r.lhs, r.predicate, r.rhs));
  matchArguments(goal, assumptions, goal.conditions);
  std::optional<std::vector<Case>> cases = casesOf(goal.conditions);
  if (!cases) {
    goal.failure = "the condition has too many alternatives";
    return;
  }
  for (Case &one : *cases) {
    one.argumentNames = goal.argumentNames;
    one.before = goal.before;
    one.after = goal.after;
    substitute(one.before, one.solved);
    substitute(one.after, one.solved);
    one.beforeNeeds = substituted(goal.beforeNeeds, one.solved);
    one.afterNeeds = substituted(goal.afterNeeds, one.solved);
    goal.cases.push_back(std::move(one));
  }
}

/// What the same operations in the same order do to bits is the same, whatever
/// it is.
static bool areIdentical(mlir::func::FuncOp before, mlir::func::FuncOp after) {
  return mlir::OperationEquivalence::isRegionEquivalentTo(
      &before.getBody(), &after.getBody(),
      mlir::OperationEquivalence::IgnoreLocations);
}

Goal makeGoal(mlir::func::FuncOp before, mlir::func::FuncOp after,
              const Assumptions &assumptions) {
  // Functions of linalg alone need not have loaded it.
  before.getContext()->loadDialect<MlcDialect>();
  SharedInputs shared;
  Program first = ProgramBuilder(before, shared).build();
  Program second = ProgramBuilder(after, shared).build();
  std::vector<std::string> names;
  for (unsigned i = 0; i < first.numArguments; ++i)
    names.push_back(describeArgument(before, i));
  Goal goal = start(std::move(first), std::move(second), std::move(shared),
                    std::move(names), assumptions);
  goal.isLiteral |= areIdentical(before, after);
  if (goal.failure.empty())
    goal.failure = whyMisread({before, goal.before, goal.beforeNeeds}, goal);
  if (goal.failure.empty())
    goal.failure = whyMisread({after, goal.after, goal.afterNeeds}, goal);
  if (goal.failure.empty())
    addCases(goal, assumptions);
  return goal;
}

Goal makeGoal(Program before, Program after, SharedInputs shared,
              std::vector<std::string> argumentNames,
              const Assumptions &assumptions) {
  Goal goal = start(std::move(before), std::move(after), std::move(shared),
                    std::move(argumentNames), assumptions);
  if (goal.failure.empty())
    addCases(goal, assumptions);
  return goal;
}

} // namespace mlc::verifier
