//===- StepTest.cpp - Where a step's rule does not lie --------------------===//

#include "Fixture.h"

using namespace mlc;
using namespace mlc::test;

namespace {

constexpr const char *product = R"(
!t = tensor<2x2xf32>
func.func @main(%x: !t) -> !t {
  %s = mlc.constant dense<[[1.0, 2.0], [3.0, 0.5]]> : !t
  %0 = mlc.mul %x, %s : (!t, !t) -> !t
  %1 = mlc.relu %0 : (!t) -> !t
  return %1 : !t
})";

/// Terms: x 0, s 1, x * s 2, its relu 3; the step makes 4 and 5.
class Scaled : public Fixture {
public:
  explicit Scaled(const std::string &conditions = "",
                  const std::string &predicate = "{rule.positive}") {
    add("scale", "%x: !t, %s: !t " + predicate,
        "%0 = mlc.mul %x, %s : (!t, !t) -> !t\n"
        "%1 = mlc.relu %0 : (!t) -> !t\n return %1 : !t",
        "%0 = mlc.relu %x : (!t) -> !t\n"
        "%1 = mlc.mul %0, %s : (!t, !t) -> !t\n return %1 : !t",
        conditions);
  }
  std::string whyNot(TrailStep step, const std::string &text = product) {
    return why(
        text,
        {"main", {std::move(step)}, {{1, {}}, {4, {0}}, {5, {4, 1}}}, {5}});
  }
};

} // namespace

TEST_CASE("a step that lies where it says is replayed") {
  CHECK(Scaled().whyNot(step("scale", {0, 1}, {2, 3})) == "");
}

TEST_CASE("a step names a term for each argument, and no more") {
  CHECK_SAYS(Scaled().whyNot(step("scale", {0}, {2, 3})),
             "the rule has 2 arguments, not 1");
  CHECK_SAYS(Scaled().whyNot(step("scale", {0, 1, 1}, {2, 3})),
             "the rule has 2 arguments, not 3");
  CHECK_SAYS(Scaled().whyNot(step("scale", {0, noTerm}, {2, 3})),
             "%s has no term");
  CHECK_SAYS(Scaled().whyNot(step("scale", {0, 4}, {2, 3})),
             "%s is term 4, of 4");
}

TEST_CASE("an argument has the dims and the elements that the rule says") {
  CHECK_SAYS(
      Scaled().whyNot(step("scale", {0, 1}, {2, 3}, {{"a", "3"}, {"b", "2"}})),
      "%x, term 0, is not as the rule has it");
  Fixture fixture;
  fixture.add("twice", "%x: !t",
              "%0 = mlc.neg %x : (!t) -> !t\n%1 = mlc.neg %0 : (!t) -> !t\n"
              "return %1 : !t",
              "return %x : !t");
  for (const char *elements : {"f32", "f64", "i32"}) {
    std::string text = replaced(R"(
!t = tensor<2x2xE>
func.func @main(%x: !t) -> !t {
  %0 = mlc.neg %x : (!t) -> !t
  %1 = mlc.neg %0 : (!t) -> !t
  return %1 : !t
})",
                                "E", elements);
    const std::string said =
        fixture.why(text, {"main", {step("twice", {0}, {1, 2})}, {}, {0}});
    INFO(elements);
    if (elements == std::string("f32"))
      CHECK(said == "");
    else
      CHECK_SAYS(said, "%x, term 0, is not as the rule has it");
  }
}

TEST_CASE("a step names each result of before, and no more") {
  CHECK_SAYS(Scaled().whyNot(step("scale", {0, 1}, {2})), "too few results");
  CHECK_SAYS(Scaled().whyNot(step("scale", {0, 1}, {2, 3, 3})),
             "too many results");
  CHECK_SAYS(Scaled().whyNot(step("scale", {0, 1}, {0, 3})),
             "term 0 is no mlc.mul");
  CHECK_SAYS(Scaled().whyNot(step("scale", {0, 1}, {9, 3})),
             "term 9 is no mlc.mul");
}

