//===- TrapTest.cpp - Conditions that people forgot, found by themselves --===//
//
// Each pair holds only under a condition that published rule sets lacked or
// stated by hand. Only the two functions are given.
//
//===----------------------------------------------------------------------===//

#include "Pair.h"
#include "rewrites/Precondition/Precondition.h"

using namespace mlc;
using namespace mlc::test;
using mlir::Value;

namespace {

/// Words outlive the context that the pair's conditions live in.
struct Found {
  SynthesizedCondition condition;
  std::string words;
};

Found synthesize(Pair pair, Body before, Body after,
                 const SynthesisOptions &options = {}) {
  return pair.ask(
      before, after, [&](auto first, auto second, const Assumptions &base) {
        Found found;
        found.condition = synthesizeCondition(first, second, base, options);
        found.words = found.condition.text();
        found.condition.alternatives.clear();
        return found;
      });
}

/// The condition is proved, the weakest, and reads like this.
void requireCondition(const Found &answer, const std::string &text) {
  const SynthesizedCondition &found = answer.condition;
  INFO(answer.words << ": " << name(found.verdict.kind).str() << ' '
                    << found.verdict.reason << found.verdict.counterexample.text
                    << ", " << found.rounds << " rounds, " << found.samples
                    << " samples, " << found.validSamples << " valid, "
                    << found.seconds << " s");
  CHECK(found.verdict.isProved());
  CHECK(found.isWeakest);
  CHECK(answer.words == text);
  CHECK(found.seconds < 20.0); // well under 1 on a quiet machine
}

} // namespace

TEST_CASE("precondition: two grouped convolutions merge when there is one "
          "group") {
  requireCondition(synthesize(
                       Pair({"n, c * g, h", "o1 * g, c, k", "o2 * g, c, k"},
                            {"g >= 1", "c >= 1"}),
                       [](Side &f) {
                         return f.concat(
                             {f.conv(f[0], f[1], "1", "0, 0", "1", "g"),
                              f.conv(f[0], f[2], "1", "0, 0", "1", "g")},
                             1);
                       },
                       [](Side &f) {
                         return f.conv(f[0], f.concat({f[1], f[2]}, 0), "1",
                                       "0, 0", "1", "g");
                       }),
                   "g == 1");
}

TEST_CASE("precondition: SAME_UPPER kernels enlarge while the unclipped total "
          "pad is not negative") {
  // Both kernels pad as SAME_UPPER does: to ceil(h / s) outputs.
  auto pads = [](const std::string &kernel) {
    std::string total =
        "max((floordiv(h + s - 1, s) - 1) * s + " + kernel + " - h, 0)";
    return "floordiv(" + total + ", 2), " + total + " - floordiv(" + total +
           ", 2)";
  };
  // To 3 from 1 the total pad is (ceil(h / s) - 1) s + 1 - h before clipping,
  // which is never positive: it is 0 where s divides h - 1.
  requireCondition(
      synthesize(
          Pair({"n, c, h", "o, c, 1"}, {"s >= 1", "h >= 1"}),
          [&](Side &f) { return f.conv(f[0], f[1], "s", pads("1")); },
          [&](Side &f) {
            return f.conv(f[0], f.pad(f[1], "0, 0, 1", "0, 0, 1"), "s",
                          pads("3"));
          }),
      "s divides h - 1");
  requireCondition(
      synthesize(
          Pair({"n, c, h", "o, c, k"}, {"s >= 1", "h >= 1", "k >= 1"}),
          [&](Side &f) { return f.conv(f[0], f[1], "s", pads("k")); },
          [&](Side &f) {
            return f.conv(f[0], f.pad(f[1], "0, 0, 1", "0, 0, 1"), "s",
                          pads("(k + 2)"));
          }),
      // k - 1 - mod(h - 1, s) is the total pad before clipping.
      "mod(h - 1, s) < k");
}

TEST_CASE("precondition: an average pool that does not count its border is a "
          "convolution without one") {
  auto pool = [](bool countPads) {
    return [=](Side &f) {
      return f.avgPool(f[0], Side::window("k", "s", "p, p"), countPads);
    };
  };
  auto conv = [](Side &f) {
    return f.conv(
        f[0],
        f.op("div",
             {f.fill("c, 1, k", "1.0"),
              f.broadcast(f.reshape(f.reduce(f.fill("k", "1.0"), "sum", "0"),
                                    "1, 1, 1"),
                          "c, 1, k")}),
        "s", "p, p", "1", "c");
  };
  requireCondition(synthesize(Pair({"n, c, h"}, {"s >= 1", "k >= 1", "c >= 1"}),
                              pool(true), conv),
                   "always");
  requireCondition(synthesize(Pair({"n, c, h"}, {"s >= 1", "k >= 1", "c >= 1"}),
                              pool(false), conv),
                   "p == 0");
}

TEST_CASE("precondition: a shift moves through a convolution without border") {
  requireCondition(
      synthesize(
          Pair({"n, c, h", "o, c, k", "c"}, {}),
          [](Side &f) {
            return f.conv(
                f.add(f[0], f.broadcast(f.reshape(f[2], "1, c, 1"), "n, c, h")),
                f[1], "1", "p, p");
          },
          [](Side &f) {
            Value shift = f.reduce(
                f.mul(f[1], f.broadcast(f.reshape(f[2], "1, c, 1"), "o, c, k")),
                "sum", "1, 2");
            return f.add(f.conv(f[0], f[1], "1", "p, p"),
                         f.broadcast(f.reshape(shift, "1, o, 1"),
                                     "n, o, h + 2 * p - k + 1"));
          }),
      "p == 0");
}

