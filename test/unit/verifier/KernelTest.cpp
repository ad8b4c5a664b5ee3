//===- KernelTest.cpp - What the proof checker accepts, and what not ------===//

#include "KernelFixture.h"

TEST_CASE("Terms cancel by a bijection alone", "[kernel]") {
  Fixture f;
  auto plain = [](Integer x) { return x; };
  auto mirrored = [&](Integer x) { return f.n - x - 1; };
  Sum sum{f.sumOfReads(1, 0, plain), f.sumOfReads(-1, 0, mirrored)};
  CHECK(f.accepts(sum, "(zero (group 0 (member 1"
                       " ((+ (+ \"n\" (* -1 #0)) -1))"
                       " ((+ (+ \"n\" (* -1 #0)) -1)) (match 0))))"));
  // The same points, but other elements there.
  CHECK_FALSE(
      f.accepts(sum, "(zero (group 0 (member 1 (#0) (#0) (match 0))))"));
  // Off by one; no inverse; no map.
  CHECK_FALSE(f.accepts(sum, "(zero (group 0 (member 1"
                             " ((+ \"n\" (* -1 #0)))"
                             " ((+ \"n\" (* -1 #0))) (match 0))))"));
  CHECK_FALSE(f.accepts(sum, "(zero (group 0 (member 1"
                             " ((+ (+ \"n\" (* -1 #0)) -1)) (0) (match 0))))"));
  CHECK_FALSE(f.accepts(sum, "(zero (group 0 (member 1 () () (match 0))))"));
  CHECK_FALSE(f.accepts(sum, "(zero (group 0 (member 1"
                             " ((+ (+ \"n\" (* -1 #7)) -1))"
                             " ((+ (+ \"n\" (* -1 #0)) -1)) (match 0))))"));
}

TEST_CASE("Every term cancels, once", "[kernel]") {
  Fixture f;
  auto plain = [](Integer x) { return x; };
  Sum sum{f.sumOfReads(1, 0, plain), f.sumOfReads(-1, 0, plain),
          f.sumOfReads(1, 0, plain)};
  const char *pair = "(member 1 (#0) (#0) (match 0))";
  CHECK_FALSE(f.accepts(sum, "(zero)"));
  std::string some = std::string("(zero (group 0 ") + pair + "))";
  CHECK_FALSE(f.accepts(sum, some.c_str()));
  std::string twice =
      std::string("(zero (group 0 ") + pair + ") (group 2 " + pair + "))";
  CHECK_FALSE(f.accepts(sum, twice.c_str()));
  CHECK_FALSE(f.accepts(sum, "(zero (group 9))"));
  sum.pop_back();
  CHECK(f.accepts(sum, some.c_str()));
}

TEST_CASE("A point that is left out is seen", "[kernel]") {
  Fixture f;
  auto plain = [](Integer x) { return x; };
  // The first of a sum is dropped, with tau(v) = v - 1 below 0.
  Sum sum{f.sumOfReads(1, 1, [](Integer x) { return x - 1; }),
          f.sumOfReads(-1, 0, plain)};
  CHECK_FALSE(f.accepts(sum, "(zero (group 0 (member 1 ((+ #0 -1))"
                             " ((+ #0 1)) (match 0))))"));
  Sum shorter{f.sumOfReads(1, 0, plain), f.sumOfReads(-1, 1, plain)};
  CHECK_FALSE(
      f.accepts(shorter, "(zero (group 0 (member 1 (#0) (#0) (match 0))))"));
  // Where there is nothing else, it holds.
  f.context.assume({Formula::zero(f.n)});
  CHECK(f.accepts(shorter, "(zero (group 0 (member 1 (#0) (#0) (match 0))))"));
}

TEST_CASE("Cases are where a formula holds and where it does not", "[kernel]") {
  Fixture f;
  Sum sum{{Rational(1), {}, {Formula::zero(f.n)}, {f.read(0)}},
          {Rational(-1), {}, {Formula::zero(f.n)}, {f.read(f.n)}}};
  const char *whole = "(zero (group 0 (member 1 () () (match 0))))";
  CHECK(f.accepts(sum, whole));
  Sum other{{Rational(1), {}, {}, {f.read(0)}},
            {Rational(-1), {}, {}, {f.read(f.n)}}};
  std::string cases =
      std::string("(cases (=0 \"n\") ") + whole + " " + whole + ")";
  CHECK_FALSE(f.accepts(other, cases.c_str()));
}

