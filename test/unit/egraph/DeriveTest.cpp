//===- DeriveTest.cpp - What follows from known rules ---------------------===//

#include "rewrites/EGraph/Derive.h"
#include "Fixture.h"
#include <catch2/catch.hpp>

using namespace mlc;
using test::Fixture;
using test::sumRules;

namespace {

/// Whether the last rule follows from those before it.
bool lastFollows(const std::string &known, const std::string &asked) {
  Fixture fixture;
  fixture.addRules(known);
  KnownRules rules(fixture.rules);
  fixture.addRules(asked);
  Rule &last = fixture.rules.rules.back();
  return provesBySaturation(last.getBefore(), last.getAfter(), last.assumptions,
                            rules);
}

std::string sumRule(const std::string &before, const std::string &after) {
  return "!t = tensor<?x?xf32, #mlc.dims<[a, b]>>\n"
         "rule.def @asked \"\" {\n"
         "func.func @before(%x: !t, %y: !t, %z: !t) -> !t {" +
         before +
         "return %1 : !t }\n"
         "func.func @after(%x: !t, %y: !t, %z: !t) -> !t {" +
         after + "return %1 : !t }\n}";
}

std::string sums(const std::string &a, const std::string &b,
                 const std::string &c, const std::string &d) {
  return "%0 = mlc.add " + a + ", " + b + " : (!t, !t) -> !t\n" +
         "%1 = mlc.add " + c + ", " + d + " : (!t, !t) -> !t\n";
}

} // namespace

TEST_CASE("sums of three follow from two laws") {
  std::string asked =
      sumRule(sums("%x", "%y", "%0", "%z"), sums("%z", "%x", "%0", "%y"));
  CHECK(lastFollows(test::sumRules, asked));
  CHECK_FALSE(lastFollows("", asked));
}

TEST_CASE("the same function up to the order of operators needs no rule") {
  std::string one = "%0 = mlc.exp %x : (!t) -> !t\n"
                    "%2 = mlc.relu %y : (!t) -> !t\n"
                    "%1 = mlc.add %0, %2 : (!t, !t) -> !t\n";
  std::string two = "%2 = mlc.relu %y : (!t) -> !t\n"
                    "%0 = mlc.exp %x : (!t) -> !t\n"
                    "%1 = mlc.add %0, %2 : (!t, !t) -> !t\n";
  CHECK(lastFollows("", sumRule(one, two)));
}

TEST_CASE("a wrong rule does not follow") {
  CHECK_FALSE(
      lastFollows(test::sumRules, sumRule(sums("%x", "%y", "%0", "%z"),
                                          sums("%x", "%y", "%0", "%y"))));
}

namespace {

std::string negation(const std::string &name, const std::string &condition,
                     const std::string &elements) {
  return "!t = tensor<?x?xf32, #mlc.dims<[a, b]>>\n"
         "rule.def @" +
         name + " \"\" {\n" + condition + "\nfunc.func @before(%x: !t {" +
         elements +
         "}) -> !t {"
         "%0 = mlc.neg %x : (!t) -> !t\n"
         "%1 = mlc.neg %0 : (!t) -> !t\n return %1 : !t }\n"
         "func.func @after(%x: !t) -> !t { return %x : !t }\n}";
}

} // namespace

TEST_CASE("a rule's conditions are granted to its derivation, and no more") {
  auto follows = [](const std::string &known, const std::string &asked) {
    return lastFollows(negation("known", known, ""),
                       negation("asked", asked, ""));
  };
  CHECK(follows("", "rule.require a ge 1"));
  CHECK(follows("rule.require a ge 1", "rule.require a ge 2"));
  CHECK_FALSE(follows("rule.require a ge 2", "rule.require a ge 1"));
  CHECK(follows("rule.require 2 divides a", "rule.require 2 divides a"));
  CHECK_FALSE(follows("rule.require 2 divides a", "rule.require 2 divides b"));
  CHECK(follows("rule.require a eq b", "rule.require a eq b"));
  CHECK_FALSE(follows("rule.require a eq b", ""));
  auto followsOf = [](const std::string &known, const std::string &asked) {
    return lastFollows(negation("known", "", known),
                       negation("asked", "", asked));
  };
  CHECK(followsOf("rule.constant", "rule.constant"));
  CHECK_FALSE(followsOf("rule.constant", ""));
  CHECK_FALSE(followsOf("rule.positive", "rule.nonzero"));
}

TEST_CASE("a rule is redundant where others do as much") {
  // The known rules, then the one that is asked about.
  auto lastIsRedundant = [](const std::string &known,
                            const std::string &asked) {
    Fixture fixture;
    fixture.addRules(known);
    KnownRules rules(fixture.rules, KnownRules::Use::Steps);
    fixture.addRules(asked);
    return isRedundant(fixture.rules.rules.back(), rules);
  };
  auto scaleRule = [](const std::string &name, const std::string &weights) {
    return R"(
!x = tensor<?x?xf32, #mlc.dims<[m, k]>>
!w = tensor<?x?xf32, #mlc.dims<[k, n]>>
!y = tensor<?x?xf32, #mlc.dims<[m, n]>>
rule.def @)" +
           name + R"( "" {
  func.func @before(%x: !x, %w: !w {rule.constant}) -> !y {
    %0 = mlc.matmul %x, %w : (!x, !w) -> !y
    %1 = mlc.add %0, %0 : (!y, !y) -> !y
    return %1 : !y
  }
  func.func @after(%x: !x, %w: !w) -> !y {
    )" + weights +
           R"(
    %1 = mlc.matmul %x, %0 : (!x, !w) -> !y
    return %1 : !y
  }
})";
  };
  const std::string sum =
      scaleRule("sum", "%0 = mlc.add %w, %w : (!w, !w) -> !w");
  const std::string computed = scaleRule(
      "computed",
      R"(%0 = mlc.compute %w {definition = "(w) Y[i, j] = 2 * w[i, j]", dims = #mlc.dims<[k, n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!w) -> !w)");
  CHECK(lastIsRedundant(computed, sum));
  // As steps: not from after to before.
  CHECK_FALSE(lastIsRedundant(sumRules, sum));
  CHECK(lastIsRedundant(sumRules,
                        sumRule("%0 = mlc.add %x, %y : (!t, !t) -> !t\n"
                                "%1 = mlc.add %0, %z : (!t, !t) -> !t\n",
                                "%0 = mlc.add %z, %y : (!t, !t) -> !t\n"
                                "%1 = mlc.add %x, %0 : (!t, !t) -> !t\n")));
}

// What is written by hand is there because the generator does not find it.
TEST_CASE("no rule that ships written is redundant beside the generated") {
  Fixture fixture;
  REQUIRE(succeeded(addShippedRules(fixture.rules, &fixture.context)));
  KnownRules generated(KnownRules::Use::Steps);
  unsigned written = 0;
  for (const Rule &rule : fixture.rules.rules)
    if (rule.origin == RuleOrigin::Generated)
      generated.add(rule);
  for (Rule &rule : fixture.rules.rules)
    if (rule.origin == RuleOrigin::Written) {
      ++written;
      INFO(rule.getName().str());
      CHECK_FALSE(isRedundant(rule, generated));
    }
  CHECK(written > 0);
}
