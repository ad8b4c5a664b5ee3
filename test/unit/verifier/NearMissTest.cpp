//===- NearMissTest.cpp - What is nearly right is refuted -----------------===//
//
// Every pair differs in one detail from one that holds. The verdict must be a
// counterexample that the evaluator has run, never a proof.
//
//===----------------------------------------------------------------------===//

#include "Pair.h"

using namespace mlc;
using namespace mlc::test;

namespace {
void requireRefuted(const Verdict &verdict) {
  INFO(name(verdict.kind).str() << ' ' << verdict.reason);
  REQUIRE_FALSE(verdict.isProved());
  REQUIRE(verdict.isRefuted());
  CHECK_FALSE(verdict.counterexample.text.empty());
}
} // namespace

TEST_CASE("near miss: merging grouped convolutions needs one group") {
  requireRefuted(Pair({"n, 2 * c, h", "2 * o, c, k", "2 * o, c, k"}, {})
                     .refute(
                         [](Side &f) {
                           return f.concat(
                               {f.conv(f[0], f[1], "1", "0, 0", "1", "2"),
                                f.conv(f[0], f[2], "1", "0, 0", "1", "2")},
                               1);
                         },
                         [](Side &f) {
                           return f.conv(f[0], f.concat({f[1], f[2]}, 0), "1",
                                         "0, 0", "1", "2");
                         }));
}

TEST_CASE("near miss: a kernel is enlarged, the padding only begins earlier by "
          "one less") {
  requireRefuted(
      Pair({"n, g * c, h", "g * o, c, k"},
           {"s >= 1", "d >= 1", "g >= 1", "e >= 1"})
          .refute(
              [](Side &f) { return f.conv(f[0], f[1], "s", "p, q", "d", "g"); },
              [](Side &f) {
                return f.conv(f[0], f.pad(f[1], "0, 0, e", "0, 0, e"), "s",
                              "p + e * d - d, q + e * d + d", "d", "g");
              }));
}

TEST_CASE("near miss: padding of an enlarged kernel forgets the dilation") {
  requireRefuted(
      Pair({"n, c, h", "o, c, k"}, {"d >= 2"})
          .refute([](Side &f) { return f.conv(f[0], f[1], "1", "p, p", "d"); },
                  [](Side &f) {
                    return f.slice(
                        f.conv(f[0], f.pad(f[1], "0, 0, 1", "0, 0, 1"), "1",
                               "p + 1, p + 2 * d - 1", "d"),
                        "0, 0, 0", "n, o, h + 2 * p - (k - 1) * d", "1, 1, 1");
                  }));
}

TEST_CASE("near miss: SAME_UPPER enlargement at stride 2: the padding sits on "
          "the other side") {
  requireRefuted(
      Pair({"n, c, 2 * h", "o, c, 1"}, {"h >= 1"})
          .refute([](Side &f) { return f.conv(f[0], f[1], "2", "0, 0"); },
                  [](Side &f) {
                    return f.conv(f[0], f.pad(f[1], "0, 0, 1", "0, 0, 1"), "2",
                                  "0, 1");
                  }));
}

TEST_CASE("near miss: average pooling counts the padding or does not") {
  requireRefuted(
      Pair({"n, c, h"}, {"k >= 2", "p >= 1", "p < k"})
          .refute(
              [](Side &f) {
                return f.avgPool(f[0], Side::window("k", "1", "p, p"), true);
              },
              [](Side &f) {
                return f.avgPool(f[0], Side::window("k", "1", "p, p"), false);
              }));
}

TEST_CASE("near miss: a bias moves in front of a padded convolution") {
  requireRefuted(
      Pair({"n, c, h", "o, c, k", "1, c, 1"}, {"p >= 1", "k >= 2"})
          .refute(
              [](Side &f) {
                return f.add(
                    f.conv(f[0], f[1], "1", "p, p"),
                    f.broadcast(
                        f.conv(f[2], f.reduce(f[1], "sum", "2"), "1", "0, 0"),
                        "n, o, h + 2 * p - k + 1"));
              },
              [](Side &f) {
                return f.conv(f.add(f[0], f.broadcast(f[2], "n, c, h")), f[1],
                              "1", "p, p");
              }));
}

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

