//===- BoundsTest.cpp - Numbers between which a value lies ----------------===//

#include "verifier/search/Bounds.h"
#include "Pair.h"

using namespace mlc;
using namespace mlc::test;
using mlc::verifier::Bounds;
using mlc::verifier::boundsOfCall;
using mlc::verifier::Fraction;

static bool equal(const Bounds &bounds, std::optional<int> low,
                  std::optional<int> high) {
  auto same = [](const std::optional<Fraction> &a, std::optional<int> b) {
    return a.has_value() == b.has_value() && (!a || *a == Fraction(*b));
  };
  return same(bounds.low, low) && same(bounds.high, high);
}

static Bounds within(std::optional<int> low, std::optional<int> high) {
  auto bound = [](std::optional<int> number) {
    return number ? std::optional(Fraction(*number)) : std::nullopt;
  };
  return {bound(low), bound(high)};
}

TEST_CASE("bounds of products look at every corner") {
  CHECK(equal(within(-2, 3) * within(-5, 4), -15, 12));
  CHECK(equal(within(2, std::nullopt) * within(3, std::nullopt), 6,
              std::nullopt));
  CHECK(equal(within(std::nullopt, -2) * within(std::nullopt, -3), 6,
              std::nullopt));
  CHECK(equal(within(0, std::nullopt) * within(std::nullopt, 0), std::nullopt,
              0));
  CHECK(equal(within(-1, std::nullopt) * within(0, 1), std::nullopt,
              std::nullopt));
  CHECK(equal(Fraction(-2) * within(1, std::nullopt), std::nullopt, -2));
  CHECK(equal(within(1, std::nullopt) + within(-3, 5), -2, std::nullopt));
}

TEST_CASE("bounds of functions") {
  CHECK(equal(boundsOfCall(UnaryFn::Exp, {}), 0, std::nullopt));
  CHECK(equal(boundsOfCall(UnaryFn::Exp, within(0, std::nullopt)), 1,
              std::nullopt));
  CHECK(equal(boundsOfCall(UnaryFn::Erf, {}), -1, 1));
  CHECK(equal(boundsOfCall(UnaryFn::Tanh, within(std::nullopt, 0)), -1, 0));
  CHECK(equal(boundsOfCall(UnaryFn::Abs, within(-3, 2)), 0, 3));
  CHECK(
      equal(boundsOfCall(UnaryFn::Reciprocal, within(1, std::nullopt)), 0, 1));
  CHECK(equal(boundsOfCall(UnaryFn::Reciprocal, within(0, std::nullopt)), 0,
              std::nullopt));
  CHECK(equal(boundsOfCall(UnaryFn::Reciprocal, within(-1, 1)), std::nullopt,
              std::nullopt));
  CHECK(equal(boundsOfCall(UnaryFn::Sin, {}), -1, 1));
  CHECK(equal(boundsOfCall(UnaryFn::Sqrt, within(0, 1)), 0, 1));
  CHECK(equal(boundsOfCall(UnaryFn::Log, within(1, std::nullopt)), 0,
              std::nullopt));
  CHECK(equal(boundsOfCall(UnaryFn::Log, within(0, 2)), std::nullopt,
              std::nullopt));
}

namespace {

mlir::Value unary(Side &f, std::initializer_list<const char *> functions,
                  unsigned argument) {
  mlir::Value x = f[argument];
  for (const char *function : functions)
    x = f.op(function, {x});
  return x;
}
} // namespace

TEST_CASE("values that never overlap decide a maximum") {
  auto large = [](Side &f) { return unary(f, {"abs", "exp"}, 0); };
  for (const char *small : {"sigmoid", "tanh", "erf"}) {
    INFO(small);
    auto other = [&](Side &f) { return unary(f, {small}, 1); };
    // The search does not find what decides it: bounds of functions.
    CHECK_FALSE(
        Pair({"n", "n"}, {})
            .verify([&](Side &f) { return f.op("max", {large(f), other(f)}); },
                    large)
            .isRefuted());
    CHECK_FALSE(
        Pair({"n", "n"}, {})
            .verify([&](Side &f) { return f.op("min", {large(f), other(f)}); },
                    other)
            .isRefuted());
  }
  // exp of what may be negative overlaps them.
  auto exp = [](Side &f) { return unary(f, {"exp"}, 0); };
  CHECK(Pair({"n", "n"}, {})
            .verify(
                [&](Side &f) {
                  return f.op("max", {exp(f), unary(f, {"erf"}, 1)});
                },
                exp)
            .isRefuted());
}

TEST_CASE("a border of zeros says nothing beside what is never negative") {
  auto before = [](Side &f) {
    return f.op("reduce", {f.pad(unary(f, {"exp"}, 0), "0, p", "0, q")},
                "axes = array<i64: 1>, kind = \"max\"");
  };
  auto after = [](Side &f) {
    return f.op("reduce", {unary(f, {"exp"}, 0)},
                "axes = array<i64: 1>, kind = \"max\"");
  };
  CHECK_FALSE(Pair({"n, h"}, {"h >= 1"}).verify(before, after).isRefuted());
  // The maximum of nothing is below every border.
  CHECK(Pair({"n, h"}, {"p >= 1"}).verify(before, after).isRefuted());
}

TEST_CASE("differences behind roots and far from 0 are found") {
  auto sum = [](Side &f) { return f.op("add", {f[0], unary(f, {"sqrt"}, 1)}); };
  CHECK(Pair({"n", "n"}, {})
            .verify([&](Side &f) { return f.op("relu", {sum(f)}); }, sum)
            .isRefuted());
  CHECK(Pair({"n", "n"}, {})
            .verify(
                [](Side &f) {
                  return f.op("min",
                              {f[0], unary(f, {"abs", "exp", "exp"}, 1)});
                },
                [](Side &f) { return f[0]; })
            .isRefuted());
}

TEST_CASE("where a quotient by a rectifier is defined, the rectifier does "
          "nothing") {
  for (const char *function : {"relu", "tanh", "erf"}) {
    INFO(function);
    auto plain = [&](Side &f) {
      mlir::Value x = f[1];
      if (llvm::StringRef(function) != "relu")
        x = f.op(function, {x});
      return f.op("div", {f[0], x});
    };
    auto rectified = [&](Side &f) {
      mlir::Value x = f.op("relu", {f[1]});
      if (llvm::StringRef(function) != "relu")
        x = f.op(function, {x});
      return f.op("div", {f[0], x});
    };
    CHECK_FALSE(Pair({"n", "n"}).verify(rectified, plain).isRefuted());
    // The other way divides by 0 where the argument is negative.
    Verdict back = Pair({"n", "n"}).refute(plain, rectified);
    CHECK(back.isRefuted());
  }
}
