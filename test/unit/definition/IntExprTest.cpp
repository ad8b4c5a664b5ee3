//===- IntExprTest.cpp - Sums of quotients --------------------------------===//

#include "dialects/Symbolic/Attributes.h"
#include "mlir/IR/MLIRContext.h"
#include <catch2/catch.hpp>
#include <random>

using namespace mlc;

namespace {

struct Fixture {
  mlir::MLIRContext context;
  Fixture() { context.loadDialect<MlcDialect>(); }
  IntExpr c(int64_t value) { return IntExpr::constant(&context, value); }
  IntExpr symbol(llvm::StringRef name) {
    return IntExpr::symbol(&context, name);
  }

  /// The value with a = `a`, b = `b`, n = `n`.
  static int64_t at(IntExpr expr, int64_t a, int64_t b, int64_t n) {
    return *expr.evaluate([&](llvm::StringRef name) {
      return std::optional(name == "a" ? a : name == "b" ? b : n);
    });
  }
};

} // namespace

TEST_CASE_METHOD(Fixture, "the quotients of all remainders add up") {
  IntExpr a = symbol("a"), n = symbol("n");
  // A dim, a part of one, and a part that is itself a quotient.
  for (IntExpr x : {n, n - a, n * 2 + a, (c(7) - a).floorDiv(2), c(0) - a})
    for (int64_t k : {2, 3, 5}) {
      IntExpr sum = c(4);
      for (int64_t r = 0; r < k; ++r)
        sum = sum + (x + r).floorDiv(k);
      INFO("k = " << k);
      CHECK(sum == x + 4);
      CHECK(sum - (x + 1).floorDiv(k) == x + 4 - (x + 1).floorDiv(k));
      // What is left of more than one of each.
      CHECK(sum + sum + (x + 1).floorDiv(k) == x * 2 + 8 + (x + 1).floorDiv(k));
    }
  CHECK((n.floorDiv(2) + (n + 1).floorDiv(3)).getOperands().size() == 2);
  CHECK((n.floorDiv(2) - (n + 1).floorDiv(2)).getOperands().size() == 2);
}

TEST_CASE_METHOD(Fixture, "sums of quotients keep their values") {
  std::mt19937 random(7);
  auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int trial = 0; trial < 2000; ++trial) {
    IntExpr sum = c(pick(-3, 3));
    std::vector<std::pair<int64_t, IntExpr>> terms;
    const int64_t k = pick(2, 4);
    IntExpr x = symbol("n") * pick(-2, 2) + symbol("a") * pick(-1, 1);
    if (pick(0, 1))
      x = x.floorDiv(pick(2, 3));
    int64_t constant = sum.getConstant();
    for (int64_t i = pick(2, 9); i > 0; --i) {
      terms.push_back({pick(-2, 2), (x + pick(-k, 2 * k)).floorDiv(k)});
      sum = sum + terms.back().second * terms.back().first;
    }
    for (int64_t n = -5; n <= 5; ++n)
      for (int64_t a = -2; a <= 2; ++a) {
        int64_t want = constant;
        for (const auto &[factor, term] : terms)
          want += factor * at(term, a, 0, n);
        CHECK(at(sum, a, 0, n) == want);
      }
  }
}
