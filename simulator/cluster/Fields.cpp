//===- Fields.cpp - The keys of a JSON object, each read once -------------===//

#include "simulator/cluster/Fields.h"
#include "runtime/Text.h"
#include "runtime/plan/Nearest.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

using namespace mlc;
using namespace mlc::simulator;
using runtime::Status;
namespace json = runtime::json;

Fields::Fields(Status &status, const json::Value &value, std::string path)
    : status(status), object(value.get<json::Object>()), path(std::move(path)) {
  if (!object && status.ok()) {
    std::string place = this->path.empty()
                            ? "a cluster file"
                            : this->path.substr(0, this->path.size() - 1);
    status =
        Status::badFile(fmt::format("{}: expected an object, not {}",
                                    runtime::printable(place), value.kind()));
  }
}

void Fields::fail(std::string_view key, const std::string &what) {
  if (status.ok())
    status = Status::badFile(runtime::printable(path + std::string(key)) +
                             ": " + what);
}

const json::Value *Fields::find(const char *key, bool optional) {
  if (!ok())
    return nullptr;
  asked.push_back(key);
  for (const auto &[name, value] : *object)
    if (name == key)
      return &value;
  if (!optional)
    fail(key, "is missing; give it");
  return nullptr;
}

std::string Fields::text(const char *key, bool optional) {
  const json::Value *value = find(key, optional);
  if (!value)
    return "";
  const std::string *text = value->get<std::string>();
  if (!text || text->empty()) {
    fail(key, std::string("expected a text, not ") +
                  (text ? "an empty one" : value->kind()));
    return "";
  }
  return *text;
}

int Fields::count(const char *key, int most) {
  const json::Value *value = find(key);
  if (!value)
    return 1;
  const int64_t *number = value->get<int64_t>();
  if (number && *number >= 1 && *number <= most)
    return static_cast<int>(*number);
  fail(key, fmt::format("expected a whole number from 1 to {}, not {}", most,
                        number ? std::to_string(*number) : value->kind()));
  return 1;
}

bool Fields::flag(const char *key) {
  const json::Value *value = find(key, true);
  if (!value)
    return false;
  if (const bool *is = value->get<bool>())
    return *is;
  fail(key, std::string("expected true or false, not ") + value->kind());
  return false;
}

double simulator::readNumber(Fields &fields, std::string_view key,
                             const json::Value &value, const Limits &limits) {
  double number = std::nan("");
  if (const auto *whole = value.get<int64_t>())
    number = static_cast<double>(*whole);
  else if (const auto *real = value.get<double>())
    number = *real;
  else
    fields.fail(key, std::string("expected a number, not ") + value.kind());
  if (!fields.ok())
    return 1;
  if (std::isfinite(number) && number <= limits.most &&
      (limits.openBelow ? number > limits.least : number >= limits.least))
    return number;
  fields.fail(key, fmt::format("expected a number {} {} and at most {}, not {}",
                               limits.openBelow ? "above" : "from",
                               limits.least, limits.most, number));
  return 1;
}

Number Fields::number(const char *key, const Limits &limits) {
  const json::Value *value = find(key);
  if (!value)
    return {1, ""};
  Fields fields(status, *value, path + key + ".");
  Number number;
  if (const json::Value *given = fields.find("value"))
    number.value = readNumber(fields, "value", *given, limits);
  number.source = fields.text("source");
  fields.finish();
  return number;
}

std::optional<Number> Fields::maybeNumber(const char *key,
                                          const Limits &limits) {
  if (!find(key, true))
    return std::nullopt;
  return number(key, limits);
}

size_t Fields::choice(const char *key,
                      const std::vector<std::string_view> &names) {
  const std::string name = text(key);
  auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end() || !ok())
    return ok() ? static_cast<size_t>(found - names.begin()) : 0;
  std::string_view nearest = runtime::nearestName(name, names);
  fail(key,
       fmt::format(
           "'{}' is unknown; {}give one of {}", runtime::printable(name),
           nearest.empty() ? "" : fmt::format("do you mean '{}'? or ", nearest),
           fmt::join(names, ", ")));
  return 0;
}

const json::Array *Fields::array(const char *key) {
  const json::Value *value = find(key);
  if (!value)
    return nullptr;
  const json::Array *array = value->get<json::Array>();
  if (!array || array->empty()) {
    fail(key, std::string("expected an array with at least one element, not ") +
                  (array ? "an empty one" : value->kind()));
    return nullptr;
  }
  return array;
}

void Fields::finish() {
  if (!ok())
    return;
  for (const auto &[name, value] : *object) {
    if (std::find(asked.begin(), asked.end(), name) != asked.end())
      continue;
    std::string_view nearest = runtime::nearestName(name, asked);
    return fail(
        name,
        nearest.empty()
            ? fmt::format("is unknown; there are {}", fmt::join(asked, ", "))
            : fmt::format("is unknown; do you mean '{}'?", nearest));
  }
}
