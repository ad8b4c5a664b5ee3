//===- Json.h - JSON texts that people write --------------------*- C++ -*-===//

#ifndef MLC_RUNTIME_PLAN_JSON_H
#define MLC_RUNTIME_PLAN_JSON_H

#include "runtime/Status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace mlc::runtime::json {

struct Value;
/// In the order of the text, which says what is first; no key is there twice.
using Object = std::vector<std::pair<std::string, Value>>;
using Array = std::vector<Value>;

/// Numbers are whole ones where the text has no fraction and no exponent.
struct Value {
  std::variant<std::nullptr_t, bool, int64_t, double, std::string, Array,
               Object>
      data = nullptr;

  template <typename T> const T *get() const { return std::get_if<T>(&data); }
  /// "a number", "an object": what it is, for messages.
  const char *kind() const;
};

/// Reads a JSON text (RFC 8259). Errors, of MLC_BAD_FILE: what is no JSON, with
/// its line and column; a key that is there twice; nesting deeper than 64.
Status parse(std::string_view text, Value &value);

} // namespace mlc::runtime::json

#endif // MLC_RUNTIME_PLAN_JSON_H