TEST_CASE("precondition: a scale leaves a rectifier when it is not negative") {
  requireCondition(
      synthesize(
          Pair({"n"}, {}),
          [](Side &f) { return f.relu(f.mul(f[0], f.fill("n", "t"))); },
          [](Side &f) { return f.mul(f.relu(f[0]), f.fill("n", "t")); }),
      "t >= 0");
}

TEST_CASE("precondition: a broadcast addend does not commute with padding") {
  requireCondition(
      synthesize(
          Pair({"n, c", "c"}, {}),
          [](Side &f) {
            return f.pad(
                f.mul(f[0], f.broadcast(f.reshape(f[1], "1, c"), "n, c")),
                "a, 0", "b, 0", "v");
          },
          [](Side &f) {
            return f.mul(f.pad(f[0], "a, 0", "b, 0", "v"),
                         f.broadcast(f.reshape(f[1], "1, c"), "n + a + b, c"));
          }),
      "v == 0 or (a == 0 and b == 0)");
}

TEST_CASE("precondition: a shift in front of a 2-D convolution needs all four "
          "borders empty") {
  requireCondition(
      synthesize(
          Pair({"n, c, h, w", "o, c, k, l", "c"}, {}),
          [](Side &f) {
            return f.conv(f.add(f[0], f.broadcast(f.reshape(f[2], "1, c, 1, 1"),
                                                  "n, c, h, w")),
                          f[1], "1, 1", "t, l0, b, r", "1, 1");
          },
          [](Side &f) {
            Value shift =
                f.reduce(f.mul(f[1], f.broadcast(f.reshape(f[2], "1, c, 1, 1"),
                                                 "o, c, k, l")),
                         "sum", "1, 2, 3");
            return f.add(f.conv(f[0], f[1], "1, 1", "t, l0, b, r", "1, 1"),
                         f.broadcast(f.reshape(shift, "1, o, 1, 1"),
                                     "n, o, h + t + b - k + 1, "
                                     "w + l0 + r - l + 1"));
          }),
      "b == 0 and l0 == 0 and r == 0 and t == 0");
}

TEST_CASE("precondition: what stands under a root must not be negative") {
  // x / (v + eps) as x times the square of 1 / sqrt(v + eps).
  SynthesisOptions options;
  options.anyArgument = true;
  Found found = synthesize(
      Pair({"n", "n"}, {}),
      [](Side &f) {
        return f.op("div", {f[0], f.add(f[1], f.fill("n", "eps"))});
      },
      [](Side &f) {
        Value root = f.op("reciprocal",
                          {f.op("sqrt", {f.add(f[1], f.fill("n", "eps"))})});
        return f.mul(f.mul(f[0], root), root);
      },
      options);
  INFO(found.condition.verdict.reason);
  CHECK(found.condition.verdict.isProved());
  // v + eps > 0 itself is not in the vocabulary; where it is 0, x / 0 has no
  // value before either.
  CHECK_FALSE(found.condition.isWeakest);
  CHECK(found.words == "argument 1 is non-negative and eps >= 0");
}

TEST_CASE("precondition: the same goal has the same answer") {
  auto ask = [] {
    return synthesize(
        Pair({"n, c * g, h", "o1 * g, c, k", "o2 * g, c, k"},
             {"g >= 1", "c >= 1"}),
        [](Side &f) {
          return f.concat({f.conv(f[0], f[1], "1", "0, 0", "1", "g"),
                           f.conv(f[0], f[2], "1", "0, 0", "1", "g")},
                          1);
        },
        [](Side &f) {
          return f.conv(f[0], f.concat({f[1], f[2]}, 0), "1", "0, 0", "1", "g");
        });
  };
  Found a = ask(), b = ask();
  CHECK(a.words == b.words);
  CHECK(a.condition.samples == b.condition.samples);
  CHECK(a.condition.validSamples == b.condition.validSamples);
}

TEST_CASE("precondition: nothing is found where nothing holds") {
  Found found = synthesize(
      Pair({"n", "n"}, {}), [](Side &f) { return f.op("sub", {f[0], f[1]}); },
      [](Side &f) { return f.op("sub", {f[1], f[0]}); });
  CHECK(found.words.empty());
  CHECK(found.condition.verdict.reason == "no valid instantiation was found");
}

TEST_CASE("precondition: a disjunction as one rule's condition") {
  mlir::MLIRContext context;
  context.loadDialect<MlcDialect>();
  auto equals = [&](const char *name, int64_t value) {
    return Condition::compare(IntExpr::symbol(&context, name),
                              ComparePredicate::EQ,
                              IntExpr::constant(&context, value));
  };
  SynthesizedCondition found;
  CHECK_FALSE(found.asOneRule());
  found.alternatives = {{{equals("a", 0), equals("b", 0)}, {}, {}},
                        {{equals("p", 1)}, {}, {}}};
  CHECK(str(*found.asOneRule()) == "(a == 0 or p == 1) and (b == 0 or p == 1)");
  // A real parameter cannot stand in a disjunction.
  found.alternatives[1].reals.push_back({"t", ComparePredicate::GE, 0.0});
  CHECK_FALSE(found.asOneRule());
}
