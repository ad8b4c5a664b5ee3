//===- Match.cpp - Finding and applying a rule in a graph -----------------===//

#include "rewrites/Rules/Match.h"
#include "dialects/Definition/OpInterfaces.h"
#include "dialects/Module/CompileTime.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace mlc;
using llvm::SmallVector;

namespace {

/// One attempt to match `before` in the model.
class Matcher {
public:
  Matcher(Rule &rule, unsigned limit) : rule(rule), limit(limit) {
    for (Operation &op : rule.getBefore().getBody().front())
      if (!op.hasTrait<OpTrait::IsTerminator>())
        pattern.push_back(&op);
  }

  SmallVector<Match, 1> run(Operation *root) {
    auto results =
        rule.getBefore().getBody().front().getTerminator()->getOperands();
    Operation *first = results.front().getDefiningOp();
    if (!first)
      return {};
    State state;
    state.match.rule = &rule;
    if (matchOp(first, root, state))
      extend(state);
    return std::move(found);
  }

private:
  struct State {
    Match match;
    SmallVector<std::pair<IntExpr, IntExpr>> equations;
    llvm::DenseMap<Operation *, Operation *> operations; // pattern → model
  };

  bool matchValue(Value wanted, Value actual, State &state) {
    auto [it, inserted] = state.match.values.try_emplace(wanted, actual);
    if (!inserted)
      return it->second == actual;
    auto wantedType = cast<RankedTensorType>(wanted.getType());
    auto actualType = dyn_cast<RankedTensorType>(actual.getType());
    if (!actualType || actualType.getRank() != wantedType.getRank() ||
        actualType.getElementType() != wantedType.getElementType())
      return false;
    Operation *definition = wanted.getDefiningOp();
    if (!definition) {
      std::optional<SmallVector<IntExpr>> from = getDims(wantedType),
                                          to = getDims(actualType);
      if (!from || !to)
        return false;
      for (auto [x, y] : llvm::zip(*from, *to))
        state.equations.push_back({x, y});
      return true;
    }
    auto result = dyn_cast<OpResult>(actual);
    if (!result ||
        result.getResultNumber() != cast<OpResult>(wanted).getResultNumber())
      return false;
    return matchOp(definition, result.getOwner(), state);
  }

  bool matchAttribute(Attribute wanted, Attribute actual, State &state) {
    if (auto real = dyn_cast<RealAttr>(wanted)) {
      auto value = dyn_cast<RealAttr>(actual);
      if (!value || !real.isSymbol())
        return wanted == actual;
      auto [it, inserted] =
          state.match.reals.try_emplace(real.getSymbol(), value);
      return inserted || it->second == value;
    }
    if (auto expr = dyn_cast<IntExpr>(wanted)) {
      if (!isa<IntExpr>(actual))
        return false;
      state.equations.push_back({expr, cast<IntExpr>(actual)});
      return true;
    }
    if (auto dims = dyn_cast<DimsAttr>(wanted)) {
      auto other = dyn_cast<DimsAttr>(actual);
      if (!other || other.size() != dims.size())
        return false;
      for (auto [x, y] : llvm::zip(dims, other))
        state.equations.push_back({x, y});
      return true;
    }
    return wanted == actual;
  }

  bool matchOp(Operation *wanted, Operation *actual, State &state) {
    auto [it, inserted] = state.operations.try_emplace(wanted, actual);
    if (!inserted)
      return it->second == actual;
    if (wanted->getName() != actual->getName() ||
        wanted->getNumOperands() != actual->getNumOperands())
      return false;
    for (Operation *other : state.match.operations)
      if (other == actual)
        return false; // operators of the rule match distinct ones of the model
    state.match.operations.push_back(actual);
    for (NamedAttribute attribute : wanted->getAttrs()) {
      Attribute value = actual->getAttr(attribute.getName());
      if (!value || !matchAttribute(attribute.getValue(), value, state))
        return false;
    }
    for (auto [x, y] : llvm::zip(wanted->getResults(), actual->getResults()))
      if (auto [entry, fresh] = state.match.values.try_emplace(x, y);
          entry->second != y)
        return false;
    for (auto [x, y] : llvm::zip(wanted->getOperands(), actual->getOperands()))
      if (!matchValue(x, y, state))
        return false;
    return true;
  }

  /// Continues with the unmatched operators of `before`: parts of a
  /// multi-output pattern, found as users of matched values.
  void extend(const State &state) {
    if (found.size() >= limit)
      return;
    Operation *open = nullptr;
    Value shared;
    for (Operation *op : pattern) {
      if (state.operations.count(op))
        continue;
      for (Value operand : op->getOperands())
        if (state.match.values.count(operand)) {
          open = op;
          shared = operand;
          break;
        }
      if (open)
        break;
    }
    if (!open) {
      if (state.operations.size() == pattern.size())
        finish(state);
      return;
    }
    Value actual = state.match.values.lookup(shared);
    SmallVector<Operation *> users(actual.getUsers());
    llvm::sort(users, [](Operation *a, Operation *b) {
      return a->getBlock() == b->getBlock() && a != b && a->isBeforeInBlock(b);
    });
    users.erase(llvm::unique(users), users.end());
    for (Operation *user : users) {
      State next = state;
      if (matchOp(open, user, next))
        extend(next);
    }
  }

