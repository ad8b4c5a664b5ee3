//===- PartsTest.cpp - The compiler's parts are the runtime's -------------===//

#include "dialects/Dist/Dist.h"
#include "runtime/Collective.h"
#include "runtime/Ranks.h"
#include "llvm/ADT/StringSwitch.h"
#include <catch2/catch.hpp>

using namespace mlc;

namespace {

std::optional<int64_t> valueOf(IntExpr expr, int64_t things, int64_t rank) {
  return expr.evaluate([&](llvm::StringRef name) {
    return llvm::StringSwitch<std::optional<int64_t>>(name)
        .Case("N", things)
        .Case("rank.a", rank)
        .Default(std::nullopt);
  });
}

} // namespace

TEST_CASE("sizes and places of parts are partRange's") {
  mlir::MLIRContext context;
  context.loadDialect<dist::DistDialect>();
  IntExpr symbol = IntExpr::symbol(&context, "N");
  for (int64_t ranks = 1; ranks <= 6; ++ranks) {
    auto axis =
        dist::AxisAttr::get(&context, "a", IntExpr::constant(&context, ranks));
    for (int64_t things = 0; things <= 2 * ranks; ++things)
      for (int64_t rank = 0; rank < ranks; ++rank) {
        runtime::PartRange part = runtime::partRange(things, ranks, rank);
        CAPTURE(ranks, things, rank);
        IntExpr known = IntExpr::constant(&context, things);
        for (IntExpr extent : {known, symbol}) {
          CHECK(valueOf(axis.getSize(extent), things, rank) == part.size());
          CHECK(valueOf(axis.getBegin(extent), things, rank) == part.begin);
        }
        runtime::PartRange many =
            runtime::partRange(things * ranks, ranks, rank);
        CHECK(valueOf(axis.getSize(symbol * ranks), things, rank) ==
              many.size());
        CHECK(valueOf(axis.getBegin(symbol * ranks), things, rank) ==
              many.begin);
      }
  }
}

TEST_CASE("each collective of the runtime is an operator") {
  mlir::MLIRContext context;
  context.loadDialect<dist::DistDialect>();
  for (uint8_t i = 0; i < runtime::numCollectives; ++i) {
    const runtime::rows::Row &row =
        runtime::rowOf(static_cast<runtime::CollectiveKind>(i));
    CAPTURE(row.name);
    auto op = mlir::RegisteredOperationName::lookup(
        ("dist." + llvm::Twine(row.name)).str(), &context);
    REQUIRE(op);
    CHECK(op->hasInterface<dist::StackedOpInterface>());
    auto has = [&](llvm::StringRef name) {
      return llvm::is_contained(op->getAttributeNames(), name);
    };
    CHECK(has("reduction") == row.reduces());
    CHECK((!row.hasNumber() || has(row.number)));
    CHECK(has("units") == (row.message == runtime::rows::Units));
  }
  for (uint8_t i = 0; i < runtime::numReductions; ++i) {
    CAPTURE(runtime::reductionNames[i]);
    CHECK(symbolizeReduction(runtime::reductionNames[i]));
  }
}
