//===- PlanText.cpp - Plans as JSON ---------------------------------------===//

#include "runtime/Text.h"
#include "runtime/plan/Bytes.h"
#include "runtime/plan/Json.h"
#include "runtime/plan/Plan.h"
#include "runtime/plan/StageText.h"

#include <algorithm>
#include <iterator>

namespace mlc::runtime {

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

namespace {

/// Writes the keys of one object, one per line.
class Writer {
public:
  void add(const char *key, const std::string &value) {
    lines += lines.empty() ? "" : ",\n";
    lines += std::string("  \"") + key + "\": " + value;
  }
  std::string take() const { return "{\n" + lines + "\n}\n"; }

private:
  std::string lines;
};

void addStages(const TrainingPlan &training, Writer &writer) {
  const StagePlan &plan = training.stages;
  if (plan.count > 1)
    writer.add("stages", stagesText(training));
  if (!plan.schedule.empty())
    writer.add("schedule", jsonString(plan.schedule));
  if (plan.updateEvery)
    writer.add("update_every", std::to_string(plan.updateEvery));
  if (plan.inFlight)
    writer.add("in_flight", std::to_string(plan.inFlight));
  if (plan.slices)
    writer.add("slices", std::to_string(plan.slices));
  if (plan.recomputes)
    writer.add("recompute", "true");
  std::string kept;
  for (const std::string &name : plan.keptResults)
    kept += (kept.empty() ? "" : ", ") + jsonString(name);
  if (!kept.empty())
    writer.add("keep_results", "[" + kept + "]");
}

void addTraining(const TrainingPlan &plan, Writer &writer) {
  BucketOptions usual = BucketOptions::of(plan.buckets.rule);
  if (plan.zero != ZeroStage::None)
    writer.add("zero", std::to_string(static_cast<int>(plan.zero)));
  if (plan.buckets.rule == BucketRule::Horovod)
    writer.add("fusion", "\"horovod\"");
  if (plan.buckets.bytes != usual.bytes)
    writer.add("bucket_bytes", std::to_string(plan.buckets.bytes));
  // A size of buckets applies to the first one too.
  if (plan.buckets.bytes != usual.bytes)
    usual.firstBytes = plan.buckets.bytes;
  if (plan.buckets.firstBytes != usual.firstBytes)
    writer.add("first_bucket_bytes", std::to_string(plan.buckets.firstBytes));
  if (plan.prefetchLimit != defaultPrefetchLimit)
    writer.add("prefetch_limit", std::to_string(plan.prefetchLimit));
  if (plan.statistics == BatchStatistics::Local)
    writer.add("batch_statistics", "\"local\"");
  if (plan.staleness)
    writer.add("staleness", std::to_string(plan.staleness));
  if (plan.accumulate != 1)
    writer.add("accumulate", std::to_string(plan.accumulate));
  if (plan.groups != 1)
    writer.add("groups", std::to_string(plan.groups));
  addStages(plan, writer);
}

} // namespace

std::string TensorSharding::text() const {
  std::string text;
  for (const std::vector<std::string> &dim : axes) {
    std::string names;
    for (const std::string &axis : dim)
      names += (names.empty() ? "" : "+") + axis;
    text += (&dim == axes.data() ? "" : ",") + (names.empty() ? "-" : names);
  }
  return text;
}

std::string Plan::text() const {
  Writer writer;
  for (const char *key : {"model", "cluster"})
    if (const std::string value = origin.text(key); !value.empty())
      writer.add(key, value);
  writer.add("mesh", meshText(training ? training->mesh() : mesh));
  if (!shardings.empty()) {
    std::string all;
    for (const TensorSharding &sharding : shardings)
      all += (all.empty() ? "" : ",\n            ") +
             jsonString(sharding.pattern) + ": " + jsonString(sharding.text());
    writer.add("shard", "{" + all + "}");
  }
  if (!algorithm.empty())
    writer.add("algorithm", jsonString(algorithm));
  if (memory)
    writer.add("memory", std::to_string(memory));
  if (training)
    addTraining(*training, writer);
  if (forward && forward->microBatches != 1)
    writer.add("micro_batches", std::to_string(forward->microBatches));
  if (forward) {
    TrainingPlan stages;
    stages.stages = forward->stages;
    addStages(stages, writer);
  }
  if (const std::string value = origin.text("predicted"); !value.empty())
    writer.add("predicted", value);
  return writer.take();
}

std::string Plan::checkpointText() const {
  std::string text;
  if (training && training->ranks > 1 &&
      training->statistics == BatchStatistics::Local)
    text += "batch statistics of each of " + std::to_string(training->ranks) +
            " ranks\n";
  // Adam counts them.
  if (training && training->countUpdates() > 1) {
    const std::vector<int64_t> all = training->updatesOfStages();
    std::string counts;
    // One number, unless stages have different ones.
    for (size_t i = 0; i < all.size(); ++i)
      if (i == 0 || std::any_of(all.begin(), all.end(), [&](int64_t one) {
            return one != all.front();
          }))
        counts += (counts.empty() ? "" : ", ") + std::to_string(all[i]);
    text += counts + " updates of a step\n";
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

class Reader {
public:
  Reader(bool trains, Plan &plan) : trains(trains), plan(plan) {
    if (trains)
      plan.training.emplace();
  }

  Status read(const json::Object &object) {
    // Read first the keys that others depend on: shardings name axes, default
    // bucket sizes depend on the rule, and the first bucket's on the others'.
    static constexpr std::string_view firsts[] = {"mesh", "fusion",
                                                  "bucket_bytes"};
    for (std::string_view first : firsts)
      for (const auto &[key, value] : object)
        if (key == first)
          if (Status status = readKey(key, value); !status.ok())
            return status;
    for (const auto &[key, value] : object)
      if (std::find(std::begin(firsts), std::end(firsts), key) ==
          std::end(firsts))
        if (Status status = readKey(key, value); !status.ok())
          return status;
    if (trains && plan.mesh.empty() && !plan.training->stages.places.empty())
      takeMeshOfStages();
    else if (trains && plan.mesh.empty())
      return Status::badFile("has no \"mesh\"; give {\"data\": RANKS}");
    plan.mesh.resize(trains ? 0 : plan.mesh.size());
    Status status;
    if (plan.forward)
      status = plan.setForwardMesh();
    if (status.ok())
      status = plan.check();
    return status.ok() ? status : Status::badFile(status.message);
  }

private:
  /// Without a mesh there are the ranks that stages name.
  void takeMeshOfStages() {
    int64_t last = 0;
    for (const std::vector<int64_t> &ranks : plan.training->stages.places)
      for (int64_t rank : ranks)
        last = std::max(last, rank);
    plan.training->ranks = 1;
    plan.training->stages.ranks = last + 1;
  }

  Status readKey(const std::string &key, const json::Value &value) {
    Status status = dispatch(key, value);
    return status.ok()
               ? status
               : Status::badFile(jsonString(key) + ": " + status.message);
  }

  static Status expected(const char *what, const json::Value &value) {
    return Status::badFile(std::string("expected ") + what + ", not " +
                           value.kind());
  }

  Status dispatch(const std::string &key, const json::Value &value) {
    if (PlanOrigin::isKey(key))
      return plan.origin.read(key, value);
    if (key == "mesh")
      return readMesh(value);
    if (key == "algorithm")
      return readAlgorithm(value);
    if (key == "shard")
      return readShardings(value);
    if (key == "memory")
      return readMemory(value);
    static const char *const known[] = {"zero",           "fusion",
                                        "bucket_bytes",   "first_bucket_bytes",
                                        "prefetch_limit", "batch_statistics",
                                        "staleness",      "accumulate",
                                        "groups",         "stages",
                                        "schedule",       "update_every",
                                        "in_flight",      "slices",
                                        "micro_batches",  "recompute",
                                        "keep_results"};
    std::string all;
    for (const char *one : known) {
      if (key == one)
        return trains ? readTraining(key, value) : readForward(key, value);
      all += std::string(", ") + one;
    }
    return Status::badFile(
        "is no key of a plan; there are mesh, shard, algorithm, memory" +
        (trains ? all : ", stages, schedule, micro_batches") +
        ", model, cluster, predicted");
  }

  Status readMesh(const json::Value &value) {
    const auto *axes = value.get<json::Object>();
    if (!axes)
      return expected("an object, {\"AXIS\": RANKS}", value);
    for (const auto &[name, size] : *axes) {
      const auto *ranks = size.get<int64_t>();
      if (!ranks)
        return expected("a whole number of ranks", size);
      if (Status status = plan.addAxis(name, *ranks); !status.ok())
        return status;
    }
    return trains ? plan.setTrainingMesh() : Status::success();
  }

  Status readAlgorithm(const json::Value &value) {
    const auto *name = value.get<std::string>();
    if (!name)
      return expected("a string", value);
    plan.algorithm = *name;
    if (trains)
      plan.training->hasServer = *name == "server";
    return Status::success();
  }

  Status readMemory(const json::Value &value) {
    const auto *text = value.get<std::string>();
    const auto *number = value.get<int64_t>();
    if (!text && !number)
      return expected("a number of bytes, or a string, \"1.5GiB\"", value);
    const std::string given = text ? *text : std::to_string(*number);
    return parseBytes(given, plan.memory)
               ? Status::success()
               : Status::badFile("expected a positive number of bytes, as "
                                 "1500000, \"1.5GB\" or \"1.5GiB\", not " +
                                 (text ? jsonString(given) : given));
  }

  Status readShardings(const json::Value &value) {
    const auto *all = value.get<json::Object>();
    if (!all)
      return expected("an object, {\"TENSOR\": \"AXIS,-\"}", value);
    for (const auto &[pattern, axes] : *all) {
      const auto *text = axes.get<std::string>();
      Status status = text ? plan.addSharding(pattern, splitDims(*text, ','))
                           : expected("a string, \"AXIS,-\"", axes);
      if (!status.ok())
        return Status::badFile(jsonString(pattern) + ": " + status.message);
    }
    return Status::success();
  }

  static Status readSchedule(const json::Value &value, StagePlan &stages) {
    const auto *name = value.get<std::string>();
    if (!name || name->empty())
      return name ? Status::badFile("expected the name of a schedule, or a "
                                    "table in FILE.csv, not \"\"")
                  : expected("the name of a schedule", value);
    stages.schedule = *name;
    return Status::success();
  }

  static Status readRecomputing(const std::string &key,
                                const json::Value &value, StagePlan &stages) {
    if (key == "recompute") {
      const auto *isWanted = value.get<bool>();
      if (!isWanted)
        return expected("true or false", value);
      stages.recomputes = *isWanted;
      return Status::success();
    }
    const auto *names = value.get<json::Array>();
    if (!names)
      return expected("a list of nodes, [\"NODE\"]", value);
    for (const json::Value &one : *names) {
      const auto *name = one.get<std::string>();
      if (!name)
        return expected("the name of a node", one);
      stages.keptResults.push_back(*name);
    }
    return Status::success();
  }

  Status readForward(const std::string &key, const json::Value &value) {
    if (key != "stages" && key != "schedule" && key != "micro_batches")
      return Status::badFile("is of mlc train");
    if (!plan.forward)
      plan.forward.emplace();
    if (key == "stages")
      return readStages(value, plan);
    if (key == "schedule")
      return readSchedule(value, plan.forward->stages);
    const auto *number = value.get<int64_t>();
    if (!number)
      return expected("a whole number", value);
    plan.forward->microBatches = *number;
    return Status::success();
  }

  Status readTraining(const std::string &key, const json::Value &value) {
    TrainingPlan &training = *plan.training;
    if (key == "stages")
      return readStages(value, plan);
    if (key == "schedule")
      return readSchedule(value, training.stages);
    if (key == "recompute" || key == "keep_results")
      return readRecomputing(key, value, training.stages);
    if (key == "fusion" || key == "batch_statistics") {
      const auto *word = value.get<std::string>();
      if (!word)
        return expected("a string", value);
      return key == "fusion" ? readFusion(*word) : readStatistics(*word);
    }
    const auto *number = value.get<int64_t>();
    if (!number)
      return expected("a whole number", value);
    if (*number < 0)
      return Status::badFile("expected a number from 0 on, not " +
                             std::to_string(*number));
    if (key == "accumulate" || key == "micro_batches") {
      if (hasBatches && *number != training.accumulate)
        return Status::badFile("accumulate and micro_batches say the same, and "
                               "differ; leave one of them out");
      hasBatches = true;
    }
    if (key == "zero")
      training.zero =
          static_cast<ZeroStage>(std::min<int64_t>(*number, UINT8_MAX));
    else if (key == "bucket_bytes")
      training.buckets.bytes = training.buckets.firstBytes = *number;
    else
      *findNumber(training, key) = *number;
    return Status::success();
  }

  /// The number that a key names.
  static int64_t *findNumber(TrainingPlan &training, const std::string &key) {
    return key == "first_bucket_bytes" ? &training.buckets.firstBytes
           : key == "prefetch_limit"   ? &training.prefetchLimit
           : key == "accumulate"       ? &training.accumulate
           : key == "micro_batches"    ? &training.accumulate
           : key == "groups"           ? &training.groups
           : key == "update_every"     ? &training.stages.updateEvery
           : key == "in_flight"        ? &training.stages.inFlight
           : key == "slices"           ? &training.stages.slices
                                       : &training.staleness;
  }

  Status readFusion(const std::string &word) {
    if (word != "ddp" && word != "horovod")
      return Status::badFile("expected \"ddp\" or \"horovod\", not " +
                             jsonString(word));
    plan.training->buckets = BucketOptions::of(
        word == "ddp" ? BucketRule::DDP : BucketRule::Horovod);
    return Status::success();
  }

  Status readStatistics(const std::string &word) {
    if (word != "global" && word != "local")
      return Status::badFile("expected \"global\" or \"local\", not " +
                             jsonString(word));
    plan.training->statistics =
        word == "local" ? BatchStatistics::Local : BatchStatistics::Global;
    return Status::success();
  }

  const bool trains;
  Plan &plan;
  bool hasBatches = false;
};

} // namespace

Status Plan::parse(std::string_view text, bool trains, Plan &plan) {
  json::Value value;
  if (Status status = json::parse(text, value); !status.ok())
    return status;
  const auto *object = value.get<json::Object>();
  if (!object)
    return Status::badFile(std::string("a plan is a JSON object, not ") +
                           value.kind());
  plan = {};
  return Reader(trains, plan).read(*object);
}

} // namespace mlc::runtime
