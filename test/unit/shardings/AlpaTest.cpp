//===- AlpaTest.cpp - Closed forms of shardings of an MLP -----------------===//
//
// Alpa's solver test (playground/auto_sharding_solver/test_solver_mlp.py): an
// MLP of square matrices with a squared error and SGD; a product costs
// nothing once it is shared, and an all-reduce takes AR(bytes) = 1 + 2 (n - 1)
// / n bytes.
//
//===----------------------------------------------------------------------===//

#include "dialects/Graph/Graph.h"
#include "mlir/Parser/Parser.h"
#include "passes/Shardings/ShardingProblem.h"
#include "planner/choices/Solve.h"
#include <catch2/catch.hpp>

using namespace mlc;
using namespace mlc::dist;
using runtime::transport::Collective;

namespace {

constexpr int kRanks = 4;

double exchange(Collective collective, double bytes) {
  const double share = double(kRanks - 1) / kRanks;
  switch (collective) {
  case Collective::AllReduce:
    return 1 + 2 * share * bytes;
  case Collective::AllToAll:
    return 1 + share * bytes / kRanks;
  default:
    return 1 + share * bytes;
  }
}

/// A step of the network: y = x w0 w1 ..., g = y - t, and each weight less its
/// gradient.
std::string stepOf(int batch, int width, int layers) {
  auto matrix = [](int rows, int columns) {
    return "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) +
           "xf32>";
  };
  const std::string data = matrix(batch, width), turned = matrix(width, batch),
                    weight = matrix(width, width);
  std::string text = "func.func @step(%h0: " + data + ", %t: " + data, results,
              types, body;
  for (int i = 0; i < layers; ++i) {
    const std::string n = std::to_string(i);
    const std::string state = " {mlc.state = \"w" + n + "\"}";
    text += ", %w" + n + ": " + weight + state;
    types += (i ? ", " : "") + weight + state;
    results += (i ? ", %u" : "%u") + n;
    body += "%h" + std::to_string(i + 1) + " = mlc.matmul %h" + n + ", %w" + n +
            " : (" + data + ", " + weight + ") -> " + data + "\n";
  }
  const std::string last = std::to_string(layers);
  body += "%g" + last + " = mlc.sub %h" + last + ", %t : (" + data + ", " +
          data + ") -> " + data + "\n";
  const std::string permuted = " {permutation = array<i64: 1, 0>} : (";
  for (int i = layers - 1; i >= 0; --i) {
    const std::string n = std::to_string(i), next = std::to_string(i + 1);
    body += "%a" + n + " = mlc.transpose %h" + n + permuted + data + ") -> " +
            turned + "\n%d" + n + " = mlc.matmul %a" + n + ", %g" + next +
            " : (" + turned + ", " + data + ") -> " + weight + "\n%u" + n +
            " = mlc.sub %w" + n + ", %d" + n + " : (" + weight + ", " + weight +
            ") -> " + weight + "\n";
    if (i > 0)
      body += "%v" + n + " = mlc.transpose %w" + n + permuted + weight +
              ") -> " + weight + "\n%g" + n + " = mlc.matmul %g" + next +
              ", %v" + n + " : (" + data + ", " + weight + ") -> " + data +
              "\n";
  }
  std::string all;
  for (int i = 0; i < layers; ++i)
    all += (i ? ", " : "") + weight;
  return text + ") -> (" + types + ") {\n" + body + "return " + results +
         " : " + all + "\n}\n";
}

struct Solved {
  planner::ChoiceSolution solution;
  std::vector<std::pair<std::string, Place>> weights;
};

Solved solve(int batch, int width, int layers, int64_t memory = 0,
             bool byIntegerProgram = false) {
  mlir::MLIRContext context;
  context.loadDialect<MlcDialect, DistDialect, mlir::func::FuncDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      stepOf(batch, width, layers), &context);
  REQUIRE(module);
  ShardingOptions options;
  options.axis =
      AxisAttr::get(&context, "tensor", IntExpr::constant(&context, kRanks));
  // Alpa's products are always shared.
  options.costs.operation = [&](mlir::Operation *op) {
    if (op->getName().getStringRef() != "mlc.matmul")
      return 0.0;
    auto elements = [](mlir::Value value) {
      return llvm::cast<mlir::RankedTensorType>(value.getType())
          .getNumElements();
    };
    const int64_t all = elements(op->getOperand(0)) *
                        elements(op->getOperand(1)) *
                        elements(op->getResult(0));
    const int64_t whole = int64_t(batch) * width * width;
    return all < whole * whole ? 0.0 : 1e12;
  };
  options.costs.exchange = exchange;
  options.memory = memory;
  options.ownerOf = [](llvm::StringRef state) { return state; };
  const ShardingProblem problem = makeShardingProblem(
      *module->getOps<mlir::func::FuncOp>().begin(), options);
  Solved solved;
  const auto status =
      byIntegerProgram
          ? planner::solveByIntegerProgram(problem.problem, 1000,
                                           solved.solution)
          : planner::solveByElimination(problem.problem, {}, solved.solution);
  INFO(status.message);
  REQUIRE(status.ok());
  for (const auto &[name, tensor] : problem.owners)
    solved.weights.emplace_back(
        name, ShardingProblem::placeOf(tensor, solved.solution.choices));
  return solved;
}

} // namespace

TEST_CASE("MLPs take what Alpa's closed forms say") {
  const double narrow = exchange(Collective::AllReduce, 128 * 128 * 4);
  const double wide = exchange(Collective::AllReduce, 128 * 1024 * 4);
  struct Case {
    int batch, width, layers;
    double cost;
  };
  for (const Case &one :
       {Case{1024, 128, 2, 2 * narrow}, Case{128, 1024, 2, wide},
        Case{1024, 128, 12, 12 * narrow}, Case{128, 1024, 12, 11 * wide}})
    for (bool byIntegerProgram : {false, true}) {
      INFO(one.batch << " x " << one.width << ", " << one.layers);
      const Solved solved =
          solve(one.batch, one.width, one.layers, 0, byIntegerProgram);
      CHECK(solved.solution.cost == Approx(one.cost).epsilon(1e-3));
      CHECK(solved.solution.bound == Approx(one.cost).epsilon(1e-3));
    }
}

TEST_CASE("wide layers have columns, then rows") {
  const Solved solved = solve(128, 1024, 2);
  REQUIRE(solved.weights.size() == 2);
  CHECK(solved.weights[0].second.isSplit());
  CHECK(solved.weights[0].second.dim == 1);
  CHECK(solved.weights[1].second.isSplit());
  CHECK(solved.weights[1].second.dim == 0);
}

TEST_CASE("weights are split where they would not fit") {
  const int64_t weight = 128 * 128 * 4;
  const Solved solved = solve(64, 128, 2, 2 * weight);
  for (const auto &[name, place] : solved.weights)
    CHECK(place.isSplit());
  CHECK(solved.solution.cost > 0);
}
