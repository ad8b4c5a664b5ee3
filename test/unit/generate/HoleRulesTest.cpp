//===- HoleRulesTest.cpp - Rules with solved weights ----------------------===//

#include "dialects/Rule/Rule.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Parser/Parser.h"
#include "rewrites/Generate/BeforeGraphs.h"
#include "rewrites/Generate/Templates.h"
#include <catch2/catch.hpp>
#include <random>

using namespace mlc;
using namespace mlc::generate;

namespace {

std::string textOf(mlir::Operation *op) {
  std::string text;
  llvm::raw_string_ostream(text) << *op;
  return text;
}

/// Integers of the kinds that shapes are made of.
IntExpr randomExpr(mlir::MLIRContext &context, std::mt19937 &random,
                   unsigned depth) {
  static const char *const names[] = {"h",   "p",         "sh",
                                      "max", "floordiv2", "q.0"};
  auto part = [&] { return randomExpr(context, random, depth - 1); };
  // A divisor that is a number is above 0.
  auto divisor = [&] {
    IntExpr by = part();
    return by.isConstant() && by.getConstant() < 1 ? by * by + 1 : by;
  };
  switch (depth == 0 ? random() % 2 : random() % 8) {
  case 0:
    return IntExpr::symbol(&context, names[random() % 6]);
  case 1:
    return IntExpr::constant(&context, int64_t(random() % 9) - 4);
  case 2:
    return part() * part();
  case 3:
    return part() - part();
  case 4:
    return part().floorDiv(divisor());
  case 5:
    return part().mod(divisor());
  case 6:
    return IntExpr::max(part(), part());
  default:
    return part() + part();
  }
}

} // namespace

TEST_CASE("what is printed of an integer is read as that integer") {
  mlir::MLIRContext context;
  context.loadDialect<MlcDialect>();
  std::mt19937 random(1);
  for (unsigned i = 0; i < 20000; ++i) {
    IntExpr expr = randomExpr(context, random, 1 + i % 4);
    auto read = mlir::dyn_cast_or_null<IntExpr>(
        mlir::parseAttribute("#mlc.int<" + expr.str() + ">", &context));
    INFO(expr.str());
    REQUIRE(read);
    INFO(read.str());
    REQUIRE(read == expr);
  }
}

TEST_CASE("every graph that weights are solved for is read as it was written") {
  mlir::MLIRContext context;
  context.loadDialect<MlcDialect, mlir::func::FuncDialect>();
  std::vector<BeforeGraph> graphs = enumerateBeforeGraphs(&context, 3);
  CHECK(graphs.size() > 1000);
  for (BeforeGraph &graph : graphs) {
    std::string text = textOf(graph.function.get());
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    INFO(graph.name() << '\n' << text);
    REQUIRE(module);
    REQUIRE(textOf(*module->getOps<mlir::func::FuncOp>().begin()) == text);
  }
}
