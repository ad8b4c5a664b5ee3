//===- KernelFactsTest.cpp - Facts of functions, and what is none ---------===//

#include "KernelFixture.h"

TEST_CASE("Odd and even functions are those of the table", "[kernel]") {
  Fixture f;
  Sum x = single(f.read(0));
  auto of = [](const char *name, Sum argument) {
    return single(call(name, std::move(argument)));
  };
  const char *step = "mirror 0 0 0 0";
  for (const char *name : {"tanh", "erf", "sin", "roundeven", "reciprocal"}) {
    CAPTURE(name);
    CHECK(turns(f, of(name, x), minus(of(name, minus(x))), step));
    CHECK_FALSE(turns(f, of(name, x), of(name, minus(x)), step));
  }
  for (const char *name : {"cos", "abs"}) {
    CAPTURE(name);
    CHECK(turns(f, of(name, x), of(name, minus(x)), step));
    CHECK_FALSE(turns(f, of(name, x), minus(of(name, minus(x))), step));
  }
  // |-2^31| is another thing; roots and logarithms have one side alone.
  for (const char *name : {"exp", "floor", "ceil", "sqrt", "log", "abs:i32",
                           "sigmoid", "zero", "positive"}) {
    CAPTURE(name);
    CHECK_FALSE(turns(f, of(name, x), of(name, minus(x)), step));
    CHECK_FALSE(turns(f, of(name, x), minus(of(name, minus(x))), step));
  }
}

TEST_CASE("A magnitude is a maximum of reals", "[kernel]") {
  Fixture f;
  Sum x = single(f.read(0));
  Sum larger = single(makeReduce("max", {point(x), point(minus(x))}));
  CHECK(turns(f, single(call("abs", x)), larger, "magnitude 0 0 0 0"));
  CHECK_FALSE(turns(f, single(call("abs:i8", x)), larger, "magnitude 0 0 0 0"));
  CHECK_FALSE(turns(f, single(call("cos", x)), larger, "magnitude 0 0 0 0"));
}

TEST_CASE("Of two values of a maximum one goes, by their order", "[kernel]") {
  Fixture f;
  Sum x = single(f.read(0)), y = single(f.read(1));
  auto of = [&](const char *monoid, Sum a, Sum b) {
    return single(makeReduce(monoid, {point(a), point(b)}));
  };
  auto either = [&](const Sum &order, const Sum &yes, const Sum &no) {
    Sum reversed = add(constant(Rational(1)), minus(order));
    return add(multiply(order, yes, f.names), multiply(reversed, no, f.names));
  };
  auto less = [](const char *type, const Sum &a, const Sum &b) {
    return single(makeCall(std::string("less:") + type, {a, b}, true));
  };
  const char *step = "choose 0 0 0 1";
  Sum real = positive(add(y, minus(x)));
  CHECK(turns(f, of("max", x, y), either(real, y, x), step));
  CHECK_FALSE(turns(f, of("max", x, y), either(real, x, y), step));
  CHECK(turns(f, of("max:i32", x, y), either(less("i32", x, y), y, x), step));
  CHECK(turns(f, of("min:ui8", x, y), either(less("ui8", y, x), y, x), step));
  CHECK_FALSE(
      turns(f, of("min:i32", x, y), either(less("i32", x, y), y, x), step));
  // No order: sums and products, truth values, indices.
  for (const char *monoid : {"prod", "any", "min", "max:index", "max:i1"}) {
    CAPTURE(monoid);
    Sum result = of(monoid, x, y);
    Checker checker(f.decider, f.names, f.assumptions, f.given);
    Step choose{.kind = Step::Kind::Choose, .other = 1};
    CHECK_FALSE(checker.apply(choose, f.context, result));
  }
  CHECK_FALSE(turns(f, of("max", x, y), either(real, y, x), "choose 0 0 0 0"));
  CHECK_FALSE(turns(f, of("max", x, y), either(real, y, x), "choose 0 0 0 2"));
  // A value that is not there, one of many, and infinity.
  Branch nowhere = point(y), many = point(y),
         lowest = point(minus(single(makeParameter(infinityName))));
  nowhere.guards = {Formula::less(f.n, 3)};
  many.variables = {f.names.fresh()};
  for (const Branch &branch : {nowhere, many, lowest}) {
    Sum result = single(makeReduce("max", {point(x), branch}));
    Checker checker(f.decider, f.names, f.assumptions, f.given);
    Step choose{.kind = Step::Kind::Choose, .other = 1};
    CHECK_FALSE(checker.apply(choose, f.context, result));
  }
}

