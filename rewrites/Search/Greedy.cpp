//===- Greedy.cpp - Applying rules where they pay -------------------------===//

#include "rewrites/Search/Greedy.h"
#include "rewrites/Search/Rewriting.h"
#include "llvm/ADT/DenseMap.h"
#include <deque>

using namespace mlir;
using namespace mlc;
using llvm::SmallVector;

namespace {

/// Operators still to visit, each at most once in the queue.
class Worklist {
public:
  void push(Operation *op) {
    if (queued.try_emplace(op, tickets).second)
      queue.push_back({op, tickets++});
  }
  void forget(Operation *op) { queued.erase(op); }
  Operation *pop() {
    while (!queue.empty()) {
      auto [op, ticket] = queue.front();
      queue.pop_front();
      // An erased operator is no longer queued; a new one at its address has
      // its own ticket.
      if (auto it = queued.find(op);
          it != queued.end() && it->second == ticket) {
        queued.erase(it);
        return op;
      }
    }
    return nullptr;
  }

private:
  std::deque<std::pair<Operation *, unsigned>> queue;
  llvm::DenseMap<Operation *, unsigned> queued;
  unsigned tickets = 0;
};

class GreedyRewriter {
public:
  GreedyRewriter(func::FuncOp function, RuleSet &rules, const CostModel &cost,
                 const GreedyOptions &options)
      : rewriting(function), cost(cost), options(options),
        rules(rulesByRoot(rules, options.fp)) {}

  Trail run() {
    for (Operation &op : rewriting.getFunction().getBody().front())
      worklist.push(&op);
    while (Operation *op = worklist.pop()) {
      if (rewriting.getTrail().steps.size() >= options.maxSteps)
        break;
      if (std::optional<Match> best = bestAt(op))
        apply(*best);
    }
    return rewriting.finish();
  }

private:
  /// The match at `root` with the largest gain, if any.
  std::optional<Match> bestAt(Operation *root) {
    auto it = rules.find(root->getName().getStringRef());
    if (it == rules.end())
      return std::nullopt;
    std::optional<Match> best;
    double bestGain = 0;
    for (Rule *rule : it->second)
      for (Match &match : findMatches(*rule, root)) {
        double gain = gainOf(match);
        if (gain > bestGain) {
          bestGain = gain;
          best = std::move(match);
        }
      }
    return best;
  }

  /// 0 unless it is cheaper by more than rounding, so that rewriting ends.
  double gainOf(const Match &match) {
    std::optional<Attempt> attempt = rewriting.attempt(match, cost);
    if (!attempt)
      return 0;
    rewriting.undo(*attempt);
    double before = 0;
    for (Operation *op : match.operations)
      before += cost.seconds(op);
    return attempt->gainSeconds > before * 1e-9 ? attempt->gainSeconds : 0;
  }

  void apply(const Match &match) {
    std::optional<Attempt> attempt = rewriting.attempt(match, cost);
    assert(attempt && "it could be built a moment ago");
    Rewriting::Effect effect = rewriting.commit(match, *attempt);
    for (Operation *op : effect.erased)
      worklist.forget(op);
    for (Operation *op : effect.affected)
      worklist.push(op);
  }

  Rewriting rewriting;
  const CostModel &cost;
  GreedyOptions options;
  llvm::StringMap<SmallVector<Rule *>> rules;
  Worklist worklist;
};

} // namespace

Trail mlc::applyGreedily(func::FuncOp function, RuleSet &rules,
                         const CostModel &cost, const GreedyOptions &options) {
  return GreedyRewriter(function, rules, cost, options).run();
}
