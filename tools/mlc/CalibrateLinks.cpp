//===- CalibrateLinks.cpp - Measures the links between ranks --------------===//

#include "runtime/transport/Communicator.h"
#include "runtime/transport/Engine.h"
#include "runtime/transport/RankThread.h"
#include "runtime/transport/Reduce.h"
#include "runtime/transport/Trial.h"
#include "runtime/transport/World.h"
#include "simulator/cluster/ClusterFile.h"
#include "simulator/cluster/Network.h"
#include "tools/mlc/ClusterFiles.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/OutputFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

using namespace mlc;
using namespace mlc::cli;
using namespace mlc::simulator;
using namespace mlc::runtime::transport;
using runtime::Status;

namespace {

constexpr int64_t elements = 4 << 20; // 16 MiB
constexpr int messageBytes = 1 << 20; // as ranks send
constexpr int repeats = 5;

/// What one rank measures.
struct Measured {
  double latency = 0;
  std::vector<std::pair<int, double>> rings; // ranks, seconds
};

double ringSecondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
      .count();
}

/// The fastest of several all-reduces of `count` elements, each behind a short
/// one, so that all ranks begin together.
Status timeRing(Communicator &group, int64_t count, double &seconds) {
  std::vector<float> data(count, 1.0F), token(group.size(), 1.0F);
  const Request meet{Collective::AllReduce, Algorithm::Ring, group.size(),
                     group.size()};
  const Request ring{Collective::AllReduce, Algorithm::Ring, group.size(),
                     count};
  seconds = HUGE_VAL;
  for (int i = 0; i < repeats; ++i) {
    if (Status status = group.run(meet, MLC_F32, token.data()); !status.ok())
      return status;
    const auto begin = std::chrono::steady_clock::now();
    if (Status status = group.run(ring, MLC_F32, data.data()); !status.ok())
      return status;
    seconds = std::min(seconds, ringSecondsSince(begin));
  }
  return Status::success();
}

/// Measures on the first 2, 3, ... ranks; all ranks call it together.
Status measure(Communicator &world, Measured &measured) {
  const int size = world.size();
  for (int ranks = 2; ranks <= size; ranks = std::min(2 * ranks, size)) {
    std::unique_ptr<Communicator> group;
    Status status = world.split(world.rank() < ranks ? 0 : -1,
                                fmt::format("{} ranks", ranks), group);
    double seconds = 0;
    if (status.ok() && group && ranks == 2) {
      // Two rounds of one float.
      status = timeRing(*group, 2, seconds);
      measured.latency = seconds / 2;
    }
    if (status.ok() && group)
      status = timeRing(*group, elements, seconds);
    if (!status.ok())
      return status;
    measured.rings.emplace_back(ranks, seconds);
    if (ranks == size)
      break;
  }
  return world.finish();
}

/// Bytes of float32 that this core adds in a second.
double sumRate() {
  std::vector<float> to(elements / 4, 1.0F), from(elements / 4, 1.0F);
  double best = HUGE_VAL;
  for (int i = 0; i < repeats; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    add(MLC_F32, to.data(), from.data(), static_cast<int64_t>(to.size()));
    best = std::min(best, ringSecondsSince(begin));
  }
  return static_cast<double>(to.size() * sizeof(float)) / best;
}

/// The bandwidth with which the simulated ring takes as long as the measured
/// one; it does not have to be exact.
double bandwidthOf(Cluster cluster, int ranks, double seconds) {
  CollectiveCall call;
  call.request = {Collective::AllReduce, Algorithm::Ring, ranks, elements};
  call.messageBytes = messageBytes;
  call.ranks.resize(ranks);
  std::iota(call.ranks.begin(), call.ranks.end(), 0);
  double low = 1e3, high = 1e13;
  for (int i = 0; i < 50; ++i) {
    const double middle = std::sqrt(low * high);
    cluster.levels.front().bandwidth.entries = {{1, middle}};
    Time time = 0;
    if (!Network(cluster).collective(call, time).ok())
      return middle;
    (toSeconds(time) > seconds ? low : high) = middle;
  }
  // To three digits, as measurements have no more.
  const double digit = std::pow(10, std::floor(std::log10(low)) - 2);
  return std::round(low / digit) * digit;
}

