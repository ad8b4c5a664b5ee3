//===- Rewriting.cpp - A function that rules change step by step ----------===//

#include "rewrites/Search/Rewriting.h"
#include "dialects/Graph/MovementOps.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace mlc;
using llvm::SmallVector;

bool mlc::onlyReorders(Rule &rule) {
  // Attributes and types are uniqued: pointers tell them apart.
  using Key = SmallVector<const void *, 8>;
  std::vector<Key> operators[2], typed[2];
  func::FuncOp functions[] = {rule.getBefore(), rule.getAfter()};
  for (unsigned side : {0, 1}) {
    for (Operation &op :
         functions[side].getBody().front().without_terminator()) {
      Key key{op.getName().getAsOpaquePointer(),
              op.getAttrDictionary().getAsOpaquePointer()};
      operators[side].push_back(key);
      for (Type type : op.getOperandTypes())
        key.push_back(type.getAsOpaquePointer());
      for (Type type : op.getResultTypes())
        key.push_back(type.getAsOpaquePointer());
      typed[side].push_back(std::move(key));
    }
    llvm::sort(operators[side]);
    llvm::sort(typed[side]);
  }
  return typed[0] == typed[1] ||
         (operators[0] == operators[1] && llvm::all_equal(operators[0]));
}

bool mlc::onlyMovesSlice(Rule &rule) {
  std::vector<StringRef> names[2];
  bool givesSlice[2];
  func::FuncOp functions[] = {rule.getBefore(), rule.getAfter()};
  for (unsigned side : {0, 1}) {
    Block &body = functions[side].getBody().front();
    for (Operation &op : body.without_terminator())
      names[side].push_back(op.getName().getStringRef());
    llvm::sort(names[side]);
    Operation *end = body.getTerminator();
    givesSlice[side] =
        end->getNumOperands() == 1 &&
        isa_and_nonnull<SliceOp>(end->getOperand(0).getDefiningOp());
  }
  return names[0] == names[1] && givesSlice[0] != givesSlice[1];
}

bool mlc::isForSearch(Rule &rule) {
  return !onlyReorders(rule) && !onlyMovesSlice(rule);
}

llvm::StringMap<SmallVector<Rule *>> mlc::rulesByRoot(RuleSet &rules,
                                                      FpMode fp) {
  llvm::StringMap<SmallVector<Rule *>> byRoot;
  for (Rule &rule : rules.rules) {
    Operation *root = rule.getBefore()
                          .getBody()
                          .front()
                          .getTerminator()
                          ->getOperand(0)
                          .getDefiningOp();
    if (root && isApplicable(rule, fp) && rule.freeSymbols().empty() &&
        isForSearch(rule))
      byRoot[root->getName().getStringRef()].push_back(&rule);
  }
  return byRoot;
}

Rewriting::Rewriting(func::FuncOp function) : function(function) {
  trail.function = function.getName().str();
  for (Value argument : function.getArguments())
    terms[argument] = numTerms++;
  for (Operation &op : function.getBody().front())
    addTerms(&op);
}

Rewriting::Rewriting(const Rewriting &other, func::FuncOp function,
                     const IRMapping &mapping)
    : function(function), trail(other.trail), numTerms(other.numTerms) {
  for (auto [value, term] : other.terms)
    if (Value copy = mapping.lookupOrNull(value))
      terms[copy] = term;
  for (Operation *op : other.refined)
    if (Operation *copy = mapping.lookupOrNull(op))
      refined.insert(copy);
}

void Rewriting::addTerms(Operation *op) {
  for (Value result : op->getResults())
    terms[result] = numTerms++;
}

/// Whether an outside operand of the match is computed from one of its
/// results: then both sides cannot be one operator.
static bool isCyclic(const Match &match) {
  llvm::SmallPtrSet<Operation *, 8> inside(match.operations.begin(),
                                           match.operations.end());
  Operation *first =
      *llvm::min_element(match.operations, [](Operation *a, Operation *b) {
        return a->isBeforeInBlock(b);
      });
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Operation *> pending;
  auto visit = [&](Operation *op) {
    for (Value operand : op->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (!producer || producer->isBeforeInBlock(first))
        continue;
      if (seen.insert(producer).second)
        pending.push_back(producer);
    }
  };
  func::FuncOp before = match.rule->getBefore();
  for (BlockArgument argument : before.getArguments()) {
    Value operand = match.values.lookup(argument);
    Operation *producer = operand ? operand.getDefiningOp() : nullptr;
    if (producer && !producer->isBeforeInBlock(first) &&
        seen.insert(producer).second)
      pending.push_back(producer);
  }
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val();
    if (inside.contains(op))
      return true;
    visit(op);
  }
  return false;
}

/// An operator before `op` that computes the same, or null. An operator that
/// reads a refined operand does not equal its term.
Operation *Rewriting::equalOf(Operation *op) const {
  if (op->getNumOperands() == 0 || !isMemoryEffectFree(op))
    return nullptr;
  for (Operation *other : op->getOperand(0).getUsers())
    if (other != op && other->getName() == op->getName() &&
        other->getBlock() == op->getBlock() &&
        other->getAttrDictionary() == op->getAttrDictionary() &&
        other->getOperands() == op->getOperands() && !refined.contains(other) &&
        other->isBeforeInBlock(op))
      return other;
  return nullptr;
}

