//===- KernelResiduesTest.cpp - Facts of residues, and what is none -------===//

#include "KernelFixture.h"

namespace {

Sum of(std::string name, std::vector<Sum> arguments, bool isTruth = false) {
  return single(makeCall(name, std::move(arguments), isTruth));
}
Sum number(int64_t value) { return constant(Rational(value)); }

} // namespace

TEST_CASE("Digits of residues", "[kernel]") {
  Fixture f;
  Sum x = single(f.read(0)), y = single(makeRead(1, {0}, false));
  const char *step = "of-bits 0 0 0 0";
  auto is = [&](const char *name, const Sum &b, const Sum &value) {
    return turns(f, of(name, {x, b}), value, step);
  };
  CHECK(is("and:i32", x, x));
  CHECK(is("or:i32", x, x));
  CHECK(is("xor:i32", x, {}));
  CHECK_FALSE(is("and:i32", y, x));
  CHECK_FALSE(is("xor:i32", y, {}));
  CHECK_FALSE(is("and", x, x)); // truth values have their own
  CHECK_FALSE(is("and:f32", x, x));
  CHECK_FALSE(is("+:i32", x, x));
  CHECK(is("and:i32", {}, {}));
  CHECK(is("or:i32", {}, x));
  CHECK(is("xor:i32", {}, x));
  CHECK_FALSE(is("or:i32", {}, {}));
  CHECK(is("and:i8", number(-1), x));
  CHECK(is("and:ui8", number(255), x));
  CHECK(is("and:i8", number(256), {}));
  CHECK(is("or:i8", number(255), number(-1)));
  CHECK(is("xor:i8", number(-1), add(number(-1), minus(x))));
  CHECK_FALSE(is("and:i16", number(255), x));
  Sum low = of("cast:ui3:i32", {x});
  CHECK(is("and:i32", number(7), low));
  CHECK(is("and:ui32", number(7), low));
  CHECK(is("and:i32", number(-8), add(x, minus(low))));
  CHECK_FALSE(is("and:i32", number(6), low));
  CHECK_FALSE(is("and:i32", number(8), low));
  CHECK_FALSE(is("or:i32", number(7), low));
  CHECK_FALSE(is("and:i32", number(-7), add(x, minus(low))));
  // A type of one bit is of truth values.
  CHECK_FALSE(is("and:i32", number(1), of("cast:ui1:i32", {x})));
  CHECK(
      turns(f, of("and:i8", {x, y}), of("and:i8", {y, x}), "commute 0 0 0 0"));
  for (const char *name : {"/:i8", "less:i8", "mod:ui8", "and", "pow"})
    CHECK_FALSE(
        turns(f, of(name, {x, y}), of(name, {y, x}), "commute 0 0 0 0"));
}

TEST_CASE("Quotients and rests of residues", "[kernel]") {
  Fixture f;
  Sum x = single(f.read(0)), y = single(makeRead(1, {0}, false));
  Sum low = of("cast:ui3:i32", {x}), rest = add(x, minus(low));
  const char *step = "low-bits 0 0 0 0";
  auto is = [&](const char *name, int64_t by, int times, const Sum &value) {
    return turns(f, scaled(of(name, {x, number(by)}), Rational(times)), value,
                 step);
  };
  CHECK(is("mod:ui32", 8, 1, low));
  CHECK(is("/:ui32", 8, 8, rest));
  CHECK(is("floordiv:ui32", 8, -16, scaled(rest, Rational(-2))));
  CHECK_FALSE(is("/:ui32", 8, 4, half(rest)));
  CHECK_FALSE(is("mod:i32", 8, 1, low)); // rests with signs
  CHECK_FALSE(is("/:i32", 8, 8, rest));
  CHECK_FALSE(is("mod:ui32", 6, 1, low));
  CHECK_FALSE(is("mod:ui32", 4, 1, low));
  CHECK_FALSE(is("mod:ui32", 2, 1, of("cast:ui1:i32", {x})));
  CHECK_FALSE(is("mod:ui64", 8, 1, low));
  const char *one = "divide-by-one 0 0 0 0";
  auto divides = [&](const char *name, int64_t by, const Sum &value) {
    return turns(f, of(name, {x, number(by)}), value, one);
  };
  CHECK(divides("/:i32", 1, x));
  CHECK(divides("/:i32", -1, minus(x)));
  CHECK(divides("/:i8", 255, minus(x)));
  CHECK(divides("floordiv:ui8", 1, x));
  CHECK_FALSE(divides("/:ui8", 255, minus(x)));
  CHECK_FALSE(divides("/:i32", -1, x));
  CHECK_FALSE(divides("/:i32", 2, x));
  CHECK_FALSE(divides("mod:i32", 1, x));
  CHECK_FALSE(turns(f, of("/:i32", {x, y}), x, one));
}

