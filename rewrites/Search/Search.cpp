//===- Search.cpp - The cheapest function that the rules lead to ----------===//

#include "rewrites/Search/Search.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "rewrites/EGraph/Seed.h"
#include "rewrites/Search/Backtrack.h"
#include "rewrites/Search/Greedy.h"
#include "rewrites/Search/Rewriting.h"
#include "rewrites/Search/TrailGains.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSwitch.h"
#include <chrono>
#include <climits>
#include <cmath>

using namespace mlir;
using namespace mlc;
using namespace mlc::egraph;

StringRef mlc::name(SearchEngine engine) {
  switch (engine) {
  case SearchEngine::EGraph:
    return "egraph";
  case SearchEngine::Greedy:
    return "greedy";
  case SearchEngine::Backtracking:
    return "backtracking";
  }
  llvm_unreachable("unknown engine");
}

std::optional<SearchEngine> mlc::parseSearchEngine(StringRef name) {
  return llvm::StringSwitch<std::optional<SearchEngine>>(name)
      .Case("egraph", SearchEngine::EGraph)
      .Case("greedy", SearchEngine::Greedy)
      .Case("backtracking", SearchEngine::Backtracking)
      .Default(std::nullopt);
}

std::optional<double> SearchReport::gap() const {
  if (!lowerBound)
    return std::nullopt;
  // Sums of the same numbers in another order differ by rounding.
  return chargedSeconds > 0
             ? std::max(0.0, (chargedSeconds - *lowerBound) / chargedSeconds)
             : 0;
}

double mlc::predictSeconds(func::FuncOp function, const CostModel &cost) {
  double total = 0;
  for (Block &block : function.getBody())
    for (Operation &op : block)
      total += cost.seconds(&op);
  return total;
}

