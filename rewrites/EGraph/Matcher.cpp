//===- Matcher.cpp - Matches of a rule in an e-graph ----------------------===//

#include "rewrites/EGraph/Matcher.h"

using namespace mlir;
using namespace mlc;
using namespace mlc::egraph;
using llvm::ArrayRef;
using llvm::SmallVector;

Bindings EMatch::bindings(const RuleProgram &program) const {
  Bindings bindings;
  for (auto [name, value] : llvm::zip(program.integers, integers))
    if (value)
      bindings.integers[name] = value;
  for (auto [name, value] : llvm::zip(program.reals, reals))
    if (value)
      bindings.reals[name] = value;
  return bindings;
}

NodeId EMatch::resultNode(const EGraph &graph, const RuleProgram &program,
                          unsigned value) const {
  if (value < program.arguments.size())
    return values[value];
  auto [op, result] = program.giverOf(value);
  return graph.resultOf(nodes[op], result);
}

NodeIndex::NodeIndex(const EGraph &graph, bool withWeights) {
  for (NodeId node = 0; node < graph.numNodes(); ++node)
    if (graph.find(node) == node &&
        (withWeights || !graph.classOf(node).isCompileTime()))
      for (NodeId member : graph.classOf(node).nodes)
        if (const Operator &op = graph.operatorOf(member); op.name)
          byName[op.name->getAsOpaquePointer()].push_back(member);
  // Sort by age, across classes.
  for (auto &entry : byName)
    llvm::sort(entry.second);
}

ArrayRef<NodeId> NodeIndex::operator[](OperationName name) const {
  auto it = byName.find(name.getAsOpaquePointer());
  return it == byName.end() ? ArrayRef<NodeId>() : ArrayRef(it->second);
}

namespace {

/// Backtracking over the steps of a program.
class Matcher {
public:
  Matcher(const EGraph &graph, const NodeIndex &index,
          const RuleProgram &program, EMatchVisitor &visitor,
          llvm::function_ref<bool(NodeId)> isRoot)
      : graph(graph), index(index), program(program), visitor(visitor),
        isRoot(isRoot) {
    state.ematch.nodes.assign(program.pattern.size(), noNode);
    state.ematch.values.assign(program.numValues, noNode);
    state.ematch.integers.assign(program.integers.size(), IntExpr());
    state.ematch.reals.assign(program.reals.size(), RealAttr());
  }

  void run() { takeStep(0); }

private:
  /// The partial match. It grows and shrinks by the bindings of one operator,
  /// so a node that does not fit (most do not) costs only the bindings made
  /// before the mismatch.
  struct State {
    EMatch ematch;
    /// Unsolved equations: the rule's expression and the graph's.
    SmallVector<std::pair<IntExpr, IntExpr>, 4> equations;
    /// Slots of the ematch, in the order in which they were bound.
    SmallVector<unsigned, 8> boundValues, boundIntegers, boundReals;
  };
  struct Mark {
    size_t equations, values, integers, reals;
  };

  Mark mark() const {
    return {state.equations.size(), state.boundValues.size(),
            state.boundIntegers.size(), state.boundReals.size()};
  }

  /// Undoes the bindings made since the mark.
  void unbind(const Mark &mark) {
    auto takeBack = [](auto &slots, SmallVectorImpl<unsigned> &bound,
                       size_t size, auto unbound) {
      while (bound.size() > size)
        slots[bound.pop_back_val()] = unbound;
    };
    state.equations.truncate(mark.equations);
    takeBack(state.ematch.values, state.boundValues, mark.values, noNode);
    takeBack(state.ematch.integers, state.boundIntegers, mark.integers,
             IntExpr());
    takeBack(state.ematch.reals, state.boundReals, mark.reals, RealAttr());
  }

  void takeStep(unsigned number) {
    if (isDone)
      return;
    if (number == program.steps.size()) {
      finish();
      return;
    }
    const PatternStep &step = program.steps[number];
    switch (step.kind) {
    case PatternStep::Kind::Root:
      for (NodeId node : index[program.pattern[step.op].name])
        if (isRoot(node))
          tryNode(number, node);
      return;
    case PatternStep::Kind::Down:
      goDown(number);
      return;
    case PatternStep::Kind::Up:
      goUp(number);
      return;
    }
  }

  void goUp(unsigned number) {
    const PatternStep &step = program.steps[number];
    NodeId shared = state.ematch.values[step.value];
    for (NodeId parent : graph.classOf(shared).parents) {
      ArrayRef<NodeId> children = graph.children(parent);
      if (step.operand < children.size() &&
          graph.areEqual(children[step.operand], shared))
        tryNode(number, parent);
    }
  }

  void goDown(unsigned number) {
    const PatternStep &step = program.steps[number];
    const PatternOp &wanted = program.pattern[step.op];
    for (NodeId node : graph.classOf(state.ematch.values[step.value]).nodes) {
      if (wanted.numResults == 1) {
        tryNode(number, node);
        continue;
      }
      // A projection is between the value and the operator.
      const Operator &op = graph.operatorOf(node);
      if (op.kind == Operator::Kind::Projection &&
          op.index == step.value - wanted.firstResult)
        for (NodeId tuple : graph.classOf(graph.children(node)[0]).nodes)
          tryNode(number, tuple);
    }
  }

