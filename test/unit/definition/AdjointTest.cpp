//===- AdjointTest.cpp - What has no reverse derivative, and what has -----===//

#include "dialects/Derivative/Adjoint.h"
#include "dialects/Definition/DefinitionText.h"
#include "mlir/IR/MLIRContext.h"
#include <catch2/catch.hpp>

using namespace mlc;

namespace {

/// Definitions over x [a], with stages of a elements.
struct Vectors {
  mlir::MLIRContext context;
  mlir::Type f32;
  IntExpr a;
  std::optional<DefinitionBuilder> builder;

  Vectors() {
    context.loadDialect<MlcDialect>();
    f32 = mlir::Float32Type::get(&context);
    a = IntExpr::symbol(&context, "a");
    builder.emplace(&context, llvm::ArrayRef<TensorShape>({{{a}, f32}}));
  }

  std::string failure() {
    return differentiateReverse(builder->take(), {true}, &context).failure;
  }
};

} // namespace

TEST_CASE("a gradient reads the cotangent where the element was read") {
  Vectors t;
  DefinitionBuilder &b = *t.builder;
  b.result(b.stage("Y", {t.a}, t.f32, [&](llvm::ArrayRef<Expr> i) {
    return b.readOr(0, {i[0] * IntExpr::constant(&t.context, 2)},
                    b.constant(t.f32, 0));
  }));
  AdjointDefinition adjoint =
      differentiateReverse(b.take(), {true}, &t.context);
  REQUIRE(adjoint.failure.empty());
  CHECK(printDefinition(adjoint.definition, {"x", "y", "dy"}).text ==
        "(x, y, dy) d0[i] = select(mod(i, 2) == 0, dy<0>[floordiv(i, 2)], 0)");
}

TEST_CASE("functions without a derivative are named") {
  Vectors t;
  DefinitionBuilder &b = *t.builder;
  b.result(b.stage("Y", {t.a}, t.f32, [&](llvm::ArrayRef<Expr> i) {
    return binary(BinaryFn::Mod, b.read(0, i), b.constant(t.f32, 2));
  }));
  CHECK(t.failure() == "the function mod has no derivative");
}

TEST_CASE("an intermediate value in pieces is not computed again") {
  Vectors t;
  DefinitionBuilder &b = *t.builder;
  IntExpr two = IntExpr::constant(&t.context, 2);
  unsigned joined = b.piecewiseStage(
      "T", {t.a * 2}, t.f32,
      {{{IntExpr::constant(&t.context, 0)},
        {t.a},
        [&](llvm::ArrayRef<Expr> i) { return b.read(0, i); }},
       {{t.a}, {t.a}, [&](llvm::ArrayRef<Expr> i) { return b.read(0, i); }}});
  b.result(b.stage("Y", {t.a}, t.f32, [&](llvm::ArrayRef<Expr> i) {
    Expr e = b.readStageOr(joined, {i[0] * two}, b.constant(t.f32, 0));
    return e * e;
  }));
  CHECK(t.failure() == "an intermediate value that is made of pieces is used");
}

TEST_CASE("an intermediate value with other dims is not turned back") {
  Vectors t;
  DefinitionBuilder &b = *t.builder;
  unsigned flat =
      b.reinterpret("T", 0, {t.a, IntExpr::constant(&t.context, 1)});
  b.result(flat);
  b.result(b.stage("Y", {t.a}, t.f32, [&](llvm::ArrayRef<Expr> i) {
    Expr e = b.readStage(flat, {i[0], b.index(0)});
    return e * e;
  }));
  CHECK(t.failure() == "an intermediate value is read with other dims");
}
