//===- Problem.h - A set of equal graphs ------------------------*- C++ -*-===//
//
// Classes of equal values, each with nodes that compute it from other classes.
// A selection picks one node for every class that is needed, starting from the
// roots and without cycles; a class counts once, however many nodes use it.
// Nothing here depends on tensors.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_EXTRACT_PROBLEM_H
#define MLC_REWRITES_EXTRACT_PROBLEM_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <vector>

namespace mlc {

struct ExtractionProblem {
  struct Node {
    double cost = 0; ///< not negative; infinite: may not be chosen
    llvm::SmallVector<unsigned> children; ///< classes
    unsigned eclass = 0;
  };
  std::vector<Node> nodes;
  std::vector<std::vector<unsigned>> classes; ///< their nodes
  std::vector<unsigned> roots;                ///< classes

  /// Adds a class without nodes; returns its number.
  unsigned addClass();
  /// Adds a node to a class; returns its number.
  unsigned addNode(unsigned eclass, double cost,
                   llvm::ArrayRef<unsigned> children = {});
};

/// The cost of `chosen` from the roots; infinite when a class that is needed
/// has no node or the selection has a cycle. Sets `chosen` to -1 for classes
/// that are not needed.
double selectionCost(const ExtractionProblem &problem,
                     std::vector<int> &chosen);

/// The remaining budget of the integer programs of extractions. It is no clock,
/// so the answer is the same on every machine.
struct ExtractionEffort {
  /// Nodes of CBC's search trees.
  uint64_t nodes = 300;
  /// Simplex iterations of CBC, plus some for each integer program; a solution
  /// with cycles leads to another program. Checked before each program.
  uint64_t iterations = 30'000;
};

} // namespace mlc

#endif // MLC_REWRITES_EXTRACT_PROBLEM_H
