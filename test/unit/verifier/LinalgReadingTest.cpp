//===- LinalgReadingTest.cpp - Readings of linalg held against runs -------===//

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "verifier/read/Misreading.h"
#include <catch2/catch.hpp>

using namespace mlir;
using namespace mlc;
using namespace mlc::verifier;

namespace {

/// The function `f` of a text held against what was read of `g`.
ReadingCheck check(const std::string &text, StringRef f, StringRef g) {
  MLIRContext context;
  context
      .loadDialect<MlcDialect, func::FuncDialect, linalg::LinalgDialect,
                   tensor::TensorDialect, arith::ArithDialect,
                   math::MathDialect, affine::AffineDialect, scf::SCFDialect>();
  auto module = parseSourceString<ModuleOp>(text, &context);
  REQUIRE(module);
  auto read = module->lookupSymbol<func::FuncOp>(g);
  Goal goal = makeGoal(read, read, {});
  INFO(goal.failure);
  REQUIRE(goal.failure.empty());
  return checkReading(
      {module->lookupSymbol<func::FuncOp>(f), goal.before, goal.afterNeeds},
      goal);
}

/// On %x: tensor<?xi32> and %y: tensor<?xi32>, with constants.
std::string function(const std::string &name, const std::string &body,
                     const std::string &type = "tensor<?xi32>") {
  return "func.func @" + name + "(%x: tensor<?xi32>, %y: tensor<?xi32>) -> " +
         type +
         " {\n  %c0 = arith.constant 0 : index\n"
         "  %c1 = arith.constant 1 : index\n"
         "  %c2 = arith.constant 2 : index\n"
         "  %z = arith.constant 0 : i32\n"
         "  %n = tensor.dim %x, %c0 : tensor<?xi32>\n" +
         body + "  return %r : " + type + "\n}\n";
}

const char *slice = "%r = tensor.extract_slice %x[1] [2] [2] : tensor<?xi32> "
                    "to tensor<2xi32>\n",
           *otherOffset = "%r = tensor.extract_slice %x[0] [2] [2] : "
                          "tensor<?xi32> to tensor<2xi32>\n",
           *otherStride = "%r = tensor.extract_slice %x[1] [2] [1] : "
                          "tensor<?xi32> to tensor<2xi32>\n";

std::string pointwise(const std::string &body) {
  return "%r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, "
         "affine_map<(i) -> (i)>], iterator_types = [\"parallel\"]} ins(%x : "
         "tensor<?xi32>) outs(%y : tensor<?xi32>) {\n  ^bb0(%a: i32, %b: "
         "i32):\n" +
         body + "    linalg.yield %v : i32\n  } -> tensor<?xi32>\n";
}

void requireMisread(const std::string &run, const std::string &read,
                    const std::string &why,
                    const std::string &type = "tensor<?xi32>") {
  ReadingCheck seen =
      check(function("f", run, type) + function("g", read, type), "f", "g");
  INFO(seen.misreading);
  CHECK(seen.misreading.find(why) != std::string::npos);
  CHECK(seen.misreading.find("the reading of 'f'") == 0);
}

void requireRead(const std::string &body,
                 const std::string &type = "tensor<?xi32>") {
  ReadingCheck seen = check(function("f", body, type), "f", "f");
  INFO(body << seen.misreading);
  CHECK(seen.misreading.empty());
  CHECK(seen.numEqual > 2);
}

} // namespace

TEST_CASE("right readings agree with runs", "[linalg-reading]") {
  requireRead(slice, "tensor<2xi32>");
  requireRead(pointwise("%v = arith.divsi %a, %b : i32\n"));
  requireRead(pointwise("%v = arith.minui %a, %b : i32\n"));
  requireRead("%r = tensor.concat dim(0) %x, %y : (tensor<?xi32>, "
              "tensor<?xi32>) -> tensor<?xi32>\n");
  requireRead("%r = tensor.pad %x low[1] high[%c2] {\n^bb0(%i: index):\n"
              "  tensor.yield %z : i32\n} : tensor<?xi32> to tensor<?xi32>\n");
  requireRead("%e = tensor.empty(%n) : tensor<?xi32>\n"
              "%r = linalg.fill ins(%z : i32) outs(%e : tensor<?xi32>) -> "
              "tensor<?xi32>\n");
  // Elements that nobody has written are anything in both.
  requireRead("%r = tensor.empty(%n) : tensor<?xi32>\n");
  requireRead("%r = scf.for %i = %c0 to %n step %c2 iter_args(%t = %x) -> "
              "(tensor<?xi32>) {\n"
              "  %k = affine.min affine_map<(d)[s] -> (2, s - d)>(%i)[%n]\n"
              "  %s = tensor.extract_slice %y[%i] [%k] [1] : tensor<?xi32> to "
              "tensor<?xi32>\n"
              "  %w = tensor.insert_slice %s into %t[%i] [%k] [1] : "
              "tensor<?xi32> into tensor<?xi32>\n"
              "  scf.yield %w : tensor<?xi32>\n}\n");
}

