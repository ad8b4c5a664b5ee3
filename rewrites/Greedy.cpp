//===- Greedy.cpp - Applying rules where they pay -------------------------===//

#include "rewrites/Greedy.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "rewrites/Match.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <deque>

using namespace mlir;
using namespace mlc;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace {

/// Operators still to be looked at, each at most once in the queue.
class Worklist {
public:
  void push(Operation *op) {
    if (queued.insert(op).second)
      queue.push_back(op);
  }
  void forget(Operation *op) { queued.erase(op); }
  Operation *pop() {
    while (!queue.empty()) {
      Operation *op = queue.front();
      queue.pop_front();
      // An operator that was erased is no longer among the queued.
      if (queued.erase(op))
        return op;
    }
    return nullptr;
  }

private:
  std::deque<Operation *> queue;
  llvm::SmallPtrSet<Operation *, 32> queued;
};

class GreedyRewriter {
public:
  GreedyRewriter(func::FuncOp function, RuleSet &rules, const CostModel &cost,
                 const GreedyOptions &options)
      : function(function), cost(cost), options(options) {
    for (Rule &rule : rules.rules) {
      Operation *root = rule.getBefore()
                            .getBody()
                            .front()
                            .getTerminator()
                            ->getOperand(0)
                            .getDefiningOp();
      if (root && isApplicable(rule, options.fp) && rule.freeSymbols().empty())
        rulesByRoot[root->getName().getStringRef()].push_back(&rule);
    }
  }

  Trail run() {
    trail.function = function.getName().str();
    for (Value argument : function.getArguments())
      terms[argument] = numTerms++;
    for (Operation &op : function.getBody().front()) {
      addTerms(&op);
      worklist.push(&op);
    }
    while (Operation *op = worklist.pop()) {
      if (trail.steps.size() >= options.maxSteps)
        break;
      auto it = rulesByRoot.find(op->getName().getStringRef());
      if (it == rulesByRoot.end())
        continue;
      for (Rule *rule : it->second)
        if (applyAt(*rule, op))
          break; // `op` is gone
    }
    finish();
    return std::move(trail);
  }

private:
  bool applyAt(Rule &rule, Operation *root) {
    for (const Match &match : findMatches(rule, root))
      if (tryMatch(match))
        return true;
    return false;
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
    for (Operation *op : match.operations)
      for (Value operand : op->getOperands())
        if (Operation *producer = operand.getDefiningOp();
            producer && !inside.contains(producer) &&
            !producer->isBeforeInBlock(first) && seen.insert(producer).second)
          pending.push_back(producer);
    while (!pending.empty()) {
      Operation *op = pending.pop_back_val();
      if (inside.contains(op))
        return true;
      visit(op);
    }
    return false;
  }

  bool tryMatch(const Match &match) {
    Operation *last =
        *llvm::max_element(match.operations, [](Operation *a, Operation *b) {
          return a->isBeforeInBlock(b);
        });
    bool several =
        match.rule->getBefore().getNumResults() > 1 && isCyclic(match);
    if (several)
      return false;
    OpBuilder builder(last);
    SmallVector<Operation *> created;
    FailureOr<SmallVector<Value>> results = buildAfter(match, builder, created);
    if (failed(results))
      return false;
    double before = 0, after = 0;
    for (Operation *op : match.operations)
      before += cost.seconds(op);
    for (Operation *op : created)
      after += cost.seconds(op);
    // Strictly cheaper by more than rounding: so rewriting ends.
    if (!(after < before * (1 - 1e-9))) {
      for (Operation *op : llvm::reverse(created))
        op->erase();
      return false;
    }
    record(match, created, before - after);
    replace(match, *results, created);
    return true;
  }

  void addTerms(Operation *op) {
    for (Value result : op->getResults())
      terms[result] = numTerms++;
  }

  void record(const Match &match, ArrayRef<Operation *> created, double gain) {
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
    step.gainSeconds = gain;
    trail.steps.push_back(std::move(step));
    for (Operation *op : created)
      addTerms(op);
  }

  /// What stands in the function now, as the end of the trail.
  void finish() {
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
  }

  void replace(const Match &match, llvm::ArrayRef<Value> results,
               llvm::ArrayRef<Operation *> created) {
    Block *block = match.operations.front()->getBlock();
    llvm::SetVector<Operation *> affected;
    for (Operation *op : match.operations)
      for (Value operand : op->getOperands())
        if (Operation *producer = operand.getDefiningOp())
          affected.insert(producer);
    auto wanted = match.rule->getBefore()
                      .getBody()
                      .front()
                      .getTerminator()
                      ->getOperands();
    for (auto [pattern, result] : llvm::zip(wanted, results)) {
      Value old = match.values.lookup(pattern);
      for (Operation *user : old.getUsers())
        affected.insert(user);
      old.replaceAllUsesWith(result);
    }
    for (Operation *op : llvm::reverse(match.operations))
      if (op->use_empty()) {
        affected.remove(op);
        worklist.forget(op);
        op->erase();
      }
    if (results.size() > 1)
      sortTopologically(block);
    for (Operation *op : created)
      worklist.push(op);
    for (Operation *op : affected)
      worklist.push(op);
  }

  func::FuncOp function;
  const CostModel &cost;
  GreedyOptions options;
  llvm::StringMap<SmallVector<Rule *>> rulesByRoot;
  Worklist worklist;
  Trail trail;
  llvm::DenseMap<Value, TermId> terms;
  TermId numTerms = 0;
};

} // namespace

Trail mlc::applyGreedily(func::FuncOp function, RuleSet &rules,
                         const CostModel &cost, const GreedyOptions &options) {
  return GreedyRewriter(function, rules, cost, options).run();
}
