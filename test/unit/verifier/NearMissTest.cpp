//===- NearMissTest.cpp - What is nearly right is refuted -----------------===//
//
// Every pair differs in one detail from one that holds. The verdict must be a
// counterexample that the evaluator has run, never a proof. Windows and
// batch norms are in NearMissWindowsTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "Pair.h"

using namespace mlc;
using namespace mlc::test;

TEST_CASE("near miss: padding with zero does not commute with a shift") {
  requireRefuted(Pair({"n", "1"}, {"p >= 1"})
                     .refute(
                         [](Side &f) {
                           return f.add(f.pad(f[0], "p", "p"),
                                        f.broadcast(f[1], "n + 2 * p"));
                         },
                         [](Side &f) {
                           return f.pad(f.add(f[0], f.broadcast(f[1], "n")),
                                        "p", "p");
                         }));
}

TEST_CASE("near miss: |variance| for variance") {
  requireRefuted(
      Pair({"n, c", "c"}, {})
          .refute(
              [](Side &f) {
                return f.add(f[0],
                             f.broadcast(f.reshape(f[1], "1, c"), "n, c"));
              },
              [](Side &f) {
                return f.add(f[0],
                             f.broadcast(f.reshape(f.op("abs", {f[1]}), "1, c"),
                                         "n, c"));
              }));
}

TEST_CASE("near miss: epsilon is forgotten") {
  requireRefuted(Pair({"c"}, {"real eps > 0.0"})
                     .where(0, "positive")
                     .refute(
                         [](Side &f) {
                           return f.op("sqrt",
                                       {f.add(f[0], f.fill("c", "eps"))});
                         },
                         [](Side &f) { return f.op("sqrt", {f[0]}); }));
}

TEST_CASE("near miss: axes are swapped") {
  requireRefuted(
      Pair({"n, n"}, {})
          .refute([](Side &f) { return f.transpose(f[0], "1, 0"); },
                  [](Side &f) { return f.transpose(f[0], "0, 1"); }));
}

TEST_CASE("near miss: three axes rotate the wrong way") {
  requireRefuted(
      Pair({"n, n, n"}, {})
          .refute([](Side &f) { return f.transpose(f[0], "1, 2, 0"); },
                  [](Side &f) { return f.transpose(f[0], "2, 0, 1"); }));
}

TEST_CASE("near miss: a reshape is no transpose") {
  requireRefuted(Pair({"n, m"}, {})
                     .refute([](Side &f) { return f.transpose(f[0], "1, 0"); },
                             [](Side &f) { return f.reshape(f[0], "m, n"); }));
}

TEST_CASE(
    "near miss: a reshape moves through a concatenation of the inner dim") {
  requireRefuted(
      Pair({"n, a", "n, b"}, {})
          .refute(
              [](Side &f) {
                return f.reshape(f.concat({f[0], f[1]}, 1), "n * (a + b)");
              },
              [](Side &f) {
                return f.concat(
                    {f.reshape(f[0], "n * a"), f.reshape(f[1], "n * b")}, 0);
              }));
}

TEST_CASE("near miss: each element is counted twice") {
  requireRefuted(
      Pair({"2 * n"}, {})
          .refute(
              [](Side &f) {
                return f.reduce(f.slice(f[0], "0", "n", "1"), "sum", "0");
              },
              [](Side &f) {
                return f.reshape(
                    f.reduce(f.reshape(f.broadcast(f.reshape(f.slice(f[0], "0",
                                                                     "n", "1"),
                                                             "n, 1"),
                                                   "n, 2"),
                                       "2 * n"),
                             "sum", "0"),
                    "1");
              }));
}

TEST_CASE("near miss: the sum over r < 2n of x[r div 2] is not the sum over s "
          "< n of x[s]") {
  requireRefuted(
      Pair({"n"}, {"n >= 1"})
          .refute(
              [](Side &f) {
                return f.reduce(
                    f.reshape(f.broadcast(f.reshape(f[0], "n, 1"), "n, 2"),
                              "2 * n"),
                    "sum", "0");
              },
              [](Side &f) { return f.reduce(f[0], "sum", "0"); }));
}

TEST_CASE("near miss: slices in the wrong order") {
  requireRefuted(Pair({"2 * n"}, {})
                     .refute([](Side &f) { return f[0]; },
                             [](Side &f) {
                               return f.concat({f.slice(f[0], "n", "n", "1"),
                                                f.slice(f[0], "0", "n", "1")},
                                               0);
                             }));
}

TEST_CASE(
    "near miss: a slice of a slice adds steps instead of multiplying them") {
  requireRefuted(Pair({"6 * n + 7"}, {})
                     .refute(
                         [](Side &f) {
                           return f.slice(f.slice(f[0], "0", "2 * n + 2", "3"),
                                          "0", "n", "2");
                         },
                         [](Side &f) { return f.slice(f[0], "0", "n", "5"); }));
}

