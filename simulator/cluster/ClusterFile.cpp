//===- ClusterFile.cpp - Clusters as JSON ---------------------------------===//

#include "simulator/cluster/ClusterFile.h"
#include "runtime/FileBytes.h"
#include "runtime/Step.h"
#include "runtime/Text.h"
#include "simulator/cluster/Fields.h"
#include <algorithm>
#include <fmt/format.h>

using namespace mlc;
using namespace mlc::simulator;
using runtime::Status;
namespace json = runtime::json;

namespace {

constexpr int mostRanks = runtime::maxRanks;

class Reader {
public:
  Reader(Status &status, Cluster &cluster) : status(status), cluster(cluster) {}

  void read(const json::Value &value);

private:
  Device readDevice(const std::string &name, const json::Value &value);
  void readDevices(Fields &fields);
  void readNodes(Fields &fields);
  void readLevels(Fields &fields);
  Level readLevel(const json::Value &value, size_t index);
  Bandwidth readBandwidth(Fields &fields);
  void readTable(Fields &fields, const json::Array &rows, Bandwidth &result);
  void readEngine(Fields &fields);
  void readTraining(Fields &fields);
  void checkLevels(Fields &fields);

  Status &status;
  Cluster &cluster;
};

} // namespace

Device Reader::readDevice(const std::string &name, const json::Value &value) {
  Device device;
  device.name = name;
  Fields fields(status, value, "devices." + name + ".");
  device.target = fields.text("target", /*optional=*/true);
  if (const json::Value *rates = fields.find("flops_per_second")) {
    Fields types(status, *rates, fields.getPath() + "flops_per_second.");
    for (const char *type : {"f16", "bf16", "tf32", "f32", "f64", "i8"})
      if (auto number = types.maybeNumber(type, positive))
        device.flopsPerSecond.emplace_back(type, *number);
    types.finish();
    if (device.flopsPerSecond.empty())
      fields.fail("flops_per_second", "has no type; give f32 or another one");
  }
  device.memoryBytes = fields.number("memory_bytes", positive);
  device.memoryBytesPerSecond =
      fields.number("memory_bytes_per_second", positive);
  device.sumBytesPerSecond =
      fields.maybeNumber("sum_bytes_per_second", positive);
  fields.finish();
  return device;
}

void Reader::readDevices(Fields &fields) {
  const json::Value *value = fields.find("devices");
  const json::Object *all = value ? value->get<json::Object>() : nullptr;
  if (value && (!all || all->empty()))
    fields.fail("devices", "expected an object with at least one device");
  if (!fields.ok())
    return;
  for (const auto &[name, device] : *all)
    cluster.devices.push_back(readDevice(name, device));
}

void Reader::readNodes(Fields &fields) {
  const json::Array *rows = fields.array("nodes");
  if (!rows)
    return;
  std::vector<std::string_view> names;
  for (const Device &device : cluster.devices)
    names.push_back(device.name);
  int64_t all = 0;
  for (size_t i = 0; i < rows->size() && status.ok(); ++i) {
    Fields row(status, (*rows)[i], fmt::format("nodes[{}].", i));
    Nodes nodes;
    nodes.count = row.count("count", mostRanks);
    nodes.ranks = row.count("ranks", mostRanks);
    nodes.device = static_cast<int>(row.choice("device", names));
    row.finish();
    all += int64_t(nodes.count) * nodes.ranks;
    if (all > mostRanks)
      row.fail("count", fmt::format("makes {} ranks; a cluster has at most {}",
                                    all, mostRanks));
    cluster.nodes.push_back(nodes);
  }
}

void Reader::readTable(Fields &fields, const json::Array &rows,
                       Bandwidth &result) {
  for (const json::Value &row : rows) {
    const json::Array *pair = row.get<json::Array>();
    const int64_t *ranks =
        pair && pair->size() == 2 ? (*pair)[0].get<int64_t>() : nullptr;
    const int last = result.entries.empty() ? 0 : result.entries.back().ranks;
    if (!ranks || *ranks <= last || *ranks > mostRanks)
      return fields.fail("value", "expected [ranks, bytes per second] pairs "
                                  "with more ranks in each");
    result.entries.push_back(
        {static_cast<int>(*ranks),
         readNumber(fields, "value", (*pair)[1], positive)});
  }
  if (rows.empty())
    fields.fail("value", "has no rows; give [ranks, bytes per second] pairs");
}

Bandwidth Reader::readBandwidth(Fields &fields) {
  Bandwidth result;
  if (const json::Value *value = fields.find("bytes_per_second")) {
    Fields parts(status, *value, fields.getPath() + "bytes_per_second.");
    if (const json::Value *given = parts.find("value")) {
      if (const auto *rows = given->get<json::Array>())
        readTable(parts, *rows, result);
      else
        result.entries = {{1, readNumber(parts, "value", *given, positive)}};
    }
    result.source = parts.text("source");
    parts.finish();
  }
  if (result.entries.empty()) // after an error
    result.entries = {{1, 1}};
  return result;
}