TEST_CASE("an operator is the rule's") {
  CHECK_SAYS(Scaled().whyNot(step("scale", {0, 1}, {2, 3}),
                             replaced(product, "mlc.mul", "mlc.add")),
             "term 2 is no mlc.mul");
}

TEST_CASE("an operator reads what the rule reads, in its order") {
  CHECK_SAYS(Scaled("", "").whyNot(step("scale", {1, 0}, {2, 3})),
             "operand 0 of term 2 is not known to equal term 1");
  CHECK_SAYS(Scaled("", "").whyNot(step("scale", {0, 0}, {2, 3})),
             "operand 1 of term 2 is not known to equal term 0");
}

TEST_CASE("results of one operator are told apart") {
  Fixture fixture;
  fixture.addText(R"mlir(
!t = tensor<?xi64, #mlc.dims<[a]>>
!k = tensor<1xi64>
rule.def @best "the largest stays the largest of two" {
  func.func @before(%x: !t) -> !k {
    %0, %1 = mlc.top_k %x {axis = 0 : i64, k = #mlc.int<1>, largest = true, sorted = true} : (!t) -> (!k, !k)
    %2 = mlc.neg %0 : (!k) -> !k
    return %2 : !k
  }
  func.func @after(%x: !t) -> !k {
    %0, %1 = mlc.top_k %x {axis = 0 : i64, k = #mlc.int<1>, largest = true, sorted = true} : (!t) -> (!k, !k)
    %2 = mlc.neg %0 : (!k) -> !k
    return %2 : !k
  }
})mlir");
  const char *text = R"(
!t = tensor<4xi64>
!k = tensor<1xi64>
func.func @main(%x: !t) -> !k {
  %0, %1 = mlc.top_k %x {axis = 0 : i64, k = #mlc.int<1>, largest = true, sorted = true} : (!t) -> (!k, !k)
  %2 = mlc.neg %1 : (!k) -> !k
  return %2 : !k
})";
  // Terms: x 0, the values 1 and indices 2, -indices 3; the step makes 4 to 6.
  Trail trail{"main",
              {step("best", {0}, {2, 1, 3}, {{"a", "4"}})},
              {{4, {0}}, {6, {4}}},
              {6}};
  CHECK_SAYS(fixture.why(text, trail), "term 2 is no mlc.top_k");
  trail.steps[0].before = {1, 2, 3};
  CHECK_SAYS(fixture.why(text, trail),
             "operand 0 of term 3 is not known to equal term 1");
}

TEST_CASE("an operator has the rule's attributes, and no others") {
  Fixture fixture;
  fixture.add("clips", "%x: !t",
              "%0 = mlc.clip %x {min = #mlc.real<lo>, max = #mlc.real<hi>} : "
              "(!t) -> !t\n"
              "%1 = mlc.clip %0 {min = #mlc.real<lo>, max = #mlc.real<hi>} : "
              "(!t) -> !t\n"
              "return %1 : !t",
              "%0 = mlc.clip %x {min = #mlc.real<lo>, max = #mlc.real<hi>} : "
              "(!t) -> !t\n"
              "return %0 : !t");
  const char *clips = R"(
!t = tensor<2x2xf32>
func.func @main(%x: !t) -> !t {
  %0 = mlc.clip %x {min = #mlc.real<0.0>, max = #mlc.real<6.0>} : (!t) -> !t
  %1 = mlc.clip %0 {min = #mlc.real<0.0>, max = #mlc.real<3.0>} : (!t) -> !t
  return %1 : !t
})";
  Trail trail{"main",
              {step("clips", {0}, {1, 2}, {{"a", "2"}, {"b", "2"}},
                    {{"hi", "6"}, {"lo", "0"}})},
              {{3, {0}}},
              {3}};
  CHECK_SAYS(fixture.why(clips, trail), "attribute max of term 2 is not");
  CHECK(fixture.why(replaced(clips, "3.0", "6.0"), trail) == "");

  // A sum says nothing of a product.
  fixture.addText(R"mlir(
!t = tensor<?x?xf32, #mlc.dims<[a, b]>>
!i = tensor<?xi64, #mlc.dims<[n]>>
!u = tensor<?x?xf32, #mlc.dims<[n, b]>>
rule.def @scatters "" {
  func.func @before(%x: !t, %i: !i, %u: !u) -> !t {
    %0 = mlc.scatter_add %x, %i, %u {axis = 0 : i64} : (!t, !i, !u) -> !t
    %1 = mlc.neg %0 : (!t) -> !t
    return %1 : !t
  }
  func.func @after(%x: !t, %i: !i, %u: !u) -> !t {
    %0 = mlc.scatter_add %x, %i, %u {axis = 0 : i64} : (!t, !i, !u) -> !t
    %1 = mlc.neg %0 : (!t) -> !t
    return %1 : !t
  }
})mlir");
  const char *scatters = R"(
!t = tensor<2x2xf32>
!i = tensor<3xi64>
!u = tensor<3x2xf32>
func.func @main(%x: !t, %i: !i, %u: !u) -> !t {
  %0 = mlc.scatter_add %x, %i, %u {axis = 0 : i64, reduction = "prod"} : (!t, !i, !u) -> !t
  %1 = mlc.neg %0 : (!t) -> !t
  return %1 : !t
})";
  Trail other{"main",
              {step("scatters", {0, 1, 2}, {3, 4},
                    {{"a", "2"}, {"b", "2"}, {"n", "3"}})},
              {{5, {0, 1, 2}}, {6, {5}}},
              {6}};
  CHECK_SAYS(fixture.why(scatters, other),
             "term 3 has other attributes than the rule's mlc.scatter_add");
}

TEST_CASE("an operator reads as many as the rule's") {
  Fixture fixture;
  fixture.addText(R"mlir(
!x = tensor<?xf32, #mlc.dims<[a]>>
!y = tensor<?xf32, #mlc.dims<[b]>>
!z = tensor<?xf32, #mlc.dims<[a + b]>>
!s = tensor<1xf32>
rule.def @sums "a sum of parts" {
  func.func @before(%x: !x, %y: !y) -> !s {
    %0 = mlc.concat %x, %y {axis = 0 : i64} : (!x, !y) -> !z
    %1 = mlc.reduce %0 {kind = "sum", axes = array<i64: 0>} : (!z) -> !s
    return %1 : !s
  }
  func.func @after(%x: !x, %y: !y) -> !s {
    %0 = mlc.reduce %x {kind = "sum", axes = array<i64: 0>} : (!x) -> !s
    %1 = mlc.reduce %y {kind = "sum", axes = array<i64: 0>} : (!y) -> !s
    %2 = mlc.add %0, %1 : (!s, !s) -> !s
    return %2 : !s
  }
})mlir");
  const char *text = R"(
!x = tensor<2xf32>
!s = tensor<1xf32>
func.func @main(%x: !x, %y: !x, %z: !x) -> !s {
  %0 = mlc.concat %x, %y, %z {axis = 0 : i64} : (!x, !x, !x) -> tensor<6xf32>
  %1 = mlc.reduce %0 {kind = "sum", axes = array<i64: 0>} : (tensor<6xf32>) -> !s
  return %1 : !s
})";
  Trail trail{"main",
              {step("sums", {0, 1}, {3, 4})},
              {{5, {0}}, {6, {1}}, {7, {5, 6}}},
              {7}};
  CHECK_SAYS(fixture.why(text, trail), "term 3 has 3 operands, not 2");
}

TEST_CASE(
    "conditions hold of the step's sizes, for all values of the model's") {
  CHECK_SAYS(
      Scaled("rule.require a ge 3").whyNot(step("scale", {0, 1}, {2, 3})),
      "the condition a >= 3 does not hold with a = 2, b = 2");
  CHECK(Scaled("rule.require a ge 2").whyNot(step("scale", {0, 1}, {2, 3})) ==
        "");
  // What depends on an open size is not known.
  const char *open = R"(
!t = tensor<?x2xf32, #mlc.dims<[N, 2]>>
func.func @main(%x: !t, %s: !t) -> !t {
  %0 = mlc.mul %x, %s : (!t, !t) -> !t
  %1 = mlc.relu %0 : (!t) -> !t
  return %1 : !t
})";
  TrailStep wide = step("scale", {0, 1}, {2, 3}, {{"a", "N"}, {"b", "2"}});
  CHECK_SAYS(Scaled("rule.require a ge 2", "").whyNot(wide, open),
             "the condition a >= 2 does not hold with a = N, b = 2");
  // Each of several, and one of alternatives.
  CHECK_SAYS(Scaled("rule.require a ge 2\nrule.require b ge 3")
                 .whyNot(step("scale", {0, 1}, {2, 3})),
             "the condition b >= 3 does not hold");
  CHECK(Scaled("rule.require a ge 3 or b ge 2")
            .whyNot(step("scale", {0, 1}, {2, 3})) == "");
  CHECK_SAYS(Scaled("rule.require a ge 3 or b ge 3")
                 .whyNot(step("scale", {0, 1}, {2, 3})),
             "does not hold");
}

