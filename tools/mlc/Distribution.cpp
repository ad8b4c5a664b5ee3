//===- Distribution.cpp - How training is split over ranks ----------------===//

#include "tools/mlc/Distribution.h"
#include "runtime/Engines.h"
#include "runtime/Training.h"
#include "runtime/transport/Schedule.h"
#include "runtime/transport/World.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/Remedies.h"
#include "llvm/ADT/STLExtras.h"
#include <fmt/format.h>

using namespace mlc;
using namespace mlc::cli;
namespace cl = llvm::cl;
namespace transport = mlc::runtime::transport;

DistributionFlags::DistributionFlags(cl::SubCommand &sub)
    : planFlag(sub, /*trains=*/true), engine(sub, "as the launcher says"),
      ranks("ranks", cl::init(0), cl::value_desc("number"),
            cl::desc("Train on this many ranks, as threads of this process"),
            cl::sub(sub)),
      timeout("timeout", cl::init(300), cl::value_desc("seconds"),
              cl::desc("Seconds without progress after which a missing rank is "
                       "named and all ranks end (300)"),
              cl::sub(sub)),
      groups("groups", cl::init(1), cl::value_desc("number"),
             cl::desc("Communicators that collectives take in turn, so that "
                      "several are under way at once (1)"),
             cl::sub(sub)),
      accumulate("accumulate", cl::init(1), cl::value_desc("number"),
                 cl::desc("Batches whose gradients a step averages; with "
                          "--stages, its micro-batches (1)"),
                 cl::sub(sub)),
      microBatches("micro-batches", cl::init(1), cl::value_desc("number"),
                   cl::desc("With --stages: micro-batches of a step; the same "
                            "as --accumulate (1)"),
                   cl::sub(sub)),
      stages(sub),
      zero("zero", cl::init(0), cl::value_desc("stage"),
           cl::desc("Stage of ZeRO: shard optimizer states (1), sums of "
                    "gradients, too (2), weights, too (3) (0: nothing)"),
           cl::sub(sub)),
      algorithm(
          "algorithm", cl::value_desc("name"),
          cl::desc("How gradients are summed: server (the last rank is a "
                   "parameter server, and trains on no samples), colocated (a "
                   "parameter server on each rank), naive, ring, tree, "
                   "butterfly, halving-doubling, or own: the engine's (own)"),
          cl::sub(sub)),
      staleness("staleness", cl::init(0), cl::value_desc("steps"),
                cl::desc("With --algorithm=server: steps that a worker may be "
                         "ahead of the slowest (0: all work in step)"),
                cl::sub(sub)),
      statistics(
          "batch-statistics", cl::init(runtime::BatchStatistics::Global),
          cl::value_desc("whose"),
          cl::desc("Samples whose mean and variance BatchNormalization takes "
                   "in training form (global):"),
          cl::values(clEnumValN(runtime::BatchStatistics::Global, "global",
                                "the batch of all ranks"),
                     clEnumValN(runtime::BatchStatistics::Local, "local",
                                "each rank's samples; the running ones are "
                                "those of rank 0")),
          cl::sub(sub)),
      fusion(
          "fusion", cl::init(runtime::BucketRule::DDP), cl::value_desc("rule"),
          cl::desc(
              "Rule by which gradients are summed together in buckets (ddp):"),
          cl::values(clEnumValN(runtime::BucketRule::DDP, "ddp",
                                "as PyTorch's DistributedDataParallel"),
                     clEnumValN(runtime::BucketRule::Horovod, "horovod",
                                "as Horovod's fusion buffer")),
          cl::sub(sub)),
      bucketBytes(
          "bucket-bytes", cl::init(0), cl::value_desc("bytes"),
          cl::desc("Bytes of a bucket (26214400, with horovod 67108864)"),
          cl::sub(sub)),
      firstBucketBytes(
          "first-bucket-bytes", cl::init(0), cl::value_desc("bytes"),
          cl::desc("Bytes of the first bucket (1048576, or --bucket-bytes)"),
          cl::sub(sub)),
      prefetchLimit(
          "prefetch-limit", cl::init(runtime::defaultPrefetchLimit),
          cl::value_desc("bytes"),
          cl::desc("With --zero=3: bytes of weights that are gathered "
                   "ahead of their use, at least one weight; with 2 "
                   "and 3: bytes of gradients that wait to be "
                   "scattered, at least one bucket (67108864)"),
          cl::sub(sub)),
      gatherWindow("gather-window", cl::aliasopt(prefetchLimit), cl::Hidden) {}

