//===- TangentTest.cpp - Forward derivatives, and what they are at ties ---===//

#include "dialects/Derivative/Tangent.h"
#include "dialects/Definition/DefinitionText.h"
#include "dialects/Derivative/Adjoint.h"
#include "dialects/Evaluator/Evaluator.h"
#include "dialects/Symbolic/Attributes.h"
#include "llvm/Support/raw_ostream.h"
#include <catch2/catch.hpp>

using namespace mlc;
using llvm::ArrayRef;

namespace {

using Numbers = std::vector<double>;

/// Definitions of vectors x and y of three elements.
struct Texts {
  mlir::MLIRContext context;
  mlir::Type f64;
  llvm::SmallVector<IntExpr> dims;

  Texts() {
    context.loadDialect<MlcDialect>();
    f64 = mlir::Float64Type::get(&context);
    dims = {IntExpr::constant(&context, 3)};
  }

  Definition parse(const std::string &body) {
    DefinitionBuilder builder(&context, {{dims, f64}, {dims, f64}});
    llvm::cantFail(
        parseDefinition("(x, y) " + body, {{}, {}, dims, f64}, builder));
    return builder.take();
  }

  /// Zeros for nothing.
  EvalTensor vector(Numbers numbers) {
    numbers.resize(3);
    EvalTensor native =
        llvm::cantFail(EvalTensor::of<double>({3}, f64, ArrayRef(numbers)));
    return llvm::cantFail(native.toDomain(EvalDomain::Float64));
  }

  /// How `body` moves at x and y when x moves by (1, 10, 100) and y by 1000
  /// times that.
  Numbers slopes(const std::string &body, const Numbers &x, const Numbers &y) {
    Definition definition = parse("Y[i] = " + body);
    TangentDefinition forward = differentiateForward(definition, &context);
    REQUIRE(forward.failure == "");
    EvalOptions options;
    options.domain = EvalDomain::Float64;
    std::vector<EvalTensor> inputs{vector(x), vector(y), vector({1, 10, 100}),
                                   vector({1000, 10000, 100000})};
    EvalTensor result =
        llvm::cantFail(evaluate(forward.definition, inputs, options)).front();
    Numbers numbers;
    for (int64_t i = 0; i < result.getNumElements(); ++i)
      numbers.push_back(result.getDouble(i));
    return numbers;
  }
};

std::string text(const Definition &definition) {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(definition, os);
  return text;
}

} // namespace

TEST_CASE("a tangent stands beside each element that is read") {
  Texts t;
  TangentDefinition forward = differentiateForward(
      t.parse("Y[i] = sum{j < 3}(x<0>[i - j] * y[j])"), &t.context);
  CHECK(forward.failure == "");
  CHECK(text(forward.definition) ==
        "Y[i0 < 3] = sum{i1 < 3}(in0<0>[i0 - i1] * in1[i1])\n"
        "t_Y[i2 < 3] = sum{i3 < 3}(in2<0>[i2 - i3] * in1[i3] + "
        "in0<0>[i2 - i3] * in3[i3])\n");
  CHECK(forward.definition.results.size() == 1);
  CHECK(forward.definition.inputs.size() == 4);
}

TEST_CASE("what does not move has no tangent") {
  Texts t;
  Definition definition = t.parse("Y[i] = x[i] * y[i]");
  Directions directions = Directions::all(definition);
  directions.moves[0] = false;
  TangentDefinition forward =
      differentiateForward(definition, directions, &t.context);
  CHECK(forward.definition.inputs.size() == 3);
  CHECK(text(forward.definition) == "Y[i0 < 3] = in0[i0] * in1[i0]\n"
                                    "t_Y[i1 < 3] = in0[i1] * in2[i1]\n");
  directions.moves[1] = false;
  forward = differentiateForward(definition, directions, &t.context);
  CHECK(text(forward.definition) == "Y[i0 < 3] = in0[i0] * in1[i0]\n"
                                    "t_Y[i2 < 3] = 0\n");
}

TEST_CASE("derivatives at ties are what is written") {
  Texts t;
  // What does not vary has the tie.
  CHECK(t.slopes("max(x[i], 2)", {1, 2, 3}, {}) == Numbers{0, 0, 100});
  CHECK(t.slopes("max(2, x[i])", {1, 2, 3}, {}) == Numbers{0, 0, 100});
  CHECK(t.slopes("min(x[i], 2)", {1, 2, 3}, {}) == Numbers{1, 0, 0});
  CHECK(t.slopes("min(2, x[i])", {1, 2, 3}, {}) == Numbers{1, 0, 0});
  // The first of two that vary.
  CHECK(t.slopes("max(x[i], y[i])", {1, 2, 3}, {2, 2, 2}) ==
        Numbers{1000, 10, 100});
  CHECK(t.slopes("min(x[i], y[i])", {1, 2, 3}, {2, 2, 2}) ==
        Numbers{1, 10, 100000});
  // The first place that has it.
  CHECK(t.slopes("max{j < 3}(x[j]) + 0 * y[i]", {2, 5, 5}, {0, 0, 0}) ==
        Numbers{10, 10, 10});
  CHECK(t.slopes("min{j < 3}(x[j]) + 0 * y[i]", {5, 2, 2}, {0, 0, 0}) ==
        Numbers{10, 10, 10});
  CHECK(t.slopes("max{j < 2, u < 2}(x[j + u])", {0, 4, 4}, {}) ==
        Numbers{10, 10, 10});
  CHECK(t.slopes("abs(x[i])", {-1, 0, 1}, {}) == Numbers{-1, 0, 100});
  CHECK(t.slopes("select(x[i] > 0, x[i], 3 * x[i])", {-1, 0, 1}, {}) ==
        Numbers{3, 30, 100});
  CHECK(t.slopes("floor(x[i]) + x[i]", {-1, 0, 1}, {}) == Numbers{1, 10, 100});
  CHECK(t.slopes("f64(i64(x[i])) + x[i]", {-1, 0, 1}, {}) ==
        Numbers{1, 10, 100});
}