TEST_CASE("what is assumed of elements is asked of their values") {
  struct Case {
    const char *predicate, *values;
    bool holds;
  };
  const Case cases[] = {
      {"positive", "[[1.0, 2.0], [3.0, 0.5]]", true},
      {"positive", "[[1.0, 2.0], [3.0, 0.0]]", false},
      {"positive", "[[1.0, 2.0], [3.0, -0.5]]", false},
      {"positive", "[[1.0, 2.0], [3.0, 0x7F800000]]", false},
      {"positive", "[[1.0, 2.0], [3.0, 0x7FC00000]]", false},
      {"positive", "-1.0", false},
      {"nonnegative", "[[1.0, 2.0], [3.0, 0.0]]", true},
      {"nonnegative", "[[1.0, 2.0], [3.0, -0.5]]", false},
      {"nonnegative", "[[1.0, 2.0], [3.0, 0x7F800000]]", false},
      {"nonzero", "[[1.0, 2.0], [3.0, -0.5]]", true},
      {"nonzero", "[[1.0, 2.0], [3.0, 0.0]]", false},
      {"nonzero", "[[1.0, 2.0], [3.0, -0.0]]", false},
      {"nonzero", "[[1.0, 2.0], [3.0, 0x7FC00000]]", false},
      {"finite", "[[1.0, 2.0], [3.0, 0.0]]", true},
      {"finite", "[[1.0, 2.0], [3.0, 0xFF800000]]", false},
      {"allequal", "2.5", true},
      {"allequal", "[[2.5, 2.5], [2.5, 2.5]]", true},
      {"allequal", "[[2.5, 2.5], [2.5, 2.0]]", false},
      {"allequal", "[[0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000]]",
       false},
      {"constant", "[[1.0, 2.0], [3.0, 0.0]]", true},
  };
  for (const Case &one : cases) {
    INFO(one.predicate << " of " << one.values);
    Scaled scaled("", std::string("{rule.") + one.predicate + "}");
    // As the proof would be of bits: numbers are asked for by predicates alone.
    scaled.rules.rules[0].proved->floatClass = FloatClass::BitExact;
    std::string said = scaled.whyNot(
        step("scale", {0, 1}, {2, 3}),
        replaced(product, "[[1.0, 2.0], [3.0, 0.5]]", one.values));
    if (one.holds)
      CHECK(said == "");
    else
      CHECK_SAYS(said, "the elements of %s, term 1, are not all");
  }
}

