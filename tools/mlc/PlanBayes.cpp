//===- PlanBayes.cpp - A step's settings by Bayesian search ---------------===//

#include "tools/mlc/PlanBayes.h"
#include "planner/bayes/BayesianSearch.h"
#include "runtime/schedule/Generate.h"
#include "runtime/transport/Schedule.h"
#include "simulator/timeline/Pictures.h"
#include "tools/mlc/DeviceCosts.h"
#include "tools/mlc/Failure.h"
#include "llvm/ADT/StringSet.h"
#include <fmt/format.h>

using namespace mlc;
using namespace mlc::cli;
using namespace mlc::planner;
namespace json = llvm::json;
namespace schedule = mlc::runtime::schedule;

/// A Gaussian process of more points than this takes long.
static constexpr int64_t mostTrials = 256;
/// The most plans of a space.
static constexpr size_t mostPlans = 1 << 16;

namespace {

/// What tells plans apart.
enum class StepFeature : uint8_t {
  Ranks,
  Schedule,
  Chunks,
  MicroBatches,
  // Each stage of ZeRO includes those before.
  OptimizerStates,
  Gradients,
  Weights,
  Prefetch,
  Fusion,
  Bucket,
  FirstBucket,
  Algorithm,
  Count
};

/// Features that a plan has no use for are in the middle.
struct StepFeatures {
  Features values = Features(size_t(StepFeature::Count), 0.5);
  double &operator[](StepFeature feature) { return values[size_t(feature)]; }
  void setZero(int stage) {
    for (int i = 1; i <= 3; ++i)
      values[size_t(StepFeature::OptimizerStates) + size_t(i) - 1] =
          double(stage >= i);
  }
};

/// The plans that may be tried, and what tells them apart.
class StepSpace {
public:
  StepSpace(const PipelineRequest &request, int64_t fixedBatch,
            int64_t gradientBytes)
      : request(request), gradientBytes(gradientBytes) {
    samples = request.samples ? request.samples : fixedBatch;
    counts = fixedBatch ? std::vector<int64_t>{samples / fixedBatch}
                        : request.microBatches;
    // Powers of two that divide, if nothing else is said.
    if (counts.empty())
      for (int64_t count = 1; count <= 64 && samples % count == 0; count *= 2)
        counts.push_back(count);
  }

  /// Plain data parallelism first.
  llvm::Error list();

  SearchSpace space;
  std::vector<runtime::Plan> plans;
  /// Plain data parallelism, with each algorithm.
  std::vector<size_t> first;
  int64_t samples = 0;

private:
  /// How many ranks a copy of the pipeline has, and how it runs.
  struct Split {
    int64_t ranks = 1, chunks = 1;
    const schedule::ScheduleRow *schedule = nullptr;
  };

  std::vector<Split> splits() const;
  void addPlain();
  void addSplit(const Split &split, int64_t count);
  void addBuckets(const runtime::Plan &plan, const StepFeatures &features);
  void add(const runtime::Plan &plan, StepFeatures features);
  double bucketFeature(int64_t bytes) const;

  const PipelineRequest &request;
  int64_t gradientBytes;
  std::vector<int64_t> counts;
  llvm::StringSet<> known;
};

} // namespace

static std::vector<FeatureKind> featureKinds() {
  std::vector<FeatureKind> kinds(size_t(StepFeature::Count),
                                 FeatureKind::Ordered);
  for (StepFeature category :
       {StepFeature::Schedule, StepFeature::Fusion, StepFeature::Algorithm})
    kinds[size_t(category)] = FeatureKind::Category;
  return kinds;
}

static constexpr const char *sumAlgorithms[] = {
    "",
#define MLC_ALGORITHM(id, name, meaning) name,
#include "runtime/transport/Algorithms.def"
#undef MLC_ALGORITHM
};

/// Sizes of buckets, each twice the one before, up to one that holds all.
static std::vector<int64_t> bucketSizes(int64_t gradientBytes, int64_t factor) {
  constexpr int64_t least = 1 << 14;
  std::vector<int64_t> sizes;
  for (int64_t size = least; sizes.empty() || sizes.back() < gradientBytes;
       size *= factor)
    if (size * 1024 >= gradientBytes)
      sizes.push_back(size);
  return sizes;
}

double StepSpace::bucketFeature(int64_t bytes) const {
  return (std::log2(double(bytes)) - 14) /
         std::max(1.0, std::log2(double(gradientBytes)) - 14);
}

