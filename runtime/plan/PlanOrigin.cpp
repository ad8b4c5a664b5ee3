//===- PlanOrigin.cpp - What a plan was made for --------------------------===//

#include "runtime/plan/PlanOrigin.h"
#include "runtime/Text.h"
#include "runtime/plan/Json.h"

#include <algorithm>
#include <charconv>
#include <cmath>

using namespace mlc::runtime;

static Status expected(const char *what, const json::Value &value) {
  return Status::badFile(std::string("expected ") + what + ", not " +
                         value.kind());
}

static bool isHash(const std::string &text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

static Status readModel(const json::Value &value, PlanOrigin::Model &model) {
  const auto *object = value.get<json::Object>();
  if (!object)
    return expected("an object, {\"file\": FILE, \"blake3\": HASH}", value);
  for (const auto &[key, one] : *object) {
    if (key != "file" && key != "blake3")
      return Status::badFile(jsonString(key) + " is no key of a model; there "
                                               "are file, blake3");
    const auto *text = one.get<std::string>();
    if (!text)
      return Status::badFile(jsonString(key) + ": expected a string, not " +
                             one.kind());
    (key == "file" ? model.file : model.blake3) = *text;
    if (key == "blake3" && !isHash(*text))
      return Status::badFile("\"blake3\": expected 64 hexadecimal digits in "
                             "lower case, the hash of the file's bytes, not " +
                             jsonString(*text));
  }
  return model.file.empty()
             ? Status::badFile("names no \"file\"; give the model's")
             : Status::success();
}

static Status readPrediction(const json::Value &value,
                             PlanOrigin::Prediction &predicted) {
  const auto *object = value.get<json::Object>();
  if (!object)
    return expected("an object, {\"seconds\": S, \"bound\": S}", value);
  for (const auto &[key, one] : *object) {
    if (key != "seconds" && key != "bound")
      return Status::badFile(jsonString(key) + " is no key of a prediction; "
                                               "there are seconds, bound");
    const auto *whole = one.get<int64_t>();
    const auto *real = one.get<double>();
    if (!whole && !real)
      return Status::badFile(jsonString(key) +
                             ": expected a number of seconds, not " +
                             one.kind());
    const double seconds = whole ? static_cast<double>(*whole) : *real;
    if (seconds < 0)
      return Status::badFile(jsonString(key) + ": expected seconds from 0 on");
    (key == "seconds" ? predicted.seconds : predicted.bound) = seconds;
  }
  return Status::success();
}

bool PlanOrigin::isKey(std::string_view key) {
  return key == "model" || key == "cluster" || key == "predicted";
}

Status PlanOrigin::read(std::string_view key, const json::Value &value) {
  if (key == "model")
    return readModel(value, model.emplace());
  if (key == "predicted")
    return readPrediction(value, predicted.emplace());
  const auto *name = value.get<std::string>();
  if (!name || name->empty())
    return name ? Status::badFile("expected a file, or cluster:NAME, not \"\"")
                : expected("a file, or \"cluster:NAME\"", value);
  cluster = *name;
  return Status::success();
}

/// The shortest text that is read as the same number.
static std::string numberText(double value) {
  char text[32];
  auto end = std::to_chars(text, text + sizeof(text), value);
  return std::string(text, end.ptr);
}

std::string PlanOrigin::text(std::string_view key) const {
  if (key == "cluster")
    return cluster.empty() ? "" : jsonString(cluster);
  if (key == "model" && model)
    return "{\"file\": " + jsonString(model->file) +
           (model->blake3.empty()
                ? ""
                : ", \"blake3\": " + jsonString(model->blake3)) +
           "}";
  if (key == "predicted" && predicted)
    return "{\"seconds\": " + numberText(predicted->seconds) +
           ", \"bound\": " + numberText(predicted->bound) + "}";
  return "";
}

Status PlanOrigin::checkModel(const std::string &name,
                              const std::string &hash) const {
  if (!model || model->blake3.empty() || model->blake3 == hash)
    return Status::success();
  return Status::badFile(printable(name) +
                         ": is another model than the plan "
                         "is for, \"model\": " +
                         text("model") + "; this one's BLAKE3 is " + hash +
                         ": take that model, or make a plan for this one");
}
