//===- Saturate.cpp - Applying rules until nothing is new -----------------===//

#include "rewrites/EGraph/Saturate.h"

using namespace mlir;
using namespace mlc;
using namespace mlc::egraph;
using llvm::ArrayRef;
using llvm::SmallVector;

llvm::StringRef mlc::egraph::name(StopReason reason) {
  switch (reason) {
  case StopReason::Saturated:
    return "saturated";
  case StopReason::Reached:
    return "reached";
  case StopReason::NodeLimit:
    return "node-limit";
  case StopReason::IterationLimit:
    return "iteration-limit";
  case StopReason::TimeLimit:
    return "time-limit";
  }
  llvm_unreachable("unknown reason");
}

Saturation::Saturation(EGraph &graph, ArrayRef<const RuleProgram *> programs,
                       const SaturationLimits &limits)
    : graph(graph), programs(programs), limits(limits),
      pauses(programs.size()) {}

/// Completes a match by the symbols that only the built side has: once for
/// each other reader of the shared argument that gives them values.
void Saturation::choose(const RuleProgram &program, const EMatch &ematch,
                        llvm::function_ref<void(const EMatch &)> callback) {
  if (!program.choice) {
    callback(ematch);
    return;
  }
  const Choice &choice = *program.choice;
  NodeId shared = ematch.values[choice.shared];
  for (NodeId reader : graph.classOf(shared).parents) {
    const Operator &op = graph.operatorOf(reader);
    ArrayRef<NodeId> children = graph.children(reader);
    if (!op.name || *op.name != choice.name ||
        choice.sharedOperand >= children.size() ||
        !graph.areEqual(children[choice.sharedOperand], shared))
      continue;
    Bindings bindings = ematch.bindings(program);
    Equations equations(bindings);
    bool fits = true;
    for (const ChoiceEquation &equation : choice.equations) {
      auto type = equation.operand < children.size()
                      ? dyn_cast_or_null<RankedTensorType>(
                            graph.classOf(children[equation.operand]).type)
                      : nullptr;
      std::optional<SmallVector<IntExpr>> dims;
      if (type && equation.dim < type.getRank())
        dims = getDims(type);
      if ((fits &= dims.has_value()))
        equations.add(equation.size, (*dims)[equation.dim]);
    }
    if (!fits || !equations.solve() || !equations.isSolved())
      continue;
    EMatch chosen = ematch;
    bool isTrivial = true;
    for (auto [slot, name] : llvm::enumerate(program.integers))
      if (!chosen.integers[slot]) {
        chosen.integers[slot] = bindings.integers.lookup(name);
        fits &= static_cast<bool>(chosen.integers[slot]);
        isTrivial &= fits && chosen.integers[slot].isConstant(0);
      }
    if (fits && !isTrivial)
      callback(chosen);
  }
}

/// Of the matches from `first` on, see SaturationLimits::parts.
void Saturation::dropMergedParts(const RuleProgram &program,
                                 std::vector<Found> &found, size_t first) {
  auto sharedOf = [&](const Found &entry) {
    for (const PatternStep &step : program.steps)
      if (step.kind == PatternStep::Kind::Up)
        return graph.find(entry.ematch.values[step.value]);
    return noNode;
  };
  llvm::DenseMap<NodeId, llvm::DenseSet<NodeId>> parts;
  for (const Found &entry : llvm::ArrayRef(found).drop_front(first))
    parts[sharedOf(entry)].insert_range(entry.ematch.nodes);
  llvm::DenseSet<NodeId> taken = mergedParts;
  std::vector<Found> kept;
  for (Found &entry : llvm::MutableArrayRef(found).drop_front(first)) {
    ArrayRef<NodeId> nodes = entry.ematch.nodes;
    if (parts[sharedOf(entry)].size() > limits.parts) {
      if (llvm::any_of(nodes,
                       [&](NodeId node) { return taken.contains(node); }))
        continue;
      taken.insert_range(nodes);
    }
    kept.push_back(std::move(entry));
  }
  found.erase(found.begin() + first, found.end());
  std::move(kept.begin(), kept.end(), std::back_inserter(found));
}

