//===- EvaluatorTest.cpp - Definitions on concrete tensors ----------------===//

#include "Fixture.h"
#include "dialects/Evaluator/FixedProgram.h"
#include "dialects/Evaluator/Guided.h"
#include <cmath>

using namespace mlir;
using namespace mlc;
using llvm::Expected;

TEST_CASE_METHOD(Fixture, "a read out of range names its place") {
  DefinitionBuilder b(&context, {{{c(4)}, f32}});
  b.result(b.stage("y", {c(4)}, f32,
                   [&](auto i) { return b.read(0, {i[0] + c(1)}); }));
  auto [failure, text] =
      failureOf(evaluate(b.take(), {floats({4}, {1, 2, 3, 4})}));
  CHECK(failure == EvalFailure::Undefined);
  CHECK(text == "stage y at [3]: read out of range");
}

TEST_CASE_METHOD(Fixture, "only the branch that is taken must be defined") {
  DefinitionBuilder b(&context, {{{c(4)}, f32}});
  b.result(b.stage("y", {c(4)}, f32, [&](auto i) {
    return mlc::select(compare(ComparePredicate::LT, i[0], b.index(3)),
                       b.read(0, {i[0] + c(1)}), b.constant(f32, 9));
  }));
  auto results =
      llvm::cantFail(evaluate(b.take(), {floats({4}, {1, 2, 3, 4})}));
  for (int i = 0; i < 4; ++i)
    CHECK(results[0].getDouble(i) == (i < 3 ? i + 2 : 9));
}

TEST_CASE_METHOD(Fixture, "what is masked or dead need not be defined") {
  auto evaluateWith = [&](auto last) {
    DefinitionBuilder b(&context, {{{c(4)}, f32}});
    unsigned log = b.stage("log", {c(4)}, f32, [&](auto i) {
      return unary(UnaryFn::Log, b.read(0, {i[0]}));
    });
    b.result(b.stage("y", {c(4)}, f32, [&](auto i) {
      return last(b, b.readStage(log, {i[0]}), b.read(0, {i[0]}));
    }));
    EvalOptions options;
    options.domain = EvalDomain::Interval;
    EvalTensor x =
        llvm::cantFail(floats({4}, {1, -2, 0, 4}).toDomain(options.domain));
    return evaluate(b.take(), {x}, options);
  };
  using B = DefinitionBuilder;
  auto masked = llvm::cantFail(evaluateWith([&](B &b, Expr log, Expr x) {
    Expr zero = b.constant(f32, 0);
    return mlc::select(compare(ComparePredicate::GT, x, zero), log, zero);
  }));
  CHECK(masked[0].getDouble(0) == 0.0);
  CHECK(masked[0].getDouble(1) == 0.0);
  CHECK(masked[0].getDouble(3) == Approx(std::log(4.0)));
  auto dead =
      llvm::cantFail(evaluateWith([](B &, Expr, Expr x) { return x + x; }));
  CHECK(dead[0].getDouble(1) == -4.0);
  auto [failure, text] = failureOf(evaluateWith(
      [&](B &b, Expr log, Expr) { return b.constant(f32, 0) * log; }));
  CHECK(failure == EvalFailure::Undefined);
  CHECK(text == "stage y at [1]: logarithm of a number that is not positive");
}

TEST_CASE_METHOD(Fixture, "a truth value may decide beside undefined ones") {
  Type i1 = IntegerType::get(&context, 1);
  auto evaluateWith = [&](auto last) {
    DefinitionBuilder b(&context, {{{c(4)}, f32}});
    b.result(b.stage("y", {c(4)}, i1, [&](auto i) {
      auto isLogPositive = [&](Expr index) {
        return compare(ComparePredicate::GT,
                       unary(UnaryFn::Log, b.read(0, {index})),
                       b.constant(f32, 0));
      };
      return last(b, isLogPositive, i[0]);
    }));
    EvalOptions options;
    options.domain = EvalDomain::Interval;
    EvalTensor x =
        llvm::cantFail(floats({4}, {3, -2, 0, 4}).toDomain(options.domain));
    return evaluate(b.take(), {x}, options);
  };
  auto isPositive = [&](DefinitionBuilder &b, Expr i) {
    return compare(ComparePredicate::GT, b.read(0, {i}), b.constant(f32, 0));
  };
  auto both = llvm::cantFail(evaluateWith([&](auto &b, auto log, Expr i) {
    return binary(BinaryFn::And, log(i), isPositive(b, i));
  }));
  for (int i = 0; i < 4; ++i)
    CHECK(both[0].getInt(i) == (i == 0 || i == 3));
  auto any = llvm::cantFail(evaluateWith([&](auto &b, auto log, Expr) {
    return b.reduce(ReduceKind::Any, {c(4)}, [&](auto r) { return log(r[0]); });
  }));
  CHECK(any[0].getInt(1) == 1);
  // Two have no value, and the others do not decide.
  auto [failure, text] = failureOf(evaluateWith([&](auto &b, auto log, Expr) {
    return b.reduce(ReduceKind::All, {c(4)}, [&](auto r) { return log(r[0]); });
  }));
  CHECK(failure == EvalFailure::Undefined);
  auto [either, why] = failureOf(evaluateWith([&](auto &b, auto log, Expr i) {
    return binary(BinaryFn::Or, log(i), isPositive(b, i));
  }));
  CHECK(why == "stage y at [1]: logarithm of a number that is not positive");
}

