//===- Nesting.h - Texts for recursive parsers ------------------*- C++ -*-===//

#ifndef MLC_RUNTIME_NESTING_H
#define MLC_RUNTIME_NESTING_H

#include <cstddef>
#include <string_view>

namespace mlc::runtime {

/// How deeply brackets may be nested in a text that a recursive parser reads.
constexpr size_t maxNesting = 1000;

/// Where `text`, JSON or MLIR, has the first bracket, or sign before a sign,
/// that is nested more than maxNesting deep; npos where it has none. Strings
/// and comments (`//`) do not count.
size_t findDeepNesting(std::string_view text);

} // namespace mlc::runtime

#endif // MLC_RUNTIME_NESTING_H