llvm::Error DistributionFlags::open(
    transport::RunEngines &engines, const std::string &device,
    std::vector<std::shared_ptr<runtime::Ranks>> &opened) const {
  if (!(timeout > 0 && timeout <= 1e6))
    return fail(Exit::Usage, "--timeout is a number of seconds, up to 1000000");
  if (ranks.getNumOccurrences() && ranks < 1)
    return fail(Exit::Usage, "--ranks must be at least 1");
  runtime::RunOptions options;
  options.engine = engine;
  options.timeout = timeout;
  options.groups = groups;
  if (planFlag.isGiven()) {
    auto plan = readPlan();
    if (!plan)
      return plan.takeError();
    options.groups = plan->training->groups;
  }
  options.device = device;
  options.ranks = ranks;
  if (ranks && engine.empty())
    options.engine = runtime::engines::ofThreads().name;
  if (ranks == 1 && engine.empty())
    return llvm::Error::success();
  auto status = engines.open(options, /*needed=*/0, opened);
  if (!status.ok())
    return statusFailure(status);
  if (opened.size() == 1 && opened.front()->size() == 1)
    opened.clear();
  return llvm::Error::success();
}

llvm::Error DistributionFlags::refuseAlone() const {
  // Values that mean the same for one rank are allowed.
  const std::pair<const cl::Option *, bool> options[] = {
      {&groups, groups == 1},
      {&zero, zero == 0},
      {&algorithm, algorithm == "own"},
      {&staleness, false},
      {&statistics, true},
      {&fusion, true},
      {&bucketBytes, false},
      {&firstBucketBytes, false},
      {&prefetchLimit, false}};
  for (auto [option, isSame] : options)
    if (option->getNumOccurrences() && !isSame)
      return fail(Exit::Usage,
                  "--" + option->ArgStr +
                      " says something of several ranks, and there is one; " +
                      describeStart(0));
  return llvm::Error::success();
}

llvm::Error DistributionFlags::refuseBesideServer() const {
  const cl::Option *options[] = {
      &groups, &zero, &fusion, &bucketBytes, &firstBucketBytes, &prefetchLimit};
  for (const cl::Option *option : options)
    if (option->getNumOccurrences())
      return fail(Exit::Usage, "--" + option->ArgStr +
                                   " is not taken beside --algorithm=server, "
                                   "whose server has all states and gets all "
                                   "gradients; give colocated");
  return staleness < 0 ? fail(Exit::Usage, "--staleness counts from 0")
                       : llvm::Error::success();
}

/// Checks names and numbers of the options.
llvm::Error DistributionFlags::checkNames(bool &hasServer) const {
  if (zero > unsigned(runtime::ZeroStage::Weights))
    return fail(Exit::Usage, "--zero=" + llvm::Twine(zero) +
                                 " is no stage; give 0, 1, 2 or 3");
  transport::Algorithm known;
  if (!algorithm.empty() && !transport::parseAlgorithm(algorithm, known))
    return fail(Exit::Usage, "no algorithm '" + algorithm + "'; there are " +
                                 transport::algorithmNames());
  hasServer = !algorithm.empty() && known == transport::Algorithm::Server;
  if (!hasServer && staleness.getNumOccurrences())
    return fail(Exit::Usage, "--staleness is of --algorithm=server");
  if (prefetchLimit < 0)
    return fail(Exit::Usage, "--prefetch-limit counts bytes, from 0 on");
  if (prefetchLimit.getNumOccurrences() &&
      zero < unsigned(runtime::ZeroStage::Gradients))
    return fail(Exit::Usage, "--prefetch-limit is of --zero=2 and 3");
  if (accumulate.getNumOccurrences() && microBatches.getNumOccurrences() &&
      accumulate != microBatches)
    return fail(Exit::Usage, "--micro-batches and --accumulate say the same, "
                             "and differ; leave one of them out");
  for (const cl::opt<int64_t> *count : {&accumulate, &microBatches})
    if (*count < 1 || *count > runtime::mostBatchesOfAStep)
      return fail(
          Exit::Usage,
          "--" + count->ArgStr + " must be at " +
              (*count < 1
                   ? "least 1"
                   : "most " + llvm::Twine(runtime::mostBatchesOfAStep)));
  for (const auto *bytes : {&bucketBytes, &firstBucketBytes})
    if (bytes->getNumOccurrences() && *bytes < 1)
      return fail(Exit::Usage, "--" + bytes->ArgStr + " must be positive");
  return llvm::Error::success();
}

