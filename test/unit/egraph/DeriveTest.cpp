//===- DeriveTest.cpp - What follows from known rules ---------------------===//

#include "rewrites/EGraph/Derive.h"
#include "Fixture.h"
#include <catch2/catch.hpp>

using namespace mlc;
using test::Fixture;

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

std::string negation(const std::string &name, const std::string &condition) {
  return "!t = tensor<?x?xf32, #mlc.dims<[a, b]>>\n"
         "rule.def @" +
         name + " \"\" {\n" + condition +
         "\nfunc.func @before(%x: !t) -> !t {"
         "%0 = mlc.neg %x : (!t) -> !t\n"
         "%1 = mlc.neg %0 : (!t) -> !t\n return %1 : !t }\n"
         "func.func @after(%x: !t) -> !t { return %x : !t }\n}";
}

} // namespace

TEST_CASE("a rule's conditions are granted to its derivation, and no more") {
  auto follows = [](const std::string &known, const std::string &asked) {
    return lastFollows(negation("known", known), negation("asked", asked));
  };
  CHECK(follows("", "rule.require a ge 1"));
  CHECK(follows("rule.require a ge 1", "rule.require a ge 2"));
  CHECK_FALSE(follows("rule.require a ge 2", "rule.require a ge 1"));
  CHECK(follows("rule.require 2 divides a", "rule.require 2 divides a"));
  CHECK_FALSE(follows("rule.require 2 divides a", "rule.require 2 divides b"));
  CHECK(follows("rule.require a eq b", "rule.require a eq b"));
  CHECK_FALSE(follows("rule.require a eq b", ""));
  CHECK(follows("rule.assume constant 0", "rule.assume constant 0"));
  CHECK_FALSE(follows("rule.assume constant 0", ""));
  CHECK_FALSE(follows("rule.assume positive 0", "rule.assume nonzero 0"));
}