TEST_CASE("what is needed in iterations is needed where there are some",
          "[linalg-reading]") {
  // Both tensors have the same size, or the loop does not run.
  requireRead("%k = arith.subi %n, %c2 : index\n"
              "%u = arith.maxsi %k, %c0 : index\n"
              "%r = scf.for %i = %c0 to %u step %c1 iter_args(%t = %y) -> "
              "(tensor<?xi32>) {\n"
              "  %w = linalg.add ins(%t, %x : tensor<?xi32>, tensor<?xi32>) "
              "outs(%t : tensor<?xi32>) -> tensor<?xi32>\n"
              "  scf.yield %w : tensor<?xi32>\n}\n");
}

TEST_CASE("wrong elements and dims are seen", "[linalg-reading]") {
  requireMisread(slice, otherOffset, "read as", "tensor<2xi32>");
  requireMisread(slice, otherStride, "", "tensor<2xi32>");
  requireMisread(pointwise("%v = arith.minui %a, %b : i32\n"),
                 pointwise("%v = arith.minsi %a, %b : i32\n"), "read as");
  requireMisread("%r = tensor.empty(%n) : tensor<?xi32>\n",
                 "%m = arith.addi %n, %c1 : index\n"
                 "%r = tensor.empty(%m) : tensor<?xi32>\n",
                 "has dims");
  requireMisread("%r = tensor.empty(%n) : tensor<?xi32>\n",
                 "%e = tensor.empty(%n) : tensor<?xi32>\n"
                 "%r = linalg.fill ins(%z : i32) outs(%e : tensor<?xi32>) -> "
                 "tensor<?xi32>\n",
                 "is no number, read as 0");
}

TEST_CASE("what is undefined must be read so, and nothing else",
          "[linalg-reading]") {
  std::string quotient = pointwise("%v = arith.divui %a, %b : i32\n"),
              product = pointwise("%v = arith.muli %a, %b : i32\n");
  requireMisread(quotient, product, "");
  requireMisread(pointwise("%q = arith.divui %a, %b : i32\n"
                           "%v = arith.muli %a, %b : i32\n"),
                 product, "an integer is divided by 0; it is read as defined");
  requireMisread(product, quotient, "");
  // Both are x, and one of them only where it has two elements.
  std::string cast = "%k = tensor.cast %x : tensor<?xi32> to tensor<2xi32>\n"
                     "%r = tensor.cast %k : tensor<2xi32> to tensor<?xi32>\n",
              same = "%r = tensor.cast %x : tensor<?xi32> to tensor<?xi32>\n";
  requireMisread(cast, same, "it is read as defined");
  requireMisread(same, cast, "it has results");
}

TEST_CASE("what cannot be run is said", "[linalg-reading]") {
  requireMisread("%e = tensor.bitcast %x : tensor<?xi32> to tensor<?xf32>\n"
                 "%r = tensor.bitcast %e : tensor<?xf32> to tensor<?xi32>\n",
                 "%r = tensor.cast %x : tensor<?xi32> to tensor<?xi32>\n",
                 "cannot be held against a run of it: 'tensor.bitcast'");
  // Too large to be run: nothing is seen.
  const char *large =
      "func.func @f(%a: tensor<999x999xf32>, %b: tensor<999x999xf32>) -> "
      "tensor<999x999xf32> {\n"
      "  %r = linalg.matmul ins(%a, %a : tensor<999x999xf32>, "
      "tensor<999x999xf32>) outs(%b : tensor<999x999xf32>) -> "
      "tensor<999x999xf32>\n  return %r : tensor<999x999xf32>\n}\n";
  ReadingCheck seen = check(large, "f", "f");
  CHECK(seen.misreading.empty());
  CHECK(seen.numEqual == 0);
  CHECK(seen.numOpen > 0);
}
