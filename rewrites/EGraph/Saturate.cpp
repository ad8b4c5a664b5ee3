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
  case StopReason::StepLimit:
    return "step-limit";
  }
  llvm_unreachable("unknown reason");
}

static unsigned deepest(ArrayRef<const RuleProgram *> programs) {
  unsigned depth = 0;
  for (const RuleProgram *program : programs)
    depth = std::max(depth, program->depth);
  return depth;
}

Saturation::Saturation(EGraph &graph, ArrayRef<const RuleProgram *> programs,
                       const SaturationLimits &limits)
    : graph(graph), programs(programs), limits(limits), pauses(programs.size()),
      stepsLeft(limits.steps) {}

/// Completes a match with values for the symbols that only the built side has,
/// once for each distinct set of values from other readers of the shared
/// argument.
void Saturation::choose(const RuleProgram &program, const EMatch &ematch,
                        llvm::function_ref<void(const EMatch &)> callback) {
  if (!program.choice) {
    callback(ematch);
    return;
  }
  const Choice &choice = *program.choice;
  NodeId shared = ematch.values[choice.shared];
  llvm::SmallVector<SmallVector<IntExpr, 2>, 4> tried;
  for (NodeId reader : graph.classOf(shared).parents) {
    const Operator &op = graph.operatorOf(reader);
    ArrayRef<NodeId> children = graph.children(reader);
    if (!op.name || *op.name != choice.name ||
        choice.sharedOperand >= children.size() ||
        !graph.areEqual(children[choice.sharedOperand], shared))
      continue;
    SmallVector<IntExpr, 2> sizes;
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
        sizes.push_back((*dims)[equation.dim]);
    }
    if (!fits || llvm::is_contained(tried, sizes))
      continue;
    tried.push_back(sizes);
    Bindings bindings = ematch.bindings(program);
    Equations equations(bindings);
    for (auto [equation, size] : llvm::zip(choice.equations, sizes))
      equations.add(equation.size, size);
    if (!equations.solve() || !equations.isSolved())
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

/// Drops matches from `first` on as SaturationLimits::parts says.
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

/// Collects new matches, up to a limit. Equations are solved once for all
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
  changes.update(graph);
  for (auto [i, program] : llvm::enumerate(programs)) {
    if (pauses[i].until > iterations || stepsLeft == 0 ||
        !isForRound(*program, iterations))
      continue;
    size_t before = found.size();
    Finder finder(*this, *program,
                  size_t(limits.matchesPerRule) << pauses[i].times, found);
    finder.stepsLeft = stepsLeft;
    // Parts that are connected by inputs can also be reached from above.
    const bool isAllNew =
        program->isMultiOutput() || isUpToDateIn[i] != iterations;
    findEMatches(graph, index, *program, finder, [&](NodeId root) {
      return isAllNew || changes.isNear(graph, root, program->depth,
                                        program->choice.has_value());
    });
    stepsLeft = finder.stepsLeft;
    const bool isTooOften = finder.isTooOften();
    if (program->isMultiOutput())
      dropMergedParts(*program, found, before);
    if (isTooOften) {
      found.erase(found.begin() + before, found.end());
      pauses[i].until =
          iterations + 1 + (limits.pauseIterations << pauses[i].times);
      ++pauses[i].times;
    } else {
      isUpToDateIn[i] = iterations + 1;
    }
  }
}

/// If nothing is new, the rounds until the first pause ends would find nothing
/// either, so this shortens all pauses by these rounds. False if no rule
/// pauses.
bool Saturation::endFirstPause() {
  const unsigned next = iterations + 1;
  std::optional<unsigned> first;
  for (auto [program, pause] : llvm::zip(programs, pauses))
    if (pause.until > iterations && isForRound(*program, next))
      first = std::min(first.value_or(pause.until), pause.until);
  for (Pause &pause : pauses)
    if (first && pause.until > iterations)
      pause.until -= std::min(pause.until, *first - next);
  return first.has_value();
}

bool Saturation::isForRound(const RuleProgram &program, unsigned round) const {
  return !program.isMultiOutput() || round < limits.multiOutputIterations;
}

StopReason Saturation::run(llvm::function_ref<bool()> isReached) {
  changes = Changes(deepest(programs));
  isUpToDateIn.assign(programs.size(), 0);
  for (iterations = 0; iterations < limits.iterations; ++iterations) {
    if (isReached())
      return StopReason::Reached;
    std::vector<Found> found;
    search(found);
    bool isNew = false;
    SmallVector<NodeId> built;
    for (const Found &entry : found) {
      if (graph.numNodes() > limits.nodes || stepsLeft == 0)
        break;
      --stepsLeft;
      if (!done.count(keyOf(*entry.program, entry.ematch)))
        isNew |= apply(*entry.program, entry.ematch, limits.mergeWeights,
                       built) == Outcome::New;
    }
    graph.rebuild();
    if (stepsLeft == 0)
      return isReached() ? StopReason::Reached : StopReason::StepLimit;
    if (graph.numNodes() > limits.nodes)
      return isReached() ? StopReason::Reached : StopReason::NodeLimit;
    if (!isNew && !endFirstPause())
      return isReached() ? StopReason::Reached : StopReason::Saturated;
  }
  return isReached() ? StopReason::Reached : StopReason::IterationLimit;
}
