//===- KernelFunctionsTest.cpp - More facts of functions ------------------===//

#include "KernelFixture.h"

TEST_CASE("Values at 1 are those of the table", "[kernel]") {
  Fixture f;
  Sum one = constant(Rational(1));
  auto is = [&](const char *name, Rational argument, int value) {
    return turns(f, single(call(name, constant(argument))),
                 constant(Rational(value)), "at-one 0 0 0 0");
  };
  for (const char *name : {"abs", "sqrt", "reciprocal", "floor", "ceil"})
    CHECK(is(name, 1, 1));
  CHECK(is("log", 1, 0));
  CHECK(is("neg", 1, -1));
  CHECK_FALSE(is("log", 0, 0));
  CHECK_FALSE(is("log", 2, 0));
  CHECK_FALSE(is("exp", 1, 3));
  CHECK_FALSE(is("cos", 1, 1));
  CHECK_FALSE(is("sqrt:i8", 1, 1));
  CHECK_FALSE(
      turns(f, single(makeCall("pow", {one, one})), one, "at-one 0 0 0 0"));
}

TEST_CASE("Products of sines and of powers", "[kernel]") {
  Fixture f;
  FactorRef x = f.read(0), y = makeRead(1, {0}, false);
  auto product = [](FactorRef a, FactorRef b) {
    return Sum{{Rational(1), {}, {}, {std::move(a), std::move(b)}}};
  };
  auto of = [](const char *name, FactorRef argument) {
    return call(name, single(std::move(argument)));
  };
  Sum cosines = product(of("cos", x), of("cos", x));
  Sum rest = add(constant(Rational(1)), minus(cosines));
  const char *sine = "square-of-sine 0 0 0 1";
  CHECK(turns(f, product(of("sin", x), of("sin", x)), rest, sine));
  CHECK_FALSE(turns(f, product(of("sin", x), of("sin", x)), cosines, sine));
  CHECK_FALSE(turns(f, product(of("sin", x), of("sin", y)), rest, sine));
  CHECK_FALSE(turns(f, product(of("sin", x), of("cos", x)), rest, sine));
  CHECK_FALSE(turns(f, product(of("cos", x), of("cos", x)), rest, sine));
  CHECK_FALSE(turns(f, product(of("tanh", x), of("tanh", x)), rest, sine));
  CHECK_FALSE(turns(f, product(of("sin", x), of("sin", x)), rest,
                    "square-of-sine 0 0 0 0"));
  CHECK_FALSE(turns(f, product(of("sin", x), of("sin", x)), rest,
                    "square-of-sine 0 0 0 2"));

  auto power = [](FactorRef base, Rational exponent) {
    return makeCall("pow", {single(std::move(base)), constant(exponent)});
  };
  Sum powers = product(power(x, Rational(1, 2)), power(x, Rational(3, 4))),
      joined =
          single(makeCall("pow", {single(x), add(constant(Rational(1, 2)),
                                                 constant(Rational(3, 4)))}));
  const char *join = "join-powers 0 0 0 1 (need (signs))";
  CHECK_FALSE(turns(f, powers, joined, join));
  f.assumptions.inputs = {{.isNotNegative = true}, {.isPositive = true}};
  CHECK_FALSE(turns(f, powers, joined, join));
  f.assumptions.inputs[0] = {.isPositive = true};
  CHECK(turns(f, powers, joined, join));
  CHECK_FALSE(turns(f, powers, joined, "join-powers 0 0 0 1"));
  CHECK_FALSE(turns(f, powers, single(power(x, Rational(3, 8))), join));
  CHECK_FALSE(
      turns(f, product(power(x, 1), power(y, 1)), single(power(x, 2)), join));
}