/// Some algorithms need a power of two ranks.
static bool isPossible(llvm::StringRef algorithm, int64_t ranks) {
  namespace transport = runtime::transport;
  transport::Request request;
  transport::Program program;
  request.ranks = int(ranks);
  request.elements = ranks;
  return algorithm.empty() ||
         (transport::parseAlgorithm(algorithm, request.algorithm) &&
          transport::makeProgram(request, 0, program).ok());
}

void StepSpace::add(const runtime::Plan &plan, StepFeatures features) {
  if (!isPossible(plan.algorithm, plan.training->ranks) || !plan.check().ok() ||
      !known.insert(plan.text()).second)
    return;
  plans.push_back(plan);
  space.points.push_back(std::move(features.values));
}

std::vector<StepSpace::Split> StepSpace::splits() const {
  std::vector<Split> all{{}};
  for (const std::string &name : request.schedules) {
    const schedule::ScheduleRow *row = schedule::findSchedule(name);
    if (!row || llvm::StringRef(name) == "data-parallel")
      continue;
    for (int64_t ranks = 2; ranks <= request.ranks; ++ranks)
      if (request.ranks % ranks == 0) {
        if (!row->hasChunks)
          all.push_back({ranks, row->usualChunks, row});
        for (int64_t chunks : {2, 4})
          if (row->hasChunks)
            all.push_back({ranks, chunks, row});
      }
  }
  return all;
}

/// Adds the plan with all sizes of buckets and algorithms.
void StepSpace::addBuckets(const runtime::Plan &plan,
                           const StepFeatures &features) {
  using runtime::BucketRule;
  for (auto [number, algorithm] : llvm::enumerate(sumAlgorithms))
    for (BucketRule rule : {BucketRule::DDP, BucketRule::Horovod})
      for (int64_t bytes : bucketSizes(gradientBytes, 2))
        for (int64_t first : bucketSizes(bytes, 16)) {
          // Horovod's first bucket is like the others.
          if (first > bytes)
            break;
          runtime::Plan own = plan;
          own.algorithm = algorithm;
          own.training->buckets = {
              rule, rule == BucketRule::Horovod ? bytes : first, bytes};
          StepFeatures told = features;
          told[StepFeature::Algorithm] = double(number);
          told[StepFeature::Fusion] = double(rule);
          told[StepFeature::Bucket] = bucketFeature(bytes);
          if (rule == BucketRule::DDP)
            told[StepFeature::FirstBucket] = bucketFeature(first);
          add(own, std::move(told));
        }
}

void StepSpace::addSplit(const Split &split, int64_t count) {
  runtime::Plan plan;
  plan.training.emplace();
  plan.training->ranks = request.ranks / split.ranks;
  plan.training->accumulate = count;
  if (samples / count < plan.training->ranks)
    return;
  StepFeatures features;
  features[StepFeature::Ranks] = std::log2(double(split.ranks)) / 6;
  features[StepFeature::MicroBatches] = std::log2(double(count)) / 6;
  if (split.schedule) {
    runtime::StagePlan &stages = plan.training->stages;
    stages.ranks = split.ranks;
    stages.count = split.ranks * split.chunks;
    stages.schedule = split.schedule->name;
    features[StepFeature::Schedule] =
        double(split.schedule - schedule::allSchedules().data());
    features[StepFeature::Chunks] = double(split.chunks) / 4;
  } else {
    features[StepFeature::Schedule] = -1;
  }
  for (int zero = 0; zero <= (plan.training->ranks > 1 ? 3 : 0); ++zero) {
    plan.training->zero = runtime::ZeroStage(zero);
    features.setZero(zero);
    if (plan.training->ranks < 2) {
      add(plan, features);
      continue;
    }
    if (zero < 2) {
      features[StepFeature::Prefetch] = 0.5;
      addBuckets(plan, features);
      continue;
    }
    for (int64_t limit : bucketSizes(gradientBytes, 32)) {
      plan.training->prefetchLimit = limit;
      features[StepFeature::Prefetch] = bucketFeature(limit);
      addBuckets(plan, features);
    }
    plan.training->prefetchLimit = runtime::defaultPrefetchLimit;
  }
}

/// The plan of mlc train without flags, with each algorithm.
void StepSpace::addPlain() {
  runtime::Plan plain;
  plain.training.emplace();
  plain.training->ranks = request.ranks;
  plain.training->accumulate = counts.front();
  StepFeatures features;
  features[StepFeature::Ranks] = 0;
  features[StepFeature::Schedule] = -1;
  features[StepFeature::MicroBatches] = std::log2(double(counts.front())) / 6;
  features.setZero(0);
  features[StepFeature::Fusion] = features[StepFeature::Algorithm] = 0;
  features[StepFeature::Bucket] = bucketFeature(plain.training->buckets.bytes);
  features[StepFeature::FirstBucket] =
      bucketFeature(plain.training->buckets.firstBytes);
  for (auto [number, algorithm] : llvm::enumerate(sumAlgorithms)) {
    if (number && request.ranks == 1)
      break;
    plain.algorithm = algorithm;
    features[StepFeature::Algorithm] = double(number);
    add(plain, features);
  }
  for (size_t i = 0; i < plans.size(); ++i)
    first.push_back(i);
}