TEST_CASE("Coefficients are residues where that is asked", "[kernel]") {
  Fixture f;
  Sum sum{{Rational(256), {}, {}, {f.read(0)}}};
  CHECK(f.accepts(sum, "(zero (group 0))", 8));
  CHECK_FALSE(f.accepts(sum, "(zero (group 0))", 9));
  CHECK_FALSE(f.accepts(sum, "(zero (group 0))"));
  // Not by way of a common denominator.
  sum[0].coefficient = Rational(1, 2) + Rational(128);
  CHECK_FALSE(f.accepts(sum, "(zero (group 0))", 1));
}

TEST_CASE("What is counted does not vary, and has that range", "[kernel]") {
  Fixture f;
  Term ones = f.sumOfReads(1, 0, [](Integer) { return Integer(0); });
  Term times{Rational(-1), {}, {}, {makeNumber(f.n), f.read(0)}};
  Sum sum{ones, times};
  auto counted = [](const char *low, const char *high) {
    return std::string("(zero (count 0 0 0 0 (integers ") + low + " " + high +
           ")) (group 0 (member 1 () () (match 0))))";
  };
  CHECK(f.accepts(sum, counted("0", "\"n\"").c_str()));
  CHECK_FALSE(f.accepts(sum, counted("1", "\"n\"").c_str()));
  CHECK_FALSE(f.accepts(sum, counted("0", "(+ \"n\" 1)").c_str()));
  sum[0] = f.sumOfReads(1, 0, [](Integer x) { return x; });
  CHECK_FALSE(f.accepts(sum, counted("0", "\"n\"").c_str()));
}

TEST_CASE("A branch goes that others cover", "[kernel]") {
  Fixture f;
  auto maximum = [&](std::vector<Branch> branches) {
    return makeReduce("max", std::move(branches));
  };
  Branch x{{}, {}, single(f.read(0))}, y{{}, {}, single(f.read(1))};
  auto sumOf = [&](FactorRef left, FactorRef right) {
    return Sum{{Rational(1), {}, {}, {left}}, {Rational(-1), {}, {}, {right}}};
  };
  const char *drop =
      "(zero (drop-branch 0 0 1 0 (covers (cover 0 () (zero (group 0 (member 1 "
      "() () (match 0))))))) (unwrap 0 0 0 0) (group 0 (member 1 () () (match "
      "0))))";
  CHECK(f.accepts(sumOf(maximum({x, x}), f.read(0)), drop));
  CHECK_FALSE(f.accepts(sumOf(maximum({x, y}), f.read(0)), drop));
  CHECK_FALSE(f.accepts(sumOf(makeReduce("prod", {x, x}), f.read(0)), drop));
  // A maximum of nothing is no value.
  Branch nowhere = x;
  nowhere.guards = {Formula::less(f.n, 0)};
  CHECK_FALSE(f.accepts(sumOf(maximum({nowhere}), f.read(0)),
                        "(zero (unwrap 0 0 0 0) (group 0 (member 1 () () "
                        "(match 0))))"));
}

TEST_CASE("Infinity is a maximum of nothing and no number", "[kernel]") {
  Fixture f;
  Sum lowest = scaled(single(makeParameter(infinityName)), Rational(-1));
  Branch x{{}, {}, single(f.read(0))}, low{{}, {}, lowest};
  const char *drop = "(zero (drop-lowest 0 0 0 0) (unwrap 0 0 0 0) (group 0 "
                     "(member 1 () () (match 0))))";
  auto sumOf = [&](std::vector<Branch> branches) {
    return Sum{{Rational(1), {}, {}, {makeReduce("max", branches)}},
               {Rational(-1), {}, {}, {f.read(0)}}};
  };
  CHECK(f.accepts(sumOf({x, low}), drop));
  // Less than itself it is not.
  Branch lower{{}, {}, add(lowest, constant(Rational(-1)))};
  CHECK_FALSE(f.accepts(sumOf({lower, low}), drop));
  Branch twice{{}, {}, scaled(lowest, Rational(2))};
  CHECK_FALSE(f.accepts(sumOf({x, twice}), drop));
}

