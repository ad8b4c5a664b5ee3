//===- BindingsTest.cpp - Values of a rule's symbols in a step ------------===//

#include "Fixture.h"
#include "rewrites/ProofLog/StepBindings.h"

using namespace mlc;
using namespace mlc::test;

namespace {

constexpr const char *clips = R"(
!t = tensor<?x2xf32, #mlc.dims<[N, 2]>>
func.func @main(%x: !t) -> !t {
  %0 = mlc.clip %x {min = #mlc.real<0.0>, max = #mlc.real<6.0>} : (!t) -> !t
  return %0 : !t
})";

/// A clip between two numbers, of which the first is not negative; `n`, of
/// which only the condition speaks, is any integer.
class Clip : public Fixture {
public:
  Clip() {
    add("clip", "%x: !t",
        "%0 = mlc.clip %x {min = #mlc.real<lo>, max = #mlc.real<hi>} : (!t) -> "
        "!t\n"
        "return %0 : !t",
        "%0 = mlc.clip %x {min = #mlc.real<lo>, max = #mlc.real<hi>} : (!t) -> "
        "!t\n"
        "return %0 : !t",
        "rule.require n ge 0 or a ge 0\nrule.assume_real lo ge 0.0");
  }
  std::string why(Values integers, Values reals) {
    return Fixture::why(
        clips, {"main",
                {step("clip", {0}, {1}, std::move(integers), std::move(reals))},
                {{2, {0}}},
                {2}});
  }
};

const Values sizes{{"a", "N"}, {"b", "2"}, {"n", "1"}};
const Values bounds{{"hi", "6"}, {"lo", "0"}};

Values with(Values values, const std::string &name, const std::string &value) {
  values[name] = value;
  return values;
}
Values without(Values values, const std::string &name) {
  values.erase(name);
  return values;
}

} // namespace

TEST_CASE("symbols have values, and nothing else has") {
  CHECK(Clip().why(sizes, bounds) == "");
  CHECK_SAYS(Clip().why(without(sizes, "a"), bounds),
             "the symbol a has no value");
  CHECK_SAYS(Clip().why(without(sizes, "n"), bounds),
             "the symbol n has no value");
  CHECK_SAYS(Clip().why(sizes, without(bounds, "hi")),
             "the symbol hi has no value");
  CHECK_SAYS(Clip().why(with(sizes, "z", "1"), bounds),
             "the rule has no symbol z");
  CHECK_SAYS(Clip().why(sizes, with(bounds, "z", "1")),
             "the rule has no symbol z");
  // An integer is no real, nor the other way round.
  CHECK_SAYS(Clip().why(with(sizes, "hi", "6"), bounds),
             "the rule has no symbol hi");
  CHECK_SAYS(Clip().why(sizes, with(bounds, "a", "2")),
             "the rule has no symbol a");
}

TEST_CASE("an integer is an expression that is nowhere negative") {
  for (const char *value : {"", "x y", "1.5", "1> {", "1 +"})
    CHECK_SAYS(Clip().why(with(sizes, "n", value), bounds),
               "the value of n is no integer expression");
  for (const char *value : {"-1", "N - 1", "2 - N", "-1 * N"})
    CHECK_SAYS(Clip().why(with(sizes, "n", value), bounds), "may be negative");
  for (const char *value : {"0", "N", "2 * N + 1"})
    CHECK(Clip().why(with(sizes, "n", value), bounds) == "");
}

TEST_CASE("an expression that would take long is not read") {
  const std::string deep =
      std::string(5000, '(') + "1" + std::string(5000, ')');
  std::string large = "1", wide = "1";
  for (int i = 0; i < 1200; ++i)
    large += " + 1";
  for (int i = 0; i < 13; ++i)
    wide += " * (a" + std::to_string(i) + " + b" + std::to_string(i) + ")";
  for (const std::string &value : {deep, large, wide})
    CHECK_SAYS(Clip().why(with(sizes, "n", value), bounds),
               "the value of n is no integer expression");
}

TEST_CASE("a real is a number that the proof is of") {
  for (const char *value : {"", "small", "1 2"})
    CHECK_SAYS(Clip().why(sizes, with(bounds, "hi", value)),
               "the value of hi is no number");
  for (const char *value : {"inf", "-inf", "nan", "1e39", "-1e39"})
    CHECK_SAYS(Clip().why(sizes, with(bounds, "hi", value)),
               "is not what the proof assumes");
  for (const char *value : {"-1", "-1e-30", "nan"})
    CHECK_SAYS(Clip().why(sizes, with(bounds, "lo", value)),
               "is not what the proof assumes");
}

