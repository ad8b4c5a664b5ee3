//===- Greedy.cpp - Applying rules where they pay -------------------------===//

#include "rewrites/Greedy.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "rewrites/Match.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/Format.h"
#include <deque>

using namespace mlir;
using namespace mlc;
using llvm::SmallVector;
using llvm::StringRef;

namespace {

/// A readable name of where an operator comes from.
std::string placeOf(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName().str();
  if (auto fused = dyn_cast<FusedLoc>(loc)) {
    for (Location part : fused.getLocations())
      if (std::string name = placeOf(part); !name.empty())
        return name;
  }
  return "";
}

bool isAllowed(const ProvedRule &proof, FpMode fp) {
  switch (fp) {
  case FpMode::Strict:
    return proof.floatClass == FloatClass::BitExact;
  case FpMode::Reassociate:
    return proof.floatClass != FloatClass::ValueChanging;
  case FpMode::Fast:
    return true;
  }
  llvm_unreachable("unknown mode");
}

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
      const ProvedRule *proof = findProof(rule);
      Operation *root = rule.getBefore()
                            .getBody()
                            .front()
                            .getTerminator()
                            ->getOperand(0)
                            .getDefiningOp();
      if (proof && root && isAllowed(*proof, options.fp) &&
          rule.freeSymbols().empty())
        rulesByRoot[root->getName().getStringRef()].push_back(&rule);
    }
  }

  std::vector<AppliedRule> run() {
    for (Operation &op : function.getBody().front())
      worklist.push(&op);
    while (Operation *op = worklist.pop()) {
      if (trail.size() >= options.maxSteps)
        break;
      auto it = rulesByRoot.find(op->getName().getStringRef());
      if (it == rulesByRoot.end())
        continue;
      for (Rule *rule : it->second)
        if (applyAt(*rule, op))
          break; // `op` is gone
    }
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
    record(match, before - after);
    replace(match, *results, created);
    return true;
  }

  void record(const Match &match, double gain) {
    AppliedRule step;
    step.rule = match.rule->getName().str();
    step.hash = match.rule->hash;
    for (Operation *op : match.operations) {
      std::string place = placeOf(op->getLoc());
      if (!place.empty() && !llvm::is_contained(step.places, place))
        step.places.push_back(place);
    }
    SmallVector<std::pair<std::string, std::string>> bindings;
    for (auto &entry : match.integers)
      bindings.push_back({entry.getKey().str(), entry.getValue().str()});
    for (auto &entry : match.reals) {
      std::string value;
      llvm::raw_string_ostream(value)
          << llvm::format("%g", entry.getValue().getDouble());
      bindings.push_back({entry.getKey().str(), value});
    }
    llvm::sort(bindings);
    for (auto &[symbol, value] : bindings)
      step.bindings +=
          (step.bindings.empty() ? "" : ", ") + symbol + " = " + value;
    step.gainSeconds = gain;
    trail.push_back(std::move(step));
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
  std::vector<AppliedRule> trail;
};

} // namespace

std::vector<AppliedRule> mlc::applyGreedily(func::FuncOp function,
                                            RuleSet &rules,
                                            const CostModel &cost,
                                            const GreedyOptions &options) {
  return GreedyRewriter(function, rules, cost, options).run();
}

ArrayAttr mlc::toAttribute(llvm::ArrayRef<AppliedRule> trail,
                           MLIRContext *context) {
  Builder b(context);
  SmallVector<Attribute> steps;
  for (const AppliedRule &step : trail) {
    SmallVector<StringRef> places(step.places.begin(), step.places.end());
    steps.push_back(b.getDictionaryAttr(
        {b.getNamedAttr("rule", b.getStringAttr(step.rule)),
         b.getNamedAttr("hash", b.getStringAttr(step.hash)),
         b.getNamedAttr("places", b.getStrArrayAttr(places)),
         b.getNamedAttr("bindings", b.getStringAttr(step.bindings)),
         b.getNamedAttr("gain", b.getF64FloatAttr(step.gainSeconds))}));
  }
  return b.getArrayAttr(steps);
}

std::vector<AppliedRule> mlc::readTrail(ArrayAttr attribute) {
  std::vector<AppliedRule> trail;
  for (auto step : attribute.getAsRange<DictionaryAttr>()) {
    AppliedRule rule;
    rule.rule = step.getAs<StringAttr>("rule").str();
    rule.hash = step.getAs<StringAttr>("hash").str();
    for (auto place : step.getAs<ArrayAttr>("places").getAsRange<StringAttr>())
      rule.places.push_back(place.str());
    rule.bindings = step.getAs<StringAttr>("bindings").str();
    rule.gainSeconds = step.getAs<FloatAttr>("gain").getValueAsDouble();
    trail.push_back(std::move(rule));
  }
  return trail;
}
