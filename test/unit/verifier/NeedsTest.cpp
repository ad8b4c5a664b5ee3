//===- NeedsTest.cpp - What elements of definitions need ------------------===//
//
// Of definitions that no operator makes.
//
//===----------------------------------------------------------------------===//

#include "KernelFixture.h"
#include "dialects/Symbolic/Attributes.h"
#include "mlir/IR/Builders.h"
#include "verifier/kernel/Defined.h"

using namespace mlc;

TEST_CASE("What stands for a read is needed where it does", "[definedness]") {
  mlir::MLIRContext context;
  context.loadDialect<MlcDialect>();
  mlir::Type f32 = mlir::Float32Type::get(&context),
             i64 = mlir::IntegerType::get(&context, 64);
  Fixture f;
  Integer at = Integer::variable(f.names.fresh());
  auto needsOf = [&](auto index) {
    IntExpr n = IntExpr::symbol(&context, "n");
    DefinitionBuilder b(&context, {{{n}, f32}});
    b.result(b.stage("y", {n}, f32, [&](auto i) {
      return b.readOr(0, {index(b, i[0])},
                      unary(UnaryFn::Log, b.read(0, {i[0]})));
    }));
    Definition definition = b.take();
    Needs needs =
        Definedness(definition, f.assumptions, f.names).needsOf(0, {at});
    CHECK(needs.failure == "");
    std::vector<Need> positive;
    for (const Need &need : needs.needs)
      if (need.kind == Need::Kind::Positive)
        positive.push_back(need);
    REQUIRE(positive.size() == 1);
    return positive.front();
  };
  // Of the one before, the first element has none.
  Need need = needsOf([](auto &b, Expr i) { return i - b.index(1); });
  std::vector<Formula> known = need.guards;
  known.push_back(Formula::inRange(at, f.n));
  CHECK(f.decider.holds(known, Formula::less(at, Integer(1))));
  CHECK_FALSE(f.decider.holds(known, Formula::less(at, Integer(0))));
  // At a computed place it is the opposite of a truth value.
  need = needsOf([&](auto &b, Expr i) {
    Expr square = b.read(0, {i}) * b.read(0, {i});
    return cast(cast(square, i64), mlir::IndexType::get(&context));
  });
  REQUIRE(need.path.size() == 1);
  CHECK(need.path.front().size() == 2);
}

TEST_CASE("An index is divided by no 0", "[definedness]") {
  mlir::MLIRContext context;
  context.loadDialect<MlcDialect>();
  mlir::Type f32 = mlir::Float32Type::get(&context),
             i64 = mlir::IntegerType::get(&context, 64);
  Fixture f;
  IntExpr n = IntExpr::symbol(&context, "n");
  auto needsOf = [&](bool isComputed) {
    DefinitionBuilder b(&context, {{{n}, i64}});
    b.result(b.stage("y", {n}, f32, [&](auto i) {
      Expr x = b.read(0, {i[0]});
      Expr divisor =
          cast(isComputed ? x * x : x, mlir::IndexType::get(&context));
      return cast(binary(BinaryFn::FloorDiv, i[0], divisor), f32);
    }));
    Definition definition = b.take();
    return Definedness(definition, f.assumptions, f.names)
        .needsOf(0, {Integer::variable(f.names.fresh())})
        .needs;
  };
  // Of an integer it is a condition on sizes.
  CHECK(needsOf(false).empty());
  std::vector<Need> needs = needsOf(true);
  REQUIRE(needs.size() == 1);
  CHECK(needs[0].kind == Need::Kind::NotZero);
}
