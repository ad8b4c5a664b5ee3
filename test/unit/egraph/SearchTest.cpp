//===- SearchTest.cpp - What comes out of a search ------------------------===//

#include "rewrites/Search/Search.h"
#include "Fixture.h"
#include "dialects/Graph/ModelOps.h"
#include "mlir/IR/Verifier.h"
#include "rewrites/Search/Rewriting.h"
#include <catch2/catch.hpp>

using namespace mlc;
using namespace mlir;
using test::Fixture;

namespace {

CostModel testModel() {
  CostParameters parameters;
  parameters.secondsPerKernel = 1e-6;
  return CostModel(parameters);
}

const char *network = R"(
func.func @main(%x: tensor<1x4x8x8xf32>) -> tensor<1x8x8x8xf32> {
  %w1 = mlc.constant dense<0.5> : tensor<8x4x1x1xf32>
  %w2 = mlc.constant dense<0.25> : tensor<8x4x1x1xf32>
  %s = mlc.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  %0 = mlc.conv %x, %w1 {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[0, 0, 0, 0]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>} : (tensor<1x4x8x8xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x8x8xf32> loc("first")
  %1 = mlc.batch_norm %0, %s, %s, %s, %s {epsilon = #mlc.real<0.001>} : (tensor<1x8x8x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x8x8xf32> loc("norm")
  %2 = mlc.conv %x, %w2 {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[0, 0, 0, 0]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>} : (tensor<1x4x8x8xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x8x8xf32> loc("second")
  %3 = mlc.add %1, %2 : (tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32> loc("sum")
  %4 = mlc.relu %3 : (tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32> loc("relu")
  %5 = mlc.relu %4 : (tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32> loc("again")
  return %5 : tensor<1x8x8x8xf32>
})";

struct Outcome {
  SearchReport report;
  std::string text;
  std::vector<std::string> operators;
  bool isNamed = true;
};

Outcome searchIn(const char *text, SearchEngine engine,
                 FpMode fp = FpMode::Fast) {
  Fixture fixture;
  REQUIRE(succeeded(addShippedRules(fixture.rules, &fixture.context)));
  func::FuncOp function = fixture.function(text);
  SearchOptions options;
  options.engine = engine;
  options.fp = fp;
  FailureOr<SearchReport> report =
      search(function, fixture.rules, testModel(), options);
  REQUIRE(succeeded(report));
  REQUIRE(succeeded(verify(function)));
  Outcome outcome{*report, "", {}};
  llvm::raw_string_ostream(outcome.text) << function;
  function.walk([&](Operation *op) {
    outcome.operators.push_back(op->getName().getStringRef().str());
    outcome.isNamed &= isa<func::ReturnOp, func::FuncOp, ConstantOp>(op) ||
                       !placeOf(op->getLoc()).empty();
  });
  return outcome;
}

size_t countOf(const Outcome &outcome, const char *name) {
  return llvm::count(outcome.operators, name);
}

} // namespace

TEST_CASE("the e-graph merges what greedy rewriting must leave apart") {
  Outcome greedy = searchIn(network, SearchEngine::Greedy);
  Outcome egraph = searchIn(network, SearchEngine::EGraph);
  CHECK(egraph.report.secondsAfter <= greedy.report.secondsAfter * (1 + 1e-9));
  CHECK(egraph.report.secondsAfter < egraph.report.secondsBefore);
  CHECK(countOf(egraph, "mlc.batch_norm") == 0);
  CHECK(countOf(egraph, "mlc.relu") == 1);
  CHECK(countOf(egraph, "mlc.conv") <= countOf(greedy, "mlc.conv"));
  CHECK(egraph.report.isOptimal);
  CHECK(egraph.report.stopReason == "saturated");
  REQUIRE(egraph.report.gap());
  CHECK(*egraph.report.gap() < 1e-6);
  // What was predicted from classes is what the function is predicted to take.
  CHECK(egraph.report.secondsAfter ==
        Approx(*egraph.report.lowerBound).epsilon(1e-6));
}

TEST_CASE("operators keep the names of those that they come from") {
  CHECK(searchIn(network, SearchEngine::EGraph).isNamed);
}

TEST_CASE("a trail holds only the steps that the result needs") {
  Trail trail = searchIn(network, SearchEngine::EGraph).report.trail;
  REQUIRE_FALSE(trail.steps.empty());
  bool isIdempotent = false;
  for (const TrailStep &step : trail.steps) {
    CHECK(step.before.size() > 0);
    isIdempotent |= llvm::StringRef(step.rule).starts_with("relu_of_relu") &&
                    step.places == std::vector<std::string>{"relu", "again"};
  }
  CHECK(isIdempotent);
  // Two chosen operators are never one term, and operands come first.
  std::set<TermId> there{0};
  for (const ChosenOperator &op : trail.chosen) {
    for (TermId operand : op.operands)
      CHECK(there.count(operand));
    CHECK(there.insert(op.term).second);
  }
  REQUIRE(trail.outputs.size() == 1);
  CHECK(there.count(trail.outputs[0]));
  // As text and back.
  std::string json;
  llvm::raw_string_ostream(json) << toJson(llvm::ArrayRef(trail));
  auto read = parseTrails(json);
  REQUIRE(static_cast<bool>(read));
  std::string again;
  llvm::raw_string_ostream(again) << toJson(*read);
  CHECK(again == json);
}

TEST_CASE("two searches are one and the same") {
  Outcome first = searchIn(network, SearchEngine::EGraph);
  Outcome second = searchIn(network, SearchEngine::EGraph);
  CHECK(first.text == second.text);
  std::string one, two;
  llvm::raw_string_ostream(one) << toJson(llvm::ArrayRef(first.report.trail));
  llvm::raw_string_ostream(two) << toJson(llvm::ArrayRef(second.report.trail));
  CHECK(one == two);
}

TEST_CASE("what cannot be made cheaper stays as it is") {
  const char *text = R"(
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = mlc.exp %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
})";
  Outcome outcome = searchIn(text, SearchEngine::EGraph);
  CHECK(outcome.report.trail.steps.empty());
  CHECK(outcome.report.secondsAfter == outcome.report.secondsBefore);
  CHECK(countOf(outcome, "mlc.exp") == 1);
  CHECK(outcome.report.assumedSizes.empty());
}

TEST_CASE("a prediction says what open dims were taken to be") {
  const char *text = R"(
!in = tensor<?x?x4xf32, #mlc.dims<[N, W * 2, 4]>>
func.func @main(%x: !in) -> !in {
  %0 = mlc.exp %x : (!in) -> !in
  return %0 : !in
})";
  int64_t size = testModel().getSymbolSizes().others;
  for (SearchEngine engine : {SearchEngine::EGraph, SearchEngine::Greedy})
    CHECK(
        searchIn(text, engine).report.assumedSizes ==
        std::vector<std::pair<std::string, int64_t>>{{"N", size}, {"W", size}});
}

TEST_CASE("operators with several results go in and come out whole") {
  Outcome outcome = searchIn(R"(
func.func @main(%x: tensor<1x1x2x4xf32>) -> (tensor<1x1x2x2xi64>, tensor<1x1x2x2xf32>) {
  %0 = mlc.relu %x : (tensor<1x1x2x4xf32>) -> tensor<1x1x2x4xf32>
  %1 = mlc.relu %0 : (tensor<1x1x2x4xf32>) -> tensor<1x1x2x4xf32>
  %v, %i = mlc.top_k %1 {axis = 3 : i64, k = #mlc.int<2>, largest = true, sorted = true} : (tensor<1x1x2x4xf32>) -> (tensor<1x1x2x2xf32>, tensor<1x1x2x2xi64>)
  %2 = mlc.neg %v : (tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  %3 = mlc.neg %2 : (tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  return %i, %3 : tensor<1x1x2x2xi64>, tensor<1x1x2x2xf32>
})",
                             SearchEngine::EGraph);
  CHECK(countOf(outcome, "mlc.relu") == 1);
  CHECK(countOf(outcome, "mlc.top_k") == 1);
  CHECK(countOf(outcome, "mlc.neg") == 0);
  // Terms: %x, %0, %1, then both results of the operator.
  const Trail &trail = outcome.report.trail;
  REQUIRE(trail.chosen.size() == 2);
  CHECK(trail.outputs == std::vector<TermId>{4, 3});
}

TEST_CASE("strict floats allow bit-exact rules alone") {
  Fixture fixture;
  REQUIRE(succeeded(addShippedRules(fixture.rules, &fixture.context)));
  std::map<std::string, FloatClass> classes;
  for (Rule &rule : fixture.rules.rules)
    if (rule.proved)
      classes[rule.getName().str()] = *rule.proved;
  Outcome strict = searchIn(network, SearchEngine::EGraph, FpMode::Strict);
  CHECK_FALSE(strict.report.trail.steps.empty());
  for (const TrailStep &step : strict.report.trail.steps)
    CHECK(classes.at(step.rule) == FloatClass::BitExact);
}

// A dozen terms can be added in more orders than can be looked at.
TEST_CASE("a long sum does not keep a search busy") {
  const std::string type = "tensor<1x4x6x6xf32>";
  std::string body, arguments = "%x: " + type, last = "%x";
  for (int i = 0; i < 12; ++i) {
    std::string n = std::to_string(i);
    arguments += ", %t" + n + ": " + type;
    body += "%r" + n + " = mlc.relu %t" + n + " : (" + type + ") -> " + type +
            "\n%s" + n + " = mlc.add " + last + ", %r" + n + " : (" + type +
            ", " + type + ") -> " + type + "\n";
    last = "%s" + n;
  }
  const std::string text = "func.func @main(" + arguments + ") -> " + type +
                           " {\n" + body + "return " + last + " : " + type +
                           "\n}";
  Outcome outcome = searchIn(text.c_str(), SearchEngine::EGraph);
  CHECK(outcome.report.stopReason == "saturated");
  CHECK(outcome.report.nodes < 100);
  CHECK(outcome.report.isOptimal);
}

TEST_CASE("rules that only reorder are told by their form") {
  Fixture fixture;
  fixture.addRules(test::sumRules);
  for (Rule &rule : fixture.rules.rules)
    CHECK(onlyReorders(rule));
  Fixture shipped;
  REQUIRE(succeeded(addShippedRules(shipped.rules, &shipped.context)));
  for (Rule &rule : shipped.rules.rules)
    if (rule.origin == RuleOrigin::Written ||
        rule.getName().starts_with("relu_of_max_pool") ||
        rule.getName().starts_with("conv_batch_norm")) {
      INFO(rule.getName().str());
      CHECK_FALSE(onlyReorders(rule));
    }
}

TEST_CASE("rules that only move a slice are told by their form") {
  Fixture shipped;
  REQUIRE(succeeded(addShippedRules(shipped.rules, &shipped.context)));
  unsigned moved = 0;
  for (Rule &rule : shipped.rules.rules) {
    INFO(rule.getName().str());
    bool isAbout = rule.getName() == "first_rows_of_matmul";
    moved += isAbout;
    if (isAbout)
      CHECK(onlyMovesSlice(rule));
    // These take a slice away, or make two of one operator.
    if (rule.getName() == "first_rows_of_concat_rows_is_identity" ||
        rule.getName().ends_with("_in_parts") ||
        rule.getName().starts_with("slice_of_slice"))
      CHECK_FALSE(onlyMovesSlice(rule));
  }
  CHECK(moved == 1);
}