TEST_CASE_METHOD(Fixture, "integers are not divided by 0, read or not") {
  DefinitionBuilder b(&context, {{{c(2)}, i64}});
  b.stage("quotient", {c(2)}, i64,
          [&](auto i) { return b.constantInt(i64, 6) / b.read(0, {i[0]}); });
  b.result(
      b.stage("y", {c(2)}, i64, [&](auto i) { return b.read(0, {i[0]}); }));
  EvalTensor x =
      llvm::cantFail(EvalTensor::of<int64_t>({2}, i64, {int64_t(3), 0}));
  auto [failure, text] = failureOf(evaluate(b.take(), {x}));
  CHECK(text == "stage quotient at [1]: division by zero");
}

TEST_CASE_METHOD(Fixture, "what is the same everywhere is a splat") {
  DefinitionBuilder b(&context, {{{s("N"), c(1000)}, f32}});
  unsigned row = b.stage("sum", {s("N")}, f32, [&](auto i) {
    return b.reduce(ReduceKind::Sum, {c(1000)},
                    [&](auto r) { return b.read(0, {i[0], r[0]}); });
  });
  b.result(row);
  Definition definition = b.take();
  EvalTensor ones = llvm::cantFail(EvalTensor::allocate(
      {int64_t(1) << 30, 1000}, f32, EvalDomain::Native, /*isSplat=*/true));
  *static_cast<float *>(ones.getMutableData()) = 1;
  auto results = llvm::cantFail(evaluate(definition, {ones}));
  CHECK(results[0].isSplat());
  CHECK(results[0].getNumElements() == int64_t(1) << 30);
  CHECK(results[0].getDouble(12345) == 1000);
}

TEST_CASE_METHOD(Fixture, "reductions run in index order in float32") {
  // 2^24 + 1 + 1 differs by order in f32; both ways of running agree.
  std::vector<float> values(3000, 1.0f);
  values[0] = 16777216.0f;
  DefinitionBuilder b(&context, {{{c(3000)}, f32}});
  auto total = [&](IntExpr rows) {
    return b.stage("y", {rows}, f32, [&](auto) {
      return b.reduce(ReduceKind::Sum, {c(3000)},
                      [&](auto r) { return b.read(0, {r[0]}); });
    });
  };
  b.result(total(c(1)));
  auto alone = llvm::cantFail(evaluate(b.take(), {floats({3000}, values)}));
  CHECK(alone[0].getDouble(0) == 16777216.0);
  // Many lanes: row i starts at i.
  DefinitionBuilder m(&context, {{{c(3000)}, f32}});
  m.result(m.stage("y", {c(200)}, f32, [&](auto i) {
    return m.reduce(ReduceKind::Sum, {c(2000)},
                    [&](auto r) { return m.read(0, {r[0] + i[0]}); });
  }));
  auto many = llvm::cantFail(evaluate(m.take(), {floats({3000}, values)}));
  CHECK(many[0].getDouble(0) == 16777216.0);
  CHECK(many[0].getDouble(1) == 2000.0);
}

TEST_CASE_METHOD(Fixture, "limits stop what is too large") {
  DefinitionBuilder b(&context, {{{s("N")}, f32}});
  b.result(b.stage("y", {s("N"), s("N"), s("N"), s("N")}, f32, [&](auto i) {
    return b.read(0, {i[0]}) + b.read(0, {i[3]});
  }));
  Definition definition = b.take();
  EvalOptions options;
  options.maxBytes = 1000;
  EvalTensor x =
      llvm::cantFail(EvalTensor::random({100000}, f32, EvalDomain::Native, 1));
  auto [failure, text] = failureOf(evaluate(definition, {x}, options));
  CHECK(failure == EvalFailure::Limit);
  // No overflow either: 100000^4 elements.
  auto [again, more] = failureOf(evaluate(definition, {x}));
  CHECK(again == EvalFailure::Limit);
  options = EvalOptions();
  options.maxSteps = 50;
  EvalTensor small =
      llvm::cantFail(EvalTensor::random({3}, f32, EvalDomain::Native, 1));
  auto [steps, reason] = failureOf(evaluate(definition, {small}, options));
  CHECK(steps == EvalFailure::Limit);
}