TEST_CASE("what is assumed of elements is asked of what never changes") {
  const char *input = R"(
!t = tensor<2x2xf32>
func.func @main(%x: !t, %s: !t) -> !t {
  %0 = mlc.mul %x, %s : (!t, !t) -> !t
  %1 = mlc.relu %0 : (!t) -> !t
  return %1 : !t
})";
  for (const char *predicate : {"{rule.constant}", "{rule.positive}"})
    CHECK_SAYS(
        Scaled("", predicate).whyNot(step("scale", {0, 1}, {2, 3}), input),
        "%s, term 1, is not known at compile time");
  // A product with an input is none, nor is a fill of open size.
  const char *computed = R"(
!t = tensor<?x2xf32, #mlc.dims<[N, 2]>>
func.func @main(%x: !t) -> !t {
  %c = mlc.fill {dims = #mlc.dims<[N, 2]>, value = #mlc.real<2.0>, type = f32} : () -> !t
  %s = mlc.mul %x, %c : (!t, !t) -> !t
  %0 = mlc.mul %x, %s : (!t, !t) -> !t
  %1 = mlc.relu %0 : (!t) -> !t
  %2 = mlc.mul %x, %c : (!t, !t) -> !t
  %3 = mlc.relu %2 : (!t) -> !t
  return %1 : !t
})";
  Values sizes{{"a", "N"}, {"b", "2"}};
  for (const char *predicate : {"{rule.constant}", "{rule.positive}"}) {
    Scaled scaled("", predicate);
    CHECK_SAYS(scaled.whyNot(step("scale", {0, 2}, {3, 4}, sizes), computed),
               "%s, term 2, is not known at compile time");
    CHECK_SAYS(scaled.whyNot(step("scale", {0, 1}, {5, 6}, sizes), computed),
               "%s, term 1, is not known at compile time");
  }
}

