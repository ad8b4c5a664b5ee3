//===- Seed.cpp - Another engine's steps in an e-graph --------------------===//

#include "rewrites/EGraph/Seed.h"
#include "mlir/AsmParser/AsmParser.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mlc;
using namespace mlc::egraph;
using llvm::SmallVector;

namespace {

class Seeder {
public:
  Seeder(const FunctionNodes &origin, EGraph &graph, Saturation &saturation,
         ArrayRef<const RuleProgram *> programs)
      : graph(graph), saturation(saturation) {
    for (const RuleProgram *program : programs)
      byName[program->rule->getName()] = program;
    terms = origin.arguments;
    for (NodeId node : origin.operators)
      addTerms(node);
  }

  bool take(const TrailStep &step) {
    const RuleProgram *program = byName.lookup(step.rule);
    if (!program)
      return false;
    EMatch ematch;
    if (!place(step, *program, ematch))
      return false;
    SmallVector<NodeId> built;
    if (saturation.apply(*program, ematch, /*mergeWeights=*/false, built) ==
        Saturation::Outcome::Refused)
      return false;
    for (NodeId node : built)
      addTerms(node);
    return true;
  }

  /// The Compute node whose first result is the term.
  NodeId operatorOf(TermId term) const {
    NodeId node = terms[term];
    return graph.operatorOf(node).kind == Operator::Kind::Projection
               ? graph.children(node)[0]
               : node;
  }

private:
  void addTerms(NodeId node) {
    for (unsigned i = 0; i < graph.operatorOf(node).numResults; ++i)
      terms.push_back(graph.resultOf(node, i));
  }

  bool place(const TrailStep &step, const RuleProgram &program,
             EMatch &ematch) {
    ematch.values.assign(program.numValues, noNode);
    for (auto [i, term] : llvm::enumerate(step.arguments))
      if (term != noTerm)
        ematch.values[i] = terms[term];
    size_t next = 0;
    for (const PatternOp &op : program.pattern) {
      ematch.nodes.push_back(operatorOf(step.before[next]));
      for (unsigned i = 0; i < op.numResults; ++i)
        ematch.values[op.firstResult + i] = terms[step.before[next + i]];
      next += op.numResults;
    }
    MLIRContext *context = program.rule->def.getContext();
    for (const std::string &name : program.integers) {
      auto it = step.integers.find(name);
      auto value = it == step.integers.end()
                       ? IntExpr()
                       : dyn_cast_or_null<IntExpr>(parseAttribute(
                             "#mlc.int<" + it->second + ">", context));
      if (!value)
        return false;
      ematch.integers.push_back(value);
    }
    for (const std::string &name : program.reals) {
      auto it = step.reals.find(name);
      if (it == step.reals.end())
        return false;
      ematch.reals.push_back(
          RealAttr::get(context, std::strtod(it->second.c_str(), nullptr)));
    }
    return true;
  }

  EGraph &graph;
  Saturation &saturation;
  llvm::StringMap<const RuleProgram *> byName;
  std::vector<NodeId> terms;
};

} // namespace

std::optional<std::vector<NodeId>>
mlc::egraph::seed(const Trail &trail, const FunctionNodes &origin,
                  EGraph &graph, Saturation &saturation,
                  ArrayRef<const RuleProgram *> programs) {
  Seeder seeder(origin, graph, saturation, programs);
  for (const TrailStep &step : trail.steps)
    if (!seeder.take(step))
      return std::nullopt;
  graph.rebuild();
  std::vector<NodeId> result;
  for (const ChosenOperator &op : trail.chosen)
    result.push_back(seeder.operatorOf(op.term));
  return result;
}
