//===- Extract.h - The cheapest graph in a set of equal graphs --*- C++ -*-===//
//
// Both extractions first make the problem smaller (ExtractReduce.h), so that
// most graphs split into parts that are solved by enumeration.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_EXTRACT_EXTRACT_H
#define MLC_REWRITES_EXTRACT_EXTRACT_H

#include "rewrites/Extract/Problem.h"
#include <limits>

namespace mlc {

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

/// Greedy over the graph with sharing, then local improvement; time grows with
/// the size of the problem only. Deterministic.
Extraction extractGreedy(const ExtractionProblem &problem);

/// The cheapest selection, through enumeration and an integer program (CBC),
/// never worse than `start`. When the effort is used up, returns the best
/// selection and the bound so far.
Extraction extractExact(const ExtractionProblem &problem,
                        const Extraction &start, ExtractionEffort &effort);

} // namespace mlc

#endif // MLC_REWRITES_EXTRACT_EXTRACT_H
