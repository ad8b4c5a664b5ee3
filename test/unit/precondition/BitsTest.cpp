//===- BitsTest.cpp - Rules judged on the bits of their results -----------===//
//
// Each rule holds over the reals. Whether it gives equal bits as well must show
// on numbers: signs of zeros, roundings, infinities and NaN are drawn.
//
//===----------------------------------------------------------------------===//

#include "dialects/Symbolic/Attributes.h"
#include "rewrites/Soundness/Soundness.h"
#include <catch2/catch.hpp>

using namespace mlc;

namespace {

/// Of a rule on %x and %y: how instances compare.
InstantiationResult judge(const std::string &before, const std::string &after) {
  mlir::MLIRContext context;
  context.loadDialect<MlcDialect, rule::RuleDialect, mlir::func::FuncDialect>();
  const std::string head = "(%x: !t, %y: !t) -> !t {\n", tail = "\n}\n";
  const std::string text =
      "!t = tensor<?xf32, #mlc.dims<[n]>>\nrule.def @judged \"\" {\n"
      "func.func @before" +
      head + before + tail + "func.func @after" + head + after + tail + "}\n";
  RuleSet rules;
  REQUIRE(succeeded(addRuleFile(rules, &context, text, "judged")));
  return checkBits(rules.rules.front(), 500, /*seed=*/1);
}

const std::string zero = "%z = mlc.fill {dims = #mlc.dims<[n]>, value = "
                         "#mlc.real<0.0>, type = f32} : () -> !t\n";

std::string binary(const std::string &name, const std::string &function,
                   const std::string &a, const std::string &b) {
  return name + " = mlc." + function + " " + a + ", " + b +
         " : (!t, !t) -> !t\n";
}

const std::string done = "return %r : !t";

} // namespace

TEST_CASE("bits: equal operations have equal bits") {
  InstantiationResult result =
      judge(binary("%r", "add", "%x", "%y") + done,
            binary("%s", "add", "%x", "%y") +
                "%v = mlc.reverse %s {axes = array<i64: 0>} : (!t) -> !t\n"
                "%r = mlc.reverse %v {axes = array<i64: 0>} : (!t) -> !t\n" +
                done);
  CHECK(result.failure.empty());
  CHECK(result.equal == 500);
}

TEST_CASE("bits: what differs in bits alone is found") {
  std::string identity = "return %x : !t";
  SECTION("-0 + 0 is 0") {
    CHECK(!judge(zero + binary("%r", "add", "%x", "%z") + done, identity)
               .failure.empty());
  }
  SECTION("infinity * 0 is NaN") {
    CHECK(!judge(zero + binary("%r", "mul", "%x", "%z") + done,
                 zero + "return %z : !t")
               .failure.empty());
  }
  SECTION("sums round in their order") {
    CHECK(!judge(binary("%s", "add", "%x", "%y") +
                     binary("%r", "add", "%s", "%x") + done,
                 binary("%s", "add", "%x", "%x") +
                     binary("%r", "add", "%s", "%y") + done)
               .failure.empty());
  }
  SECTION("infinity - infinity is NaN") {
    CHECK(
        !judge(binary("%r", "sub", "%x", "%x") + done, zero + "return %z : !t")
             .failure.empty());
  }
  SECTION("the maximum of zeros is one of them") {
    CHECK(!judge(binary("%r", "max", "%x", "%y") + done,
                 binary("%r", "max", "%y", "%x") + done)
               .failure.empty());
  }
}
