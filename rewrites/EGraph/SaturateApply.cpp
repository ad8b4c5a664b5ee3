//===- SaturateApply.cpp - Applying one rule at one place -----------------===//

#include "rewrites/EGraph/Saturate.h"

using namespace mlir;
using namespace mlc;
using namespace mlc::egraph;
using llvm::ArrayRef;
using llvm::SmallVector;

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

static Condition substitute(const Condition &condition,
                            const Bindings &bindings) {
  std::vector<Condition> parts;
  for (const Condition &part : condition.getParts())
    parts.push_back(substitute(part, bindings));
  switch (condition.getKind()) {
  case Condition::Kind::Compare:
    return Condition::compare(bindings.substitute(condition.getLhs()),
                              condition.getPredicate(),
                              bindings.substitute(condition.getRhs()));
  case Condition::Kind::Divides:
    return Condition::divides(bindings.substitute(condition.getLhs()),
                              bindings.substitute(condition.getRhs()));
  case Condition::Kind::AllOf:
    return Condition::allOf(std::move(parts));
  case Condition::Kind::AnyOf:
    return Condition::anyOf(std::move(parts));
  case Condition::Kind::Not:
    return Condition::negation(std::move(parts.front()));
  }
  llvm_unreachable("unknown condition");
}

static std::string textOf(const Condition &condition) {
  std::string text;
  llvm::raw_string_ostream os(text);
  condition.print(os);
  return text;
}

void Saturation::assume(const Condition &condition, const Bindings &bindings) {
  assumed.insert(textOf(substitute(condition, bindings)));
}

void Saturation::assume(const RealAssumption &assumption) {
  assumedReals.push_back(assumption);
}

bool Saturation::holdsHere(const Condition &condition,
                           const Bindings &bindings) const {
  return holds(condition, bindings) ||
         (!assumed.empty() &&
          assumed.count(textOf(substitute(condition, bindings))));
}

bool Saturation::holdsHere(const RealAssumption &assumption,
                           const Bindings &bindings) const {
  if (holds(assumption, bindings))
    return true;
  auto it = bindings.reals.find(assumption.parameter);
  return it != bindings.reals.end() && it->second.isSymbol() &&
         llvm::any_of(assumedReals, [&](const RealAssumption &known) {
           return known.parameter == it->second.getSymbol() &&
                  known.predicate == assumption.predicate &&
                  known.bound == assumption.bound;
         });
}

bool Saturation::symbolsFit(const RuleProgram &program,
                            const Bindings &bindings) const {
  const Assumptions &assumptions = program.rule->assumptions;
  auto integerHolds = [&](const Condition &condition) {
    return holdsHere(condition, bindings);
  };
  auto realHolds = [&](const RealAssumption &real) {
    return holdsHere(real, bindings);
  };
  return llvm::all_of(assumptions.integers, integerHolds) &&
         llvm::all_of(assumptions.reals, realHolds) &&
         realsFit(*program.rule, bindings);
}

bool Saturation::tensorsFit(const RuleProgram &program, const EMatch &ematch,
                            SmallVectorImpl<NodeId> &shownBy) const {
  for (const TensorAssumption &tensor : program.rule->assumptions.tensors) {
    NodeId node = ematch.values[tensor.argument];
    if (node == noNode)
      return false;
    const ClassData &data = graph.classOf(node);
    if (tensor.predicate == ElementPredicate::Constant) {
      if (!data.isCompileTime())
        return false;
      shownBy.push_back(data.compileTime);
      continue;
    }
    bool isAssumed =
        data.elements & (1u << static_cast<unsigned>(tensor.predicate));
    DenseElementsAttr literal = graph.literalOf(node);
    if (!isAssumed && !(literal && elementsAre(literal, tensor.predicate)))
      return false;
    shownBy.push_back(literal ? data.literal : node);
  }
  return isBitExact(*program.rule) ||
         llvm::none_of(
             ArrayRef(ematch.values).take_front(program.arguments.size()),
             [&](NodeId node) {
               return node != noNode && graph.classOf(node).hasNoNumber;
             });
}

/// The operands in the match that are only refined by their values; nullopt if
/// some value is no refinement.
std::optional<SmallVector<Application::Refined, 0>>
Saturation::findRefined(const RuleProgram &program,
                        const EMatch &ematch) const {
  SmallVector<Application::Refined, 0> refined;
  for (auto [op, laid] : llvm::zip(program.pattern, ematch.nodes))
    for (auto [operand, child] : llvm::zip(op.operands, graph.children(laid))) {
      NodeId value = ematch.resultNode(graph, program, operand);
      if (graph.areEqual(child, value))
        continue;
      std::optional<EGraph::RefinementPath> path =
          graph.findRefinement(child, value);
      if (!path)
        return std::nullopt;
      refined.push_back({child, value, std::move(*path)});
    }
  return refined;
}

