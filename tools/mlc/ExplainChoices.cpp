//===- ExplainChoices.cpp - Steps that a search rejected ------------------===//

#include "tools/mlc/ExplainChoices.h"
#include "dialects/Module/CompileTime.h"
#include "rewrites/Search/Rewriting.h"
#include <map>
#include <set>

using namespace mlir;
using namespace mlc;
using namespace mlc::cli;
using llvm::SmallVector;

/// The largest free choice to try: 1x1 kernels become up to 9x9.
static constexpr int64_t largestChoice = 4;

namespace {

class Chooser {
public:
  Chooser(func::FuncOp function, RuleSet &rules, const CostModel &cost)
      : function(function), rules(rules), cost(cost),
        closed(rulesByRoot(rules, FpMode::Fast)),
        total(cost.seconds(function.getBody())) {}

  std::vector<Choice> run() {
    // Attempts are built in place and removed again.
    SmallVector<Operation *> operators;
    for (Operation &op : function.getBody().front())
      if (op.getNumResults() != 0 && !isCompileTime(op.getResult(0)))
        operators.push_back(&op);
    for (Operation *op : operators) {
      single(op);
      for (Rule &rule : rules.rules)
        if (isApplicable(rule, FpMode::Fast) && !rule.freeSymbols().empty())
          for (const Match &match : findMatches(rule, op))
            choose(match, rule.freeSymbols());
    }
    std::vector<Choice> choices;
    for (auto &[kind, choice] : best)
      choices.push_back(choice);
    llvm::stable_sort(choices, [](const Choice &a, const Choice &b) {
      return a.lossSeconds < b.lossSeconds;
    });
    return choices;
  }

private:
  /// Tries rules without a choice at `op`.
  void single(Operation *op) {
    auto it = closed.find(op->getName().getStringRef());
    if (it == closed.end())
      return;
    for (Rule *rule : it->second)
      for (const Match &match : findMatches(*rule, op)) {
        Rewriting rewriting(function);
        std::optional<Attempt> attempt = rewriting.attempt(match, cost);
        if (!attempt)
          continue;
        rewriting.undo(*attempt);
        note({stepOf(match)}, -attempt->gainSeconds);
      }
  }

  /// Tries every value of the free symbols; if there are several, all equal or
  /// one at a time.
  void choose(const Match &match, const std::vector<std::string> &symbols) {
    MLIRContext *context = function.getContext();
    std::vector<int64_t> values(symbols.size());
    while (true) {
      size_t place = 0;
      while (place < values.size() && values[place] == largestChoice)
        values[place++] = 0;
      if (place == values.size())
        return;
      ++values[place];
      Match chosen = match;
      for (auto [symbol, value] : llvm::zip_equal(symbols, values))
        chosen.integers[symbol] = IntExpr::constant(context, value);
      prepare(chosen);
    }
  }

  /// Tries a step that only enables another: it counts if it makes an operator
  /// that matches a neighbour.
  void prepare(const Match &match) {
    Rewriting rewriting(function);
    std::optional<Attempt> attempt = rewriting.attempt(match, cost);
    if (!attempt)
      return;
    bool pays = llvm::any_of(attempt->created, [](Operation *op) {
      return !isCompileTime(op->getResult(0)) && hasTwin(op);
    });
    rewriting.undo(*attempt);
    if (!pays)
      return;
    IRMapping mapping;
    OwningOpRef<func::FuncOp> copy(
        cast<func::FuncOp>(function->clone(mapping)));
    Rewriting copied(*copy);
    Match there = mapped(match, mapping);
    attempt = copied.attempt(there, cost);
    SmallVector<Operation *> created = attempt->created;
    copied.commit(there, *attempt);
    // The match may be before or after.
    llvm::SetVector<Operation *> roots;
    for (Operation *op : created)
      for (Value operand : op->getOperands())
        roots.insert(operand.user_begin(), operand.user_end());
    for (Operation *root : roots)
      follow(match, *copy, root, created);
  }

  /// Whether the value has another reader with the same attributes and, except
  /// for the first dim, equal other operands.
  static bool hasTwin(Operation *op) {
    return llvm::any_of(op->getOperand(0).getUsers(), [&](Operation *other) {
      if (other == op || other->getName() != op->getName() ||
          other->getAttrs() != op->getAttrs() ||
          other->getOperand(0) != op->getOperand(0))
        return false;
      return llvm::all_of(
          llvm::zip(other->getOperands(), op->getOperands()), [](auto pair) {
            auto x = cast<RankedTensorType>(std::get<0>(pair).getType()),
                 y = cast<RankedTensorType>(std::get<1>(pair).getType());
            return x.getRank() == y.getRank() &&
                   (x == y ||
                    x.getShape().drop_front() == y.getShape().drop_front());
          });
    });
  }

  /// Tries rules with several results on one of `created` at `root`.
  void follow(const Match &first, func::FuncOp copy, Operation *root,
              llvm::ArrayRef<Operation *> created) {
    auto it = closed.find(root->getName().getStringRef());
    if (it == closed.end())
      return;
    for (Rule *rule : it->second) {
      if (rule->getBefore().getNumResults() < 2)
        continue;
      for (const Match &second : findMatches(*rule, root)) {
        if (llvm::none_of(second.operations, [&](Operation *op) {
              return llvm::is_contained(created, op);
            }))
          continue;
        IRMapping mapping;
        OwningOpRef<func::FuncOp> result(
            cast<func::FuncOp>(copy->clone(mapping)));
        Rewriting rewriting(*result);
        Match there = mapped(second, mapping);
        std::optional<Attempt> attempt = rewriting.attempt(there, cost);
        if (!attempt)
          continue;
        rewriting.commit(there, *attempt);
        note({stepOf(first), stepOf(second)},
             cost.seconds(result->getBody()) - total);
      }
    }
  }

  static TrailStep stepOf(const Match &match) {
    TrailStep step;
    step.rule = match.rule->getName().str();
    for (Operation *op : match.operations)
      if (std::string place = placeOf(op->getLoc());
          !place.empty() && !llvm::is_contained(step.places, place))
        step.places.push_back(place);
    for (const auto &entry : match.integers)
      step.integers[entry.getKey().str()] = entry.getValue().str();
    return step;
  }

  void note(std::vector<TrailStep> steps, double loss) {
    // A step with a gain was not rejected by its cost.
    if (loss <= total * 1e-9)
      return;
    std::string kind;
    std::set<std::string> where;
    for (const TrailStep &step : steps) {
      kind += step.rule + ";";
      where.insert(step.places.begin(), step.places.end());
    }
    auto [it, isNew] = best.try_emplace(kind, Choice{steps, loss});
    Choice &choice = it->second;
    // A set, since a merge of two is found from either side.
    places[kind].insert(std::move(where));
    choice.places = places[kind].size();
    if (!isNew && loss < choice.lossSeconds) {
      choice.steps = std::move(steps);
      choice.lossSeconds = loss;
    }
  }

  func::FuncOp function;
  RuleSet &rules;
  const CostModel &cost;
  llvm::StringMap<SmallVector<Rule *>> closed;
  double total;
  // Keyed by the names of the rules.
  std::map<std::string, Choice> best;
  std::map<std::string, std::set<std::set<std::string>>> places;
};

} // namespace

std::vector<Choice> mlc::cli::findChoices(func::FuncOp function, RuleSet &rules,
                                          const CostModel &cost) {
  return Chooser(function, rules, cost).run();
}
