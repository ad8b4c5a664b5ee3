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
/// In the order of the text; keys are unique.
using Object = std::vector<std::pair<std::string, Value>>;
using Array = std::vector<Value>;

/// Numbers without fraction and exponent are integers.
struct Value {
  std::variant<std::nullptr_t, bool, int64_t, double, std::string, Array,
               Object>
      data = nullptr;

  template <typename T> const T *get() const { return std::get_if<T>(&data); }
  /// "a number", "an object": the kind for messages.
  const char *kind() const;
};

/// Reads a JSON text (RFC 8259). MLC_BAD_FILE, with line and column, for
/// invalid JSON, duplicate keys and nesting deeper than 64.
Status parse(std::string_view text, Value &value);

} // namespace mlc::runtime::json

#endif // MLC_RUNTIME_PLAN_JSON_H