TEST_CASE("Roots of products have needs", "[kernel]") {
  Fixture f;
  FactorRef x = f.read(0), y = makeRead(1, {0}, false);
  auto root = [](std::vector<FactorRef> factors) {
    return single(call("sqrt", {{Rational(1), {}, {}, std::move(factors)}}));
  };
  Sum magnitude = single(call("abs", single(x)));
  const char *square = "root-of-square 0 0 0 0";
  CHECK(turns(f, root({x, x}), magnitude, square));
  CHECK_FALSE(turns(f, root({x, x}), single(x), square));
  CHECK_FALSE(turns(f, root({x, y}), magnitude, square));
  CHECK_FALSE(turns(f, root({x, x, x}), magnitude, square));
  const char *product = "root-of-product 0 0 0 0 (need (signs) (signs))";
  Sum both = multiply(root({x}), root({y}), f.names);
  CHECK_FALSE(turns(f, root({x, y}), both, product));
  f.assumptions.inputs = {{.isNotNegative = true}, {}};
  CHECK_FALSE(turns(f, root({x, y}), both, product));
  f.assumptions.inputs[1].isNotNegative = true;
  CHECK(turns(f, root({x, y}), both, product));
  CHECK_FALSE(turns(f, root({x, y}), both, "root-of-product 0 0 0 0"));
  CHECK_FALSE(
      turns(f, root({x, y}), both, "root-of-product 0 0 0 0 (need (signs))"));
}

TEST_CASE("Exponentials and their logarithms", "[kernel]") {
  Fixture f;
  Sum x = single(f.read(0)), y = single(makeRead(1, {0}, false));
  auto of = [](const char *name, Sum argument) {
    return single(call(name, std::move(argument)));
  };
  Sum twice = scaled(of("exp", x), Rational(2));
  const char *invert = "invert-exponential 0 0 0 0";
  CHECK(turns(f, of("reciprocal", twice), half(of("exp", minus(x))), invert));
  CHECK_FALSE(turns(f, of("reciprocal", add(twice, constant(Rational(1)))),
                    half(of("exp", minus(x))), invert));
  CHECK_FALSE(
      turns(f, of("reciprocal", of("tanh", x)), of("tanh", minus(x)), invert));
  const char *split = "exp-of-log 0 0 0 1 (need (signs))";
  Sum up = of("exp", add(y, of("log", x))),
      down = of("exp", add(y, minus(of("log", x)))),
      square = of("exp", add(y, scaled(of("log", x), Rational(2))));
  Sum times = multiply(x, of("exp", y), f.names),
      over = multiply(of("reciprocal", x), of("exp", y), f.names);
  CHECK_FALSE(turns(f, up, times, split));
  f.assumptions.inputs = {{.isPositive = true}};
  CHECK(turns(f, up, times, split));
  CHECK(turns(f, down, over, split));
  CHECK_FALSE(turns(f, square, times, split));
  CHECK_FALSE(turns(f, up, times, "exp-of-log 0 0 0 1"));
  CHECK_FALSE(turns(f, up, times, "exp-of-log 0 0 0 7 (need (signs))"));
  f.assumptions.inputs = {{.isNotNegative = true}};
  CHECK_FALSE(turns(f, up, times, split));
  Sum one = constant(Rational(1));
  Sum logistic = of("reciprocal", add(one, of("exp", scaled(x, Rational(-2)))));
  Sum unfolded = add(scaled(logistic, Rational(2)), minus(one));
  CHECK(turns(f, of("tanh", x), unfolded, "unfold-tanh 0 0 0 0"));
  CHECK_FALSE(turns(f, of("erf", x), unfolded, "unfold-tanh 0 0 0 0"));
}