TEST_CASE("A function that grows is taken out of a maximum", "[kernel]") {
  Fixture f;
  Sum x = single(f.read(0)), y = single(makeRead(1, {0}, false));
  auto of = [](const char *name, Sum argument) {
    return single(call(name, std::move(argument)));
  };
  auto larger = [](Sum a, Sum b) {
    return single(
        makeReduce("max", {point(std::move(a)), point(std::move(b))}));
  };
  const char *step = "take-function 0 0 0 0";
  auto takes = [&](const char *name) {
    return turns(f, larger(of(name, x), of(name, y)), of(name, larger(x, y)),
                 step);
  };
  for (const char *name : {"exp", "tanh", "erf", "floor", "ceil", "roundeven"})
    CHECK(takes(name));
  for (const char *name : {"abs", "sin", "cos", "neg", "reciprocal", "sqrt",
                           "log", "exp:i8", "positive"})
    CHECK_FALSE(takes(name));
  // Of a negative number it is the least; and numbers that are values at 0.
  Sum lower = minus(larger(minus(x), minus(y)));
  CHECK(turns(f, larger(minus(of("exp", x)), minus(of("exp", y))),
              minus(of("exp", lower)), step));
  CHECK_FALSE(turns(f, larger(minus(of("exp", x)), minus(of("exp", y))),
                    minus(of("exp", larger(x, y))), step));
  CHECK(turns(f, larger(of("exp", x), constant(Rational(1))),
              of("exp", larger(x, {})), step));
  CHECK_FALSE(
      turns(f, larger(of("exp", x), {}), of("exp", larger(x, {})), step));
  CHECK(turns(f, larger(of("tanh", x), {}), of("tanh", larger(x, {})), step));
  CHECK_FALSE(turns(f, larger(half(of("exp", x)), of("exp", y)),
                    of("exp", larger(x, y)), step));
  CHECK_FALSE(turns(f, larger(of("exp", x), of("tanh", y)),
                    of("exp", larger(x, y)), step));
  CHECK_FALSE(turns(f,
                    larger(of("exp", x), single(makeParameter(infinityName))),
                    of("exp", larger(x, y)), step));
  // Where it is defined.
  f.assumptions.inputs = {{.isNotNegative = true}, {}};
  const char *shown = "take-function 0 0 0 0 (need (signs) (signs))";
  CHECK_FALSE(turns(f, larger(of("sqrt", x), of("sqrt", y)),
                    of("sqrt", larger(x, y)), shown));
  f.assumptions.inputs[1].isNotNegative = true;
  CHECK(turns(f, larger(of("sqrt", x), of("sqrt", y)), of("sqrt", larger(x, y)),
              shown));
  CHECK_FALSE(turns(f, larger(of("log", x), of("log", y)),
                    of("log", larger(x, y)), shown));
  // Of nothing there is no maximum.
  Variable v = f.names.fresh();
  Integer at = Integer::variable(v);
  auto largest = [&](Sum value) {
    return single(
        makeReduce("max", {{{v}, {Formula::inRange(at, f.n)}, value}}));
  };
  Sum element = single(f.read(at));
  const char *first = "take-function 0 0 0 0 (integers 0)";
  CHECK_FALSE(turns(f, largest(of("exp", element)), of("exp", largest(element)),
                    first));
  f.context.assume({Formula::notNegative(f.n - 1)});
  CHECK(turns(f, largest(of("exp", element)), of("exp", largest(element)),
              first));
}

