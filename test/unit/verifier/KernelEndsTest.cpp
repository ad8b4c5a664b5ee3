//===- KernelEndsTest.cpp - Why a sum is 0 without terms that cancel ------===//

#include "KernelFixture.h"

namespace {

struct Ends : Fixture {
  Sum x = single(read(0)), y = single(makeRead(1, {0}, false)),
      one = constant(Rational(1));

  static Sum minus(const Sum &sum) { return scaled(sum, Rational(-1)); }
  static Sum of(const char *name, Sum argument) {
    return single(call(name, std::move(argument)));
  }
  static Sum positive(const Sum &sum) {
    return single(makeCall("positive", {sum}, true));
  }
};

/// Two terms that are each other's negative.
constexpr const char *two = "(zero (group 0 (member 1 () () (match 0))))";

} // namespace

TEST_CASE("A truth value is 1 or 0", "[kernel]") {
  Ends f;
  FactorRef p = f.positive(f.x)[0].factors[0];
  // p p - p, which no two terms that cancel say.
  Sum square{{Rational(1), {}, {}, {p, p}}, {Rational(-1), {}, {}, {p}}};
  const char *cases = "(truth (at 0 0 0) (then (zero (group 0 (member 1 () "
                      "()))) (zero)))";
  CHECK(f.accepts(square, cases));
  CHECK(f.accepts(square, cases, 8));
  // Not of what may be 2, not with one case, not elsewhere.
  FactorRef q = f.read(0);
  Sum other{{Rational(1), {}, {}, {q, q}}, {Rational(-1), {}, {}, {q}}};
  CHECK_FALSE(f.accepts(other, cases));
  CHECK_FALSE(f.accepts(square, "(truth (at 0 0 0) (then (zero (group 0 "
                                "(member 1 () ())))))"));
  CHECK_FALSE(f.accepts(square, "(truth (at 0 2 0) (then (zero (group 0 "
                                "(member 1 () ()))) (zero)))"));
  CHECK_FALSE(f.accepts(square, "(truth (then (zero) (zero)))"));
  // 1 - p is not 0 where p is.
  CHECK_FALSE(f.accepts(add(f.one, f.minus({{Rational(1), {}, {}, {p}}})),
                        "(truth (at 1 0 0) (then (zero (group 0 (member 1 () "
                        "()))) (zero)))"));
}

TEST_CASE("What is bound is not distinguished outside", "[kernel]") {
  Ends f;
  // sum over v of p(a[v]), all or none of which would be 1.
  Variable v = f.names.fresh();
  Integer x = Integer::variable(v);
  FactorRef p = f.positive(single(f.read(x)))[0].factors[0];
  Term all{Rational(1), {v}, {Formula::inRange(x, 2)}, {p}};
  Sum sum{all, {Rational(-2), {}, {}, {p}}};
  CHECK_FALSE(f.accepts(sum, "(truth (at 0 0 0) (then (zero (count 0 0 0 0 "
                             "(integers 0 2)) (group 0 (member 1 () ()))) "
                             "(zero)))"));
}

TEST_CASE("A sign is known where it was distinguished", "[kernel]") {
  Ends f;
  // [x > 0] ([2 x > 0] - 1).
  FactorRef p = f.positive(f.x)[0].factors[0],
            twice = f.positive(scaled(f.x, Rational(2)))[0].factors[0];
  Sum sum{{Rational(1), {}, {}, {p, twice}}, {Rational(-1), {}, {}, {p}}};
  auto proof = [](const char *decision, const char *bound) {
    return std::string("(truth (at 1 0 0) (then (zero (decide 0 0 ") +
           decision + " 0 (need (bound + " + two + " " + bound +
           "))) (group 0 (member 1 () ()))) (zero)))";
  };
  CHECK(f.accepts(sum, proof("1", "(2 1 0)").c_str()));
  // Another number, nothing, what is not there, a factor that is 0.
  for (const char *bound : {"(1 1 0)", "", "(2 1 1)", "(0 1 0)", "(2 0 0)",
                            "(2 1 0) (1 1)", "(2 1 0 0)"})
    CHECK_FALSE(f.accepts(sum, proof("1", bound).c_str()));
  CHECK_FALSE(f.accepts(sum, proof("0", "(2 1 0)").c_str()));
  // Where x is not positive, it is not negative either: no.
  Sum reversed{{Rational(1), {}, {}, {f.positive(f.minus(f.x))[0].factors[0]}},
               {Rational(-1), {}, {}, {}},
               {Rational(1), {}, {}, {p}}};
  std::string decided =
      std::string("(truth (at 2 0 0) (then (zero (decide 0 0 0 0 (need (bound "
                  "+ ") +
      two +
      " (1 1 0)))) (group 0 (member 1 () ()))) (zero (decide 0 0 1 0 "
      "(need (bound + " +
      two + " (1 1 0)))) (group 0 (member 1 () ())))))";
  CHECK_FALSE(f.accepts(reversed, decided.c_str()));
}

