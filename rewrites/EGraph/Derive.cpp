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
    if (use == Use::Equations || direction == RuleProgram::Direction::Forward)
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
  limits.mergeWeights = false;
  limits.matchesPerRule = 200;
  limits.steps = std::numeric_limits<uint64_t>::max();
  return limits;
}

/// Turns assumptions about single symbols into substitutions. Symbols are
/// non-negative integers: s >= 2 replaces s by s + 2; s = e replaces s by e.
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
    // Values found before may contain the symbol.
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

/// Adds a function over given arguments; nullopt if an operator is not well
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

/// Adds the arguments of a function; nullopt if a type has no named dims.
static std::optional<SmallVector<NodeId>>
addArguments(EGraph &graph, func::FuncOp function,
             const Assumptions &assumptions, const Bindings &bindings) {
  SmallVector<NodeId> arguments;
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    SmallVector<ElementPredicate> elements;
    for (const TensorAssumption &tensor : assumptions.tensors)
      if (tensor.argument == i)
        elements.push_back(tensor.predicate);
    Type substituted = substitute(type, bindings);
    if (!substituted)
      return std::nullopt;
    arguments.push_back(graph.addArgument(i, substituted, elements));
  }
  return arguments;
}

static void assume(Saturation &saturation, const Assumptions &assumptions,
                   const Bindings &bindings) {
  for (const Condition &condition : assumptions.integers)
    saturation.assume(condition, bindings);
  for (const RealAssumption &real : assumptions.reals)
    saturation.assume(real);
}

static bool areEqual(const EGraph &graph, ArrayRef<NodeId> left,
                     ArrayRef<NodeId> right) {
  return llvm::all_of(llvm::zip(left, right), [&](auto pair) {
    return graph.areEqual(std::get<0>(pair), std::get<1>(pair));
  });
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
  std::optional<SmallVector<NodeId>> arguments =
      addArguments(graph, before, assumptions, bindings);
  if (!arguments)
    return false;
  std::optional<SmallVector<NodeId>> left =
      addFunction(graph, before, bindings, *arguments);
  std::optional<SmallVector<NodeId>> right =
      addFunction(graph, after, bindings, *arguments);
  if (!left || !right)
    return false;
  graph.rebuild();
  Saturation saturation(graph, known.getPrograms(), limits);
  assume(saturation, assumptions, bindings);
  auto isReached = [&] { return areEqual(graph, *left, *right); };
  return saturation.run(isReached) == StopReason::Reached;
}

/// The rule's assumptions, plus that no symbol is 0 that is a factor of an
/// argument's size.
static Assumptions withSizes(Rule &rule) {
  Assumptions assumptions = rule.assumptions;
  MLIRContext *context = rule.def->getContext();
  for (Type type : rule.getBefore().getArgumentTypes()) {
    std::optional<SmallVector<IntExpr>> dims =
        getDims(cast<RankedTensorType>(type));
    for (IntExpr dim : dims.value_or(SmallVector<IntExpr>()))
      dim.walkSymbols([&](StringRef name) {
        IntExpr symbol = IntExpr::symbol(context, name);
        IntExpr without = dim.substitute([&](StringRef other) {
          return other == name ? IntExpr::constant(context, 0) : IntExpr();
        });
        if (without.isConstant(0))
          assumptions.integers.push_back(Condition::compare(
              symbol, ComparePredicate::GE, IntExpr::constant(context, 1)));
      });
  }
  return assumptions;
}

namespace {
/// Looks for the rule itself at its own place, after other rules have run.
struct OwnMatch : EMatchVisitor {
  OwnMatch(const EGraph &graph, Saturation &saturation,
           const RuleProgram &program, ArrayRef<NodeId> arguments,
           ArrayRef<NodeId> outputs)
      : graph(graph), saturation(saturation), program(program),
        arguments(arguments), outputs(outputs) {}

  bool take(const EMatch &ematch) override {
    SmallVector<NodeId> results, built;
    for (unsigned value : program.patternResults)
      results.push_back(ematch.resultNode(graph, program, value));
    if (!areEqual(graph, results, outputs) ||
        !areEqual(graph, arguments,
                  ArrayRef(ematch.values).take_front(arguments.size())))
      return true;
    Saturation::Outcome outcome =
        saturation.apply(program, ematch, /*mergeWeights=*/true, built);
    isKnown = outcome == Saturation::Outcome::Known ||
              outcome == Saturation::Outcome::Alike;
    return false;
  }

  const EGraph &graph;
  Saturation &saturation;
  const RuleProgram &program;
  ArrayRef<NodeId> arguments, outputs;
  bool isKnown = false;
};
} // namespace

bool mlc::isRedundant(const Rule &rule, const KnownRules &known,
                      SaturationLimits limits) {
  Rule copy = rule;
  std::unique_ptr<RuleProgram> program = RuleProgram::compile(copy);
  if (!program || program->choice)
    return false;
  limits.mergeWeights = true;
  func::FuncOp before = copy.getBefore();
  EGraph graph(before.getContext());
  const Assumptions assumptions = withSizes(copy);
  // Sizes stay single symbols: a product is divided by its factors.
  Bindings bindings;
  std::optional<SmallVector<NodeId>> arguments =
      addArguments(graph, before, assumptions, bindings);
  if (!arguments)
    return false;
  std::optional<SmallVector<NodeId>> outputs =
      addFunction(graph, before, bindings, *arguments);
  if (!outputs)
    return false;
  graph.rebuild();
  Saturation saturation(graph, known.getPrograms(), limits);
  assume(saturation, assumptions, bindings);
  saturation.run();
  OwnMatch own(graph, saturation, *program, *arguments, *outputs);
  findEMatches(graph, NodeIndex(graph, /*withWeights=*/true), *program, own);
  return own.isKnown;
}