  void finish(const State &state) {
    if (!innerValuesStayInside(state))
      return;
    Bindings bindings = state.match;
    Equations equations(bindings);
    for (auto [x, y] : state.equations)
      equations.add(x, y);
    equations.forEachSolution(rule.splits, [&](const Bindings &solution) {
      Match match = state.match;
      static_cast<Bindings &>(match) = solution;
      if (found.size() == limit || !assumptionsHold(match))
        return;
      // The model's operators in the order of the rule.
      match.operations.clear();
      for (Operation *op : pattern)
        match.operations.push_back(state.operations.lookup(op));
      found.push_back(std::move(match));
    });
  }

  /// Results of `before` may be used anywhere. Its inner values may be used
  /// only inside, or they would be computed twice. Constants are free.
  bool innerValuesStayInside(const State &state) {
    llvm::SmallPtrSet<Operation *, 8> inside;
    for (auto [wanted, actual] : state.operations)
      inside.insert(actual);
    auto results =
        rule.getBefore().getBody().front().getTerminator()->getOperands();
    for (Operation *op : pattern)
      for (Value value : op->getResults()) {
        if (llvm::is_contained(results, value))
          continue;
        for (Operation *user : state.match.values.lookup(value).getUsers())
          if (!inside.contains(user))
            return false;
      }
    return true;
  }

  bool assumptionsHold(const Match &match);

  Rule &rule;
  unsigned limit;
  SmallVector<Operation *> pattern;
  SmallVector<Match, 1> found;
};

bool literalElementsAre(Value value, ElementPredicate predicate) {
  DenseElementsAttr elements;
  return matchPattern(value, m_Constant(&elements)) &&
         elementsAre(elements, predicate);
}

bool Matcher::assumptionsHold(const Match &match) {
  for (const Condition &condition : rule.assumptions.integers)
    if (!holds(condition, match))
      return false;
  Block &block = rule.getBefore().getBody().front();
  for (const TensorAssumption &tensor : rule.assumptions.tensors) {
    Value actual = match.values.lookup(block.getArgument(tensor.argument));
    if (!actual)
      return false;
    if (tensor.predicate == ElementPredicate::Constant
            ? !isCompileTime(actual)
            : !literalElementsAre(actual, tensor.predicate))
      return false;
  }
  for (const RealAssumption &real : rule.assumptions.reals)
    if (!holds(real, match))
      return false;
  return realsFit(rule, match) &&
         llvm::all_of(block.getArguments(), [&](BlockArgument argument) {
           Value actual = match.values.lookup(argument);
           Operation *op = actual ? actual.getDefiningOp() : nullptr;
           return !op || isBitExact(rule) || !writesNoNumber(op);
         });
}

} // namespace

SmallVector<Match, 1> mlc::findMatches(Rule &rule, Operation *root,
                                       unsigned limit) {
  return Matcher(rule, limit).run(root);
}

FailureOr<SmallVector<Value>>
mlc::buildAfter(const Match &match, OpBuilder &builder,
                llvm::SmallVectorImpl<Operation *> &created) {
  Block &before = match.rule->getBefore().getBody().front();
  Block &after = match.rule->getAfter().getBody().front();
  llvm::DenseMap<Value, Value> values;
  for (auto [x, y] : llvm::zip(before.getArguments(), after.getArguments()))
    if (Value actual = match.values.lookup(x))
      values[y] = actual;

  auto undo = [&]() -> LogicalResult {
    for (Operation *op : llvm::reverse(created))
      op->erase();
    created.clear();
    return failure();
  };
  // Failing to build is an answer here, not an error to report.
  ScopedDiagnosticHandler quiet(builder.getContext(),
                                [](Diagnostic &) { return success(); });
  SmallVector<Location> places;
  for (Operation *op : match.operations)
    places.push_back(op->getLoc());
  Location loc = places.size() == 1
                     ? places.front()
                     : FusedLoc::get(builder.getContext(), places);
  for (Operation &op : after.without_terminator()) {
    SmallVector<Value> operands;
    for (Value operand : op.getOperands()) {
      Value actual = values.lookup(operand);
      if (!actual)
        return undo();
      operands.push_back(actual);
    }
    SmallVector<NamedAttribute> attributes;
    for (NamedAttribute attribute : op.getAttrs())
      attributes.push_back(
          {attribute.getName(), match.substitute(attribute.getValue())});
    FailureOr<Operation *> made =
        createOp(builder, loc, op.getName().getStringRef(), operands,
                 attributes, op.getNumResults());
    if (failed(made))
      return undo();
    created.push_back(*made);
    for (auto [x, y] : llvm::zip(op.getResults(), (*made)->getResults()))
      values[x] = y;
  }
  SmallVector<Value> results;
  for (auto [x, y] : llvm::zip(before.getTerminator()->getOperands(),
                               after.getTerminator()->getOperands())) {
    Value actual = values.lookup(y);
    if (!actual || actual.getType() != match.values.lookup(x).getType())
      return undo();
    results.push_back(actual);
  }
  return results;
}