TEST_CASE("near miss: batch norm before a padded convolution folded as if it "
          "were not padded") {
  requireRefuted(
      Pair({"n, c, h", "o, c, k", "c", "c", "c", "c"},
           {"p >= 1", "real eps > 0.0"})
          .where(5, "positive")
          .refute(
              [](Side &f) {
                return f.conv(f.op("batch_norm", {f[0], f[2], f[3], f[4], f[5]},
                                   "epsilon = #mlc.real<eps>"),
                              f[1], "1", "p, p");
              },
              [](Side &f) {
                return f.op(
                    "batch_norm",
                    {f.conv(f[0], f[1], "1", "p, p"),
                     f.slice(
                         f.reshape(f.broadcast(f.reshape(f[2], "1, c"), "o, c"),
                                   "o * c"),
                         "0", "o", "1"),
                     f.slice(
                         f.reshape(f.broadcast(f.reshape(f[3], "1, c"), "o, c"),
                                   "o * c"),
                         "0", "o", "1"),
                     f.slice(
                         f.reshape(f.broadcast(f.reshape(f[4], "1, c"), "o, c"),
                                   "o * c"),
                         "0", "o", "1"),
                     f.slice(
                         f.reshape(f.broadcast(f.reshape(f[5], "1, c"), "o, c"),
                                   "o * c"),
                         "0", "o", "1")},
                    "epsilon = #mlc.real<eps>");
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

TEST_CASE("near miss: relu behind a padded sum is not relu before it") {
  requireRefuted(
      Pair({"n, c, h", "o, c, k"}, {})
          .refute(
              [](Side &f) { return f.relu(f.conv(f[0], f[1], "1", "p, p")); },
              [](Side &f) { return f.conv(f.relu(f[0]), f[1], "1", "p, p"); }));
}

TEST_CASE("near miss: max pooling of a padded tensor sees the zeros") {
  requireRefuted(Pair({"n, c, h"}, {"p >= 1", "k >= 2", "p < k"})
                     .refute(
                         [](Side &f) {
                           return f.maxPool(f[0],
                                            Side::window("k", "1", "p, p"));
                         },
                         [](Side &f) {
                           return f.maxPool(f.pad(f[0], "0, 0, p", "0, 0, p"),
                                            Side::window("k"));
                         }));
}

TEST_CASE(
    "near miss: max pooling twice with strides is not pooling by the sum") {
  requireRefuted(
      Pair({"n, c, h"}, {"s >= 2"})
          .refute(
              [](Side &f) {
                return f.maxPool(f.maxPool(f[0], Side::window("2", "s")),
                                 Side::window("2"));
              },
              [](Side &f) {
                return f.slice(f.maxPool(f[0], Side::window("3", "s")),
                               "0, 0, 0", "n, c, floordiv(h - 2, s)",
                               "1, 1, 1");
              }));
}

TEST_CASE("near miss: average pooling is not max pooling") {
  requireRefuted(
      Pair({"n, c, h"}, {"k >= 2"})
          .refute(
              [](Side &f) { return f.avgPool(f[0], Side::window("k"), true); },
              [](Side &f) { return f.maxPool(f[0], Side::window("k")); }));
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

TEST_CASE("near miss: the wrong channels are scaled") {
  requireRefuted(
      Pair({"n, c, h", "c, c, k", "c"}, {})
          .refute(
              [](Side &f) {
                return f.mul(
                    f.conv(f[0], f[1]),
                    f.broadcast(f.reshape(f[2], "1, c, 1"), "n, c, h - k + 1"));
              },
              [](Side &f) {
                return f.conv(
                    f[0], f.mul(f[1], f.broadcast(f.reshape(f[2], "1, c, 1"),
                                                  "c, c, k")));
              }));
}

TEST_CASE("near miss: a sum of convolutions with different padding") {
  requireRefuted(Pair({"n, c, h", "o, c, k", "o, c, k"}, {"p >= 1"})
                     .refute(
                         [](Side &f) {
                           return f.add(f.conv(f[0], f[1], "1", "p, p"),
                                        f.conv(f[0], f[2], "1", "0, 2 * p"));
                         },
                         [](Side &f) {
                           return f.conv(f[0], f.add(f[1], f[2]), "1", "p, p");
                         }));
}

TEST_CASE("near miss: a strided 1x1 convolution is no plain product") {
  requireRefuted(Pair({"n, c, 2 * h", "o, c, 1"}, {})
                     .refute([](Side &f) { return f.conv(f[0], f[1], "2"); },
                             [](Side &f) {
                               return f.conv(f.slice(f[0], "0, 0, 0", "n, c, h",
                                                     "1, 1, 1"),
                                             f[1]);
                             }));
}

TEST_CASE("near miss: strides and dilations are exchanged") {
  requireRefuted(Pair({"n, c, h + 20", "o, c, 2"}, {})
                     .refute(
                         [](Side &f) {
                           return f.slice(f.conv(f[0], f[1], "2", "0, 0", "3"),
                                          "0, 0, 0", "n, o, 4", "1, 1, 1");
                         },
                         [](Side &f) {
                           return f.slice(f.conv(f[0], f[1], "3", "0, 0", "2"),
                                          "0, 0, 0", "n, o, 4", "1, 1, 1");
                         }));
}

TEST_CASE("near miss: padding begins and ends are exchanged") {
  requireRefuted(
      Pair({"n, c, h", "o, c, k"}, {"k >= 2"})
          .refute([](Side &f) { return f.conv(f[0], f[1], "1", "1, 0"); },
                  [](Side &f) { return f.conv(f[0], f[1], "1", "0, 1"); }));
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

TEST_CASE("near miss: a product of groups mixes channels") {
  requireRefuted(
      Pair({"n, 2 * c, h", "2 * o, c, k"}, {})
          .refute(
              [](Side &f) { return f.conv(f[0], f[1], "1", "0, 0", "1", "2"); },
              [](Side &f) {
                return f.concat(
                    {f.conv(f.slice(f[0], "0, c, 0", "n, c, h", "1, 1, 1"),
                            f.slice(f[1], "0, 0, 0", "o, c, k", "1, 1, 1")),
                     f.conv(f.slice(f[0], "0, 0, 0", "n, c, h", "1, 1, 1"),
                            f.slice(f[1], "o, 0, 0", "o, c, k", "1, 1, 1"))},
                    1);
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

TEST_CASE("near miss: two max pools with a window too large") {
  requireRefuted(
      Pair({"n, c, h + 20"}, {"k >= 1", "l >= 1"})
          .refute(
              [](Side &f) {
                return f.slice(f.maxPool(f.maxPool(f[0], Side::window("k")),
                                         Side::window("l")),
                               "0, 0, 0", "n, c, 4", "1, 1, 1");
              },
              [](Side &f) {
                return f.slice(f.maxPool(f[0], Side::window("k + l")),
                               "0, 0, 0", "n, c, 4", "1, 1, 1");
              }));
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
