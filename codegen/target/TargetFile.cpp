//===- TargetFile.cpp - Target descriptions as JSON -----------------------===//

#include "codegen/target/TargetFile.h"
#include "codegen/target/Json.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <optional>

using namespace llvm;

namespace mlc {

namespace {

struct Rate {
  const char *key;
  double CostParameters::*field;
  bool mayBeZero;
};
constexpr Rate rates[] = {
    {"contraction_flops_per_second", &CostParameters::contractionFlopsPerSecond,
     false},
    {"scalar_flops_per_second", &CostParameters::scalarFlopsPerSecond, false},
    {"contraction_efficiency", &CostParameters::contractionEfficiency, false},
    {"depthwise_efficiency", &CostParameters::depthwiseEfficiency, false},
    {"seconds_per_kernel", &CostParameters::secondsPerKernel, true},
};

/// Rates that a target may leave out; they are 0 then.
constexpr Rate optionalRates[] = {
    {"prediction_error", &CostParameters::predictionError, true},
};

struct Flag {
  const char *key;
  bool CostParameters::*field;
};
constexpr Flag flags[] = {
    {"tiles_turn", &CostParameters::tilesTurn},
    {"reads_in_place", &CostParameters::readsInPlace},
};

struct Text {
  const char *key;
  std::string Target::*field;
};
constexpr Text texts[] = {
    {"triple", &Target::triple},
    {"cpu", &Target::cpu},
    {"features", &Target::features},
};

struct Size {
  const char *key;
  int64_t Target::*field;
};
constexpr Size sizes[] = {
    {"cache_line_bytes", &Target::cacheLineBytes},
    {"l1_bytes", &Target::l1Bytes},
    {"l2_bytes", &Target::l2Bytes},
    {"l3_bytes", &Target::l3Bytes},
};

/// Far above any device, far below overflow.
constexpr double largest = 1e30;
constexpr int64_t largestCount = int64_t(1) << 40;

Error wrong(StringRef key, StringRef expected) {
  return createStringError("\"" + key + "\": expected " + expected);
}

/// Takes members out of an object, each once; leftover members are an error.
class Members {
public:
  Members(const json::Object &object, StringRef path)
      : object(object), path(path.str()) {}

  Expected<const json::Value *> take(StringRef key) {
    const json::Value *value = object.get(key);
    if (!value)
      return wrong(path + key.str(), "to be there; it is missing");
    taken.push_back(key);
    return value;
  }
  Expected<const json::Object *> member(StringRef key) {
    auto value = take(key);
    if (!value)
      return value.takeError();
    if (const json::Object *result = (*value)->getAsObject())
      return result;
    return wrong(path + key.str(), "an object");
  }
  Error text(StringRef key, std::string &result) {
    auto value = take(key);
    if (!value)
      return value.takeError();
    std::optional<StringRef> string = (*value)->getAsString();
    if (!string)
      return wrong(path + key.str(), "a text");
    result = string->str();
    return Error::success();
  }
  Error finish() {
    for (const auto &member : object)
      if (!is_contained(taken, StringRef(member.first)))
        return createStringError("\"" + path + StringRef(member.first).str() +
                                 "\": unknown key; see docs/Targets.md");
    return Error::success();
  }

