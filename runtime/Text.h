//===- Text.h - Makes untrusted text safe to show ---------------*- C++ -*-===//
//
// Names from a model or an artifact may hold any bytes. These functions make
// them safe to print: no escape sequence, line break or direction mark of a
// name reaches the terminal, and the output is UTF-8.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_TEXT_H
#define MLC_RUNTIME_TEXT_H

#include <string>
#include <string_view>

namespace mlc::runtime {

/// `text` in one line: control characters, line and paragraph separators and
/// direction marks become `\n`, `\t`, `\x1b` or `\u202e`, bytes that are not
/// UTF-8 `\xff`. Everything else, even a backslash, stays. Idempotent.
std::string printable(std::string_view text);

/// Whether all of `text` is UTF-8.
bool isUtf8(std::string_view text);

/// `text` as a JSON string with its quotes; bytes that are not UTF-8 become
/// U+FFFD.
std::string jsonString(std::string_view text);

} // namespace mlc::runtime

#endif // MLC_RUNTIME_TEXT_H
