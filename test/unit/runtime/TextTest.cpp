//===- TextTest.cpp - Untrusted text, made fit to be shown ----------------===//

#include "runtime/Text.h"
#include "runtime/Nesting.h"

#include <catch2/catch.hpp>
#include <cstring>

using namespace mlc::runtime;

TEST_CASE("text is shown in one line without control characters", "[text]") {
  CHECK(printable("plain ä 漢 🙂 a\\b") == "plain ä 漢 🙂 a\\b");
  CHECK(printable("a\nb\tc\rd") == "a\\nb\\tc\\rd");
  CHECK(printable("\x1b[31mred\x7f") == "\\x1b[31mred\\x7f");
  CHECK(printable(std::string_view("a\0b", 3)) == "a\\x00b");
  // The eight-bit form of escape, direction marks and line separators.
  CHECK(printable("\xc2\x9b"
                  "31m") == "\\u009b31m");
  CHECK(printable("\xe2\x80\xae") == "\\u202e");
  CHECK(printable("\xe2\x80\xa8") == "\\u2028");
  CHECK(printable("\xff\xfe") == "\\xff\\xfe");
  std::string once = printable("\n\x1b\xff\xe2\x80\xae");
  CHECK(printable(once) == once);
}

TEST_CASE("what is UTF-8", "[text]") {
  CHECK(isUtf8(""));
  CHECK(isUtf8("ä 漢 🙂"));
  for (const char *bad : {"\x80", "\xc3", "\xc0\xaf", "\xe0\x80\xaf",
                          "\xed\xa0\x80", "\xf4\x90\x80\x80",
                          "\xf0\x80\x80\x80", "\xf8\x88\x80\x80\x80", "a\xff"})
    CHECK_FALSE(isUtf8(bad));
}

TEST_CASE("JSON strings are valid whatever the bytes are", "[text]") {
  CHECK(jsonString("a\"b\\c\nd") == "\"a\\\"b\\\\c\\u000ad\"");
  CHECK(jsonString("\xff") == "\"\xef\xbf\xbd\"");
  CHECK(jsonString("ä\x1b") == "\"ä\\u001b\"");
}

TEST_CASE("brackets that are nested deeply", "[text]") {
  auto nested = [](size_t depth, const char *open, const char *close) {
    std::string text;
    for (size_t i = 0; i < depth; ++i)
      text += open;
    for (size_t i = 0; i < depth; ++i)
      text += close;
    return text;
  };
  const char *kinds[][2] = {
      {"[", "]"}, {"{\"a\": ", "}"}, {"tuple<", ">"}, {"(", ")"}, {"- ", ""}};
  for (auto [open, close] : kinds) {
    CHECK(findDeepNesting(nested(maxNesting, open, close)) ==
          std::string::npos);
    CHECK(findDeepNesting(nested(maxNesting + 1, open, close)) ==
          maxNesting * std::strlen(open) + (*open == 't' ? 5 : 0));
  }
  // Neither strings and comments, nor arrows and comparisons.
  std::string many;
  for (size_t i = 0; i < 2 * maxNesting; ++i)
    many += "\"[\\\"(\" // <<{\n a -> b <= c >= d -1 [] ";
  CHECK(findDeepNesting(many) == std::string::npos);
}