Level Reader::readLevel(const json::Value &value, size_t index) {
  Level level;
  Fields fields(status, value, fmt::format("levels[{}].", index));
  level.name = fields.text("name");
  level.medium = static_cast<Medium>(fields.choice("medium", mediumNames));
  level.ranks = fields.count("ranks", mostRanks);
  level.latencySeconds = fields.number("latency_seconds", duration);
  level.bandwidth = readBandwidth(fields);
  level.sharedBytesPerSecond =
      fields.maybeNumber("shared_bytes_per_second", positive);
  level.throttled = fields.flag("throttled");
  if (index == 0 && level.sharedBytesPerSecond)
    fields.fail("shared_bytes_per_second",
                "is of levels above the first, whose ranks share nothing; "
                "leave it out");
  fields.finish();
  return level;
}

/// Levels nest, and a node's ranks are not torn apart.
void Reader::checkLevels(Fields &fields) {
  const int ranks = cluster.countRanks();
  for (size_t i = 1; i < cluster.levels.size(); ++i) {
    const int inner = cluster.levels[i - 1].ranks;
    if (cluster.levels[i].ranks % inner || cluster.levels[i].ranks == inner)
      fields.fail(fmt::format("levels[{}].ranks", i),
                  fmt::format("{} is not the {} of the level before, two or "
                              "more times",
                              cluster.levels[i].ranks, inner));
  }
  if (cluster.levels.back().ranks != ranks)
    fields.fail(fmt::format("levels[{}].ranks", cluster.levels.size() - 1),
                fmt::format("the last level connects all {} ranks, not {}",
                            ranks, cluster.levels.back().ranks));
  for (const Nodes &nodes : cluster.nodes)
    if (cluster.nodes.size() > 1 || nodes.count > 1)
      if (nodes.ranks % cluster.levels.front().ranks &&
          cluster.levels.front().ranks % nodes.ranks)
        fields.fail("levels[0].ranks",
                    fmt::format("{} does not fit into nodes of {} ranks",
                                cluster.levels.front().ranks, nodes.ranks));
}

void Reader::readLevels(Fields &fields) {
  const json::Array *rows = fields.array("levels");
  if (!rows)
    return;
  for (size_t i = 0; i < rows->size() && status.ok(); ++i)
    cluster.levels.push_back(readLevel((*rows)[i], i));
  if (status.ok())
    checkLevels(fields);
}

void Reader::readEngine(Fields &fields) {
  const json::Value *value = fields.find("engine", /*optional=*/true);
  if (!value)
    return;
  Fields parts(status, *value, "engine.");
  EngineRules &engine = cluster.engine;
  engine.rules =
      static_cast<EngineRules::Rules>(parts.choice("rules", rulesNames));
  if (engine.rules == EngineRules::Nccl)
    engine.architecture = static_cast<EngineRules::Architecture>(
        parts.choice("architecture", architectureNames));
  engine.overheadSeconds = parts.number("overhead_seconds", duration);
  parts.finish();
}

void Reader::readTraining(Fields &fields) {
  const json::Value *value = fields.find("training", /*optional=*/true);
  if (!value)
    return;
  Fields parts(status, *value, "training.");
  for (size_t i = 0; i < constantCount; ++i)
    if (auto number = parts.maybeNumber(constantRows[i].key, positive))
      cluster.training[i] = *number;
  parts.finish();
}

void Reader::read(const json::Value &value) {
  Fields fields(status, value, "");
  cluster.name = fields.text("name");
  cluster.description = fields.text("description");
  readDevices(fields);
  readNodes(fields);
  readLevels(fields);
  readEngine(fields);
  readTraining(fields);
  fields.finish();
}

Status simulator::readCluster(std::string_view text, Cluster &cluster) {
  json::Value value;
  if (Status status = json::parse(text, value); !status.ok())
    return status;
  cluster = {};
  Status status;
  Reader(status, cluster).read(value);
  return status;
}

static constexpr std::string_view prefix = "cluster:";

/// "cluster:p3.16xlarge" of "p3.16xlarge.json".
static std::string nameOf(const EmbeddedClusterFile &file) {
  std::string_view name = file.name;
  return std::string(prefix) + std::string(name.substr(0, name.size() - 5));
}

std::vector<std::string> simulator::shippedClusters() {
  std::vector<std::string> names;
  for (const EmbeddedClusterFile &file : embeddedClusterFiles())
    names.push_back(nameOf(file));
  return names;
}

bool simulator::isShippedCluster(std::string_view name) {
  return name.substr(0, prefix.size()) == prefix;
}

Status simulator::openCluster(const std::string &name, Cluster &cluster) {
  if (!isShippedCluster(name)) {
    runtime::FileBytes bytes;
    Status status =
        runtime::FileBytes::read(name.c_str(), runtime::maxTextFile, bytes);
    return status.ok() ? readCluster(bytes.text(), cluster) : status;
  }
  for (const EmbeddedClusterFile &file : embeddedClusterFiles())
    if (nameOf(file) == name)
      return readCluster(file.text, cluster);
  return Status::error(
      MLC_USAGE, fmt::format("no such cluster ships with mlc; there are {}, or "
                             "give a file",
                             fmt::join(shippedClusters(), ", ")));
}
