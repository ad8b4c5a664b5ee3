//===- PlanOrigin.h - What a plan was made for ------------------*- C++ -*-===//

#ifndef MLC_RUNTIME_PLAN_PLANORIGIN_H
#define MLC_RUNTIME_PLAN_PLANORIGIN_H

#include "runtime/Status.h"

#include <optional>
#include <string>
#include <string_view>

namespace mlc::runtime {

namespace json {
struct Value;
}

/// The model, the cluster and the prediction that a plan was made with. A plan
/// that names none is for all.
struct PlanOrigin {
  struct Model {
    std::string file;
    /// BLAKE3 of the file's bytes, 64 hexadecimal digits; empty: not given.
    std::string blake3;
  };
  struct Prediction {
    /// Of a step, and the least that any plan takes.
    double seconds = 0, bound = 0;
  };
  std::optional<Model> model;
  /// A file, or "cluster:NAME"; empty: none.
  std::string cluster;
  std::optional<Prediction> predicted;

  /// Whether a plan's key is one of these.
  static bool isKey(std::string_view key);
  /// Reads the value of such a key; errors do not name the key.
  Status read(std::string_view key, const json::Value &value);
  /// The value of such a key as JSON; empty if it is not given.
  std::string text(std::string_view key) const;

  /// An error if `hash`, of the file `name`, is another model's.
  Status checkModel(const std::string &name, const std::string &hash) const;
};

} // namespace mlc::runtime

#endif // MLC_RUNTIME_PLAN_PLANORIGIN_H