TEST_CASE("A whole number between -1 and 1 is 0", "[kernel]") {
  Ends f;
  // floor(-x) + ceil(x), as the search finds it.
  auto proof = [&](const char *first, const char *second) {
    return std::string(
               "(note (at 0 0 0) (then (note (at 1 0 0) (then (whole (shown "
               "(bound + (zero (group 0 (member 3 () () (match 0))) (group 1 "
               "(member 6 () () (match 0))) (group 2 (member 4 () ())) (group "
               "5 (member 7 () () (match 0)))) ") +
           first +
           ") (bound + (zero (group 0 (member 4 () () (match 0))) (group 1 "
           "(member 6 () () (match 0))) (group 2 (member 7 () ())) (group 3 "
           "(member 5 () () (match 0)))) " +
           second + ")))))))";
  };
  Sum floor = f.of("floor", f.minus(f.x)), ceil = f.of("ceil", f.x);
  CHECK(f.accepts(add(floor, ceil),
                  proof("(1 1 1) (1 1 2)", "(1 1 0) (1 1 3)").c_str()));
  CHECK_FALSE(f.accepts(add(floor, ceil),
                        proof("(1 1 0) (1 1 3)", "(1 1 0) (1 1 3)").c_str()));
  CHECK_FALSE(f.accepts(add(floor, ceil),
                        proof("(1 1 0) (1 1 2)", "(1 1 0) (1 1 3)").c_str()));
  CHECK_FALSE(f.accepts(add(floor, ceil),
                        proof("(1 1 1) (1 1 2)", "(1 1 0) (1 1 3)").c_str(),
                        8));
}

TEST_CASE("What is not whole, or 1 away from 0, is not 0", "[kernel]") {
  Ends f;
  Sum floor = f.of("floor", f.x);
  // floor(y) - y lies between -1 and 1: 1 more is known to be positive, and so
  // is 1 less, by 1 and by y - floor(y). It is whole where y is.
  const char *bounds =
      "(note (at 0 0 0) (then (whole (shown (bound + (zero (group 0 (member 3 "
      "() () (match 0))) (group 1 (member 5 () () (match 0))) (group 2 (member "
      "4 () ()))) (1 1 1)) (bound + (zero (group 0 (member 5 () () (match 0))) "
      "(group 1 (member 4 () () (match 0))) (group 2 (member 3 () ()))) (1 1) "
      "(1 1 0))))))";
  CHECK(f.accepts(add(f.of("floor", floor), f.minus(floor)), bounds));
  CHECK_FALSE(f.accepts(add(floor, f.minus(f.x)), bounds));
  // The bounds themselves are as they should be.
  Context context = noted({}, *floor[0].factors[0]);
  REQUIRE(context.values.size() == 2);
  CHECK_FALSE(context.values[0].isPositive);
  CHECK(same(context.values[0].value, add(f.x, f.minus(floor))));
  CHECK(context.values[1].isPositive);
  for (const char *name : {"sqrt", "log", "reciprocal", "floor:i32", "none"})
    CHECK(noted({}, *call(name, f.x)).values.empty());
  CHECK(noted({}, *call("exp", f.x)).values.size() == 1);
  CHECK(noted({}, *call("tanh", f.x)).values.size() == 2);
  Sum infinite = single(makeParameter(infinityName));
  CHECK(noted({}, *call("floor", infinite)).values.empty());
}

TEST_CASE("A number of two bounds is 0", "[kernel]") {
  Ends f;
  const char *none = "(between (shown (signs) (signs)))";
  CHECK_FALSE(f.accepts(f.x, none));
  CHECK(f.accepts({}, none));
  // Where neither x nor -x is positive; the order of the two matters.
  FactorRef p = f.positive(f.x)[0].factors[0],
            q = f.positive(f.minus(f.x))[0].factors[0];
  Sum sum{{Rational(1), {}, {}, {f.read(0)}},
          {Rational(-1), {}, {}, {f.read(0), p}},
          {Rational(-1), {}, {}, {f.read(0), q}},
          {Rational(1), {}, {}, {f.read(0), p, q}}};
  auto proof = [](const char *first, const char *second) {
    return std::string("(truth (at 1 1 0) (then (zero (group 0 (member 1 () () "
                       "(match 0))) (group 2 (member 3 () () (match 0) (match "
                       "1)))) (truth (at 1 1 0) (then (zero (group 0 (member 1 "
                       "() () (match 0)))) (between (shown (bound + ") +
           two + " " + first + ") (bound + " + two + " " + second + "))))))) ";
  };
  CHECK(f.accepts(sum, proof("(1 1 1)", "(1 1 0)").c_str()));
  CHECK_FALSE(f.accepts(sum, proof("(1 1 0)", "(1 1 0)").c_str()));
  CHECK_FALSE(f.accepts(sum, proof("(1 1 1)", "(1 1 1)").c_str()));
}