TEST_CASE("near miss: a slice of a slice forgets the outer step in the start") {
  requireRefuted(Pair({"6 * n + 20"}, {})
                     .refute(
                         [](Side &f) {
                           return f.slice(f.slice(f[0], "1", "n + 4", "3"), "2",
                                          "n", "1");
                         },
                         [](Side &f) { return f.slice(f[0], "3", "n", "3"); }));
}

TEST_CASE("near miss: pad of pad with different values") {
  requireRefuted(
      Pair({"n"}, {"p >= 1"})
          .refute(
              [](Side &f) {
                return f.pad(f.pad(f[0], "1", "1", "1.0"), "p", "p", "0.0");
              },
              [](Side &f) { return f.pad(f[0], "p + 1", "p + 1", "0.0"); }));
}

TEST_CASE("near miss: an edge is no zero") {
  requireRefuted(
      Pair({"n"}, {"n >= 1"})
          .refute([](Side &f) { return f.pad(f[0], "1", "1", "0.0", "edge"); },
                  [](Side &f) { return f.pad(f[0], "1", "1"); }));
}

TEST_CASE("near miss: a reflected border is no repeated one") {
  requireRefuted(
      Pair({"n"}, {"n >= 2"})
          .refute(
              [](Side &f) { return f.pad(f[0], "1", "1", "0.0", "reflect"); },
              [](Side &f) { return f.pad(f[0], "1", "1", "0.0", "edge"); }));
}

TEST_CASE("near miss: relu is not homogeneous for negative factors") {
  requireRefuted(Pair({"a", "1"}, {})
                     .refute(
                         [](Side &f) {
                           return f.relu(f.mul(f[0], f.broadcast(f[1], "a")));
                         },
                         [](Side &f) {
                           return f.mul(f.relu(f[0]), f.broadcast(f[1], "a"));
                         }));
}

TEST_CASE("near miss: relu does not distribute over sums") {
  requireRefuted(
      Pair({"a", "a"}, {})
          .refute([](Side &f) { return f.relu(f.add(f[0], f[1])); },
                  [](Side &f) { return f.add(f.relu(f[0]), f.relu(f[1])); }));
}

TEST_CASE("near miss: a maximum of products is no product of maxima") {
  requireRefuted(
      Pair({"a, b", "a, 1"}, {})
          .refute(
              [](Side &f) {
                return f.reduce(f.mul(f[0], f.broadcast(f[1], "a, b")), "max",
                                "1");
              },
              [](Side &f) { return f.mul(f.reduce(f[0], "max", "1"), f[1]); }));
}

TEST_CASE("near miss: matrix products do not commute") {
  requireRefuted(Pair({"n, n", "n, n"}, {})
                     .refute([](Side &f) { return f.matmul(f[0], f[1]); },
                             [](Side &f) { return f.matmul(f[1], f[0]); }));
}

TEST_CASE("near miss: the transpose of a product keeps the order") {
  requireRefuted(
      Pair({"n, n", "n, n"}, {})
          .refute(
              [](Side &f) { return f.transpose(f.matmul(f[0], f[1]), "1, 0"); },
              [](Side &f) {
                return f.matmul(f.transpose(f[0], "1, 0"),
                                f.transpose(f[1], "1, 0"));
              }));
}

TEST_CASE("near miss: columns are scaled instead of rows") {
  requireRefuted(
      Pair({"n, n", "n, n", "n"}, {})
          .refute(
              [](Side &f) {
                return f.mul(f.matmul(f[0], f[1]),
                             f.broadcast(f.reshape(f[2], "n, 1"), "n, n"));
              },
              [](Side &f) {
                return f.matmul(
                    f[0],
                    f.mul(f[1], f.broadcast(f.reshape(f[2], "1, n"), "n, n")));
              }));
}

TEST_CASE("near miss: softmax over the other axis") {
  requireRefuted(
      Pair({"n, n"}, {"n >= 2"})
          .refute(
              [](Side &f) { return f.op("softmax", {f[0]}, "axis = 1 : i64"); },
              [](Side &f) {
                return f.op("softmax", {f[0]}, "axis = 0 : i64");
              }));
}

TEST_CASE("near miss: softmax is not scale free") {
  requireRefuted(
      Pair({"n, m"}, {"m >= 2"})
          .refute(
              [](Side &f) { return f.op("softmax", {f[0]}, "axis = 1 : i64"); },
              [](Side &f) {
                return f.op("softmax", {f.add(f[0], f[0])}, "axis = 1 : i64");
              }));
}

TEST_CASE("near miss: a mean over padding divides by the larger count") {
  requireRefuted(
      Pair({"n"}, {"n >= 1"})
          .refute([](Side &f) { return f.reduce(f[0], "mean", "0"); },
                  [](Side &f) {
                    return f.reduce(f.pad(f[0], "0", "1"), "mean", "0");
                  }));
}

