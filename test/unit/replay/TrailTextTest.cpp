//===- TrailTextTest.cpp - Texts that are no trails -----------------------===//

#include "Fixture.h"

using namespace mlc;
using namespace mlc::test;

namespace {

const std::string wholeStep =
    R"({"rule": "r", "hash": "h", "arguments": [0, null], "before": [1], )"
    R"("integers": {"a": "2"}, "reals": {"e": "0.5"}, "places": [], "gain": 0})";

std::string whole(const std::string &step = wholeStep,
                  const std::string &chosen = "[[1], [2, 0, 1]]",
                  const std::string &outputs = "[2]") {
  return R"([{"function": "main", "steps": [)" + step + R"(], "chosen": )" +
         chosen + R"(, "outputs": )" + outputs + "}]";
}

std::string refusal(const std::string &text) {
  auto read = parseTrails(text);
  return read ? "" : llvm::toString(read.takeError());
}

} // namespace

TEST_CASE("a trail is read as it was written") {
  auto read = parseTrails(whole());
  REQUIRE(static_cast<bool>(read));
  CHECK(read->front().steps[0].arguments == std::vector<TermId>{0, noTerm});
  CHECK(read->front().chosen[1].term == 2);
  CHECK(read->front().chosen[1].operands == std::vector<TermId>{0, 1});
  std::string text;
  llvm::raw_string_ostream(text) << toJson(*read);
  auto again = parseTrails(text);
  REQUIRE(static_cast<bool>(again));
  CHECK(again->front().steps[0].arguments == std::vector<TermId>{0, noTerm});
  CHECK(again->front().outputs == std::vector<TermId>{2});
}

TEST_CASE("a trail that lacks a part is not read") {
  for (const char *part : {"rule", "hash", "arguments", "before", "integers",
                           "reals", "places", "gain"}) {
    INFO(part);
    CHECK_SAYS(refusal(whole(replaced(
                   wholeStep, std::string("\"") + part + "\"", "\"other\""))),
               "missing value");
  }
  for (const char *part : {"function", "steps", "chosen", "outputs"}) {
    INFO(part);
    CHECK_SAYS(refusal(replaced(whole(), std::string("\"") + part + "\"",
                                "\"other\"")),
               "missing value");
  }
}

TEST_CASE("a term is a number that terms have") {
  // 4294967297 would be 1 in 32 bits.
  for (const char *term :
       {"-1", "2147483647", "4294967297", "1.5", "\"1\"", "[1]", "true"}) {
    INFO(term);
    const std::string list = std::string("[") + term + "]";
    CHECK_SAYS(refusal(whole(replaced(wholeStep, "[1]", list))),
               "expected number of a term");
    CHECK_SAYS(refusal(whole(wholeStep, "[" + list + "]")),
               "expected number of a term");
    CHECK_SAYS(refusal(whole(wholeStep, "[]", list)),
               "expected number of a term");
  }
  CHECK_SAYS(refusal(whole(replaced(wholeStep, "[1]", "1"))),
             "expected array of terms");
  CHECK_SAYS(refusal(whole(wholeStep, "[]", "2")), "expected array of terms");
}

TEST_CASE("what is chosen is a term and its operands") {
  for (const char *chosen : {"[[]]", "[[null]]", "[[1, null]]"})
    CHECK_SAYS(refusal(whole(wholeStep, chosen)),
               "expected a term and its operands");
}