TEST_CASE("x / x is 1 where x is not 0", "[kernel]") {
  Fixture f;
  auto quotient = [&](Integer index) {
    return Sum{{Rational(1),
                {},
                {},
                {f.read(index), call("reciprocal", single(f.read(index)))}},
               {Rational(-1), {}, {}, {}}};
  };
  auto cancel = [](const char *need) {
    return std::string("(zero (cancel 0 0 0 1 ") + need +
           ") (group 0 (member 1 () ())))";
  };
  const char *given = "(need (given 0 + (2) (zero (group 0 (member 1 () () "
                      "(match 0))))))";
  CHECK_FALSE(f.accepts(quotient(2), cancel("").c_str()));
  CHECK_FALSE(f.accepts(quotient(2), cancel("(need (signs))").c_str()));
  CHECK_FALSE(f.accepts(quotient(2), cancel(given).c_str()));
  // It is known of elements from 1 on.
  Variable v = f.names.fresh();
  Integer x = Integer::variable(v);
  f.given.push_back({Need::Kind::NotZero,
                     {v},
                     {Formula::notNegative(x - 1)},
                     {},
                     single(f.read(x))});
  CHECK(f.accepts(quotient(2), cancel(given).c_str()));
  CHECK_FALSE(f.accepts(quotient(3), cancel(given).c_str()));
  const char *outside = "(need (given 0 + (0) (zero (group 0 (member 1 () () "
                        "(match 0))))))";
  CHECK_FALSE(f.accepts(quotient(0), cancel(outside).c_str()));
  // Where it need not hold, or on a path alone, it is not given.
  f.given[0].isOptional = true;
  CHECK_FALSE(f.accepts(quotient(2), cancel(given).c_str()));
  f.given[0].isOptional = false;
  f.given[0].path = {single(makeRead(1, {}, true))};
  CHECK_FALSE(f.accepts(quotient(2), cancel(given).c_str()));
  f.given[0].path.clear();
  f.given[0].width = 32;
  CHECK_FALSE(f.accepts(quotient(2), cancel(given).c_str()));
  // By assumption.
  f.given.clear();
  f.assumptions.inputs = {{.isPositive = true}};
  CHECK(f.accepts(quotient(2), cancel("(need (signs))").c_str()));
}

TEST_CASE("Facts are of their functions", "[kernel]") {
  Fixture f;
  Sum x = single(f.read(0));
  auto sumOf = [&](FactorRef left, Sum right) {
    return add(single(left), scaled(std::move(right), Rational(-1)));
  };
  const char *rest = " (group 0 (member 1 () () (match 0))))";
  auto proof = [&](const char *step) {
    return std::string("(zero (") + step + ")" + rest;
  };
  FactorRef both = call("log", single(call("exp", x)));
  CHECK(f.accepts(sumOf(both, x), proof("log-of-exp 0 0 0 0").c_str()));
  FactorRef other = call("log", single(call("sqrt", x)));
  CHECK_FALSE(f.accepts(sumOf(other, x), proof("log-of-exp 0 0 0 0").c_str()));
  FactorRef scaledOne =
      call("log", scaled(single(call("exp", x)), Rational(2)));
  CHECK_FALSE(
      f.accepts(sumOf(scaledOne, x), proof("log-of-exp 0 0 0 0").c_str()));
  FactorRef reversed = call("exp", single(call("log", x)));
  CHECK_FALSE(
      f.accepts(sumOf(reversed, x), proof("exp-of-log 0 0 0 0").c_str()));
  // Of an integer type it is another function.
  FactorRef typed = call("log:i32", single(call("exp:i32", x)));
  CHECK_FALSE(f.accepts(sumOf(typed, x), proof("log-of-exp 0 0 0 0").c_str()));
  CHECK(f.accepts(sumOf(call("exp", {}), constant(Rational(1))),
                  "(zero (at-zero 0 0 0 0) (group 0 (member 1 () ())))"));
  CHECK_FALSE(f.accepts(sumOf(call("reciprocal", {}), constant(Rational(0))),
                        "(zero (at-zero 0 0 0 0))"));
}

