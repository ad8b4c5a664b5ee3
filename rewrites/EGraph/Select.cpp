//===- Select.cpp - The best function of an e-graph -----------------------===//

#include "rewrites/EGraph/Select.h"
#include "dialects/Definition/OpInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlc;
using namespace mlc::egraph;
using llvm::ArrayRef;
using llvm::SmallVector;

//===----------------------------------------------------------------------===//
// Reading a function
//===----------------------------------------------------------------------===//

bool FunctionNodes::canRead(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return false;
  return llvm::all_of(
      function.getBody().front().without_terminator(), [](Operation &op) {
        return op.getNumRegions() == 0 && op.getNumResults() > 0 &&
               op.getNumSuccessors() == 0 && isMemoryEffectFree(&op);
      });
}

FunctionNodes FunctionNodes::read(func::FuncOp function, EGraph &graph) {
  FunctionNodes result;
  llvm::DenseMap<Value, NodeId> nodeOf;
  for (BlockArgument argument : function.getBody().getArguments()) {
    result.arguments.push_back(
        graph.addArgument(argument.getArgNumber(), argument.getType()));
    nodeOf[argument] = result.arguments.back();
  }
  Block &block = function.getBody().front();
  for (Operation &op : block.without_terminator()) {
    SmallVector<NodeId> children;
    for (Value operand : op.getOperands())
      children.push_back(nodeOf.lookup(operand));
    NodeId node = graph.add(graph.operators.add(&op), children, noApplication);
    result.operators.push_back(node);
    result.operations.push_back(&op);
    for (OpResult value : op.getResults())
      nodeOf[value] = graph.resultOf(node, value.getResultNumber());
  }
  for (Value output : block.getTerminator()->getOperands())
    result.outputs.push_back(nodeOf.lookup(output));
  graph.rebuild();
  return result;
}

//===----------------------------------------------------------------------===//
// Choosing
//===----------------------------------------------------------------------===//

OperandFacts Selector::factsOf(NodeId node) {
  OperandFacts facts;
  facts.resultsAreCompileTime =
      graph.operatorOf(node).kind != Operator::Kind::Compute ||
      graph.classOf(node).isCompileTime();
  for (auto [i, child] : llvm::enumerate(graph.children(node))) {
    const ClassData &data = graph.classOf(child);
    facts.isFed |= data.isProduced && !data.isCompileTime();
    facts.hasConstantWeights &= i == 0 || data.isCompileTime();
  }
  facts.isCut = isCut(node);
  facts.siblings = siblingsOf(node);
  return facts;
}

unsigned Selector::siblingsOf(NodeId node) {
  ArrayRef<NodeId> children = graph.children(node);
  if (graph.operatorOf(node).kind != Operator::Kind::Compute ||
      children.empty() || graph.classOf(children[0]).isCompileTime())
    return 1;
  Operation *own = graph.prototypeOf(node);
  llvm::SmallDenseSet<NodeId, 4> classes;
  classes.insert(graph.find(node));
  NodeId shared = graph.find(children[0]);
  for (NodeId parent : graph.classOf(shared).parents)
    if (graph.operatorOf(parent).kind == Operator::Kind::Compute &&
        graph.find(graph.children(parent)[0]) == shared &&
        CostModel::areAlike(graph.prototypeOf(parent), own))
      classes.insert(graph.find(parent));
  return unsigned(classes.size());
}

bool Selector::isCut(NodeId node) {
  // A class may be a reshape of itself.
  llvm::SmallSetVector<NodeId, 4> classes;
  classes.insert(graph.find(node));
  for (size_t i = 0; i < classes.size(); ++i)
    for (NodeId parent : graph.classOf(classes[i]).parents) {
      if (graph.operatorOf(parent).kind != Operator::Kind::Compute)
        continue;
      Operation *reader = graph.prototypeOf(parent);
      if (cost.readsPart(reader))
        return true;
      if (cost.isReinterpretation(reader))
        classes.insert(graph.find(parent));
    }
  return false;
}

double Selector::secondsOf(NodeId node) {
  OperandFacts facts = factsOf(node);
  return facts.resultsAreCompileTime
             ? 0
             : cost.seconds(graph.prototypeOf(node), facts);
}

