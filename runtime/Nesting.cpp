//===- Nesting.cpp - Nesting in texts for recursive parsers ---------------===//

#include "runtime/Nesting.h"

#include <algorithm>
#include <cstring>

namespace mlc::runtime {

size_t findDeepNesting(std::string_view text) {
  size_t depth = 0, signs = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i], next = i + 1 < text.size() ? text[i + 1] : 0;
    if (std::strchr(" \t\r\n", c))
      continue;
    if (c == '-' && next != '>') {
      if (++signs > maxNesting)
        return i;
      continue;
    }
    signs = 0;
    switch (c) {
    case '"':
      for (++i; i < text.size() && text[i] != '"'; ++i)
        if (text[i] == '\\')
          ++i;
      break;
    case '/':
      if (next == '/')
        i = std::min(text.find('\n', i), text.size());
      break;
    case '-': // ->
      ++i;
      break;
    case '<':
    case '>':
      if (next == '=') {
        ++i;
        break;
      }
      [[fallthrough]];
    default:
      if (std::strchr("([{<", c) && ++depth > maxNesting)
        return i;
      if (std::strchr(")]}>", c) && depth > 0)
        --depth;
    }
  }
  return std::string_view::npos;
}

} // namespace mlc::runtime
