//===- IndexTest.cpp - What follows from facts ----------------------------===//

#include "verifier/Index.h"
#include "dialects/Graph/Graph.h"
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
  // A quotient of quotients is one quotient.
  IntExpr k = s("k");
  CHECK(none.simplify(k.floorDiv(n).floorDiv(m)) ==
        none.simplify(k.floorDiv(n * m)));
  CHECK(none.simplify(k.floorDiv(n) * n + k.mod(n)) == k);
}