/// Breaks ties between selections of equal cost, so that the cheapest is the
/// same in every run. From 0 to 1, higher for younger nodes, so that steps
/// without gain are not taken; sums of these values differ.
static double tieBreak(NodeId node, size_t numNodes) {
  uint64_t mixed = (node + 1) * 0x9e3779b97f4a7c15ull;
  mixed ^= mixed >> 32;
  mixed *= 0xbf58476d1ce4e5b9ull;
  double jitter = static_cast<double>(mixed >> 11) * 0x1p-53;
  return (jitter + 7 * static_cast<double>(node) / numNodes) / 8;
}

/// The weight of the effort relative to the seconds. It decides only between
/// selections of equal time.
constexpr double effortShare = 2e-7;
/// How many rounds ban nodes with unread parts before the search gives up.
constexpr int maxBanningRounds = 8;

double Selector::priceOf(NodeId node) {
  OperandFacts facts = factsOf(node);
  if (facts.resultsAreCompileTime)
    return 0;
  Operation *op = graph.prototypeOf(node);
  return cost.seconds(op, facts) + effortShare * cost.effort(op, facts);
}

double Selector::secondsOf(ArrayRef<NodeId> nodes) {
  double total = 0;
  for (NodeId node : nodes)
    total += secondsOf(node);
  return total;
}

/// The problem of the reachable classes that are not known at compile time:
/// known values cost nothing, however they are computed.
Selector::Problem Selector::makeProblem(ArrayRef<NodeId> outputs,
                                        double tieSeconds) {
  Problem made;
  auto numberOf = [&](NodeId node) {
    NodeId representative = graph.find(node);
    auto [it, isNew] = made.classNumbers.try_emplace(representative);
    if (isNew) {
      it->second = made.problem.addClass();
      made.classes.push_back(representative);
    }
    return it->second;
  };
  llvm::DenseMap<NodeId, SmallVector<NodeId>> refinements;
  for (const EGraph::Refinement &one : graph.getRefinements())
    if (!graph.areEqual(one.from, one.to))
      refinements[graph.find(one.from)].push_back(one.to);
  for (NodeId output : outputs)
    if (!graph.classOf(output).isCompileTime())
      made.problem.roots.push_back(numberOf(output));
  for (unsigned i = 0; i < made.classes.size(); ++i) {
    NodeId representative = made.classes[i];
    for (NodeId node : graph.classOf(representative).nodes) {
      SmallVector<unsigned> children;
      bool readsItself = false;
      for (NodeId child : graph.children(node)) {
        readsItself |= graph.areEqual(child, representative);
        if (!graph.classOf(child).isCompileTime())
          children.push_back(numberOf(child));
      }
      if (readsItself || banned.contains(node))
        continue;
      made.problem.addNode(
          i, priceOf(node) + tieSeconds * tieBreak(node, graph.numNodes()),
          children);
      made.nodes.push_back(node);
    }
    for (NodeId node : refinements.lookup(representative)) {
      SmallVector<unsigned> children;
      if (!graph.classOf(node).isCompileTime())
        children.push_back(numberOf(node));
      made.problem.addNode(i, tieSeconds * tieBreak(node, graph.numNodes()),
                           children);
      made.nodes.push_back(node);
    }
  }
  return made;
}

/// For classes known at compile time: the smallest expression.
void Selector::chooseCompileTime() {
  llvm::DenseMap<NodeId, double> size;
  for (bool isChanged = true; isChanged;) {
    isChanged = false;
    for (NodeId node = 0; node < graph.numNodes(); ++node) {
      const ClassData &data = graph.classOf(node);
      if (!data.isCompileTime() || !llvm::is_contained(data.nodes, node))
        continue;
      double total = 1;
      bool isKnown = graph.operatorOf(node).kind != Operator::Kind::Argument ||
                     data.compileTime == node;
      for (NodeId child : graph.children(node)) {
        auto it = size.find(graph.find(child));
        isKnown &= it != size.end();
        total += it == size.end() ? 0 : it->second;
      }
      if (!isKnown)
        continue;
      auto [it, isNew] = size.try_emplace(graph.find(node), total);
      if (!isNew && it->second <= total)
        continue;
      it->second = total;
      choice[graph.find(node)] = node;
      isChanged = true;
    }
  }
}

