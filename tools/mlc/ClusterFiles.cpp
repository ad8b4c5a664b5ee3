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

/// The time of an all-reduce. Errors say why the algorithm has none, as for
/// numbers of ranks that it does not take.
static runtime::Status allReduceTime(const Cluster &cluster,
                                     transport::Algorithm algorithm, int ranks,
                                     int64_t bytes, Time &time) {
  if (algorithm != transport::Algorithm::Own && ranks > mostProgramRanks)
    return runtime::Status::error(
        MLC_UNSUPPORTED, fmt::format("programs of sends are run on up to {} "
                                     "ranks; own has a time",
                                     mostProgramRanks));
  CollectiveCall call;
  call.request.algorithm = algorithm;
  call.request.ranks = ranks;
  call.request.elements = bytes / call.elementBytes;
  call.messageBytes = 1 << 20;
  call.ranks.resize(ranks);
  std::iota(call.ranks.begin(), call.ranks.end(), 0);
  return Network(cluster).collective(call, time);
}

static constexpr transport::Algorithm algorithms[] = {
    transport::Algorithm::Own,
#define MLC_ALGORITHM(ID, NAME, MEANING) transport::Algorithm::ID,
#include "runtime/transport/Algorithms.def"
#undef MLC_ALGORITHM
};

namespace {

/// What all-reduces take, by algorithm and number of ranks.
struct AllReduces {
  AllReduces(const Cluster &cluster, llvm::ArrayRef<int> counts, int64_t bytes);

  std::string text;
  llvm::json::Object seconds;

private:
  void addCell(const Cluster &cluster, transport::Algorithm algorithm,
               int ranks, int64_t bytes, llvm::json::Object &row);
  void explain(const std::string &line) {
    if (!llvm::is_contained(reasons, line))
      reasons.push_back(line);
  }

  std::vector<std::string> reasons; // of cells without a time
};

} // namespace

void AllReduces::addCell(const Cluster &cluster, transport::Algorithm algorithm,
                         int ranks, int64_t bytes, llvm::json::Object &row) {
  Time time = 0;
  std::string cell;
  runtime::Status status =
      allReduceTime(cluster, algorithm, ranks, bytes, time);
  if (!status.ok()) {
    cell = "-";
    explain("-: " + status.message);
  } else if (time == kLongestTime) {
    cell = "too long";
    explain(fmt::format("too long: more than {} days",
                        kLongestTime / kPicosecondsPerSecond / (24 * 3600)));
  } else {
    cell = toText(time);
    row[std::to_string(ranks)] = toSeconds(time);
  }
  text += fmt::format(" {:>10}", cell);
}

AllReduces::AllReduces(const Cluster &cluster, llvm::ArrayRef<int> counts,
                       int64_t bytes) {
  text = fmt::format("  {:<17}", "ranks");
  for (int count : counts)
    text += fmt::format(" {:>10}", count);
  text += '\n';
  for (transport::Algorithm algorithm : algorithms) {
    llvm::json::Object row;
    text += fmt::format("  {:<17}", transport::name(algorithm));
    for (int count : counts)
      addCell(cluster, algorithm, count, bytes, row);
    text += '\n';
    seconds[transport::name(algorithm)] = std::move(row);
  }
  for (const std::string &reason : reasons)
    text += "  " + reason + '\n';
}

static llvm::Error checkCall(const Cluster &cluster, int64_t bytes,
                             std::optional<int> ranks) {
  const int most = cluster.countRanks();
  if (ranks && most < 2)
    return fail(Exit::Usage, "--ranks " + llvm::Twine(*ranks) +
                                 ": the cluster has one rank, and an "
                                 "all-reduce is between two; leave it out");
  if (ranks && (*ranks < 2 || *ranks > most))
    return fail(Exit::Usage, "--ranks " + llvm::Twine(*ranks) +
                                 ": the cluster has 2 to " + llvm::Twine(most));
  if (bytes < 4)
    return fail(Exit::Usage, "--bytes: expected a number of bytes from 4 on");
  // Own takes any number of ranks, so that only bytes can be wrong.
  Time time = 0;
  if (most >= 2)
    if (auto status = allReduceTime(cluster, transport::Algorithm::Own,
                                    ranks.value_or(2), bytes, time);
        !status.ok())
      return fail(Exit::Usage,
                  "--bytes " + llvm::Twine(bytes) + ": " + status.message);
  return llvm::Error::success();
}

llvm::Error cli::printCluster(const Cluster &cluster, int64_t bytes,
                              std::optional<int> ranks, bool asJson) {
  if (llvm::Error error = checkCall(cluster, bytes, ranks))
    return error;
  const std::vector<int> counts =
      ranks ? std::vector<int>{*ranks} : rankCounts(cluster);
  AllReduces times(cluster, counts, bytes);
  if (asJson) {
    llvm::outs() << llvm::formatv(
        "{0:2}\n", llvm::json::Value(llvm::json::Object{
                       {"name", llvm::json::fixUTF8(cluster.name)},
                       {"ranks", cluster.countRanks()},
                       {"bytes", bytes},
                       {"all_reduce_seconds", std::move(times.seconds)}}));
    return llvm::Error::success();
  }
  printParts(cluster);
  if (counts.empty())
    llvm::outs() << "one rank: there is nothing to all-reduce\n";
  else
    llvm::outs() << "all-reduce of " << bytes << " bytes:\n" << times.text;
  return llvm::Error::success();
}
