//===- FunctionsTest.cpp - Every fact of the table of functions -----------===//
//
// A row says no more than sampled values bear out, and no less: what it leaves
// out (a parity, a growth, an exact meaning) has a counterexample among them.
//
//===----------------------------------------------------------------------===//

#include "dialects/Definition/ScalarArithmetic.h"
#include "dialects/Evaluator/Evaluator.h"
#include "dialects/Graph/Graph.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/STLExtras.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>
#include <random>

using namespace mlir;
using namespace mlc;

namespace {

constexpr double infinity = Span::infinity;

/// Of both signs, sorted: 0, all magnitudes, whole numbers, halves, a right
/// angle, and a grid that meets none of these.
std::vector<double> samples() {
  std::vector<double> all{0.0};
  auto add = [&](double x) { all.insert(all.end(), {x, -x}); };
  for (int k = -40; k <= 40; ++k)
    add(std::ldexp(1.0, k));
  for (int k = 1; k <= 40; ++k)
    add(0.5 * k);
  add(std::numbers::pi / 2);
  for (double x = 0.0103; x < 10; x += 0.0117)
    add(x);
  llvm::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

/// Where f has a value.
std::vector<double> samplesOf(const ScalarFunction &f) {
  std::vector<double> all = samples();
  llvm::erase_if(all, [&](double x) { return !f.isDefinedAt(x); });
  return all;
}

/// The same number: zeros by their signs, any NaN.
bool isSame(double a, double b) {
  return std::isnan(a) ? std::isnan(b)
                       : a == b && std::signbit(a) == std::signbit(b);
}

template <typename Check> void forNumbers(Check check) {
  for (auto [i, f] : llvm::enumerate(scalarFunctions())) {
    if (f.takes == Takes::Truths)
      continue;
    INFO(f.name.str());
    check(static_cast<UnaryFn>(i), f);
  }
}

/// fn of every element, as the evaluator has it.
std::vector<double>
evaluated(llvm::function_ref<Expr(DefinitionBuilder &, Expr)> fn,
          llvm::ArrayRef<double> values, MLIRContext &context) {
  Type f64 = Float64Type::get(&context);
  int64_t count = values.size();
  IntExpr size = IntExpr::constant(&context, count);
  DefinitionBuilder b(&context, {{{size}, f64}});
  b.result(b.stage("y", {size}, f64,
                   [&](auto i) { return fn(b, b.read(0, {i[0]})); }));
  EvalTensor x = llvm::cantFail(EvalTensor::of<double>({count}, f64, values));
  std::vector<EvalTensor> y = llvm::cantFail(evaluate(b.take(), {x}));
  std::vector<double> result;
  for (int64_t i = 0; i < count; ++i)
    result.push_back(y[0].getDouble(i));
  return result;
}

} // namespace

TEST_CASE("functions are found by their names") {
  MLIRContext context;
  context.loadDialect<MlcDialect>();
  for (auto [i, f] : llvm::enumerate(scalarFunctions())) {
    INFO(f.name.str());
    CHECK(&factsOf(static_cast<UnaryFn>(i)) == &f);
    CHECK(unaryNamed(f.name) == static_cast<UnaryFn>(i));
    CHECK(findByMnemonic(f.mnemonic) == &f);
    CHECK(findByOnnxName(f.onnx.name) == &f);
    CHECK(RegisteredOperationName::lookup("mlc." + f.mnemonic.str(), &context));
    if (!f.operation.empty())
      CHECK(unaryOfOperation(f.operation) == static_cast<UnaryFn>(i));
  }
  for (unsigned i = 0; i <= static_cast<unsigned>(BinaryFn::Threefry); ++i)
    CHECK(binaryNamed(name(static_cast<BinaryFn>(i))) ==
          static_cast<BinaryFn>(i));
  CHECK(unaryNamed("") == std::nullopt);
  CHECK(binaryNamed("exp") == std::nullopt);
  CHECK(unaryOfOperation("") == std::nullopt);
  CHECK(findByOnnxName("") == nullptr);
}

TEST_CASE("special values of functions") {
  forNumbers([](UnaryFn, const ScalarFunction &f) {
    CHECK(isSame(f.evaluate(0.0), f.atZero));
    CHECK(isSame(f.evaluate(infinity), f.atInfinity));
    CHECK(isSame(f.evaluate(-infinity), f.atMinusInfinity));
    CHECK(std::isnan(f.evaluate(ScalarFunction::nan)));
    // Left out where it is no whole number.
    double one = f.evaluate(1.0);
    CHECK(std::isnan(f.atOne) == (one != std::floor(one)));
    if (!std::isnan(f.atOne))
      CHECK(one == f.atOne);
  });
}

TEST_CASE("functions have values where they are defined") {
  forNumbers([](UnaryFn fn, const ScalarFunction &f) {
    bool isPartial = false;
    for (double x : samples()) {
      INFO(x);
      double y = f.evaluate(x);
      bool overflows = f.where.contains(x) && std::fabs(x) > 700;
      CHECK((f.isDefinedAt(x)
                 ? !std::isnan(y) && (std::isfinite(y) || overflows)
                 : !std::isfinite(y)));
      Interval point{x, x}, out;
      Undefined why = applyUnary(fn, point, out);
      CHECK((why == Undefined::None) ==
            (f.isDefinedAt(x) &&
             !(f.interval == interval::trigonometric && !std::isfinite(x))));
      if (!f.isDefinedAt(x)) {
        CHECK(why == f.undefined);
        isPartial = true;
      }
    }
    CHECK(isPartial == !f.isDefinedEverywhere());
    CHECK(isPartial == (f.undefined != Undefined::None));
  });
}

TEST_CASE("parities of functions") {
  forNumbers([](UnaryFn, const ScalarFunction &f) {
    bool isEven = true, isOdd = true;
    for (double x : samplesOf(f)) {
      double y = f.evaluate(x), mirrored = f.evaluate(-x);
      isEven &= mirrored == y;
      isOdd &= mirrored == -y || (x == 0.0 && !f.isDefinedAt(0.0));
    }
    CHECK(isEven == (f.parity == Parity::Even));
    CHECK(isOdd == (f.parity == Parity::Odd));
  });
}

TEST_CASE("ranges of functions") {
  forNumbers([](UnaryFn, const ScalarFunction &f) {
    double least = infinity, most = -infinity;
    bool isEndTaken = false;
    for (double x : samplesOf(f)) {
      double y = f.evaluate(x);
      least = std::min(least, y);
      most = std::max(most, y);
      // Where floats are not yet at the limit.
      isEndTaken |= std::fabs(x) < 4 && (y == f.range.low || y == f.range.high);
    }
    CHECK(f.range.low <= least);
    CHECK(most <= f.range.high);
    // They are the best.
    CHECK((std::isinf(f.range.low) ? least < -20 : least < f.range.low + 1e-4));
    CHECK((std::isinf(f.range.high) ? most > 20 : most > f.range.high - 1e-4));
    CHECK(isEndTaken == (!f.range.isOpen && !f.range.isEverything()));
  });
}

TEST_CASE("growth of functions") {
  forNumbers([](UnaryFn, const ScalarFunction &f) {
    std::vector<double> xs = samplesOf(f);
    bool falls = false, rises = false, rests = false;
    bool followsMagnitude = true, isGapped = f.excludesZero;
    for (size_t i = 1; i < xs.size(); ++i) {
      double x = xs[i - 1], z = xs[i];
      double change = f.evaluate(z) - f.evaluate(x);
      falls |= change < 0;
      rises |= change > 0;
      // Between neighbors that floats tell apart, before they reach a limit.
      bool isClear = z - x > 1e-6 && x > -4 && z < 4;
      rests |= isClear && change == 0;
      followsMagnitude &=
          z <= 0 ? change < 0 || !isClear : x < 0 || change > 0 || !isClear;
    }
    Growth growth =
        rises && !falls   ? rests ? Growth::NonDecreasing : Growth::Increasing
        : falls && !rises ? Growth::Decreasing
        : followsMagnitude && f.parity == Parity::Even ? Growth::WithMagnitude
                                                       : Growth::Unknown;
    // On either side of a pole the growth says nothing of both.
    CHECK(f.growth == (isGapped ? Growth::Unknown : growth));
    bool vanishesElsewhere = false;
    for (double x : xs)
      vanishesElsewhere |= (f.evaluate(x) == 0) != (x == 0);
    if (f.vanishesAtZeroOnly())
      CHECK_FALSE(vanishesElsewhere);
  });
}

TEST_CASE("what is whole, and what is rounded") {
  MLIRContext context;
  context.loadDialect<MlcDialect>();
  Type f32 = Float32Type::get(&context);
  forNumbers([&](UnaryFn fn, const ScalarFunction &f) {
    bool keepsIntegers = true, isRounded = false;
    std::vector<float> singles;
    for (double x : samplesOf(f)) {
      if (x == std::floor(x) && std::fabs(x) < 100)
        keepsIntegers &= f.evaluate(x) == x;
      float single = static_cast<float>(x);
      isRounded |= f.evaluate(single) != f.evaluateFloat(single);
      singles.push_back(single);
    }
    CHECK(f.keepsIntegers == keepsIntegers);
    CHECK(f.isRounded == isRounded);
    // The evaluator's float32 is the value rounded once.
    int64_t count = singles.size();
    IntExpr size = IntExpr::constant(&context, count);
    DefinitionBuilder b(&context, {{{size}, f32}});
    b.result(b.stage("y", {size}, f32,
                     [&](auto i) { return unary(fn, b.read(0, {i[0]})); }));
    EvalTensor x = llvm::cantFail(EvalTensor::of<float>({count}, f32, singles));
    std::vector<EvalTensor> y = llvm::cantFail(evaluate(b.take(), {x}));
    for (int64_t i = 0; i < count; ++i)
      CHECK(isSame(y[0].getDouble(i), f.evaluateFloat(singles[i])));
  });
}

TEST_CASE("intervals hold the values of functions") {
  std::mt19937_64 random(7);
  auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  forNumbers([&](UnaryFn fn, const ScalarFunction &f) {
    unsigned numDecided = 0, numTight = 0;
    for (double middle : samplesOf(f)) {
      double width = std::ldexp(std::fabs(middle) + 1, -int(uniform(0, 40)));
      Interval a{middle - uniform(0, width), middle + uniform(0, width)}, out;
      if (applyUnary(fn, a, out) != Undefined::None)
        continue; // the interval reaches where there is none, or a step
      ++numDecided;
      for (double x : {a.low, middle, a.high, uniform(a.low, a.high),
                       uniform(a.low, a.high)}) {
        REQUIRE(f.isDefinedAt(x));
        double y = f.evaluate(x);
        INFO(x << " in [" << a.low << ", " << a.high << "]");
        CHECK(out.low <= y);
        CHECK(y <= out.high);
      }
      Interval point;
      REQUIRE(applyUnary(fn, {middle, middle}, point) == Undefined::None);
      numTight += point.high - point.low <=
                  1e-14 * std::max(1.0, std::fabs(point.high));
    }
    CHECK(numDecided > 200);
    CHECK(numTight > numDecided * 9 / 10);
  });
  for (auto [i, f] : llvm::enumerate(scalarFunctions()))
    if (f.takes == Takes::Truths) {
      Interval out;
      CHECK(applyUnary(static_cast<UnaryFn>(i), Interval{0, 1}, out) ==
            Undefined::NoMeaning);
    } else {
      // What follows from the ends needs a function that increases.
      CHECK((f.interval || f.growth == Growth::Increasing));
    }
}

TEST_CASE("derivatives of functions are their slopes") {
  MLIRContext context;
  context.loadDialect<MlcDialect>();
  forNumbers([&](UnaryFn, const ScalarFunction &f) {
    std::vector<double> xs = samplesOf(f);
    llvm::erase_if(xs, [](double x) {
      return std::fabs(x) > 8 || (std::fabs(x) < 1e-2 && x != 0.0);
    });
    std::vector<double> slopes = evaluated(
        [&](DefinitionBuilder &b, Expr x) { return f.derivative(b, x); }, xs,
        context);
    unsigned numSmooth = 0;
    for (auto [x, slope] : llvm::zip(xs, slopes)) {
      double h = 1e-5 * std::max(1e-2, std::fabs(x));
      if (!f.isDefinedAt(x - 2 * h) || !f.isDefinedAt(x + 2 * h))
        continue;
      double left = (f.evaluate(x) - f.evaluate(x - h)) / h,
             right = (f.evaluate(x + h) - f.evaluate(x)) / h;
      if (std::fabs(right - left) > 0.02 * (1 + std::fabs(left)))
        continue; // a kink or a step
      ++numSmooth;
      INFO(x);
      CHECK((left + right) / 2 == Approx(slope).epsilon(1e-4).margin(1e-6));
    }
    CHECK(numSmooth > xs.size() * 8 / 10);
  });
}

TEST_CASE("functions in the exact domains") {
  for (auto [i, f] : llvm::enumerate(scalarFunctions())) {
    INFO(f.name.str());
    auto fn = static_cast<UnaryFn>(i);
    Rational fraction{};
    Residue residue{};
    if (f.exact == ExactMeaning::None) {
      CHECK(applyUnary(fn, Rational{1, 2}, fraction) == Undefined::NoMeaning);
      CHECK(applyUnary(fn, Residue{2}, residue) == Undefined::NoMeaning);
      continue;
    }
    bool areFractions = true, areResidues = true;
    for (double x :
         {-4.0, -2.5, -1.0, -0.25, 0.125, 0.5, 1.0, 1.75, 2.0, 8.0}) {
      if (!f.isDefinedAt(x))
        continue;
      double y = f.evaluate(x);
      Rational p{};
      Residue q{}, expected{};
      REQUIRE(fromDouble(x, p) == Undefined::None);
      REQUIRE(fromDouble(x, q) == Undefined::None);
      REQUIRE(fromDouble(y, expected) == Undefined::None);
      REQUIRE(applyUnary(fn, p, fraction) == Undefined::None);
      REQUIRE(applyUnary(fn, q, residue) == Undefined::None);
      areFractions &= std::fabs(toDouble(fraction) - y) < 1e-12;
      // A quotient's double is rounded; its residue is not.
      bool isExact = std::fma(x, y, -1.0) == 0.0 || !f.excludesZero;
      areResidues &= residue.value == expected.value || !isExact;
    }
    CHECK(areFractions == (f.exact != ExactMeaning::Uninterpreted));
    CHECK(areResidues == (f.exact == ExactMeaning::Field));
    // Itself at special points, wherever it has a value there.
    std::pair<Rational, double> special[] = {{{0, 1}, f.atZero},
                                             {{1, 0}, f.atInfinity},
                                             {{-1, 0}, f.atMinusInfinity}};
    for (auto [x, value] : special) {
      Undefined why = applyUnary(fn, x, fraction);
      if (why == Undefined::None)
        CHECK(toDouble(fraction) == value);
      else
        CHECK_FALSE((f.isDefinedAt(toDouble(x)) && std::isfinite(value)));
    }
  }
}

TEST_CASE("costs of functions") {
  for (const ScalarFunction &f : scalarFunctions()) {
    INFO(f.name.str());
    CHECK(f.operations >= 1);
    // What takes a series is a function, and what arithmetic does is none.
    CHECK((f.operations == 1 || f.isFunction));
    CHECK_FALSE((f.isFunction && f.exact == ExactMeaning::Field));
  }
}

TEST_CASE("functions of two arguments") {
  for (unsigned i = 0; i <= static_cast<unsigned>(BinaryFn::Threefry); ++i) {
    auto fn = static_cast<BinaryFn>(i);
    const ScalarFunction2 &f = factsOf(fn);
    INFO(f.name.str());
    Rational out{};
    Residue residue{};
    bool isOfBits = f.takes == Takes::Truths || f.takes == Takes::Words;
    CHECK((applyBinary(fn, Rational{3, 2}, Rational{2, 1}, out) ==
           Undefined::NoMeaning) == isOfBits);
    CHECK((f.exact == ExactMeaning::None) == isOfBits);
    if (isOfBits)
      continue;
    bool isPartial = false;
    for (Rational a : {Rational{-3, 2}, Rational{0, 1}, Rational{2, 1}})
      for (Rational b : {Rational{-1, 1}, Rational{0, 1}, Rational{1, 2}})
        isPartial |= applyBinary(fn, a, b, out) != Undefined::None;
    CHECK(f.isPartial == isPartial);
    // Residues have field operations, and powers with small exponents.
    bool hasResidue =
        applyBinary(fn, Residue{6}, Residue{3}, residue) == Undefined::None;
    CHECK(hasResidue == (f.exact != ExactMeaning::Order));
  }
}