/// The chosen nodes that the outputs need, operands first.
std::vector<ChosenNode> Selector::order(ArrayRef<NodeId> outputs,
                                        std::vector<NodeId> &outputNodes) {
  std::vector<ChosenNode> chosen;
  llvm::DenseMap<NodeId, NodeId> valueOf; // by class: what is read
  SmallVector<NodeId> stack;
  auto visit = [&](NodeId node) {
    stack.push_back(graph.find(node));
    while (!stack.empty()) {
      NodeId top = stack.back();
      if (valueOf.count(top)) {
        stack.pop_back();
        continue;
      }
      NodeId made = choice.lookup(top);
      if (NodeId refined = graph.find(made); refined != top) {
        if (!valueOf.count(refined)) {
          stack.push_back(refined);
          continue;
        }
        stack.pop_back();
        valueOf[top] = valueOf.lookup(refined);
        continue;
      }
      size_t height = stack.size();
      for (NodeId child : llvm::reverse(graph.children(made)))
        if (!valueOf.count(graph.find(child)))
          stack.push_back(graph.find(child));
      if (stack.size() != height)
        continue;
      stack.pop_back();
      const Operator &op = graph.operatorOf(made);
      valueOf[top] = made;
      if (op.kind == Operator::Kind::Projection) {
        NodeId tuple = valueOf.lookup(graph.find(graph.children(made)[0]));
        valueOf[top] = graph.resultOf(tuple, op.index);
      }
      if (op.kind != Operator::Kind::Compute)
        continue;
      ChosenNode entry{made, {}};
      for (NodeId child : graph.children(made))
        entry.operands.push_back(valueOf.lookup(graph.find(child)));
      chosen.push_back(std::move(entry));
    }
  };
  for (NodeId output : outputs) {
    visit(output);
    outputNodes.push_back(valueOf.lookup(graph.find(output)));
  }
  return chosen;
}

/// The selection given by a graph's operators.
Extraction Selector::startFrom(const Problem &made, ArrayRef<NodeId> known) {
  llvm::DenseMap<NodeId, unsigned> numbers;
  for (auto [i, node] : llvm::enumerate(made.nodes))
    if (!isRefinement(made, i))
      numbers[node] = i;
  Extraction start;
  start.chosen.assign(made.classes.size(), -1);
  auto choose = [&](NodeId node) {
    // One congruent node represents all others.
    auto it = numbers.find(graph.lookup(graph[node].op, graph.children(node)));
    auto eclass = made.classNumbers.find(graph.find(node));
    if (it != numbers.end() && eclass != made.classNumbers.end() &&
        start.chosen[eclass->second] < 0)
      start.chosen[eclass->second] = it->second;
  };
  for (NodeId node : known) {
    choose(node);
    for (unsigned i = 0; graph.operatorOf(node).isTuple() &&
                         i < graph.operatorOf(node).numResults;
         ++i)
      choose(graph.resultOf(node, i));
  }
  // Arguments represent themselves.
  for (auto [i, node] : llvm::enumerate(made.nodes))
    if (graph.operatorOf(node).kind == Operator::Kind::Argument &&
        !isRefinement(made, i))
      start.chosen[made.problem.nodes[i].eclass] = i;
  // Classes without a node of the graph are computed by a refinement.
  for (size_t i = 0; i < made.nodes.size(); ++i)
    if (int &chosen = start.chosen[made.problem.nodes[i].eclass];
        chosen < 0 && isRefinement(made, i))
      chosen = i;
  start.cost = selectionCost(made.problem, start.chosen);
  return start;
}

Selection Selector::select(ArrayRef<NodeId> outputs,
                           ArrayRef<std::vector<NodeId>> known,
                           ExtractionEffort &effort) {
  banned.clear();
  Selection selection = selectOnce(outputs, known, &effort);
  double lowerBound = selection.lowerBound;
  // Drop nodes with unread results: merged results have only parts that are
  // read, even if a target would compute more in the same time.
  for (int round = 0;; ++round) {
    std::vector<NodeId> unread = findUnread(selection, known.front());
    if (unread.empty())
      break;
    banned.insert(unread.begin(), unread.end());
    if (round < maxBanningRounds) {
      selection = selectOnce(outputs, known.take_front(1), &effort);
    } else {
      banned.clear();
      selection = selectOnce(outputs, known.take_front(1), nullptr);
    }
    // Another selection might read the banned nodes whole, so the first bound
    // holds.
    selection.lowerBound = lowerBound;
    selection.isOptimal &=
        selection.seconds <= lowerBound * (1 + 3 * effortShare);
    if (round == maxBanningRounds)
      break;
  }
  return selection;
}

