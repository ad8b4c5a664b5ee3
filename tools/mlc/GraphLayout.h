//===- GraphLayout.h - Places for the nodes of a small graph ----*- C++ -*-===//
//
// A layered drawing: every node is below all its inputs, long edges go around
// the nodes between, and neighbours are aligned vertically. For graphs of up to
// some hundred nodes; deterministic.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_TOOLS_MLC_GRAPHLAYOUT_H
#define MLC_TOOLS_MLC_GRAPHLAYOUT_H

#include "llvm/ADT/ArrayRef.h"
#include <vector>

namespace mlc::cli {

struct LayoutNode {
  double width, height; // pixels
  /// Its inputs, earlier in the list.
  std::vector<unsigned> inputs;
};

struct Point {
  double x, y;
};

/// An edge as a line through these points, from top to bottom.
struct LayoutEdge {
  unsigned from, to;
  std::vector<Point> points;
};

struct Layout {
  std::vector<Point> centers; // of the nodes
  std::vector<LayoutEdge> edges;
  double width = 0, height = 0;
};

Layout layOut(llvm::ArrayRef<LayoutNode> nodes);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_GRAPHLAYOUT_H