/// Replaces new operators by equal existing ones: weights that two merges share
/// are then one value, which the next merge can find.
void Rewriting::shareEqual(Attempt &attempt) {
  for (Operation *&op : attempt.built) {
    Operation *other = equalOf(op);
    if (!other) {
      attempt.created.push_back(op);
      continue;
    }
    for (Value &result : attempt.results)
      if (result.getDefiningOp() == op)
        result = other->getResult(cast<OpResult>(result).getResultNumber());
    op->replaceAllUsesWith(other);
    op->erase();
    op = nullptr;
  }
}

std::optional<Attempt> Rewriting::attempt(const Match &match,
                                          const CostModel &cost) {
  if (match.rule->getBefore().getNumResults() > 1 && isCyclic(match))
    return std::nullopt;
  Operation *last =
      *llvm::max_element(match.operations, [](Operation *a, Operation *b) {
        return a->isBeforeInBlock(b);
      });
  OpBuilder builder(last);
  Attempt attempt;
  FailureOr<SmallVector<Value>> results =
      buildAfter(match, builder, attempt.built);
  if (failed(results))
    return std::nullopt;
  attempt.results = std::move(*results);
  shareEqual(attempt);
  for (Operation *op : match.operations)
    attempt.gainSeconds += cost.seconds(op);
  for (Operation *op : attempt.created)
    attempt.gainSeconds -= cost.seconds(op);
  return attempt;
}

void Rewriting::undo(const Attempt &attempt) {
  for (Operation *op : llvm::reverse(attempt.created))
    op->erase();
}

void Rewriting::record(const Match &match, const Attempt &attempt) {
  TrailStep step;
  step.rule = match.rule->getName().str();
  step.hash = match.rule->hash;
  Block &before = match.rule->getBefore().getBody().front();
  for (Value argument : before.getArguments()) {
    Value actual = match.values.lookup(argument);
    step.arguments.push_back(actual ? terms.lookup(actual) : noTerm);
  }
  for (Operation *op : match.operations) {
    for (Value result : op->getResults())
      step.before.push_back(terms.lookup(result));
    std::string place = placeOf(op->getLoc());
    if (!place.empty() && !llvm::is_contained(step.places, place))
      step.places.push_back(place);
  }
  for (auto &entry : match.integers)
    step.integers[entry.getKey().str()] = entry.getValue().str();
  for (auto &entry : match.reals)
    step.reals[entry.getKey().str()] = realText(entry.getValue());
  step.gainSeconds = attempt.gainSeconds;
  trail.steps.push_back(std::move(step));
  // A step numbers everything it builds, including operators that already
  // exist.
  Block &after = match.rule->getAfter().getBody().front();
  for (auto [pattern, op] :
       llvm::zip(after.without_terminator(), attempt.built)) {
    if (op)
      addTerms(op);
    else
      numTerms += pattern.getNumResults();
  }
}

Rewriting::Effect Rewriting::commit(const Match &match,
                                    const Attempt &attempt) {
  record(match, attempt);
  Block *block = match.operations.front()->getBlock();
  Effect effect;
  for (Operation *op : match.operations)
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp())
        effect.affected.insert(producer);
  auto wanted =
      match.rule->getBefore().getBody().front().getTerminator()->getOperands();
  const bool isRefinement = !match.rule->proved->isTwoWay ||
                            llvm::any_of(match.operations, [&](Operation *op) {
                              return refined.contains(op);
                            });
  for (auto [pattern, result] : llvm::zip(wanted, attempt.results)) {
    Value old = match.values.lookup(pattern);
    for (Operation *user : old.getUsers()) {
      effect.affected.insert(user);
      if (isRefinement)
        refined.insert(user);
    }
    old.replaceAllUsesWith(result);
  }
  for (Operation *op : llvm::reverse(match.operations))
    if (op->use_empty()) {
      effect.affected.remove(op);
      effect.erased.push_back(op);
      for (Value result : op->getResults())
        terms.erase(result);
      refined.erase(op);
      op->erase();
    }
  if (attempt.results.size() > 1)
    sortTopologically(block);
  for (Operation *op : attempt.created)
    effect.affected.insert(op);
  return effect;
}

Trail Rewriting::finish() {
  auto termsOf = [&](ValueRange values) {
    std::vector<TermId> list;
    for (Value value : values)
      list.push_back(terms.lookup(value));
    return list;
  };
  Block &body = function.getBody().front();
  for (Operation &op : body.without_terminator())
    if (op.getNumResults() != 0)
      trail.chosen.push_back(
          {terms.lookup(op.getResult(0)), termsOf(op.getOperands())});
  trail.outputs = termsOf(body.getTerminator()->getOperands());
  return std::move(trail);
}

Match mlc::mapped(const Match &match, const IRMapping &mapping) {
  Match result = match;
  for (auto &entry : result.values)
    entry.second = mapping.lookupOrDefault(entry.second);
  for (Operation *&op : result.operations)
    op = mapping.lookupOrDefault(op);
  return result;
}