TEST_CASE("What leaves a maximum is not negative", "[kernel]") {
  Fixture f;
  Branch twice{{}, {}, scaled(single(f.read(0)), Rational(2))}, zero;
  Branch once{{}, {}, single(f.read(0))};
  Sum sum{{Rational(1), {}, {}, {makeReduce("max", {twice, zero})}},
          {Rational(-2), {}, {}, {makeReduce("max", {once, zero})}}};
  auto take = [](const char *number) {
    return std::string("(zero (take-number 0 0 0 0 (integers ") + number +
           ")) (group 0 (member 1 () () (match 0))))";
  };
  CHECK(f.accepts(sum, take("2 1").c_str()));
  CHECK_FALSE(f.accepts(sum, take("3 1").c_str()));
  CHECK_FALSE(f.accepts(sum, take("-2 1").c_str()));
  CHECK_FALSE(f.accepts(sum, take("2 0").c_str()));
  // A factor of which no sign is known.
  FactorRef factor = f.read(1);
  Branch product{{}, {}, {{Rational(1), {}, {}, {factor, f.read(0)}}}};
  Sum other{{Rational(1), {}, {}, {makeReduce("max", {product, zero})}},
            {Rational(-1), {}, {}, {factor, makeReduce("max", {once, zero})}}};
  const char *step = "(zero (take-factor 0 0 0 0) (group 0 (member 1 () () "
                     "(match 1) (match 0))))";
  CHECK_FALSE(f.accepts(other, step));
  f.assumptions.inputs = {{.isNotNegative = true}};
  CHECK(f.accepts(other, step));
}

TEST_CASE("An element that is an index is any integer", "[kernel]") {
  Fixture f;
  auto element = [](Integer input, Integer i) {
    return Integer::apply(Integer::Kind::Element, input, i);
  };
  Integer i = f.n, j = Integer::size("m");
  Formula alike = Formula::equal(element(0, i), element(0, j));
  CHECK(f.decider.holds({Formula::equal(i, j)}, alike));
  CHECK_FALSE(f.decider.holds({}, alike));
  CHECK_FALSE(f.decider.holds({alike}, Formula::equal(i, j)));
  CHECK_FALSE(
      f.decider.holds({}, Formula::equal(element(0, i), element(1, i))));
  CHECK_FALSE(f.decider.holds({}, Formula::notNegative(element(0, i))));
  CHECK_FALSE(f.decider.holds(
      {Formula::equal(i, j)},
      Formula::equal(element(element(0, 1), i), element(element(0, j), 1))));
  // Reads through it are of that element.
  Sum sum = add(single(f.read(element(1, i))),
                scaled(single(f.read(element(1, j))), Rational(-1)));
  const char *same = "(zero (group 0 (member 1 () () (match 0))))";
  CHECK_FALSE(f.accepts(sum, same));
  f.context.assume({Formula::equal(i, j)});
  CHECK(f.accepts(sum, same));
}

TEST_CASE("Nothing is captured", "[kernel]") {
  Fixture f;
  Variable v = f.names.fresh();
  Integer x = Integer::variable(v);
  // sum over v of a[v], times a[v] of the context.
  Term inner = f.sumOfReads(1, 0, [](Integer y) { return y; });
  Sum bound{inner};
  Sum product = multiply({{Rational(1), {}, {}, {f.read(x)}}}, bound, f.names);
  Sum moved = substitute(
      product, {{v, Integer::variable(product[0].variables[0])}}, f.names);
  REQUIRE(moved.size() == 1);
  CHECK(moved[0].variables[0] != product[0].variables[0]);
  CHECK_FALSE(same(*moved[0].factors[0], *moved[0].factors[1]));
}

TEST_CASE("Texts of proofs are read as they are written", "[kernel]") {
  std::string error;
  for (const char *text :
       {"", "(", ")", "(proof", "(proof) x", "(proof (case))", "proof",
        "(proof (case (needs) (results (zero (group)))))",
        "(proof (case (needs) (results (zero (count 0 0)))))",
        "(proof (case (needs) (results (zero (split 0 0 0 0 (where x))))))",
        "(proof (case (needs) (results (cases (=0 1) (zero)))))",
        "(proof (case (needs) (results (zero (group -1)))))",
        "(proof (case (needs) (results (zero (count 0 0 0 99999999999)))))"}) {
    CAPTURE(text);
    auto cases = parseProof(text, error);
    bool isRefused = !cases || cases->cases.front().results.empty() ||
                     cases->cases.front().results.front().cases.size() == 1;
    CHECK(isRefused);
  }
  std::string deep(100000, '(');
  CHECK_FALSE(parseProof(deep, error));
  std::string name =
      "(proof\n(case\n(needs)\n(results (cases (=0 (+ \"a\\\"\\\\"
      "b\" #3)) (zero) (zero (group 0))))))\n";
  auto cases = parseProof(name, error);
  REQUIRE(cases);
  CHECK(printProof(*cases) == name);
}
