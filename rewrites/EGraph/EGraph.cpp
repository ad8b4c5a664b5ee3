//===- EGraph.cpp - Equal forms of one function ---------------------------===//

#include "rewrites/EGraph/EGraph.h"
#include "dialects/Module/CompileTime.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace mlc;
using namespace mlc::egraph;
using llvm::ArrayRef;
using llvm::SmallVector;

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

NodeId EGraph::append(OperatorId op, ArrayRef<NodeId> children,
                      ApplicationId maker) {
  NodeId id = terms.append(op, children);
  makers.push_back(maker);
  towardsRoot.push_back({noNode, noApplication});
  return id;
}

void EGraph::makeClass(NodeId node, Type type) {
  Analysis known;
  known.type = type;
  known.isProduced = operatorOf(node).kind != Operator::Kind::Argument;
  known.hasNoNumber = operatorOf(node).kind == Operator::Kind::Compute &&
                      children(node).empty() &&
                      writesNoNumber(prototypeOf(node));
  terms.makeClass(node, known);
  noteCompileTime(node);
}

/// Adds a node that differs from `congruent` only in which equal nodes it was
/// made with. Only the reason is kept.
void EGraph::addCongruent(NodeId node, NodeId congruent) {
  terms.joinClass(node, congruent);
  towardsRoot[node] = {congruent, noApplication};
}

NodeId EGraph::addArgument(unsigned index, Type type,
                           ArrayRef<ElementPredicate> elements) {
  NodeId node = append(operators.argument(index), {}, noApplication);
  makeClass(node, type);
  Analysis &data = terms.classOf(node);
  for (ElementPredicate predicate : elements)
    data.elements |= 1u << static_cast<unsigned>(predicate);
  if (llvm::is_contained(elements, ElementPredicate::Constant)) {
    data.compileTime = node;
    shownBy[node] = {};
  }
  return node;
}

NodeId EGraph::add(OperatorId op, ArrayRef<NodeId> children,
                   ApplicationId maker) {
  NodeId congruent = lookup(op, children);
  Operation *prototype = nullptr;
  if (congruent == noNode) {
    SmallVector<Type> types;
    for (NodeId child : children)
      types.push_back(classOf(child).type);
    prototype = operators.prototype(op, types);
  }
  NodeId node = append(op, children, maker);
  const bool isTuple = operators[op].isTuple();
  if (congruent != noNode)
    addCongruent(node, congruent);
  else
    makeClass(node, isTuple ? Type() : prototype->getResult(0).getType());
  for (unsigned i = 0; isTuple && i < operators[op].numResults; ++i) {
    NodeId projection = append(operators.projection(i), node, maker);
    if (congruent != noNode)
      addCongruent(projection, congruent + 1 + i);
    else
      makeClass(projection, prototype->getResult(i).getType());
  }
  return node;
}

bool EGraph::keepsCompileTime(Operation *op) {
  if (op->hasTrait<OpTrait::ConstantLike>())
    return true;
  // A fill or a range counts when its size is known.
  auto type = dyn_cast<ShapedType>(op->getResult(0).getType());
  bool isSized = op->getNumOperands() > 0 || (type && type.hasStaticShape());
  return isMemoryEffectFree(op) && isSized;
}

/// Records whether `node` shows that its class is known at compile time, as
/// defined in CompileTime.h.
void EGraph::noteCompileTime(NodeId node) {
  Analysis &data = terms.classOf(node);
  if (data.isCompileTime())
    return;
  SmallVector<NodeId, 2> shown;
  for (NodeId child : children(node)) {
    shown.push_back(classOf(child).compileTime);
    if (shown.back() == noNode)
      return;
  }
  if (operatorOf(node).kind == Operator::Kind::Argument)
    return;
  if (operatorOf(node).kind == Operator::Kind::Compute) {
    Operation *op = prototypeOf(node);
    if (op->hasTrait<OpTrait::ConstantLike>())
      data.literal = node;
    if (!keepsCompileTime(op))
      return;
  }
  data.compileTime = node;
  shownBy[node] = shown;
  newlyCompileTime.push_back(node);
  changed.push_back(node);
}

bool EGraph::merge(NodeId a, NodeId b, ApplicationId reason) {
  NodeId into = find(a), from = find(b);
  if (into == from)
    return true;
  if (classOf(into).type != classOf(from).type)
    return false;
  link(a, b, reason);
  auto weight = [&](NodeId eclass) {
    return classOf(eclass).parents.size() + classOf(eclass).nodes.size();
  };
  if (weight(into) < weight(from))
    std::swap(into, from);
  Analysis &target = terms.classOf(into);
  const Analysis &source = terms.classOf(from);
  if (target.isCompileTime() != source.isCompileTime()) {
    newlyCompileTime.push_back(into);
    if (!target.isCompileTime())
      target.compileTime = source.compileTime;
  }
  if (target.literal == noNode)
    target.literal = source.literal;
  target.isProduced |= source.isProduced;
  target.elements |= source.elements;
  target.hasNoNumber |= source.hasNoNumber;
  terms.unite(into, from);
  changed.push_back(into);
  ++merges;
  return true;
}

