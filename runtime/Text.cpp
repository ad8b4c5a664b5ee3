//===- Text.cpp - Makes untrusted text safe to show -----------------------===//

#include "runtime/Text.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>

namespace mlc::runtime {

namespace {

/// A UTF-8 character, or one invalid byte (`length` 0).
struct Character {
  uint32_t code = 0;
  size_t length = 0;
};

Character decode(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80)
    return {byte(0), 1};
  size_t length = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < length)
    return {};
  uint32_t code = byte(0) & (0x7f >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80)
      return {};
    code = code << 6 | (byte(i) & 0x3f);
  }
  // Overlong, a surrogate, or beyond Unicode.
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < least[length] || code > 0x10ffff ||
      (code >= 0xd800 && code < 0xe000))
    return {};
  return {code, length};
}

bool isControl(uint32_t c) { return c < 0x20 || (c >= 0x7f && c < 0xa0); }

/// Line separators, and marks that change how later text is shown.
bool misleads(uint32_t c) {
  return c == 0x061c || c == 0x200e || c == 0x200f ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) ||
         c == 0xfeff;
}

void appendCode(std::string &to, const char *format, uint32_t code) {
  char buffer[16];
  std::snprintf(buffer, sizeof(buffer), format, static_cast<unsigned>(code));
  to += buffer;
}

template <typename Good, typename Bad>
void forEachCharacter(std::string_view text, Good good, Bad bad) {
  while (!text.empty()) {
    Character c = decode(text);
    if (c.length)
      good(c.code, text.substr(0, c.length));
    else
      bad(static_cast<unsigned char>(text[0]));
    text.remove_prefix(c.length ? c.length : 1);
  }
}

} // namespace

std::string printable(std::string_view text) {
  std::string result;
  forEachCharacter(
      text,
      [&](uint32_t code, std::string_view bytes) {
        if (code == '\n')
          result += "\\n";
        else if (code == '\t')
          result += "\\t";
        else if (code == '\r')
          result += "\\r";
        else if (isControl(code))
          appendCode(result, code < 0x80 ? "\\x%02x" : "\\u%04x", code);
        else if (misleads(code))
          appendCode(result, "\\u%04x", code);
        else
          result += bytes;
      },
      [&](unsigned char byte) { appendCode(result, "\\x%02x", byte); });
  return result;
}

bool isUtf8(std::string_view text) {
  bool valid = true;
  forEachCharacter(
      text, [](uint32_t, std::string_view) {},
      [&](unsigned char) { valid = false; });
  return valid;
}

std::string jsonString(std::string_view text) {
  std::string result = "\"";
  forEachCharacter(
      text,
      [&](uint32_t code, std::string_view bytes) {
        if (code == '"' || code == '\\')
          result += '\\';
        // Control characters beyond ASCII are valid JSON but bad for terminals.
        if (isControl(code) || misleads(code))
          appendCode(result, "\\u%04x", code);
        else
          result += bytes;
      },
      [&](unsigned char) { result += "\xef\xbf\xbd"; });
  return result + "\"";
}

} // namespace mlc::runtime