TEST_CASE("an argument that a predicate is about has a term") {
  Fixture fixture;
  fixture.add("unread", "%x: !t, %s: !t {rule.positive}",
              "%0 = mlc.neg %x : (!t) -> !t\n%1 = mlc.neg %0 : (!t) -> !t\n"
              "return %1 : !t",
              "return %x : !t");
  const char *text = R"(
!t = tensor<2x2xf32>
func.func @main(%x: !t) -> !t {
  %0 = mlc.neg %x : (!t) -> !t
  %1 = mlc.neg %0 : (!t) -> !t
  return %1 : !t
})";
  CHECK_SAYS(
      fixture.why(text,
                  {"main", {step("unread", {0, noTerm}, {1, 2})}, {}, {0}}),
      "%s has no term");
}

TEST_CASE("a proof of numbers is not of infinities and NaN") {
  for (const char *value : {"0x7F800000", "0xFF800000", "0x7FC00000"}) {
    std::string text = replaced(product, "0.5", value);
    CHECK_SAYS(Scaled("", "").whyNot(step("scale", {0, 1}, {2, 3}), text),
               "%s, term 1, has an infinity or a NaN");
    Scaled exact("", "");
    exact.rules.rules[0].proved->floatClass = FloatClass::BitExact;
    CHECK(exact.whyNot(step("scale", {0, 1}, {2, 3}), text) == "");
  }
  CHECK_SAYS(
      Scaled("", "").whyNot(
          step("scale", {0, 1}, {2, 3}),
          replaced(product, "mlc.constant dense<[[1.0, 2.0], [3.0, 0.5]]> : !t",
                   "mlc.fill {dims = #mlc.dims<[2, 2]>, value = "
                   "#mlc.real<inf>, type = f32} : () -> !t")),
      "%s, term 1, has an infinity or a NaN");
}

