//===- ExtractReduce.h - Smaller extraction problems ------------*- C++ -*-===//
//
// Decides what needs no search: classes without cost, dominated nodes, classes
// with one node. The rest is cut into parts that share nothing, at classes that
// every selection contains (articulation classes).
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_EXTRACT_EXTRACTREDUCE_H
#define MLC_REWRITES_EXTRACT_EXTRACTREDUCE_H

#include "rewrites/Extract/Problem.h"

namespace mlc {

/// The cheapest tree for each class without sharing: an upper bound, and a
/// selection without cycles.
struct TreeCosts {
  std::vector<double> cost; ///< by class; infinite: cannot be extracted
  std::vector<int> choice;  ///< by class
};
/// Computes tree costs of one problem for different node costs.
class TreeSolver {
public:
  explicit TreeSolver(const ExtractionProblem &problem);
  /// Valid until the next call.
  const TreeCosts &solve(llvm::ArrayRef<double> costs);

  /// The nodes that use a class.
  llvm::ArrayRef<unsigned> usersOf(unsigned eclass) const {
    return llvm::ArrayRef(users).slice(first[eclass],
                                       first[eclass + 1] - first[eclass]);
  }

private:
  const ExtractionProblem &problem;
  std::vector<unsigned> users, first; ///< by class: first[c] .. first[c + 1]
  TreeCosts result;
  std::vector<double> sum;
  std::vector<unsigned> waitsFor;
  std::vector<std::pair<double, unsigned>> queue;
};

TreeCosts treeCosts(const ExtractionProblem &problem);
std::vector<double> nodeCosts(const ExtractionProblem &problem);

/// A lower bound: each class's cost is divided among all classes that could use
/// it. Valid for any sharing.
double shareBound(const ExtractionProblem &problem);

/// Strongly connected components of the classes, numbered.
std::vector<unsigned> stronglyConnected(const ExtractionProblem &problem);

class ExtractReduction {
public:
  explicit ExtractReduction(const ExtractionProblem &problem);

  /// Whether any selection exists.
  bool isFeasible() const { return feasible; }
  /// The parts, which share no class. Their costs and `fixedCost` add up.
  const std::vector<ExtractionProblem> &parts() const { return problems; }
  double fixedCost() const { return fixed; }
  /// The selection of the whole problem given by selections of the parts.
  std::vector<int> lift(llvm::ArrayRef<std::vector<int>> selections) const;
  /// A selection of the whole problem restricted to a part; incomplete if it
  /// used dropped nodes.
  std::vector<int> restrict(size_t part, llvm::ArrayRef<int> chosen) const;

private:
  struct Node {
    double cost;
    std::vector<unsigned> children;  ///< sorted classes
    std::vector<unsigned> originals; ///< nodes that it stands for
  };

  void load();
  bool simplify();
  bool dropHopeless();
  bool fixRoots();
  bool dropBeaten();
  bool contract();
  void cut();
  bool isRequired(unsigned eclass) const;
  void split();
  /// The current problem as an ExtractionProblem; `classOf` receives the new
  /// number of each class, or -1.
  ExtractionProblem current(std::vector<int> &classOf) const;
  std::vector<bool> reachable() const;
  bool isRoot(unsigned eclass) const;

  const ExtractionProblem &problem;
  std::vector<std::vector<Node>> classes;
  std::vector<unsigned> roots;
  /// Original nodes that are always chosen, and those to take if a class
  /// without cost is needed.
  std::vector<unsigned> taken;
  std::vector<int> free;
  double fixed = 0;
  bool feasible = true;

  std::vector<ExtractionProblem> problems;
  /// By part and node: the original nodes that it stands for.
  std::vector<std::vector<std::vector<unsigned>>> originals;
};

} // namespace mlc

#endif // MLC_REWRITES_EXTRACT_EXTRACTREDUCE_H