TEST_CASE_METHOD(Fixture, "requirements and symbols are checked") {
  DefinitionBuilder b(&context, {{{s("N")}, f32}});
  b.require(s("N"), ComparePredicate::EQ, s("M") * 2, "N must be 2 M");
  b.result(b.stage("y", {s("M")}, f32,
                   [&](auto i) { return b.read(0, {i[0] * c(2)}); }));
  Definition definition = b.take();
  EvalTensor x = floats({4}, {1, 2, 3, 4});
  auto [unbound, text] = failureOf(evaluate(definition, {x}));
  CHECK(unbound == EvalFailure::Input);
  EvalOptions options;
  options.symbols["M"] = 3;
  auto [wrong, message] = failureOf(evaluate(definition, {x}, options));
  CHECK(wrong == EvalFailure::Requirement);
  CHECK(message.find("N must be 2 M") != std::string::npos);
  options.symbols["M"] = 2;
  auto results = llvm::cantFail(evaluate(definition, {x}, options));
  CHECK(results[0].getDouble(1) == 3);
}

TEST_CASE_METHOD(Fixture, "parameters have values in rules") {
  DefinitionBuilder b(&context, {{{c(2)}, f32}});
  b.result(b.stage("y", {c(2)}, f32, [&](auto i) {
    return b.read(0, i) + b.real(f32, RealAttr::getSymbolic(&context, "eps"));
  }));
  Definition definition = b.take();
  EvalTensor x = floats({2}, {1, 2});
  CHECK(failureOf(evaluate(definition, {x})).first == EvalFailure::Input);
  EvalOptions options;
  options.parameters["eps"] = 0.25;
  auto results = llvm::cantFail(evaluate(definition, {x}, options));
  CHECK(results[0].getDouble(1) == 2.25);
}

TEST_CASE_METHOD(Fixture, "index arithmetic that is not linear") {
  // A digit reversal through division, remainder and data.
  DefinitionBuilder b(&context, {{{c(35)}, f32}, {{c(35)}, i64}});
  Type index = IndexType::get(&context);
  b.result(b.stage("y", {c(35)}, f32, [&](auto i) {
    Expr swapped = mlc::mod(i[0], c(5)) * c(7) + floorDiv(i[0], c(5));
    Expr picked = mlc::cast(b.read(1, {swapped}), index);
    return b.readOr(0, {picked}, b.constant(f32, -1));
  }));
  std::vector<float> x(35);
  std::vector<int64_t> places(35);
  for (int i = 0; i < 35; ++i) {
    x[i] = i;
    places[i] = i * 2; // half of them out of range
  }
  EvalTensor indices =
      llvm::cantFail(EvalTensor::of<int64_t>({35}, i64, places));
  auto results = llvm::cantFail(evaluate(b.take(), {floats({35}, x), indices}));
  for (int i = 0; i < 35; ++i) {
    int place = (i % 5 * 7 + i / 5) * 2;
    CHECK(results[0].getDouble(i) == (place < 35 ? place : -1));
  }
}

TEST_CASE_METHOD(Fixture, "attributes come and go unchanged") {
  std::vector<float> values(1000);
  for (int i = 0; i < 1000; ++i)
    values[i] = i * 0.5f;
  EvalTensor tensor = floats({10, 100}, values);
  ElementsAttr attr = llvm::cantFail(tensor.toAttr());
  CHECK(isa<DenseResourceElementsAttr>(attr));
  EvalTensor back = llvm::cantFail(EvalTensor::fromAttr(attr));
  for (int i = 0; i < 1000; ++i)
    REQUIRE(back.sameElement(tensor, i));
  EvalTensor bools = llvm::cantFail(
      EvalTensor::of<char>({3}, IntegerType::get(&context, 1), {1, 0, 1}));
  ElementsAttr small = llvm::cantFail(bools.toAttr());
  CHECK(isa<DenseElementsAttr>(small));
  EvalTensor again = llvm::cantFail(EvalTensor::fromAttr(small));
  for (int i = 0; i < 3; ++i)
    CHECK(again.getInt(i) == (i != 1));
}

