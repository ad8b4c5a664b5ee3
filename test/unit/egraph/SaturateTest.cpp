//===- SaturateTest.cpp - Matching, conditions, limits --------------------===//

#include "Fixture.h"
#include <catch2/catch.hpp>

using namespace mlc;
using namespace mlc::egraph;
using namespace mlir;
using test::Fixture;

namespace {

/// A function in a graph, saturated.
struct Run {
  Run(Fixture &fixture, func::FuncOp function,
      const SaturationLimits &limits = {})
      : graph(&fixture.context), nodes(FunctionNodes::read(function, graph)),
        programs(fixture.compile()), saturation(graph, programs, limits) {
    stop = saturation.run();
  }

  EGraph graph;
  FunctionNodes nodes;
  std::vector<const RuleProgram *> programs;
  Saturation saturation;
  StopReason stop;
};

const char *conditional = R"(
!t = tensor<?x?xf32, #mlc.dims<[a, b]>>
rule.def @even "for even a only" {
  rule.require 2 divides a
  func.func @before(%x: !t) -> !t {
    %0 = mlc.neg %x : (!t) -> !t
    %1 = mlc.neg %0 : (!t) -> !t
    return %1 : !t
  }
  func.func @after(%x: !t) -> !t {
    return %x : !t
  }
}
)";

std::string doubleNegation(const std::string &type) {
  return "func.func @f(%x: " + type + ") -> " + type + " {" +
         "%0 = mlc.neg %x : (" + type + ") -> " + type +
         "\n%1 = mlc.neg %0 : (" + type + ") -> " + type +
         "\nreturn %1 : " + type + "}";
}

