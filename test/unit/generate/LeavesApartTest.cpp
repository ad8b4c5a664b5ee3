//===- LeavesApartTest.cpp - Rules of more leaves than were found ---------===//

#include "rewrites/Generate/Generate.h"
#include <catch2/catch.hpp>

using namespace mlc;
using namespace mlc::generate;

namespace {

struct Basis {
  explicit Basis(std::vector<std::string> ops) {
    GenerateOptions options;
    options.ops = std::move(ops);
    options.maxOperators = 2;
    report = generate::generate(options);
    for (const auto *families : {&report.families, &report.widened})
      for (const FamilyReport &family : *families)
        for (const std::string &variant : family.variants)
          if (family.isBasis)
            texts.insert(variant);
  }
  GenerateReport report;
  std::set<std::string> texts;
};

} // namespace

TEST_CASE("a rule about one leaf that holds of two is about two") {
  Basis basis({"relu", "concat"});
  // Found is relu(concat(a, a)), of two operators on either side.
  CHECK(basis.texts.count(
      "concat_rows(relu(a), relu(b)) = relu(concat_rows(a, b))"));
  CHECK_FALSE(basis.texts.count(
      "concat_rows(relu(a), relu(a)) = relu(concat_rows(a, a))"));
  // Four leaves, of which enumeration has at most three of one type.
  CHECK(basis.texts.count(
      "concat_columns(concat_rows(a, b), concat_rows(c, d)) = "
      "concat_rows(concat_columns(a, c), concat_columns(b, d))"));
  CHECK(basis.report.countWidened(Verdict::Kind::Proved) ==
        basis.report.widened.size());
}

TEST_CASE("a leaf that must be one stays one") {
  // relu(a) + relu(b) is not relu(a + b).
  Basis basis({"relu", "add"});
  CHECK(basis.texts.count("add(relu(a), relu(a)) = relu(add(a, a))"));
  for (const FamilyReport &family : basis.report.widened)
    for (const std::string &variant : family.variants)
      CHECK(variant != "add(relu(a), relu(b)) = relu(add(a, b))");
}

TEST_CASE("a leaf that is shared on one side stays shared on the other") {
  Basis basis({"matmul", "concat"});
  CHECK(basis.texts.count("concat_columns(matmul(a, b), matmul(a, c)) = "
                          "matmul(a, concat_columns(b, c))"));
}