TEST_CASE("Orders of functions and of multiples", "[kernel]") {
  Fixture f;
  Sum x = single(f.read(0)), y = single(makeRead(1, {0}, false));
  auto truth = [](const char *name, Sum argument) {
    return single(makeCall(name, {std::move(argument)}, true));
  };
  auto less = [](const char *name, const Sum &a, const Sum &b) {
    return add(single(call(name, a)), minus(single(call(name, b))));
  };
  Sum difference = add(x, minus(y));
  const char *same = "same-order 0 0 0 0";
  for (const char *order : {"zero", "positive"}) {
    for (const char *name : {"exp", "tanh", "erf"})
      CHECK(turns(f, truth(order, less(name, x, y)), truth(order, difference),
                  same));
    for (const char *name : {"floor", "abs", "sin", "sqrt", "log", "exp:i8"})
      CHECK_FALSE(turns(f, truth(order, less(name, x, y)),
                        truth(order, difference), same));
  }
  CHECK(turns(f, truth("positive", minus(less("exp", x, y))),
              truth("positive", add(minus(x), y)), same));
  CHECK_FALSE(turns(f, truth("positive", minus(less("exp", x, y))),
                    truth("positive", difference), same));
  CHECK_FALSE(turns(f, truth("zero:i8", less("exp", x, y)),
                    truth("zero:i8", difference), same));
  CHECK_FALSE(turns(f,
                    truth("positive", add(single(call("exp", x)),
                                          minus(half(single(call("exp", y)))))),
                    truth("positive", difference), same));
  f.assumptions.inputs = {{.isPositive = true}, {.isNotNegative = true}};
  const char *shown = "same-order 0 0 0 0 (need (signs) (signs))";
  CHECK(turns(f, truth("zero", less("sqrt", x, y)), truth("zero", difference),
              shown));
  CHECK_FALSE(turns(f, truth("zero", less("log", x, y)),
                    truth("zero", difference), shown));

  auto scale = [](const char *by) {
    return std::string("scale-order 0 0 0 0 (integers ") + by + ")";
  };
  CHECK(
      turns(f, truth("positive", x), truth("positive", half(x)), scale("1 2")));
  CHECK_FALSE(turns(f, truth("positive", x), truth("positive", minus(x)),
                    scale("-1 1")));
  CHECK(turns(f, truth("zero", x), truth("zero", minus(x)), scale("-1 1")));
  CHECK_FALSE(turns(f, truth("zero", x), truth("zero", {}), scale("0 1")));
  CHECK_FALSE(
      turns(f, truth("positive", x), truth("positive", x), scale("1 0")));
  CHECK_FALSE(
      turns(f, truth("positive", x), truth("positive", x), scale("\"n\" 1")));
  CHECK(
      turns(f, truth("zero:i8", x), truth("zero:i8", minus(x)), scale("-1 1")));
  CHECK_FALSE(turns(f, truth("zero:i8", x), truth("zero:i8", scaled(x, 2)),
                    scale("2 1")));
  CHECK_FALSE(
      turns(f, truth("less:i8", x), truth("less:i8", minus(x)), scale("-1 1")));
}