TEST_CASE("Quotients are cleared by what is not 0", "[kernel]") {
  Ends f;
  // x / x - 1.
  Sum sum{{Rational(1), {}, {}, {f.read(0), call("reciprocal", f.x)}},
          {Rational(-1), {}, {}, {}}};
  auto proof = [](const char *place, const char *shown) {
    return std::string("(clear (at ") + place + ") (shown " + shown +
           ") (then " + two + "))";
  };
  CHECK_FALSE(f.accepts(sum, proof("0 1 0", "(signs)").c_str()));
  f.assumptions.inputs = {{.isNotNegative = true}};
  CHECK_FALSE(f.accepts(sum, proof("0 1 0", "(signs)").c_str()));
  f.assumptions.inputs = {{.isNotZero = true}};
  CHECK(f.accepts(sum, proof("0 1 0", "(signs)").c_str()));
  CHECK_FALSE(f.accepts(sum, proof("0 0 0", "(signs)").c_str()));
  CHECK_FALSE(f.accepts(sum, proof("0 1 0", "").c_str()));
  CHECK_FALSE(f.accepts(sum, proof("0 1 0", "(signs)").c_str(), 8));
  // What is bound may be another at each point.
  Variable v = f.names.fresh();
  Integer i = Integer::variable(v);
  Sum read = single(f.read(i));
  Sum many{{Rational(1),
            {v},
            {Formula::inRange(i, f.n)},
            {f.read(i), call("reciprocal", read)}},
           {Rational(-1), {}, {}, {}}};
  CHECK_FALSE(f.accepts(many, proof("0 1 0", "(signs)").c_str()));
}

TEST_CASE("Logarithms go on both sides", "[kernel]") {
  Ends f;
  Sum product = multiply(f.x, f.y, f.names);
  // log(x y) - log(x) - log(y).
  Sum sum = add(f.of("log", product),
                f.minus(add(f.of("log", f.x), f.of("log", f.y))));
  const char *proof = "(logarithms (shown (signs) (signs) (signs)) (then (zero "
                      "(group 0 (member "
                      "1 () () (match 0) (match 1))))))";
  CHECK_FALSE(f.accepts(sum, proof));
  f.assumptions.inputs = {{.isPositive = true}, {.isNotNegative = true}};
  CHECK_FALSE(f.accepts(sum, proof));
  f.assumptions.inputs[1].isPositive = true;
  CHECK(f.accepts(sum, proof));
  CHECK_FALSE(f.accepts(sum, proof, 8));
  // With another sign, twice, and without a reason.
  Sum wrong = add(f.of("log", product),
                  add(f.minus(f.of("log", f.x)), f.of("log", f.y)));
  CHECK_FALSE(f.accepts(wrong, proof));
  CHECK_FALSE(f.accepts(scaled(sum, Rational(2)), proof));
  CHECK_FALSE(f.accepts(sum, "(logarithms (shown (signs) (signs)) (then (zero "
                             "(group 0 (member 1 () () (match 0) (match "
                             "1))))))"));
  // What is left is an exponent: log(x) - log(x) + y is not 0.
  Sum left = add(add(f.of("log", f.x), f.minus(f.of("log", f.x))), f.y);
  CHECK_FALSE(f.accepts(left, "(logarithms (shown (signs) (signs)) (then (zero "
                              "(group 0 (member 1 () () (match 0))))))"));
}

