//===- TofuTest.cpp - Partition-n-reduce strategies by hand ---------------===//
//
// Tofu (Wang et al. 2019, section 4) finds from an operator's description, as
// of TVM, along which of its loops workers may divide it: along one of the
// result each makes a part, along a reduced one all make terms of the whole
// (partition, then reduce). Windows read a halo. Here the strategies come from
// mlc's factors; the tables are written by hand from the formulas.
//
//===----------------------------------------------------------------------===//

#include "dialects/Graph/Graph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "passes/Distribute/Strategies.h"
#include <algorithm>
#include <catch2/catch.hpp>

using namespace mlc;
using namespace mlc::dist;
using Strategies = std::vector<std::string>;

namespace {

/// "-", "dim 1", "dim 1 with 1 before and 2 after", "sum".
std::string textOf(const Place &place) {
  if (place.isWhole())
    return "-";
  if (place.isPartial())
    return stringifyReduction(place.reduction).str();
  std::string text = "dim " + std::to_string(place.dim);
  if (place.hasHalo())
    text += " with " + std::to_string(place.low) + " before and " +
            std::to_string(place.high) + " after";
  return text;
}

/// Of an operator on two workers, those that share its work.
Strategies strategiesOf(const std::string &signature, const std::string &op) {
  mlir::MLIRContext context;
  context.loadDialect<MlcDialect, DistDialect, mlir::func::FuncDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      "func.func @main(" + signature + " {\n%y = " + op + "\nreturn\n}\n",
      &context);
  REQUIRE(module);
  mlir::Operation *operation = &(*module->getOps<mlir::func::FuncOp>().begin())
                                    .getBody()
                                    .front()
                                    .front();
  auto definition = meaningOf(operation);
  REQUIRE(definition);
  Strategies found;
  for (const Plan &plan : listPlans(
           operation, *definition,
           AxisAttr::get(&context, "w", IntExpr::constant(&context, 2)))) {
    if (!plan.factor.extent)
      continue;
    std::string text;
    for (const Place &place : plan.operands)
      text += textOf(place) + ", ";
    text += "gives " + textOf(plan.result);
    for (const auto &[reduction, isCut] :
         llvm::zip(plan.partials.stages, plan.partials.cuts))
      if (isCut)
        text += ", " + stringifyReduction(*reduction).str() + " inside";
    found.push_back(std::move(text));
  }
  std::ranges::sort(found);
  return found;
}

} // namespace

TEST_CASE("A product is divided as Tofu has it") {
  // y[m, n] = sum{k}(x[m, k] * w[k, n])
  CHECK(strategiesOf("%x: tensor<8x12xf32>, %w: tensor<12x16xf32>)",
                     "mlc.matmul %x, %w : (tensor<8x12xf32>, "
                     "tensor<12x16xf32>) -> tensor<8x16xf32>") ==
        Strategies{
            "-, dim 1, gives dim 1",   // n
            "dim 0, -, gives dim 0",   // m
            "dim 1, dim 0, gives sum", // k
        });
}

TEST_CASE("A convolution is divided as Tofu has it") {
  // Tofu's example: y[b, o, i] = sum{c, d}(x[b, c, i + d] * w[o, c, d])
  CHECK(strategiesOf(
            "%x: tensor<4x6x18xf32>, %w: tensor<8x6x3xf32>)",
            "mlc.conv %x, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[0, "
            "0]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : "
            "(tensor<4x6x18xf32>, tensor<8x6x3xf32>) -> tensor<4x8x16xf32>") ==
        Strategies{
            "-, -, gives dim 2",       // i, whose windows are no even parts
            "-, dim 0, gives dim 1",   // o
            "dim 0, -, gives dim 0",   // b
            "dim 1, dim 1, gives sum", // c
        });
  // With padding rows of inputs and results are the same, and i has a halo. d
  // is not even.
  CHECK(strategiesOf(
            "%x: tensor<4x6x16xf32>, %w: tensor<8x6x3xf32>)",
            "mlc.conv %x, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[1, "
            "1]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : "
            "(tensor<4x6x16xf32>, tensor<8x6x3xf32>) -> tensor<4x8x16xf32>") ==
        Strategies{
            "-, dim 0, gives dim 1",
            "dim 0, -, gives dim 0",
            "dim 1, dim 1, gives sum",
            "dim 2 with 1 before and 1 after, -, gives dim 2", // i
        });
  // An even number of taps is reduced as well: each worker has some.
  CHECK(strategiesOf(
            "%x: tensor<4x6x19xf32>, %w: tensor<8x6x4xf32>)",
            "mlc.conv %x, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[0, "
            "0]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : "
            "(tensor<4x6x19xf32>, tensor<8x6x4xf32>) -> tensor<4x8x16xf32>") ==
        Strategies{
            "-, -, gives dim 2",
            "-, dim 0, gives dim 1",
            "-, dim 2, gives sum", // d
            "dim 0, -, gives dim 0",
            "dim 1, dim 1, gives sum",
        });
}

TEST_CASE("A softmax is divided as Tofu has it") {
  // m[i] = max{j}(x[i, j]), s[i] = sum{j}(exp(x[i, j] - m[i])), y[i, j] =
  // exp(x[i, j] - m[i]) / s[i]: along j both reductions are over workers.
  CHECK(strategiesOf("%x: tensor<8x16xf32>)",
                     "mlc.softmax %x {axis = 1 : i64} : (tensor<8x16xf32>) -> "
                     "tensor<8x16xf32>") ==
        Strategies{
            "-, gives dim 1, sum inside", // all workers know all of the maxima
            "dim 0, gives dim 0",
            "dim 1, gives dim 1, max inside, sum inside",
        });
}