TEST_CASE_METHOD(Fixture,
                 "results of operators in one definition are rounded") {
  for (Type small :
       {Type(Float16Type::get(&context)), Type(BFloat16Type::get(&context))})
    for (bool endsOperator : {false, true}) {
      // x + 1/4096 is x in both types.
      DefinitionBuilder b(&context, {{{c(2)}, f32}});
      unsigned sum = b.stage("sum", {c(2)}, small, [&](auto i) {
        return mlc::cast(b.read(0, {i[0]}) + b.constant(f32, 1.0 / 4096),
                         small);
      });
      unsigned square = b.stage("square", {c(2)}, small, [&](auto i) {
        Expr x = b.readStage(sum, {i[0]});
        return x * x;
      });
      b.result(b.stage("y", {c(2)}, f32, [&](auto i) {
        return mlc::cast(b.readStage(square, {i[0]}), f32);
      }));
      Definition definition = b.take();
      for (unsigned stage : {sum, square})
        definition.stages[stage].endsOperator = endsOperator;
      auto results =
          llvm::cantFail(evaluate(definition, {floats({2}, {1.0f, 3.0f})}));
      // One operator computes in f32 up to its result, which is f32 here.
      float more = endsOperator ? 0.0f : 1.0f / 4096;
      CHECK(results[0].getDouble(0) == (1.0f + more) * (1.0f + more));
      CHECK(results[0].getDouble(1) == (3.0f + more) * (3.0f + more));
    }
}

TEST_CASE_METHOD(Fixture, "a fixed program runs operators again and again") {
  // The sum of each row, and x - that in the order of one dim.
  DefinitionBuilder rows(&context, {{{s("N"), s("M")}, f32}});
  rows.result(rows.stage("sum", {s("N")}, f32, [&](auto i) {
    return rows.reduce(ReduceKind::Sum, {s("M")},
                       [&](auto r) { return rows.read(0, {i[0], r[0]}); });
  }));
  DefinitionBuilder rest(&context, {{{s("N"), s("M")}, f32}, {{s("N")}, f32}});
  rest.result(rest.stage("rest", {s("N"), s("M")}, f32, [&](auto i) {
    return rest.read(0, {i[0], i[1]}) - rest.read(1, {i[0]});
  }));
  DefinitionBuilder flat(&context, {{{s("N"), s("M")}, f32}});
  flat.result(flat.reinterpret("flat", 0, {s("N") * s("M")}));
  Definition sum = rows.take(), difference = rest.take(), one = flat.take();

  EvalOptions options;
  options.symbols = {{"N", 2}, {"M", 3}};
  FixedProgram program(options);
  unsigned x = program.addInput({2, 3}, f32);
  unsigned y = llvm::cantFail(program.add(sum, {x}));
  program.setResult(llvm::cantFail(
      program.add(one, {llvm::cantFail(program.add(difference, {x, y}))})));
  FixedProgram view(options);
  view.setResult(llvm::cantFail(view.add(one, {view.addInput({2, 3}, f32)})));
  for (float scale : {1.0f, -2.0f}) {
    float values[6], out[6];
    for (int i = 0; i < 6; ++i)
      values[i] = scale * static_cast<float>(i);
    REQUIRE(program.run({values}, out));
    for (int i = 0; i < 6; ++i)
      CHECK(out[i] == values[i] - (i < 3 ? scale * 3 : scale * 12));
    REQUIRE(view.run({values}, out));
    for (int i = 0; i < 6; ++i)
      CHECK(out[i] == values[i]);
  }
  // Sizes that are not the operator's.
  CHECK(failureOf([&]() -> Expected<std::vector<EvalTensor>> {
          Expected<unsigned> made = program.add(sum, {y});
          REQUIRE_FALSE(static_cast<bool>(made));
          return made.takeError();
        }())
            .first == EvalFailure::Input);
}

TEST_CASE_METHOD(Fixture, "a fingerprint has an element or has none") {
  DefinitionBuilder b(&context, {{{c(3)}, f32}, {{c(3)}, f32}});
  b.result(b.stage("y", {c(3)}, f32, [&](auto i) {
    Expr x = b.read(0, {i[0]}), y = b.read(1, {i[0]});
    return mlc::select(compare(ComparePredicate::LT, x, y), x * y, y / x);
  }));
  EvalOptions options;
  options.domain = EvalDomain::Guided;
  FixedProgram program(options);
  unsigned x = program.addInput({3}, f32), y = program.addInput({3}, f32);
  program.setResult(llvm::cantFail(program.add(b.take(), {x, y})));
  // Of the last two, nothing tells the order.
  Guided near = guided(1.0);
  near.residue += 1;
  Guided left[] = {guided(2), guided(4), near},
         right[] = {guided(3), guided(3), guided(1.0)}, out[3];
  REQUIRE(program.run({left, right}, out));
  CHECK(out[0].residue == guided(6).residue);
  CHECK(out[1].residue == guided(0.75).residue);
  CHECK(std::isnan(out[2].guide));

  DefinitionBuilder beyond(&context, {{{c(3)}, f32}});
  beyond.result(beyond.stage(
      "y", {c(3)}, f32, [&](auto i) { return beyond.read(0, {i[0] + c(1)}); }));
  FixedProgram outside(options);
  outside.setResult(
      llvm::cantFail(outside.add(beyond.take(), {outside.addInput({3}, f32)})));
  CHECK_FALSE(outside.run({left}, out));
}