TEST_CASE("products and powers of zeros have derivatives") {
  Texts t;
  CHECK(t.slopes("prod{j < 3}(x[j]) + 0 * y[i]", {0, 3, 4}, {0, 0, 0}) ==
        Numbers{12, 12, 12});
  CHECK(t.slopes("prod{j < 3}(x[j])", {0, 0, 4}, {}) == Numbers{0, 0, 0});
  CHECK(t.slopes("pow(x[i], 2)", {-1, 0, 1}, {}) == Numbers{-2, 0, 200});
  CHECK(t.slopes("pow(x[i], y[i])", {2, 0, 0}, {1, 1, 2}) ==
        Numbers{1 + 2 * std::log(2.0) * 1000, 10, 0});
}

TEST_CASE("out of range the tangent is that of what stands for an element") {
  Texts t;
  CHECK(t.slopes("x<1>[i + 1]", {7, 7, 7}, {}) == Numbers{10, 100, 0});
  CHECK(t.slopes("x<y[i]>[i + 1]", {7, 7, 7}, {7, 7, 7}) ==
        Numbers{10, 100, 100000});
}

namespace {

/// y = f(x, ...) of whatever function or reduction, though it is none of
/// floats.
struct Odd : Texts {
  Definition with(ExprNode node) {
    Definition definition = parse("Y[i] = x[i]");
    Expr &body = definition.stages[0].pieces[0].body;
    while (node.operands.size() < (node.kind == Expr::Kind::Binary ? 2u : 1u))
      node.operands.push_back(body);
    body = Expr(std::make_shared<const ExprNode>(std::move(node)));
    definition.numLoops = 8;
    return definition;
  }
  Definition unary(UnaryFn fn) {
    ExprNode node(Expr::Kind::Unary, f64);
    node.unary = fn;
    return with(std::move(node));
  }
  Definition binary(BinaryFn fn) {
    ExprNode node(Expr::Kind::Binary, f64);
    node.binary = fn;
    return with(std::move(node));
  }
  Definition reduction(ReduceKind kind) {
    ExprNode node(Expr::Kind::Reduce, f64);
    node.reduce = kind;
    node.loops.push_back({7, dims[0]});
    return with(std::move(node));
  }
  std::string reverse(const Definition &definition) {
    return differentiateReverse(definition, {true, true}, &context).failure;
  }
};

} // namespace

TEST_CASE("what has no derivative") {
  Odd t;
  CHECK(whyNotDifferentiable(t.parse("Y[i] = x[i]"), &t.context) == "");
  CHECK(whyNotDifferentiable(t.unary(UnaryFn::Not), &t.context) ==
        "the function not has no derivative");
  CHECK(whyNotDifferentiable(t.binary(BinaryFn::FloorDiv), &t.context) ==
        "the function floordiv has no derivative");
  CHECK(whyNotDifferentiable(t.reduction(ReduceKind::Any), &t.context) ==
        "the reduction any has no derivative");
  CHECK(t.reverse(t.unary(UnaryFn::Not)) ==
        "the function not has no derivative");
  CHECK(t.reverse(t.binary(BinaryFn::Mod)) ==
        "the function mod has no derivative");
  CHECK(t.reverse(t.binary(BinaryFn::Or)) ==
        "the function or has no derivative");
  CHECK(t.reverse(t.reduction(ReduceKind::All)) ==
        "the reduction all has no derivative");
}

TEST_CASE("a reduction over no loop is its value") {
  Odd t;
  ExprNode node(Expr::Kind::Reduce, t.f64);
  node.reduce = ReduceKind::Prod;
  TangentDefinition forward =
      differentiateForward(t.with(std::move(node)), &t.context);
  CHECK_THAT(text(forward.definition),
             Catch::Contains("t_Y[i8 < 3] = in2[i8]"));
}

TEST_CASE("values that the reverse derivative does not recompute") {
  Odd t;
  DefinitionBuilder b(&t.context, {{t.dims, t.f64}});
  IntExpr one = IntExpr::constant(&t.context, 1), two = one + 1;
  auto same = [&](ArrayRef<Expr> i) { return b.read(0, i); };
  unsigned parts = b.piecewiseStage(
      "parts", t.dims, t.f64, {{{one * 0}, {one}, same}, {{one}, {two}, same}});
  b.result(b.stage("Y", t.dims, t.f64, [&](ArrayRef<Expr> i) {
    return b.readStage(parts, i) * b.readStage(parts, i);
  }));
  CHECK(differentiateReverse(b.take(), {true}, &t.context).failure ==
        "an intermediate value that is made of pieces is used");
  Definition turned = t.parse("T[i < 3] = exp(x[i]); Y[i] = T[i]");
  turned.stages[1].reinterprets = TensorId{true, 0};
  CHECK(t.reverse(turned) == "an intermediate value is read with other dims");
  CHECK(whyNotDifferentiable(turned, &t.context) == "");
}