TEST_CASE("near miss: a mean of means with unequal parts") {
  requireRefuted(
      Pair({"2 * n + 1"}, {"n >= 1"})
          .refute([](Side &f) { return f.reduce(f[0], "mean", "0"); },
                  [](Side &f) {
                    return f.op(
                        "div", {f.add(f.reduce(f.slice(f[0], "0", "n", "1"),
                                               "mean", "0"),
                                      f.reduce(f.slice(f[0], "n", "n + 1", "1"),
                                               "mean", "0")),
                                f.fill("1", "2.0")});
                  }));
}

TEST_CASE("near miss: exponentials of a product") {
  requireRefuted(
      Pair({"n", "n"}, {})
          .refute([](Side &f) { return f.op("exp", {f.mul(f[0], f[1])}); },
                  [](Side &f) {
                    return f.mul(f.op("exp", {f[0]}), f.op("exp", {f[1]}));
                  }));
}

TEST_CASE("near miss: the root of a square is an absolute value") {
  requireRefuted(Pair({"n"}, {}).refute(
      [](Side &f) { return f.op("sqrt", {f.mul(f[0], f[0])}); },
      [](Side &f) { return f[0]; }));
}

TEST_CASE("near miss: cancelling a divisor that may be zero is fine, dividing "
          "by it is not") {
  requireRefuted(Pair({"n"}, {}).refute(
      [](Side &f) { return f[0]; },
      [](Side &f) {
        return f.op("div", {f.mul(f[0], f.op("sub", {f[0], f[0]})),
                            f.op("sub", {f[0], f[0]})});
      }));
}

TEST_CASE("near miss: a concatenation along the other axis") {
  requireRefuted(
      Pair({"n, n", "n, n"}, {})
          .refute(
              [](Side &f) {
                return f.reshape(f.concat({f[0], f[1]}, 0), "2 * n * n");
              },
              [](Side &f) {
                return f.reshape(f.concat({f[0], f[1]}, 1), "2 * n * n");
              }));
}

TEST_CASE("near miss: a channel shuffle with the factors exchanged") {
  requireRefuted(Pair({"n, 2, 3, h"}, {})
                     .refute(
                         [](Side &f) {
                           return f.reshape(f.transpose(f[0], "0, 2, 1, 3"),
                                            "n, 6, h");
                         },
                         [](Side &f) { return f.reshape(f[0], "n, 6, h"); }));
}

TEST_CASE("near miss: space to depth takes rows for columns") {
  requireRefuted(
      Pair({"n, 2, n, 2"}, {})
          .refute(
              [](Side &f) {
                return f.reshape(f.transpose(f[0], "1, 3, 0, 2"), "4, n * n");
              },
              [](Side &f) {
                return f.reshape(f.transpose(f[0], "3, 1, 0, 2"), "4, n * n");
              }));
}

TEST_CASE("near miss: clipping in the wrong order") {
  requireRefuted(
      Pair({"n", "n"}, {})
          .refute(
              [](Side &f) {
                return f.op("min",
                            {f.op("max", {f[0], f[1]}), f.fill("n", "1.0")});
              },
              [](Side &f) {
                return f.op("max",
                            {f.op("min", {f[0], f.fill("n", "1.0")}), f[1]});
              }));
}

TEST_CASE("near miss: a logarithm needs a positive argument") {
  requireRefuted(Pair({"n"}, {}).refute(
      [](Side &f) { return f[0]; },
      [](Side &f) { return f.op("exp", {f.op("log", {f[0]})}); }));
  requireRefuted(
      Pair({"n"}, {})
          .where(0, "non-negative")
          .refute([](Side &f) { return f[0]; },
                  [](Side &f) { return f.op("exp", {f.op("log", {f[0]})}); }));
}

TEST_CASE("a counterexample is made small") {
  VerifierOptions options;
  options.minimizeCounterexample = true;
  Verdict verdict =
      Pair({"n, k", "k, n"}, {})
          .verify([](Side &f) { return f.matmul(f[0], f[1]); },
                  [](Side &f) { return f.op("neg", {f.matmul(f[0], f[1])}); },
                  options);
  REQUIRE(verdict.isRefuted());
  CHECK(verdict.counterexample.integers ==
        std::map<std::string, int64_t>{{"k", 1}, {"n", 1}});
  CHECK(verdict.counterexample.before == 1.0);
  CHECK(verdict.counterexample.after == -1.0);
}

TEST_CASE("near miss: the maximum of a row repeated no times") {
  requireRefuted(Pair({"1, n"}, {})
                     .refute(
                         [](Side &f) {
                           return f.reduce(f.broadcast(f[0], "m, n"), "max",
                                           "0");
                         },
                         [](Side &f) { return f[0]; }));
}
