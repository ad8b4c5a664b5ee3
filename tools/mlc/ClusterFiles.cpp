//===- ClusterFiles.cpp - Cluster files of commands -----------------------===//

#include "tools/mlc/ClusterFiles.h"
#include "codegen/target/Target.h"
#include "simulator/cluster/ClusterFile.h"
#include "simulator/cluster/Network.h"
#include "tools/mlc/Failure.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <fmt/format.h>
#include <numeric>

using namespace mlc;
using namespace mlc::cli;
using namespace mlc::simulator;
namespace transport = mlc::runtime::transport;

llvm::Expected<Cluster> cli::openCluster(const std::string &name) {
  Cluster cluster;
  runtime::Status status = simulator::openCluster(name, cluster);
  if (!status.ok()) {
    status.message = name + ": " + status.message;
    return statusFailure(status);
  }
  for (const Device &device : cluster.devices)
    if (!device.target.empty() && !isTargetFile(device.target) &&
        !llvm::is_contained(knownTargets(), device.target))
      return fail(Exit::BadFile,
                  name + ": devices." + device.name +
                      ".target: unknown target '" + device.target +
                      "'; known targets: " + llvm::join(knownTargets(), ", "));
  return cluster;
}

/// "25 GB/s", "312 Tflop/s".
static std::string rate(double value, const char *unit) {
  static constexpr std::pair<double, const char *> prefixes[] = {
      {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
  for (auto [factor, prefix] : prefixes)
    if (value >= factor)
      return fmt::format("{:.3g} {}{}", value / factor, prefix, unit);
  return fmt::format("{:.3g} {}", value, unit);
}

static void printLevel(const Level &level) {
  std::string rates;
  for (const Bandwidth::Entry &entry : level.bandwidth.entries)
    rates +=
        (rates.empty() ? "" : ", ") +
        (level.bandwidth.entries.size() > 1 ? fmt::format("{}: ", entry.ranks)
                                            : "") +
        rate(entry.bytesPerSecond, "B/s");
  llvm::outs() << fmt::format(
      "  {} ({}), {} ranks: {} of a rank{}, latency {}{}\n", level.name,
      mediumNames[size_t(level.medium)], level.ranks, rates,
      level.sharedBytesPerSecond
          ? fmt::format(", {} of a node",
                        rate(level.sharedBytesPerSecond->value, "B/s"))
          : "",
      toText(toTime(level.latencySeconds.value)),
      level.throttled ? ", throttled" : "");
}

static void printParts(const Cluster &cluster) {
  llvm::outs() << cluster.name << ": " << cluster.description << "\ndevices:\n";
  for (const Device &device : cluster.devices) {
    std::string rates;
    for (const auto &[type, number] : device.flopsPerSecond)
      rates += type + " " + rate(number.value, "flop/s") + ", ";
    llvm::outs() << fmt::format(
        "  {}{}: {}memory of {} at {}\n", device.name,
        device.target.empty() ? "" : " (" + device.target + ")", rates,
        rate(device.memoryBytes.value, "B"),
        rate(device.memoryBytesPerSecond.value, "B/s"));
  }
  llvm::outs() << "nodes:\n";
  for (const Nodes &nodes : cluster.nodes)
    llvm::outs() << fmt::format("  {} of {} {}\n", nodes.count, nodes.ranks,
                                cluster.devices[nodes.device].name);
  llvm::outs() << "links:\n";
  for (const Level &level : cluster.levels)
    printLevel(level);
  const EngineRules &engine = cluster.engine;
  llvm::outs() << fmt::format(
      "own collectives: {}{}, overhead {}\n", rulesNames[engine.rules],
      engine.rules == EngineRules::Nccl
          ? std::string(" (") + architectureNames[engine.architecture] + ")"
          : "",
      toText(toTime(engine.overheadSeconds.value)));
}

/// Beyond, programs of sends are not run: they have too many messages.
static constexpr int mostProgramRanks = 64;

/// 2, the ranks of each level, and all, as far as there are so many.
static std::vector<int> rankCounts(const Cluster &cluster) {
  std::vector<int> counts = {2};
  for (const Level &level : cluster.levels)
    for (int ranks : {level.ranks, 2 * level.ranks})
      if (ranks > counts.back() && ranks <= cluster.countRanks())
        counts.push_back(ranks);
  return cluster.countRanks() < 2 ? std::vector<int>{} : counts;
}

/// The time of an all-reduce; nothing where the algorithm does not take so many
/// ranks.
static std::optional<Time> allReduceTime(const Cluster &cluster,
                                         transport::Algorithm algorithm,
                                         int ranks, int64_t bytes) {
  if (algorithm != transport::Algorithm::Own && ranks > mostProgramRanks)
    return std::nullopt;
  CollectiveCall call;
  call.request.algorithm = algorithm;
  call.request.ranks = ranks;
  call.request.elements = bytes / call.elementBytes;
  call.messageBytes = 1 << 20;
  call.ranks.resize(ranks);
  std::iota(call.ranks.begin(), call.ranks.end(), 0);
  Time time = 0;
  return Network(cluster).collective(call, time).ok()
             ? std::optional<Time>(time)
             : std::nullopt;
}

static constexpr transport::Algorithm algorithms[] = {
    transport::Algorithm::Own,
#define MLC_ALGORITHM(ID, NAME, MEANING) transport::Algorithm::ID,
#include "runtime/transport/Algorithms.def"
#undef MLC_ALGORITHM
};

llvm::Error cli::printCluster(const Cluster &cluster, int64_t bytes, int ranks,
                              bool asJson) {
  if (ranks && (ranks < 2 || ranks > cluster.countRanks()))
    return fail(Exit::Usage, "--ranks " + llvm::Twine(ranks) +
                                 ": the cluster has 2 to " +
                                 llvm::Twine(cluster.countRanks()));
  if (bytes < 4)
    return fail(Exit::Usage, "--bytes: expected a number of bytes from 4 on");
  const std::vector<int> counts =
      ranks ? std::vector<int>{ranks} : rankCounts(cluster);
  llvm::json::Object times;
  std::string table = fmt::format("  {:<18}", "ranks");
  for (int count : counts)
    table += fmt::format("{:>10}", count);
  for (transport::Algorithm algorithm : algorithms) {
    llvm::json::Object row;
    table += fmt::format("\n  {:<18}", transport::name(algorithm));
    for (int count : counts) {
      auto time = allReduceTime(cluster, algorithm, count, bytes);
      table += fmt::format("{:>10}", time ? toText(*time) : "-");
      if (time)
        row[std::to_string(count)] = toSeconds(*time);
    }
    times[transport::name(algorithm)] = std::move(row);
  }
  if (asJson) {
    llvm::outs() << llvm::formatv(
        "{0:2}\n", llvm::json::Value(llvm::json::Object{
                       {"name", llvm::json::fixUTF8(cluster.name)},
                       {"ranks", cluster.countRanks()},
                       {"bytes", bytes},
                       {"all_reduce_seconds", std::move(times)}}));
    return llvm::Error::success();
  }
  printParts(cluster);
  llvm::outs() << "all-reduce of " << bytes << " bytes:\n" << table << '\n';
  return llvm::Error::success();
}
