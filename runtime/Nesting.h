//===- Nesting.h - Nesting in texts for recursive parsers -------*- C++ -*-===//

#ifndef MLC_RUNTIME_NESTING_H
#define MLC_RUNTIME_NESTING_H

#include <cstddef>
#include <string_view>

namespace mlc::runtime {

/// The deepest nesting of brackets in a text that a recursive parser may read.
constexpr size_t maxNesting = 1000;

/// The position in `text`, JSON or MLIR, of the first bracket, or repeated
/// sign, that is nested deeper than maxNesting; npos if there is none. Strings
/// and comments (`//`) do not count.
size_t findDeepNesting(std::string_view text);

} // namespace mlc::runtime

#endif // MLC_RUNTIME_NESTING_H