TEST_CASE("nor is it of what equals an infinity") {
  Fixture fixture;
  fixture.add("twice", "%x: !t",
              "%0 = mlc.neg %x : (!t) -> !t\n%1 = mlc.neg %0 : (!t) -> !t\n"
              "return %1 : !t",
              "return %x : !t");
  fixture.rules.rules[0].proved->floatClass = FloatClass::BitExact;
  fixture.add("swap", "%x: !t, %y: !t",
              "%0 = mlc.mul %x, %y : (!t, !t) -> !t\nreturn %0 : !t",
              "%0 = mlc.mul %y, %x : (!t, !t) -> !t\nreturn %0 : !t");
  const char *text = R"(
!t = tensor<2x2xf32>
func.func @main(%x: !t) -> !t {
  %c = mlc.constant dense<[[1.0, 2.0], [3.0, 0x7F800000]]> : !t
  %0 = mlc.neg %c : (!t) -> !t
  %1 = mlc.neg %0 : (!t) -> !t
  %2 = mlc.mul %x, %1 : (!t, !t) -> !t
  %3 = mlc.add %1, %1 : (!t, !t) -> !t
  %4 = mlc.add %1, %x : (!t, !t) -> !t
  return %2 : !t
})";
  // Terms: x 0, c 1, -c 2, --c 3, x * --c 4; its readers make the other kept.
  std::vector<ChosenOperator> chosen{{1, {}}, {5 + 2, {1, 0}}};
  CHECK_SAYS(fixture.why(
                 text, {"main",
                        {step("twice", {1}, {2, 3}), step("swap", {0, 3}, {4})},
                        chosen,
                        {7}}),
             "step 2 (swap): %y, term 3, has an infinity or a NaN");
}

TEST_CASE("what is built is well formed, and of the type that it stands for") {
  Fixture fixture;
  fixture.addText(R"mlir(
!t = tensor<?x?xf32, #mlc.dims<[a, b]>>
!u = tensor<?x?xf32, #mlc.dims<[b, a]>>
rule.def @turned "" {
  func.func @before(%x: !t) -> !t {
    %0 = mlc.relu %x : (!t) -> !t
    return %0 : !t
  }
  func.func @after(%x: !t) -> !u {
    %0 = mlc.transpose %x {permutation = array<i64: 1, 0>} : (!t) -> !u
    return %0 : !u
  }
})mlir");
  const char *text = R"(
!t = tensor<2x3xf32>
func.func @main(%x: !t) -> !t {
  %0 = mlc.relu %x : (!t) -> !t
  return %0 : !t
})";
  Trail trail{"main",
              {step("turned", {0}, {1}, {{"a", "2"}, {"b", "3"}})},
              {{2, {0}}},
              {2}};
  for (bool isTwoWay : {true, false}) {
    fixture.rules.rules[0].proved->isTwoWay = isTwoWay;
    CHECK_SAYS(fixture.why(text, trail), "terms 1 and 2 have different types");
  }
  fixture.addText(R"mlir(
!t = tensor<?x?xf32, #mlc.dims<[a, b]>>
rule.def @sliced "" {
  func.func @before(%x: !t) -> !t {
    %0 = mlc.relu %x : (!t) -> !t
    return %0 : !t
  }
  func.func @after(%x: !t) -> !t {
    %0 = mlc.slice %x {starts = #mlc.dims<[n, 0]>, sizes = #mlc.dims<[a, b]>, steps = #mlc.dims<[1, 1]>} : (!t) -> !t
    return %0 : !t
  }
})mlir");
  trail.steps = {
      step("sliced", {0}, {1}, {{"a", "2"}, {"b", "3"}, {"n", "1"}})};
  CHECK_SAYS(fixture.why(text, trail), "after cannot be built");
}

TEST_CASE("a rule that is not proved says nothing") {
  Scaled scaled;
  scaled.rules.rules[0].proved = std::nullopt;
  CHECK_SAYS(scaled.whyNot(step("scale", {0, 1}, {2, 3})),
             "the rule is not proved");
}