TEST_CASE("What is known of a number", "[kernel]") {
  Fixture f;
  auto of = [&](const char *name, Rational number) {
    return single(call(name, constant(number)));
  };
  auto is = [&](const char *name, Rational number, int value) {
    return turns(f, of(name, number), constant(Rational(value)),
                 "of-number 0 0 0 0");
  };
  CHECK(is("zero", 0, 1));
  CHECK(is("zero", Rational(1, 2), 0));
  CHECK(is("zero:i8", 256, 1));
  CHECK(is("zero:i8", 128, 0));
  CHECK_FALSE(is("zero:i8", 256, 0));
  CHECK_FALSE(is("zero:i8", Rational(1, 2), 0));
  CHECK(is("cast:i8:f32", 127, 127));
  // A residue that has a sign, or not; and what rounds.
  CHECK(is("cast:i8:f32", 128, -128));
  CHECK_FALSE(is("cast:i8:f32", 128, 128));
  CHECK(is("cast:i8:f32", -1, -1));
  CHECK(is("cast:ui8:i32", -1, 255));
  CHECK_FALSE(is("cast:ui8:i32", -1, -1));
  CHECK(is("cast:f32:i32", Rational(1, 2), 0));
  CHECK_FALSE(is("cast:f32:i32", Rational(3, 2), 2));
  CHECK_FALSE(is("cast:f32:i8", 300, 44));
  CHECK(is("cast:i32:bf16", 257, 256));
  CHECK_FALSE(is("cast:i32:bf16", 257, 257));
  CHECK_FALSE(is("cast:i64:f16", 70000, 70000));
  CHECK_FALSE(is("cast:i8:f32", Rational(1, 2), 0));
  CHECK_FALSE(is("cast:i1:f8E8M0FNU", 0, 0));
  CHECK_FALSE(is("cast:i8:none", 1, 1));
  CHECK(is("positive", 0, 0));
  CHECK(is("positive", Rational(1, 2), 1));
  CHECK(is("positive", -1, 0));
  CHECK_FALSE(is("positive:i8", 1, 1));
  Sum x = single(f.read(0));
  Sum signs = constant(Rational(1));
  for (const Sum &side : {x, minus(x)})
    signs = add(signs, minus(positive(side)));
  auto zero = [&](const char *name) {
    return single(makeCall(name, {x}, true));
  };
  CHECK(turns(f, zero("zero"), signs, "signs-of-zero 0 0 0 0"));
  CHECK_FALSE(turns(f, zero("zero:i32"), signs, "signs-of-zero 0 0 0 0"));
}

TEST_CASE("A maximum of one value is that value, if it is of any", "[kernel]") {
  Fixture f;
  Variable v = f.names.fresh();
  Integer x = Integer::variable(v);
  Formula range = Formula::inRange(x, f.n);
  auto of = [&](const char *monoid, Sum value) {
    return single(makeReduce(monoid, {{{v}, {range}, std::move(value)}}));
  };
  Sum constantOne = single(f.read(0)), varying = single(f.read(x));
  const char *first = "unwrap 0 0 0 0 (integers 0)";
  CHECK_FALSE(turns(f, of("max", constantOne), constantOne, first));
  f.context.assume({Formula::notNegative(f.n - 1)});
  CHECK(turns(f, of("max", constantOne), constantOne, first));
  CHECK(turns(f, of("min:i8", constantOne), constantOne, first));
  CHECK_FALSE(turns(f, of("max", varying), constantOne, first));
  CHECK_FALSE(turns(f, of("prod", constantOne), constantOne, first));
  CHECK_FALSE(turns(f, of("max", constantOne), constantOne,
                    "unwrap 0 0 0 0 (integers \"n\")"));
  CHECK_FALSE(turns(f, of("max", constantOne), constantOne, "unwrap 0 0 0 0"));
}

TEST_CASE("Divisors of what is given, and roots", "[kernel]") {
  Fixture f;
  Sum x = single(f.read(0)), y = single(f.read(1));
  auto inverse = [](Sum of) { return single(makeCall("reciprocal", {of})); };
  f.given.push_back(
      {Need::Kind::NotZero, {}, {}, {}, multiply(x, inverse(y), f.names)});
  auto shows = [&](Need::Kind kind, const Sum &value, const Shown &proof) {
    Checker checker(f.decider, f.names, f.assumptions, f.given);
    return checker.isShown(kind, 0, f.context, value, {}, proof);
  };
  // That nothing but the reads themselves cancel.
  Zero cancels;
  cancels.groups.push_back({0, {{1, {}, {}, {{0, {}, {}, {}}}}}});
  auto divisor = [&](unsigned factor) {
    return Shown{.kind = Shown::Kind::Divisor,
                 .factor = factor,
                 .value = std::make_shared<const Zero>(cancels)};
  };
  CHECK(shows(Need::Kind::NotZero, x, divisor(0)));
  CHECK(shows(Need::Kind::NotZero, y, divisor(1)));
  CHECK_FALSE(shows(Need::Kind::NotZero, x, divisor(1)));
  CHECK_FALSE(shows(Need::Kind::NotZero, y, divisor(0)));
  CHECK_FALSE(shows(Need::Kind::NotZero, x, divisor(2)));
  // Its sign is another matter.
  CHECK_FALSE(shows(Need::Kind::Positive, x, divisor(0)));
  CHECK_FALSE(shows(Need::Kind::NotNegative, x, divisor(0)));
  // Nor does a sum that is not 0 have terms that are not.
  f.given[0].value = add(x, y);
  CHECK_FALSE(shows(Need::Kind::NotZero, x, divisor(0)));

  f.given[0].value = x;
  Shown given = divisor(0), signs, root{.kind = Shown::Kind::Root};
  root.parts = {given, signs};
  Sum rootOfX = single(call("sqrt", x));
  CHECK_FALSE(shows(Need::Kind::NotZero, rootOfX, root)); // x may be negative
  f.assumptions.inputs = {{.isNotNegative = true}};
  CHECK(shows(Need::Kind::NotZero, rootOfX, root));
  CHECK(shows(Need::Kind::Positive, rootOfX, root));
  CHECK_FALSE(shows(Need::Kind::Defined, rootOfX, root));
  CHECK_FALSE(shows(Need::Kind::Positive, single(call("exp", x)), root));
  root.parts.pop_back();
  CHECK_FALSE(shows(Need::Kind::NotZero, rootOfX, root));
}

