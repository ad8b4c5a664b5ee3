//===- EqualityTest.cpp - What follows from what was stated, and what not -===//

#include "Fixture.h"

using namespace mlc;
using namespace mlc::test;

namespace {

/// Why `y` does not stand for `x`, of a function with this body, which returns
/// terms `x` and `y`, and of which every operator stays.
std::string whyNotEqual(Fixture &fixture, const std::string &body, TermId x,
                        TermId y, std::vector<TrailStep> steps = {}) {
  mlir::func::FuncOp function =
      fixture.function("!t = tensor<2x2xf32>\n" + body);
  mlir::Block &block = function.getBody().front();
  Trail trail{"main", std::move(steps), {}, {}};
  llvm::DenseMap<mlir::Value, TermId> terms;
  TermId next = 0;
  for (mlir::Value argument : block.getArguments())
    terms[argument] = next++;
  for (mlir::Operation &op : block.without_terminator()) {
    ChosenOperator chosen{next, {}};
    for (mlir::Value operand : op.getOperands())
      chosen.operands.push_back(terms.lookup(operand));
    for (mlir::Value result : op.getResults())
      terms[result] = next++;
    if (!chosen.operands.empty() || op.getNumOperands() == 0)
      trail.chosen.push_back(std::move(chosen));
  }
  for (mlir::Value output : block.getTerminator()->getOperands())
    trail.outputs.push_back(terms.lookup(output) == x ? y
                                                      : terms.lookup(output));
  return fixture.why(function, trail);
}

std::string unequal(const char *body, TermId x = 2, TermId y = 3) {
  Fixture fixture;
  return whyNotEqual(fixture, body, x, y);
}

constexpr const char *isUnknown = "which is not known to equal";

} // namespace

