//===- EquationsTest.cpp - Sizes as products ------------------------------===//

#include "Fixture.h"
#include "rewrites/Rules/Match.h"
#include <catch2/catch.hpp>
#include <limits>
#include <set>

using namespace mlc;
using namespace mlc::egraph;
using namespace mlir;
using test::Fixture;

namespace {

/// A vector as a matrix, in any way; in the way that another vector says; and a
/// rule for which the way is all the same.
const char *asMatrix = R"(
!v = tensor<?xf32, #mlc.dims<[a * b]>>
!m = tensor<?x?xf32, #mlc.dims<[a, b]>>
!b = tensor<?xf32, #mlc.dims<[b]>>
rule.def @as_matrix "relu of a matrix" {
  func.func @before(%x: !v) -> !v {
    %0 = mlc.relu %x : (!v) -> !v
    return %0 : !v
  }
  func.func @after(%x: !v) -> !v {
    %0 = mlc.reshape %x {dims = #mlc.dims<[a, b]>} : (!v) -> !m
    %1 = mlc.relu %0 : (!m) -> !m
    %2 = mlc.reshape %1 {dims = #mlc.dims<[a * b]>} : (!m) -> !v
    return %2 : !v
  }
}
rule.def @as_matrix_of_rows "relu of a vector of b, and of as many rows of b" {
  func.func @before(%x: !v, %y: !b) -> (!v, !b) {
    %0 = mlc.relu %x : (!v) -> !v
    %1 = mlc.relu %y : (!b) -> !b
    return %0, %1 : !v, !b
  }
  func.func @after(%x: !v, %y: !b) -> (!v, !b) {
    %0 = mlc.reshape %x {dims = #mlc.dims<[a, b]>} : (!v) -> !m
    %1 = mlc.relu %0 : (!m) -> !m
    %2 = mlc.reshape %1 {dims = #mlc.dims<[a * b]>} : (!m) -> !v
    %3 = mlc.relu %y : (!b) -> !b
    return %2, %3 : !v, !b
  }
}
rule.def @twice "relu of relu" {
  func.func @before(%x: !v) -> !v {
    %0 = mlc.relu %x : (!v) -> !v
    %1 = mlc.relu %0 : (!v) -> !v
    return %1 : !v
  }
  func.func @after(%x: !v) -> !v {
    %0 = mlc.reshape %x {dims = #mlc.dims<[a * b]>} : (!v) -> !v
    %1 = mlc.relu %0 : (!v) -> !v
    return %1 : !v
  }
}
)";

const std::vector<Split> ab = {{"a", "b"}};

/// The values of a and b in the solutions of `coefficient` a b = actual.
std::vector<std::pair<int64_t, int64_t>>
solutions(IntExpr coefficient, IntExpr actual, llvm::ArrayRef<Split> splits) {
  MLIRContext *context = actual.getContext();
  Bindings bindings;
  Equations equations(bindings);
  equations.add(coefficient * IntExpr::symbol(context, "a") *
                    IntExpr::symbol(context, "b"),
                actual);
  std::vector<std::pair<int64_t, int64_t>> result;
  equations.forEachSolution(splits, [&](const Bindings &solution) {
    auto valueOf = [&](const char *symbol) {
      return solution.integers.lookup(symbol).asConstant().value_or(-1);
    };
    result.push_back({valueOf("a"), valueOf("b")});
  });
  return result;
}

} // namespace

TEST_CASE("a number is split in every way only where that matters") {
  MLIRContext context;
  context.loadDialect<MlcDialect>();
  IntExpr one = IntExpr::constant(&context, 1),
          n = IntExpr::symbol(&context, "n");
  using Pairs = std::vector<std::pair<int64_t, int64_t>>;
  CHECK(solutions(one, one * 12, {}) == Pairs{{12, 1}});
  CHECK(solutions(one, one * 12, ab) ==
        Pairs{{12, 1}, {6, 2}, {4, 3}, {3, 4}, {2, 6}, {1, 12}});
  CHECK(solutions(one * 3, one * 12, ab) == Pairs{{4, 1}, {2, 2}, {1, 4}});
  CHECK(solutions(one * 5, one * 12, ab).empty());
  CHECK(solutions(one, one * 0, ab) == Pairs{{0, 1}});
  CHECK(solutions(one, one * 7919, ab) == Pairs{{7919, 1}});
  CHECK(solutions(one, one * 5040, ab).size() == Equations::maxFactors);
  // A dim that is open until run time is not taken apart.
  CHECK(solutions(one, n, ab) == Pairs{{-1, 1}});
}

TEST_CASE("a rule knows whether the parts of a product matter") {
  Fixture fixture;
  fixture.addRules(asMatrix);
  CHECK(fixture.rules.rules[0].splits == ab);
  CHECK(fixture.rules.rules[1].splits.empty());
  CHECK(fixture.rules.rules[2].splits.empty());
}

TEST_CASE("all ways to split a size are met") {
  Fixture fixture;
  fixture.addRules(asMatrix);
  func::FuncOp function =
      fixture.function("func.func @f(%x: tensor<6xf32>) -> tensor<6xf32> {\n"
                       "%0 = mlc.relu %x : (tensor<6xf32>) -> tensor<6xf32>\n"
                       "return %0 : tensor<6xf32>\n}");
  std::set<int64_t> widths;
  for (const Match &match :
       findMatches(fixture.rules.rules[0], &function.getBody().front().front()))
    widths.insert(match.integers.lookup("b").getConstant());
  CHECK(widths == std::set<int64_t>{1, 2, 3, 6});

  EGraph graph(&fixture.context);
  FunctionNodes nodes = FunctionNodes::read(function, graph);
  std::vector<const RuleProgram *> programs = {fixture.compile().front()};
  Saturation saturation(graph, programs, {});
  CHECK(saturation.run() == StopReason::Saturated);
  widths.clear();
  for (NodeId node = 0; node < graph.numNodes(); ++node) {
    auto type = dyn_cast_or_null<RankedTensorType>(graph.classOf(node).type);
    if (type && type.getRank() == 2)
      widths.insert(type.getDimSize(1));
  }
  CHECK(widths == std::set<int64_t>{1, 2, 3, 6});
}

TEST_CASE("infinities are no positive and no other numbers") {
  MLIRContext context;
  auto type = RankedTensorType::get({2}, Float32Type::get(&context));
  float infinity = std::numeric_limits<float>::infinity();
  auto numbers = DenseElementsAttr::get(type, llvm::ArrayRef<float>{1, 2});
  auto infinite =
      DenseElementsAttr::get(type, llvm::ArrayRef<float>{1, infinity});
  for (ElementPredicate predicate :
       {ElementPredicate::Positive, ElementPredicate::NonNegative,
        ElementPredicate::NonZero, ElementPredicate::Finite}) {
    CHECK(elementsAre(numbers, predicate));
    CHECK_FALSE(elementsAre(infinite, predicate));
  }
}
