//===- ProgramTest.cpp - Expressions, serialization, validation -----------===//

#include "Programs.h"

#include <catch2/catch.hpp>

#include <random>

using namespace mlc::runtime;

namespace {

Expr binary(Expr::Op op, int64_t l, int64_t r) {
  return Expr::binary(op, Expr::constant(l), Expr::constant(r));
}

int64_t valueOf(const Expr &expr) {
  int64_t value = 0;
  REQUIRE(evaluate(expr, nullptr, value).ok());
  return value;
}

/// One of everything that can be serialized.
Program everything() {
  Program p = scaleProgram();
  SymbolId k = p.addSymbol({"K", Symbol::FromTensor, 0, 0, -5, 7});
  p.checks.push_back({Check::Divides, 0, 1, "node 'a': needs a multiple"});
  p.steps[0].as<LaunchStep>().scratch = p.addConstant(100);
  p.steps[0].as<LaunchStep>().work = p.addConstant(INT64_MIN);
  p.steps[0].inPlace = {{0, 0}};
  p.steps.push_back(Step::library("topk", {0}, {2, 3}, {0, 1}));
  p.steps.push_back(Step::bindSymbol(k, 1, 3));
  return p;
}

} // namespace

TEST_CASE("floor division and modulo follow the divisor", "[program]") {
  for (int64_t l = -7; l <= 7; ++l)
    for (int64_t r : {-3, -2, -1, 1, 2, 3}) {
      int64_t q = valueOf(binary(Expr::FloorDiv, l, r));
      int64_t m = valueOf(binary(Expr::Mod, l, r));
      CHECK(q * r + m == l);
      CHECK((m == 0 || (m < 0) == (r < 0)));
      CHECK(std::abs(m) < std::abs(r));
    }
  CHECK(valueOf(binary(Expr::Min, -1, 2)) == -1);
  CHECK(valueOf(binary(Expr::Max, -1, 2)) == 2);
}

TEST_CASE("overflow and division by zero are errors", "[program]") {
  int64_t value;
  CHECK_FALSE(evaluate(binary(Expr::Add, INT64_MAX, 1), nullptr, value).ok());
  CHECK_FALSE(evaluate(binary(Expr::Mul, INT64_MIN, -1), nullptr, value).ok());
  CHECK_FALSE(evaluate(binary(Expr::FloorDiv, 1, 0), nullptr, value).ok());
  CHECK_FALSE(
      evaluate(binary(Expr::FloorDiv, INT64_MIN, -1), nullptr, value).ok());
  CHECK_FALSE(evaluate(binary(Expr::Mod, INT64_MIN, -1), nullptr, value).ok());
}

TEST_CASE("expressions as text", "[program]") {
  Program p;
  Expr w = Expr::symbol(p.addSymbol({"W"})),
       h = Expr::symbol(p.addSymbol({"H"}));
  CHECK(toString(p, Expr::constant(2) * w + Expr::constant(1)) == "2*W + 1");
  CHECK(toString(p, (w + Expr::constant(-3)) * h) == "(W - 3)*H");
  CHECK(toString(p, Expr::binary(Expr::FloorDiv, w + h, Expr::constant(2))) ==
        "(W + H) floordiv 2");
  CHECK(toString(p, Expr::binary(Expr::Max, w, h)) == "max(W, H)");
}

TEST_CASE("serialization is exact", "[program]") {
  Program p = everything(), q;
  std::vector<uint8_t> bytes = serialize(p);
  REQUIRE(deserialize(bytes.data(), bytes.size(), q).ok());
  CHECK(serialize(q) == bytes);
  CHECK(q.symbols[1].min == -5);
  CHECK(q.steps[0].as<LaunchStep>().work == p.steps[0].as<LaunchStep>().work);
  CHECK(q.exprs == p.exprs);
  CHECK(q.metadata == p.metadata);
  CHECK(q.checks[0].message == p.checks[0].message);
  CHECK(q.steps[2].as<BindStep>().element == 3);
}

TEST_CASE("no damage crashes the reader or the validator", "[program]") {
  std::vector<uint8_t> bytes = serialize(everything());
  auto tryRead = [](const std::vector<uint8_t> &damaged) {
    // A copy of the exact size, so that ASan sees a read behind the end.
    std::vector<uint8_t> exact(damaged);
    Program p;
    if (deserialize(exact.data(), exact.size(), p).ok() &&
        validate(p, 64).ok()) {
      liveRanges(p);
      for (const Expr &e : p.exprs)
        toString(p, e);
    }
  };
  for (size_t i = 0; i < bytes.size(); ++i)
    tryRead({bytes.begin(), bytes.begin() + i});
  for (size_t i = 0; i < bytes.size(); ++i)
    for (unsigned change : {1, 2, 4, 8, 16, 32, 64, 128, 255, 127}) {
      std::vector<uint8_t> damaged = bytes;
      damaged[i] ^= change;
      tryRead(damaged);
    }
  std::mt19937 rng(7);
  for (unsigned i = 0; i < 20000; ++i) {
    std::vector<uint8_t> damaged = bytes;
    for (unsigned j = 0; j < 1 + rng() % 6; ++j)
      damaged[rng() % damaged.size()] = rng();
    tryRead(damaged);
  }
}

TEST_CASE("the validator names what is wrong", "[program]") {
  REQUIRE(validate(scaleProgram(), 16).ok());
  auto broken = [](auto change) {
    Program p = scaleProgram();
    change(p);
    Status status = validate(p, 16);
    CHECK(status.code == MLC_BAD_FILE);
    return status.message;
  };
  using Catch::Contains;
  CHECK_THAT(broken([](Program &p) { p.buffers[1].offset = 64; }),
             Contains("outside the weights"));
  CHECK_THAT(broken([](Program &p) { p.buffers[3].source = 3; }),
             Contains("alias"));
  CHECK_THAT(broken([](Program &p) { p.steps[0].outputs = {0}; }),
             Contains("writes no buffer of the arena"));
  CHECK_THAT(broken([](Program &p) { p.steps[0].inputs = {2}; }),
             Contains("nothing has written"));
  CHECK_THAT(broken([](Program &p) { p.steps.clear(); }),
             Contains("never written"));
  CHECK_THAT(broken([](Program &p) { p.symbols[0].kind = Symbol::FromTensor; }),
             Contains("before it is bound"));
  CHECK_THAT(broken([](Program &p) { p.symbols[0].index = 1; }),
             Contains("not the symbol itself"));
  CHECK_THAT(broken([](Program &p) { p.exprs[2].code.clear(); }),
             Contains("expression"));
  CHECK_THAT(
      broken([](Program &p) { p.exprs[2].code.push_back({Expr::Add, 0}); }),
      Contains("lacks operands"));
  CHECK_THAT(broken([](Program &p) { p.steps[0].as<LaunchStep>().tasks = 99; }),
             Contains("a launch step names no expression as its tasks"));
}
