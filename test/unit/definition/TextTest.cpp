//===- TextTest.cpp - Definitions as text, and back -----------------------===//

#include "dialects/Definition/DefinitionText.h"
#include "dialects/Evaluator/Evaluator.h"
#include "dialects/Symbolic/Attributes.h"
#include <catch2/catch.hpp>

using namespace mlc;

namespace {

/// Parses texts over two operands w [a, b] and s [a] into a result [a, b].
struct Texts {
  mlir::MLIRContext context;
  mlir::Type f32;
  llvm::SmallVector<IntExpr> dims;
  std::vector<IntExpr> integers;
  std::vector<RealAttr> reals;

  Texts() {
    context.loadDialect<MlcDialect>();
    f32 = mlir::Float32Type::get(&context);
    for (const char *name : {"a", "b"}) {
      dims.push_back(IntExpr::symbol(&context, name));
      integers.push_back(dims.back());
    }
    reals.push_back(RealAttr::getSymbolic(&context, "eps"));
  }

  llvm::Expected<Definition> parse(llvm::StringRef text) {
    DefinitionBuilder builder(&context, {{dims, f32}, {{dims[0]}, f32}});
    if (llvm::Error error =
            parseDefinition(text, {integers, reals, dims, f32}, builder))
      return std::move(error);
    return builder.take();
  }

  /// The text of what `body` means, after the header of two integers.
  std::string printed(const std::string &body) {
    llvm::Expected<Definition> definition =
        parse("(w, s; a, b; eps) Y[i, j] = " + body);
    if (!definition)
      return llvm::toString(definition.takeError());
    std::string text = printDefinition(*definition, {"w", "s"}).text;
    return text.substr(text.find('=') + 2);
  }

  std::string errorOf(llvm::StringRef text) {
    llvm::Expected<Definition> definition = parse(text);
    return definition ? "no error" : llvm::toString(definition.takeError());
  }
};

} // namespace

TEST_CASE("a text prints as itself") {
  Texts t;
  for (const char *body :
       {"w[i, j]", "w[i, j] * s[i] / sqrt(s[i] + eps)",
        "w<0>[i - 2, j + a * b]", "sum{u < a, v < b}(w[u, v] * s[u])",
        "(w[i, j] + s[i]) * (s[i] - (w[i, j] - 1))",
        "select(i < floordiv(a, 2), w[i, j], -1.5) / f32(a + 1)",
        "max{u < a}(max(s[u], 0.25)) - neg(s[i])",
        "select(not(i == j), f32(mod(j, a)), inf)", "w[i, j] * (1.5 + 2)",
        "w<0>[floordiv(i + j, b), mod(i, b)]"}) {
    INFO(body);
    CHECK(t.printed(body) == body);
  }
}

TEST_CASE("earlier stages are read by name") {
  Texts t;
  const char *text = "(w, s; b, a) T[i < b] = sum{j < a}(w[j, i]); "
                     "Y[u, v] = T[v] / T<1>[u]";
  t.reals.clear();
  std::swap(t.integers[0], t.integers[1]);
  llvm::Expected<Definition> definition = t.parse(text);
  REQUIRE(bool(definition));
  CHECK(definition->stages.size() == 2);
  DefinitionText printed = printDefinition(*definition, {"w", "s"});
  CHECK(printed.text == text);
  CHECK(printed.integers == std::vector<std::string>{"b", "a"});
}

TEST_CASE("integers stand for what the operator says they are") {
  Texts t;
  t.integers = {IntExpr::constant(&t.context, 3), t.dims[0] * 2};
  llvm::Expected<Definition> definition =
      t.parse("(w, s; k, m; eps) Y[i, j] = w<0>[i + k, j + m]");
  REQUIRE(bool(definition));
  CHECK(printDefinition(*definition, {"w", "s"}).text ==
        "(w, s; a) Y[i, j] = w<0>[i + 3, j + 2 * a]");
}

