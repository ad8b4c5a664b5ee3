//===- ClusterText.cpp - Writes clusters as JSON --------------------------===//

#include "runtime/Text.h"
#include "simulator/cluster/ClusterFile.h"
#include <fmt/format.h>

using namespace mlc;
using namespace mlc::simulator;
using runtime::jsonString;

namespace {

/// Objects and arrays with one element a line, values given as JSON.
class Writer {
public:
  void open(const std::string &key, char bracket) {
    begin(key);
    text += bracket;
    first = true;
    indent += 2;
  }
  void close(char bracket) {
    indent -= 2;
    text += '\n' + std::string(indent, ' ') + bracket;
    first = false;
  }
  void add(const std::string &key, const std::string &value) {
    begin(key);
    text += value;
  }
  void add(const std::string &key, const std::string &value,
           const std::string &source) {
    add(key, fmt::format("{{\"value\": {}, \"source\": {}}}", value,
                         jsonString(source)));
  }
  void add(const std::string &key, const Number &number) {
    add(key, fmt::format("{}", number.value), number.source);
  }
  std::string text;

private:
  void begin(const std::string &key) {
    text += first ? "" : ",";
    if (!text.empty())
      text += '\n' + std::string(indent, ' ');
    if (!key.empty())
      text += jsonString(key) + ": ";
    first = false;
  }
  bool first = true;
  size_t indent = 0;
};

} // namespace

static void write(const Device &device, Writer &writer) {
  writer.open(device.name, '{');
  if (!device.target.empty())
    writer.add("target", jsonString(device.target));
  writer.open("flops_per_second", '{');
  for (const auto &[type, number] : device.flopsPerSecond)
    writer.add(type, number);
  writer.close('}');
  writer.add("memory_bytes", device.memoryBytes);
  writer.add("memory_bytes_per_second", device.memoryBytesPerSecond);
  if (device.sumBytesPerSecond)
    writer.add("sum_bytes_per_second", *device.sumBytesPerSecond);
  writer.close('}');
}

static void write(const Level &level, Writer &writer) {
  writer.open("", '{');
  writer.add("name", jsonString(level.name));
  writer.add("medium",
             jsonString(mediumNames[static_cast<size_t>(level.medium)]));
  writer.add("ranks", std::to_string(level.ranks));
  writer.add("latency_seconds", level.latencySeconds);
  const Bandwidth &bandwidth = level.bandwidth;
  std::string rows;
  for (const Bandwidth::Entry &entry : bandwidth.entries)
    rows += fmt::format("{}[{}, {}]", rows.empty() ? "" : ", ", entry.ranks,
                        entry.bytesPerSecond);
  const bool isNumber =
      bandwidth.entries.size() == 1 && bandwidth.entries[0].ranks == 1;
  writer.add("bytes_per_second",
             isNumber ? fmt::format("{}", bandwidth.entries[0].bytesPerSecond)
                      : "[" + rows + "]",
             bandwidth.source);
  if (level.sharedBytesPerSecond)
    writer.add("shared_bytes_per_second", *level.sharedBytesPerSecond);
  if (level.throttled)
    writer.add("throttled", "true");
  writer.close('}');
}

static void write(const EngineRules &engine, Writer &writer) {
  writer.open("engine", '{');
  writer.add("rules", jsonString(rulesNames[engine.rules]));
  if (engine.rules == EngineRules::Nccl)
    writer.add("architecture",
               jsonString(architectureNames[engine.architecture]));
  writer.add("overhead_seconds", engine.overheadSeconds);
  writer.close('}');
}

std::string simulator::writeCluster(const Cluster &cluster) {
  Writer writer;
  writer.open("", '{');
  writer.add("name", jsonString(cluster.name));
  writer.add("description", jsonString(cluster.description));
  writer.open("devices", '{');
  for (const Device &device : cluster.devices)
    write(device, writer);
  writer.close('}');
  writer.open("nodes", '[');
  for (const Nodes &nodes : cluster.nodes)
    writer.add("",
               fmt::format("{{\"count\": {}, \"ranks\": {}, \"device\": {}}}",
                           nodes.count, nodes.ranks,
                           jsonString(cluster.devices[nodes.device].name)));
  writer.close(']');
  writer.open("levels", '[');
  for (const Level &level : cluster.levels)
    write(level, writer);
  writer.close(']');
  if (!cluster.engine.overheadSeconds.source.empty())
    write(cluster.engine, writer);
  bool hasTraining = false;
  for (const Number &number : cluster.training)
    hasTraining |= !number.source.empty();
  if (hasTraining) {
    writer.open("training", '{');
    for (size_t i = 0; i < constantCount; ++i)
      if (!cluster.training[i].source.empty())
        writer.add(constantRows[i].key, cluster.training[i]);
    writer.close('}');
  }
  writer.close('}');
  return writer.text + "\n";
}
