//===- SymbolicTest.cpp - Definitions on symbolic numbers -----------------===//
//
// What is said of symbols must hold for every size: each step is compared with
// a machine's arithmetic at many of them.
//
//===----------------------------------------------------------------------===//

#include "dialects/Evaluator/EvaluatorSymbolic.h"
#include "dialects/Symbolic/Attributes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace mlir;
using namespace mlc;

namespace {

struct Fixture {
  MLIRContext context;
  Fixture() {
    context.loadDialect<MlcDialect>();
    n = IntExpr::symbol(&context, "n");
    m = IntExpr::symbol(&context, "m");
  }
  Type f32 = Float32Type::get(&context);
  Type i64 = IntegerType::get(&context, 64);
  Type i8 = IntegerType::get(&context, 8);
  Type i1 = IntegerType::get(&context, 1);

  IntExpr c(int64_t value) { return IntExpr::constant(&context, value); }
  IntExpr n, m;

  /// Numbers of all signs: known, open below, open above, open on both sides.
  std::vector<Number> samples() {
    return {{c(0)},  {c(3)},     {c(-2)}, {n},     {n + 1},
            {n - 3}, {c(2) - n}, {n * m}, {n - m}, {IntExpr::min(n, c(1))}};
  }
  /// The value at sizes; nothing where the number is none.
  static double at(const Number &number, int64_t n, int64_t m) {
    std::optional<int64_t> value =
        number.numerator.evaluate([&](llvm::StringRef name) {
          return std::optional(name == "n" ? n : m);
        });
    REQUIRE(value);
    return double(*value) / double(number.denominator);
  }
  template <typename Fn> static void forSizes(Fn check) {
    for (int64_t n = 0; n < 9; ++n)
      for (int64_t m = 0; m < 9; ++m)
        check(n, m);
  }
};

} // namespace

TEST_CASE_METHOD(Fixture, "comparisons and choices hold for every size") {
  using P = ComparePredicate;
  for (const Number &a : samples())
    for (const Number &b : samples()) {
      auto check = [&](P predicate, auto truth) {
        MaybeNumber said = applyCompare(predicate, a, b);
        REQUIRE(said);
        MaybeNumber chosen = applySelect(*said, a, b);
        REQUIRE(chosen);
        forSizes([&](int64_t i, int64_t j) {
          double x = at(a, i, j), y = at(b, i, j);
          CHECK(at(*said, i, j) == truth(x, y));
          CHECK(at(*chosen, i, j) == (truth(x, y) ? x : y));
        });
      };
      check(P::EQ, std::equal_to<double>());
      check(P::NE, std::not_equal_to<double>());
      check(P::LT, std::less<double>());
      check(P::LE, std::less_equal<double>());
      check(P::GT, std::greater<double>());
      check(P::GE, std::greater_equal<double>());
    }
}

TEST_CASE_METHOD(Fixture, "integer division is cut towards zero") {
  for (const Number &a : samples())
    for (int64_t by : {1, 2, 3, -2}) {
      MaybeNumber said =
          applyBinary(BinaryFn::Div, i64, a, {c(by)}, /*assume=*/nullptr);
      REQUIRE(said);
      forSizes([&](int64_t i, int64_t j) {
        CHECK(at(*said, i, j) == std::trunc(at(a, i, j) / double(by)));
      });
    }
  // Where somebody vouches for the sign, sizes stay what windows make of them.
  std::vector<IntExpr> assumed;
  auto assume = [&](IntExpr size) { assumed.push_back(size); };
  MaybeNumber half = applyBinary(BinaryFn::Div, i64, {n - 1}, {c(2)}, assume);
  REQUIRE(half);
  CHECK(half->numerator == (n - 1).floorDiv(2));
  CHECK(assumed == std::vector<IntExpr>{n - 1});
  // Nobody can of n - 5, which small sizes make negative.
  applyBinary(BinaryFn::Div, i64, {n - 5}, {c(2)}, assume);
  CHECK(assumed.size() == 1);
}

