//===- Explain.cpp - The steps that a result needs ------------------------===//

#include "rewrites/EGraph/Explain.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlc;
using namespace mlc::egraph;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace {

/// Marks what a result depends on.
class Needs {
public:
  Needs(const EGraph &graph, const std::vector<Application> &applications)
      : graph(graph), applications(applications), isNeeded(applications.size()),
        isThere(graph.numNodes()) {}

  void node(NodeId node) {
    if (isThere.test(node))
      return;
    isThere.set(node);
    if (ApplicationId maker = graph[node].maker; maker != noApplication)
      application(maker);
  }

  void equality(NodeId a, NodeId b) {
    if (a == b)
      return;
    for (const EGraph::Link &link : graph.explain(a, b)) {
      if (!seen.insert({link.from, link.to}).second)
        continue;
      node(link.from);
      node(link.to);
      if (link.reason != noApplication) {
        application(link.reason);
        continue;
      }
      for (auto [x, y] :
           llvm::zip(graph.children(link.from), graph.children(link.to)))
        pending.push_back({x, y});
    }
  }

  /// Needs that `b` equals `a`, or refines it by `path`.
  void refinement(NodeId a, NodeId b, const EGraph::RefinementPath &path) {
    for (const EGraph::Refinement &one : path) {
      equality(a, one.from);
      node(one.from);
      node(one.to);
      application(one.reason);
      a = one.to;
    }
    equality(a, b);
  }
  void refinement(NodeId a, NodeId b) {
    std::optional<EGraph::RefinementPath> path = graph.findRefinement(a, b);
    assert(path && "what is chosen stands for what was there");
    refinement(a, b, *path);
  }

  /// Processes everything that earlier calls have queued.
  void close() {
    while (!pending.empty() || !opened.empty()) {
      while (!pending.empty()) {
        auto [a, b] = pending.pop_back_val();
        equality(a, b);
      }
      if (!opened.empty())
        open(opened.pop_back_val());
    }
  }

  const llvm::BitVector &neededApplications() const { return isNeeded; }

private:
  void application(ApplicationId id) {
    if (isNeeded.test(id))
      return;
    isNeeded.set(id);
    opened.push_back(id);
  }

  /// Adds what a step needs: its terms, the match of `before` over these, and
  /// its assumptions on tensors.
  void open(ApplicationId id) {
    const Application &step = applications[id];
    const RuleProgram &program = *step.program;
    for (unsigned i = 0; i < program.arguments.size(); ++i)
      if (step.ematch.values[i] != noNode)
        node(step.ematch.values[i]);
    for (auto [op, laid] : llvm::zip(program.pattern, step.ematch.nodes)) {
      node(laid);
      for (auto [operand, child] :
           llvm::zip(op.operands, graph.children(laid))) {
        NodeId value = step.ematch.resultNode(graph, program, operand);
        const auto *refined = llvm::find_if(step.refined, [&](const auto &one) {
          return one.child == child && one.value == value;
        });
        if (refined != step.refined.end())
          refinement(child, value, refined->path);
        else
          pending.push_back({child, value});
      }
    }
    for (auto [tensor, shown] :
         llvm::zip(program.rule->assumptions.tensors, step.shownBy)) {
      pending.push_back({step.ematch.values[tensor.argument], shown});
      show(shown);
    }
  }

  /// Needs that `shown` is known at compile time.
  void show(NodeId shown) {
    if (!shownNodes.insert(shown).second)
      return;
    node(shown);
    for (auto [child, by] :
         llvm::zip(graph.children(shown), graph.compileTimeChildren(shown))) {
      pending.push_back({child, by});
      show(by);
    }
  }

  const EGraph &graph;
  const std::vector<Application> &applications;
  llvm::BitVector isNeeded, isThere;
  llvm::DenseSet<std::pair<NodeId, NodeId>> seen;
  llvm::DenseSet<NodeId> shownNodes;
  SmallVector<std::pair<NodeId, NodeId>> pending;
  SmallVector<ApplicationId> opened;
};

/// Writes the needed applications as steps over numbered terms.
class Writer {
public:
  Writer(const EGraph &graph, const Origins &origins)
      : graph(graph), origins(origins) {
    for (NodeId argument : origins.arguments)
      terms[argument] = numTerms++;
    for (auto [node, place] : llvm::zip(origins.operators, origins.places)) {
      addResults(node);
      places[node] = place;
    }
  }

  TrailStep write(const Application &application) {
    const RuleProgram &program = *application.program;
    const EMatch &ematch = application.ematch;
    TrailStep step;
    step.rule = program.rule->getName().str();
    step.hash = program.rule->hash;
    for (unsigned i = 0; i < program.arguments.size(); ++i)
      step.arguments.push_back(termOf(ematch.values[i]));
    for (NodeId node : ematch.nodes) {
      for (unsigned i = 0; i < graph.operatorOf(node).numResults; ++i)
        step.before.push_back(termOf(graph.resultOf(node, i)));
      notePlaces(node, step.places);
    }
    for (auto [name, value] : llvm::zip(program.integers, ematch.integers))
      step.integers[name] = value.str();
    for (auto [name, value] : llvm::zip(program.reals, ematch.reals))
      step.reals[name] = realText(value);
    step.gainSeconds = origins.gainOf(application);
    for (NodeId node : application.built) {
      addResults(node);
      madeFrom[node] = &application;
    }
    return step;
  }

  TermId termOf(NodeId node) const {
    assert((node == noNode || terms.count(node)) &&
           "what a step needs must have been made before it");
    return node == noNode ? noTerm : terms.lookup(node);
  }

private:
  void addResults(NodeId node) {
    for (unsigned i = 0; i < graph.operatorOf(node).numResults; ++i)
      terms[graph.resultOf(node, i)] = numTerms++;
  }

  /// Names of the model's operators that a node comes from.
  void notePlaces(NodeId node, std::vector<std::string> &names) const {
    llvm::DenseSet<NodeId> visited;
    SmallVector<NodeId> stack{node};
    while (!stack.empty()) {
      NodeId next = stack.pop_back_val();
      if (!visited.insert(next).second)
        continue;
      if (auto it = places.find(next); it != places.end()) {
        if (!it->second.empty() && !llvm::is_contained(names, it->second))
          names.push_back(it->second);
      } else if (auto made = madeFrom.find(next); made != madeFrom.end()) {
        llvm::append_range(stack, llvm::reverse(made->second->ematch.nodes));
      }
    }
  }

  const EGraph &graph;
  const Origins &origins;
  llvm::DenseMap<NodeId, TermId> terms;
  llvm::DenseMap<NodeId, std::string> places;
  llvm::DenseMap<NodeId, const Application *> madeFrom;
  TermId numTerms = 0;
};

} // namespace

Trail mlc::egraph::explainResult(const EGraph &graph,
                                 const Saturation &saturation,
                                 const Origins &origins,
                                 ArrayRef<ChosenNode> chosen,
                                 ArrayRef<std::pair<NodeId, NodeId>> outputs) {
  const std::vector<Application> &applications = saturation.getApplications();
  Needs needs(graph, applications);
  for (const ChosenNode &entry : chosen) {
    needs.node(entry.node);
    for (auto [child, operand] :
         llvm::zip(graph.children(entry.node), entry.operands))
      needs.refinement(child, operand);
  }
  for (auto [before, after] : outputs)
    needs.refinement(before, after);
  needs.close();

  Trail trail;
  Writer writer(graph, origins);
  for (unsigned id : needs.neededApplications().set_bits())
    trail.steps.push_back(writer.write(applications[id]));
  for (const ChosenNode &entry : chosen) {
    ChosenOperator op{writer.termOf(graph.resultOf(entry.node, 0)), {}};
    for (NodeId operand : entry.operands)
      op.operands.push_back(writer.termOf(operand));
    trail.chosen.push_back(std::move(op));
  }
  for (auto [before, after] : outputs)
    trail.outputs.push_back(writer.termOf(after));
  return trail;
}