TEST_CASE("Products, inverses and distinctions show signs", "[kernel]") {
  Fixture f;
  Sum x = single(f.read(0)), y = single(makeRead(1, {0}, false));
  f.assumptions.inputs = {{.isPositive = true}, {.isNotNegative = true}};
  auto shows = [&](Need::Kind kind, const Sum &value, const Shown &proof,
                   std::vector<Sum> path = {}) {
    Checker checker(f.decider, f.names, f.assumptions, f.given);
    return checker.isShown(kind, 0, f.context, value, path, proof);
  };
  Shown signs, product{.kind = Shown::Kind::Product, .parts = {signs, signs}};
  Sum both = multiply(x, y, f.names), square = multiply(x, x, f.names);
  CHECK(shows(Need::Kind::NotNegative, both, product));
  CHECK_FALSE(shows(Need::Kind::Positive, both, product));
  CHECK(shows(Need::Kind::Positive, square, product));
  CHECK_FALSE(shows(Need::Kind::Positive, minus(square), product));
  CHECK_FALSE(shows(Need::Kind::NotNegative, minus(both), product));
  CHECK(shows(Need::Kind::NotZero, minus(square), product));
  CHECK_FALSE(shows(Need::Kind::Defined, square, product));
  CHECK_FALSE(shows(Need::Kind::NotNegative, add(both, both), product));
  Shown inverse{.kind = Shown::Kind::Inverse, .parts = {signs}};
  Sum over = single(call("reciprocal", x)),
      under = single(call("reciprocal", y));
  CHECK(shows(Need::Kind::Positive, over, inverse));
  CHECK_FALSE(shows(Need::Kind::Positive, minus(over), inverse));
  CHECK(shows(Need::Kind::NotNegative, under, inverse));
  CHECK_FALSE(shows(Need::Kind::NotZero, under, inverse));
  CHECK_FALSE(shows(Need::Kind::Positive, single(call("exp", x)), inverse));
  CHECK_FALSE(shows(Need::Kind::Defined, over, inverse));

  // [z > 0] z + 1 - [z > 0] is positive, by what is known in each case.
  FactorRef truth =
      makeCall("positive", {single(makeRead(2, {0}, false))}, true);
  Sum z = truth->arguments[0], t = single(truth), one = constant(Rational(1));
  Sum choice = add(add(multiply(t, z, f.names), one), minus(t));
  Zero cancels;
  cancels.groups.push_back({0, {{3, {}, {}, {{0, {}, {}, {}}}}}});
  cancels.groups.push_back({1, {{2, {}, {}, {}}}});
  Shown known{.kind = Shown::Kind::Bound};
  known.value = std::make_shared<const Zero>(cancels);
  known.bounds = {{1, 1, {0}}};
  Shown cases{.kind = Shown::Kind::Truth, .parts = {known, signs}};
  cases.place = {{0, 0, 0}};
  CHECK(shows(Need::Kind::Positive, choice, cases));
  CHECK_FALSE(shows(Need::Kind::Defined, choice, cases));
  CHECK_FALSE(shows(Need::Kind::Positive, multiply(t, z, f.names), cases));
  std::swap(cases.parts[0], cases.parts[1]);
  CHECK_FALSE(shows(Need::Kind::Positive, choice, cases));
  cases.parts.pop_back();
  CHECK_FALSE(shows(Need::Kind::Positive, choice, cases));
  // What is known of z holds where the path says so alone.
  Zero same;
  same.groups.push_back({0, {{1, {}, {}, {{0, {}, {}, {}}}}}});
  known.value = std::make_shared<const Zero>(same);
  CHECK(shows(Need::Kind::Positive, z, known, {t}));
  CHECK_FALSE(shows(Need::Kind::Positive, z, known));
  CHECK_FALSE(shows(Need::Kind::Positive, z, known, {add(one, minus(t))}));
  CHECK(shows(Need::Kind::NotNegative, minus(z), known, {add(one, minus(t))}));
  CHECK_FALSE(
      shows(Need::Kind::Positive, minus(z), known, {add(one, minus(t))}));
  CHECK_FALSE(shows(Need::Kind::Positive, z, known, {add(t, minus(one))}));

  auto productOf = [&](Sum value) {
    Variable v = f.names.fresh();
    return single(
        makeReduce("prod", {{{v},
                             {Formula::inRange(Integer::variable(v), f.n)},
                             std::move(value)}}));
  };
  CHECK(shows(Need::Kind::Positive, productOf(x), signs));
  CHECK(shows(Need::Kind::NotNegative, productOf(y), signs));
  CHECK_FALSE(shows(Need::Kind::NotZero, productOf(y), signs));
  CHECK_FALSE(shows(Need::Kind::NotNegative, productOf(z), signs));
}

