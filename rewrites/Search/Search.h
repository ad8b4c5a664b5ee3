//===- Search.h - The cheapest function that the rules lead to --*- C++ -*-===//
//
// Three engines behind one function: an e-graph (all ways at once, then the
// cheapest of them), greedy rewriting (whatever pays, where it pays), and
// backtracking (a queue of whole graphs). They read the same rules and the same
// cost model, and they answer in the same form. The function as it was stays a
// candidate: a result is never predicted to be slower.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_SEARCH_SEARCH_H
#define MLC_REWRITES_SEARCH_SEARCH_H

#include "rewrites/Cost/Cost.h"
#include "rewrites/EGraph/Saturate.h"
#include "rewrites/ProofLog/Trail.h"

namespace mlc {

enum class SearchEngine { EGraph, Greedy, Backtracking };
llvm::StringRef name(SearchEngine engine); // "egraph"
/// Nothing when there is no engine of that name.
std::optional<SearchEngine> parseSearchEngine(llvm::StringRef name);

struct SearchOptions {
  SearchEngine engine = SearchEngine::EGraph;
  FpMode fp = FpMode::Fast;
  /// So many times the steps that an engine takes by default: those of
  /// `limits`, of the extraction and of backtracking, and the graphs that
  /// backtracking expands. No clock decides what is found.
  double steps = 1;
  /// Of the e-graph. `nodes` are on top of four times the function's own, and
  /// bound the memory: they are what they are.
  egraph::SaturationLimits limits;
};

struct SearchReport {
  SearchEngine engine = SearchEngine::EGraph;
  /// Predicted, of one run of the function.
  double secondsBefore = 0, secondsAfter = 0;
  /// The open dims of the function, in the order in which they first occur,
  /// and the size that predictions take each to have.
  std::vector<std::pair<std::string, int64_t>> assumedSizes;
  /// No function that the engine has seen is cheaper; where it proves none,
  /// nothing.
  std::optional<double> lowerBound;
  /// "saturated", "node-limit", "iteration-limit", "step-limit" of an e-graph;
  /// "no-gain" where no step of greedy rewriting pays, or "step-limit";
  /// "exhausted", "graph-limit", "step-limit" of backtracking.
  std::string stopReason;
  /// That the engine has taken (SaturationLimits, BacktrackOptions); of greedy
  /// rewriting, those of the trail.
  uint64_t searchSteps = 0;
  /// The extraction proved that nothing in the e-graph is cheaper, which
  /// `numFound` applications of rules have filled.
  bool isOptimal = false;
  size_t numFound = 0;
  /// That the search took, and parts of it.
  double seconds = 0, saturationSeconds = 0, extractionSeconds = 0;
  /// Sizes of the e-graph.
  size_t nodes = 0, classes = 0, iterations = 0;
  Trail trail;

  /// (secondsAfter - lowerBound) / secondsAfter, where there is a bound.
  std::optional<double> gap() const;
};

/// What one run of `function` is predicted to take.
double predictSeconds(mlir::func::FuncOp function, const CostModel &cost);

/// Rewrites `function` into the cheapest one that the engine finds with the
/// rules that may be applied. Fails only on a bug, with an error.
mlir::FailureOr<SearchReport> search(mlir::func::FuncOp function,
                                     RuleSet &rules, const CostModel &cost,
                                     const SearchOptions &options = {});

} // namespace mlc

#endif // MLC_REWRITES_SEARCH_SEARCH_H
