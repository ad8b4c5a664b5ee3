//===- Changes.h - What is new since the last round -------------*- C++ -*-===//
//
// A match depends on the node at its root and on the classes below, as deep as
// its pattern. Where none of them has changed since a rule was looked for, it
// is found nowhere new ("semi-naive" evaluation of datalog, which egglog takes
// over: Zhang et al., PLDI 2023).
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_EGRAPH_CHANGES_H
#define MLC_REWRITES_EGRAPH_CHANGES_H

#include "rewrites/EGraph/EGraph.h"

namespace mlc::egraph {

/// Which nodes a rule may be found at that it was not found at in the round
/// before.
class Changes {
public:
  /// `reach`: the deepest pattern that will be asked about.
  explicit Changes(unsigned reach) : reach(reach) {}

  /// Begins a round: what has changed in the graph, which is rebuilt, since the
  /// last call. Before the first, everything is new.
  void update(EGraph &graph);

  /// Whether a pattern that goes `depth` classes down from `root` may be laid
  /// there in a new way. `asReaders`: it also asks who else reads those
  /// classes.
  bool isNear(const EGraph &graph, NodeId root, unsigned depth,
              bool asReaders) const;

private:
  /// How far below a class, by its representative, the nearest change is;
  /// at most `reach`.
  using Distances = std::vector<unsigned>;
  Distances spread(const EGraph &graph, llvm::ArrayRef<NodeId> changed) const;

  unsigned reach;
  /// Nodes from here on are new.
  NodeId firstNew = 0, numSeen = 0;
  Distances toChange, toReader;
};

} // namespace mlc::egraph

#endif // MLC_REWRITES_EGRAPH_CHANGES_H