TEST_CASE("Reciprocals join, and maxima and infinity have an order",
          "[kernel]") {
  Fixture f;
  Sum x = single(f.read(0)), y = single(makeRead(1, {0}, false)),
      one = constant(Rational(1)), more = add(x, one);
  auto inverse = [](Sum of) { return makeCall("reciprocal", {std::move(of)}); };
  auto product = [](FactorRef a, FactorRef b) {
    return Sum{{Rational(1), {}, {}, {std::move(a), std::move(b)}}};
  };
  const char *join = "join-reciprocals 0 0 0 1";
  CHECK(turns(f, product(inverse(more), inverse(y)),
              single(inverse(multiply(more, y, f.names))), join));
  CHECK_FALSE(turns(f, product(inverse(more), inverse(y)),
                    single(inverse(add(more, y))), join));
  CHECK_FALSE(turns(f, product(inverse(more), makeRead(1, {0}, false)),
                    single(inverse(multiply(more, y, f.names))), join));
  CHECK_FALSE(turns(f, product(inverse(more), inverse(y)), one,
                    "join-reciprocals 0 0 0 0"));
  CHECK_FALSE(turns(f, product(call("exp", x), call("exp", y)),
                    single(makeCall("exp", {multiply(x, y, f.names)})), join));

  Sum z = single(makeRead(2, {0}, false));
  auto larger = [&](std::vector<Branch> branches) {
    return single(makeReduce("max", std::move(branches)));
  };
  auto notOf = [&](const Sum &truth) { return add(one, minus(truth)); };
  Sum both = multiply(positive(add(x, minus(y))), positive(add(x, minus(z))),
                      f.names),
      none = multiply(notOf(positive(add(minus(x), y))),
                      notOf(positive(add(minus(x), z))), f.names);
  Sum ofBoth = larger({point(y), point(z)});
  CHECK(turns(f, positive(add(x, minus(ofBoth))), both,
              "order-of-maximum 0 0 0 1"));
  CHECK(turns(f, positive(add(minus(x), ofBoth)), notOf(none),
              "order-of-maximum 0 0 0 1"));
  CHECK_FALSE(turns(f, positive(add(minus(x), ofBoth)), both,
                    "order-of-maximum 0 0 0 1"));
  CHECK_FALSE(turns(f, positive(add(x, minus(ofBoth))), both,
                    "order-of-maximum 0 0 0 0"));
  CHECK_FALSE(turns(f, positive(add(x, minus(ofBoth))), both,
                    "order-of-maximum 0 0 0 2"));
  CHECK_FALSE(turns(f, single(makeCall("zero", {add(x, minus(ofBoth))}, true)),
                    both, "order-of-maximum 0 0 0 1"));
  // What may be none, or many.
  Branch nowhere = point(z), many = point(z);
  nowhere.guards = {Formula::less(f.n, 3)};
  many.variables = {f.names.fresh()};
  for (const Branch &branch : {nowhere, many})
    CHECK_FALSE(turns(f, positive(add(x, minus(larger({point(y), branch})))),
                      both, "order-of-maximum 0 0 0 1"));
  CHECK_FALSE(turns(f, positive(add(x, minus(larger({})))), one,
                    "order-of-maximum 0 0 0 1"));

  Sum infinity = single(makeParameter(infinityName));
  auto is = [&](const Sum &truth, int value) {
    return turns(f, truth, value ? one : Sum(), "order-of-infinity 0 0 0 0");
  };
  auto zero = [](Sum of) {
    return single(makeCall("zero", {std::move(of)}, true));
  };
  CHECK(is(positive(add(infinity, minus(x))), 1));
  CHECK(is(positive(add(x, minus(infinity))), 0));
  CHECK(is(zero(add(x, infinity)), 0));
  CHECK_FALSE(is(positive(add(infinity, minus(x))), 0));
  CHECK_FALSE(is(positive(add(infinity, minus(infinity))), 1));
  CHECK_FALSE(
      is(positive(add(infinity, minus(single(call("exp", infinity))))), 1));
  CHECK_FALSE(is(positive(multiply(infinity, x, f.names)), 1));
  CHECK_FALSE(is(positive(add(infinity, ofBoth)), 1)); // it may be of nothing
  CHECK_FALSE(is(positive(add(infinity, single(call("exp", ofBoth)))), 1));
  CHECK_FALSE(is(positive(x), 1));
  CHECK_FALSE(is(single(makeCall("zero:i8", {add(x, infinity)}, true)), 0));
}
