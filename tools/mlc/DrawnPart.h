//===- DrawnPart.h - Graphs as they are drawn -------------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_DRAWNPART_H
#define MLC_TOOLS_MLC_DRAWNPART_H

#include <string>
#include <vector>

namespace mlc::cli {

/// A node of a drawing.
struct DrawnNode {
  enum class Mark { Same, Rewritten };
  std::string op, name, dims;
  std::vector<unsigned> inputs; // earlier nodes
  Mark mark = Mark::Same;
};

/// A rewritten part, before and after.
struct DrawnPart {
  std::vector<DrawnNode> before, after;
  /// Indices of its steps, ascending.
  std::vector<unsigned> steps;
  /// How many parts of the model look like this one.
  unsigned count = 1;
};

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_DRAWNPART_H