llvm::Error StepSpace::list() {
  space.kinds = featureKinds();
  if (samples < 1)
    return fail(Exit::Usage, request.model.model +
                                 ": the batch is open; give --samples, those "
                                 "of a step");
  for (int64_t count : counts)
    if (samples % count)
      return fail(Exit::Usage,
                  fmt::format("--samples={} is no multiple of {} micro-batches",
                              samples, count));
  if (samples / counts.front() >= request.ranks)
    addPlain();
  for (const Split &split : splits())
    for (int64_t count : counts) {
      addSplit(split, count);
      if (plans.size() > mostPlans)
        return fail(Exit::Usage,
                    fmt::format("there are more than {} plans; give fewer "
                                "--schedules, or --micro-batches",
                                mostPlans));
    }
  if (plans.empty())
    return fail(Exit::Usage,
                fmt::format("{} samples are too few for {} ranks; give more "
                            "--samples, or fewer --ranks",
                            samples, request.ranks));
  return llvm::Error::success();
}

/// What the search makes small: the logarithm of the time, and more where
/// memory is short.
static double toValue(const PlannedStep &step,
                      const simulator::Cluster &cluster) {
  double value = std::log(std::max(1e-12, simulator::toSeconds(step.span)));
  if (!step.fits)
    value +=
        1 +
        std::max(0.0, std::log(double(step.memory) /
                               double(cluster.deviceOf(0).memoryBytes.value)));
  return value;
}

/// The batch that the model has, or 0, and the bytes of what is trained.
static llvm::Expected<std::pair<int64_t, int64_t>>
readSizes(const PipelineRequest &request) {
  auto read =
      readTrainingModel(request.model, request.training, &request.optimizer);
  if (!read)
    return read.takeError();
  int64_t bytes = 0;
  for (const Weight *weight : read->trained()) {
    int64_t elements = 1;
    for (int64_t dim : weight->dims)
      elements *= dim;
    bytes += elements * int64_t(sizeof(float));
  }
  return std::pair(read->training.batch, bytes);
}