llvm::Expected<runtime::Plan> DistributionFlags::readPlan() const {
  llvm::SmallVector<const cl::Option *> options{
      &accumulate,  &microBatches,     &groups,       &zero,
      &algorithm,   &staleness,        &statistics,   &fusion,
      &bucketBytes, &firstBucketBytes, &prefetchLimit};
  llvm::append_range(options, stages.options());
  return planFlag.read(options);
}

llvm::Expected<int64_t> DistributionFlags::givenRanks() const {
  if (!ranks.getNumOccurrences() && !planFlag.isGiven()) {
    auto needed = stages.ranksOfMesh();
    if (!needed)
      return needed.takeError();
    return needed->value_or(1);
  }
  if (ranks.getNumOccurrences())
    return std::max(1u, ranks.getValue());
  auto plan = readPlan();
  if (!plan)
    return plan.takeError();
  return plan->training->countRanks();
}

llvm::Expected<runtime::Plan> DistributionFlags::givenPlan() const {
  auto ranks = givenRanks();
  return ranks ? plan(*ranks) : ranks.takeError();
}

llvm::Error DistributionFlags::printPlan() const {
  transport::World world;
  if (auto status = transport::findWorld(world); !status.ok())
    return statusFailure(status);
  const bool isLaunched = world.found() && !planFlag.isGiven();
  auto made = isLaunched ? plan(world.size) : givenPlan();
  if (!made)
    return made.takeError();
  if (world.rank <= 0)
    llvm::outs() << made->text();
  return llvm::Error::success();
}

llvm::Expected<runtime::Plan> DistributionFlags::plan(int64_t ranks) const {
  if (planFlag.isGiven()) {
    auto plan = readPlan();
    if (!plan)
      return plan.takeError();
    const int64_t needed = plan->training->countRanks();
    if (needed != ranks)
      return fail(Exit::Usage,
                  fmt::format("{}: the plan is of {} rank{}, and there {} {}; "
                              "{}",
                              planFlag.getFile(), needed,
                              needed == 1 ? "" : "s", ranks == 1 ? "is" : "are",
                              ranks, describeStart(needed)));
    return plan;
  }
  bool hasServer = false;
  if (ranks == 1)
    if (llvm::Error error = refuseAlone())
      return error;
  if (llvm::Error error = checkNames(hasServer))
    return error;
  if (hasServer)
    if (llvm::Error error = refuseBesideServer())
      return error;
  auto memory = getBudget().bytes();
  if (!memory)
    return memory.takeError();
  runtime::Plan plan;
  plan.algorithm = algorithm;
  plan.memory = *memory;
  runtime::TrainingPlan &training = plan.training.emplace();
  training.ranks = ranks - hasServer;
  training.zero = runtime::ZeroStage(unsigned(zero));
  training.statistics = statistics;
  training.buckets = runtime::BucketOptions::of(fusion);
  training.prefetchLimit = prefetchLimit;
  training.accumulate =
      microBatches.getNumOccurrences() ? microBatches : accumulate;
  training.groups = groups;
  training.hasServer = hasServer;
  training.staleness = staleness;
  if (llvm::Error error = stages.apply(plan))
    return error;
  runtime::BucketOptions &buckets = training.buckets;
  if (bucketBytes.getNumOccurrences())
    buckets.bytes = buckets.firstBytes = bucketBytes;
  if (firstBucketBytes.getNumOccurrences())
    buckets.firstBytes = firstBucketBytes;
  if (auto status = plan.check(); !status.ok())
    return statusFailure(status);
  return plan;
}