TEST_CASE("Magnitudes, order and nothing", "[kernel]") {
  Fixture f;
  FactorRef x = f.read(0), y = makeRead(1, {0}, false);
  auto product = [](const char *name, FactorRef a, FactorRef b) {
    return Sum{
        {Rational(1),
         {},
         {},
         {call(name, single(std::move(a))), call(name, single(std::move(b)))}}};
  };
  Sum square{{Rational(1), {}, {}, {x, x}}};
  const char *magnitude = "square-of-magnitude 0 0 0 1";
  CHECK(turns(f, product("abs:i8", x, x), square, magnitude));
  CHECK_FALSE(turns(f, product("abs:i8", x, y), square, magnitude));
  CHECK_FALSE(turns(f, product("abs", x, x), square, magnitude));
  CHECK_FALSE(turns(f, product("exp:i8", x, x), square, magnitude));
  CHECK_FALSE(
      turns(f, product("abs:i8", x, x), square, "square-of-magnitude 0 0 0 0"));

  auto never = [&](const char *name, const Sum &a, const Sum &b,
                   const char *step = "order-ends 0 0 0 0") {
    return turns(f, of(name, {a, b}, true), {}, step);
  };
  Sum a = single(x), b = single(y);
  CHECK(never("less:ui8", a, {}));
  CHECK(never("less:ui8", a, number(256)));
  CHECK(never("less:i8", a, number(-128)));
  CHECK(never("less:i8", a, number(128)));
  CHECK(never("less:i8", number(127), a));
  CHECK(never("less:ui8", number(-1), a));
  CHECK(never("less:i32", a, a));
  CHECK_FALSE(never("less:i8", a, {}));
  CHECK_FALSE(never("less:i8", {}, a));
  CHECK_FALSE(never("less:ui8", {}, a));
  CHECK_FALSE(never("less:ui8", number(127), a));
  CHECK_FALSE(never("less:i32", a, b));
  CHECK_FALSE(never("zero:i32", a, a));
  const char *known = "of-number 0 0 0 0";
  CHECK(never("less:i8", number(255), number(-1), known));
  CHECK(never("less:i8", {}, number(255), known));
  CHECK_FALSE(never("less:ui8", {}, number(255), known));
  CHECK_FALSE(never("less:i8", number(-1), {}, known));

  auto nothing = [&](const char *monoid, int64_t value) {
    return turns(f, single(makeReduce(monoid, {})), number(value),
                 "of-nothing 0 0 0 0");
  };
  CHECK(nothing("max:i8", -128));
  CHECK(nothing("min:i8", 127));
  CHECK(nothing("max:ui8", 0));
  CHECK(nothing("min:ui8", 255));
  CHECK(nothing("prod", 1));
  CHECK(nothing("prod:i8", 1));
  CHECK(nothing("any", 0));
  CHECK(nothing("all", 1));
  CHECK(nothing("parity", 0));
  CHECK_FALSE(nothing("max:i8", 127));
  for (const char *monoid : {"max", "min", "max:index", "in-order:sum:f32:1"})
    CHECK_FALSE(nothing(monoid, 0));
  CHECK_FALSE(turns(f, single(makeReduce("max:i8", {point(a)})), number(-128),
                    "of-nothing 0 0 0 0"));
}

TEST_CASE("Sums of integers as numbers", "[kernel]") {
  Fixture f;
  Variable v = f.names.fresh();
  Integer i = Integer::variable(v);
  f.context.bind({v});
  f.context.assume({Formula::inRange(i, f.n)});
  auto at = [](Integer integer) { return single(makeNumber(integer)); };
  auto is = [&](const char *name, const Sum &sum, int value) {
    return turns(f, of(name, {sum}, true), number(value), "of-number 0 0 0 0");
  };
  Sum by256 = add(at(i + 256), minus(at(i)));
  CHECK(is("zero:ui8", by256, 1));
  CHECK(is("zero:ui16", by256, 0));
  CHECK_FALSE(is("zero:ui16", by256, 1));
  CHECK_FALSE(is("zero:ui8", at(i), 1));
  CHECK_FALSE(is("zero:ui8", at(i), 0));
  CHECK(is("positive", add(at(f.n), minus(at(i))), 1));
  CHECK(is("positive", minus(at(i)), 0));
  CHECK_FALSE(is("positive", at(i), 1));
  CHECK(is("zero", add(half(at(i)), number(1)), 0));
  CHECK_FALSE(is("zero", half(at(i)), 0));
  CHECK_FALSE(is("zero:ui8", half(at(i + 256)), 0));
  CHECK_FALSE(is("positive", single(f.read(0)), 1));
  // Made an index, what is whole stays as it is.
  CHECK(turns(f, of("cast:f32:index", {at(i)}), at(i), "of-number 0 0 0 0"));
  CHECK_FALSE(turns(f, of("cast:f32:index", {half(at(i))}), half(at(i)),
                    "of-number 0 0 0 0"));
  CHECK_FALSE(turns(f, of("cast:f32:i8", {at(i)}), at(i), "of-number 0 0 0 0"));
  Sum x = single(f.read(0));
  CHECK_FALSE(turns(f, of("cast:f32:index", {x}), x, "of-number 0 0 0 0"));
}
