//===- Json.cpp - JSON texts that people write ----------------------------===//

#include "runtime/plan/Json.h"
#include "runtime/Text.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <unordered_set>

namespace mlc::runtime::json {

const char *Value::kind() const {
  static const char *const kinds[] = {"null",     "true or false", "a number",
                                      "a number", "a string",      "an array",
                                      "an object"};
  return kinds[data.index()];
}

namespace {

class Parser {
public:
  explicit Parser(std::string_view text) : text(text) {}

  Status run(Value &value) {
    skipSpace();
    if (readValue(value, 0)) {
      skipSpace();
      if (at < text.size())
        fail("the end of the text");
    }
    if (problem.empty())
      return Status::success();
    return Status::badFile(place() + ": " + problem);
  }

private:
  static constexpr unsigned maxDepth = 64;

  std::string place() const {
    std::string_view before = text.substr(0, at);
    const size_t newline = before.rfind('\n');
    const size_t column =
        newline == std::string_view::npos ? at + 1 : at - newline;
    return "line " +
           std::to_string(1 + std::count(before.begin(), before.end(), '\n')) +
           ", column " + std::to_string(column);
  }

  bool fail(const std::string &expected) {
    if (problem.empty())
      problem = "expected " + expected;
    return false;
  }

  void skipSpace() {
    while (at < text.size() &&
           std::string_view(" \t\r\n").find(text[at]) != std::string_view::npos)
      ++at;
  }

  bool take(char c) {
    skipSpace();
    if (at >= text.size() || text[at] != c)
      return false;
    ++at;
    return true;
  }

  bool takeWord(std::string_view word) {
    if (text.substr(at, word.size()) != word)
      return false;
    at += word.size();
    return true;
  }

  bool readValue(Value &value, unsigned depth) {
    skipSpace();
    if (depth > maxDepth)
      return fail("no more than 64 values in one another");
    if (at >= text.size())
      return fail("a value");
    switch (text[at]) {
    case '{':
      return readObject(value.data.emplace<Object>(), depth);
    case '[':
      return readArray(value.data.emplace<Array>(), depth);
    case '"':
      return readString(value.data.emplace<std::string>());
    default:
      break;
    }
    if (takeWord("null"))
      return true;
    for (bool is : {true, false})
      if (takeWord(is ? "true" : "false")) {
        value.data = is;
        return true;
      }
    return readNumber(value);
  }

  bool readObject(Object &object, unsigned depth) {
    ++at;
    if (take('}'))
      return true;
    std::unordered_set<std::string> keys;
    do {
      skipSpace();
      if (at >= text.size() || text[at] != '"')
        return fail("a key, a string");
      const size_t begin = at;
      std::string key;
      if (!readString(key))
        return false;
      if (!keys.insert(key).second) {
        at = begin;
        problem = "the key " + jsonString(key) + " is there twice";
        return false;
      }
      if (!take(':'))
        return fail("':'");
      object.emplace_back(std::move(key), Value());
      if (!readValue(object.back().second, depth + 1))
        return false;
    } while (take(','));
    return take('}') || fail("',' or '}'");
  }

  bool readArray(Array &array, unsigned depth) {
    ++at;
    if (take(']'))
      return true;
    do {
      array.emplace_back();
      if (!readValue(array.back(), depth + 1))
        return false;
    } while (take(','));
    return take(']') || fail("',' or ']'");
  }

  bool readNumber(Value &value) {
    const size_t begin = at;
    auto digits = [&] {
      const size_t first = at;
      while (at < text.size() && text[at] >= '0' && text[at] <= '9')
        ++at;
      return at - first;
    };
    takeWord("-");
    const size_t first = at, whole = digits();
    if (!whole || (whole > 1 && text[first] == '0')) {
      at = begin;
      return fail("a value");
    }
    bool isWhole = true;
    if (takeWord(".")) {
      isWhole = false;
      if (!digits())
        return fail("a digit");
    }
    if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
      isWhole = false;
      ++at;
      if (!takeWord("+"))
        takeWord("-");
      if (!digits())
        return fail("a digit");
    }
    const std::string number(text.substr(begin, at - begin));
    errno = 0;
    if (isWhole)
      value.data =
          static_cast<int64_t>(std::strtoll(number.c_str(), nullptr, 10));
    else
      value.data = std::strtod(number.c_str(), nullptr);
    if (errno == ERANGE) {
      at = begin;
      return fail("a number that 64 bits hold");
    }
    return true;
  }

  bool readString(std::string &string) {
    ++at;
    while (at < text.size() && text[at] != '"') {
      const auto c = static_cast<unsigned char>(text[at]);
      if (c < 0x20)
        return fail("no control character in a string");
      if (c != '\\') {
        string += text[at++];
        continue;
      }
      ++at;
      if (!readEscape(string))
        return false;
    }
    if (at >= text.size())
      return fail("'\"', the end of a string");
    ++at;
    return isUtf8(string) || fail("a string of UTF-8");
  }

  bool readEscape(std::string &string) {
    static constexpr std::string_view from = "\"\\/bfnrt",
                                      to = "\"\\/\b\f\n\r\t";
    if (at < text.size())
      if (size_t i = from.find(text[at]); i != std::string_view::npos) {
        string += to[i];
        ++at;
        return true;
      }
    uint32_t code = 0, low = 0;
    if (!readCode(code))
      return false;
    if (code >= 0xd800 && code < 0xdc00) {
      if (!takeWord("\\") || !readCode(low) || low < 0xdc00 || low > 0xdfff)
        return fail("the second half of a pair of surrogates");
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    append(string, code);
    return true;
  }

  bool readCode(uint32_t &code) {
    if (!takeWord("u") || at + 4 > text.size())
      return fail("an escape that JSON has");
    for (int i = 0; i < 4; ++i, ++at) {
      const char c = text[at];
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0)
        return fail("four hexadecimal digits");
      code = code * 16 + digit;
    }
    return true;
  }

  static void append(std::string &string, uint32_t code) {
    auto rest = [&](int shift) {
      string += static_cast<char>(0x80 | (code >> shift & 0x3f));
    };
    if (code < 0x80) {
      string += static_cast<char>(code);
    } else if (code < 0x800) {
      string += static_cast<char>(0xc0 | code >> 6);
      rest(0);
    } else if (code < 0x10000) {
      string += static_cast<char>(0xe0 | code >> 12);
      rest(6);
      rest(0);
    } else {
      string += static_cast<char>(0xf0 | code >> 18);
      rest(12);
      rest(6);
      rest(0);
    }
  }

  std::string_view text;
  size_t at = 0;
  std::string problem;
};

} // namespace

Status parse(std::string_view text, Value &value) {
  return Parser(text).run(value);
}

} // namespace mlc::runtime::json