TEST_CASE("a real that is bound is the one that stands there") {
  for (const char *value : {"6.5", "5.9999999999999991", "0"})
    CHECK_SAYS(Clip().why(sizes, with(bounds, "hi", value)),
               "attribute max of term 1 is not");
  CHECK_SAYS(Clip().why(sizes, with(bounds, "lo", "1")),
             "attribute min of term 1 is not");
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

namespace {

/// Truth of a comparison for every N from 0 on; nothing where it varies.
std::optional<bool> truthFor(ComparePredicate predicate, int64_t slope,
                             int64_t offset) {
  std::optional<bool> all;
  for (int64_t n = 0; n < 20; ++n) {
    int64_t value = slope * n + offset;
    bool one = predicate == ComparePredicate::EQ   ? value == 0
               : predicate == ComparePredicate::NE ? value != 0
               : predicate == ComparePredicate::LT ? value < 0
               : predicate == ComparePredicate::LE ? value <= 0
               : predicate == ComparePredicate::GT ? value > 0
                                                   : value >= 0;
    if (all && *all != one)
      return std::nullopt;
    all = one;
  }
  return all;
}

class Conditions {
public:
  IntExpr number(int64_t value) { return IntExpr::constant(&context, value); }
  IntExpr symbol() { return IntExpr::symbol(&context, "N"); }
  std::optional<bool> decide(const Condition &condition) {
    return StepBindings().decide(condition);
  }
  Condition truth(bool value) {
    return Condition::compare(number(0), ComparePredicate::EQ,
                              number(value ? 0 : 1));
  }
  /// Nobody knows whether N is 1.
  Condition open() {
    return Condition::compare(symbol(), ComparePredicate::EQ, number(1));
  }

  Conditions() { context.loadDialect<MlcDialect>(); }
  mlir::MLIRContext context;
};

} // namespace

TEST_CASE("comparisons are decided for all values of the model's symbols") {
  Conditions conditions;
  for (ComparePredicate predicate :
       {ComparePredicate::EQ, ComparePredicate::NE, ComparePredicate::LT,
        ComparePredicate::LE, ComparePredicate::GT, ComparePredicate::GE})
    for (int64_t slope : {-1, 0, 1, 2})
      for (int64_t offset = -3; offset <= 3; ++offset) {
        INFO(static_cast<int>(predicate) << ": " << slope << " N + " << offset);
        std::optional<bool> found = conditions.decide(
            Condition::compare(conditions.symbol() * slope, predicate,
                               conditions.number(-offset)));
        std::optional<bool> right = truthFor(predicate, slope, offset);
        // 2 N = 1 for no N, which bounds do not show.
        if (slope != 2)
          CHECK(found == right);
        else
          CHECK((!found || found == right));
      }
}

TEST_CASE("divisors are positive, and divide without rest") {
  Conditions conditions;
  auto divides = [&](IntExpr divisor, IntExpr value) {
    return conditions.decide(Condition::divides(divisor, value));
  };
  IntExpr n = conditions.symbol();
  CHECK(divides(conditions.number(3), conditions.number(6)) == true);
  CHECK(divides(conditions.number(3), conditions.number(7)) == false);
  CHECK(divides(conditions.number(2), n * 2) == true);
  CHECK(divides(conditions.number(2), n * 2 + 1) == false);
  CHECK(divides(conditions.number(2), n) == std::nullopt);
  CHECK(divides(conditions.number(0), conditions.number(0)) != true);
  CHECK(divides(n, n) == std::nullopt);
}

TEST_CASE("conditions are put together from what is known of their parts") {
  Conditions conditions;
  const std::pair<Condition, std::optional<bool>> parts[] = {
      {conditions.truth(true), true},
      {conditions.truth(false), false},
      {conditions.open(), std::nullopt}};
  for (const auto &[x, left] : parts) {
    CHECK(conditions.decide(Condition::negation(x)) ==
          (left ? std::optional(!*left) : std::nullopt));
    for (const auto &[y, right] : parts) {
      INFO(left.value_or(false)
           << left.has_value() << right.value_or(false) << right.has_value());
      const bool someFalse = left == false || right == false,
                 someTrue = left == true || right == true,
                 isOpen = !left || !right;
      CHECK(conditions.decide(Condition::allOf({x, y})) ==
            (someFalse ? std::optional(false)
             : isOpen  ? std::nullopt
                       : std::optional(true)));
      CHECK(conditions.decide(Condition::anyOf({x, y})) ==
            (someTrue ? std::optional(true)
             : isOpen ? std::nullopt
                      : std::optional(false)));
    }
  }
}
