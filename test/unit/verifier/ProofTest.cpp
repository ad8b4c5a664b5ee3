//===- ProofTest.cpp - Each technique proves what needs it ----------------===//

#include "Pair.h"

using namespace mlc;
using namespace mlc::test;
using mlir::Value;

namespace {
void requireProved(const Verdict &verdict) {
  INFO(verdict.reason << '\n' << verdict.counterexample.text);
  REQUIRE(verdict.isProved());
}
} // namespace

TEST_CASE("flattening: a product of three matrices") {
  requireProved(
      Pair({"m, k", "k, l", "l, n"})
          .verify(
              [](Side &f) { return f.matmul(f.matmul(f[0], f[1]), f[2]); },
              [](Side &f) { return f.matmul(f[0], f.matmul(f[1], f[2])); }));
}

TEST_CASE("digits: groups become fewer groups by blocks of zeros is refused, "
          "regrouping of a batch is proved") {
  requireProved(
      Pair({"a, b, m, k", "k, n"})
          .verify(
              [](Side &f) {
                return f.matmul(f.reshape(f[0], "a * b * m, k"), f[1]);
              },
              [](Side &f) {
                Value flat = f.reshape(f[0], "a, b * m, k");
                return f.matmul(f.reshape(flat, "a * b * m, k"), f[1]);
              }));
}

TEST_CASE("unification: an enlarged kernel") {
  Verdict verdict =
      Pair({"n, g * c, h", "g * o, c, k"}, {"s >= 1", "d >= 1", "g >= 1"})
          .verify(
              [](Side &f) { return f.conv(f[0], f[1], "s", "p, q", "d", "g"); },
              [](Side &f) {
                return f.conv(f[0], f.pad(f[1], "0, 0, e", "0, 0, e"), "s",
                              "p + e * d, q + e * d", "d", "g");
              });
  requireProved(verdict);
  CHECK(verdict.floatClass == FloatClass::ValueChanging);
}

TEST_CASE("two maps: relu through max pooling") {
  requireProved(
      Pair({"n, c, h"}, {"s >= 1", "k >= 1"})
          .verify(
              [](Side &f) {
                return f.maxPool(f.relu(f[0]), Side::window("k", "s"));
              },
              [](Side &f) {
                return f.relu(f.maxPool(f[0], Side::window("k", "s")));
              }));
}

TEST_CASE("order lemmas: relu is positively homogeneous, a maximum moves with "
          "what is added") {
  requireProved(Pair({"a", "1"})
                    .where(1, "positive")
                    .verify(
                        [](Side &f) {
                          return f.relu(f.mul(f[0], f.broadcast(f[1], "a")));
                        },
                        [](Side &f) {
                          return f.mul(f.relu(f[0]), f.broadcast(f[1], "a"));
                        }));
  requireProved(
      Pair({"a, b", "a, 1"}, {"b >= 1"})
          .verify(
              [](Side &f) {
                Value shifted = f.add(f[0], f.broadcast(f[1], "a, b"));
                return f.reduce(shifted, "max", "1");
              },
              [](Side &f) { return f.add(f.reduce(f[0], "max", "1"), f[1]); }));
}

TEST_CASE("cases: a function of a concatenation") {
  requireProved(
      Pair({"a, c", "b, c"})
          .verify(
              [](Side &f) { return f.op("exp", {f.concat({f[0], f[1]}, 0)}); },
              [](Side &f) {
                return f.concat({f.op("exp", {f[0]}), f.op("exp", {f[1]})}, 0);
              }));
}

TEST_CASE("elimination: a strided slice twice, a reversed transpose") {
  Verdict verdict =
      Pair(
          {
              "n",
          },
          {"n >= 1"})
          .verify([](Side &f) { return f.reshape(f[0], "n, 1"); },
                  [](Side &f) {
                    return f.transpose(f.reshape(f[0], "1, n"), "1, 0");
                  });
  requireProved(verdict);
  CHECK(verdict.floatClass == FloatClass::BitExact);
}

