//===- Backtrack.cpp - A queue of whole graphs ----------------------------===//

#include "rewrites/Search/Backtrack.h"
#include "rewrites/Search/Rewriting.h"
#include "llvm/ADT/DenseSet.h"
#include <map>

using namespace mlir;
using namespace mlc;
using llvm::SmallVector;

namespace {

/// Equal for functions that return the same expressions, regardless of the
/// order of operators.
llvm::hash_code hashOf(func::FuncOp function) {
  llvm::DenseMap<Value, llvm::hash_code> hashes;
  for (BlockArgument argument : function.getArguments())
    hashes[argument] = llvm::hash_value(argument.getArgNumber());
  for (Operation &op : function.getBody().front()) {
    llvm::hash_code hash =
        llvm::hash_combine(op.getName(), op.getAttrDictionary(),
                           llvm::hash_combine_range(op.getResultTypes()));
    for (Value operand : op.getOperands())
      hash = llvm::hash_combine(hash, hashes.lookup(operand));
    for (OpResult result : op.getResults())
      hashes[result] = llvm::hash_combine(hash, result.getResultNumber());
    if (op.hasTrait<OpTrait::IsTerminator>())
      return hash;
  }
  llvm_unreachable("a function ends in a return");
}

/// A graph of the search; owns its function.
struct Graph {
  OwningOpRef<func::FuncOp> function;
  Rewriting rewriting;
  double cost;
};

class Backtracker {
public:
  Backtracker(func::FuncOp function, RuleSet &rules, const CostModel &cost,
              const BacktrackOptions &options)
      : function(function), cost(cost), options(options),
        rules(rulesByRoot(rules, options.fp)) {}

  Trail run(BacktrackReport &report) {
    Rewriting start(function);
    IRMapping mapping;
    OwningOpRef<func::FuncOp> copy(
        cast<func::FuncOp>(function->clone(mapping)));
    bestCost = cost.seconds(function.getBody());
    Rewriting copied(start, *copy, mapping);
    seen.insert(hashOf(function));
    queue.emplace(bestCost, Graph{std::move(copy), copied, bestCost});
    std::optional<Graph> best;
    while (!queue.empty() && report.expanded < options.maxGraphs &&
           !isOutOfSteps()) {
      auto first = queue.begin();
      Graph graph = std::move(first->second);
      queue.erase(first);
      ++report.expanded;
      if (graph.cost < options.alpha * bestCost)
        expand(graph);
      if (!best || graph.cost < best->cost)
        best = std::move(graph);
    }
    // A waiting graph may be the best; the queue is sorted by cost.
    if (!queue.empty() && (!best || queue.begin()->first < best->cost))
      best = std::move(queue.begin()->second);
    report.built = seen.size();
    report.steps = steps;
    report.stop = isOutOfSteps()  ? BacktrackStop::StepLimit
                  : queue.empty() ? BacktrackStop::Exhausted
                                  : BacktrackStop::GraphLimit;
    Trail trail = best->rewriting.finish();
    function.getBody().takeBody(best->function->getBody());
    return trail;
  }

private:
  bool isOutOfSteps() const { return steps >= options.steps; }

  void expand(Graph &graph) {
    // An attempt is built in place and then undone.
    SmallVector<Operation *> operators;
    for (Operation &op : graph.function->getBody().front())
      operators.push_back(&op);
    for (Operation *op : operators) {
      auto it = rules.find(op->getName().getStringRef());
      if (it == rules.end())
        continue;
      steps += it->second.size();
      for (Rule *rule : it->second)
        for (const Match &match : findMatches(*rule, op)) {
          step(graph, match);
          if (isOutOfSteps())
            return;
        }
    }
  }

  void step(Graph &graph, const Match &match) {
    steps += match.operations.size();
    std::optional<Attempt> attempt = graph.rewriting.attempt(match, cost);
    if (!attempt)
      return;
    steps += attempt->built.size();
    double nextCost = graph.cost - attempt->gainSeconds;
    graph.rewriting.undo(*attempt);
    if (!(nextCost < options.alpha * bestCost))
      return;
    IRMapping mapping;
    OwningOpRef<func::FuncOp> copy(
        cast<func::FuncOp>((*graph.function)->clone(mapping)));
    steps += copy->getBody().front().getOperations().size();
    Rewriting rewriting(graph.rewriting, *copy, mapping);
    Match there = mapped(match, mapping);
    attempt = rewriting.attempt(there, cost);
    assert(attempt && "it could be built a moment ago");
    rewriting.commit(there, *attempt);
    if (!seen.insert(hashOf(*copy)).second)
      return;
    // The step may also cost other operators (a producer that is no longer
    // fused).
    nextCost = cost.seconds(copy->getBody());
    bestCost = std::min(bestCost, nextCost);
    queue.emplace(nextCost, Graph{std::move(copy), rewriting, nextCost});
    if (queue.size() > options.maxWaiting)
      queue.erase(std::prev(queue.end()));
  }

  func::FuncOp function;
  const CostModel &cost;
  BacktrackOptions options;
  llvm::StringMap<SmallVector<Rule *>> rules;
  uint64_t steps = 0;
  double bestCost = 0;
  /// Equal costs stay in the order of insertion.
  std::multimap<double, Graph> queue;
  llvm::DenseSet<size_t> seen;
};

} // namespace

Trail mlc::applyBacktracking(func::FuncOp function, RuleSet &rules,
                             const CostModel &cost,
                             const BacktrackOptions &options,
                             BacktrackReport *report) {
  BacktrackReport ignored;
  return Backtracker(function, rules, cost, options)
      .run(report ? *report : ignored);
}