TEST_CASE("equal operators on equal operands are equal, and no others") {
  CHECK(unequal(R"(
func.func @main(%x: !t, %y: !t) -> (!t, !t) {
  %0 = mlc.sub %x, %y : (!t, !t) -> !t
  %1 = mlc.sub %x, %y : (!t, !t) -> !t
  return %0, %1 : !t, !t
})") == "");
  // Another operator, ...
  CHECK_SAYS(unequal(R"(
func.func @main(%x: !t, %y: !t) -> (!t, !t) {
  %0 = mlc.sub %x, %y : (!t, !t) -> !t
  %1 = mlc.add %x, %y : (!t, !t) -> !t
  return %0, %1 : !t, !t
})"),
             isUnknown);
  // ... another attribute, ...
  CHECK_SAYS(unequal(R"(
func.func @main(%x: !t, %y: !t) -> (!t, !t) {
  %0 = mlc.clip %x {min = #mlc.real<0.0>, max = #mlc.real<6.0>} : (!t) -> !t
  %1 = mlc.clip %x {min = #mlc.real<0.0>, max = #mlc.real<3.0>} : (!t) -> !t
  return %0, %1 : !t, !t
})"),
             isUnknown);
  // ... another order, ...
  CHECK_SAYS(unequal(R"(
func.func @main(%x: !t, %y: !t) -> (!t, !t) {
  %0 = mlc.sub %x, %y : (!t, !t) -> !t
  %1 = mlc.sub %y, %x : (!t, !t) -> !t
  return %0, %1 : !t, !t
})"),
             isUnknown);
  // ... and another last operand.
  CHECK_SAYS(unequal(R"(
func.func @main(%x: !t, %y: !t) -> (!t, !t) {
  %0 = mlc.sub %x, %y : (!t, !t) -> !t
  %1 = mlc.sub %x, %x : (!t, !t) -> !t
  return %0, %1 : !t, !t
})"),
             isUnknown);
}

TEST_CASE("results of one operator are not equal to one another") {
  const char *body = R"(
!i = tensor<4xi64>
!k = tensor<1xi64>
func.func @main(%x: !i) -> (!k, !k, !k, !k) {
  %0, %1 = mlc.top_k %x {axis = 0 : i64, k = #mlc.int<1>, largest = true, sorted = true} : (!i) -> (!k, !k)
  %2, %3 = mlc.top_k %x {axis = 0 : i64, k = #mlc.int<1>, largest = true, sorted = true} : (!i) -> (!k, !k)
  return %0, %1, %2, %3 : !k, !k, !k, !k
})";
  CHECK(unequal(body, 1, 3) == "");
  CHECK(unequal(body, 2, 4) == "");
  CHECK_SAYS(unequal(body, 1, 2), isUnknown);
  CHECK_SAYS(unequal(body, 1, 4), isUnknown);
  CHECK_SAYS(unequal(body, 2, 3), isUnknown);
}

TEST_CASE("what does more than compute equals itself alone") {
  CHECK_SAYS(unequal(R"(
func.func private @draw(!t) -> !t
func.func @main(%x: !t, %y: !t) -> (!t, !t) {
  %0 = func.call @draw(%x) : (!t) -> !t
  %1 = func.call @draw(%x) : (!t) -> !t
  return %0, %1 : !t, !t
})"),
             isUnknown);
}

namespace {
/// `twice` is an equality, `log` a refinement: exp(log x) by x.
class Known : public Fixture {
public:
  Known() {
    add("twice", "%x: !t",
        "%0 = mlc.neg %x : (!t) -> !t\n%1 = mlc.neg %0 : (!t) -> !t\n"
        "return %1 : !t",
        "return %x : !t");
    add("log", "%x: !t",
        "%0 = mlc.log %x : (!t) -> !t\n%1 = mlc.exp %0 : (!t) -> !t\n"
        "return %1 : !t",
        "return %x : !t", "", /*isTwoWay=*/false);
  }
};

constexpr const char *both = R"(
func.func @main(%x: !t) -> (!t, !t, !t, !t, !t, !t) {
  %0 = mlc.neg %x : (!t) -> !t
  %1 = mlc.neg %0 : (!t) -> !t
  %2 = mlc.log %x : (!t) -> !t
  %3 = mlc.exp %2 : (!t) -> !t
  %4 = mlc.sqrt %x : (!t) -> !t
  %5 = mlc.sqrt %1 : (!t) -> !t
  %6 = mlc.sqrt %3 : (!t) -> !t
  return %1, %3, %4, %5, %6, %x : !t, !t, !t, !t, !t, !t
})";
} // namespace

TEST_CASE("an equality goes both ways, and up through what reads it") {
  Known known;
  std::vector<TrailStep> steps{step("twice", {0}, {1, 2})};
  for (auto [x, y] : {std::pair(0, 2), {2, 0}, {5, 6}, {6, 5}}) {
    INFO(x << " by " << y);
    CHECK(whyNotEqual(known, both, x, y, steps) == "");
    CHECK_SAYS(whyNotEqual(known, both, x, y), isUnknown);
  }
}

TEST_CASE("a refinement goes one way, and is followed below operands") {
  Known known;
  std::vector<TrailStep> steps{step("log", {0}, {3, 4})};
  CHECK(whyNotEqual(known, both, 4, 0, steps) == "");
  CHECK_SAYS(whyNotEqual(known, both, 0, 4, steps), isUnknown);
  // What reads it is no equal, and is not told to refine.
  CHECK_SAYS(whyNotEqual(known, both, 5, 7, steps), isUnknown);
  CHECK_SAYS(whyNotEqual(known, both, 7, 5, steps), isUnknown);
}

TEST_CASE("refinements stay where classes are joined") {
  for (bool isJoinedFirst : {true, false}) {
    Known known;
    std::vector<TrailStep> steps{step("log", {0}, {3, 4}),
                                 step("twice", {0}, {1, 2})};
    if (isJoinedFirst)
      std::swap(steps[0], steps[1]);
    CHECK(whyNotEqual(known, both, 4, 2, steps) == "");
    CHECK_SAYS(whyNotEqual(known, both, 2, 4, steps), isUnknown);
  }
}

TEST_CASE("what refines a class refines all that joins it") {
  Known known;
  // Terms: x 0, log 1, exp 2, - 3, -- 4, which has more readers than exp.
  const char *body = R"(
func.func @main(%x: !t) -> (!t, !t, !t, !t) {
  %0 = mlc.log %x : (!t) -> !t
  %1 = mlc.exp %0 : (!t) -> !t
  %2 = mlc.neg %1 : (!t) -> !t
  %3 = mlc.neg %2 : (!t) -> !t
  %4 = mlc.sub %3, %3 : (!t, !t) -> !t
  %5 = mlc.sqrt %3 : (!t) -> !t
  return %3, %x, %4, %5 : !t, !t, !t, !t
})";
  std::vector<TrailStep> steps{step("log", {0}, {1, 2}),
                               step("twice", {2}, {3, 4})};
  CHECK(whyNotEqual(known, body, 4, 0, steps) == "");
  CHECK_SAYS(whyNotEqual(known, body, 0, 4, steps), isUnknown);
}

TEST_CASE("an equality over what only refines is a refinement") {
  Known known;
  const char *body = R"(
func.func @main(%x: !t) -> (!t, !t) {
  %0 = mlc.log %x : (!t) -> !t
  %1 = mlc.exp %0 : (!t) -> !t
  %2 = mlc.neg %1 : (!t) -> !t
  %3 = mlc.neg %2 : (!t) -> !t
  return %3, %x : !t, !t
})";
  // Terms: x 0, log 1, exp 2, - 3, -- 4. `twice` of x lies over -- exp log x.
  std::vector<TrailStep> steps{step("log", {0}, {1, 2}),
                               step("twice", {0}, {3, 4})};
  CHECK(whyNotEqual(known, body, 4, 0, steps) == "");
  CHECK_SAYS(whyNotEqual(known, body, 0, 4, steps), isUnknown);
  // It needs the step that refines.
  steps.erase(steps.begin());
  CHECK_SAYS(whyNotEqual(known, body, 4, 0, steps),
             "operand 0 of term 3 is not known to equal term 0");
}

TEST_CASE("one-way rules do not become equalities by congruence") {
  Known known;
  std::vector<TrailStep> steps{step("log", {0}, {3, 4})};
  mlir::func::FuncOp function = known.function(R"(
!t = tensor<2x2xf32>
func.func @main(%x: !t) -> !t {
  %0 = mlc.log %x : (!t) -> !t
  %1 = mlc.exp %0 : (!t) -> !t
  %2 = mlc.sqrt %x : (!t) -> !t
  return %2 : !t
})");
  // The square root would read exp(log x) in place of x.
  CHECK_SAYS(known.why(function, {"main",
                                  {step("log", {0}, {1, 2})},
                                  {{1, {0}}, {2, {1}}, {3, {2}}},
                                  {3}}),
             "term 3 reads term 2, which is not known to equal its operand, "
             "term 0");
}

TEST_CASE("values are computed from the oldest of equal terms") {
  Fixture fixture;
  fixture.add("twice", "%x: !t",
              "%0 = mlc.neg %x : (!t) -> !t\n%1 = mlc.neg %0 : (!t) -> !t\n"
              "return %1 : !t",
              "return %x : !t");
  fixture.add("scale", "%x: !t, %s: !t {rule.positive}",
              "%0 = mlc.mul %x, %s : (!t, !t) -> !t\n"
              "%1 = mlc.relu %0 : (!t) -> !t\nreturn %1 : !t",
              "%0 = mlc.relu %x : (!t) -> !t\n"
              "%1 = mlc.mul %0, %s : (!t, !t) -> !t\nreturn %1 : !t");
  for (bool isPositive : {true, false}) {
    std::string text = std::string("!t = tensor<2x2xf32>\n"
                                   "func.func @main(%x: !t) -> !t {\n"
                                   "%s = mlc.constant dense<") +
                       (isPositive ? "2.0" : "-2.0") + R"(> : !t
  %0 = mlc.neg %s : (!t) -> !t
  %1 = mlc.neg %0 : (!t) -> !t
  %2 = mlc.mul %x, %1 : (!t, !t) -> !t
  %3 = mlc.relu %2 : (!t) -> !t
  return %3 : !t
})";
    // Terms: x 0, s 1, -s 2, --s 3, product 4, relu 5; relu x 6, product 7.
    Trail trail{"main",
                {step("twice", {1}, {2, 3}), step("scale", {0, 3}, {4, 5})},
                {{1, {}}, {6, {0}}, {7, {6, 1}}},
                {7}};
    std::string said = fixture.why(text, trail);
    if (isPositive)
      CHECK(said == "");
    else
      CHECK_SAYS(said, "the elements of %s, term 3, are not all positive");
    // An element of -s has the other sign.
    trail.steps[1].arguments[1] = 2;
    CHECK_SAYS(fixture.why(text, trail), "operand 1 of term 4 is not known");
  }
}
