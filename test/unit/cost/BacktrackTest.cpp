//===- BacktrackTest.cpp - The queue of whole graphs ----------------------===//

#include "rewrites/Search/Backtrack.h"
#include "codegen/target/Target.h"
#include "dialects/Symbolic/Attributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "rewrites/ProofLog/Replay.h"
#include "rewrites/Search/Greedy.h"
#include <catch2/catch.hpp>

using namespace mlc;
using namespace mlir;

namespace {

// A scale behind two convolutions of one input, and movement that cancels.
constexpr const char *text = R"(
!x = tensor<1x32x14x14xf32>
!y = tensor<1x64x14x14xf32>
!w = tensor<64x32x1x1xf32>
func.func @main(%x: !x) -> (!y, !y) {
  %w1 = mlc.fill {dims = #mlc.dims<[64, 32, 1, 1]>, value = #mlc.real<1.0>, type = f32} : () -> !w
  %w2 = mlc.fill {dims = #mlc.dims<[64, 32, 1, 1]>, value = #mlc.real<2.0>, type = f32} : () -> !w
  %s = mlc.fill {dims = #mlc.dims<[64]>, value = #mlc.real<3.0>, type = f32} : () -> tensor<64xf32>
  %0 = mlc.conv %x, %w1 {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[0, 0, 0, 0]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>} : (!x, !w) -> !y
  %1 = mlc.batch_norm %0, %s, %s, %s, %s {epsilon = #mlc.real<0.001>} : (!y, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> !y
  %2 = mlc.conv %x, %w2 {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[0, 0, 0, 0]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>} : (!x, !w) -> !y
  %3 = mlc.batch_norm %2, %s, %s, %s, %s {epsilon = #mlc.real<0.001>} : (!y, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> !y
  return %1, %3 : !y, !y
})";

class Models {
public:
  Models() {
    context.loadDialect<MlcDialect, rule::RuleDialect, func::FuncDialect>();
    REQUIRE(succeeded(addShippedRules(rules, &context)));
  }
  func::FuncOp parse() {
    modules.push_back(parseSourceString<ModuleOp>(text, &context));
    REQUIRE(modules.back());
    return *modules.back()->getOps<func::FuncOp>().begin();
  }

  /// What the checker makes of the model by the trail.
  double replayed(const Trail &trail, const CostModel &cost) {
    func::FuncOp function = parse();
    llvm::Error error = replayTrail(
        function, trail, [&](const TrailStep &step) -> llvm::Expected<Rule *> {
          for (Rule &rule : rules.rules)
            if (rule.hash == step.hash)
              return &rule;
          return llvm::createStringError("no rule " + step.rule);
        });
    std::string message = llvm::toString(std::move(error));
    INFO(message);
    CHECK(message.empty());
    return cost.seconds(function.getBody());
  }

  MLIRContext context;
  RuleSet rules;
  std::vector<OwningOpRef<ModuleOp>> modules;
};

} // namespace

TEST_CASE("backtracking finds no less than greedy, and its trail replays") {
  for (const char *target : {"cpu:x86-64-v3", "gpu:v100"}) {
    INFO(target);
    Models models;
    CostModel cost(llvm::cantFail(parseTarget(target)).cost);
    func::FuncOp plain = models.parse(), greedy = models.parse(),
                 queued = models.parse();
    double before = cost.seconds(plain.getBody());
    applyGreedily(greedy, models.rules, cost);
    BacktrackReport report;
    Trail trail = applyBacktracking(queued, models.rules, cost, {}, &report);
    double greedyCost = cost.seconds(greedy.getBody()),
           cost2 = cost.seconds(queued.getBody());
    CHECK(greedyCost < before);
    CHECK(cost2 <= greedyCost * (1 + 1e-9));
    CHECK(succeeded(verify(queued)));
    CHECK(!trail.steps.empty());
    CHECK(report.stop == BacktrackStop::Exhausted);
    CHECK(report.expanded > 5);
    CHECK(models.replayed(trail, cost) == Approx(cost2));
  }
}

TEST_CASE("limits end the search with the best so far") {
  Models models;
  CostModel cost(llvm::cantFail(parseTarget("gpu:v100")).cost);
  func::FuncOp function = models.parse();
  double before = cost.seconds(function.getBody());
  BacktrackOptions options;
  options.maxGraphs = 1;
  BacktrackReport report;
  applyBacktracking(function, models.rules, cost, options, &report);
  CHECK(report.stop == BacktrackStop::GraphLimit);
  CHECK(report.expanded == 1);
  CHECK(cost.seconds(function.getBody()) < before);

  func::FuncOp late = models.parse();
  options.steps = 0;
  report = {};
  applyBacktracking(late, models.rules, cost, options, &report);
  CHECK(report.stop == BacktrackStop::StepLimit);
  CHECK(report.steps == 0);
  CHECK(cost.seconds(late.getBody()) == Approx(before));
}
