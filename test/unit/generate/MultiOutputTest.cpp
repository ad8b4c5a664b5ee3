//===- MultiOutputTest.cpp - Rules with several results -------------------===//

#include "rewrites/Generate/MultiOutput.h"
#include "rewrites/Generate/Generate.h"
#include <catch2/catch.hpp>

using namespace mlc;
using namespace mlc::generate;

namespace {

std::string ruleOf(const std::string &text, const std::string &concat,
                   const std::string &other) {
  std::string x = "tensor<?x?xf32, #mlc.dims<[m, n]>>",
              y = "tensor<?x?xf32, #mlc.dims<[m, 2 * n]>>",
              arguments = "(%a: " + x + ", %b: " + x + ") -> " + y + " {\n";
  auto side = [&](const std::string &name, const std::string &body) {
    return "  func.func @" + name + arguments + body + "    return %r : " + y +
           "\n  }\n";
  };
  return "rule.def @r \"" + text + "\" {\n" + side("before", concat) +
         side("after", other) + "}\n";
}

const std::string x = "tensor<?x?xf32, #mlc.dims<[m, n]>>",
                  y = "tensor<?x?xf32, #mlc.dims<[m, 2 * n]>>",
                  toX = " : (" + x + ", " + x + ") -> " + x + "\n",
                  toY = " : (" + x + ", " + x + ") -> " + y + "\n",
                  yToY = " : (" + y + ", " + y + ") -> " + y + "\n",
                  axis = " {axis = 1 : i64}";

} // namespace

TEST_CASE("products of one operand are slices of one product") {
  GenerateOptions options;
  options.ops = {"matmul", "concat"};
  options.maxOperators = 3;
  GenerateReport report = generate::generate(options);
  std::set<std::string> texts;
  for (const MultiOutputReport &one : report.multiOutput) {
    REQUIRE(one.outcome);
    CHECK(one.outcome->kind == Verdict::Kind::Proved);
    CHECK(one.outcome->rule.find("mlc.slice") != std::string::npos);
    texts.insert(one.text);
  }
  CHECK(texts ==
        std::set<std::string>{"(matmul(a, b), matmul(a, c)) = slices of "
                              "matmul(a, concat_columns(b, c))",
                              "(matmul(a, b), matmul(c, b)) = slices of "
                              "matmul(concat_rows(a, c), b)"});
  std::map<std::string, std::string> files = ruleFiles(report);
  for (const char *file : {"multi-output.mlir", "basis.mlir"})
    CHECK(files[file].find("(matmul(a, b), matmul(a, c))") !=
          std::string::npos);
}

TEST_CASE("what is copied is not shared") {
  // concat(a + b, a + a) = concat(a, a) + concat(b, a): nothing is saved.
  std::string rule = ruleOf(
      "concat(add(a, b), add(a, a)) = add(concat(a, a), concat(b, a))",
      "    %0 = mlc.add %a, %b" + toX + "    %1 = mlc.add %a, %a" + toX +
          "    %r = mlc.concat %0, %1" + axis + toY,
      "    %0 = mlc.concat %a, %a" + axis + toY + "    %1 = mlc.concat %b, %a" +
          axis + toY + "    %r = mlc.add %0, %1" + yToY);
  CHECK(proveRule(rule, {}).kind == Verdict::Kind::Proved);
  CHECK_FALSE(multiOutputOf(rule, "parts"));
}

TEST_CASE("a rule with several results is proved, not believed") {
  // The wrong order: concat(a + b, a - b) against twice a + b.
  std::string rule = ruleOf(
      "concat(add(a, b), sub(a, b)) = concat(add(a, b), add(a, b))",
      "    %0 = mlc.add %a, %b" + toX + "    %1 = mlc.sub %a, %b" + toX +
          "    %r = mlc.concat %0, %1" + axis + toY,
      "    %0 = mlc.add %a, %b" + toX + "    %1 = mlc.concat %0, %0" + axis +
          toY + "    %r = mlc.neg %1 : (" + y + ") -> " + y + "\n");
  std::optional<MultiOutput> parts = multiOutputOf(rule, "parts");
  REQUIRE(parts);
  CHECK(proveRule(parts->rule, {}).kind == Verdict::Kind::Refuted);
}