TEST_CASE("A sum is positive that is of something", "[kernel]") {
  Ends f;
  // 1 / s - 1 / s times s, for s the sum of exp(a[v]).
  Variable v = f.names.fresh();
  Integer i = Integer::variable(v);
  auto sumOf = [&](const char *function) {
    return Sum{{Rational(1),
                {v},
                {Formula::inRange(i, f.n)},
                {call(function, single(f.read(i)))}}};
  };
  auto quotient = [&](const char *function) {
    Sum s = sumOf(function);
    return add(multiply(s, f.of("reciprocal", s), f.names), f.minus(f.one));
  };
  auto proof = [](const char *shown) {
    return std::string("(clear (at 0 1 0) (shown ") + shown +
           ") (then (zero (group 0 (member 1 (#0) (#0) (match 0))))))";
  };
  const char *first = "(point 0 (0))";
  CHECK_FALSE(f.accepts(quotient("exp"), proof(first).c_str()));
  f.context.assume({Formula::notNegative(f.n - 1)});
  CHECK(f.accepts(quotient("exp"), proof(first).c_str()));
  CHECK_FALSE(f.accepts(quotient("abs"), proof(first).c_str()));
  CHECK_FALSE(f.accepts(quotient("sin"), proof(first).c_str()));
  for (const char *other :
       {"(point 0 (\"n\"))", "(point 0 ())", "(point 1 (0))", "(point 0 (#9))"})
    CHECK_FALSE(f.accepts(quotient("exp"), proof(other).c_str()));
}

TEST_CASE("Ends of proofs are read as they are written", "[kernel]") {
  std::string error;
  std::string text =
      "(proof\n(case\n(needs (point 1 (#0 \"n\")) (bound - (zero) (1 2 0 3) (1 "
      "1)))\n(results (truth (choose 0 0 0 1) (at 0 0 0) (then (whole (shown "
      "(signs) (signs))) (clear (at 1 2 3) (shown (signs)) (then "
      "(zero))))))))\n";
  auto cases = parseProof(text, error);
  INFO(error);
  REQUIRE(cases);
  CHECK(printProof(*cases) == text);
  for (const char *bad :
       {"(truth (at 0 0))", "(whole (shown x))", "(note (then (x)))",
        "(zero (bound))", "(clear (shown (bound + (zero) 1)))",
        "(clear (shown (bound + (zero) (1))))", "(clear (shown (point 0)))",
        "(end)"}) {
    CAPTURE(bad);
    std::string whole =
        std::string("(proof (case (needs) (results ") + bad + ")))";
    CHECK_FALSE(parseProof(whole, error));
  }
}

TEST_CASE("What is given makes a case absurd", "[kernel]") {
  Fixture f;
  Sum x = single(f.read(0)), one = constant(Rational(1));
  FactorRef truth = makeCall("zero:i8", {x}, true);
  Sum t = single(truth), rest = add(one, scaled(t, Rational(-1)));
  // 1 - [x = 0] is not 0, so that [x = 0] is 0; of [x = 0] y, which is then 0.
  Sum product = multiply(t, single(makeRead(1, {0}, false)), f.names);
  f.given = {{Need::Kind::NotZero, {}, {}, {}, rest}};
  const char *proof =
      "(truth (at 0 0 0) (then "
      "(absurd (shown (given 0 + () (zero (group 0 (member 1 () ())))))) "
      "(zero)))";
  auto accepted = [&](const Sum &sum, const char *text) {
    return f.accepts(sum, text);
  };
  CHECK(accepted(product, proof));
  // Each case by itself, another truth value, and what may be 0.
  CHECK_FALSE(accepted(
      product,
      "(absurd (shown (given 0 + () (zero (group 0 (member 1 () ()))))))"));
  CHECK_FALSE(accepted(product, "(absurd)"));
  CHECK_FALSE(accepted(product, "(absurd (shown (signs)))"));
  CHECK_FALSE(accepted(multiply(rest, x, f.names), proof));
  CHECK_FALSE(accepted(product, "(truth (at 0 0 0) (then (absurd (shown (given "
                                "1 + () (zero)))) (zero)))"));
  CHECK_FALSE(accepted(product, "(truth (at 0 0 0) (then (absurd (shown (given "
                                "0 + () (zero)))) (zero)))"));
  f.given[0].kind = Need::Kind::NotNegative;
  CHECK_FALSE(accepted(product, proof));
  f.given[0].kind = Need::Kind::Positive;
  CHECK(accepted(product, proof));
  f.given[0].isOptional = true;
  CHECK_FALSE(accepted(product, proof));
  f.given[0].isOptional = false;
  f.given[0].path = {single(makeRead(2, {0}, true))};
  CHECK_FALSE(accepted(product, proof));
  f.given[0].path = {t}; // where it is known to be 1
  CHECK(accepted(product, proof));
  f.given[0].path = {rest};
  CHECK_FALSE(accepted(product, proof));
  f.given[0].path = {};
  f.given[0].guards = {Formula::notNegative(f.n - 3)};
  CHECK_FALSE(accepted(product, proof));
  f.context.assume({Formula::notNegative(f.n - 4)});
  CHECK(accepted(product, proof));
}
