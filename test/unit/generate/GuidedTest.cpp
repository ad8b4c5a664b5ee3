//===- GuidedTest.cpp - Algebra and order of fingerprint numbers ----------===//

#include "dialects/Evaluator/Guided.h"
#include "rewrites/Generate/Renaming.h"
#include <catch2/catch.hpp>

using namespace mlc;
using namespace mlc::generate;

static Guided unary(UnaryFn fn, Guided a) {
  Guided out;
  applyUnary(fn, &a, &out, 1);
  return out;
}
static Guided binary(BinaryFn fn, Guided a, Guided b) {
  Guided out;
  applyBinary(fn, &a, &b, &out, 1);
  return out;
}

TEST_CASE("guided numbers are exact") {
  Guided a = guided(0.375), b = guided(-1.25), c = guided(3);
  CHECK(add(a, b).residue == guided(-0.875).residue);
  CHECK(multiply(a, b).residue == guided(-0.46875).residue);
  CHECK(multiply(a, b).exponent == guided(-0.46875).exponent);
  CHECK(multiply(binary(BinaryFn::Div, a, c), c).residue == a.residue);
  CHECK(negate(negate(b)).residue == b.residue);
  CHECK(guided(0).residue == 0);
}

TEST_CASE("exp is a homomorphism and sqrt a root") {
  Guided a = guided(0.375), b = guided(-1.25);
  CHECK(unary(UnaryFn::Exp, add(a, b)).residue ==
        multiply(unary(UnaryFn::Exp, a), unary(UnaryFn::Exp, b)).residue);
  CHECK(unary(UnaryFn::Exp, guided(0)).residue == 1);
  Guided nine = guided(9), root = unary(UnaryFn::Sqrt, nine);
  CHECK(multiply(root, root).residue == nine.residue);
  CHECK(std::isnan(unary(UnaryFn::Sqrt, b).guide));
}

TEST_CASE(
    "order is decided by the guide, and by the residue when it is close") {
  Guided third = binary(BinaryFn::Div, guided(1), guided(3));
  Guided sum = add(add(third, third), third);
  CHECK(orderOf(sum, guided(1)) == 0);
  CHECK(orderOf(guided(1), guided(2)) == -1);
  CHECK(orderOf(guided(1), guided(-2)) == 1);
  // Closer than rounding, but another number: not to be told.
  CHECK_FALSE(orderOf(guided(1), guided(1 + 1e-14)));
  CHECK(std::isnan(binary(BinaryFn::Max, guided(1), guided(1 + 1e-14)).guide));
  CHECK(binary(BinaryFn::Max, guided(1), guided(-2)).residue == 1);
}

TEST_CASE("division by zero is seen, also among others") {
  Guided a[] = {guided(1), guided(2), guided(3)};
  Guided b[] = {guided(4), guided(0), guided(5)};
  Guided out[3];
  dividedByZero = false;
  applyBinary(BinaryFn::Div, a, b, out, 3);
  CHECK(dividedByZero);
  CHECK(std::isnan(out[1].guide));
  CHECK(out[0].residue == guided(0.25).residue);
  CHECK(multiply(out[2], b[2]).residue == a[2].residue);
}

TEST_CASE("functions without algebra tell different numbers apart") {
  for (UnaryFn fn : {UnaryFn::Tanh, UnaryFn::Erf, UnaryFn::Sin}) {
    CHECK(unary(fn, guided(0.5)).residue == unary(fn, guided(0.5)).residue);
    CHECK(unary(fn, guided(0.5)).residue != unary(fn, guided(0.25)).residue);
    // They are odd.
    CHECK(unary(fn, guided(-0.5)).residue ==
          negate(unary(fn, guided(0.5))).residue);
    CHECK(unary(fn, guided(0.0)).residue == 0);
  }
  CHECK(unary(UnaryFn::Tanh, guided(0.5)).residue !=
        unary(UnaryFn::Erf, guided(0.5)).residue);
}

TEST_CASE("renamings are a group that keeps types") {
  Renamings renamings({7, 7, 7, 3, 3, 9});
  REQUIRE(renamings.size() == 12);
  for (unsigned a = 0; a < renamings.size(); ++a) {
    CHECK(renamings.multiply(a, renamings.inverse(a)) == 0);
    for (unsigned b = 0; b < renamings.size(); ++b)
      for (unsigned leaf = 0; leaf < 6; ++leaf)
        CHECK(renamings.apply(renamings.multiply(a, b), leaf) ==
              renamings.apply(a, renamings.apply(b, leaf)));
    CHECK(renamings.apply(a, 5) == 5);
  }
  // Cosets of the renamings that keep leaf 0: one for each place it can go to.
  uint16_t keeps = 0;
  for (unsigned r = 0; r < renamings.size(); ++r)
    keeps |= (renamings.apply(r, 0) == 0) << r;
  unsigned cosets = 0, doubleCosets = 0;
  for (unsigned r = 0; r < renamings.size(); ++r) {
    cosets += renamings.firstOfCoset(r, keeps) == r;
    doubleCosets += renamings.isFirstOfDoubleCoset(keeps, r, keeps);
  }
  CHECK(cosets == 3);
  CHECK(doubleCosets == 2); // op(x, x) and op(x, y)
}
