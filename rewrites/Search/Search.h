//===- Search.h - The cheapest function that the rules lead to --*- C++ -*-===//
//
// Three engines with one interface: an e-graph (all forms at once, then the
// cheapest), greedy rewriting (every step that pays), and backtracking (a queue
// of whole graphs). They use the same rules and cost model and return the same
// form of result. The original function stays a candidate, so a result is never
// predicted to be slower.
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
/// nullopt if there is no engine of that name.
std::optional<SearchEngine> parseSearchEngine(llvm::StringRef name);

struct SearchOptions {
  SearchEngine engine = SearchEngine::EGraph;
  FpMode fp = FpMode::Fast;
  /// Factor on the default steps of an engine: those of `limits`, of the
  /// extraction and of backtracking, and the graphs that backtracking expands.
  /// Results do not depend on a clock.
  double steps = 1;
  /// Limits of the e-graph. `nodes` come on top of four times the function's
  /// own; they bound memory and are not scaled.
  egraph::SaturationLimits limits;
};

struct SearchReport {
  SearchEngine engine = SearchEngine::EGraph;
  /// Predicted time of one run of the function.
  double secondsBefore = 0, secondsAfter = 0;
  /// The same afterwards, as the engine counts: kernels that the function did
  /// not have cost more by the error of predictions (CostModel).
  double chargedSeconds = 0;
  /// The open dims of the function in the order of first use, with the size
  /// that predictions assume.
  std::vector<std::pair<std::string, int64_t>> assumedSizes;
  /// No function that the engine has seen is cheaper, as the engine counts;
  /// nullopt if the engine proves no bound.
  std::optional<double> lowerBound;
  /// "saturated", "node-limit", "iteration-limit", "step-limit" of an e-graph;
  /// "no-gain" where no step of greedy rewriting pays, or "step-limit";
  /// "exhausted", "graph-limit", "step-limit" of backtracking.
  std::string stopReason;
  /// Steps that the engine has taken (SaturationLimits, BacktrackOptions); for
  /// greedy rewriting, those of the trail.
  uint64_t searchSteps = 0;
  /// Whether the extraction proved that nothing in the e-graph is cheaper.
  /// `numFound` is the number of rule applications in the e-graph.
  bool isOptimal = false;
  size_t numFound = 0;
  /// Time of the search, and of its parts.
  double seconds = 0, saturationSeconds = 0, extractionSeconds = 0;
  /// Sizes of the e-graph.
  size_t nodes = 0, classes = 0, iterations = 0;
  Trail trail;

  /// (chargedSeconds - lowerBound) / chargedSeconds, if there is a bound.
  std::optional<double> gap() const;
};

/// The predicted time of one run of `function`.
double predictSeconds(mlir::func::FuncOp function, const CostModel &cost);

/// Rewrites `function` into the cheapest one that the engine finds with the
/// rules that may be applied. Fails only on a bug, with an error.
mlir::FailureOr<SearchReport> search(mlir::func::FuncOp function,
                                     RuleSet &rules, const CostModel &cost,
                                     const SearchOptions &options = {});

} // namespace mlc

#endif // MLC_REWRITES_SEARCH_SEARCH_H