//===----------------------------------------------------------------------===//
// Applying
//===----------------------------------------------------------------------===//

/// Plans the operators to build; false if one is not well formed or a result
/// has the wrong type.
bool Saturation::plan(const RuleProgram &program, const EMatch &ematch,
                      const Bindings &bindings, Plan &planned) {
  SmallVectorImpl<Type> &types = planned.types;
  for (unsigned i = 0; i < program.arguments.size(); ++i) {
    NodeId node = ematch.values[i];
    types.push_back(node == noNode ? Type() : graph.classOf(node).type);
    planned.isWeight.push_back(node != noNode &&
                               graph.classOf(node).isCompileTime());
  }
  for (const BuildOp &op : program.built) {
    DictionaryAttr attributes = op.attributes;
    if (op.hasSymbols) {
      SmallVector<NamedAttribute> values;
      for (NamedAttribute attribute : op.attributes)
        values.push_back(
            {attribute.getName(), bindings.substitute(attribute.getValue())});
      attributes = DictionaryAttr::get(op.attributes.getContext(), values);
    }
    planned.operators.push_back(
        graph.operators.compute(op.name, attributes, op.numResults));
    SmallVector<Type> operands;
    bool isWeight = true;
    for (unsigned operand : op.operands) {
      operands.push_back(types[operand]);
      isWeight &= planned.isWeight[operand];
    }
    Operation *prototype =
        graph.operators.prototype(planned.operators.back(), operands);
    if (!prototype)
      return false;
    llvm::append_range(types, prototype->getResultTypes());
    planned.isWeight.append(op.numResults,
                            isWeight && EGraph::keepsCompileTime(prototype));
  }
  for (auto [from, to] :
       llvm::zip(program.patternResults, program.builtResults))
    if (graph.classOf(ematch.resultNode(graph, program, from)).type !=
        types[to])
      return false;
  return true;
}

/// Nodes of the values of the built side; `nodeOf` makes or finds one.
static bool
buildNodes(const EGraph &graph, const RuleProgram &program,
           const EMatch &ematch, ArrayRef<OperatorId> operators,
           llvm::function_ref<NodeId(OperatorId, ArrayRef<NodeId>)> nodeOf,
           SmallVectorImpl<NodeId> &values) {
  values.assign(ematch.values.begin(),
                ematch.values.begin() + program.arguments.size());
  for (auto [op, id] : llvm::zip(program.built, operators)) {
    SmallVector<NodeId> children;
    for (unsigned operand : op.operands)
      children.push_back(values[operand]);
    NodeId node = nodeOf(id, children);
    if (node == noNode)
      return false;
    for (unsigned i = 0; i < op.numResults; ++i)
      values.push_back(graph.resultOf(node, i));
  }
  return true;
}

/// Whether the graph already contains the whole built side and knows that it is
/// equal.
bool Saturation::isKnown(const RuleProgram &program, const EMatch &ematch,
                         ArrayRef<OperatorId> operators,
                         SmallVectorImpl<NodeId> &built) {
  SmallVector<NodeId> values;
  if (!buildNodes(
          graph, program, ematch, operators,
          [&](OperatorId op, ArrayRef<NodeId> children) {
            built.push_back(graph.lookup(op, children));
            return built.back();
          },
          values))
    return false;
  return llvm::all_of(
      llvm::zip(program.patternResults, program.builtResults), [&](auto pair) {
        NodeId from = ematch.resultNode(graph, program, std::get<0>(pair)),
               to = values[std::get<1>(pair)];
        return program.mergesSides()
                   ? graph.areEqual(from, to)
                   : graph.findRefinement(from, to).has_value();
      });
}

/// Looks for a built side in the classes that it would be merged into, with any
/// weights of the right types.
class Saturation::ButForWeights {
public:
  ButForWeights(const EGraph &graph, const RuleProgram &program,
                const EMatch &ematch, const Plan &planned)
      : graph(graph), program(program), ematch(ematch), planned(planned),
        laid(program.built.size(), noNode) {}

  /// Whether the class of `node` holds `value` of the built side.
  bool holds(unsigned value, NodeId node) {
    const ClassData &data = graph.classOf(node);
    if (planned.isWeight[value])
      return data.isCompileTime() && data.type == planned.types[value];
    if (value < program.arguments.size())
      return graph.areEqual(ematch.values[value], node);
    auto [op, result] = program.builderOf(value);
    for (NodeId member : data.nodes) {
      if (program.built[op].numResults == 1) {
        if (holdsOperator(op, member))
          return true;
        continue;
      }
      const Operator &projection = graph.operatorOf(member);
      if (projection.kind == Operator::Kind::Projection &&
          projection.index == result)
        for (NodeId tuple : graph.classOf(graph.children(member)[0]).nodes)
          if (holdsOperator(op, tuple))
            return true;
    }
    return false;
  }

private:
  bool holdsOperator(unsigned op, NodeId node) {
    // A value that several parts of the built side read must be one node here
    // too.
    if (laid[op] != noNode)
      return graph.areEqual(laid[op], node);
    if (graph[node].op != planned.operators[op])
      return false;
    laid[op] = node;
    if (llvm::all_of(
            llvm::zip(program.built[op].operands, graph.children(node)),
            [&](auto pair) {
              return holds(std::get<0>(pair), std::get<1>(pair));
            }))
      return true;
    laid[op] = noNode;
    return false;
  }

