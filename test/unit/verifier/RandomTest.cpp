//===- RandomTest.cpp - Random pairs: never proved when they differ -------===//

#include "Pair.h"
#include <random>

using namespace mlc;
using namespace mlc::test;
using mlir::Value;

namespace {

/// A random chain of operators on square matrices, so that everything fits.
Value randomGraph(Side &f, std::mt19937 &random) {
  std::vector<Value> values{f[0], f[1]};
  auto pick = [&] { return values[random() % values.size()]; };
  unsigned length = 1 + random() % 3;
  for (unsigned i = 0; i < length; ++i) {
    Value a = pick(), b = pick();
    switch (random() % 9) {
    case 0:
      values.push_back(f.add(a, b));
      break;
    case 1:
      values.push_back(f.mul(a, b));
      break;
    case 2:
      values.push_back(f.matmul(a, b));
      break;
    case 3:
      values.push_back(f.transpose(a, "1, 0"));
      break;
    case 4:
      values.push_back(f.relu(a));
      break;
    case 5:
      values.push_back(f.op("neg", {a}));
      break;
    case 6:
      values.push_back(f.op("max", {a, b}));
      break;
    case 7:
      values.push_back(f.broadcast(f.reduce(a, "sum", "1"), "n, n"));
      break;
    case 8:
      values.push_back(
          f.slice(f.pad(a, "1, 0", "0, 0"), "0, 0", "n, n", "1, 1"));
      break;
    }
  }
  return values.back();
}

} // namespace

TEST_CASE("random pairs: what numbers refute is never proved") {
  unsigned proved = 0, refuted = 0, unknown = 0;
  for (unsigned seed = 0; seed < 150; ++seed) {
    // The prover alone, then numbers alone.
    std::mt19937 random(seed);
    auto side = [&](Side &f) { return randomGraph(f, random); };
    VerifierOptions proverOnly;
    proverOnly.trialsBefore = 0;
    proverOnly.trialsAfter = 0;
    proverOnly.classifyFloats = false;
    Verdict alone =
        Pair({"n, n", "n, n"}, {"n >= 1"}).verify(side, side, proverOnly);
    std::mt19937 again(seed);
    auto same = [&](Side &f) { return randomGraph(f, again); };
    VerifierOptions numbersFirst;
    numbersFirst.trialsBefore = 40;
    numbersFirst.maxSteps = 1;
    Verdict numbers =
        Pair({"n, n", "n, n"}, {"n >= 1"}).verify(same, same, numbersFirst);
    INFO("seed " << seed);
    if (numbers.isRefuted())
      REQUIRE_FALSE(alone.isProved());
    proved += alone.isProved();
    refuted += numbers.isRefuted();
    unknown += !alone.isProved() && !numbers.isRefuted();
  }
  WARN(proved << " proved, " << refuted << " refuted, " << unknown
              << " undecided");
  CHECK(proved > 0);
  CHECK(unknown < 15);
}

TEST_CASE("random enlargements: proved exactly where numbers agree") {
  unsigned proved = 0, refuted = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    auto small = [&](unsigned n) { return std::to_string(random() % n); };
    std::string low = small(3), high = small(3), padLow = small(3),
                padHigh = small(3), dilation = std::to_string(1 + random() % 2);
    auto before = [&](Side &f) {
      return f.conv(f[0], f[1], "s", "1, 1", dilation);
    };
    auto after = [&](Side &f) {
      return f.conv(f[0], f.pad(f[1], "0, 0, " + low, "0, 0, " + high), "s",
                    "1 + " + padLow + ", 1 + " + padHigh, dilation);
    };
    auto ask = [&](const VerifierOptions &options) {
      return Pair({"n, c, h", "o, c, k"}, {"s >= 1", "h >= 6", "k >= 1"})
          .verify(before, after, options);
    };
    VerifierOptions proverOnly;
    proverOnly.trialsBefore = proverOnly.trialsAfter = 0;
    proverOnly.classifyFloats = false;
    VerifierOptions numbersOnly;
    numbersOnly.trialsBefore = 60;
    numbersOnly.maxSteps = 1;
    bool isProved = ask(proverOnly).isProved();
    bool isRefuted = ask(numbersOnly).isRefuted();
    INFO("pads " << low << ' ' << high << ", convolution " << padLow << ' '
                 << padHigh << ", dilation " << dilation);
    REQUIRE_FALSE((isProved && isRefuted));
    CHECK((isProved || isRefuted));
    proved += isProved;
    refuted += isRefuted;
  }
  WARN(proved << " proved, " << refuted << " refuted");
  CHECK(proved > 0);
}
