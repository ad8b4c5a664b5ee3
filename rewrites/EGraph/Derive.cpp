//===- Derive.cpp - Does a rule follow from others? -----------------------===//

#include "rewrites/EGraph/Derive.h"

using namespace mlir;
using namespace mlc;
using namespace mlc::egraph;
using llvm::SmallVector;
using llvm::StringRef;

void KnownRules::add(const Rule &rule) {
  rules.push_back(rule);
  for (auto direction :
       {RuleProgram::Direction::Forward, RuleProgram::Direction::Backward})
    if (auto program = RuleProgram::compile(rules.back(), direction)) {
      programs.push_back(program.get());
      owned.push_back(std::move(program));
    }
}

SaturationLimits mlc::derivationLimits() {
  SaturationLimits limits;
  limits.nodes = 2000;
  limits.iterations = 6;
  limits.multiOutputIterations = 6;
  limits.placementsPerRule = 200;
  limits.seconds = std::numeric_limits<double>::infinity();
  return limits;
}

/// What the assumptions say of single symbols, put into the symbols
/// themselves, which stand for non-negative integers: where s >= 2, s + 2
/// stands for s; where s = e, e does.
static Bindings substitutionOf(const Assumptions &assumptions) {
  Bindings bindings;
  for (const Condition &condition : assumptions.integers) {
    if (condition.getKind() != Condition::Kind::Compare ||
        condition.getLhs().getKind() != IntExpr::Kind::Symbol)
      continue;
    StringRef symbol = condition.getLhs().getSymbol();
    IntExpr rhs = bindings.substitute(condition.getRhs());
    bool isCircular = false;
    rhs.walkSymbols([&](StringRef name) { isCircular |= name == symbol; });
    if (isCircular || bindings.integers.count(symbol))
      continue;
    ComparePredicate predicate = condition.getPredicate();
    IntExpr value;
    if (predicate == ComparePredicate::EQ)
      value = rhs;
    else if (predicate == ComparePredicate::GE && rhs.isConstant())
      value = condition.getLhs() + rhs;
    else if (predicate == ComparePredicate::GT && rhs.isConstant())
      value = condition.getLhs() + rhs + 1;
    else
      continue;
    // Values found before may speak of the symbol.
    for (auto &entry : bindings.integers)
      entry.second = entry.second.substitute(
          [&](StringRef name) { return name == symbol ? value : IntExpr(); });
    bindings.integers[symbol] = value;
  }
  return bindings;
}

/// The type with values put in for symbols; null when it has no named dims.
static Type substitute(Type type, const Bindings &bindings) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  std::optional<SmallVector<IntExpr>> dims;
  if (tensor)
    dims = getDims(tensor);
  if (!dims)
    return {};
  for (IntExpr &dim : *dims)
    dim = bindings.substitute(dim);
  return getTensorType(*dims, tensor.getElementType());
}

/// Adds a function over given arguments; nothing when an operator is not well
/// formed under the assumptions.
static std::optional<SmallVector<NodeId>>
addFunction(EGraph &graph, func::FuncOp function, const Bindings &bindings,
            ArrayRef<NodeId> arguments) {
  Block &block = function.getBody().front();
  llvm::DenseMap<Value, NodeId> nodes;
  for (auto [value, node] : llvm::zip(block.getArguments(), arguments))
    nodes[value] = node;
  for (Operation &op : block.without_terminator()) {
    SmallVector<NodeId> children;
    SmallVector<Type> types;
    for (Value operand : op.getOperands()) {
      children.push_back(nodes.lookup(operand));
      types.push_back(graph.classOf(children.back()).type);
    }
    SmallVector<NamedAttribute> attributes;
    for (NamedAttribute attribute : op.getAttrs())
      attributes.push_back(
          {attribute.getName(), bindings.substitute(attribute.getValue())});
    OperatorId id = graph.operators.compute(
        op.getName(), DictionaryAttr::get(op.getContext(), attributes),
        op.getNumResults());
    if (op.getNumResults() == 0 || !graph.operators.prototype(id, types))
      return std::nullopt;
    NodeId node = graph.add(id, children, noApplication);
    for (OpResult result : op.getResults())
      nodes[result] = graph.resultOf(node, result.getResultNumber());
  }
  SmallVector<NodeId> outputs;
  for (Value output : block.getTerminator()->getOperands())
    outputs.push_back(nodes.lookup(output));
  return outputs;
}

bool mlc::provesBySaturation(func::FuncOp before, func::FuncOp after,
                             const Assumptions &assumptions,
                             const KnownRules &known,
                             const SaturationLimits &limits) {
  if (!llvm::equal(before.getArgumentTypes(), after.getArgumentTypes()) ||
      before.getNumResults() != after.getNumResults())
    return false;
  EGraph graph(before.getContext());
  Bindings bindings = substitutionOf(assumptions);
  SmallVector<NodeId> arguments;
  for (auto [i, type] : llvm::enumerate(before.getArgumentTypes())) {
    SmallVector<ElementPredicate> elements;
    for (const TensorAssumption &tensor : assumptions.tensors)
      if (tensor.argument == i)
        elements.push_back(tensor.predicate);
    Type substituted = substitute(type, bindings);
    if (!substituted)
      return false;
    arguments.push_back(graph.addArgument(i, substituted, elements));
  }
  std::optional<SmallVector<NodeId>> left =
      addFunction(graph, before, bindings, arguments);
  std::optional<SmallVector<NodeId>> right =
      addFunction(graph, after, bindings, arguments);
  if (!left || !right)
    return false;
  graph.rebuild();
  Saturation saturation(graph, known.getPrograms(), limits);
  for (const Condition &condition : assumptions.integers)
    saturation.assume(condition, bindings);
  for (const RealAssumption &real : assumptions.reals)
    saturation.assume(real);
  auto isReached = [&] {
    return llvm::all_of(llvm::zip(*left, *right), [&](auto pair) {
      return graph.areEqual(std::get<0>(pair), std::get<1>(pair));
    });
  };
  return saturation.run(isReached) == StopReason::Reached;
}
