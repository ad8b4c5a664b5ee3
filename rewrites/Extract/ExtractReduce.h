//===- ExtractReduce.h - Smaller extraction problems ------------*- C++ -*-===//
//
// What can be decided without a search: classes that cost nothing, nodes that
// another one beats, classes with one node. What is left is cut where every
// selection must pass (articulation classes) into parts that share nothing.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_EXTRACT_EXTRACTREDUCE_H
#define MLC_REWRITES_EXTRACT_EXTRACTREDUCE_H

#include "rewrites/Extract/Problem.h"

namespace mlc {

/// The cheapest way to each class when nothing is shared: a bound from above,
/// and a selection without cycles.
struct TreeCosts {
  std::vector<double> cost; ///< by class; infinite: cannot be extracted
  std::vector<int> choice;  ///< by class
};
/// Answers the question for one problem with different costs of its nodes.
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

/// A bound from below: each class's cost is shared out among all that could
/// use it. Valid whatever is shared.
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
  /// The selection of the whole problem that selections of the parts stand for.
  std::vector<int> lift(llvm::ArrayRef<std::vector<int>> selections) const;
  /// What a selection of the whole problem is in a part; incomplete where it
  /// took nodes that were dropped.
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
  /// This problem in the common form; `classOf` receives the class of each
  /// class that is in it, -1 for the others.
  ExtractionProblem current(std::vector<int> &classOf) const;
  std::vector<bool> reachable() const;
  bool isRoot(unsigned eclass) const;

  const ExtractionProblem &problem;
  std::vector<std::vector<Node>> classes;
  std::vector<unsigned> roots;
  /// Original nodes chosen in any case, and those to take where a class that
  /// costs nothing is needed.
  std::vector<unsigned> taken;
  std::vector<int> free;
  double fixed = 0;
  bool feasible = true;

  std::vector<ExtractionProblem> problems;
  /// By part and node: what it stands for.
  std::vector<std::vector<std::vector<unsigned>>> originals;
};

} // namespace mlc

#endif // MLC_REWRITES_EXTRACT_EXTRACTREDUCE_H
