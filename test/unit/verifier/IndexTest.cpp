//===- IndexTest.cpp - What follows from facts ----------------------------===//

#include "verifier/search/Index.h"
#include "dialects/Symbolic/Attributes.h"
#include <catch2/catch.hpp>

using namespace mlc;
using namespace mlc::verifier;

namespace {
struct Symbols {
  mlir::MLIRContext context;
  Symbols() { context.loadDialect<MlcDialect>(); }
  IntExpr operator()(const char *name) {
    return IntExpr::symbol(&context, name);
  }
};
} // namespace

TEST_CASE("bounds follow through products") {
  Symbols s;
  IntExpr i = s("i"), j = s("j"), n = s("n"), m = s("m");
  Facts facts;
  facts.add(Guard::less(i, n));
  facts.add(Guard::less(j, m));
  CHECK(facts.provesNonNegative(n * m - i * m - j - 1));
  CHECK(facts.provesPositive(n));
  CHECK_FALSE(facts.provesNonNegative(n * m - i * m - j - 2));
  CHECK(facts.refutes(Guard::nonNegative(i - n)));
}

TEST_CASE("digits of an index come apart") {
  Symbols s;
  IntExpr i = s("i"), j = s("j"), n = s("n"), m = s("m");
  Facts facts;
  facts.add(Guard::less(i, n));
  facts.add(Guard::less(j, m));
  IntExpr flat = i * m + j;
  CHECK(facts.simplify(flat.floorDiv(m)) == i);
  CHECK(facts.simplify(flat.mod(m)) == j);
  // Without a range nothing may be said.
  Facts none;
  CHECK(none.simplify(flat.floorDiv(m)) != i);
  // A quotient of quotients is one quotient, of divisors above 0.
  IntExpr k = s("k"), twice = k.floorDiv(n).floorDiv(m);
  CHECK(facts.simplify(twice) == facts.simplify(k.floorDiv(n * m)));
  CHECK(none.simplify(twice) != none.simplify(k.floorDiv(n * m)));
  CHECK(none.simplify(k.floorDiv(n) * n + k.mod(n)) == k);
}

TEST_CASE("integers past int64 keep their value, or have none") {
  Symbols s;
  IntExpr n = s("n");
  auto at = [](IntExpr e, int64_t value) {
    return e.evaluate([&](llvm::StringRef) { return std::optional(value); });
  };
  constexpr int64_t least = std::numeric_limits<int64_t>::min();
  IntExpr many = n * least;
  // A negation, an exact and an inexact quotient of what has no opposite.
  CHECK_FALSE(at(many * -1, 1).has_value());
  CHECK(at(many * -1, 0) == 0);
  CHECK(at(many.floorDiv(3), 1) == least / 3 - 1);
  CHECK(at(many.mod(3), 1) == 1);
  CHECK_FALSE(many.exactDiv(IntExpr::constant(&s.context, -1)).has_value());
  CHECK_FALSE(at(many.floorDiv(-1), 1).has_value());
  CHECK_FALSE(at(n.mod(IntExpr::constant(&s.context, -1)), 1).has_value());
  CHECK(at((n + least) + (n - 1), 1) == least + 1);
  for (const IndexMonomial &m : monomialsOf(many + n * 3 - 7))
    CHECK(m.coefficient != least);
  Facts facts;
  facts.add(Guard::nonNegative(s("m") - many));
  CHECK_FALSE(facts.provesNonNegative(-n));
}

TEST_CASE("long products are kept as products") {
  Symbols s;
  IntExpr product = IntExpr::constant(&s.context, 1);
  for (int i = 0; i < 40; ++i)
    product = product * (s(("a" + std::to_string(i)).c_str()) + 1);
  CHECK(product.evaluate([](llvm::StringRef) {
    return std::optional<int64_t>(1);
  }) == int64_t(1) << 40);
}