bool EGraph::refine(NodeId from, NodeId to, ApplicationId reason) {
  if (classOf(from).type != classOf(to).type)
    return false;
  refinements.push_back({from, to, reason});
  return true;
}

std::optional<EGraph::RefinementPath> EGraph::findRefinement(NodeId from,
                                                             NodeId to) const {
  // Breadth first over classes, each with the refinement that led there.
  struct Reached {
    NodeId node;
    const Refinement *by;
    size_t before;
  };
  std::vector<Reached> reached{{find(from), nullptr, 0}};
  for (size_t i = 0; i < reached.size(); ++i) {
    if (reached[i].node == find(to)) {
      RefinementPath path;
      for (size_t at = i; reached[at].by; at = reached[at].before)
        path.insert(path.begin(), *reached[at].by);
      return path;
    }
    for (const Refinement &one : refinements)
      if (find(one.from) == reached[i].node &&
          llvm::none_of(reached, [&](const Reached &other) {
            return other.node == find(one.to);
          }))
        reached.push_back({find(one.to), &one, i});
  }
  return std::nullopt;
}

void EGraph::rebuild() {
  while (terms.isMerged() || !newlyCompileTime.empty()) {
    terms.repair([&](NodeId a, NodeId b) { merge(a, b, noApplication); });
    while (!newlyCompileTime.empty()) {
      NodeId node = newlyCompileTime.back();
      newlyCompileTime.pop_back();
      auto parents = llvm::to_vector(classOf(node).parents);
      for (NodeId parent : parents)
        noteCompileTime(parent);
    }
  }
  terms.dropCongruent();
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

Operation *EGraph::prototypeOf(NodeId node) {
  SmallVector<Type> types;
  for (NodeId child : children(node))
    types.push_back(classOf(child).type);
  return operators.prototype(terms.operatorOf(node), types);
}

DenseElementsAttr EGraph::literalOf(NodeId node) const {
  NodeId literal = classOf(node).literal;
  if (literal == noNode)
    return {};
  return dyn_cast_or_null<DenseElementsAttr>(
      operatorOf(literal).attributes.get("value"));
}

bool EGraph::dependsOn(NodeId from, NodeId to) const {
  to = find(to);
  llvm::BitVector seen(numNodes());
  SmallVector<NodeId> pending{find(from)};
  seen.set(pending.back());
  auto visit = [&](NodeId node) {
    if (NodeId next = find(node); !seen.test(next)) {
      seen.set(next);
      pending.push_back(next);
    }
  };
  while (!pending.empty()) {
    NodeId node = pending.pop_back_val();
    if (node == to)
      return true;
    if (classOf(node).isCompileTime())
      continue;
    for (NodeId member : classOf(node).nodes)
      llvm::for_each(children(member), visit);
    for (const Refinement &one : refinements)
      if (find(one.from) == node)
        visit(one.to);
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Reasons
//===----------------------------------------------------------------------===//

/// Adds the edge a — b: makes a the root of its tree and hangs it below b.
/// Edges are never removed, so the path between two nodes stays the one by
/// which they became equal.
void EGraph::link(NodeId a, NodeId b, ApplicationId reason) {
  NodeId node = a, next = b;
  ApplicationId why = reason;
  while (node != noNode) {
    std::pair<NodeId, ApplicationId> old = towardsRoot[node];
    towardsRoot[node] = {next, why};
    next = node;
    node = old.first;
    why = old.second;
  }
}

SmallVector<EGraph::Link> EGraph::explain(NodeId a, NodeId b) const {
  SmallVector<NodeId> above{a};
  llvm::DenseMap<NodeId, unsigned> depth{{a, 0}};
  while (towardsRoot[above.back()].first != noNode) {
    above.push_back(towardsRoot[above.back()].first);
    depth[above.back()] = above.size() - 1;
  }
  SmallVector<Link> up, down;
  NodeId node = b;
  while (!depth.count(node)) {
    auto [next, reason] = towardsRoot[node];
    assert(next != noNode && "explained nodes must be equal");
    down.push_back({next, node, reason});
    node = next;
  }
  for (NodeId step : ArrayRef(above).take_front(depth.lookup(node)))
    up.push_back({step, towardsRoot[step].first, towardsRoot[step].second});
  llvm::append_range(up, llvm::reverse(down));
  return up;
}

ArrayRef<NodeId> EGraph::compileTimeChildren(NodeId node) const {
  auto it = shownBy.find(node);
  return it == shownBy.end() ? ArrayRef<NodeId>() : it->second;
}