/// The template's devices, on one level with what was measured.
Cluster describe(Cluster cluster, int ranks, const std::string &engine,
                 const Measured &measured) {
  const std::string source =
      fmt::format("measured by mlc calibrate over {}, {} ranks of this machine",
                  engine, ranks);
  cluster.name = "measured";
  cluster.description = fmt::format("{} ranks over {}", ranks, engine);
  cluster.devices.resize(1);
  cluster.devices.front().sumBytesPerSecond =
      Number{std::round(sumRate() / 1e7) * 1e7, source};
  cluster.nodes = {{1, 0, ranks}};
  cluster.engine = {};
  cluster.engine.overheadSeconds.source = "assumed: it is in the latency";
  Level level;
  level.name = engine;
  level.medium = Medium::Memory;
  level.ranks = ranks;
  level.latencySeconds = {std::round(measured.latency * 1e8) / 1e8, source};
  level.bandwidth.entries = {{1, 1}};
  cluster.levels = {level};
  Bandwidth bandwidth{{}, source};
  for (auto [count, seconds] : measured.rings)
    bandwidth.entries.push_back({count, bandwidthOf(cluster, count, seconds)});
  cluster.levels.front().bandwidth = bandwidth;
  return cluster;
}

/// The ranks of a launcher; `isFirst` is whether this one prints.
Status measureProcesses(const World &world, Measured &measured, int &size,
                        bool &isFirst) {
  const mlc_engine *table = nullptr;
  if (Status status = loadEngine(world.engine(), engineFolder(), table);
      !status.ok())
    return status;
  std::unique_ptr<Communicator> communicator;
  Communicator::Options options;
  options.messageBytes = messageBytes;
  Status status =
      Communicator::open(*table, world.rank, world.size, options, communicator);
  if (!status.ok())
    return status;
  size = communicator->size();
  isFirst = communicator->rank() == 0;
  status = measure(*communicator, measured);
  if (!status.ok())
    communicator->abort(status.code);
  return status;
}

} // namespace

llvm::Error cli::measureLinks(const LinkRequest &request) {
  auto cluster = openCluster(request.cluster);
  if (!cluster)
    return cluster.takeError();
  World world;
  if (Status status = findWorld(world); !status.ok())
    return statusFailure(status);
  Measured measured;
  int ranks = request.ranks.value_or(cluster->countRanks());
  bool isFirst = true;
  std::string engine = "inproc";
  Status status;
  if (world.found()) {
    if (request.ranks)
      return fail(Exit::Usage, "--ranks is for ranks that are threads; the "
                               "launcher says how many processes there are");
    engine = world.engine();
    status = measureProcesses(world, measured, ranks, isFirst);
  } else {
    if (ranks < 2 || ranks > 64)
      return fail(Exit::Usage,
                  fmt::format("links are measured on 2 to 64 ranks, not on {}; "
                              "give --ranks",
                              ranks));
    Communicator::Options options;
    options.messageBytes = messageBytes;
    std::vector<Measured> all(ranks);
    status = onThreads(ranks, options, [&](Communicator &one, int rank) {
      return measure(one, all[rank]);
    });
    measured = all.front();
  }
  if (!status.ok())
    return statusFailure(status);
  if (!isFirst)
    return llvm::Error::success();
  if (measured.rings.empty())
    return fail(Exit::Usage, "there is one rank, and links are between two; "
                             "start more");
  return writeOutput(request.output.empty() ? "-" : request.output,
                     [&](llvm::raw_ostream &os) {
                       os << writeCluster(
                           describe(*cluster, ranks, engine, measured));
                       return llvm::Error::success();
                     });
}
