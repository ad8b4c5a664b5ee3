//===- TextTest.cpp - Untrusted text, made fit to be shown ----------------===//

#include "runtime/Text.h"

#include <catch2/catch.hpp>

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
