//===- Changes.h - Changes since the last round -----------------*- C++ -*-===//
//
// A match depends on the node at its root and on the classes below it, to the
// depth of its pattern. If none of these has changed since the last search for
// a rule, there are no new matches ("semi-naive" evaluation of datalog, adopted
// by egglog: Zhang et al., PLDI 2023).
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_EGRAPH_CHANGES_H
#define MLC_REWRITES_EGRAPH_CHANGES_H

#include "rewrites/EGraph/EGraph.h"

namespace mlc::egraph {

/// The nodes at which a rule may have matches that the previous round did not
/// find.
class Changes {
public:
  /// `reach`: the depth of the deepest pattern.
  explicit Changes(unsigned reach) : reach(reach) {}

  /// Begins a round: collects what has changed in the rebuilt graph since the
  /// last call. In the first round everything is new.
  void update(EGraph &graph);

  /// Whether a pattern that goes `depth` classes down from `root` may have a
  /// new match there. `asReaders`: the pattern also looks up other readers of
  /// those classes.
  bool isNear(const EGraph &graph, NodeId root, unsigned depth,
              bool asReaders) const;

private:
  /// The distance from each class (by its representative) down to the nearest
  /// change, at most `reach`.
  using Distances = std::vector<unsigned>;
  Distances spread(const EGraph &graph, llvm::ArrayRef<NodeId> changed) const;

  unsigned reach;
  /// Nodes from here on are new.
  NodeId firstNew = 0, numSeen = 0;
  Distances toChange, toReader;
};

} // namespace mlc::egraph

#endif // MLC_REWRITES_EGRAPH_CHANGES_H
