//===- Extract.h - The cheapest graph in a set of equal graphs --*- C++ -*-===//
//
// Classes of equal values, each with nodes that compute it from other classes.
// A selection picks one node for every class that is needed, starting from the
// roots and without cycles; a class counts once, however many nodes use it.
// Nothing here depends on tensors.
//
// Both extractions first make the problem smaller (ExtractReduce.h), so that
// most graphs split into parts that are solved by enumeration.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_EXTRACT_EXTRACT_H
#define MLC_REWRITES_EXTRACT_EXTRACT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <limits>
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

struct Extraction {
  /// The node chosen for each class, or -1 if the class is not needed.
  std::vector<int> chosen;
  /// The cost of the chosen nodes; infinite if no selection exists.
  double cost = std::numeric_limits<double>::infinity();
  /// No selection costs less.
  double lowerBound = 0;
  /// Proved to be the cheapest.
  bool optimal = false;
  double seconds = 0;

  bool exists() const { return cost < std::numeric_limits<double>::infinity(); }
  /// (cost - lowerBound) / cost, 0 when both are 0.
  double gap() const;
};

/// The cost of `chosen` from the roots; infinite when a class that is needed
/// has no node or the selection has a cycle. Sets `chosen` to -1 for classes
/// that are not needed.
double selectionCost(const ExtractionProblem &problem,
                     std::vector<int> &chosen);

/// Greedy over the graph with sharing, then local improvement; time grows with
/// the size of the problem only. Deterministic.
Extraction extractGreedy(const ExtractionProblem &problem);

/// The remaining budget of the integer programs of extractions. It is no clock,
/// so the answer is the same on every machine.
struct ExtractionEffort {
  /// Nodes of CBC's search trees.
  uint64_t nodes = 300;
  /// Simplex iterations of CBC, plus some for each integer program; a solution
  /// with cycles leads to another program. Checked before each program.
  uint64_t iterations = 30'000;
};

/// The cheapest selection, through enumeration and an integer program (CBC),
/// never worse than `start`. When the effort is used up, returns the best
/// selection and the bound so far.
Extraction extractExact(const ExtractionProblem &problem,
                        const Extraction &start, ExtractionEffort &effort);

} // namespace mlc

#endif // MLC_REWRITES_EXTRACT_EXTRACT_H
