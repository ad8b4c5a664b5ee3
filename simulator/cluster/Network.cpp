//===- Network.cpp - What transfers and collectives take ------------------===//

#include "simulator/cluster/Network.h"
#include "runtime/transport/Check.h"
#include "simulator/cluster/Links.h"
#include "simulator/cluster/OwnCollectives.h"
#include "simulator/cluster/ProgramRun.h"
#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <unordered_set>

using namespace mlc;
using namespace mlc::simulator;
using runtime::Status;
namespace transport = runtime::transport;

Time Network::transfer(int from, int to, int64_t bytes) const {
  if (from == to)
    return 0;
  const int level = cluster.levelOf(from, to);
  const Level &link = cluster.levels[level];
  double rate = link.bandwidth.at(2);
  if (link.sharedBytesPerSecond)
    rate = std::min(rate, link.sharedBytesPerSecond->value);
  return sum(toTime(static_cast<double>(bytes) / rate),
             toTime(link.latencySeconds.value));
}

Time Network::transfers(std::span<const std::pair<int, int>> pairs,
                        int64_t bytes) const {
  if (pairs.size() == 1)
    return transfer(pairs.front().first, pairs.front().second, bytes);
  constexpr double unlimited = std::numeric_limits<double>::infinity();
  // Each rank talks to one other.
  Links links(cluster, std::vector<int>(cluster.levels.size(), 2));
  Time latency = 0, end = 0;
  for (size_t i = 0; i < pairs.size(); ++i) {
    const auto [from, to] = pairs[i];
    if (from == to)
      continue;
    const Level &link = cluster.levels[size_t(cluster.levelOf(from, to))];
    latency = std::max(latency, toTime(link.latencySeconds.value));
    links.begin(int(i), from, to, double(bytes), unlimited);
  }
  while (!links.isEmpty()) {
    end = links.nextEnd();
    links.advance(end);
  }
  return sum(end, latency);
}

int Network::countInNode(std::span<const int> ranks) const {
  const int node = cluster.nodeLevel(), own = cluster.groupOf(node, ranks[0]);
  return int(std::count_if(ranks.begin(), ranks.end(), [&](int rank) {
    return cluster.groupOf(node, rank) == own;
  }));
}

Status Network::check(const CollectiveCall &call) const {
  const int ranks = cluster.countRanks();
  if (call.ranks.size() != static_cast<size_t>(call.request.ranks))
    return Status::error(MLC_USAGE,
                         fmt::format("a collective of {} ranks is given {}",
                                     call.request.ranks, call.ranks.size()));
  std::unordered_set<int> used;
  for (int rank : call.ranks) {
    if (rank < 0 || rank >= ranks)
      return Status::error(
          MLC_USAGE, fmt::format("the cluster has no rank {}; it has 0 to {}",
                                 rank, ranks - 1));
    if (!used.insert(rank).second)
      return Status::error(MLC_USAGE,
                           fmt::format("rank {} is given twice", rank));
  }
  return transport::checkRequest(call.request, 0);
}

Status Network::collective(const CollectiveCall &call, Time &time) const {
  if (Status status = check(call); !status.ok())
    return status;
  if (call.request.algorithm == transport::Algorithm::Own) {
    time = toTime(ownSeconds(cluster, call));
    return Status::success();
  }
  std::vector<Time> times;
  Status status = together({&call, 1}, times);
  time = status.ok() ? times.front() : 0;
  return status;
}

Status Network::together(std::span<const CollectiveCall> calls,
                         std::vector<Time> &times) const {
  std::unordered_set<int> used;
  ProgramRun run(cluster);
  for (const CollectiveCall &call : calls) {
    if (Status status = check(call); !status.ok())
      return status;
    for (int rank : call.ranks)
      if (!used.insert(rank).second)
        return Status::error(MLC_USAGE,
                             fmt::format("rank {} is in two groups", rank));
    std::vector<transport::Program> programs;
    if (Status status = transport::makePrograms(call.request, programs);
        !status.ok())
      return status;
    run.add(call, std::move(programs));
  }
  return run.run(times);
}