  const json::Object &object;
  std::string path;

private:
  SmallVector<StringRef> taken;
};

std::optional<double> positive(const json::Value &value, bool mayBeZero) {
  std::optional<double> number = value.getAsNumber();
  if (!number || !(*number >= 0) || *number > largest ||
      (*number == 0 && !mayBeZero))
    return std::nullopt;
  return number;
}

std::optional<int64_t> count(const json::Value &value) {
  std::optional<int64_t> number = value.getAsInteger();
  if (!number || *number < 1 || *number > largestCount)
    return std::nullopt;
  return number;
}

/// The pairs of an array; nullopt if it is no array of pairs.
std::optional<SmallVector<std::pair<json::Value, json::Value>>>
pairs(const json::Value &value) {
  const json::Array *array = value.getAsArray();
  if (!array || array->empty())
    return std::nullopt;
  SmallVector<std::pair<json::Value, json::Value>> result;
  for (const json::Value &entry : *array) {
    const json::Array *pair = entry.getAsArray();
    if (!pair || pair->size() != 2)
      return std::nullopt;
    result.push_back({(*pair)[0], (*pair)[1]});
  }
  return result;
}

Error readTiles(const json::Value &value, CostParameters &cost) {
  auto entries = pairs(value);
  cost.tiles.clear();
  if (entries)
    for (auto &[rows, columns] : *entries)
      if (auto r = count(rows), c = count(columns); r && c)
        cost.tiles.push_back({*r, *c});
  if (!entries || cost.tiles.size() != entries->size())
    return wrong("cost.tiles", "pairs [rows, columns] of numbers from 1 on");
  return Error::success();
}

/// Levels grow in size; the last has none.
Error readMemory(const json::Value &value, CostParameters &cost) {
  auto entries = pairs(value);
  cost.memory.clear();
  double before = 0;
  bool isLast = false;
  if (entries)
    for (auto &[bytes, rate] : *entries) {
      MemoryLevel level;
      auto perSecond = positive(rate, false);
      if (!bytes.getAsNull())
        level.bytes = positive(bytes, false).value_or(0);
      if (isLast || !perSecond || !(level.bytes > before))
        break;
      level.bytesPerSecond = *perSecond;
      before = level.bytes;
      isLast = !std::isfinite(level.bytes);
      cost.memory.push_back(level);
    }
  if (!entries || cost.memory.size() != entries->size() || !isLast)
    return wrong("cost.memory", "pairs [bytes, bytes_per_second], the smallest "
                                "level first, the last one's bytes null");
  return Error::success();
}

/// Calls `read` on the value of `cost.KEY` and keeps its source.
Error readSourced(Members &members, StringRef key, Target &target,
                  function_ref<Error(const json::Value &)> read) {
  auto object = members.member(key);
  if (!object)
    return object.takeError();
  Members entry(**object, members.path + key.str() + ".");
  auto value = entry.take("value");
  if (!value)
    return value.takeError();
  if (Error error = read(**value))
    return error;
  if (Error error = entry.text("source", target.sources[key.str()]))
    return error;
  return entry.finish();
}

Error readCost(const json::Object &object, Target &target) {
  Members members(object, "cost.");
  CostParameters &cost = target.cost;
  auto readRate = [&](const Rate &rate) {
    return readSourced(
        members, rate.key, target, [&](const json::Value &value) -> Error {
          auto number = positive(value, rate.mayBeZero);
          if (!number)
            return wrong(members.path + rate.key, "a positive number");
          cost.*rate.field = *number;
          return Error::success();
        });
  };
  for (const Rate &rate : rates)
    if (Error error = readRate(rate))
      return error;
  for (const Rate &rate : optionalRates)
    if (object.get(rate.key))
      if (Error error = readRate(rate))
        return error;
  for (const Flag &flag : flags)
    if (Error error = readSourced(
            members, flag.key, target, [&](const json::Value &value) -> Error {
              std::optional<bool> answer = value.getAsBoolean();
              if (!answer)
                return wrong(members.path + flag.key, "true or false");
              cost.*flag.field = *answer;
              return Error::success();
            }))
      return error;
  if (Error error = readSourced(
          members, "units", target, [&](const json::Value &value) -> Error {
            auto number = count(value);
            if (!number)
              return wrong("cost.units", "a number from 1 on");
            cost.units = *number;
            return Error::success();
          }))
    return error;
  if (Error error =
          readSourced(members, "tiles", target, [&](const json::Value &value) {
            return readTiles(value, cost);
          }))
    return error;
  if (Error error =
          readSourced(members, "memory", target, [&](const json::Value &value) {
            return readMemory(value, cost);
          }))
    return error;
  return members.finish();
}

Error readNumber(Members &members, StringRef key, int64_t &result) {
  auto value = members.take(key);
  if (!value)
    return value.takeError();
  std::optional<int64_t> number = count(**value);
  if (!number)
    return wrong(members.path + key.str(), "a number from 1 on");
  result = *number;
  return Error::success();
}

Error readCode(const json::Object &object, Target &target) {
  Members members(object, "code.");
  for (const Text &text : texts)
    if (Error error = members.text(text.key, target.*text.field))
      return error;
  for (const Size &size : sizes)
    if (Error error = readNumber(members, size.key, target.*size.field))
      return error;
  int64_t bits = 0, registers = 0, flops = 0;
  if (Error error = readNumber(members, "vector_bits", bits))
    return error;
  if (Error error = readNumber(members, "vector_registers", registers))
    return error;
  if (Error error = readNumber(members, "flops_per_cycle", flops))
    return error;
  auto masks = members.take("mask_registers");
  if (!masks)
    return masks.takeError();
  if (!(*masks)->getAsBoolean())
    return wrong("code.mask_registers", "true or false");
  if (bits != 256 && bits != 512)
    return wrong("code.vector_bits", "256 or 512");
  if (registers != 16 && registers != 32)
    return wrong("code.vector_registers", "16 or 32");
  target.vectorBits = bits;
  target.vectorRegisters = registers;
  target.hasMaskRegisters = *(*masks)->getAsBoolean();
  target.flopsPerCycle = flops;
  // Tile planning counts in cycles.
  target.gigahertz = target.cost.contractionFlopsPerSecond / flops / 1e9;
  target.cacheBandwidth = target.cost.memory.front().bytesPerSecond / 1e9;
  target.memoryBandwidth = target.cost.memory.back().bytesPerSecond / 1e9;
  return members.finish();
}

} // namespace

Expected<Target> readTarget(StringRef text) {
  Expected<json::Value> value = parseJson(text);
  if (!value)
    return createStringError("not JSON: " + toString(value.takeError()));
  const json::Object *object = value->getAsObject();
  if (!object)
    return createStringError("not a target file; expected a JSON object");
  Target target;
  Members members(*object, "");
  if (Error error = members.text("name", target.name))
    return error;
  if (Error error = members.text("description", target.description))
    return error;
  auto cost = members.member("cost");
  if (!cost)
    return cost.takeError();
  if (Error error = readCost(**cost, target))
    return error;
  if (object->get("code")) {
    auto code = members.member("code");
    if (!code)
      return code.takeError();
    if (Error error = readCode(**code, target))
      return error;
  }
  if (Error error = members.finish())
    return error;
  return target;
}

std::string writeTarget(const Target &target) {
  json::Object cost;
  auto add = [&](const char *key, json::Value value) {
    auto source = target.sources.find(key);
    cost[key] = json::Object{
        {"value", std::move(value)},
        {"source", source == target.sources.end() ? "" : source->second}};
  };
  for (const Rate &rate : rates)
    add(rate.key, target.cost.*rate.field);
  for (const Rate &rate : optionalRates)
    if (double value = target.cost.*rate.field)
      add(rate.key, value);
  for (const Flag &flag : flags)
    add(flag.key, target.cost.*flag.field);
  add("units", target.cost.units);
  json::Array tiles, memory;
  for (const OutputTile &tile : target.cost.tiles)
    tiles.push_back(json::Array{tile.rows, tile.columns});
  add("tiles", std::move(tiles));
  for (const MemoryLevel &level : target.cost.memory)
    memory.push_back(json::Array{std::isfinite(level.bytes)
                                     ? json::Value(level.bytes)
                                     : json::Value(nullptr),
                                 level.bytesPerSecond});
  add("memory", std::move(memory));
  json::Object file{{"name", target.name},
                    {"description", target.description},
                    {"cost", std::move(cost)}};
  if (target.hasCode()) {
    json::Object code{{"vector_bits", target.vectorBits},
                      {"vector_registers", target.vectorRegisters},
                      {"mask_registers", target.hasMaskRegisters},
                      {"flops_per_cycle", int64_t(target.flopsPerCycle)}};
    for (const Text &text : texts)
      code[text.key] = target.*text.field;
    for (const Size &size : sizes)
      code[size.key] = target.*size.field;
    file["code"] = std::move(code);
  }
  return formatv("{0:2}\n", json::Value(std::move(file))).str();
}

} // namespace mlc