/// Estimates of memory may be wrong where it is tight: the best plan is one
/// that fits by its kernels.
static llvm::Error chooseBest(const PipelineRequest &request,
                              TriedSteps &tried) {
  std::vector<size_t> order(tried.steps.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  auto key = [&](size_t i) {
    return std::pair(!tried.steps[i].fits, tried.steps[i].span);
  };
  auto sort = [&] {
    llvm::stable_sort(order,
                      [&](size_t a, size_t b) { return key(a) < key(b); });
  };
  sort();
  for (size_t i : order) {
    if (!tried.steps[i].fits)
      break;
    if (llvm::Error error =
            simulateStep(request, tried.steps[i], ArenaSource::Kernels))
      return error;
    if (tried.steps[i].fits)
      break;
  }
  sort();
  tried.best = order.front();
  return llvm::Error::success();
}

/// Simulates plans that a search from `seed` chooses, or without one all.
static llvm::Error trySteps(const PipelineRequest &request,
                            const simulator::Cluster &cluster,
                            const StepSpace &all, std::optional<uint64_t> seed,
                            TriedSteps &tried) {
  BayesianSearch search(all.space, seed.value_or(0), all.first);
  double worst = 0;
  std::optional<llvm::Error> first;
  for (int64_t trial = 0; trial < request.budget; ++trial) {
    std::optional<size_t> point = seed ? search.next() : size_t(trial);
    if (!point || *point >= tried.plans)
      break;
    PlannedStep step;
    step.plan = all.plans[*point];
    step.batch = all.samples / step.plan.training->accumulate;
    llvm::Error error = simulateStep(request, step, ArenaSource::Operators);
    double value = worst + 1;
    if (error) {
      // A model may have too few nodes for so many stages.
      if (first)
        llvm::consumeError(std::move(error));
      else
        first.emplace(std::move(error));
    } else {
      value = toValue(step, cluster);
      worst = tried.steps.empty() ? value : std::max(worst, value);
      tried.steps.push_back(std::move(step));
    }
    if (seed)
      search.tell(*point, value);
  }
  if (tried.steps.empty())
    return std::move(*first);
  if (first)
    llvm::consumeError(std::move(*first));
  return llvm::Error::success();
}

llvm::Expected<TriedSteps> cli::planBayes(const PipelineRequest &request,
                                          const simulator::Cluster &cluster,
                                          uint64_t seed) {
  takeTarget(cluster, request.model);
  auto sizes = readSizes(request);
  if (!sizes)
    return sizes.takeError();
  const auto [batch, bytes] = *sizes;
  if (batch && request.samples % batch)
    return fail(Exit::Usage,
                fmt::format("{}: has batches of {} samples, which --samples={} "
                            "is no multiple of",
                            request.model.model, batch, request.samples));
  StepSpace all(request, batch, bytes);
  if (llvm::Error error = all.list())
    return std::move(error);
  TriedSteps tried;
  tried.plans = all.plans.size();
  const bool triesAll = request.budget >= int64_t(tried.plans);
  if (!triesAll && request.budget > mostTrials)
    return fail(Exit::Usage,
                fmt::format("--budget={}: there are {} plans; give 1 to {}, or "
                            "as many as there are to try all",
                            request.budget, tried.plans, mostTrials));
  std::optional<uint64_t> from;
  if (!triesAll)
    from = seed;
  if (llvm::Error error = trySteps(request, cluster, all, from, tried))
    return std::move(error);
  if (llvm::Error error = chooseBest(request, tried))
    return std::move(error);
  return tried;
}

/// "horovod buckets of 65536 bytes, ring, ZeRO-1".
static std::string settings(const PlannedStep &step) {
  const runtime::TrainingPlan &plan = *step.plan.training;
  std::string text = step.schedule();
  if (plan.stages.ranks > 1)
    text +=
        fmt::format(" of {} stages, {} copies", plan.stages.count, plan.ranks);
  if (plan.ranks < 2)
    return text;
  text += plan.buckets.rule == runtime::BucketRule::Horovod
              ? fmt::format(", horovod {} bytes", plan.buckets.bytes)
              : fmt::format(", ddp {}+{} bytes", plan.buckets.firstBytes,
                            plan.buckets.bytes);
  text += ", " + (step.plan.algorithm.empty() ? std::string("own")
                                              : step.plan.algorithm);
  if (plan.zero != runtime::ZeroStage::None)
    text += fmt::format(", ZeRO-{}", int(plan.zero));
  if (plan.zero >= runtime::ZeroStage::Gradients)
    text += fmt::format(", {} bytes ahead", plan.prefetchLimit);
  return text;
}

static json::Object triedToJson(const PlannedStep &step) {
  const runtime::TrainingPlan &plan = *step.plan.training;
  return json::Object{
      {"schedule", step.schedule()},
      {"copies", plan.ranks},
      {"stages", plan.stages.count},
      {"micro_batches", plan.accumulate},
      {"batch", step.batch},
      {"zero", int64_t(plan.zero)},
      {"prefetch_limit", plan.prefetchLimit},
      {"fusion",
       plan.buckets.rule == runtime::BucketRule::Horovod ? "horovod" : "ddp"},
      {"bucket_bytes", plan.buckets.bytes},
      {"first_bucket_bytes", plan.buckets.firstBytes},
      {"algorithm", step.plan.algorithm.empty() ? "own" : step.plan.algorithm},
      {"seconds", simulator::toSeconds(step.span)},
      {"memory_bytes", step.memory},
      {"fits", step.fits}};
}

void cli::printTried(const TriedSteps &tried, const std::string &cluster,
                     bool all, bool asJson) {
  const PlannedStep &best = tried.steps[tried.best];
  if (asJson) {
    json::Array steps;
    for (const PlannedStep &step : tried.steps)
      steps.push_back(triedToJson(step));
    llvm::outs() << json::Value(
                        json::Object{{"cluster", cluster},
                                     {"there_are", int64_t(tried.plans)},
                                     {"best", triedToJson(best)},
                                     {"tried", std::move(steps)}})
                 << '\n';
    return;
  }
  auto line = [](const PlannedStep &step) {
    return fmt::format("{}: {} micro-batches of {} samples, {}{}\n",
                       simulator::toText(step.span),
                       step.plan.training->accumulate, step.batch,
                       settings(step), step.fits ? "" : ", too much memory");
  };
  for (const PlannedStep &step : tried.steps)
    if (all)
      llvm::outs() << line(step);
  llvm::outs() << fmt::format("the best of {} of {} plans on {} takes {}",
                              tried.steps.size(), tried.plans, cluster,
                              line(best));
  llvm::outs() << fmt::format("plain data parallelism takes {}\n",
                              simulator::toText(tried.steps.front().span));
}
