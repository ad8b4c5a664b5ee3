//===- Xml.cpp - Text in XML and HTML -------------------------------------===//

#include "simulator/timeline/Xml.h"
#include "runtime/Text.h"

using namespace mlc;

/// Appends a line without breaks; control characters are not valid in XML.
static void addLine(std::string_view line, std::string &result) {
  for (char c : runtime::printable(line))
    switch (c) {
    case '&':
      result += "&amp;";
      break;
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '\'':
      result += "&#39;";
      break;
    case '"':
      result += "&quot;";
      break;
    default:
      result += c;
    }
}

std::string simulator::escapeXml(std::string_view text) {
  std::string result;
  for (;;) {
    const size_t end = text.find('\n');
    addLine(text.substr(0, end), result);
    if (end == std::string_view::npos)
      return result;
    result += '\n';
    text.remove_prefix(end + 1);
  }
}