TEST_CASE_METHOD(Fixture, "truths, magnitudes and casts hold for every size") {
  for (const Number &a : samples()) {
    MaybeNumber size = applyUnary(UnaryFn::Abs, i64, a);
    MaybeNumber truth = applyCast(a, i64, i1);
    REQUIRE((size && truth));
    MaybeNumber other = applyUnary(UnaryFn::Not, i1, *truth);
    REQUIRE(other);
    MaybeNumber both = applyBinary(BinaryFn::And, i1, *truth, *other, nullptr);
    MaybeNumber one = applyBinary(BinaryFn::Or, i1, *truth, *other, nullptr);
    MaybeNumber odd = applyBinary(BinaryFn::Xor, i1, *truth, *truth, nullptr);
    REQUIRE((both && one && odd));
    MaybeNumber halved = applyBinary(BinaryFn::Div, f32, a, {c(2)}, nullptr);
    forSizes([&](int64_t i, int64_t j) {
      CHECK(at(*size, i, j) == std::abs(at(a, i, j)));
      CHECK(at(*truth, i, j) == (at(a, i, j) != 0));
      CHECK(at(*other, i, j) == (at(a, i, j) == 0));
      CHECK(at(*both, i, j) == 0);
      CHECK(at(*one, i, j) == 1);
      CHECK(at(*odd, i, j) == 0);
      if (!halved)
        return;
      if (MaybeNumber cut = applyCast(*halved, f32, i64))
        CHECK(at(*cut, i, j) == std::trunc(at(a, i, j) / 2));
      if (MaybeNumber down = applyUnary(UnaryFn::Floor, f32, *halved))
        CHECK(at(*down, i, j) == std::floor(at(a, i, j) / 2));
      if (MaybeNumber up = applyUnary(UnaryFn::Ceil, f32, *halved))
        CHECK(at(*up, i, j) == std::ceil(at(a, i, j) / 2));
    });
  }
}

TEST_CASE_METHOD(Fixture, "known integers wrap, open ones must fit") {
  MaybeNumber sum = applyBinary(BinaryFn::Add, i8, {c(120)}, {c(10)}, nullptr);
  REQUIRE(sum);
  CHECK(sum->asConstant() == -126);
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  sum = applyBinary(BinaryFn::Add, i64, {c(most)}, {c(1)}, nullptr);
  REQUIRE(sum);
  CHECK(sum->asConstant() == std::numeric_limits<int64_t>::min());
  CHECK_FALSE(applyCast({n}, i64, i8));
  // Bits of a float that its integer does not hold are left to machines.
  CHECK_FALSE(applyCast({c(300)}, f32, i8));
  // There is no -0 here, which a product with 0 may be.
  CHECK_FALSE(applyBinary(BinaryFn::Mul, f32, {n}, {c(-1)}, nullptr));
  CHECK_FALSE(applyUnary(UnaryFn::Neg, f32, {n}));
}

TEST_CASE_METHOD(Fixture, "unknown elements stay unknown beside known ones") {
  // y = x[i] + z[1 - i]
  DefinitionBuilder b(&context, {{{c(2)}, i64}, {{c(2)}, i64}});
  b.result(b.stage("y", {c(2)}, i64, [&](auto i) {
    return b.read(0, {i[0]}) + b.read(1, {b.index(1) - i[0]});
  }));
  Definition definition = b.take();
  Elements x = {Number{n}, std::nullopt}, z = {Number{m}, Number{c(4)}};
  auto results = evaluateSymbolically(definition, {&x, &z});
  REQUIRE(results.has_value());
  REQUIRE((*results)[0][0]);
  CHECK((*results)[0][0]->numerator == n + 4);
  CHECK_FALSE((*results)[0][1]);
  CHECK_FALSE(evaluateSymbolically(definition, {&x, nullptr}).has_value());
}