  const EGraph &graph;
  const RuleProgram &program;
  const EMatch &ematch;
  const Plan &planned;
  /// The node found for each operator of the built side.
  SmallVector<NodeId, 8> laid;
};

bool Saturation::isKnownButForWeights(const RuleProgram &program,
                                      const EMatch &ematch,
                                      const Plan &planned) {
  ButForWeights known(graph, program, ematch, planned);
  return llvm::all_of(
      llvm::zip(program.patternResults, program.builtResults), [&](auto pair) {
        return known.holds(
            std::get<1>(pair),
            ematch.resultNode(graph, program, std::get<0>(pair)));
      });
}

/// Results that are computed together must not depend on one another through
/// their inputs: an argument of one part would need a result of another.
bool Saturation::wouldMakeCycle(const RuleProgram &program,
                                const EMatch &ematch) {
  if (!program.isMultiOutput())
    return false;
  for (unsigned i = 0; i < program.arguments.size(); ++i)
    for (unsigned result : program.patternResults)
      if (ematch.values[i] != noNode && result >= program.arguments.size() &&
          graph.dependsOn(ematch.values[i],
                          ematch.resultNode(graph, program, result)))
        return true;
  return false;
}

void Saturation::commit(Application made, ArrayRef<OperatorId> operators) {
  ApplicationId id = applications.size();
  SmallVector<NodeId> values;
  applications.push_back(std::move(made));
  Application &application = applications.back();
  const RuleProgram &program = *application.program;
  const EMatch &ematch = application.ematch;
  if (program.isMultiOutput())
    mergedParts.insert_range(ematch.nodes);
  buildNodes(
      graph, program, ematch, operators,
      [&](OperatorId op, ArrayRef<NodeId> children) {
        application.built.push_back(graph.add(op, children, id));
        return application.built.back();
      },
      values);
  if (!program.rule->splits.empty())
    for (NodeId node : application.built)
      splitParts.insert({&program, node});
  for (auto [from, to] :
       llvm::zip(program.patternResults, program.builtResults)) {
    NodeId result = ematch.resultNode(graph, program, from);
    if (program.mergesSides() && application.refined.empty())
      graph.merge(result, values[to], id);
    else
      graph.refine(result, values[to], id);
  }
}

Saturation::EMatchKey Saturation::nodesOf(const RuleProgram &program,
                                          const EMatch &ematch) {
  EMatchKey key{&program};
  for (NodeId node : ematch.nodes)
    key.push_back(reinterpret_cast<const void *>(uintptr_t(node)));
  return key;
}

/// The identity of a match of a rule. It depends only on nodes with their
/// attributes and types, which never change.
Saturation::EMatchKey Saturation::keyOf(const RuleProgram &program,
                                        const EMatch &ematch) {
  EMatchKey key = nodesOf(program, ematch);
  // Parts that were merged in one order are not merged in another.
  if (program.isMultiOutput())
    llvm::sort(key.begin() + 1, key.end());
  if (program.hasChoice())
    for (IntExpr value : ematch.integers)
      key.push_back(value.getAsOpaquePointer());
  return key;
}

Saturation::Outcome Saturation::apply(const RuleProgram &program,
                                      const EMatch &ematch, bool mergeWeights,
                                      SmallVectorImpl<NodeId> &built) {
  Bindings bindings = ematch.bindings(program);
  Plan planned;
  if (!symbolsFit(program, bindings) ||
      !plan(program, ematch, bindings, planned)) {
    done.insert(keyOf(program, ematch));
    return Outcome::Refused;
  }
  built.clear();
  if (isKnown(program, ematch, planned.operators, built)) {
    done.insert(keyOf(program, ematch));
    return Outcome::Known;
  }
  // Facts about tensors, and dependences, may change.
  SmallVector<NodeId> shownBy;
  if (!tensorsFit(program, ematch, shownBy) || wouldMakeCycle(program, ematch))
    return Outcome::Refused;
  auto refined = findRefined(program, ematch);
  if (!refined)
    return Outcome::Refused;
  done.insert(keyOf(program, ematch));
  if (mergeWeights && isKnownButForWeights(program, ematch, planned))
    return Outcome::Alike;
  commit({&program,
          ematch,
          {},
          {shownBy.begin(), shownBy.end()},
          std::move(*refined)},
         planned.operators);
  built.assign(applications.back().built.begin(),
               applications.back().built.end());
  return Outcome::New;
}
