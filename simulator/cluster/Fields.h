//===- Fields.h - The keys of a JSON object, each read once -----*- C++ -*-===//

#ifndef MLC_SIMULATOR_CLUSTER_FIELDS_H
#define MLC_SIMULATOR_CLUSTER_FIELDS_H

#include "runtime/Status.h"
#include "runtime/plan/Json.h"
#include "simulator/cluster/Cluster.h"
#include <string_view>

namespace mlc::simulator {

/// Which values a number may have.
struct Limits {
  double least = 0, most = 0;
  bool openBelow = false; ///< `least` itself is refused
};
/// Rates and sizes.
inline constexpr Limits positive{0, 1e21, true};
/// Up to an hour, from 0 on.
inline constexpr Limits duration{0, 3600, false};

/// The keys of one object. The first error stays in a status that several
/// share; later reads return defaults.
class Fields {
public:
  /// `path` is how errors name the object: "levels[0].", empty for the file.
  Fields(runtime::Status &status, const runtime::json::Value &value,
         std::string path);

  bool ok() const { return status.ok(); }
  /// The value of a key; null, and an error unless `optional`, if it is
  /// missing.
  const runtime::json::Value *find(const char *key, bool optional = false);
  std::string text(const char *key, bool optional = false);
  /// A whole number from 1 to `most`.
  int count(const char *key, int most);
  bool flag(const char *key);
  /// {"value": ..., "source": "..."}.
  Number number(const char *key, const Limits &limits);
  std::optional<Number> maybeNumber(const char *key, const Limits &limits);
  /// The index of a name in `names`.
  template <size_t N>
  size_t choice(const char *key, const std::array<const char *, N> &names) {
    return choice(key,
                  std::vector<std::string_view>(names.begin(), names.end()));
  }
  size_t choice(const char *key, const std::vector<std::string_view> &names);
  /// An array with at least one element.
  const runtime::json::Array *array(const char *key);

  /// An error for each key that was not asked for.
  void finish();
  /// Reports an error at a key.
  void fail(std::string_view key, const std::string &what);
  const std::string &getPath() const { return path; }

private:
  friend double readNumber(Fields &fields, std::string_view key,
                           const runtime::json::Value &value,
                           const Limits &limits);

  runtime::Status &status;
  const runtime::json::Object *object;
  std::string path;
  std::vector<std::string_view> asked;
};

/// A number within its limits; an error at `key` otherwise.
double readNumber(Fields &fields, std::string_view key,
                  const runtime::json::Value &value, const Limits &limits);

} // namespace mlc::simulator

#endif // MLC_SIMULATOR_CLUSTER_FIELDS_H