TEST_CASE("errors say what is wrong and where") {
  Texts t;
  auto error = [&](const std::string &body) {
    return t.errorOf("(w, s; a, b; eps) Y[i, j] = " + body);
  };
  using Catch::Contains;
  CHECK_THAT(error("w[i, j] +"), Contains("at character 38: expected a name"));
  CHECK_THAT(error("w[j, i]"),
             Contains("may be out of range") && Contains("w<0>[..]"));
  CHECK_THAT(error("w[i]"), Contains("'w' has 2 dims, not 1"));
  CHECK_THAT(error("q[i]"), Contains("'q' is not known"));
  CHECK_THAT(error("i"), Contains("expected f32, got index"));
  CHECK_THAT(error("w<0>[i / 2, j]"), Contains("divided by floordiv"));
  CHECK_THAT(error("w<0>[floordiv(i, j), j]"), Contains("without loops"));
  CHECK_THAT(error("w<0>[mod(i, 0), j]"), Contains("must be positive"));
  CHECK_THAT(error("sum{u}(1)"), Contains("expected `i < extent`"));
  CHECK_THAT(error("sum{i < a}(1)"), Contains("has a meaning already"));
  CHECK_THAT(error("sin(1, 2)"), Contains("takes 1 operands, not 2"));
  CHECK_THAT(error("frob(1)"), Contains("no function 'frob'"));
  CHECK_THAT(error("1..2"), Contains("is no number"));
  CHECK_THAT(error("s[i] Z"), Contains("expected ';' or the end"));
  CHECK_THAT(error(std::string(1000, '(')), Contains("nested too deeply"));
  CHECK_THAT(error(std::string(1000, '-')), Contains("nested too deeply"));
  std::string sum = "1", power = "(a + b + 1)";
  for (int i = 0; i < 3000; ++i)
    sum += "+1";
  CHECK_THAT(error(sum), Contains("too long"));
  for (int i = 0; i < 7; ++i)
    power = "(" + power + "*" + power + ")";
  CHECK_THAT(error("f32(" + power + ")"), Contains("too large"));
  CHECK_THAT(t.errorOf("(w; a, b; eps) Y[i, j] = 1"),
             Contains("names 1 tensors, but there are 2"));
  CHECK_THAT(t.errorOf("(w, s; a, a; eps) Y[i, j] = 1"),
             Contains("'a' has a meaning already"));
  CHECK_THAT(t.errorOf("(w, s; a, b; eps) Y[i] = 1"),
             Contains("2 loops without bounds"));
  CHECK_THAT(t.errorOf(std::string(70000, ' ')), Contains("64 KiB"));
  CHECK_THAT(t.errorOf(""), Contains("expected '('"));
}

TEST_CASE("the value is what the text says") {
  Texts t;
  llvm::Expected<Definition> definition =
      t.parse("(w, s; a, b; eps) Y[i, j] = w<7>[i + 1, j] * s[i] + eps - "
              "sum{u < b}(f32(u))");
  REQUIRE(bool(definition));
  EvalOptions options;
  options.symbols = {{"a", 2}, {"b", 2}};
  options.parameters = {{"eps", 0.5}};
  auto tensor = [&](llvm::ArrayRef<float> values,
                    llvm::ArrayRef<int64_t> dims) {
    auto type = mlir::RankedTensorType::get(dims, t.f32);
    auto result =
        EvalTensor::fromAttr(mlir::DenseElementsAttr::get(type, values));
    REQUIRE(bool(result));
    return *result;
  };
  auto results =
      evaluate(*definition,
               {tensor({1, 2, 3, 4}, {2, 2}), tensor({10, 100}, {2})}, options);
  REQUIRE(bool(results));
  std::vector<double> values;
  for (int i = 0; i < 4; ++i)
    values.push_back((*results)[0].getDouble(i));
  CHECK(values == std::vector<double>{29.5, 39.5, 699.5, 699.5});
}