/// Gathers what is new, up to a limit. Equations are solved once for all
/// rounds.
class Saturation::Finder : public EMatchVisitor {
public:
  Finder(Saturation &saturation, const RuleProgram &program, size_t limit,
         std::vector<Found> &found)
      : saturation(saturation), program(program), limit(limit), found(found),
        first(found.size()) {}

  bool wants(const EMatch &ematch) override {
    EMatchKey nodes = nodesOf(program, ematch);
    if (saturation.unsolvable.count(nodes))
      return false;
    // With a choice, there may be more to choose from than before.
    if (program.choice)
      return true;
    if (program.rule->splits.empty())
      return isNew(ematch);
    // All ways to split a part are ways to split the whole.
    if (llvm::any_of(ematch.nodes, [&](NodeId node) {
          return saturation.splitParts.count({&program, node});
        }))
      return false;
    auto solved = saturation.solutions.find(nodes);
    if (solved == saturation.solutions.end())
      return true;
    for (const EMatch &solution : solved->second)
      add(solution);
    return false;
  }
  void refuse(const EMatch &ematch) override {
    saturation.unsolvable.insert(nodesOf(program, ematch));
  }
  bool take(const EMatch &ematch) override {
    if (!program.choice && !program.rule->splits.empty())
      saturation.solutions[nodesOf(program, ematch)].push_back(ematch);
    saturation.choose(program, ematch,
                      [&](const EMatch &chosen) { add(chosen); });
    return !isTooOften();
  }
  bool isTooOften() const { return found.size() - first > limit; }

private:
  void add(const EMatch &ematch) {
    if (isNew(ematch))
      found.push_back({&program, ematch});
  }
  bool isNew(const EMatch &ematch) const {
    return !saturation.done.count(keyOf(program, ematch));
  }

  Saturation &saturation;
  const RuleProgram &program;
  size_t limit;
  std::vector<Found> &found;
  size_t first;
};

void Saturation::search(std::vector<Found> &found) {
  NodeIndex index(graph, /*withWeights=*/!limits.mergeWeights);
  for (auto [i, program] : llvm::enumerate(programs)) {
    if (pauses[i].until > iterations || isOutOfTime() ||
        (program->isMultiOutput() &&
         iterations >= limits.multiOutputIterations))
      continue;
    size_t before = found.size();
    Finder finder(*this, *program,
                  size_t(limits.matchesPerRule) << pauses[i].times, found);
    findEMatches(graph, index, *program, finder);
    const bool isTooOften = finder.isTooOften();
    if (program->isMultiOutput())
      dropMergedParts(*program, found, before);
    if (isTooOften) {
      found.erase(found.begin() + before, found.end());
      pauses[i].until =
          iterations + 1 + (limits.pauseIterations << pauses[i].times);
      ++pauses[i].times;
    }
  }
}

bool Saturation::isOutOfTime() const {
  std::chrono::duration<double> passed =
      std::chrono::steady_clock::now() - start;
  return passed.count() > limits.seconds;
}

StopReason Saturation::run(llvm::function_ref<bool()> isReached) {
  start = std::chrono::steady_clock::now();
  for (iterations = 0; iterations < limits.iterations; ++iterations) {
    if (isReached())
      return StopReason::Reached;
    std::vector<Found> found;
    search(found);
    bool isNew = false;
    SmallVector<NodeId> built;
    for (const Found &entry : found) {
      if (graph.numNodes() > limits.nodes || isOutOfTime())
        break;
      if (!done.count(keyOf(*entry.program, entry.ematch)))
        isNew |= apply(*entry.program, entry.ematch, limits.mergeWeights,
                       built) == Outcome::New;
    }
    graph.rebuild();
    if (isOutOfTime())
      return StopReason::TimeLimit;
    if (graph.numNodes() > limits.nodes)
      return isReached() ? StopReason::Reached : StopReason::NodeLimit;
    bool isPaused = llvm::any_of(
        pauses, [&](const Pause &pause) { return pause.until > iterations; });
    if (!isNew && !isPaused)
      return isReached() ? StopReason::Reached : StopReason::Saturated;
  }
  return isReached() ? StopReason::Reached : StopReason::IterationLimit;
}
