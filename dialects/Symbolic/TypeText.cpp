//===- TypeText.cpp - Types as users read them ----------------------------===//

#include "dialects/Symbolic/TypeText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using llvm::StringRef;

namespace mlc {

/// An element type by its name in the runtime.
static std::string elementText(StringRef type) {
  if (type == "i1")
    return "bool";
  return type.starts_with("ui") ? type.drop_front().str() : type.str();
}

/// A dim or a list of them, without spaces around products.
static std::string closeText(StringRef dim) {
  std::string text;
  while (!dim.empty()) {
    if (dim.consume_front(" * "))
      text += '*';
    else if (dim.consume_front(" - 1 * "))
      text += " - ";
    else if (dim.consume_front("-1 * "))
      text += '-';
    else {
      text += dim.front();
      dim = dim.drop_front();
    }
  }
  return text;
}

std::string dimText(IntExpr dim) { return closeText(dim.str()); }

std::string typeText(mlir::Type element, llvm::ArrayRef<IntExpr> dims) {
  std::string text, type;
  llvm::raw_string_ostream(type) << element;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(dims, os);
  return elementText(type) + "[" + closeText(text) + "]";
}

/// "?x3xf32, #mlc.dims<[N, 3]>" as a type; empty for other texts.
static std::string plainType(StringRef text) {
  auto [element, encoding] = text.split(", ");
  std::string dims;
  while (!element.empty() && (element[0] == '?' || llvm::isDigit(element[0]))) {
    auto [dim, rest] = element.split('x');
    dims += (dims.empty() ? "" : ", ") + dim.str();
    element = rest;
  }
  if (encoding.consume_front("#mlc.dims<[") && encoding.consume_back("]>"))
    dims = closeText(encoding);
  else if (!encoding.empty())
    return "";
  return elementText(element) + "[" + dims + "]";
}

std::string withPlainTypes(StringRef message) {
  constexpr StringRef start = "tensor<";
  std::string text;
  for (size_t at; (at = message.find(start)) != StringRef::npos;) {
    text += message.take_front(at);
    message = message.drop_front(at + start.size());
    size_t end = 0;
    for (unsigned depth = 1; end < message.size(); ++end)
      if (message[end] == '<')
        ++depth;
      else if (message[end] == '>' && --depth == 0)
        break;
    std::string type = plainType(message.take_front(end));
    if (end == message.size() || type.empty()) {
      text += start;
      continue;
    }
    text += type;
    message = message.drop_front(end + 1);
  }
  return text + message.str();
}

} // namespace mlc