TEST_CASE("counts: average pooling without padding is a mean of slices") {
  requireProved(
      Pair({"n, c, h"}, {"h >= 1"})
          .verify(
              [](Side &f) { return f.avgPool(f[0], Side::window("h"), true); },
              [](Side &f) { return f.reduce(f[0], "mean", "2"); }));
}

TEST_CASE("softmax does not see a shift") {
  requireProved(Pair({"a, b", "a, 1"})
                    .verify(
                        [](Side &f) {
                          Value shifted =
                              f.add(f[0], f.broadcast(f[1], "a, b"));
                          return f.op("softmax", {shifted}, "axis = 1 : i64");
                        },
                        [](Side &f) {
                          return f.op("softmax", {f[0]}, "axis = 1 : i64");
                        }));
}

TEST_CASE("divisibility in a condition is parametrized away") {
  requireProved(
      Pair({"n, C, h", "O, c, k"},
           {"g divides C", "g divides O", "C == c * g", "g >= 1"})
          .verify(
              [](Side &f) { return f.conv(f[0], f[1], "1", "0, 0", "1", "g"); },
              [](Side &f) {
                return f.op("neg", {f.conv(f.op("neg", {f[0]}), f[1], "1",
                                           "0, 0", "1", "g")});
              }));
}

TEST_CASE("a condition that cannot hold proves nothing") {
  Verdict verdict = Pair({"n"}, {"n >= 5", "n <= 3"})
                        .verify([](Side &f) { return f.relu(f[0]); },
                                [](Side &f) { return f.op("exp", {f[0]}); });
  CHECK(verdict.isUnknown());
  CHECK_FALSE(verdict.reason.empty());
  verdict = Pair({"n"}, {"n >= 5", "n <= 3"})
                .verify([](Side &f) { return f.relu(f[0]); },
                        [](Side &f) { return f.relu(f.relu(f[0])); });
  CHECK(verdict.isUnknown());
}

TEST_CASE("proof: two max pools are one") {
  requireProved(Pair({"n, c, h"}, {"k >= 1", "l >= 1"})
                    .verify(
                        [](Side &f) {
                          return f.maxPool(f.maxPool(f[0], Side::window("k")),
                                           Side::window("l"));
                        },
                        [](Side &f) {
                          return f.maxPool(f[0], Side::window("k + l - 1"));
                        }));
}

TEST_CASE("proof: exponentials, logarithms and roots cancel where defined") {
  requireProved(Pair({"n"}, {}).verify(
      [](Side &f) { return f.op("exp", {f.op("log", {f[0]})}); },
      [](Side &f) { return f[0]; }));
  requireProved(Pair({"n"}, {}).verify(
      [](Side &f) { return f.op("log", {f.op("exp", {f[0]})}); },
      [](Side &f) { return f[0]; }));
  requireProved(
      Pair({"n"}, {})
          .where(0, "non-negative")
          .verify([](Side &f) { return f.op("sqrt", {f.mul(f[0], f[0])}); },
                  [](Side &f) { return f[0]; }));
  requireProved(
      Pair({"n"}, {})
          .where(0, "positive")
          .verify([](Side &f) { return f[0]; },
                  [](Side &f) { return f.op("exp", {f.op("log", {f[0]})}); }));
}

TEST_CASE("proof: divisors that are not zero have a product that is not") {
  requireProved(
      Pair({"n", "n", "n"}, {})
          .verify(
              [](Side &f) {
                return f.op("div", {f.op("div", {f[0], f[1]}), f[2]});
              },
              [](Side &f) { return f.op("div", {f[0], f.mul(f[1], f[2])}); }));
}