const char *mergeProducts = R"(
!x = tensor<?x?xf32, #mlc.dims<[m, k]>>
!wa = tensor<?x?xf32, #mlc.dims<[k, a]>>
!wb = tensor<?x?xf32, #mlc.dims<[k, b]>>
!wab = tensor<?x?xf32, #mlc.dims<[k, a + b]>>
!ya = tensor<?x?xf32, #mlc.dims<[m, a]>>
!yb = tensor<?x?xf32, #mlc.dims<[m, b]>>
!yab = tensor<?x?xf32, #mlc.dims<[m, a + b]>>
rule.def @merge "two products with one left operand" {
  func.func @before(%x: !x, %w1: !wa, %w2: !wb) -> (!ya, !yb) {
    %0 = mlc.matmul %x, %w1 : (!x, !wa) -> !ya
    %1 = mlc.matmul %x, %w2 : (!x, !wb) -> !yb
    return %0, %1 : !ya, !yb
  }
  func.func @after(%x: !x, %w1: !wa, %w2: !wb) -> (!ya, !yb) {
    %w = mlc.concat %w1, %w2 {axis = 1 : i64} : (!wa, !wb) -> !wab
    %0 = mlc.matmul %x, %w : (!x, !wab) -> !yab
    %1 = mlc.slice %0 {starts = #mlc.dims<[0, 0]>, sizes = #mlc.dims<[m, a]>, steps = #mlc.dims<[1, 1]>} : (!yab) -> !ya
    %2 = mlc.slice %0 {starts = #mlc.dims<[0, a]>, sizes = #mlc.dims<[m, b]>, steps = #mlc.dims<[1, 1]>} : (!yab) -> !yb
    return %1, %2 : !ya, !yb
  }
}
)";

// One product with scaled columns, its weights made in two ways.
const char *foldScales = R"(
!x = tensor<?x?xf32, #mlc.dims<[m, k]>>
!w = tensor<?x?xf32, #mlc.dims<[k, n]>>
!s = tensor<1x?xf32, #mlc.dims<[1, n]>>
!y = tensor<?x?xf32, #mlc.dims<[m, n]>>
rule.def @fold "" {
  func.func @before(%x: !x, %w: !w {rule.constant}, %s: !s {rule.constant}) -> !y {
    %0 = mlc.matmul %x, %w : (!x, !w) -> !y
    %1 = mlc.broadcast %s {dims = #mlc.dims<[m, n]>} : (!s) -> !y
    %2 = mlc.mul %0, %1 : (!y, !y) -> !y
    return %2 : !y
  }
  func.func @after(%x: !x, %w: !w, %s: !s) -> !y {
    %0 = mlc.broadcast %s {dims = #mlc.dims<[k, n]>} : (!s) -> !w
    %1 = mlc.mul %w, %0 : (!w, !w) -> !w
    %2 = mlc.matmul %x, %1 : (!x, !w) -> !y
    return %2 : !y
  }
}
rule.def @fold_otherwise "" {
  func.func @before(%x: !x, %w: !w {rule.constant}, %s: !s {rule.constant}) -> !y {
    %0 = mlc.matmul %x, %w : (!x, !w) -> !y
    %1 = mlc.broadcast %s {dims = #mlc.dims<[m, n]>} : (!s) -> !y
    %2 = mlc.mul %0, %1 : (!y, !y) -> !y
    return %2 : !y
  }
  func.func @after(%x: !x, %w: !w, %s: !s) -> !y {
    %0 = mlc.compute %w, %s {definition = "(w, s) Y[i, j] = w[i, j] * s[0, j]", dims = #mlc.dims<[k, n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!w, !s) -> !w
    %1 = mlc.matmul %x, %0 : (!x, !w) -> !y
    return %1 : !y
  }
}
)";

const char *scaledProduct = R"(
func.func @f(%x: tensor<5x3xf32>) -> tensor<5x4xf32> {
  %w = mlc.constant dense<0.5> : tensor<3x4xf32>
  %c = mlc.constant dense<3.0> : tensor<1x4xf32>
  %0 = mlc.matmul %x, %w : (tensor<5x3xf32>, tensor<3x4xf32>) -> tensor<5x4xf32>
  %1 = mlc.broadcast %c {dims = #mlc.dims<[5, 4]>} : (tensor<1x4xf32>) -> tensor<5x4xf32>
  %2 = mlc.mul %0, %1 : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5x4xf32>
  return %2 : tensor<5x4xf32>
})";

/// How many classes hold a product of this width.
unsigned productsOfWidth(const EGraph &graph, int64_t width) {
  unsigned count = 0;
  for (NodeId node = 0; node < graph.numNodes(); ++node)
    if (graph.find(node) == node)
      for (NodeId member : graph.classOf(node).nodes)
        if (const Operator &op = graph.operatorOf(member);
            op.name && op.name->getStringRef() == "mlc.matmul")
          count +=
              cast<ShapedType>(graph.classOf(node).type).getDimSize(1) == width;
  return count;
}

} // namespace

TEST_CASE("a condition decides by the values of the match") {
  for (auto [type, holds] :
       {std::pair("tensor<4x3xf32>", true), std::pair("tensor<5x3xf32>", false),
        std::pair("tensor<?x3xf32, #mlc.dims<[2 * N, 3]>>", true),
        std::pair("tensor<?x3xf32, #mlc.dims<[N, 3]>>", false)}) {
    Fixture fixture;
    fixture.addRules(conditional);
    Run run(fixture, fixture.function(doubleNegation(type)));
    CHECK(run.stop == StopReason::Saturated);
    CHECK(run.graph.areEqual(run.nodes.outputs[0], run.nodes.arguments[0]) ==
          holds);
  }
}

TEST_CASE("a rule lies over what other rules have made equal") {
  Fixture fixture;
  fixture.addRules(conditional);
  // Four negations: the inner pair and the outer pair, and all of them.
  Run run(fixture, fixture.function(R"(
func.func @f(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = mlc.neg %x : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = mlc.neg %0 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = mlc.neg %1 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = mlc.neg %2 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %3 : tensor<2x2xf32>
})"));
  CHECK(run.graph.areEqual(run.nodes.outputs[0], run.nodes.arguments[0]));
  CHECK(run.graph.numClasses() == 2);
}

TEST_CASE("parts of a multi-output rule are found through what they share") {
  Fixture fixture;
  fixture.addRules(mergeProducts);
  Run run(fixture, fixture.function(R"(
func.func @f(%x: tensor<2x4xf32>, %y: tensor<2x4xf32>, %a: tensor<4x3xf32>, %b: tensor<4x5xf32>) -> (tensor<2x3xf32>, tensor<2x5xf32>, tensor<2x5xf32>) {
  %0 = mlc.matmul %x, %a : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  %1 = mlc.matmul %x, %b : (tensor<2x4xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  %2 = mlc.matmul %y, %b : (tensor<2x4xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  return %0, %1, %2 : tensor<2x3xf32>, tensor<2x5xf32>, tensor<2x5xf32>
})"));
  // The pair that shares %x, in one order; %y's product has no partner.
  CHECK(productsOfWidth(run.graph, 8) == 1);
  CHECK(productsOfWidth(run.graph, 10) == 0);
}

TEST_CASE("of many parts each is merged once a round") {
  Fixture fixture;
  fixture.addRules(mergeProducts);
  std::string arguments = "%x: tensor<2x4xf32>", body, results, types;
  for (char i = '0'; i < '8'; ++i) {
    arguments += std::string(", %w") + i + ": tensor<4x3xf32>";
    body += std::string("%y") + i + " = mlc.matmul %x, %w" + i +
            " : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>\n";
    results += std::string(i == '0' ? "" : ", ") + "%y" + i;
    types += std::string(i == '0' ? "" : ", ") + "tensor<2x3xf32>";
  }
  SaturationLimits limits;
  limits.multiOutputIterations = 3;
  Run run(fixture,
          fixture.function("func.func @f(" + arguments + ") -> (" + types +
                           ") {\n" + body + "return " + results + " : " +
                           types + "\n}"),
          limits);
  // Four pairs, two fours, all eight; 28 pairs alone without the limit.
  CHECK(productsOfWidth(run.graph, 6) == 4);
  CHECK(productsOfWidth(run.graph, 9) == 0);
  CHECK(productsOfWidth(run.graph, 12) == 2);
  CHECK(productsOfWidth(run.graph, 24) == 1);
}

TEST_CASE("parts that depend on one another are not merged") {
  Fixture fixture;
  fixture.addRules(mergeProducts);
  // The second right operand is made from the first product.
  Run run(fixture, fixture.function(R"(
func.func @f(%x: tensor<4x4xf32>, %a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = mlc.matmul %x, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = mlc.relu %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = mlc.matmul %x, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
})"));
  CHECK(run.stop == StopReason::Saturated);
  CHECK(run.saturation.getApplications().empty());
}

TEST_CASE("limits end a run that has no end of its own") {
  const char *text = R"(
func.func @f(%a: tensor<2x2xf32>, %b: tensor<2x2xf32>, %c: tensor<2x2xf32>, %d: tensor<2x2xf32>, %e: tensor<2x2xf32>, %f: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = mlc.add %a, %b : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = mlc.add %0, %c : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = mlc.add %1, %d : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = mlc.add %2, %e : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %4 = mlc.add %3, %f : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %4 : tensor<2x2xf32>
})";
  auto stopWith = [&](const SaturationLimits &limits) {
    Fixture fixture;
    fixture.addRules(test::sumRules);
    return Run(fixture, fixture.function(text), limits).stop;
  };
  SaturationLimits limits;
  limits.nodes = 100;
  CHECK(stopWith(limits) == StopReason::NodeLimit);
  limits = {};
  limits.iterations = 2;
  CHECK(stopWith(limits) == StopReason::IterationLimit);
  limits = {};
  limits.steps = 50;
  CHECK(stopWith(limits) == StopReason::StepLimit);
  // Enough of everything: all 2^6 - 1 - 6 proper sums of the six, and the six.
  limits = {};
  limits.iterations = 40;
  CHECK(stopWith(limits) == StopReason::Saturated);
}

TEST_CASE("a rule that is found too often pauses, and comes back") {
  Fixture fixture;
  fixture.addRules(test::sumRules);
  SaturationLimits limits;
  limits.matchesPerRule = 4;
  limits.iterations = 60;
  Run run(fixture, fixture.function(R"(
func.func @f(%a: tensor<2x2xf32>, %b: tensor<2x2xf32>, %c: tensor<2x2xf32>, %d: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %0 = mlc.add %a, %b : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = mlc.add %0, %c : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = mlc.add %1, %d : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = mlc.add %c, %d : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %4 = mlc.add %b, %3 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %5 = mlc.add %4, %a : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %2, %5 : tensor<2x2xf32>, tensor<2x2xf32>
})"),
          limits);
  CHECK(run.stop == StopReason::Saturated);
  CHECK(run.graph.areEqual(run.nodes.outputs[0], run.nodes.outputs[1]));
}

TEST_CASE("rounds in which nothing could be found do not count") {
  Fixture fixture;
  fixture.addRules(conditional);
  std::string arguments, body, results, types;
  for (char i = '0'; i < '5'; ++i) {
    std::string separator = i == '0' ? "" : ", ";
    arguments += separator + "%x" + i + ": tensor<2x2xf32>";
    for (auto [to, from] : {std::pair("y", "x"), std::pair("z", "y")})
      body += std::string("%") + to + i + " = mlc.neg %" + from + i +
              " : (tensor<2x2xf32>) -> tensor<2x2xf32>\n";
    results += separator + "%z" + i;
    types += separator + "tensor<2x2xf32>";
  }
  SaturationLimits limits;
  limits.matchesPerRule = 1;
  limits.iterations = 6;
  Run run(fixture,
          fixture.function("func.func @f(" + arguments + ") -> (" + types +
                           ") {\n" + body + "return " + results + " : " +
                           types + "\n}"),
          limits);
  // Found too often for 1, 2 and 4 at once; applied; and nothing more to find.
  CHECK(run.stop == StopReason::Saturated);
  CHECK(run.saturation.getIterations() == 4);
  CHECK(run.saturation.getApplications().size() == 5);
}

TEST_CASE("of several ways to make a weight, one is kept") {
  for (bool mergeWeights : {true, false}) {
    Fixture fixture;
    fixture.addRules(foldScales);
    SaturationLimits limits;
    limits.mergeWeights = mergeWeights;
    Run run(fixture, fixture.function(scaledProduct), limits);
    CHECK(run.stop == StopReason::Saturated);
    CHECK(run.saturation.getApplications().size() == (mergeWeights ? 1 : 2));
    // The scale of the product, and products with weights of their own.
    CHECK(run.graph.classOf(run.nodes.outputs[0]).nodes.size() ==
          (mergeWeights ? 2 : 3));
  }
}

TEST_CASE("no rule is laid over what only makes a weight") {
  for (bool mergeWeights : {true, false}) {
    Fixture fixture;
    fixture.addRules(conditional);
    SaturationLimits limits;
    limits.mergeWeights = mergeWeights;
    Run run(fixture, fixture.function(R"(
func.func @f(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %w = mlc.constant dense<0.5> : tensor<4x4xf32>
  %0 = mlc.neg %w : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = mlc.neg %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = mlc.matmul %x, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
})"),
            limits);
    CHECK(run.saturation.getApplications().empty() == mergeWeights);
  }
}

TEST_CASE("a kernel is enlarged to that of another reader of its input") {
  Fixture fixture;
  REQUIRE(succeeded(addShippedRules(fixture.rules, &fixture.context)));
  llvm::erase_if(fixture.rules.rules, [](Rule &rule) {
    return rule.getName() != "conv_as_larger_conv";
  });
  Run run(fixture, fixture.function(R"(
func.func @f(%x: tensor<1x4x8x8xf32>) -> (tensor<1x2x8x8xf32>, tensor<1x6x8x8xf32>) {
  %w1 = mlc.constant dense<0.5> : tensor<2x4x1x1xf32>
  %w3 = mlc.constant dense<0.5> : tensor<6x4x3x3xf32>
  %0 = mlc.conv %x, %w1 {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[0, 0, 0, 0]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>} : (tensor<1x4x8x8xf32>, tensor<2x4x1x1xf32>) -> tensor<1x2x8x8xf32>
  %1 = mlc.conv %x, %w3 {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[1, 1, 1, 1]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x8x8xf32>
  return %0, %1 : tensor<1x2x8x8xf32>, tensor<1x6x8x8xf32>
})"));
  CHECK(run.stop == StopReason::Saturated);
  REQUIRE(run.saturation.getApplications().size() == 1);
  const Application &application = run.saturation.getApplications().front();
  Bindings bindings = application.ematch.bindings(*application.program);
  CHECK(bindings.integers.lookup("e").isConstant(1));
  CHECK(bindings.integers.lookup("f").isConstant(1));
}