TEST_CASE("A power of what is positive is positive", "[kernel]") {
  Fixture f;
  Sum x = single(f.read(0)), y = single(f.read(1));
  auto isPositive = [&](llvm::StringRef name, std::vector<Sum> of) {
    Checker checker(f.decider, f.names, f.assumptions, f.given);
    return checker.isPositive(f.context, single(makeCall(name, std::move(of))));
  };
  Sum square = multiply(x, x, f.names);
  Sum more = add(square, constant(Rational(1)));
  CHECK(isPositive("pow", {more, y}));
  CHECK_FALSE(isPositive("pow", {square, y})); // 0 may be among the bases
  CHECK_FALSE(isPositive("pow", {x, more}));
  CHECK_FALSE(isPositive("pow:i32", {more, y})); // wraps around
  CHECK_FALSE(isPositive("mod", {more, y}));
  CHECK_FALSE(isPositive("pow", {more}));
}

TEST_CASE("Floats as bits have no laws", "[kernel]") {
  Fixture f;
  auto at = [&](int place, Sum value) {
    return makeCall("%at", {single(makeNumber(place)), std::move(value)});
  };
  // A sum of one value in its order is not yet that value.
  Branch only = point(single(at(0, single(f.read(0)))));
  Sum inOrder = single(makeReduce("in-order:sum:f32:1", {only}));
  CHECK_FALSE(
      turns(f, inOrder, single(at(0, single(f.read(0)))), "unwrap 0 0 0 0"));
  CHECK_FALSE(turns(f, single(call("exp:f32", {})), constant(Rational(1)),
                    "at-zero 0 0 0 0"));
}

TEST_CASE("Heads that differ have different texts", "[kernel]") {
  const char *texts[] = {
      "exp",         "exp:i8",      "exp:si8", "abs:f32", "pow",
      "+:i32",       "positive",    "zero",    "zero:i8", "less:ui8",
      "cast:i8:f32", "cast:f32:i8", "max",     "max:i8",  "min:ui8",
      "prod",        "any",         "all",     "parity",  "in-order:sum:f32:1",
      "%at"};
  for (llvm::StringRef a : texts) {
    CHECK(headNamed(a).str() == a);
    for (llvm::StringRef b : texts)
      CHECK((headNamed(a) == headNamed(b)) == (a == b));
  }
  mlir::Type f32 = headNamed("abs:f32").getType();
  CHECK(Head::element(3).str() == "input3@");
  CHECK(Head::element(3) != Head::element(2));
  CHECK(Head::unwritten("x").str() == "unwritten:x");
  CHECK(Head::compare(mlc::ComparePredicate::LT, f32).str() == "<:f32");
  CHECK(Head::either(mlc::BinaryFn::Add, f32).str() == "in-order:either:+:f32");
  CHECK(headNamed("exp:f32").ofReals() == mlc::UnaryFn::Exp);
  CHECK_FALSE(headNamed("exp:f32").getFunction());
  for (const char *monoid : {"max", "max:i8", "min:i8", "any", "all"})
    CHECK(headNamed(monoid).isIdempotent());
  for (const char *monoid : {"prod", "parity", "in-order:sum:f32:1"})
    CHECK_FALSE(headNamed(monoid).isIdempotent());
}