TEST_CASE("proof: a scale that is not negative leaves a maximum of something") {
  auto before = [](Side &f) {
    return f.reduce(f.mul(f[0], f.fill("n, m", "t")), "max", "1");
  };
  auto after = [](Side &f) {
    return f.mul(f.reduce(f[0], "max", "1"), f.fill("n, 1", "t"));
  };
  requireProved(
      Pair({"n, m"}, {"real t >= 0.0", "m >= 1"}).verify(before, after));
  // 0 times the maximum of nothing is not the maximum of nothing.
  CHECK_FALSE(
      Pair({"n, m"}, {"real t >= 0.0"}).verify(before, after).isProved());
  CHECK(Pair({"n, m"}, {"m >= 1"}).verify(before, after).isRefuted());
}

TEST_CASE("signs: what is positive passes absolute values and rectifiers") {
  Pair pair({"a, b"}, {"b >= 1"});
  auto softmax = [](Side &s) {
    return s.op("softmax", {s[0]}, "axis = 1 : i64");
  };
  CHECK_FALSE(
      pair.verify([&](Side &s) { return s.op("abs", {softmax(s)}); }, softmax)
          .isRefuted());
  CHECK(pair.verify([&](Side &s) { return s.relu(softmax(s)); }, softmax)
            .isProved());
  CHECK_FALSE(
      pair.verify(
              [](Side &s) {
                return s.op("abs", {s.reduce(s.op("abs", {s[0]}), "max", "1")});
              },
              [](Side &s) { return s.reduce(s.op("abs", {s[0]}), "max", "1"); })
          .isRefuted());
}

TEST_CASE("absolute values and odd functions of products") {
  Pair pair({"a", "a"});
  CHECK(pair.verify([](Side &s) { return s.op("abs", {s.mul(s[0], s[1])}); },
                    [](Side &s) {
                      return s.mul(s.op("abs", {s[0]}), s.op("abs", {s[1]}));
                    })
            .isProved());
  CHECK(pair.verify([](Side &s) { return s.op("tanh", {s.op("neg", {s[0]})}); },
                    [](Side &s) { return s.op("neg", {s.op("tanh", {s[0]})}); })
            .isProved());
  pair.refute(
      [](Side &s) { return s.op("abs", {s.add(s[0], s[1])}); },
      [](Side &s) { return s.add(s.op("abs", {s[0]}), s.op("abs", {s[1]})); });
}

TEST_CASE("increasing functions pass maxima of something, not of nothing") {
  auto before = [](Side &s) {
    return s.op("tanh", {s.reduce(s[0], "max", "1")});
  };
  auto after = [](Side &s) {
    return s.reduce(s.op("tanh", {s[0]}), "max", "1");
  };
  CHECK_FALSE(Pair({"a, b"}, {"b >= 1"}).verify(before, after).isRefuted());
  CHECK(Pair({"a, b"}).refute(before, after).isRefuted());
  auto minus = [](Side &s) {
    return s.op("neg", {s.reduce(s[0], "max", "1")});
  };
  auto maxOfMinus = [](Side &s) {
    return s.reduce(s.op("neg", {s[0]}), "max", "1");
  };
  CHECK(Pair({"a, b"}, {"b >= 2"}).refute(minus, maxOfMinus).isRefuted());
}

TEST_CASE("a product is not zero exactly when no factor is") {
  Pair pair({"a", "a", "a"});
  auto div = [](Side &s, mlir::Value x, mlir::Value y) {
    return s.op("div", {x, y});
  };
  CHECK(pair.verify([&](Side &s) { return div(s, s[0], div(s, s[1], s[2])); },
                    [&](Side &s) { return div(s, s.mul(s[0], s[2]), s[1]); })
            .isProved());
  CHECK(pair.verify([&](Side &s) { return div(s, s[0], s.mul(s[1], s[2])); },
                    [&](Side &s) { return div(s, div(s, s[0], s[1]), s[2]); })
            .isProved());
  // The divisor c of the after side is none of the before side.
  CHECK(pair.refute([&](Side &s) { return div(s, s[0], s[1]); },
                    [&](Side &s) {
                      return div(s, s.mul(s[0], s[2]), s.mul(s[1], s[2]));
                    })
            .kind != Verdict::Kind::Proved);
}
