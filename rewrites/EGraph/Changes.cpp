//===- Changes.cpp - Changes since the last round -------------------------===//

#include "rewrites/EGraph/Changes.h"

using namespace mlc::egraph;
using llvm::ArrayRef;

void Changes::update(EGraph &graph) {
  firstNew = numSeen;
  numSeen = graph.numNodes();
  std::vector<NodeId> changed = graph.takeChanged();
  for (NodeId node = firstNew; node < numSeen; ++node)
    changed.push_back(node);
  toChange = spread(graph, changed);
  // Readers are looked up at the class itself, so start from the children.
  for (NodeId node = firstNew; node < numSeen; ++node)
    llvm::append_range(changed, graph.children(node));
  toReader = spread(graph, changed);
}

Changes::Distances Changes::spread(const EGraph &graph,
                                   ArrayRef<NodeId> changed) const {
  Distances distances(graph.numNodes(), reach);
  std::vector<NodeId> level, next;
  auto reachAt = [&](NodeId node, unsigned distance) {
    NodeId eclass = graph.find(node);
    if (distance < distances[eclass]) {
      distances[eclass] = distance;
      next.push_back(eclass);
    }
  };
  for (NodeId node : changed)
    reachAt(node, 0);
  for (unsigned distance = 1; distance < reach; ++distance) {
    std::swap(level, next);
    next.clear();
    for (NodeId eclass : level)
      for (NodeId parent : graph.classOf(eclass).parents)
        reachAt(parent, distance);
  }
  return distances;
}

bool Changes::isNear(const EGraph &graph, NodeId root, unsigned depth,
                     bool asReaders) const {
  if (root >= firstNew)
    return true;
  const Distances &distances = asReaders ? toReader : toChange;
  return llvm::any_of(graph.children(root), [&](NodeId child) {
    return distances[graph.find(child)] < depth;
  });
}