  /// Matches the operator of step `number` to `node` and continues.
  void tryNode(unsigned number, NodeId node) {
    isDone |= visitor.stepsLeft == 0;
    if (isDone)
      return;
    --visitor.stepsLeft;
    const PatternStep &step = program.steps[number];
    const PatternOp &wanted = program.pattern[step.op];
    const Operator &op = graph.operatorOf(node);
    if (!op.name || *op.name != wanted.name ||
        op.numResults != wanted.numResults ||
        graph.children(node).size() != wanted.operands.size())
      return;
    // Parts of a multi-output rule are different operators.
    if (step.kind == PatternStep::Kind::Up &&
        llvm::is_contained(state.ematch.nodes, node))
      return;
    const Mark before = mark();
    if (matchNode(wanted, node, op)) {
      state.ematch.nodes[step.op] = node;
      takeStep(number + 1);
      state.ematch.nodes[step.op] = noNode;
    }
    unbind(before);
  }

  bool matchNode(const PatternOp &wanted, NodeId node, const Operator &op) {
    for (const AttributePattern &attribute : wanted.attributes)
      if (!matchAttribute(attribute, op.attributes.get(attribute.name)))
        return false;
    for (unsigned i = 0; i < wanted.numResults; ++i)
      if (!matchValue(wanted.firstResult + i, graph.resultOf(node, i)))
        return false;
    for (auto [operand, child] :
         llvm::zip(wanted.operands, graph.children(node)))
      if (!matchValue(operand, child))
        return false;
    return true;
  }

  bool matchValue(unsigned value, NodeId node) {
    NodeId &known = state.ematch.values[value];
    if (known != noNode)
      return graph.areEqual(known, node);
    known = node;
    state.boundValues.push_back(value);
    if (value >= program.arguments.size())
      return true;
    const ArgumentPattern &argument = program.arguments[value];
    auto type = dyn_cast_or_null<RankedTensorType>(graph.classOf(node).type);
    if (!type || type.getElementType() != argument.elementType ||
        type.getRank() != static_cast<int64_t>(argument.dims.size()))
      return false;
    std::optional<SmallVector<IntExpr>> dims = getDims(type);
    return dims && matchIntegers(argument.dims, *dims);
  }

  bool matchIntegers(ArrayRef<IntPattern> wanted, ArrayRef<IntExpr> actual) {
    for (auto [pattern, value] : llvm::zip(wanted, actual))
      if (!matchInteger(pattern, value))
        return false;
    return true;
  }

  /// Decides the equations that need no solver.
  bool matchInteger(const IntPattern &pattern, IntExpr value) {
    if (pattern.symbol >= 0) {
      IntExpr &bound = state.ematch.integers[pattern.symbol];
      if (bound)
        return bound == value;
      bound = value;
      state.boundIntegers.push_back(pattern.symbol);
      return value.isKnownNonNegative();
    }
    if (pattern.expr.isConstant())
      return pattern.expr == value;
    state.equations.push_back({pattern.expr, value});
    return true;
  }

  bool matchAttribute(const AttributePattern &wanted, Attribute actual) {
    if (!actual)
      return false;
    switch (wanted.kind) {
    case AttributePattern::Kind::Exact:
      return wanted.value == actual;
    case AttributePattern::Kind::Integer: {
      auto expr = dyn_cast<IntExpr>(actual);
      return expr && matchInteger(wanted.values[0], expr);
    }
    case AttributePattern::Kind::Dims: {
      auto dims = dyn_cast<DimsAttr>(actual);
      return dims && dims.size() == wanted.values.size() &&
             matchIntegers(wanted.values, dims.getDims());
    }
    case AttributePattern::Kind::Real: {
      auto real = dyn_cast<RealAttr>(actual);
      RealAttr &bound = state.ematch.reals[wanted.real];
      if (real && !bound) {
        bound = real;
        state.boundReals.push_back(wanted.real);
      }
      return real && bound == real;
    }
    }
    llvm_unreachable("unknown kind of attribute");
  }

  void finish() {
    if (!visitor.wants(state.ematch))
      return;
    if (state.equations.empty()) {
      isDone = !visitor.take(state.ematch);
      return;
    }
    Bindings bindings = state.ematch.bindings(program);
    Equations equations(bindings);
    for (auto [pattern, actual] : state.equations)
      equations.add(pattern, actual);
    bool isSolvable = false;
    equations.forEachSolution(
        program.rule->splits, [&](const Bindings &solution) {
          isSolvable = true;
          if (isDone)
            return;
          EMatch solved = state.ematch;
          for (auto [slot, name] : llvm::enumerate(program.integers))
            if (IntExpr value = solution.integers.lookup(name))
              solved.integers[slot] = value;
          isDone = !visitor.take(solved);
        });
    if (!isSolvable)
      visitor.refuse(state.ematch);
  }

  const EGraph &graph;
  const NodeIndex &index;
  const RuleProgram &program;
  EMatchVisitor &visitor;
  llvm::function_ref<bool(NodeId)> isRoot;
  State state;
  bool isDone = false;
};

} // namespace

void mlc::egraph::findEMatches(const EGraph &graph, const NodeIndex &index,
                               const RuleProgram &program,
                               EMatchVisitor &visitor,
                               llvm::function_ref<bool(NodeId)> isRoot) {
  Matcher(graph, index, program, visitor, isRoot).run();
}