static std::vector<std::pair<std::string, int64_t>>
assumedSizes(func::FuncOp function, const CostModel &cost) {
  llvm::SetVector<StringRef> names;
  auto addValues = [&](ValueRange values) {
    for (Type type : values.getTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        for (IntExpr dim : getDims(tensor).value_or(SmallVector<IntExpr>()))
          dim.walkSymbols([&](StringRef name) { names.insert(name); });
  };
  addValues(function.getArguments());
  for (Block &block : function.getBody())
    for (Operation &op : block)
      addValues(op.getResults());
  std::vector<std::pair<std::string, int64_t>> sizes;
  for (StringRef name : names)
    sizes.push_back({name.str(), cost.getSymbolSizes().of(name)});
  return sizes;
}

static StringRef reasonOf(BacktrackStop stop) {
  switch (stop) {
  case BacktrackStop::Exhausted:
    return "exhausted";
  case BacktrackStop::GraphLimit:
    return "graph-limit";
  case BacktrackStop::StepLimit:
    return "step-limit";
  }
  llvm_unreachable("unknown reason");
}

namespace {

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

/// A limit scaled by the option `steps`; at least 1.
uint64_t scaled(uint64_t limit, double steps) {
  const double most = 0x1p62;
  return std::max<uint64_t>(1, std::min(most, std::round(limit * steps)));
}

/// One search through an e-graph.
class EGraphSearch {
public:
  EGraphSearch(func::FuncOp function, RuleSet &rules, const CostModel &cost,
               const SearchOptions &options)
      : function(function), rules(rules), cost(cost), options(options),
        graph(function.getContext()), selector(graph, cost) {
    for (Rule &rule : rules.rules)
      if (isApplicable(rule, options.fp) && isForSearch(rule))
        if (std::unique_ptr<RuleProgram> program = RuleProgram::compile(rule))
          programs.push_back(std::move(program));
    // If many parts share an input, each is merged once per round, so rules
    // that merge more parts need fewer rounds.
    llvm::stable_sort(programs, [](const auto &a, const auto &b) {
      return a->patternResults.size() > b->patternResults.size();
    });
  }

  LogicalResult run(SearchReport &report) {
    auto start = std::chrono::steady_clock::now();
    FunctionNodes origin = FunctionNodes::read(function, graph);
    SaturationLimits limits = options.limits;
    limits.nodes += 4 * graph.numNodes();
    limits.steps = scaled(limits.steps, options.steps);
    llvm::SmallVector<const RuleProgram *> pointers;
    for (const auto &program : programs)
      pointers.push_back(program.get());
    Saturation saturation(graph, pointers, limits);
    std::vector<std::vector<NodeId>> known{origin.operators};
    rewriteGreedily();
    if (auto greedy = seed(greedyTrail, origin, graph, saturation, pointers))
      known.push_back(std::move(*greedy));
    report.stopReason = egraph::name(saturation.run());
    report.nodes = graph.numNodes();
    report.classes = graph.numClasses();
    report.iterations = saturation.getIterations();
    report.numFound = saturation.getApplications().size();
    report.searchSteps = saturation.getSteps();
    report.saturationSeconds = secondsSince(start);

    ExtractionEffort effort;
    effort.nodes = scaled(effort.nodes, options.steps);
    effort.iterations = scaled(effort.iterations, options.steps);
    Selection selection = selector.select(origin.outputs, known, effort);
    report.extractionSeconds = secondsSince(start) - report.saturationSeconds;
    report.lowerBound = std::min(selection.lowerBound, selection.seconds);
    report.isOptimal = selection.isOptimal;
    double original = selector.secondsOf(origin.operators);
    // There is no gain unless it exceeds the tie-breaking margin of selections.
    if (!(selection.seconds < original * (1 - 1e-6)))
      selection = keepAsItIs(origin);
    explain(origin, saturation, selection, report);
    if (failed(rebuildFunction(function, origin, graph, saturation, selection)))
      return failure();
    preferGreedy(report);
    return success();
  }

private:
  /// Runs greedy rewriting. If many parts can be merged, it merges them
  /// directly; the e-graph, which would visit all their subsets, starts from
  /// its result.
  void rewriteGreedily() {
    greedyResult = function.clone();
    GreedyOptions greedy;
    greedy.fp = options.fp;
    greedyTrail = applyGreedily(*greedyResult, rules, cost, greedy);
  }

  /// Keeps the greedy result if it is cheaper. The e-graph prices a node by the
  /// facts of its class, which may differ from those in a function; the price
  /// in the function decides.
  void preferGreedy(SearchReport &report) {
    if (!(predictSeconds(*greedyResult, cost) <
          predictSeconds(function, cost) * (1 - 1e-9)))
      return;
    function.getBody().takeBody(greedyResult->getBody());
    report.trail = std::move(greedyTrail);
    report.lowerBound =
        std::min(*report.lowerBound, predictSeconds(function, cost));
    report.isOptimal = false;
  }

  /// The selection of the function's own operators.
  Selection keepAsItIs(const FunctionNodes &origin) {
    Selection selection;
    for (NodeId node : origin.operators) {
      ArrayRef<NodeId> children = graph.children(node);
      selection.chosen.push_back({node, {children.begin(), children.end()}});
    }
    selection.outputs = origin.outputs;
    return selection;
  }

  void explain(const FunctionNodes &origin, const Saturation &saturation,
               const Selection &selection, SearchReport &report) {
    std::vector<std::string> places;
    for (Operation *op : origin.operations)
      places.push_back(placeOf(op->getLoc()));
    auto gainOf = [&](const Application &application) {
      return selector.secondsOf(application.ematch.nodes) -
             selector.secondsOf(application.built);
    };
    std::vector<std::pair<NodeId, NodeId>> outputs;
    for (auto [before, after] : llvm::zip(origin.outputs, selection.outputs))
      outputs.push_back({before, after});
    report.trail = explainResult(
        graph, saturation, {origin.arguments, origin.operators, places, gainOf},
        selection.chosen, outputs);
    report.trail.function = function.getName().str();
  }

  func::FuncOp function;
  RuleSet &rules;
  const CostModel &cost;
  const SearchOptions &options;
  EGraph graph;
  Selector selector;
  std::vector<std::unique_ptr<RuleProgram>> programs;
  OwningOpRef<func::FuncOp> greedyResult;
  Trail greedyTrail;
};

} // namespace

FailureOr<SearchReport> mlc::search(func::FuncOp function, RuleSet &rules,
                                    const CostModel &predicted,
                                    const SearchOptions &options) {
  auto start = std::chrono::steady_clock::now();
  SearchReport report;
  report.engine = options.engine;
  report.secondsBefore = predictSeconds(function, predicted);
  report.assumedSizes = assumedSizes(function, predicted);
  TrailGains gains(function, predicted);
  const CostModel cost = predicted.chargingNewKernels(function.getBody());
  if (options.engine == SearchEngine::Backtracking) {
    BacktrackOptions backtracking;
    backtracking.fp = options.fp;
    backtracking.steps = scaled(backtracking.steps, options.steps);
    backtracking.maxGraphs = std::min<uint64_t>(
        scaled(backtracking.maxGraphs, options.steps), UINT_MAX);
    BacktrackReport told;
    report.trail =
        applyBacktracking(function, rules, cost, backtracking, &told);
    report.stopReason = reasonOf(told.stop);
    report.searchSteps = told.steps;
  } else if (options.engine == SearchEngine::EGraph &&
             FunctionNodes::canRead(function)) {
    if (failed(EGraphSearch(function, rules, cost, options).run(report)))
      return failure();
  } else {
    // Functions with regions or effects use greedy rewriting, which considers
    // one place at a time.
    report.engine = SearchEngine::Greedy;
    GreedyOptions greedy;
    greedy.fp = options.fp;
    report.trail = applyGreedily(function, rules, cost, greedy);
    report.stopReason =
        report.trail.steps.size() < greedy.maxSteps ? "no-gain" : "step-limit";
    report.searchSteps = report.trail.steps.size();
  }
  report.secondsAfter = predictSeconds(function, predicted);
  report.chargedSeconds = predictSeconds(function, cost);
  gains.share(report.trail, function, rules);
  report.seconds = secondsSince(start);
  if (failed(verify(function)))
    return failure();
  return report;
}
