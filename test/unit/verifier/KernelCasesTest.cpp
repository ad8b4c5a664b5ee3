//===- KernelCasesTest.cpp - Cases of a condition, and what they say ------===//

#include "verifier/kernel/Cases.h"
#include <catch2/catch.hpp>

using namespace mlc::kernel;

namespace {

/// d divides h + 2, and h >= 3 or d = 1.
struct Divided {
  Decider decider{3000000};
  Integer h = Integer::size("h"), d = Integer::size("d"),
          q = Integer::size("%quotient0");
  Formula positive = Formula::notNegative(d - 1),
          divides =
              Formula::zero(Integer::apply(Integer::Kind::Modulo, h + 2, d)),
          large = Formula::notNegative(h - 3), one = Formula::equal(d, 1);
  std::vector<Formula> known{positive, divides, Formula::any({large, one})};
  SizeCase first{{positive, divides, large},
                 {{"%quotient0", h + 2, d}},
                 {{"h", d * q - 2}},
                 {positive, Formula::notNegative(d * q - 5)}};
  SizeCase second{
      {positive, divides, one}, {}, {{"d", 1}}, {Formula::notNegative(h)}};

  std::string why(std::vector<SizeCase> cases) {
    return whyNoCases(known, cases, decider);
  }
};

} // namespace

TEST_CASE("Cases of a condition leave nothing out", "[kernel]") {
  Divided f;
  CHECK(f.why({f.first, f.second}) == "");
  CHECK(f.why({f.second, f.first, f.first}) == "");
  for (const SizeCase &one : {f.first, f.second})
    CHECK(f.why({one}) == "the cases may leave something out");
  CHECK(f.why({}) == "the cases may leave something out");
  f.second.where.push_back(Formula::less(f.h, 2));
  CHECK(f.why({f.first, f.second}) == "the cases may leave something out");
  // Nothing is left out of what cannot be.
  f.known = {Formula::less(f.h, 0)};
  CHECK(f.why({}) == "");
}

TEST_CASE("A size is what a case says that it is", "[kernel]") {
  Divided f;
  SizeCase wrong = f.first;
  wrong.solved[0].value = f.d * f.q - 1;
  CHECK(f.why({wrong, f.second}) == "'h' may be another number");
  wrong = f.second;
  wrong.solved[0].value = 2;
  CHECK(f.why({f.first, wrong}) == "'d' may be another number");
  // Of another case it may hold.
  wrong = f.first;
  wrong.solved.push_back({"d", 1});
  CHECK(f.why({wrong, f.second}) == "'d' may be another number");
  wrong = f.second;
  wrong.solved.push_back({"%T0", 0});
  CHECK(f.why({f.first, wrong}) == "'%T0' may be another number");
}

TEST_CASE("Quotients are new sizes, and not negative", "[kernel]") {
  Divided f;
  SizeCase wrong = f.first;
  wrong.quotients[0].over = f.h - 5;
  wrong.solved.clear();
  wrong.known.clear();
  CHECK(f.why({wrong, f.second}) ==
        "the quotient '%quotient0' may be negative");
  wrong = f.first;
  wrong.quotients[0].name = "h";
  CHECK(f.why({wrong, f.second}) == "'h' is no new size");
  wrong = f.first;
  wrong.quotients.push_back(wrong.quotients[0]);
  CHECK(f.why({wrong, f.second}) == "'%quotient0' is no new size");
  // One that is rounded down is no solution.
  f.known[1] = Formula();
  f.first.where[1] = f.second.where[1] = Formula();
  CHECK(f.why({f.first, f.second}) == "'h' may be another number");
}

TEST_CASE("A case knows what follows", "[kernel]") {
  Divided f;
  SizeCase wrong = f.first;
  wrong.known.push_back(Formula::notNegative(f.q - 6));
  CHECK(f.why({wrong, f.second}) == "what a case knows may not hold");
  wrong = f.second;
  wrong.known.push_back(f.large);
  CHECK(f.why({f.first, wrong}) == "what a case knows may not hold");
  // Too large to be asked.
  Integer large = f.h;
  for (unsigned i = 0; i < 12; ++i)
    large = large + large;
  wrong.known.back() = Formula::notNegative(large);
  CHECK(f.why({f.first, wrong}) == "what a case knows may not hold");
}
