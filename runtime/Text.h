//===- Text.h - Untrusted text, made fit to be shown ------------*- C++ -*-===//
//
// Names from a model or an artifact may hold any bytes. What is printed goes
// through here: no escape sequence, line or direction mark of a name reaches
// the terminal, and what is printed is UTF-8.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_TEXT_H
#define MLC_RUNTIME_TEXT_H

#include <string>
#include <string_view>

namespace mlc::runtime {

/// `text` in one line: control characters, line and paragraph separators and
/// marks that turn the direction of writing are written as `\n`, `\t`, `\x1b`
/// or `\u202e`, bytes that are no UTF-8 as `\xff`. Everything else, a
/// backslash too, stands for itself. The same text again when applied twice.
std::string printable(std::string_view text);

/// Whether all of `text` is UTF-8.
bool isUtf8(std::string_view text);

/// `text` as a JSON string with its quotes; bytes that are no UTF-8 become
/// U+FFFD.
std::string jsonString(std::string_view text);

} // namespace mlc::runtime

#endif // MLC_RUNTIME_TEXT_H
