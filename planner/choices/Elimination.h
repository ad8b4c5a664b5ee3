//===- Elimination.h - Least costs by eliminating nodes ---------*- C++ -*-===//
//
// Minimizes the costs of nodes and edges, without rows, by eliminating one node
// after the other: a table has the least cost of what is eliminated for each
// choice of the neighbours that are left (bucket elimination, Dechter 1999).
// OptCNN (Jia et al. 2018) does the same where neighbours are two at most.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PLANNER_CHOICES_ELIMINATION_H
#define MLC_PLANNER_CHOICES_ELIMINATION_H

#include "planner/choices/Order.h"

namespace mlc::planner {

/// Costs of choices: for each copy of a node (Order.h) those of its choices.
using CopyCosts = std::vector<std::vector<double>>;

class Elimination {
public:
  /// Takes the edges of `problem`, which must outlive it, and finds the order.
  /// Where no table is larger than `maxEntries`, minima are exact.
  Elimination(const ChoiceProblem &problem, double maxEntries);

  const EliminationOrder &getOrder() const { return order; }
  bool isExact() const { return order.isExact(); }
  /// What a minimum takes: entries of tables, times what is added up in each.
  double steps() const { return stepsOfMinimum; }
  /// The most neighbours that a table is over.
  size_t width() const;

  /// The costs of `problem` for each copy; a node with several shares them out.
  CopyCosts ownCosts() const;

  /// The least sum, and a choice of each copy that has it; infinite if all
  /// choices exclude each other.
  double minimize(const CopyCosts &costs, Choices &choices);

  /// For each copy and choice the least sum with it. `costs` are those of the
  /// last call of minimize.
  void findMarginals(const CopyCosts &costs, CopyCosts &marginals);

private:
  /// A table that a bucket adds: an edge or the minimum of an earlier bucket.
  /// The bucket's own choice is the place with stride 1.
  struct Part {
    const double *values = nullptr;
    std::vector<size_t> strides; ///< for the bucket's scope
    int bucket = -1;
  };
  struct Bucket {
    std::vector<uint32_t> sizes; ///< of the scope
    uint32_t size = 0;           ///< choices of the own copy
    std::vector<Part> parts;
    std::vector<double> minima; ///< over the scope
    /// What all others than it add for a choice of the scope, at least.
    std::vector<double> outside;
  };

  void makeParts(size_t place);
  template <typename Visit> void forEachRow(const Bucket &bucket, Visit visit);

  const ChoiceProblem &problem;
  EliminationOrder order;
  std::vector<Bucket> buckets;
  /// Edges whose later node comes first, as Part wants them.
  std::vector<std::vector<double>> turned;
  double stepsOfMinimum = 0;
  double least = 0;
};

} // namespace mlc::planner

#endif // MLC_PLANNER_CHOICES_ELIMINATION_H