Selection Selector::selectOnce(ArrayRef<NodeId> outputs,
                               ArrayRef<std::vector<NodeId>> known,
                               ExtractionEffort *effort) {
  double cheapest = std::numeric_limits<double>::infinity();
  for (const std::vector<NodeId> &operators : known)
    cheapest = std::min(cheapest, secondsOf(operators));
  // Far below any cost; see the lower bound.
  const double tieSeconds = cheapest * 1e-9;
  Problem made = makeProblem(outputs, tieSeconds);
  Extraction start =
      effort ? extractGreedy(made.problem) : startFrom(made, known.front());
  for (const std::vector<NodeId> &operators : known)
    if (Extraction other = startFrom(made, operators); other.cost < start.cost)
      start = std::move(other);
  Extraction extraction =
      effort ? extractExact(made.problem, start, *effort) : start;
  choice.clear();
  for (auto [i, node] : llvm::enumerate(extraction.chosen))
    if (node >= 0)
      choice[made.classes[i]] = made.nodes[node];
  chooseCompileTime();
  Selection selection;
  selection.chosen = order(outputs, selection.outputs);
  for (const ChosenNode &entry : selection.chosen)
    selection.seconds += secondsOf(entry.node);
  // At most one node of each class pays for ties, and no effort is more than
  // twice the seconds.
  selection.lowerBound =
      std::max(0.0, extraction.lowerBound - tieSeconds * made.classes.size()) /
      (1 + 2 * effortShare);
  selection.isOptimal = extraction.optimal;
  return selection;
}

//===----------------------------------------------------------------------===//
// Rebuilding the function
//===----------------------------------------------------------------------===//

namespace {

class Rebuilder {
public:
  Rebuilder(func::FuncOp function, const FunctionNodes &origin,
            const EGraph &graph, const Saturation &saturation)
      : block(function.getBody().front()), graph(graph),
        applications(saturation.getApplications()) {
    for (auto [node, argument] :
         llvm::zip(origin.arguments, block.getArguments()))
      values[node] = argument;
    for (auto [node, op] : llvm::zip(origin.operators, origin.operations))
      operations[node] = op;
  }

  LogicalResult run(const Selection &selection) {
    OpBuilder builder(block.getTerminator());
    llvm::DenseSet<Operation *> kept;
    for (const ChosenNode &entry : selection.chosen) {
      SmallVector<Value> operands;
      for (NodeId operand : entry.operands)
        operands.push_back(values.lookup(operand));
      Operation *op = operations.lookup(entry.node);
      if (op) {
        op->setOperands(operands);
        op->moveBefore(block.getTerminator());
      } else {
        const Operator &made = graph.operatorOf(entry.node);
        FailureOr<Operation *> created =
            createOp(builder, locationOf(entry.node), made.name->getStringRef(),
                     operands, made.attributes.getValue(), made.numResults);
        if (failed(created))
          return failure();
        op = *created;
      }
      kept.insert(op);
      for (OpResult result : op->getResults())
        values[graph.resultOf(entry.node, result.getResultNumber())] = result;
    }
    for (auto [i, output] : llvm::enumerate(selection.outputs))
      block.getTerminator()->setOperand(i, values.lookup(output));
    SmallVector<Operation *> dead;
    for (Operation &op : block.without_terminator())
      if (!kept.contains(&op))
        dead.push_back(&op);
    for (Operation *op : dead)
      op->dropAllUses();
    for (Operation *op : dead)
      op->erase();
    return success();
  }

private:
  /// The location of an operator; one that a rule made gets those of the
  /// operators it replaces.
  Location locationOf(NodeId node) {
    auto it = locations.find(node);
    if (it != locations.end())
      return it->second;
    Location loc = UnknownLoc::get(block.getTerminator()->getContext());
    if (Operation *op = operations.lookup(node)) {
      loc = op->getLoc();
    } else if (ApplicationId maker = graph[node].maker;
               maker != noApplication) {
      SmallVector<Location> parts;
      for (NodeId part : applications[maker].ematch.nodes)
        parts.push_back(locationOf(part));
      loc = FusedLoc::get(loc.getContext(), parts);
    }
    locations.try_emplace(node, loc);
    return loc;
  }

  Block &block;
  const EGraph &graph;
  const std::vector<Application> &applications;
  llvm::DenseMap<NodeId, Value> values;
  llvm::DenseMap<NodeId, Operation *> operations;
  llvm::DenseMap<NodeId, Location> locations;
};

} // namespace

LogicalResult mlc::egraph::rebuildFunction(func::FuncOp function,
                                           const FunctionNodes &origin,
                                           const EGraph &graph,
                                           const Saturation &saturation,
                                           const Selection &selection) {
  return Rebuilder(function, origin, graph, saturation).run(selection);
}
