//===- NearMissWindowsTest.cpp - Nearly right: windows --------------------===//
//
// Every pair differs in one detail from one that holds. The verdict must be a
// counterexample that the evaluator has run, never a proof.
//
//===----------------------------------------------------------------------===//

#include "Pair.h"

using namespace mlc;
using namespace mlc::test;

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
